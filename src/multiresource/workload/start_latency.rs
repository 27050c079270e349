//! The time between the decision to start a job and its first instruction: dead time, in which the job holds its
//! room and does nothing.
//!
//! It enters in one place: a job of size S holds its room for L + S ([`JobType::holding`](super::JobType::holding)),
//! and without preemption a server with a latency is the server with these sizes. A latency of 0 is none.

use super::check::Draft;
use crate::document::{Fault, place};
use crate::law::{Part, Size};
use crate::number::Decimal;

impl Draft {
    /// The latency, if jobs have one.
    pub(super) fn start_latency(&self) -> Option<Size> {
        let none = Size::Deterministic {
            mean: Decimal::ZERO,
        };
        self.header.start_latency.clone().filter(|law| *law != none)
    }

    /// Its mean \[time\]; 0 also where it has faults, which are reported elsewhere.
    pub(super) fn mean_start_latency(&self) -> f64 {
        let mean = self.start_latency().map_or(0.0, |law| law.mean());
        if mean.is_finite() { mean } else { 0.0 }
    }

    pub(super) fn faults_of_start_latency(&self) -> Vec<Fault> {
        let Some(law) = self.start_latency() else {
            return Vec::new();
        };
        let place = place!("start_latency");
        if let Size::Deterministic { mean } = law
            && mean < Decimal::ZERO
        {
            return vec![Fault::new(
                place,
                format!("the start latency is {mean}, expected a number ≥ 0"),
                format!(
                    "write how many {} pass from the decision to start a job to its first instruction, or leave it out where there are none",
                    self.header.time_unit
                ),
            )];
        }
        let faults = law.faults(
            Part::Other("start latency"),
            "all jobs",
            &self.header.time_unit,
        );
        if faults.is_empty() && !law.in_range() {
            return vec![Fault::new(
                place,
                "the law of the start latency is out of the range of numbers",
                "check its numbers, or choose another unit of time",
            )];
        }
        faults.into_iter().map(|f| f.within(&place)).collect()
    }
}
