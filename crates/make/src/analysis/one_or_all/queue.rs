/// One of the two job types of a one-or-all system, with Poisson arrivals and exponential sizes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OneOrAllType {
    /// λ \[1/time\].
    pub arrival_rate: f64,
    /// μ \[1/time\].
    pub service_rate: f64,
}

impl OneOrAllType {
    pub(super) fn offered(&self) -> f64 {
        self.arrival_rate / self.service_rate
    }
}

/// A one-or-all system with the strict policy MSFQ(ℓ).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MsfqQueue {
    pub(super) servers: usize,
    pub(super) threshold: usize,
    pub(super) light: OneOrAllType,
    pub(super) heavy: OneOrAllType,
}

/// The reason why the analysis has no result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct MsfqError(pub(super) String);

pub(super) const MOST_SERVERS: usize = 1024;

impl MsfqQueue {
    /// Creates a system that serves up to `servers` ≥ 1 light jobs or a single heavy job at a time.
    ///
    /// # Errors
    /// Returns an error if `ℓ ≥ k` or if the load is at least 1.
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
        let why = if threshold >= servers {
            let most = servers - 1;
            format!("the threshold ℓ is {threshold}, expected 0 to {most}")
        } else if load < 1.0 {
            return Ok(queue);
        } else {
            format!("the load is {load}, expected less than 1")
        };
        Err(MsfqError(why))
    }

    /// Returns the load `λ₁/(kμ₁) + λ_k/μ_k`.
    pub fn load(&self) -> f64 {
        self.light.offered() / self.servers as f64 + self.heavy.offered()
    }
}
