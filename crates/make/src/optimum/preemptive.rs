use rayon::prelude::*;

use super::region::{NO_BOUNDS, Region, Uniform, ValueIteration, widest};
use synth_multiresource::schedule::Schedule;
use synth_multiresource::workload::Workload;

/// Relative value iteration on a single box with full preemption. The state is the number of jobs
/// of each type, and the decision is the maximal schedule to serve.
///
/// If all rates are divided by the uniformization rate, one sweep is
///
/// ```text
/// V'(q) = c·q + Σ λ_i V(q + e_i) + (1 − Σ λ_i) V(q)
///         − max_m Σ min(m_i, q_i) μ_i (V(q) − V(q − e_i))
/// ```
///
/// Maximal schedules are enough, because one more job never lowers the cost, even in the box, where
/// it can block at most one arrival, after which the states are equal. The bounds are the same as
/// in `Sweeps`. The decisions are kept for several sweeps (modified policy iteration: Puterman and
/// Shin, Management Science 24, 1978).
pub(super) struct Preemptive {
    region: Region,
    schedules: Vec<Schedule>,
    rates: Uniform,
    values: Vec<f64>,
    next: Vec<f64>,
    choices: Vec<u32>,
}

/// The number of sweeps that keep the decisions, for each sweep that makes new ones.
const EVALUATIONS: usize = 11;

impl Preemptive {
    pub(super) fn new(
        region: Region,
        schedules: Vec<Schedule>,
        workload: &Workload,
        costs: &[f64],
    ) -> Self {
        let services: Vec<f64> = workload.types().iter().map(|t| t.service_rate()).collect();
        Preemptive {
            rates: Uniform::new(workload, &services, &schedules, costs),
            values: vec![0.0; region.states],
            next: vec![0.0; region.states],
            choices: vec![0; region.states],
            region,
            schedules,
        }
    }

    /// Computes `V'` with new or previous decisions. Returns the minimum and the maximum change.
    fn step(&mut self, decides: bool) -> [f64; 2] {
        let length = self.region.limits.last().map_or(1, |most| most + 1);
        let mut next = std::mem::take(&mut self.next);
        let mut choices = std::mem::take(&mut self.choices);
        let bounds = next
            .par_chunks_mut(length)
            .zip(choices.par_chunks_mut(length))
            .enumerate()
            .map_init(
                || Row::new(self.rates.services.len(), length),
                |row, (n, (next, choices))| self.row(row, n * length, next, choices, decides),
            )
            .reduce(|| NO_BOUNDS, widest);
        let origin = next[0];
        next.par_iter_mut().for_each(|v| *v -= origin);
        self.next = std::mem::replace(&mut self.values, next);
        self.choices = choices;
        bounds.map(|b| b * self.rates.rate)
    }

    /// Steps a row of states that differ in the last type.
    fn row(
        &self,
        row: &mut Row,
        start: usize,
        next: &mut [f64],
        choices: &mut [u32],
        decides: bool,
    ) -> [f64; 2] {
        let (region, length) = (&self.region, next.len());
        let here = &self.values[start..start + length];
        let last = self.rates.services.len() - 1;
        row.look(self, start, here);
        match decides {
            true => self.decide(row, choices),
            false => self.keep(row, choices),
        }
        let stays = 1.0 - self.rates.arrivals.iter().sum::<f64>();
        for ((v, u), gain) in next.iter_mut().zip(here).zip(&row.best) {
            *v = stays * u - gain;
        }
        let mut cost = self.rates.arrive(region, start, &self.values, next, 0.0);
        let mut bounds = NO_BOUNDS;
        for (v, u) in next.iter_mut().zip(here) {
            *v += cost;
            cost += self.rates.costs[last];
            bounds = widest(bounds, [*v - u; 2]);
        }
        bounds
    }

    /// Selects the schedules with the highest gain, the first one of equals.
    fn decide(&self, row: &mut Row, choices: &mut [u32]) {
        let last = self.rates.services.len() - 1;
        row.best.fill(f64::NEG_INFINITY);
        for (m, schedule) in self.schedules.iter().enumerate() {
            row.own.fill(0.0);
            for (i, gains) in row.gains[..last].iter().enumerate() {
                let served = row.counts[i].min(schedule[i] as usize);
                if served > 0 {
                    for (own, gain) in row.own.iter_mut().zip(gains) {
                        *own += served as f64 * gain;
                    }
                }
            }
            let most = schedule[last] as usize;
            for (n, (own, gain)) in row.own.iter_mut().zip(&row.gains[last]).enumerate() {
                *own += n.min(most) as f64 * gain;
            }
            for ((best, own), choice) in row.best.iter_mut().zip(&row.own).zip(&mut *choices) {
                if *own > *best {
                    (*best, *choice) = (*own, m as u32);
                }
            }
        }
    }

    fn keep(&self, row: &mut Row, choices: &[u32]) {
        let last = self.rates.services.len() - 1;
        for (n, choice) in choices.iter().enumerate() {
            let schedule = &self.schedules[*choice as usize];
            let counts = row.counts[..last].iter().copied().chain([n]);
            let served = schedule.iter().zip(counts);
            let gains = row.gains.iter().map(|gains| gains[n]);
            let each = served.map(|(slots, jobs)| jobs.min(*slots as usize) as f64);
            row.best[n] = each.zip(gains).map(|(served, gain)| served * gain).sum();
        }
    }
}

struct Row {
    counts: Vec<usize>,
    /// The gain of one completion of each type, multiplied by its rate.
    gains: Vec<Vec<f64>>,
    own: Vec<f64>,
    best: Vec<f64>,
}

impl Row {
    fn new(types: usize, length: usize) -> Self {
        Row {
            counts: vec![0; types],
            gains: vec![vec![0.0; length]; types],
            own: vec![0.0; length],
            best: vec![0.0; length],
        }
    }

    fn look(&mut self, dynamic: &Preemptive, start: usize, here: &[f64]) {
        let (region, last) = (&dynamic.region, self.counts.len() - 1);
        for i in 0..last {
            self.counts[i] = region.count(i, start);
            if self.counts[i] > 0 {
                let fewer = &dynamic.values[start - region.strides[i]..][..here.len()];
                for ((gain, v), u) in self.gains[i].iter_mut().zip(here).zip(fewer) {
                    *gain = dynamic.rates.services[i] * (v - u);
                }
            }
        }
        for (gain, pair) in self.gains[last][1..].iter_mut().zip(here.windows(2)) {
            *gain = dynamic.rates.services[last] * (pair[1] - pair[0]);
        }
    }
}

impl ValueIteration for Preemptive {
    fn region(&self) -> (&Region, usize) {
        (&self.region, 1)
    }

    fn sweep(&mut self) -> ([f64; 2], usize) {
        for _ in 0..EVALUATIONS {
            self.step(false);
        }
        (self.step(true), EVALUATIONS + 1)
    }

    fn grow(&mut self, larger: Region) {
        self.values = self.region.extended(&larger, &self.values);
        self.next = vec![0.0; larger.states];
        self.choices = vec![0; larger.states];
        self.region = larger;
        self.step(true);
    }
}
