//! A campaign, which consists of hosts that are not always available, and batches of jobs for them.

mod capacity;
mod check;
mod document;
#[cfg(test)]
mod tests;

pub use capacity::{Capacity, LeastTime, Shortage};
pub use document::{
    ApplicationRecord, AvailabilityRecord, BatchRecord, CampaignDocument, HostsRecord,
    PolicyRecord, Processor, Quality, VersionRecord,
};

use synth_queues::distribution::SizeDistribution;

/// A campaign that has been checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Campaign {
    pub(crate) record: CampaignDocument,
    /// The batches and streams in the order of the document.
    pub(crate) batches: Vec<Batch>,
    /// The versions of all applications, in the order of the applications.
    pub(crate) versions: Vec<Version>,
}

/// A set of jobs that are submitted together, or a stream of jobs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Batch {
    /// The name, with a number if the batch is submitted several times.
    pub name: String,
    /// The index of its entry in the document.
    pub entry: usize,
    pub application: usize,
    /// The distribution of the sizes of its jobs \[work\].
    pub size: SizeDistribution,
    /// The number of jobs, or `None` if it is a stream.
    pub jobs: Option<u32>,
    /// The time at which it is submitted \[time\], or 0 for a stream.
    pub submitted: f64,
    /// The rate at which jobs of a stream arrive \[1/time\], or `None` if there is always a job.
    pub arrival_rate: Option<f64>,
    pub quality: Quality,
    /// The deadline after the submission, or the bound of each job \[time\], or ∞.
    pub limit: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Version {
    pub application: usize,
    pub processor: Processor,
    /// The speed relative to other versions for the same type of processor.
    pub efficiency: f64,
    /// The release time \[time\].
    pub released: f64,
}

impl Campaign {
    pub(crate) fn horizon(&self) -> f64 {
        self.record.horizon.value()
    }

    /// Returns the interval of percentile updates \[time\], by default 1/60 of the horizon.
    pub(crate) fn refresh(&self) -> f64 {
        let own = self.record.policy.refresh;
        own.map_or(self.horizon() / 60.0, |time| time.value())
    }

    pub(crate) fn dated_batches(&self) -> impl Iterator<Item = (usize, &Batch)> {
        let batches = self.batches.iter().enumerate();
        batches.filter(|(_, batch)| !batch.is_stream())
    }

    pub(crate) fn has(&self, qualities: &[Quality]) -> bool {
        let mut batches = self.batches.iter();
        batches.any(|batch| qualities.contains(&batch.quality))
    }

    pub(crate) fn applications(&self) -> Vec<usize> {
        self.batches.iter().map(|batch| batch.application).collect()
    }

    pub(crate) fn quorum(&self, application: usize) -> u32 {
        self.record.applications[application].quorum
    }

    pub(crate) fn most_instances(&self, application: usize) -> u32 {
        let own = &self.record.applications[application];
        let usual = own.quorum.saturating_mul(3).saturating_add(5);
        own.instances.unwrap_or(usual)
    }

    pub(crate) fn host_count(&self) -> u64 {
        self.record.hosts.iter().map(|h| u64::from(h.count)).sum()
    }
}

impl Batch {
    pub(crate) fn is_stream(&self) -> bool {
        self.quality == Quality::Throughput
    }

    pub(crate) fn is_endless(&self) -> bool {
        self.is_stream() && self.arrival_rate.is_none()
    }

    /// Returns the due time of a job that is created at this time \[time\].
    pub(crate) fn due(&self, created: f64) -> f64 {
        let is_stream = self.is_stream();
        self.limit + if is_stream { created } else { self.submitted }
    }
}

impl HostsRecord {
    pub(crate) fn on_fraction(&self) -> f64 {
        let turns = self.availability.as_ref();
        turns.map_or(1.0, |own| own.on.mean() / (own.on.mean() + own.off.mean()))
    }

    pub(crate) fn processors(&self, processor: Processor) -> u32 {
        match processor {
            Processor::Cpu => self.cores,
            Processor::Gpu => self.gpus,
        }
    }

    pub(crate) fn speed_of(&self, processor: Processor) -> Option<&SizeDistribution> {
        match processor {
            Processor::Cpu => (self.cores > 0).then_some(&self.speed),
            Processor::Gpu => self.gpu_speed.as_ref().filter(|_| self.gpus > 0),
        }
    }
}
