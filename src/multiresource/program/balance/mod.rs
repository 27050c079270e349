//! Mixes that are best for something other than the load, each with a proof.
//!
//! # Theory
//! With `x = πW ∈ Conv(S)` and `c_i = x_i/b_i = 1/ρ_i` there are three aims beside the load
//! `max_i ρ_i`:
//!
//! ```text
//! headroom         maximize s     s.t.  c_i ≥ 1 + ω_i s                for each type i
//! worst response   minimize τ     s.t.  c_i ≥ 1/(1 − w_i/τ)            that is w_i/(1 − ρ_i) ≤ τ
//! total response   minimize Σ_i w_i/(1 − ρ_i) = Σ_i w_i (1 + 1/(c_i − 1))
//! ```
//!
//! Headroom is weighted, not ρ_i: the least `max_i ω_i ρ_i` may need a ρ_i above 1, and this s is
//! positive wherever the workload can be stabilized at all. With all ω = 1 it is program (7).
//!
//! Prices `v ≥ 0` of running jobs bound each of them for *all* mixes, since `v·x ≤ Z = max_{u∈S} v·u`
//! (one knapsack). With `y_i = v_i b_i`:
//!
//! ```text
//! headroom         Σ y_i (1 + ω_i s) ≤ Z
//! worst response   Σ y_i/(1 − w_i/τ) ≤ Z, whose left side falls in τ
//! total response   Σ w_i/(c_i − 1) ≥ (Σ √(w_i y_i))² / Σ y_i (c_i − 1) ≥ (Σ √(w_i y_i))² / (Z − Σ y_i)
//! ```
//!
//! the last by Cauchy and Schwarz: the dual of the convex program with the scale of its prices
//! optimized away. None of the three depends on that scale.
//!
//! All three optima lie on the boundary of `Conv(S)`, where a face of dimension K − 1 at most
//! needs no more than K schedules: theorem 2 holds for them as it does for the load.
//!
//! # Practice
//! Headroom and worst response ask how far a curve of loads `b_i c_i(r)` stays in `Conv(S)`:
//! Newton's method on the load of a busier workload ([`target`]). The total response is
//! smooth, and its gradient prices schedules: simplicial decomposition ([`response`]). In all of
//! them the last step is program (7) for the workload with loads x, which finds a mix of at
//! most K schedules with little to drain.
//!
//! # Bibliography
//! - W. Dinkelbach: On nonlinear fractional programming. Management Science 13(7), 1967.
//! - B. von Hohenbalken: Simplicial decomposition in nonlinear programming algorithms.
//!   Mathematical Programming 13, 1977.

mod response;
mod target;

use std::time::Instant;

use super::{Certificate, Limits, Mix, ProgramError, Solution, solve};
use crate::multiresource::artifact::Balance;
use crate::multiresource::schedule::Packing;
use crate::multiresource::workload::Workload;

/// The mix is proven best for its aim when the relative gap is at most this.
pub const BALANCE_GAP: f64 = 1e-6;

/// Relative distance at which both sides are taken as met.
const MET: f64 = 1e-9;

/// An aim with the weights of the types.
#[derive(Clone, Debug, PartialEq)]
pub struct Balancing {
    /// What the mix shall be best for.
    pub aim: Balance,
    /// ω or w by type (K): positive and finite.
    pub weights: Vec<f64>,
}

/// A weight that cannot be given.
#[derive(Debug, thiserror::Error)]
pub enum UnknownWeight {
    /// No such type.
    #[error("there is no type `{name}` to weigh; the types are {}", known.join(", "))]
    Type {
        /// The name found.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// Not positive and finite.
    #[error("the weight of `{name}` is {weight}: give a finite number above 0")]
    Weight {
        /// The type.
        name: String,
        /// Its weight.
        weight: f64,
    },
    /// Twice the same type.
    #[error("`{0}` is weighed twice: give each type one weight")]
    Twice(String),
}

impl Balancing {
    /// An aim with its own weights, but for those types that are named.
    ///
    /// Of themselves ω_i = 1. The total response has `w_i = b_i`, for if a job of type i took
    /// `E[S_i]/(1 − ρ_i)`, as under processor sharing, there would be `Σ λ_i E[T_i] = Σ b_i/(1 − ρ_i)`
    /// jobs in the system; the worst response has `w_i = E[S_i]` by the same law.
    ///
    /// # Errors
    /// When a name is unknown or stands twice, or a weight is not positive and finite.
    pub fn new(
        workload: &Workload,
        aim: Balance,
        named: &[(String, f64)],
    ) -> Result<Self, UnknownWeight> {
        let types = workload.types();
        let mut weights: Vec<f64> = types
            .iter()
            .map(|kind| match aim {
                Balance::Headroom => 1.0,
                Balance::TotalResponse => kind.offered_load(),
                Balance::WorstResponse => kind.mean_size(),
            })
            .collect();
        for (n, (name, weight)) in named.iter().enumerate() {
            let Some(i) = types.iter().position(|kind| kind.name() == name) else {
                let known = types.iter().map(|kind| kind.name().into()).collect();
                let name = name.clone();
                return Err(UnknownWeight::Type { name, known });
            };
            if named[..n].iter().any(|(earlier, _)| earlier == name) {
                return Err(UnknownWeight::Twice(name.clone()));
            }
            if !(*weight > 0.0 && weight.is_finite()) {
                let (name, weight) = (name.clone(), *weight);
                return Err(UnknownWeight::Weight { name, weight });
            }
            weights[i] = *weight;
        }
        Ok(Balancing { aim, weights })
    }

    /// What loads ρ (K) attain; where one is not below 1, no headroom and endless responses.
    pub fn value(&self, loads: &[f64]) -> f64 {
        let each = loads.iter().zip(&self.weights);
        let response = |(rho, w): (&f64, &f64)| match *rho < 1.0 {
            true => w / (1.0 - rho),
            false => f64::INFINITY,
        };
        match self.aim {
            Balance::Headroom => each
                .map(|(rho, w)| (1.0 - rho) / rho / w)
                .fold(f64::INFINITY, f64::min),
            Balance::TotalResponse => each.map(response).sum(),
            Balance::WorstResponse => each.map(response).fold(0.0, f64::max),
        }
    }

    /// Whether the first value is the better one.
    fn is_better(&self, value: f64, than: f64) -> bool {
        match self.aim {
            Balance::Headroom => value > than,
            Balance::TotalResponse | Balance::WorstResponse => value < than,
        }
    }
}

/// A mix with the two-sided evidence that it is best for its aim.
#[derive(Clone, Debug)]
pub struct Balanced {
    /// The mix, of at most K schedules.
    pub mix: Mix,
    /// What it attains: see [`Balancing::value`].
    pub value: f64,
    /// What no mix improves on.
    pub bound: f64,
    /// Prices v of running jobs (K) that prove the bound, `Σ v_i b_i = 1`.
    pub prices: Vec<f64>,
    /// Prices w of the resources' integer units (R): `D_i·w ≥ v_i` for every type.
    pub resource_prices: Vec<f64>,
}

impl Balanced {
    /// Relative gap: the larger of value and bound over the smaller, less 1.
    pub fn gap(&self) -> f64 {
        let both = self.value.is_finite() && self.value > 0.0 && self.bound > 0.0;
        match both {
            true => (self.value / self.bound).max(self.bound / self.value) - 1.0,
            false => f64::INFINITY,
        }
    }

    /// Whether the gap is small enough to be called a proof.
    pub fn proven(&self) -> bool {
        self.gap() <= BALANCE_GAP
    }
}

/// The mix that is best for an aim, from the solution for the load, which must be below 1; never
/// silently: see [`Balanced::proven`].
///
/// # Errors
/// When HiGHS does not end optimal, or numbers leave the range of doubles.
pub fn balance(
    workload: &Workload,
    balancing: &Balancing,
    solution: &Solution,
    limits: &Limits,
) -> Result<Balanced, ProgramError> {
    let mut search = Search::new(workload, balancing, solution, limits);
    match balancing.aim {
        Balance::Headroom | Balance::WorstResponse => target::run(&mut search)?,
        Balance::TotalResponse => response::run(&mut search)?,
    }
    Ok(search.best)
}

/// The best mix and the best bound so far.
struct Search<'a> {
    workload: &'a Workload,
    packing: Packing,
    offered: Vec<f64>,
    balancing: &'a Balancing,
    limits: &'a Limits,
    started: Instant,
    best: Balanced,
}

impl<'a> Search<'a> {
    /// Starts from the mix of the least load, and the bound of its prices.
    fn new(
        workload: &'a Workload,
        balancing: &'a Balancing,
        solution: &Solution,
        limits: &'a Limits,
    ) -> Self {
        let mut search = Search {
            best: Balanced {
                mix: solution.mix.clone(),
                value: balancing.value(&solution.mix.loads(workload)),
                bound: match balancing.aim {
                    Balance::Headroom => f64::INFINITY,
                    Balance::TotalResponse | Balance::WorstResponse => 0.0,
                },
                prices: Vec::new(),
                resource_prices: Vec::new(),
            },
            offered: workload.types().iter().map(|t| t.offered_load()).collect(),
            packing: Packing::new(workload),
            workload,
            balancing,
            limits,
            started: Instant::now(),
        };
        let offered = search.offered.clone();
        search.take_certificate(&solution.certificate, &offered);
        search
    }

    /// Whether there is nothing left to gain, or no time.
    fn is_over(&self) -> bool {
        self.best.gap() <= MET || self.started.elapsed() >= self.limits.time
    }

    /// What no mix improves on where no schedule is worth more than `most` at the prices
    /// `y_i/b_i`.
    fn bound(&self, works: &[f64], most: f64) -> f64 {
        let weights = &self.balancing.weights;
        match self.balancing.aim {
            Balance::Headroom => target::headroom(weights, works, most),
            Balance::WorstResponse => 1.0 / target::inverse_response(weights, works, most),
            Balance::TotalResponse => {
                let each = weights.iter().zip(works);
                let root: f64 = each.map(|(w, y)| (w * y).sqrt()).sum();
                weights.iter().sum::<f64>() + root.powi(2) / (most - works.iter().sum::<f64>())
            }
        }
    }

    /// Keeps the bound of prices v of running jobs if it is the best, scaled to `Σ v_i b_i = 1`;
    /// tells whether it is.
    fn take_bound(&mut self, prices: Vec<f64>, resource_prices: Vec<f64>, most: f64) -> bool {
        let each = prices.iter().zip(&self.offered);
        let total: f64 = each.clone().map(|(v, b)| v * b).sum();
        let works: Vec<f64> = each.map(|(v, b)| v * b / total).collect();
        let most = most / total;
        let bound = self.bound(&works, most);
        // What is offered can be carried, at worth 1: less than that is rounding, and no bound. A
        // bound is better where it leaves less to be gained.
        let sound = most > 1.0 && bound.is_finite();
        let better = sound && self.balancing.is_better(self.best.bound, bound);
        if better {
            self.best.bound = bound;
            self.best.prices = prices.iter().map(|v| v / total).collect();
            self.best.resource_prices = resource_prices.iter().map(|w| w / total).collect();
        }
        better
    }

    /// Keeps the bound of the prices that prove the load of these offered loads.
    fn take_certificate(&mut self, certificate: &Certificate, loads: &[f64]) -> bool {
        let prices = certificate.prices.iter().zip(loads).map(|(y, d)| y / d);
        let resource_prices = certificate.resource_prices.clone();
        self.take_bound(prices.collect(), resource_prices, 1.0 / certificate.bound)
    }

    /// Keeps a mix if it is the best.
    fn take_mix(&mut self, mix: Mix) -> bool {
        let value = self.balancing.value(&mix.loads(self.workload));
        let better = self.balancing.is_better(value, self.best.value);
        if better {
            self.best.value = value;
            self.best.mix = mix;
        }
        better
    }

    /// Program (7) for the workload with so many times the load of each type, within the time
    /// that is left.
    fn solve_at(&self, factors: &[f64]) -> Result<Solution, ProgramError> {
        let target = self.workload.scaled_by_type(factors).map_err(|_| {
            let value = factors.iter().copied().fold(0.0, f64::max);
            let what = "a factor of the arrival rates".into();
            ProgramError::OutOfRange { what, value }
        })?;
        let left = self.limits.time.saturating_sub(self.started.elapsed());
        let limits = Limits {
            time: left,
            ..self.limits.clone()
        };
        solve(&target, &limits)
    }
}

#[cfg(test)]
mod tests;
