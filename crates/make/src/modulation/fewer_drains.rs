//! This module searches for an optimal mix for which the loop drains fewer jobs. Each step adds a
//! schedule with the same value to the basis, and the ratio test of the simplex method removes one.

use std::cmp::Reverse;

use itertools::Itertools;
use nalgebra::{DMatrix, DVector, Dyn, LU};

use super::loop_order::{distance, drains, least_drain_order};
use crate::program::Mix;
use synth_multiresource::schedule::Schedule;
use synth_multiresource::workload::Workload;

/// The approximate maximum number of additions in a search.
const WORK: usize = 400_000_000;

/// If the relative slack of a type is less than this, the type is tight.
const TIGHT: f64 = 1e-9;

/// Returns the mix, or another one of the same load whose loop drains fewer jobs in each round. The
/// new schedules are from `face`, and as valuable as the optimal ones.
pub fn reduce_drains(workload: &Workload, mix: Mix, face: &[Schedule]) -> Mix {
    if face.is_empty() {
        return mix;
    }
    let mut best = Descent::new(workload, mix);
    let mut work = 0;
    while let Some(basis) = best.basis() {
        let n = best.mix.schedules.len();
        work += face.len() * n * (n + workload.types().len());
        if work > WORK {
            break;
        }
        let Some(next) = best.next(&basis, face) else {
            break;
        };
        best = next;
    }
    best.mix
}

struct Descent<'a> {
    workload: &'a Workload,
    mix: Mix,
    order: Vec<usize>,
    drains: u64,
    /// `1/ρ`.
    t: f64,
}

/// The tight types i, and the equations of a mix: `Σ_s π_s u_si / b_i = t`, and `Σ π = 1`.
type Basis = (Vec<usize>, LU<f64, Dyn, Dyn>);

impl<'a> Descent<'a> {
    fn new(workload: &'a Workload, mix: Mix) -> Self {
        let order = least_drain_order(&mix.schedules);
        Descent {
            drains: drains(&mix.schedules, &order),
            t: 1.0 / mix.load(workload),
            workload,
            mix,
            order,
        }
    }

    fn offered(&self, i: usize) -> f64 {
        self.workload.types()[i].offered_load()
    }

    /// Returns `None` unless as many types as schedules are tight and determine the weights.
    fn basis(&self) -> Option<Basis> {
        let n = self.mix.schedules.len();
        let loads = self.mix.loads(self.workload);
        let is_tight = |i: &usize| loads[*i] * self.t >= 1.0 - TIGHT;
        let tight: Vec<usize> = (0..loads.len()).filter(is_tight).collect();
        let entry = |row: usize, s: usize| match (row < n, s < n) {
            (true, true) => f64::from(self.mix.schedules[s][tight[row]]) / self.offered(tight[row]),
            (true, false) => -self.t,
            (false, in_use) => f64::from(u8::from(in_use)),
        };
        let equations = (tight.len() == n).then(|| DMatrix::from_fn(n + 1, n + 1, entry).lu())?;
        let is_regular = equations.is_invertible();
        is_regular.then_some((tight, equations))
    }

    fn next(&self, basis: &Basis, face: &[Schedule]) -> Option<Descent<'a>> {
        let others = face.iter().filter(|u| !self.mix.schedules.contains(u));
        let gains = others.filter_map(|schedule| {
            let (leaving, _) = self.pivot(basis, schedule)?;
            Some((self.gain(leaving, schedule), schedule))
        });
        let gains = gains.filter(|(gain, _)| *gain > 0);
        let mut gains = gains.sorted_by_key(|(gain, _)| Reverse(*gain));
        gains.find_map(|(_, schedule)| {
            let (leaving, weights) = self.pivot(basis, schedule)?;
            let mut schedules = self.mix.schedules.clone();
            schedules[leaving].clone_from(schedule);
            let pairs = schedules.into_iter().zip(weights);
            let (schedules, weights) = pairs.filter(|(_, p)| *p > 0.0).unzip();
            let next = Descent::new(self.workload, Mix { schedules, weights });
            let is_as_good = next.t >= self.t * (1.0 - 1e-13);
            (is_as_good && next.drains < self.drains).then_some(next)
        })
    }

    /// Returns the leaving schedule and the new weights; `None` if none leaves or the load changes.
    fn pivot(&self, (tight, equations): &Basis, schedule: &Schedule) -> Option<(usize, Vec<f64>)> {
        let n = self.mix.schedules.len();
        let change = equations.solve(&DVector::from_fn(n + 1, |row, _| {
            let tight = tight.get(row);
            tight.map_or(1.0, |&i| f64::from(schedule[i]) / self.offered(i))
        }))?;
        if change[n].abs() > TIGHT {
            return None;
        }
        let ratio = |s: usize| self.mix.weights[s] / change[s];
        let falling = (0..n).filter(|&s| change[s] > 1e-12);
        let leaving = falling.min_by(|&a, &b| ratio(a).total_cmp(&ratio(b)))?;
        let step = ratio(leaving);
        let weight = |s: usize| match s == leaving {
            true => step,
            false => (self.mix.weights[s] - step * change[s]).max(0.0),
        };
        Some((leaving, (0..n).map(weight).collect()))
    }

    /// Returns twice the drains that the schedule saves at its best place in the present order.
    fn gain(&self, leaving: usize, schedule: &Schedule) -> i64 {
        let rest = self.order.iter().filter(|s| **s != leaving);
        let rest: Vec<&Schedule> = rest.map(|&s| &self.mix.schedules[s]).collect();
        if rest.is_empty() {
            return 0;
        }
        let n = rest.len();
        let to: Vec<i64> = rest.iter().map(|u| distance(u, schedule) as i64).collect();
        let between = |a: usize| distance(rest[a], rest[(a + 1) % n]) as i64;
        let around: i64 = (0..n).map(between).sum();
        let insert = |a: usize| to[a] + to[(a + 1) % n] - between(a);
        let longer = (0..n).map(insert).min().expect("the rest has a schedule");
        2 * self.drains as i64 - (around + longer)
    }
}
