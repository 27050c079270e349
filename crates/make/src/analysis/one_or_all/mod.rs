//! An exact analysis of strict MSFQ(ℓ) on a one-or-all system, without truncation.
//!
//! In phase 1, the heavy jobs (`λ_k`, `μ_k`) are served one at a time until there are no more of
//! them. After that, the light jobs (`λ₁`, `μ₁`) are served, up to `k` at a time, until at most `ℓ`
//! of them are left. All `k` servers are busy in phase 2, but not in phase 3. In phase 4, the last
//! `ℓ` light jobs are completed while all other jobs wait. See section 4.2 of Chen et al.,
//! "Improving Nonpreemptive Multiserver Job Scheduling with Quickswap", 2025. For the approximation
//! in section 5, see [`MsfqApproximation`].
//!
//! The number `j` of light jobs at the end of phase 1 is a Markov chain, whose probabilities are
//! `p_j`. Let `y(z)` be the transform of a busy period that is started by one light job. Then the
//! generating function `Π` of the chain satisfies
//!
//! `Π(z) = Σ_{i<k} p_i (g_i(z) − f(z) y(z)^i) + f(z) Π(y(z))`.
//!
//! Here, `g_i` is the generating function of the number of light jobs at the end of a cycle that
//! starts with `i < k` of them, and `f(z) y(z)^i` is the same for `i ≥ k` (see `transforms.rs`).
//! The iteration `z → y(z) → 1` gives `Π` as a function of `p_0 … p_{k−1}`, which are determined by
//! the first `k` coefficients (see `light_left.rs`). The means are computed by renewal-reward over
//! a cycle, whose integrals are quadratic in `j` for `j ≥ k` (see `cycle.rs`). The number of
//! operations is `O(k³) + O(k² n)`, where `n` grows as `1/(1 − y'(1))` if the load approaches 1.
//!
//! The light jobs may be served for `e^k` times their size before only `ℓ` of them are left. In
//! order not to lose digits, we store each transform as its difference from 1 and each time as a
//! mean and a variance, and the increment for one more light job is never the difference of two
//! cycles. No results are returned if the rounding error may be greater than `10⁻⁹`.

mod approximation;
mod cycle;
mod light_left;
mod passages;
mod queue;
mod transforms;

pub use approximation::MsfqApproximation;
pub use queue::{MsfqError, MsfqQueue, OneOrAllType};

use cycle::{Cycle, Cycles};
use light_left::LightAtPhaseEnd;
use nalgebra::DVector;
use queue::MOST_SERVERS;

/// The mean values for the light jobs and for the heavy jobs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MsfqMeans {
    /// The mean number of jobs in the system \[jobs\].
    pub number: [f64; 2],
    /// The mean response time \[time\].
    pub response: [f64; 2],
    /// The mean total length in each cycle of phase 1, of phases 2 and 3, and of phase 4 \[time\].
    pub phases: [f64; 3],
    /// The maximum relative rounding error of the numbers and of the response times.
    pub error: f64,
}

impl MsfqMeans {
    /// Returns the `E[T]` of all jobs \[time\].
    pub fn mean_response(&self, queue: &MsfqQueue) -> f64 {
        let rates = queue.light.arrival_rate + queue.heavy.arrival_rate;
        self.number.iter().sum::<f64>() / rates
    }

    fn are_above_sizes(&self, queue: &MsfqQueue) -> bool {
        let sizes = [queue.light, queue.heavy].map(|stream| 1.0 / stream.service_rate);
        let mut each = self.response.iter().zip(sizes);
        each.all(|(response, size)| response.is_finite() && *response >= size * (1.0 - self.error))
    }
}

const MOST_ERROR: f64 = 1e-9;

impl MsfqQueue {
    /// Returns the exact mean number of jobs and the exact mean response times.
    ///
    /// # Errors
    /// Returns an error for more than [`MOST_SERVERS`] servers, for too many steps because the load
    /// is close to 1, or if the relative rounding error may be greater than `10⁻⁹`.
    pub fn means(&self) -> Result<MsfqMeans, MsfqError> {
        let refused = |why: String| Err(MsfqError(why));
        if self.servers > MOST_SERVERS {
            return refused(format!(
                "{} light jobs run at once, but the exact analysis supports a maximum of {MOST_SERVERS}",
                self.servers
            ));
        }
        let Some(left) = LightAtPhaseEnd::new(self) else {
            let load = self.load();
            return refused(format!(
                "the load is {load}, so the exact analysis takes too many steps"
            ));
        };
        let means = self.with(&left);
        let is_distribution = left.few.iter().all(|p| *p > -1e-9) && left.few.sum() < 1.0 + 1e-9;
        match means.error < MOST_ERROR && is_distribution && means.are_above_sizes(self) {
            true => Ok(means),
            false => {
                refused("the exact means have too few digits because of rounding errors".into())
            }
        }
    }

    fn with(&self, left: &LightAtPhaseEnd) -> MsfqMeans {
        let cycles = Cycles::new(self);
        let effects = cycles.effects(-1.0);
        let all = over(&left.few, &effects);
        let (areas, length) = (all.areas(), all.length());
        let number = areas.map(|area| area / length);
        let size = over(&left.few.abs(), &cycles.effects(1.0));
        // The terms of the sums are positive, but `1 − ρ` loses digits if `ρ` is close to 1.
        let rounding = (self.servers + 8) as f64 + 4.0 / (1.0 - self.load());
        let error = |n: usize| {
            let moved = |cycle: &Cycle| cycle.areas()[n] - number[n] * cycle.length();
            let many = moved(&effects[self.servers]);
            let moves = |j, _| (moved(&effects[j]) - many) / areas[n];
            let solved = left.error(&DVector::from_fn(self.servers, moves));
            solved + rounding * f64::EPSILON * (size.areas()[n] / areas[n] + size.length() / length)
        };
        let rates = [self.light, self.heavy].map(|stream| stream.arrival_rate);
        // A cycle from the empty system counts as several cycles here (see `filling_rate`).
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

/// Returns the mean over all cycles. They start with `j < k` light jobs with probability `p_j`.
fn over(few: &DVector<f64>, cycles: &[Cycle]) -> Cycle {
    let many = Cycle::default().plus((1.0 - few.sum()).max(0.0), cycles[few.len()]);
    let each = few.iter().zip(cycles);
    each.fold(many, |sum, (p, cycle)| sum.plus(*p, *cycle))
}

#[cfg(test)]
mod tests;
