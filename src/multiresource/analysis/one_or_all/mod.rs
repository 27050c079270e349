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
//! Iterating z → y(z) → 1 leaves p_0 … p_{k−1}, which the first k coefficients of Π determine
//! (`transforms.rs`). Means follow by renewal and reward over a cycle, whose integrals are quadratic
//! in j from k on (`cycle.rs`).
//!
//! # Practice
//! One run takes `O(k³)` and `O(k² n)`, n growing as `1/(1 − y'(1))` towards saturation.

mod approximation;
mod cycle;
mod transforms;

pub use approximation::MsfqApproximation;

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
    fn offered(&self) -> f64 {
        self.arrival_rate / self.service_rate
    }
}

/// MSFQ(ℓ), strict, on a one-or-all system.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MsfqQueue {
    servers: usize,
    threshold: usize,
    light: Stream,
    heavy: Stream,
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
    /// So close to saturation that no digit is left.
    #[error("at load {0} the exact analysis has no digit left")]
    Digits(f64),
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
    /// Mean time in a cycle with no job in the system \[time\].
    pub idle: f64,
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

    /// Mean numbers and response times, exactly.
    ///
    /// # Errors
    /// Beyond [`MOST_SERVERS`], or where rounding leaves no digit.
    pub fn means(&self) -> Result<MsfqMeans, MsfqError> {
        if self.servers > MOST_SERVERS {
            return Err(MsfqError::Servers(self.servers, MOST_SERVERS));
        }
        let few = transforms::few_light(self).ok_or(MsfqError::Digits(self.load()))?;
        let means = cycle::means(self, &few);
        // A check that the solution does not use: heavy jobs keep the server busy for as long as the
        // work that they bring.
        let MsfqMeans { phases, idle, .. } = means;
        let busy = phases[0] / (phases.iter().sum::<f64>() + idle);
        match (busy / self.heavy.offered() - 1.0).abs() < 1e-6 && few.iter().all(|p| *p > -1e-9) {
            true => Ok(means),
            false => Err(MsfqError::Digits(self.load())),
        }
    }
}

impl MsfqMeans {
    /// `E[T]` over all jobs \[time\].
    pub fn mean_response(&self, queue: &MsfqQueue) -> f64 {
        let rates = queue.light.arrival_rate + queue.heavy.arrival_rate;
        self.number.iter().sum::<f64>() / rates
    }
}

#[cfg(test)]
mod tests;
