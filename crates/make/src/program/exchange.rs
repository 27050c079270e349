//! This module improves columns by exchanges. An exchange removes some jobs of one type, and uses
//! the capacity for jobs of a second type and, if there is capacity left, of a third type.
//!
//! The worth of a column in the basis is equal to the threshold of the pricing problem, so any gain
//! improves the program. Exchanges find schedules that use several resources completely, which
//! cannot be found from the prices, but only [`super::pricing`] proves a bound.

use super::pricing::WORTH;
use synth_multiresource::schedule::{Packing, Schedule};

pub(super) struct Exchange<'a> {
    packing: &'a Packing,
    pub values: Vec<f64>,
    /// The types of positive value, most valuable first.
    order: Vec<usize>,
    third: bool,
}

const STEPS: usize = 3;

/// The gain, the jobs that are removed, and the jobs of two types that are added.
type Step = (f64, Option<(usize, u32)>, [(usize, u32); 2]);

impl<'a> Exchange<'a> {
    pub(super) fn new(packing: &'a Packing, values: Vec<f64>, third: bool) -> Self {
        let mut order: Vec<usize> = (0..values.len()).filter(|&i| values[i] > 0.0).collect();
        order.sort_by(|&a, &b| values[b].total_cmp(&values[a]).then(a.cmp(&b)));
        Exchange {
            packing,
            values,
            order,
            third,
        }
    }

    /// Applies the best exchange up to `STEPS` times; `None` if there is no gain at all.
    pub(super) fn improved(&self, schedule: &Schedule) -> Option<Schedule> {
        let mut room = self.packing.free_capacity(schedule)?;
        let mut better = schedule.clone();
        for _ in 0..STEPS {
            let Some((_, less, more)) = self.best_step(&better, &room) else {
                break;
            };
            if let Some((i, count)) = less {
                better[i] -= count;
                self.packing.release(i, count, &mut room);
            }
            for (i, count) in more {
                better[i] += count;
                self.packing.take(i, count, &mut room);
            }
        }
        (better != *schedule).then_some(better)
    }

    fn best_step(&self, schedule: &[u32], room: &[u64]) -> Option<Step> {
        let mut best = self.filling(room, None, 0.0);
        for (i, &running) in schedule.iter().enumerate().filter(|(_, u)| **u > 0) {
            let mut counts = vec![1, 2, 3, running];
            counts.retain(|c| *c <= running);
            counts.dedup();
            for count in counts {
                let mut room = room.to_vec();
                self.packing.release(i, count, &mut room);
                let bar = best.as_ref().map_or(0.0, |b| b.0);
                best = self.filling(&room, Some((i, count)), bar).or(best);
            }
        }
        best
    }

    /// Fills the free capacity with one or two types; `None` if the net gain is at most `bar`.
    fn filling(&self, room: &[u64], less: Option<(usize, u32)>, bar: f64) -> Option<Step> {
        let lost = less.map_or(0.0, |(i, count)| f64::from(count) * self.values[i]);
        let mut bar = bar.max(WORTH * lost);
        let mut best = None;
        let mut left = room.to_vec();
        for &i in &self.order {
            let count = self.packing.max_jobs_in(i, room);
            if count == 0 || less.is_some_and(|less| less.0 == i) {
                continue;
            }
            let mut gain = f64::from(count) * self.values[i] - lost;
            let mut third = (i, 0);
            if self.third && gain > -0.5 * lost {
                left.copy_from_slice(room);
                self.packing.take(i, count, &mut left);
                let (more, filler) = self.fullest(&left);
                gain += more;
                third = filler.unwrap_or(third);
            }
            if gain > bar {
                bar = gain;
                best = Some((gain, less, [(i, count), third]));
            }
        }
        best
    }

    fn fullest(&self, room: &[u64]) -> (f64, Option<(usize, u32)>) {
        let mut best = (0.0, None);
        for &i in &self.order {
            let count = self.packing.max_jobs_in(i, room);
            let gain = f64::from(count) * self.values[i];
            if gain > best.0 {
                best = (gain, Some((i, count)));
            }
        }
        best
    }
}
