//! The same workload with other rates, or with more of a resource; the same fleet with more.

use super::check::Draft;
use super::fleet_check::FleetDraft;
use super::{Fleet, Workload};
use crate::document::{DocumentError, Fault, place};
use crate::number::{Decimal, told};

impl Workload {
    /// The same workload with every arrival rate multiplied by `factor` (in doubles): times
    /// between arrivals divided by it, batches as much more frequent; of a modulated process the
    /// rates in the states multiplied, while the environment stays as it is.
    ///
    /// # Errors
    /// If `factor` is not positive and finite, or a rate or load leaves the range of doubles.
    pub fn scaled(&self, factor: f64) -> Result<Self, DocumentError> {
        self.scaled_by_type(&vec![factor; self.types.len()])
    }

    /// The same with a factor for each type (K), as [`Workload::scaled`] applies it.
    ///
    /// # Errors
    /// If a factor is missing, or not positive and finite, or a rate or load leaves the range of
    /// doubles.
    pub fn scaled_by_type(&self, factors: &[f64]) -> Result<Self, DocumentError> {
        let unusable = |factor: &&f64| !(**factor > 0.0 && factor.is_finite());
        if let Some(factor) = factors.iter().find(unusable) {
            let message = format!(
                "the arrival rates cannot be multiplied by {}",
                told(*factor)
            );
            let fault = Fault::new(place!("jobs"), message, "choose a positive, finite factor");
            return Err(DocumentError::without_text(vec![fault]));
        }
        let mut draft = Draft::of(self);
        let mut faults = Vec::new();
        for (i, job) in self.types.iter().enumerate() {
            let rate = job.arrival_rate();
            let factor = factors.get(i).copied().unwrap_or(f64::NAN);
            draft.jobs[i].arrivals = job.arrivals.scaled(factor);
            if draft.jobs[i].arrivals.is_none() {
                let message = format!(
                    "arrival rate {rate} times {} is out of the range of numbers",
                    told(factor)
                );
                faults.push(Fault::new(
                    place!("jobs", i, "arrival_rate"),
                    message,
                    "choose a factor nearer to 1",
                ));
            }
        }
        if !faults.is_empty() {
            return Err(DocumentError::without_text(faults));
        }
        let checked = draft.check(Vec::new());
        let (scaled, _) = checked.map_err(DocumentError::without_text)?;
        Ok(Self {
            unserved: self.unserved.clone(),
            ..scaled
        })
    }

    /// The same workload on a server with so much more of resource j. `None` where the sum is no decimal of a double.
    fn with_more(&self, j: usize, more: Decimal) -> Option<Self> {
        let mut draft = Draft::of(self);
        draft.capacity[j].1 = Some(sum(self.resources[j].capacity, more)?);
        let (larger, _) = draft.check(Vec::new()).ok()?;
        Some(larger)
    }
}

impl Fleet {
    /// The same fleet with so much more of resource j (of all R) on each server of shape h, which has some. `None`
    /// where the sum is no decimal of a double.
    ///
    /// # Panics
    /// If h or j is no index of a shape or of a resource.
    #[must_use]
    pub fn with_more(&self, h: usize, j: usize, more: Decimal) -> Option<Self> {
        let shape = &self.shapes[h];
        if self.is_one_server() {
            let larger = self.envelope.with_more(j, more)?;
            return Some(Fleet::of_one(&shape.name, larger));
        }
        let name = self.envelope.resources()[j].name();
        let mut draft = FleetDraft::of(self);
        let mut own = draft.shapes[h].capacity.iter_mut();
        let (_, capacity) = own.find(|(own, _)| own == name)?;
        *capacity = Some(sum(shape.capacity[j], more)?);
        let (larger, _) = draft.check(Vec::new()).ok()?;
        Some(larger)
    }

    /// The same fleet with one more server of shape h; `None` where a shape may not have that many.
    ///
    /// # Panics
    /// If h is not the index of a shape.
    #[must_use]
    pub fn with_one_more_server(&self, h: usize) -> Option<Self> {
        let mut draft = FleetDraft::of(self);
        draft.shapes[h].count = self.shapes[h].count.checked_add(1);
        let (larger, _) = draft.check(Vec::new()).ok()?;
        Some(larger)
    }
}

/// The sum, where it is a decimal of a double and not rounded away.
fn sum(a: Decimal, b: Decimal) -> Option<Decimal> {
    let sum = Decimal::nearest(&(a.exact() + b.exact()))?;
    (sum > a && b > Decimal::ZERO).then_some(sum)
}
