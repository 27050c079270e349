use rayon::prelude::*;

use super::Dynamic;
use super::space::Space;
use crate::multiresource::workload::Workload;

/// Relative value iteration on one box.
///
/// With every arrival beyond the box lost, one sweep is `V'(s, q) = c(s, q) + Σ rates × U`, where U of
/// a state is the least V of those that starting jobs leads to. Whatever V is, the least and the
/// largest `V' − V` of all states are bounds on the least average cost (Odoni, Operations Research
/// 17, 1969).
pub(super) struct Sweeps {
    space: Space,
    /// Of each type: λ over the uniformization rate.
    arrivals: Vec<f64>,
    /// Of each type, μ over it; with setups then γ over it.
    services: Vec<f64>,
    /// Cost of a job of each type \[1/time\], over it.
    costs: Vec<f64>,
    rate: f64,
    /// V by schedule.
    values: Vec<Vec<f64>>,
    /// U by schedule.
    least: Vec<Vec<f64>>,
}

impl Sweeps {
    /// With setups at this rate, if there are any.
    pub fn new(space: Space, setup_rate: Option<f64>, workload: &Workload, costs: &[f64]) -> Self {
        let values = vec![vec![0.0; space.waiting.states]; space.near.schedules.len()];
        let types = workload.types();
        let setups = setup_rate
            .iter()
            .flat_map(|rate| std::iter::repeat_n(*rate, types.len()));
        let rates = types.iter().map(|t| t.service_rate());
        let services: Vec<f64> = rates.chain(setups).collect();
        let served = |s: &Vec<u32>| -> f64 {
            let pairs = s.iter().zip(&services);
            pairs.map(|(n, mu)| f64::from(*n) * mu).sum()
        };
        let fastest = space.near.schedules.iter().map(served).fold(0.0, f64::max);
        let rate = workload.total_arrival_rate() + fastest;
        Sweeps {
            arrivals: types.iter().map(|t| t.arrival_rate() / rate).collect(),
            services: services.iter().map(|mu| mu / rate).collect(),
            costs: costs.iter().map(|c| c / rate).collect(),
            least: values.clone(),
            space,
            rate,
            values,
        }
    }

    /// U from V: start no job, or one and so on, after some have been stopped.
    fn decide(&mut self) {
        self.start();
        self.stop();
    }

    /// From V the least of those that starting jobs leads to.
    fn start(&mut self) {
        for level in &self.space.levels {
            for &s in level {
                let mut own = std::mem::take(&mut self.least[s]);
                own.copy_from_slice(&self.values[s]);
                for (i, more) in self.space.starts(s) {
                    let Some(next) = *more else { continue };
                    let next = &self.least[next];
                    self.space.waiting.pairs(i, |fewer, waiting| {
                        for (u, v) in own[waiting].iter_mut().zip(&next[fewer]) {
                            *u = u.min(*v);
                        }
                    });
                }
                self.least[s] = own;
            }
        }
    }

    /// From that U. A job that is stopped at the edge of the box is lost.
    fn stop(&mut self) {
        let Space {
            waiting,
            stopped,
            near,
            ..
        } = &self.space;
        let mut order: Vec<usize> = (0..stopped.len()).collect();
        order.sort_by_key(|s| near.schedules[*s][..self.space.types].iter().sum::<u32>());
        for s in order {
            let mut own = std::mem::take(&mut self.least[s]);
            for (i, after) in stopped[s].iter().enumerate() {
                let Some(after) = after else { continue };
                let after = &self.least[*after];
                waiting.pairs(i, |fewer, more| {
                    for (u, v) in own[fewer].iter_mut().zip(&after[more]) {
                        *u = u.min(*v);
                    }
                });
                waiting.edges(i, |edge| {
                    for (u, v) in own[edge.clone()].iter_mut().zip(&after[edge]) {
                        *u = u.min(*v);
                    }
                });
            }
            self.least[s] = own;
        }
    }

    /// V' of one schedule in the place of V, row by row of the last type's waiting jobs; and the least
    /// and the largest change.
    fn one(&self, s: usize, values: &mut [f64]) -> [f64; 2] {
        let (space, own) = (&self.space, &self.least[s]);
        let schedule = &space.near.schedules[s];
        let ends = |i: usize| f64::from(schedule[i]) * self.services[i];
        let slots = 0..schedule.len();
        let idle = 1.0 - self.arrivals.iter().sum::<f64>() - slots.clone().map(ends).sum::<f64>();
        let running = schedule.iter().zip(&self.costs);
        let running: f64 = running.map(|(u, c)| f64::from(*u) * c).sum();
        let last = space.types - 1;
        let length = space.waiting.limits[last] + 1;
        let mut row = vec![0.0; length];
        let mut bounds = [f64::INFINITY, f64::NEG_INFINITY];
        for (n, old) in values.chunks_exact_mut(length).enumerate() {
            let start = n * length;
            let here = &own[start..start + length];
            let mut cost = running;
            row.iter_mut().zip(here).for_each(|(v, u)| *v = idle * u);
            for i in 0..last {
                let count = space.waiting.count(i, start);
                cost += count as f64 * self.costs[i];
                // Beyond the box an arrival is lost.
                let more = start
                    + if count < space.waiting.limits[i] {
                        space.waiting.strides[i]
                    } else {
                        0
                    };
                add(&mut row, self.arrivals[i], &own[more..more + length]);
            }
            add(&mut row, self.arrivals[last], &here[1..]);
            row[length - 1] += self.arrivals[last] * here[length - 1];
            for i in slots.clone() {
                if let Some(fewer) = space.near.fewer[s][i] {
                    add(&mut row, ends(i), &self.least[fewer][start..start + length]);
                }
            }
            for (new, old) in row.iter().zip(old) {
                let new = new + cost;
                let change = new - *old;
                bounds = [bounds[0].min(change), bounds[1].max(change)];
                *old = new;
                cost += self.costs[last];
            }
        }
        bounds
    }
}

impl Dynamic for Sweeps {
    fn states(&self) -> usize {
        self.space.near.schedules.len() * self.space.waiting.states
    }

    fn states_grown(&self) -> usize {
        self.space.near.schedules.len() * self.space.waiting.grown().states
    }

    fn sweep(&mut self) -> ([f64; 2], usize) {
        self.decide();
        let mut values = std::mem::take(&mut self.values);
        let swept = values.par_iter_mut().enumerate();
        let bounds = swept.map(|(s, values)| self.one(s, values)).reduce(
            || [f64::INFINITY, f64::NEG_INFINITY],
            |a, b| [a[0].min(b[0]), a[1].max(b[1])],
        );
        self.values = values;
        let origin = self.values[0][0];
        self.values
            .par_iter_mut()
            .for_each(|values| values.iter_mut().for_each(|v| *v -= origin));
        (bounds.map(|b| b * self.rate), 1)
    }

    fn grow(&mut self) {
        let larger = self.space.waiting.grown();
        let old = &self.space.waiting;
        let values = self.values.iter().map(|v| old.extended(&larger, v));
        self.values = values.collect();
        self.least.clone_from(&self.values);
        self.space.waiting = larger;
    }

    fn limits(&self) -> &[usize] {
        &self.space.waiting.limits
    }
}

/// Adds `rate` times each value.
fn add(row: &mut [f64], rate: f64, values: &[f64]) {
    row.iter_mut().zip(values).for_each(|(v, u)| *v += rate * u);
}
