use super::Recorder;

/// What a replication has measured so far. Statistics see replications as this, so that they are
/// compiled once and not for each engine.
pub(crate) trait Measured {
    /// What was measured.
    fn recorder(&self) -> &Recorder;

    /// Events so far: arrivals, completions and clocks.
    fn events(&self) -> u64;

    /// The time of the last of them.
    fn now(&self) -> f64;

    /// Jobs in the system.
    fn jobs(&self) -> u64;

    /// Those of class i.
    fn present(&self, i: usize) -> u64;
}

/// More jobs than this in the system end a run.
pub(crate) const CROWDED: u64 = 10_000_000;
