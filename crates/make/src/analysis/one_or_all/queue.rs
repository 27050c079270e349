//! A one-or-all system under MSFQ(ℓ).

/// A type of jobs of one-or-all: Poisson arrivals and exponential sizes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OneOrAllType {
    /// λ \[1/time\].
    pub arrival_rate: f64,
    /// μ \[1/time\].
    pub service_rate: f64,
}

impl OneOrAllType {
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
    pub(super) light: OneOrAllType,
    pub(super) heavy: OneOrAllType,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct MsfqError(pub(super) String);

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
        light: OneOrAllType,
        heavy: OneOrAllType,
    ) -> Result<Self, MsfqError> {
        let queue = MsfqQueue {
            servers,
            threshold,
            light,
            heavy,
        };
        let load = queue.load();
        if threshold >= servers {
            let most = servers - 1;
            let why = format!("the threshold ℓ is {threshold}, expected 0 to {most}");
            Err(MsfqError(why))
        } else if load < 1.0 {
            Ok(queue)
        } else {
            Err(MsfqError(format!(
                "the load is {load}, and must be less than 1"
            )))
        }
    }

    /// `λ₁/(kμ₁) + λ_k/μ_k`.
    pub fn load(&self) -> f64 {
        self.light.offered() / self.servers as f64 + self.heavy.offered()
    }
}
