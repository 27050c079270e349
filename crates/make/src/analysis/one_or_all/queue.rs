/// The parameters of one type of jobs, with Poisson arrivals and exponential sizes.
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

/// A one-or-all system with MSFQ(ℓ) that is strict: turns end even if no other job is waiting.
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

/// The maximum number of servers for the analysis. Larger systems can be created.
pub(super) const MOST_SERVERS: usize = 1024;

impl MsfqQueue {
    /// Creates a system that serves up to `servers` light jobs or a single heavy job at a time.
    ///
    /// # Errors
    /// Returns an error for 0 servers, a threshold ≥ `servers`, invalid rates, or a load ≥ 1.
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
        let is_valid = |own: &OneOrAllType| own.arrival_rate >= 0.0 && own.service_rate > 0.0;
        let why = if servers == 0 {
            "the number of servers is 0, expected at least 1".into()
        } else if let Some(own) = [light, heavy].iter().find(|own| !is_valid(own)) {
            let (arrivals, service) = (own.arrival_rate, own.service_rate);
            format!("a type has λ = {arrivals} and μ = {service}, expected λ ≥ 0 and μ > 0")
        } else if threshold >= servers {
            let most = servers - 1;
            format!("the threshold ℓ is {threshold}, expected 0 to {most}")
        } else if load < 1.0 {
            return Ok(queue);
        } else {
            format!("the load is {load}, expected less than 1")
        };
        Err(MsfqError(why))
    }

    /// Returns the load `λ₁/(kμ₁) + λ_k/μ_k`. The index is the number of servers that a job needs.
    pub fn load(&self) -> f64 {
        self.light.offered() / self.servers as f64 + self.heavy.offered()
    }
}
