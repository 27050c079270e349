//! A one-or-all system under MSFQ(ℓ).

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
