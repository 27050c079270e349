//! A one-or-all system under MSFQ(ℓ), and its means by renewal and reward over cycles, with what rounding may have done to
//! them.

use nalgebra::DVector;

use super::cycle::{Cycle, Cycles};
use super::light_left::LightLeft;

/// A type of jobs of one-or-all: Poisson arrivals and exponential sizes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stream {
    /// λ \[1/time\].
    pub arrival_rate: f64,
    /// μ \[1/time\].
    pub service_rate: f64,
}

impl Stream {
    /// λ/μ.
    pub(super) fn offered(&self) -> f64 {
        self.arrival_rate / self.service_rate
    }
}

/// MSFQ(ℓ), strict, on a one-or-all system.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MsfqQueue {
    pub(super) servers: usize,
    pub(super) threshold: usize,
    pub(super) light: Stream,
    pub(super) heavy: Stream,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MsfqError {
    /// No policy is stable.
    #[error("the load is {0}, and must be less than 1")]
    Unstable(f64),
    /// The rule is for thresholds below the number of servers.
    #[error("the threshold ℓ is {0}, expected 0 to {1}")]
    Threshold(usize, usize),
    /// More light jobs at once than the analysis is made for.
    #[error("{0} light jobs run at once, and the exact analysis is for at most {1}")]
    Servers(usize, usize),
    /// So close to saturation that the iteration does not end.
    #[error("at load {0} the exact analysis takes too many steps")]
    Steps(f64),
    /// Rounding may have changed more than one part in 10⁹.
    #[error("rounding leaves too few digits of the exact means")]
    Digits,
}

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

/// The most servers.
pub const MOST_SERVERS: usize = 1024;

impl MsfqQueue {
    /// `servers` light jobs run at once, k ≥ 1, and a heavy one alone.
    ///
    /// # Errors
    /// When ℓ ≥ k, or no policy is stable.
    pub fn new(
        servers: usize,
        threshold: usize,
        light: Stream,
        heavy: Stream,
    ) -> Result<Self, MsfqError> {
        let queue = MsfqQueue {
            servers,
            threshold,
            light,
            heavy,
        };
        match threshold < servers {
            true if queue.load() < 1.0 => Ok(queue),
            true => Err(MsfqError::Unstable(queue.load())),
            false => Err(MsfqError::Threshold(threshold, servers - 1)),
        }
    }

    /// `λ₁/(kμ₁) + λ_k/μ_k`.
    pub fn load(&self) -> f64 {
        self.light.offered() / self.servers as f64 + self.heavy.offered()
    }
}

impl MsfqMeans {
    /// `E[T]` over all jobs \[time\].
    pub fn mean_response(&self, queue: &MsfqQueue) -> f64 {
        let rates = queue.light.arrival_rate + queue.heavy.arrival_rate;
        self.number.iter().sum::<f64>() / rates
    }
}

/// The largest relative error at which means are given.
pub(super) const MOST_ERROR: f64 = 1e-9;

impl MsfqQueue {
    /// Mean numbers and response times, exactly.
    ///
    /// # Errors
    /// Beyond [`MOST_SERVERS`]; so close to saturation that it takes too many steps; and where rounding
    /// may have changed more than one part in 10⁹.
    pub fn means(&self) -> Result<MsfqMeans, MsfqError> {
        if self.servers > MOST_SERVERS {
            return Err(MsfqError::Servers(self.servers, MOST_SERVERS));
        }
        let left = LightLeft::new(self).ok_or(MsfqError::Steps(self.load()))?;
        let means = self.with(&left);
        if means.error < MOST_ERROR && left.is_law() && means.is_sensible(self) {
            Ok(means)
        } else {
            Err(MsfqError::Digits)
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
