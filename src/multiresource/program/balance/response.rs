//! The total response `Σ_i w_i/(1 − ρ_i)` by simplicial decomposition.
//!
//! Over the schedules known the program is smooth and convex in their weights π, and a barrier
//! method solves it: `min F(π) − μ Σ_s ln π_s`, `Σ π_s = 1`, with `F = Σ_i w_i/(c_i − 1)` and μ
//! falling; the weights at μ are within Nμ of the least F. The gradient prices a running job
//! of type i at `v_i = w_i/(b_i (c_i − 1)²)`, one knapsack finds schedules that are worth more than
//! what is served now, and a bound for all mixes.

use nalgebra::{Cholesky, DMatrix, DVector};

use super::incumbent::{Incumbent, MET};
use crate::multiresource::program::pricing::{Search, efforts};
use crate::multiresource::program::{Knapsack, ProgramError};
use crate::multiresource::schedule::{Packing, Schedule};

/// Weight that new schedules start with, together.
const NEWCOMERS: f64 = 0.05;

/// Relative error of the last master program, and what the others are allowed of the gap.
const FINEST: f64 = 1e-11;
const OF_THE_GAP: f64 = 1e-2;

/// Relative rounding of a sum of products, generously.
const ROUNDING: f64 = 1e3 * f64::EPSILON;

/// Newton steps at one μ.
const STEPS: usize = 50;

/// Improves the incumbent until both sides meet or no more can be proven.
pub(super) fn run(incumbent: &mut Incumbent<'_>) -> Result<(), ProgramError> {
    if incumbent.is_over() {
        return Ok(());
    }
    let packing = incumbent.packing.clone();
    let mut master = Master::new(incumbent);
    let (mut effort, mut error) = (0, OF_THE_GAP);
    while !incumbent.is_over() {
        master.solve(error);
        let found = price(incumbent, &packing, &master, &mut effort);
        let gap = master.value() / incumbent.best.bound - 1.0;
        if gap <= MET || (found.is_empty() && error <= FINEST) {
            break;
        }
        error = match found.is_empty() {
            true => FINEST,
            false => (OF_THE_GAP * gap).clamp(FINEST, error),
        };
        master.add(&found);
    }
    // Weights of a barrier are all positive: program (7) at what they serve needs K schedules.
    let factors = master.coverage(&master.weights);
    let loads: Vec<f64> = factors
        .iter()
        .zip(&incumbent.offered)
        .map(|(c, b)| c * b)
        .collect();
    let solution = incumbent.solve_at(&factors)?;
    incumbent.take_certificate(&solution.certificate, &loads);
    incumbent.take_mix(solution.mix);
    Ok(())
}

/// Schedules that the master lacks and that are worth more at its gradient than what is served. None
/// where it is proven that there are none, or the limits end the search.
fn price(
    incumbent: &mut Incumbent<'_>,
    packing: &Packing,
    master: &Master,
    effort: &mut usize,
) -> Vec<Schedule> {
    let works = master.works();
    let priced = works.iter().zip(&incumbent.offered);
    let prices: Vec<f64> = priced.map(|(y, b)| y / b).collect();
    let knapsack = Knapsack::new(packing, &prices);
    let efforts = efforts(incumbent.limits.longer);
    loop {
        let search = Search::new(packing, &prices, 1.0);
        let found = search.run(efforts[*effort], u64::MAX, Some(incumbent.deadline));
        let bound = if found.tree.is_some() {
            found.bound
        } else {
            knapsack.relaxed()
        };
        let proof = (knapsack.resource_prices(), found.tree);
        incumbent.take_bound(prices.clone(), proof, bound);
        let new = |u: &Schedule| !master.columns.contains(u);
        let schedules: Vec<Schedule> = found.schedules.into_iter().filter(new).collect();
        // No better schedule was found, but that is not yet a proof: search longer.
        let done = found.exact || *effort + 1 == efforts.len() || incumbent.is_over();
        if !schedules.is_empty() || done {
            return schedules;
        }
        *effort += 1;
    }
}

/// The program over the schedules known.
struct Master {
    columns: Vec<Schedule>,
    /// `u_si / b_i`, K × N.
    cover: DMatrix<f64>,
    offered: Vec<f64>,
    /// w (K) over `unit`.
    costs: Vec<f64>,
    /// The total response of the first mix: the program's own is 1 at most.
    unit: f64,
    /// π (N), positive.
    weights: Vec<f64>,
    /// The μ to start with.
    barrier: f64,
}

impl Master {
    fn new(incumbent: &Incumbent<'_>) -> Self {
        let unit = incumbent.best.value;
        let mut master = Master {
            columns: Vec::new(),
            cover: DMatrix::zeros(incumbent.offered.len(), 0),
            offered: incumbent.offered.clone(),
            costs: incumbent
                .balancing
                .weights
                .iter()
                .map(|w| w / unit)
                .collect(),
            unit,
            weights: incumbent.best.mix.weights.clone(),
            barrier: 0.1,
        };
        for schedule in &incumbent.best.mix.schedules {
            master.push(schedule);
        }
        master
    }

    fn push(&mut self, schedule: &Schedule) {
        let n = self.columns.len();
        let cover = std::mem::replace(&mut self.cover, DMatrix::zeros(0, 0));
        self.cover = cover.insert_column(n, 0.0);
        for (i, count) in schedule.iter().enumerate() {
            self.cover[(i, n)] = f64::from(*count) / self.offered[i];
        }
        self.columns.push(schedule.clone());
    }

    /// Adds schedules with a small weight, such that all types keep headroom.
    fn add(&mut self, schedules: &[Schedule]) {
        let added = schedules.len();
        if added == 0 {
            return;
        }
        schedules.iter().for_each(|u| self.push(u));
        let with = |share: f64| -> Vec<f64> {
            let old = self.weights.iter().map(|p| p * (1.0 - share));
            old.chain(vec![share / added as f64; added]).collect()
        };
        let mut share = NEWCOMERS;
        while share > f64::EPSILON && self.cost(&with(share)).is_infinite() {
            share *= 0.1;
        }
        self.weights = with(share);
    }

    /// `c_i = Σ_s π_s u_si/b_i` (K).
    fn coverage(&self, weights: &[f64]) -> Vec<f64> {
        let weights = DVector::from_column_slice(weights);
        (&self.cover * weights).iter().copied().collect()
    }

    /// `Σ_i w_i/(c_i − 1)`; infinite where a type has no headroom.
    fn cost(&self, weights: &[f64]) -> f64 {
        let each = |(w, c): (&f64, f64)| match c > 1.0 {
            true => w / (c - 1.0),
            false => f64::INFINITY,
        };
        let coverage = self.coverage(weights);
        self.costs.iter().zip(coverage).map(each).sum()
    }

    /// The total response of the weights as they are.
    fn value(&self) -> f64 {
        self.unit * (self.costs.iter().sum::<f64>() + self.cost(&self.weights))
    }

    /// The gradient `y_i ∝ w_i/(c_i − 1)²` (K), such that what is served is worth `Σ y_i c_i = 1`.
    fn works(&self) -> Vec<f64> {
        let coverage = self.coverage(&self.weights);
        let work = |(w, c): (&f64, &f64)| w / (c - 1.0).powi(2);
        let works: Vec<f64> = self.costs.iter().zip(&coverage).map(work).collect();
        let served: f64 = works.iter().zip(&coverage).map(|(y, c)| y * c).sum();
        works.iter().map(|y| y / served).collect()
    }

    /// The weights for these columns, to a relative error in F.
    fn solve(&mut self, error: f64) {
        let last = error / self.columns.len() as f64;
        let mut barrier = self.barrier.max(last);
        loop {
            for _ in 0..STEPS {
                if !self.step(barrier) {
                    break;
                }
            }
            if barrier <= last {
                break;
            }
            barrier = (barrier * 0.1).max(last);
        }
        // The next program has another optimum: it starts a little before the end of this path.
        self.barrier = (100.0 * barrier).min(0.1);
    }

    /// One damped Newton step, in units of the weights: `π_s ← π_s (1 + δ_s)`. `false` at the end.
    fn step(&mut self, barrier: f64) -> bool {
        let coverage = self.coverage(&self.weights);
        let weights = DVector::from_column_slice(&self.weights);
        let spare = coverage.iter().zip(&self.costs);
        let spare: Vec<(f64, f64)> = spare.map(|(c, w)| (c - 1.0, *w)).collect();
        let (types, columns) = self.cover.shape();
        let works = DVector::from_fn(types, |i, _| spare[i].1 / spare[i].0.powi(2));
        let worth = self.cover.tr_mul(&works);
        // A part common to all weights has no effect, since `Σ π_s` stays 1: without it the gradient
        // is near 0 at the end.
        let mean = worth.dot(&weights) + barrier * columns as f64;
        let gradient = worth.map(|worth| mean - worth).component_mul(&weights);
        let gradient = gradient.add_scalar(-barrier);
        let root = |i: usize| (2.0 * spare[i].1 / spare[i].0.powi(3)).sqrt();
        let curved = DMatrix::from_fn(types, columns, |i, s| {
            root(i) * self.cover[(i, s)] * weights[s]
        });
        let Some(inverse) = Inverse::new(curved, barrier) else {
            return false;
        };
        let (down, along) = (inverse.of(&gradient), inverse.of(&weights));
        let level = weights.dot(&down) / weights.dot(&along);
        let step = along * level - down;
        let decrease = -gradient.dot(&step);
        // The headroom c − 1 is a difference: this much of the cost is rounding.
        let rounding = ROUNDING * works.iter().zip(&coverage).map(|(y, c)| y * c).sum::<f64>();
        // The value is exact to half of the decrease, but the prices only to its root.
        decrease > 1e-4 * barrier.powi(2) && self.walk(&step, (barrier, decrease, rounding))
    }

    /// Goes along a step as far as the barrier function falls. A decrease below its rounding error is
    /// accepted without the test: Newton's method converges quadratically there.
    fn walk(
        &mut self,
        step: &DVector<f64>,
        (barrier, decrease, rounding): (f64, f64, f64),
    ) -> bool {
        let merit = |weights: &[f64]| {
            self.cost(weights) - barrier * weights.iter().map(|p| p.ln()).sum::<f64>()
        };
        let now = merit(&self.weights);
        let shortest = step.iter().copied().fold(-0.5, f64::min);
        let mut length = (-0.95 / shortest).min(1.0);
        while length > 1e-10 {
            let moved = self.weights.iter().zip(step);
            let moved: Vec<f64> = moved.map(|(p, d)| p * (1.0 + length * d)).collect();
            let total: f64 = moved.iter().sum();
            let moved: Vec<f64> = moved.iter().map(|p| p / total).collect();
            let value = merit(&moved);
            if value <= now - 1e-2 * length * decrease || decrease < rounding {
                self.weights = moved;
                return true;
            }
            length *= 0.5;
        }
        false
    }
}

/// The inverse of the Hessian `M'M + μ 1` (N × N), M of K rows.
struct Inverse {
    curved: DMatrix<f64>,
    damping: f64,
    /// N equations where there are few columns, else K (Woodbury).
    system: Cholesky<f64, nalgebra::Dyn>,
    is_small: bool,
}

impl Inverse {
    /// `None` where the matrix is singular in double precision. Where μ is below rounding, the rounding
    /// error takes its place: steps are then shorter in directions in which the cost is flat.
    fn new(curved: DMatrix<f64>, barrier: f64) -> Option<Self> {
        let (types, columns) = curved.shape();
        let is_small = columns > 3 * types;
        let square = match is_small {
            true => &curved * curved.transpose(),
            false => curved.tr_mul(&curved),
        };
        let damping = barrier.max(10.0 * f64::EPSILON * square.trace());
        let n = square.nrows();
        Some(Inverse {
            system: Cholesky::new(square + DMatrix::identity(n, n) * damping)?,
            curved,
            damping,
            is_small,
        })
    }

    fn of(&self, q: &DVector<f64>) -> DVector<f64> {
        match self.is_small {
            true => {
                let inner = self.system.solve(&(&self.curved * q));
                (q - self.curved.tr_mul(&inner)) / self.damping
            }
            false => self.system.solve(q),
        }
    }
}
