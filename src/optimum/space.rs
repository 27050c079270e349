use crate::schedule::{Neighbours, Packing, Schedule, enumerate};
use crate::workload::Workload;

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
    /// `None` with more than `budget` schedules.
    pub fn new(workload: &Workload, limits: &[usize], budget: usize) -> Option<Self> {
        let found = enumerate(&Packing::new(workload), budget);
        if !found.complete {
            return None;
        }
        let near = Neighbours::new(found.schedules);
        let jobs = |s: &Schedule| s.iter().sum::<u32>() as usize;
        let most = near.schedules.iter().map(jobs).max().unwrap_or(0);
        let mut levels = vec![Vec::new(); most + 1];
        for (n, s) in near.schedules.iter().enumerate() {
            levels[most - jobs(s)].push(n);
        }
        let mut space = Space {
            near,
            levels,
            limits: Vec::new(),
            strides: Vec::new(),
            waiting: 0,
        };
        space.resize(limits);
        Some(space)
    }

    /// Another box.
    pub fn resize(&mut self, limits: &[usize]) {
        self.limits = limits.to_vec();
        self.strides = vec![1; limits.len()];
        for i in (1..limits.len()).rev() {
            self.strides[i - 1] = self.strides[i] * (limits[i] + 1);
        }
        self.waiting = self.strides[0] * (limits[0] + 1);
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

    /// The waiting states with the most jobs of type i.
    pub fn full(&self, i: usize) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
        let (stride, block) = (self.strides[i], self.strides[i] * (self.limits[i] + 1));
        (0..self.waiting)
            .step_by(block)
            .map(move |start| start + block - stride..start + block)
    }

    /// Waiting jobs of type i in a state.
    pub fn count(&self, i: usize, state: usize) -> usize {
        state / self.strides[i] % (self.limits[i] + 1)
    }
}
