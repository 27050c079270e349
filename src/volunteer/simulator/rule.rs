//! The rules that can be simulated.

use crate::volunteer::policy::Dispatch;

/// How jobs are sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// By percentiles and estimates.
    Dispatch(Dispatch),
    /// To any host that asks, to be returned within a bound \[time\], or within the deadline of a batch.
    Fixed(f64),
    /// The same, and what BOINC does since 2025 once most of a batch is done: the rest goes only to hosts
    /// that were faster than half of all, and is sent once more where it takes long.
    Tail(f64),
}
