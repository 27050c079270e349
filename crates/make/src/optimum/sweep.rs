use std::cmp::Reverse;
use std::collections::HashMap;

use itertools::Itertools;
use rayon::prelude::*;

use super::region::{NO_BOUNDS, Region, Uniform, ValueIteration, add, widest};
use synth_multiresource::schedule::Schedule;
use synth_multiresource::workload::Workload;

/// Relative value iteration on a single box. A state is a running schedule `s` and the number `q`
/// of waiting jobs of each type. One sweep is `V'(s, q) = c(s, q) + Σ rates × U`, where `U` is the
/// minimum of `V` over all states that can be reached by starting jobs. For each `V`, the minimum
/// and the maximum of `V' − V` are bounds on the minimum average cost (Odoni, Operations Research
/// 17, 1969). With setups, a schedule lists the running jobs, then the slots in setup.
pub(super) struct Sweeps {
    schedules: Vec<Schedule>,
    /// For each schedule and type, the index of the schedule with one more job, if there is one.
    more: Vec<Vec<Option<usize>>>,
    fewer: Vec<Vec<Option<usize>>>,
    /// The same after a job is preempted, which leaves a slot in setup; empty without setups.
    stopped: Vec<Vec<Option<usize>>>,
    /// The schedules by descending number of jobs.
    descending: Vec<usize>,
    waiting: Region,
    rates: Uniform,
    /// `V` for each schedule.
    values: Vec<Vec<f64>>,
    /// `U` for each schedule.
    least: Vec<Vec<f64>>,
}

impl Sweeps {
    pub(super) fn new(
        schedules: Vec<Schedule>,
        waiting: Region,
        setup_rate: Option<f64>,
        workload: &Workload,
        costs: &[f64],
    ) -> Self {
        let [more, fewer] = [1, -1].map(|by| neighbours(&schedules, by));
        let types = workload.types();
        let stops = |s: usize| {
            let after = |i: usize| more[fewer[s][i]?][types.len() + i];
            let setups = schedules[s].len() - types.len();
            (0..setups).map(after).collect()
        };
        let mut services: Vec<f64> = types.iter().map(|t| t.service_rate()).collect();
        services.extend(setup_rate.iter().flat_map(|rate| vec![*rate; types.len()]));
        let values = vec![vec![0.0; waiting.states]; schedules.len()];
        let places = 0..schedules.len();
        let jobs = |s: &usize| Reverse(schedules[*s].iter().sum::<u32>());
        Sweeps {
            rates: Uniform::new(workload, &services, &schedules, costs),
            least: values.clone(),
            stopped: places.clone().map(stops).collect(),
            descending: places.sorted_by_key(jobs).collect(),
            values,
            schedules,
            more,
            fewer,
            waiting,
        }
    }

    /// Computes `U` from `V` by starting jobs.
    fn start(&mut self) {
        for &s in &self.descending {
            let mut own = std::mem::take(&mut self.least[s]);
            own.copy_from_slice(&self.values[s]);
            for (i, more) in self.more[s][..self.rates.arrivals.len()].iter().enumerate() {
                let Some(next) = *more else { continue };
                let next = &self.least[next];
                self.waiting.pairs(i, |fewer, waiting| {
                    least_of(&mut own[waiting], &next[fewer]);
                });
            }
            self.least[s] = own;
        }
    }

    /// Updates `U` by preempting jobs. A job that is preempted at the edge of the box is lost.
    fn stop(&mut self) {
        let types = self.rates.arrivals.len();
        let running = |s: &usize| self.schedules[*s][..types].iter().sum::<u32>();
        for s in (0..self.stopped.len()).sorted_by_key(running) {
            let mut own = std::mem::take(&mut self.least[s]);
            for (i, after) in self.stopped[s].iter().enumerate() {
                let Some(after) = after else { continue };
                let after = &self.least[*after];
                self.waiting.pairs(i, |fewer, more| {
                    least_of(&mut own[fewer], &after[more]);
                });
                self.waiting.edges(i, |edge| {
                    least_of(&mut own[edge.clone()], &after[edge]);
                });
            }
            self.least[s] = own;
        }
    }

    /// Replaces the `V` of one schedule with `V'`. Returns the minimum and the maximum change.
    fn one(&self, s: usize, values: &mut [f64]) -> [f64; 2] {
        let (waiting, own) = (&self.waiting, &self.least[s]);
        let schedule = &self.schedules[s];
        let ends = |i: usize| f64::from(schedule[i]) * self.rates.services[i];
        let slots = 0..schedule.len();
        let idle =
            1.0 - self.rates.arrivals.iter().sum::<f64>() - slots.clone().map(ends).sum::<f64>();
        let running = schedule.iter().zip(&self.rates.costs);
        let running: f64 = running.map(|(u, c)| f64::from(*u) * c).sum();
        let last = self.rates.arrivals.len() - 1;
        let length = waiting.limits[last] + 1;
        let mut row = vec![0.0; length];
        let mut bounds = NO_BOUNDS;
        for (n, old) in values.chunks_exact_mut(length).enumerate() {
            let start = n * length;
            let here = &own[start..start + length];
            row.iter_mut().zip(here).for_each(|(v, u)| *v = idle * u);
            let mut cost = self.rates.arrive(waiting, start, own, &mut row, running);
            for i in slots.clone() {
                if let Some(fewer) = self.fewer[s][i] {
                    add(&mut row, ends(i), &self.least[fewer][start..start + length]);
                }
            }
            for (new, old) in row.iter().zip(old) {
                let new = new + cost;
                let change = new - *old;
                bounds = widest(bounds, [change; 2]);
                *old = new;
                cost += self.rates.costs[last];
            }
        }
        bounds
    }
}

impl ValueIteration for Sweeps {
    fn region(&self) -> (&Region, usize) {
        (&self.waiting, self.schedules.len())
    }

    fn sweep(&mut self) -> ([f64; 2], usize) {
        self.start();
        self.stop();
        let mut values = std::mem::take(&mut self.values);
        let swept = values.par_iter_mut().enumerate();
        let changes = swept.map(|(s, values)| self.one(s, values));
        let bounds = changes.reduce(|| NO_BOUNDS, widest);
        let origin = values[0][0];
        let all = values.par_iter_mut();
        all.for_each(|values| values.iter_mut().for_each(|v| *v -= origin));
        self.values = values;
        (bounds.map(|b| b * self.rates.rate), 1)
    }

    fn grow(&mut self, larger: Region) {
        let old = &self.waiting;
        let values = self.values.iter().map(|v| old.extended(&larger, v));
        self.values = values.collect();
        self.least.clone_from(&self.values);
        self.waiting = larger;
    }
}

/// Returns, for each schedule and type, the index of the schedule with `by` more jobs.
pub(super) fn neighbours(schedules: &[Schedule], by: i32) -> Vec<Vec<Option<usize>>> {
    let places = schedules.iter().enumerate();
    let places: HashMap<&Schedule, usize> = places.map(|(n, s)| (s, n)).collect();
    let step = |schedule: &Schedule, i: usize| {
        let mut next = schedule.clone();
        next[i] = next[i].checked_add_signed(by)?;
        places.get(&next).copied()
    };
    let of = |s: &Schedule| (0..s.len()).map(|i| step(s, i)).collect();
    schedules.iter().map(of).collect()
}

/// Returns all ways to divide the slots of the schedules into running slots and slots in setup.
pub(super) fn in_setup(schedules: &[Schedule]) -> Vec<Schedule> {
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

fn least_of(own: &mut [f64], others: &[f64]) {
    own.iter_mut().zip(others).for_each(|(u, v)| *u = u.min(*v));
}
