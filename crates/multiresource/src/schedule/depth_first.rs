use std::ops::{Add, Mul, Sub};

use super::Packing;

/// A depth-first walk over the schedules of one server, for branch and bound.
///
/// Types come in the order of `items`. A step down settles the next type at the largest count that
/// fits; a step back takes one job less of the last type, as long as the caller finds that
/// promising. Values and costs are doubles or whole numbers.
#[derive(Clone, Debug)]
pub struct DepthFirst<N> {
    pub(super) packing: Packing,
    /// Types with value, in descending order of value for cost.
    pub items: Vec<Item<N>>,
    /// Counts of the first items, as far as they are settled.
    taken: Vec<Taken<N>>,
    room: Vec<u64>,
    /// Worth of what is taken.
    pub value: N,
    /// What is left of the server, at the items' costs.
    pub left: N,
}

/// A type that schedules may consist of.
#[derive(Clone, Copy, Debug)]
pub struct Item<N> {
    /// The type.
    pub job_type: usize,
    /// What one job of it is worth.
    pub value: N,
    /// What one job of it takes, at the prices of the resources.
    pub cost: N,
    /// No more are taken.
    pub most: u32,
}

/// A settled count, and what stood before it.
#[derive(Clone, Copy, Debug)]
struct Taken<N> {
    count: u32,
    value: N,
    left: N,
}

impl<N> DepthFirst<N>
where
    N: Copy + From<u32> + Add<Output = N> + Sub<Output = N> + Mul<Output = N>,
{
    /// On the empty server, which costs `left`.
    pub fn new(packing: &Packing, items: Vec<Item<N>>, left: N) -> Self {
        DepthFirst {
            taken: Vec::with_capacity(packing.types()),
            room: packing.capacity().to_vec(),
            packing: packing.clone(),
            items,
            value: N::from(0),
            left,
        }
    }

    /// Back to the empty server, which costs `left`.
    pub fn restart(&mut self, left: N) {
        self.taken.clear();
        self.room.copy_from_slice(self.packing.capacity());
        (self.value, self.left) = (N::from(0), left);
    }

    /// Returns the items that are not settled.
    pub fn open(&self) -> &[Item<N>] {
        &self.items[self.taken.len()..]
    }

    /// Returns the count settled last.
    pub fn last(&self) -> Option<u32> {
        self.taken.last().map(|taken| taken.count)
    }

    /// Settles the next item, which there is, at the largest count.
    pub fn descend(&mut self) {
        let item = self.items[self.taken.len()];
        let most = self.packing.most(item.job_type, &self.room);
        self.settle(most.min(item.most));
    }

    /// Takes one less of the last item where that is promising. Where it is not, fewer still are
    /// less so, since the items come in order of efficiency; then of the item before it. `false`
    /// when nothing is left.
    pub fn retreat(&mut self, is_promising: impl Fn(&Self) -> bool) -> bool {
        while let Some(count) = self.unsettle() {
            if count > 0 {
                self.settle(count - 1);
                if is_promising(self) {
                    return true;
                }
                self.unsettle();
            }
        }
        false
    }

    /// Writes what is taken, by type.
    pub fn write(&self, schedule: &mut [u32]) {
        schedule.fill(0);
        for (item, taken) in self.items.iter().zip(&self.taken) {
            schedule[item.job_type] = taken.count;
        }
    }

    /// Returns what is taken, by type.
    pub fn schedule(&self) -> super::Schedule {
        let mut schedule = vec![0; self.packing.types()];
        self.write(&mut schedule);
        schedule
    }

    fn settle(&mut self, count: u32) {
        let item = self.items[self.taken.len()];
        self.packing.take(item.job_type, count, &mut self.room);
        let (value, left) = (self.value, self.left);
        self.taken.push(Taken { count, value, left });
        self.value = value + N::from(count) * item.value;
        self.left = left - N::from(count) * item.cost;
    }

    /// Gives back the count settled last, and returns it.
    fn unsettle(&mut self) -> Option<u32> {
        let Taken { count, value, left } = self.taken.pop()?;
        let job_type = self.items[self.taken.len()].job_type;
        self.packing.give_back(job_type, count, &mut self.room);
        (self.value, self.left) = (value, left);
        Some(count)
    }
}
