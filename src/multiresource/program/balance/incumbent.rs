//! The aims beside the load, and the best mix and bound so far.

use std::time::{Duration, Instant};

use crate::ctmc::bisected;
use crate::multiresource::artifact::Balance;
use crate::multiresource::program::{
    Certificate, Limits, Mix, ProgramError, Solution, Tree, solve,
};
use crate::multiresource::schedule::Packing;
use crate::multiresource::workload::Workload;

/// The mix is proven best for its aim when the relative gap is at most this.
pub const BALANCE_GAP: f64 = 1e-6;

/// Wall-clock time for a mix that is best for something else than the load, at most.
const MOST: Duration = Duration::from_secs(60);

/// Relative distance at which both sides are taken as met.
pub(super) const MET: f64 = 1e-9;

/// An aim with the weights of the types.
#[derive(Clone, Debug, PartialEq)]
pub struct Balancing {
    /// What the mix is to be best for.
    pub aim: Balance,
    /// ω or w by type (K): positive and finite.
    pub weights: Vec<f64>,
}

/// A weight that is refused.
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
    /// An aim with its default weights, except for the types that are named.
    ///
    /// By default ω_i = 1. The total response has `w_i = b_i`, for if a job of type i took
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
            .map(|job_type| match aim {
                Balance::Headroom => 1.0,
                Balance::TotalResponse => job_type.offered_load(),
                Balance::WorstResponse => job_type.mean_size(),
            })
            .collect();
        for (n, (name, weight)) in named.iter().enumerate() {
            let Some(i) = types.iter().position(|job_type| job_type.name() == name) else {
                let known = types
                    .iter()
                    .map(|job_type| job_type.name().into())
                    .collect();
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

    /// What loads ρ (K) attain; where one is not below 1, headroom is not positive and responses are
    /// infinite.
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
    /// No mix improves on this.
    pub bound: f64,
    /// Prices v of running jobs (K) that prove the bound, `Σ v_i b_i = 1`.
    pub prices: Vec<f64>,
    /// Prices w of the resources' integer units (R): `D_i·w ≥ v_i` for every type.
    pub resource_prices: Vec<f64>,
    /// The search that proves the bound, where it takes prices of its own at each node.
    pub tree: Option<Tree>,
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

/// The best mix and the best bound so far.
pub(super) struct Incumbent<'a> {
    pub workload: &'a Workload,
    pub packing: Packing,
    pub offered: Vec<f64>,
    pub balancing: &'a Balancing,
    pub limits: &'a Limits,
    pub deadline: Instant,
    pub best: Balanced,
}

impl<'a> Incumbent<'a> {
    /// Starts from the mix of the least load, and the bound of its prices.
    pub fn new(
        workload: &'a Workload,
        balancing: &'a Balancing,
        solution: &Solution,
        limits: &'a Limits,
    ) -> Self {
        let mut incumbent = Incumbent {
            best: Balanced {
                mix: solution.mix.clone(),
                value: balancing.value(&solution.mix.loads(workload)),
                bound: match balancing.aim {
                    Balance::Headroom => f64::INFINITY,
                    Balance::TotalResponse | Balance::WorstResponse => 0.0,
                },
                prices: Vec::new(),
                resource_prices: Vec::new(),
                tree: None,
            },
            offered: workload.types().iter().map(|t| t.offered_load()).collect(),
            packing: Packing::new(workload),
            workload,
            balancing,
            limits,
            deadline: Instant::now() + limits.time.min(MOST),
        };
        let offered = incumbent.offered.clone();
        incumbent.take_certificate(&solution.certificate, &offered);
        incumbent
    }

    /// Whether there is nothing left to gain, or no time.
    pub fn is_over(&self) -> bool {
        self.best.gap() <= MET || Instant::now() >= self.deadline
    }

    /// What no mix improves on where no schedule is worth more than `most` at the prices
    /// `y_i/b_i`.
    fn bound(&self, works: &[f64], most: f64) -> f64 {
        let weights = &self.balancing.weights;
        match self.balancing.aim {
            Balance::Headroom => headroom(weights, works, most),
            Balance::WorstResponse => 1.0 / inverse_response(weights, works, most),
            Balance::TotalResponse => {
                let each = weights.iter().zip(works);
                let root: f64 = each.map(|(w, y)| (w * y).sqrt()).sum();
                weights.iter().sum::<f64>() + root.powi(2) / (most - works.iter().sum::<f64>())
            }
        }
    }

    /// Keeps the bound of prices v of running jobs if it is the best, scaled to `Σ v_i b_i = 1`;
    /// returns whether it is. The prices of resources come with the search that proves the bound.
    pub fn take_bound(
        &mut self,
        prices: Vec<f64>,
        (resource_prices, tree): (Vec<f64>, Option<Tree>),
        most: f64,
    ) -> bool {
        let each = prices.iter().zip(&self.offered);
        let total: f64 = each.clone().map(|(v, b)| v * b).sum();
        let works: Vec<f64> = each.map(|(v, b)| v * b / total).collect();
        let bound = self.bound(&works, most / total);
        // The offered loads can be served, and are worth 1: less than that is rounding, and no bound.
        // A bound is better where it leaves less to be gained.
        let sound = most / total > 1.0 && bound.is_finite();
        let better = sound && self.balancing.is_better(self.best.bound, bound);
        if better {
            self.best.bound = bound;
            let coarser = |tree: Tree| tree.coarser(&self.packing, &prices, most);
            let tree = tree.and_then(coarser);
            self.best.tree = tree.map(|tree| tree.scaled(1.0 / total));
            self.best.prices = prices.iter().map(|v| v / total).collect();
            self.best.resource_prices = resource_prices.iter().map(|w| w / total).collect();
        }
        better
    }

    /// Keeps the bound of the prices that prove the load of these offered loads.
    pub fn take_certificate(&mut self, certificate: &Certificate, loads: &[f64]) -> bool {
        let prices = certificate.prices.iter().zip(loads).map(|(y, d)| y / d);
        let resource_prices = certificate.resource_prices.clone();
        let proof = (resource_prices, certificate.tree.clone());
        self.take_bound(prices.collect(), proof, 1.0 / certificate.bound)
    }

    /// Keeps a mix if it is the best; returns whether it is.
    pub fn take_mix(&mut self, mix: Mix) -> bool {
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
    pub fn solve_at(&self, factors: &[f64]) -> Result<Solution, ProgramError> {
        let target = self.workload.scaled_by_type(factors).map_err(|_| {
            let value = factors.iter().copied().fold(0.0, f64::max);
            let what = "a factor of the arrival rates".into();
            ProgramError::OutOfRange { what, value }
        })?;
        let limits = Limits {
            time: self.deadline.saturating_duration_since(Instant::now()),
            ..self.limits.clone()
        };
        solve(&target, &limits)
    }
}

/// The root s of `Σ y_i (1 + ω_i s) = Z`.
fn headroom(weights: &[f64], works: &[f64], most: f64) -> f64 {
    let grown: f64 = weights.iter().zip(works).map(|(w, y)| w * y).sum();
    (most - works.iter().sum::<f64>()) / grown
}

/// The root r of `Σ y_i/(1 − w_i r) = Z`, below the first pole; 0 where it is not positive.
fn inverse_response(weights: &[f64], works: &[f64], most: f64) -> f64 {
    let priced = || weights.iter().zip(works).filter(|(_, y)| **y > 0.0);
    let needed = |r: f64| -> f64 { priced().map(|(w, y)| y / (1.0 - w * r)).sum() };
    let largest = priced().map(|(w, _)| *w).fold(0.0, f64::max);
    // From the right: what is not reached at `high` is not reached beyond.
    let [_, high] = bisected([0.0, 1.0 / largest], |r| needed(r) <= most);
    high
}
