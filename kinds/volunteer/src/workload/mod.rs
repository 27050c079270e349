//! A campaign: hosts that come and go, and batches of jobs for them.

mod capacity;
mod check;
mod document;
#[cfg(test)]
mod tests;

pub use capacity::{Capacity, LeastTime, Shortage};
pub(crate) use document::is_default;
pub use document::{
    ApplicationRecord, AvailabilityRecord, BatchRecord, CampaignDocument, HostsRecord,
    PolicyRecord, Processor, Quality, VersionRecord,
};

use synth_queues::law::Size;

/// A checked campaign.
#[derive(Clone, Debug, PartialEq)]
pub struct Campaign {
    record: CampaignDocument,
    batches: Vec<Batch>,
    versions: Vec<Version>,
}

/// Jobs that are submitted together, or a stream of jobs.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// Its name; with a number where it is submitted several times.
    pub name: String,
    /// Which entry of the document it comes from.
    pub entry: usize,
    /// The index of its application.
    pub application: usize,
    /// The law of the sizes of its jobs \[work\].
    pub size: Size,
    /// How many jobs it has; none of a stream.
    pub jobs: Option<u32>,
    /// When it is submitted \[time\]; a stream at the start.
    pub submitted: f64,
    /// Jobs of a stream a unit of time, a Poisson process \[1/time\]; none where there are always some.
    pub arrival_rate: Option<f64>,
    /// How soon it is to be done.
    pub quality: Quality,
    /// How soon \[time\]: the deadline from the submission, or the bound from the creation of a job; else infinite.
    pub limit: f64,
}

/// A version of an application.
#[derive(Clone, Debug, PartialEq)]
pub struct Version {
    /// The index of its application.
    pub application: usize,
    /// What it runs on.
    pub processor: Processor,
    /// How fast it is beside others.
    pub efficiency: f64,
    /// From when on it is there \[time\].
    pub released: f64,
}

impl Campaign {
    /// Returns all its numbers.
    pub fn record(&self) -> &CampaignDocument {
        &self.record
    }

    /// Returns the unit of time.
    pub fn time_unit(&self) -> &str {
        &self.record.time_unit
    }

    /// Returns how long it lasts \[time\].
    pub fn horizon(&self) -> f64 {
        self.record.horizon.value()
    }

    /// Returns how often percentiles are computed \[time\]: sixty times where the workload does not say.
    pub fn refresh(&self) -> f64 {
        let own = self.record.policy.refresh;
        own.map_or(self.horizon() / 60.0, |time| time.value())
    }

    /// Returns batches and streams in the order of the document.
    pub fn batches(&self) -> &[Batch] {
        &self.batches
    }

    /// Returns the batches that are no streams, each with its place.
    pub(crate) fn dated_batches(&self) -> impl Iterator<Item = (usize, &Batch)> {
        let batches = self.batches.iter().enumerate();
        batches.filter(|(_, batch)| !batch.is_stream())
    }

    /// Returns whether some batch has one of these qualities.
    pub(crate) fn has(&self, qualities: &[Quality]) -> bool {
        let mut batches = self.batches.iter();
        batches.any(|batch| qualities.contains(&batch.quality))
    }

    /// Returns the application of each batch.
    pub(crate) fn applications(&self) -> Vec<usize> {
        self.batches.iter().map(|batch| batch.application).collect()
    }

    /// Returns the versions of all applications, those of the first one first.
    pub fn versions(&self) -> &[Version] {
        &self.versions
    }

    /// Returns how many results of an application have to agree.
    pub fn quorum(&self, application: usize) -> u32 {
        self.record.applications[application].quorum
    }

    /// Returns how many instances a job of an application may have.
    pub fn most_instances(&self, application: usize) -> u32 {
        let own = &self.record.applications[application];
        let usual = own.quorum.saturating_mul(3).saturating_add(5);
        own.instances.unwrap_or(usual)
    }

    /// Returns the number of hosts.
    pub fn host_count(&self) -> u64 {
        self.record.hosts.iter().map(|h| u64::from(h.count)).sum()
    }
}

impl Batch {
    /// Returns whether it is a stream of jobs of which each is for itself.
    pub fn is_stream(&self) -> bool {
        self.quality == Quality::Throughput
    }

    /// Returns whether it is a stream that always has some jobs.
    pub fn is_endless(&self) -> bool {
        self.is_stream() && self.arrival_rate.is_none()
    }

    /// Returns when a job that was created then is due \[time\].
    pub fn due(&self, created: f64) -> f64 {
        let is_stream = self.is_stream();
        self.limit + if is_stream { created } else { self.submitted }
    }
}

impl HostsRecord {
    /// Returns the fraction of time that such a host is on.
    pub fn on_fraction(&self) -> f64 {
        let turns = self.availability.as_ref();
        turns.map_or(1.0, |own| own.on.mean() / (own.on.mean() + own.off.mean()))
    }

    /// Returns how many processors of this type such a host has.
    pub fn processors(&self, processor: Processor) -> u32 {
        match processor {
            Processor::Cpu => self.cores,
            Processor::Gpu => self.gpus,
        }
    }

    /// Returns the law of the speed of a processor of this type; none where it has none.
    pub fn speed_of(&self, processor: Processor) -> Option<&Size> {
        match processor {
            Processor::Cpu => (self.cores > 0).then_some(&self.speed),
            Processor::Gpu => self.gpu_speed.as_ref().filter(|_| self.gpus > 0),
        }
    }
}
