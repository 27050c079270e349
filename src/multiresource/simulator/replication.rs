use super::quantiles::Histogram;
use super::series::Series;
use crate::multiresource::policy::{Counters, Violation};

/// One of several independent runs, of one server or of a fleet.
pub(super) trait Replication: Send {
    /// Goes on to this many events, or until told to stop, or until there are too many jobs.
    fn run(&mut self, events: u64, stopped: impl Fn() -> bool);

    /// Checks what must hold; what did not so far.
    fn audit(&mut self) -> Option<&Violation>;

    /// What was measured.
    fn series(&self) -> &Series;

    /// Response times of type i since the last but one merge of the series' buckets.
    fn responses(&self, i: usize) -> &[Histogram; 2];

    /// Events so far: arrivals, completions and clocks.
    fn events(&self) -> u64;

    /// The time of the last of them.
    fn now(&self) -> f64;

    /// Jobs in the system.
    fn jobs(&self) -> u64;

    /// Those of type i.
    fn present(&self, i: usize) -> u64;

    fn counters(&self) -> Counters;
}
