//! What is the same at all times.

use crate::multiresource::artifact::{TdcOrder, TdcPolicy};
use crate::multiresource::policy::drain::{Drains, prices};
use crate::multiresource::policy::room::{Packed, Words};
use crate::multiresource::schedule::Packing;
use crate::multiresource::workload::Workload;

/// The types, and the arithmetic of their demands.
#[derive(Clone, Debug)]
pub(super) struct Kinds<U> {
    pub types: Vec<Kind<U>>,
    /// The types, those of long jobs first.
    pub longest: Vec<usize>,
    /// By type, so many of the longest have jobs that are as long or longer.
    longer: Vec<usize>,
    /// The program's: types with their counts.
    pub schedules: Vec<Vec<(usize, u32)>>,
    pub packed: Packed,
    /// Nothing used.
    pub empty: U,
    pub exponent: f64,
    pub by_age: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Kind<U> {
    /// p_i.
    pub price: f64,
    /// g_i.
    pub favour: f64,
    /// E\[S_i\].
    pub mean: f64,
    /// The most jobs of it that an empty server holds.
    pub alone: u32,
    /// Nothing used of what jobs of it and longer ones may hold where it starts of itself.
    pub open: U,
}

impl<U: Words> Kinds<U> {
    pub fn new(policy: &TdcPolicy, workload: &Workload) -> Self {
        let packing = Packing::new(workload);
        let packed = Packed::new(&packing);
        let knobs = policy.knobs;
        let all = workload.types();
        let prices = prices(&policy.prices, workload);
        let area = |i: usize| prices[i] * all[i].mean_size();
        let logs: f64 = (0..all.len()).map(|i| area(i).ln()).sum();
        let middle = (logs / all.len() as f64).exp();
        let types = (0..all.len()).map(|i| Kind {
            price: prices[i],
            favour: (area(i) / middle).powf(-knobs.favour),
            mean: all[i].mean_size(),
            alone: packing.most(i, packing.capacity()),
            open: packed.nothing_of(&left_for_shorter(workload, &packing, i, knobs.reserve)),
        });
        let types: Vec<Kind<U>> = types.collect();
        let longest = Drains::new(workload).longest;
        let longer = |own: &Kind<U>| longest.partition_point(|k| types[*k].mean >= own.mean);
        let schedule = |u: &Vec<u32>| {
            let slots = u.iter().copied().enumerate();
            slots.filter(|(_, count)| *count > 0).collect()
        };
        Kinds {
            longer: types.iter().map(longer).collect(),
            longest,
            types,
            schedules: policy.schedules.iter().map(schedule).collect(),
            empty: packed.nothing_of(packing.capacity()),
            packed,
            exponent: knobs.exponent,
            by_age: knobs.order == TdcOrder::Age,
        }
    }

    /// The types whose jobs are as long as those of type i, or longer.
    #[inline]
    pub fn longer(&self, i: usize) -> &[usize] {
        &self.longest[..self.longer[i]]
    }
}

/// The amounts that jobs of type i and longer ones may hold together, when one of type i starts of
/// itself: the capacity, but for this part of what shorter ones bring while it runs.
fn left_for_shorter(workload: &Workload, packing: &Packing, i: usize, part: f64) -> Vec<u64> {
    let mean = workload.types()[i].mean_size();
    let brings = |j: usize| -> f64 {
        let all = workload.types().iter().enumerate();
        let shorter = all.filter(|(_, t)| t.mean_size() < mean);
        let each = shorter.map(|(k, t)| {
            let share = 1.0 - t.mean_size() / mean;
            share * t.offered_load() * packing.demand(k)[j] as f64
        });
        each.sum()
    };
    let capacity = packing.capacity().iter().enumerate();
    let left = capacity.map(|(j, room)| (*room as f64 - part * brings(j)).max(0.0) as u64);
    left.collect()
}
