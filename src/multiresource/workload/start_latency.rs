//! The time between the decision to start a job and its first instruction: dead time, in which the job holds its
//! room and does nothing.
//!
//! It enters in one place: a job of size S holds its room for L + S ([`JobType::holding`](super::JobType::holding)),
//! and without preemption a server with a latency is the server with these sizes. A latency of 0 is none.

use super::check::Draft;
use super::{Described, Fleet, Workload};
use crate::document::{DocumentError, Fault, place};
use crate::law::{Part, Size};
use crate::number::Decimal;

impl Draft {
    /// The latency, if jobs have one.
    pub(super) fn start_latency(&self) -> Option<Size> {
        let none = Size::Deterministic {
            mean: Decimal::ZERO,
        };
        self.start_latency.clone().filter(|law| *law != none)
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
                    self.time_unit
                ),
            )];
        }
        let faults = law.faults(Part::Other("start latency"), "all jobs", &self.time_unit);
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

impl Workload {
    /// A line for the digest, from its beginning; nothing where there is no latency.
    pub(super) fn canonical_latency(&self) -> String {
        let line = |law: &Size| format!("\nstart_latency {}", law.canonical());
        self.start_latency.as_ref().map_or(String::new(), line)
    }

    /// The same workload with this latency in place of its own, ≥ 0 \[time\].
    ///
    /// # Errors
    /// When it is negative, or a load leaves the range of doubles.
    pub fn with_start_latency(&self, latency: Decimal) -> Result<Self, DocumentError> {
        let draft = Draft {
            start_latency: Some(Size::Deterministic { mean: latency }),
            ..Draft::of(self)
        };
        let checked = draft.check(Vec::new());
        let (changed, _) = checked.map_err(DocumentError::without_text)?;
        Ok(Self {
            unserved: self.unserved.clone(),
            ..changed
        })
    }
}

impl Fleet {
    /// The same of a fleet.
    ///
    /// # Errors
    /// As [`Workload::with_start_latency`].
    pub fn with_start_latency(&self, latency: Decimal) -> Result<Self, DocumentError> {
        let mut fleet = self.clone();
        fleet.envelope = self.envelope.with_start_latency(latency)?;
        for shape in &mut fleet.shapes {
            shape.server = shape.server.with_start_latency(latency)?;
        }
        Ok(fleet)
    }
}

impl Described {
    /// The same of what a document describes.
    ///
    /// # Errors
    /// As [`Workload::with_start_latency`].
    pub fn with_start_latency(&self, latency: Decimal) -> Result<Self, DocumentError> {
        Ok(match self {
            Self::Server(workload) => Self::Server(workload.with_start_latency(latency)?),
            Self::Fleet(fleet) => Self::Fleet(fleet.with_start_latency(latency)?),
        })
    }
}
