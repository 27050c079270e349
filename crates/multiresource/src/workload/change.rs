use super::document::Amount;
use super::{Fleet, Shape, Workload};
use synth_core::document::{DocumentError, Fault, place};
use synth_core::number::{Decimal, format_number};
use synth_queues::distribution::SizeDistribution;

impl Fleet {
    /// Returns a copy of this fleet with all arrival rates multiplied by `factor`. The intervals of
    /// a renewal process are divided by it, batches are more frequent, and the environment of a
    /// modulated process does not change.
    ///
    /// # Errors
    /// If `factor` is not positive and finite, or a rate or load leaves the range of doubles.
    pub fn scaled(&self, factor: f64) -> Result<Self, DocumentError> {
        if !(factor > 0.0 && factor.is_finite()) {
            let factor = format_number(factor);
            let message = format!("the arrival rates cannot be multiplied by {factor}");
            let fault = Fault::new(place!("jobs"), message, "choose a positive, finite factor");
            return Err(DocumentError::without_text(vec![fault]));
        }
        let mut document = self.record();
        let mut faults = Vec::new();
        for (i, job) in self.types().iter().enumerate() {
            document.jobs[i].arrivals = job.arrivals().scaled(factor);
            if document.jobs[i].arrivals.is_none() {
                let (rate, factor) = (job.arrival_rate(), format_number(factor));
                let message =
                    format!("arrival rate {rate} times {factor} is out of the range of numbers");
                let at = place!("jobs", i, "arrival_rate");
                faults.push(Fault::new(at, message, "choose a factor nearer to 1"));
            }
        }
        match faults.is_empty() {
            true => document.fleet(),
            false => Err(DocumentError::without_text(faults)),
        }
    }

    /// Returns the fleet with only these types (ascending, at least one) and the shapes that they
    /// use.
    pub fn only(&self, types: &[usize]) -> Result<Self, DocumentError> {
        let mut document = self.record();
        let mut places = 0..;
        let jobs = &mut document.jobs;
        jobs.retain(|_| places.next().is_some_and(|i| types.contains(&i)));
        let mut shapes = self.shapes.iter();
        let is_used = |own: &Shape| own.types.iter().any(|i| types.contains(i));
        let servers = &mut document.servers;
        servers.retain(|_| shapes.next().is_some_and(is_used));
        let has = |name: &String| servers.iter().any(|own| own.capacity.get(name).is_some());
        document.resources.retain(has);
        document.fleet()
    }

    /// Returns the fleet with this start latency \[time\], which must be ≥ 0.
    pub fn with_start_latency(&self, latency: Decimal) -> Result<Self, DocumentError> {
        let mut document = self.record();
        document.start_latency = Some(SizeDistribution::Deterministic { mean: latency });
        document.fleet()
    }

    /// Returns a copy with an additional amount of resource j on each server of shape h. `None` if
    /// the shape does not have the resource, or the sum cannot be represented or is not greater.
    pub fn with_more(&self, h: usize, j: usize, more: Decimal) -> Option<Self> {
        let has = self.shapes[h].capacity[j];
        let sum = Decimal::nearest(&(has.exact() + more.exact()))?;
        let is_more = sum > has && more > Decimal::ZERO && !has.is_zero();
        is_more.then(|| self.with_amount(h, j, sum).ok())?
    }

    /// Returns a copy with this amount of resource j, which must exist, on each server of shape h.
    /// It is an error if a type no longer fits.
    pub fn with_amount(&self, h: usize, j: usize, amount: Decimal) -> Result<Self, DocumentError> {
        let mut document = self.record();
        let resource = &self.envelope.resources[j];
        let mut amounts = document.servers[h].capacity.0.iter_mut();
        if let Some((_, own)) = amounts.find(|(name, _)| *name == resource.name) {
            *own = Some(Amount::of(amount, resource.device.is_some()));
        }
        document.fleet()
    }

    /// Returns a copy with this number of servers of shape h. It is an error if a type no longer
    /// fits, or the number is out of range.
    pub fn with_servers(&self, h: usize, count: u32) -> Result<Self, DocumentError> {
        let mut document = self.record();
        document.servers[h].count = Some(count);
        document.fleet()
    }
}

impl Workload {
    /// Returns a copy of this workload, see [`Fleet::scaled`].
    pub fn scaled(&self, factor: f64) -> Result<Self, DocumentError> {
        Ok(Fleet::from(self.clone()).scaled(factor)?.envelope)
    }
}
