//! Exact analysis of strict MSFQ(ℓ) on a one-or-all system, without truncation.
//!
//! In phase 1 heavy jobs (λ_k, μ_k, one at a time) are served until there are none. Then light jobs
//! (λ₁, μ₁, up to k at a time) are served until ℓ are left, with all k servers busy in phase 2 and
//! fewer in phase 3. Those ℓ finish in phase 4. See section 4.2 of Chen, Grosof, Berg, "Improving
//! Nonpreemptive Multiserver Job Scheduling with Quickswap", 2025.
//!
//! At the end of phase 1 the number j of light jobs is a Markov chain. Its generating function Π
//! satisfies, with y(z) the transform of a busy period started by one light job,
//!
//! `Π(z) = Σ_{i<k} p_i (g_i(z) − f(z) y(z)^i) + f(z) Π(y(z))`.
//!
//! Iterating z → y(z) → 1 expresses Π in p_0 … p_{k−1} (`transforms.rs`), which the first k
//! coefficients determine (`light_left.rs`). Means follow by renewal-reward over a cycle
//! (`cycle.rs`). One run takes `O(k³)` and `O(k² n)` operations, where n grows as `1/(1 − y'(1))`.
//!
//! Light jobs may be served for `e^k` times their size, so to preserve digits transforms are stored
//! as their difference from 1, times as means and variances, and increments are computed directly.
//! Rounding errors are bounded, and no means are returned if they exceed one part in 10⁹.

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

/// Means of light jobs and of heavy jobs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MsfqMeans {
    /// The mean number in the system \[jobs\].
    pub number: [f64; 2],
    /// The mean response time \[time\].
    pub response: [f64; 2],
    /// The mean length per cycle of phase 1, of phases 2 and 3, and of phase 4 \[time\].
    pub phases: [f64; 3],
    /// The largest relative rounding error of the numbers and response times.
    pub error: f64,
}

impl MsfqMeans {
    /// Returns `E[T]` over all jobs \[time\].
    pub fn mean_response(&self, queue: &MsfqQueue) -> f64 {
        let rates = queue.light.arrival_rate + queue.heavy.arrival_rate;
        self.number.iter().sum::<f64>() / rates
    }
}

const MOST_ERROR: f64 = 1e-9;

impl MsfqQueue {
    /// Returns the exact mean numbers and response times.
    ///
    /// # Errors
    /// Returns an error beyond [`MOST_SERVERS`], near saturation if it takes too many steps, and if
    /// rounding may exceed one part in 10⁹.
    pub fn means(&self) -> Result<MsfqMeans, MsfqError> {
        let refused = |why: String| Err(MsfqError(why));
        if self.servers > MOST_SERVERS {
            return refused(format!(
                "{} light jobs run at once; the exact analysis supports at most {MOST_SERVERS}",
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
            refused("the exact means have too few digits left after rounding".into())
        }
    }

    fn with(&self, left: &LightLeft) -> MsfqMeans {
        let cycles = Cycles::new(self);
        let effects = cycles.effects();
        let all = over(&left.few, &effects);
        let (areas, length) = (all.areas(), all.length());
        let number = areas.map(|area| area / length);
        let size = over(&left.few.abs(), &cycles.magnitudes());
        let rounding = (self.servers + 8) as f64 + 4.0 / (1.0 - self.load());
        let error = |n: usize| {
            let moved = |cycle: &Cycle| cycle.areas()[n] - number[n] * cycle.length();
            let many = moved(&effects[self.servers]);
            let moves = |j, _| (moved(&effects[j]) - many) / areas[n];
            let solved = left.error(&DVector::from_fn(self.servers, moves));
            solved + rounding * f64::EPSILON * (size.areas()[n] / areas[n] + size.length() / length)
        };
        let rates = [self.light, self.heavy].map(|stream| stream.arrival_rate);
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

/// Returns the mean over cycles that start with j < k light jobs (probability p_j) or more.
fn over(few: &DVector<f64>, cycles: &[Cycle]) -> Cycle {
    let many = Cycle::default().plus((1.0 - few.sum()).max(0.0), cycles[few.len()]);
    let each = few.iter().zip(cycles);
    each.fold(many, |sum, (p, cycle)| sum.plus(*p, *cycle))
}

impl MsfqMeans {
    fn is_sensible(&self, queue: &MsfqQueue) -> bool {
        let sizes = [queue.light, queue.heavy].map(|stream| 1.0 / stream.service_rate);
        let mut each = self.response.iter().zip(sizes);
        each.all(|(response, size)| response.is_finite() && *response >= size * (1.0 - self.error))
    }
}

#[cfg(test)]
mod tests;
