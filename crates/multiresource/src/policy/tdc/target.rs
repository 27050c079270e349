use super::{TdcConfig, TdcOrder, TdcParameters};
use crate::policy::System;
use crate::policy::capacity::{PackedDemand, Words};
use crate::policy::drain::{DrainEstimator, prices};
use crate::schedule::Packing;
use crate::workload::Workload;

#[derive(Clone, Debug)]
pub(super) struct Fixed<U> {
    pub types: Vec<OfType<U>>,
    pub longest: Vec<usize>,
    /// For each type, the number of entries of `longest` that are at least as long.
    longer: Vec<usize>,
    pub schedules: Vec<Vec<(usize, u32)>>,
    pub packed: PackedDemand,
    pub empty: U,
    pub knobs: TdcParameters,
}

#[derive(Clone, Debug)]
pub(super) struct OfType<U> {
    /// p_i.
    pub price: f64,
    /// g_i.
    pub favour: f64,
    /// E\[S_i\].
    pub mean: f64,
    pub alone: u32,
    /// The amounts that this type and longer types may use if one of its jobs starts on its own.
    pub open: U,
}

impl<U: Words> Fixed<U> {
    pub(super) fn new(policy: &TdcConfig, workload: &Workload) -> Self {
        let packing = Packing::new(workload);
        let packed = PackedDemand::new(&packing);
        let knobs = policy.knobs;
        let all = workload.types();
        let prices = prices(&policy.prices, workload);
        let area = |i: usize| prices[i] * all[i].mean_size();
        let logs: f64 = (0..all.len()).map(|i| area(i).ln()).sum();
        let middle = (logs / all.len() as f64).exp();
        let types = (0..all.len()).map(|i| OfType {
            price: prices[i],
            favour: (area(i) / middle).powf(-knobs.favour),
            mean: all[i].mean_size(),
            alone: packing.max_jobs_alone(i),
            open: packed.empty(&left_for_shorter(workload, &packing, i, knobs.reserve)),
        });
        let types: Vec<OfType<U>> = types.collect();
        let longest = DrainEstimator::new(workload).longest;
        let longer = |own: &OfType<U>| longest.partition_point(|k| types[*k].mean >= own.mean);
        let schedule = |u: &Vec<u32>| {
            let slots = u.iter().copied().enumerate();
            slots.filter(|(_, count)| *count > 0).collect()
        };
        Fixed {
            longer: types.iter().map(longer).collect(),
            longest,
            types,
            schedules: policy.schedules.iter().map(schedule).collect(),
            empty: packed.empty(packing.capacity()),
            packed,
            knobs,
        }
    }

    #[inline]
    pub(super) fn longer(&self, i: usize) -> &[usize] {
        &self.longest[..self.longer[i]]
    }
}

/// Returns the capacity minus `part` of the needs of the shorter jobs that arrive meanwhile.
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
    let left = capacity.map(|(j, all)| (*all as f64 - part * brings(j)).max(0.0) as u64);
    left.collect()
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Lead {
    None,
    Type(usize, DrainMode),
    /// The type that a schedule of the program lacks most.
    Schedule(usize),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum DrainMode {
    /// Keep the longest running jobs so that one more fits, then add as many jobs as possible.
    Keeping,
    /// Add one more, then keep running jobs where possible, the longest first.
    OneMore,
    /// Add as many jobs as possible, then keep running jobs where possible.
    Most,
}

impl DrainMode {
    pub(super) const ALL: [Self; 3] = [Self::Keeping, Self::OneMore, Self::Most];
}

#[derive(Clone, Debug)]
pub(super) struct DecisionState<U> {
    pub running: Vec<u32>,
    /// Q, at most what an empty server holds.
    pub there: Vec<u32>,
    pub long: Vec<usize>,
    pub waiting: Vec<usize>,
    /// v, by type.
    pub value: Vec<f64>,
    pub used: U,
    numbers: Vec<u64>,
    urgency: Vec<f64>,
}

#[derive(Clone, Debug)]
pub(super) struct Target<U> {
    pub jobs: Vec<u32>,
    pub worth: f64,
    used: U,
}

impl<U: Words> DecisionState<U> {
    pub(super) fn new(fixed: &Fixed<U>) -> Self {
        let types = fixed.types.len();
        DecisionState {
            running: vec![0; types],
            there: vec![0; types],
            long: Vec::with_capacity(types),
            waiting: Vec::with_capacity(types),
            value: vec![0.0; types],
            used: fixed.empty.clone(),
            numbers: vec![0; types],
            urgency: vec![0.0; types],
        }
    }

    pub(super) fn look(&mut self, fixed: &Fixed<U>, system: &System) {
        self.used.as_mut().copy_from_slice(&system.server.used);
        self.waiting.clear();
        for (i, own) in fixed.types.iter().enumerate() {
            let present = system.present(i);
            if present != self.numbers[i] {
                self.numbers[i] = present;
                self.urgency[i] = own.favour * (present as f64).powf(fixed.knobs.exponent);
                self.value[i] = own.price * self.urgency[i];
                self.there[i] = present.min(own.alone.into()) as u32;
            }
            self.running[i] = system.running(i);
            if present > u64::from(self.running[i]) {
                self.waiting.push(i);
            }
        }
        let urgency = &self.urgency;
        let waiting = &mut self.waiting;
        match fixed.knobs.order {
            TdcOrder::Age => waiting.sort_by_key(|i| system.nth_number(*i, 0)),
            TdcOrder::Worth => waiting.sort_by(|a, b| urgency[*b].total_cmp(&urgency[*a])),
        }
        let running = fixed.longest.iter().filter(|k| self.running[**k] > 0);
        self.long.clear();
        self.long.extend(running);
    }
}

impl<U: Words> Target<U> {
    pub(super) fn new(fixed: &Fixed<U>) -> Self {
        Target {
            jobs: vec![0; fixed.types.len()],
            worth: 0.0,
            used: fixed.empty.clone(),
        }
    }

    pub(super) fn stay(&mut self, fixed: &Fixed<U>, state: &DecisionState<U>) {
        self.jobs.copy_from_slice(&state.running);
        self.used = state.used.clone();
        let running = state.long.iter();
        let worths = running.map(|k| state.value[*k] * f64::from(state.running[*k]));
        self.worth = worths.sum();
        self.fill(fixed, state);
    }

    /// Builds the target of a lead and returns the leading type. `None` if none of its jobs wait.
    pub(super) fn aim(
        &mut self,
        lead: Lead,
        fixed: &Fixed<U>,
        state: &DecisionState<U>,
    ) -> Option<usize> {
        self.jobs.fill(0);
        self.worth = 0.0;
        self.used = fixed.empty.clone();
        let leads = match lead {
            Lead::None => return None,
            Lead::Type(i, mode) => {
                let count = match mode {
                    DrainMode::Keeping => {
                        fixed.packed.take(&mut self.used, i, 1);
                        self.keep_longest(fixed, state);
                        fixed.packed.give(&mut self.used, i, 1);
                        state.there[i] - self.jobs[i]
                    }
                    DrainMode::OneMore => (state.running[i] + 1).min(state.there[i]),
                    DrainMode::Most => state.there[i],
                };
                self.add(i, count, fixed, state);
                i
            }
            Lead::Schedule(s) => self.follow(&fixed.schedules[s], fixed, state)?,
        };
        if self.jobs[leads] <= state.running[leads] {
            return None;
        }
        self.keep_longest(fixed, state);
        self.fill(fixed, state);
        Some(leads)
    }

    fn follow(
        &mut self,
        schedule: &[(usize, u32)],
        fixed: &Fixed<U>,
        state: &DecisionState<U>,
    ) -> Option<usize> {
        let mut most = (0.0, None);
        for &(i, slots) in schedule {
            let count = slots.min(state.there[i]);
            self.add(i, count, fixed, state);
            let lack = count.saturating_sub(state.running[i]);
            let lack = f64::from(lack) * fixed.types[i].price;
            if lack > most.0 {
                most = (lack, Some(i));
            }
        }
        most.1
    }

    #[inline(always)]
    fn add(&mut self, i: usize, most: u32, fixed: &Fixed<U>, state: &DecisionState<U>) {
        let count = fixed.packed.most(&self.used, i, most.into());
        fixed.packed.take(&mut self.used, i, count);
        self.jobs[i] += count as u32;
        self.worth += count as f64 * state.value[i];
    }

    fn keep_longest(&mut self, fixed: &Fixed<U>, state: &DecisionState<U>) {
        for &k in &state.long {
            let more = state.running[k].saturating_sub(self.jobs[k]);
            self.add(k, more, fixed, state);
        }
    }

    fn fill(&mut self, fixed: &Fixed<U>, state: &DecisionState<U>) {
        for &i in &state.waiting {
            let more = state.there[i].saturating_sub(self.jobs[i]);
            if more == 0 || !fixed.packed.fits(&self.used, i, 1) {
                continue;
            }
            let mut held = fixed.types[i].open.clone();
            for &k in fixed.longer(i) {
                fixed.packed.take(&mut held, k, self.jobs[k].into());
            }
            if fixed.packed.fits(&held, i, 0) {
                let most = fixed.packed.most(&held, i, more.into());
                self.add(i, most as u32, fixed, state);
            }
        }
    }
}
