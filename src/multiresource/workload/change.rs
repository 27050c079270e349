//! The same fleet with other rates, with a start latency, or with more of a resource.

use super::check::Draft;
use super::{Fleet, Workload};
use crate::document::{DocumentError, Fault, place};
use crate::law::Size;
use crate::number::{Decimal, shown};

impl Fleet {
    /// Returns the same fleet with every arrival rate multiplied by `factor` (in doubles): times between arrivals divided
    /// by it, batches as much more frequent; of a modulated process the rates in the states multiplied, while
    /// the environment stays as it is.
    ///
    /// # Errors
    /// If `factor` is not positive and finite, or a rate or load leaves the range of doubles.
    pub fn scaled(&self, factor: f64) -> Result<Self, DocumentError> {
        if !(factor > 0.0 && factor.is_finite()) {
            let message = format!(
                "the arrival rates cannot be multiplied by {}",
                shown(factor)
            );
            let fault = Fault::new(place!("jobs"), message, "choose a positive, finite factor");
            return Err(DocumentError::without_text(vec![fault]));
        }
        let mut draft = Draft::of(self);
        let mut faults = Vec::new();
        for (i, job) in self.types().iter().enumerate() {
            draft.jobs[i].arrivals = job.arrivals().scaled(factor);
            if draft.jobs[i].arrivals.is_none() {
                let message = format!(
                    "arrival rate {} times {} is out of the range of numbers",
                    job.arrival_rate(),
                    shown(factor)
                );
                let at = place!("jobs", i, "arrival_rate");
                faults.push(Fault::new(at, message, "choose a factor nearer to 1"));
            }
        }
        if faults.is_empty() {
            draft.changed()
        } else {
            Err(DocumentError::without_text(faults))
        }
    }

    /// Returns the same fleet with this latency in place of its own, ≥ 0 \[time\].
    ///
    /// # Errors
    /// When it is negative, or a load leaves the range of doubles.
    pub fn with_start_latency(&self, latency: Decimal) -> Result<Self, DocumentError> {
        let mut draft = Draft::of(self);
        draft.header.start_latency = Some(Size::Deterministic { mean: latency });
        draft.changed()
    }

    /// Returns the same fleet with so much more of resource j (of all R) on each server of shape h, which has some. `None`
    /// where the sum is no decimal of a double.
    ///
    /// # Panics
    /// If h or j is no index of a shape or of a resource.
    #[must_use]
    pub fn with_more(&self, h: usize, j: usize, more: Decimal) -> Option<Self> {
        let name = self.envelope().resources()[j].name();
        let mut draft = Draft::of(self);
        let mut own = draft.shapes[h].capacity.iter_mut();
        let (_, capacity) = own.find(|(own, _)| own == name)?;
        *capacity = Some(sum(self.shapes()[h].capacity()[j], more)?);
        draft.changed().ok()
    }

    /// Returns the same fleet with one more server of shape h; `None` where a shape may not have that many.
    ///
    /// # Panics
    /// If h is not the index of a shape.
    #[must_use]
    pub fn with_one_more_server(&self, h: usize) -> Option<Self> {
        let mut draft = Draft::of(self);
        draft.shapes[h].count = self.shapes()[h].count().checked_add(1);
        draft.changed().ok()
    }
}

impl Workload {
    /// Returns the same workload as [`Fleet::scaled`] does.
    ///
    /// # Errors
    /// As that.
    pub fn scaled(&self, factor: f64) -> Result<Self, DocumentError> {
        Ok(Fleet::from(self.clone()).scaled(factor)?.envelope)
    }
}

impl Draft {
    fn changed(self) -> Result<Fleet, DocumentError> {
        let checked = self.check(Vec::new());
        let (fleet, _) = checked.map_err(DocumentError::without_text)?;
        Ok(fleet)
    }
}

/// The sum, where it is a decimal of a double and not rounded away.
fn sum(a: Decimal, b: Decimal) -> Option<Decimal> {
    let sum = Decimal::nearest(&(a.exact() + b.exact()))?;
    (sum > a && b > Decimal::ZERO).then_some(sum)
}
