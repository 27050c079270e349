//! MSFQ(ℓ) on a one-or-all system, strict, exactly and without truncation.
//!
//! # Theory
//! Light jobs (rate λ₁, k of which are served at rate μ₁ each) and heavy jobs (λ_k, μ_k, one at a
//! time and alone) take turns: heavy ones until there are none (phase 1); light ones until no more
//! than ℓ are left (phase 2 with all k servers busy, phase 3 with fewer); those ℓ finish while
//! others wait (phase 4). The rule is that of
//! Chen, Grosof, Berg, "Improving Nonpreemptive Multiserver Job Scheduling with Quickswap", 2025,
//! section 4.2; its section 5 has an approximation ([`MsfqApproximation`]), and this is the exact
//! solution.
//!
//! At the end of phase 1 no heavy job is there, and the number j of light ones is a Markov chain.
//! A busy period of light jobs is memoryless in j but for its length, so that the chain's generating
//! function Π satisfies, with y(z) the transform of a busy period started by one light job,
//!
//! `Π(z) = Σ_{i<k} p_i (g_i(z) − f(z) y(z)^i) + f(z) Π(y(z))`.
//!
//! Iterating z → y(z) → 1 leaves p_0 … p_{k−1} (`transforms.rs`), which the first k coefficients of Π
//! determine (`light_left.rs`). Means follow by renewal and reward over a cycle, whose integrals are
//! quadratic in j from k on (`cycle.rs`).
//!
//! # Practice
//! One run takes `O(k³)` and `O(k² n)`, n growing as `1/(1 − y'(1))` towards saturation.
//!
//! Light jobs may be served for `e^k` times their size before ℓ are left, and next to such a time
//! nothing else would be seen in floating point. So transforms are kept as what they lack of 1, times
//! as means and variances, and what one more light job adds is never taken from a difference of cycles.
//! What rounding can have done to the coefficients, and so to the means, is bounded; above a part in 10⁹
//! there are no means.

mod approximation;
mod cycle;
mod light_left;
mod passages;
mod queue;
mod transforms;

pub use approximation::MsfqApproximation;
pub use queue::{MOST_SERVERS, MsfqError, MsfqQueue, OneOrAllType};

use cycle::{Cycle, Cycles};
use light_left::LightLeft;
use nalgebra::DVector;

/// Mean numbers and what follows, light jobs first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MsfqMeans {
    /// Mean number in system \[jobs\].
    pub number: [f64; 2],
    /// Mean response time \[time\].
    pub response: [f64; 2],
    /// Mean length of phase 1, of phases 2 and 3 together, and of phase 4, a cycle \[time\].
    pub phases: [f64; 3],
    /// The largest relative error of the numbers and response times by rounding.
    pub error: f64,
}

impl MsfqMeans {
    /// `E[T]` over all jobs \[time\].
    pub fn mean_response(&self, queue: &MsfqQueue) -> f64 {
        let rates = queue.light.arrival_rate + queue.heavy.arrival_rate;
        self.number.iter().sum::<f64>() / rates
    }
}

/// The largest relative error at which means are returned.
const MOST_ERROR: f64 = 1e-9;

impl MsfqQueue {
    /// Mean numbers and response times, exactly.
    ///
    /// # Errors
    /// Beyond [`MOST_SERVERS`]; so close to saturation that it takes too many steps; and where rounding
    /// may have changed more than one part in 10⁹.
    pub fn means(&self) -> Result<MsfqMeans, MsfqError> {
        let refused = |why: String| Err(MsfqError(why));
        if self.servers > MOST_SERVERS {
            return refused(format!(
                "{} light jobs run at once, and the exact analysis is for at most {MOST_SERVERS}",
                self.servers
            ));
        }
        let Some(left) = LightLeft::new(self) else {
            let load = self.load();
            return refused(format!(
                "at load {load} the exact analysis takes too many steps"
            ));
        };
        let means = self.with(&left);
        if means.error < MOST_ERROR && left.is_law() && means.is_sensible(self) {
            Ok(means)
        } else {
            refused("rounding leaves too few digits of the exact means".into())
        }
    }

    /// Returns the means, from the probabilities of fewer than k light jobs at the end of phase 1.
    fn with(&self, left: &LightLeft) -> MsfqMeans {
        let cycles = Cycles::new(self);
        let effects = cycles.effects();
        let all = over(&left.few, &effects);
        let (areas, length) = (all.areas(), all.length());
        let number = areas.map(|area| area / length);
        let size = over(&left.few.abs(), &cycles.magnitudes());
        // Of sums of positive numbers; and 1 − ρ has lost what ρ has taken.
        let rounding = (self.servers + 8) as f64 + 4.0 / (1.0 - self.load());
        let error = |n: usize| {
            let moved = |cycle: &Cycle| cycle.areas()[n] - number[n] * cycle.length();
            let many = moved(&effects[self.servers]);
            let moves = |j, _| (moved(&effects[j]) - many) / areas[n];
            let solved = left.error(&DVector::from_fn(self.servers, moves));
            solved + rounding * f64::EPSILON * (size.areas()[n] / areas[n] + size.length() / length)
        };
        let rates = [self.light, self.heavy].map(|stream| stream.arrival_rate);
        // Of these cycles those from the empty system on count as several.
        let several = (rates[0] + rates[1]) / self.filling_rate();
        let count = 1.0 + left.few[0] * (several - 1.0);
        MsfqMeans {
            response: [number[0] / rates[0], number[1] / rates[1]],
            number,
            phases: [all.heavy, all.working, all.draining].map(|time| time / count),
            error: error(0).max(error(1)),
        }
    }
}

/// Returns the mean over cycles that begin with j light jobs with probability p_j, j < k, and else with more.
fn over(few: &DVector<f64>, cycles: &[Cycle]) -> Cycle {
    let many = Cycle::default().plus((1.0 - few.sum()).max(0.0), cycles[few.len()]);
    let each = few.iter().zip(cycles);
    each.fold(many, |sum, (p, cycle)| sum.plus(*p, *cycle))
}

impl MsfqMeans {
    /// Returns whether each job is in the system for its own size at least.
    fn is_sensible(&self, queue: &MsfqQueue) -> bool {
        let sizes = [queue.light, queue.heavy].map(|stream| 1.0 / stream.service_rate);
        let mut each = self.response.iter().zip(sizes);
        each.all(|(response, size)| response.is_finite() && *response >= size * (1.0 - self.error))
    }
}

#[cfg(test)]
mod tests;
