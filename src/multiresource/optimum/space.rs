use std::collections::HashMap;

use itertools::Itertools;

use super::region::Region;
use crate::multiresource::schedule::Schedule;

/// States without preemption: a schedule that runs, and waiting jobs of each type in a box. With setups schedules are
/// twice as long: jobs that run, then slots in setup.
#[derive(Clone, Debug)]
pub(super) struct Space {
    /// All schedules, the empty one first.
    pub near: Neighbours,
    /// Schedules with the same number of jobs, the most jobs first.
    pub levels: Vec<Vec<usize>>,
    /// Waiting jobs.
    pub waiting: Region,
    /// Job types.
    pub types: usize,
    /// By schedule and type: where one of its jobs is stopped; of no types without setups.
    pub stopped: Vec<Vec<Option<usize>>>,
}

impl Space {
    /// Returns all schedules, and at most so many waiting jobs of each type.
    pub fn new(schedules: Vec<Schedule>, waiting: Region) -> Self {
        let near = Neighbours::new(schedules);
        let jobs = |s: &Schedule| s.iter().sum::<u32>() as usize;
        let most = near.schedules.iter().map(jobs).max();
        let most = most.expect("the empty schedule is one");
        let mut levels = vec![Vec::new(); most + 1];
        for (n, s) in near.schedules.iter().enumerate() {
            levels[most - jobs(s)].push(n);
        }
        let mut space = Space {
            types: waiting.limits.len(),
            stopped: Vec::new(),
            near,
            levels,
            waiting,
        };
        let stops = (0..space.near.schedules.len()).map(|s| space.stops(s));
        space.stopped = stops.collect();
        space
    }

    /// Each schedule with any of its slots in setup.
    pub fn in_setup(schedules: &[Schedule]) -> Vec<Schedule> {
        let parts = |schedule: &Schedule| {
            let ranges = schedule.iter().map(|slots| 0..=*slots);
            let parts = ranges.multi_cartesian_product().map(|setups| {
                let running = schedule.iter().zip(&setups).map(|(u, s)| u - s);
                running.chain(setups.iter().copied()).collect()
            });
            parts.collect::<Vec<Schedule>>()
        };
        schedules.iter().flat_map(parts).collect()
    }

    /// By type: the schedule after one of its jobs is started.
    pub fn starts(&self, s: usize) -> impl Iterator<Item = (usize, &Option<usize>)> {
        self.near.more[s][..self.types].iter().enumerate()
    }

    /// By type: the schedule after one of its jobs is stopped.
    fn stops(&self, s: usize) -> Vec<Option<usize>> {
        let setups = self.near.schedules[s].len() - self.types;
        let after = |i: usize| self.near.more[self.near.fewer[s][i]?][self.types + i];
        (0..setups).map(after).collect()
    }
}

/// Schedules, and which of them have one job more or one less: where a job can start or end.
#[derive(Clone, Debug)]
pub(super) struct Neighbours {
    /// The schedules, as they were given.
    pub schedules: Vec<Schedule>,
    /// By schedule and type: the place of that with one job more, if it is among them.
    pub more: Vec<Vec<Option<usize>>>,
    /// By schedule and type: the place of that with one job less.
    pub fewer: Vec<Vec<Option<usize>>>,
}

impl Neighbours {
    /// Of these schedules, each of which stands there once.
    pub fn new(schedules: Vec<Schedule>) -> Self {
        let places = schedules.iter().enumerate();
        let places: HashMap<&Schedule, usize> = places.map(|(n, s)| (s, n)).collect();
        let step = |schedule: &Schedule, i: usize, up: bool| {
            let mut next = schedule.clone();
            next[i] = if up {
                next[i] + 1
            } else {
                next[i].checked_sub(1)?
            };
            places.get(&next).copied()
        };
        let all = |up: bool| -> Vec<Vec<Option<usize>>> {
            let of = |s: &Schedule| (0..s.len()).map(|i| step(s, i, up)).collect();
            schedules.iter().map(of).collect()
        };
        Neighbours {
            more: all(true),
            fewer: all(false),
            schedules,
        }
    }
}
