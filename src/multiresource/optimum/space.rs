use crate::multiresource::schedule::{Neighbours, Schedule};

/// States: a schedule that runs, and waiting jobs of each type in a box.
#[derive(Clone, Debug)]
pub(super) struct Space {
    /// All schedules, the empty one first.
    pub near: Neighbours,
    /// Schedules with the same number of jobs, the most jobs first.
    pub levels: Vec<Vec<usize>>,
    /// The most waiting jobs of each type.
    pub limits: Vec<usize>,
    /// Places between neighbours in each type; the last type's are next to each other.
    pub strides: Vec<usize>,
    /// Waiting states.
    pub waiting: usize,
}

impl Space {
    /// All schedules, and at most so many waiting jobs of each type.
    pub fn new(schedules: Vec<Schedule>, limits: &[usize]) -> Self {
        let near = Neighbours::new(schedules);
        let jobs = |s: &Schedule| s.iter().sum::<u32>() as usize;
        let most = near.schedules.iter().map(jobs).max();
        let most = most.expect("the empty schedule is one");
        let mut levels = vec![Vec::new(); most + 1];
        for (n, s) in near.schedules.iter().enumerate() {
            levels[most - jobs(s)].push(n);
        }
        Space::boxed(near, levels, limits.to_vec())
    }

    fn boxed(near: Neighbours, levels: Vec<Vec<usize>>, limits: Vec<usize>) -> Self {
        let mut strides = vec![1; limits.len()];
        for i in (1..limits.len()).rev() {
            strides[i - 1] = strides[i] * (limits[i] + 1);
        }
        Space {
            near,
            levels,
            waiting: strides[0] * (limits[0] + 1),
            strides,
            limits,
        }
    }

    /// The same with a box that is half as large again in each type.
    pub fn grown(&self) -> Self {
        let limits = self.limits.iter().map(|b| b + b.div_ceil(2)).collect();
        Space::boxed(self.near.clone(), self.levels.clone(), limits)
    }

    pub fn states(&self) -> usize {
        self.near.schedules.len() * self.waiting
    }

    /// Calls with pairs of ranges of waiting states, one job of type i fewer and as many more, until
    /// all are through.
    pub fn pairs(
        &self,
        i: usize,
        mut of: impl FnMut(std::ops::Range<usize>, std::ops::Range<usize>),
    ) {
        let (stride, block) = (self.strides[i], self.strides[i] * (self.limits[i] + 1));
        for start in (0..self.waiting).step_by(block) {
            of(start..start + block - stride, start + stride..start + block);
        }
    }

    /// Waiting jobs of type i in a state.
    pub fn count(&self, i: usize, state: usize) -> usize {
        state / self.strides[i] % (self.limits[i] + 1)
    }
}
