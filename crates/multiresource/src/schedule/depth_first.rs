use std::ops::{Add, Mul, Sub};

use super::Packing;

/// A depth-first walk over the schedules of one server, for branch and bound. A step adds the next
/// of the `items` with the largest number of jobs that fit, or removes one job of the last item.
#[derive(Clone, Debug)]
pub struct DepthFirst<N> {
    pub(super) packing: Packing,
    /// Types with value, in descending order of value per cost.
    pub items: Vec<Item<N>>,
    /// The fixed counts, each with the values of `value` and `left` before it was fixed.
    taken: Vec<(u32, N, N)>,
    free: Vec<u64>,
    /// Total value of the fixed counts.
    pub value: N,
    /// Remaining capacity of the server, at the items' costs.
    pub left: N,
}

/// A job type that can be used in a schedule.
#[derive(Clone, Copy, Debug)]
pub struct Item<N> {
    /// The index of the type.
    pub job_type: usize,
    /// The value of a job.
    pub value: N,
    /// The cost of a job, given the prices of the resources.
    pub cost: N,
    /// The largest count.
    pub max_count: u32,
}

impl<N> DepthFirst<N>
where
    N: Copy + From<u32> + Add<Output = N> + Sub<Output = N> + Mul<Output = N>,
{
    /// Starts at the empty server, which costs `left`.
    pub fn new(packing: &Packing, items: Vec<Item<N>>, left: N) -> Self {
        DepthFirst {
            taken: Vec::with_capacity(packing.types()),
            free: packing.capacity().to_vec(),
            packing: packing.clone(),
            items,
            value: N::from(0),
            left,
        }
    }

    pub(super) fn restart(&mut self, left: N) {
        self.taken.clear();
        self.free.copy_from_slice(self.packing.capacity());
        (self.value, self.left) = (N::from(0), left);
    }

    /// Returns the items whose counts are not fixed.
    pub fn open(&self) -> &[Item<N>] {
        &self.items[self.taken.len()..]
    }

    /// Returns the count fixed last.
    pub fn last(&self) -> Option<u32> {
        self.taken.last().map(|(count, ..)| *count)
    }

    /// Fixes the next item at the largest count that fits. There must be one.
    pub fn descend(&mut self) {
        let item = self.items[self.taken.len()];
        let most = self.packing.max_jobs_in(item.job_type, &self.free);
        self.fix(most.min(item.max_count));
    }

    /// Removes one job of the last item if this is promising. Otherwise it continues with the
    /// previous item: since the items are sorted by efficiency, even fewer jobs are not better.
    /// Returns `false` at the end of the search.
    pub fn retreat(&mut self, is_promising: impl Fn(&Self) -> bool) -> bool {
        while let Some(count) = self.unfix() {
            if count > 0 {
                self.fix(count - 1);
                if is_promising(self) {
                    return true;
                }
                self.unfix();
            }
        }
        false
    }

    pub(super) fn write(&self, schedule: &mut [u32]) {
        schedule.fill(0);
        for (item, (count, ..)) in self.items.iter().zip(&self.taken) {
            schedule[item.job_type] = *count;
        }
    }

    /// Returns the fixed counts by type.
    pub fn schedule(&self) -> super::Schedule {
        let mut schedule = vec![0; self.packing.types()];
        self.write(&mut schedule);
        schedule
    }

    fn fix(&mut self, count: u32) {
        let item = self.items[self.taken.len()];
        self.packing.take(item.job_type, count, &mut self.free);
        self.taken.push((count, self.value, self.left));
        self.value = self.value + N::from(count) * item.value;
        self.left = self.left - N::from(count) * item.cost;
    }

    fn unfix(&mut self) -> Option<u32> {
        let count;
        (count, self.value, self.left) = self.taken.pop()?;
        let job_type = self.items[self.taken.len()].job_type;
        self.packing.release(job_type, count, &mut self.free);
        Some(count)
    }
}
