use super::region::Region;
use crate::multiresource::schedule::{Neighbours, Schedule};

/// States without preemption: a schedule that runs, and waiting jobs of each type in a box.
#[derive(Clone, Debug)]
pub(super) struct Space {
    /// All schedules, the empty one first.
    pub near: Neighbours,
    /// Schedules with the same number of jobs, the most jobs first.
    pub levels: Vec<Vec<usize>>,
    /// Waiting jobs.
    pub waiting: Region,
}

impl Space {
    /// All schedules, and at most so many waiting jobs of each type.
    pub fn new(schedules: Vec<Schedule>, waiting: Region) -> Self {
        let near = Neighbours::new(schedules);
        let jobs = |s: &Schedule| s.iter().sum::<u32>() as usize;
        let most = near.schedules.iter().map(jobs).max();
        let most = most.expect("the empty schedule is one");
        let mut levels = vec![Vec::new(); most + 1];
        for (n, s) in near.schedules.iter().enumerate() {
            levels[most - jobs(s)].push(n);
        }
        Space {
            near,
            levels,
            waiting,
        }
    }
}
