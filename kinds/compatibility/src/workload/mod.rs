//! A workload consists of a set of servers and of classes of jobs that can use some of the servers.

mod check;
mod document;
#[cfg(test)]
mod tests;
mod trial;

pub use document::{AssignmentRecord, ClassRecord, ClusterDocument, RandomRecord, Server};
pub use trial::Trial;

use synth_core::document::WorkloadDocument as _;
use synth_core::number::Decimal;
use synth_queues::distribution::SizeDistribution;
use synth_simulation::JobClass;

/// A workload that has been checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    pub(crate) record: ClusterDocument,
    size: SizeDistribution,
    servers: Vec<Server>,
    classes: Vec<Class>,
}

/// A class of jobs. The jobs arrive as a Poisson process.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    /// The name of the class.
    pub name: String,
    /// The indices of its servers in ascending order: at least one, each with a capacity > 0.
    pub servers: Vec<usize>,
    /// The arrival rate `λ_i` \[1/time\], which is greater than 0.
    pub arrival_rate: Decimal,
}

impl Cluster {
    /// Returns the servers (S).
    pub fn servers(&self) -> &[Server] {
        &self.servers
    }

    /// Returns the classes (K), or none if the servers are drawn for each job.
    pub fn classes(&self) -> &[Class] {
        &self.classes
    }

    pub(crate) fn assignment(&self) -> Option<&AssignmentRecord> {
        self.record.assignment.as_ref()
    }

    pub(crate) fn degree(&self) -> u32 {
        self.assignment().map_or(0, |own| own.random.degree)
    }

    /// Returns the size distribution of all jobs \[work\].
    pub fn size(&self) -> &SizeDistribution {
        &self.size
    }

    /// Returns the total arrival rate `λ` \[1/time\].
    pub(crate) fn arrival_rate(&self) -> f64 {
        self.arrival_rates().iter().sum()
    }

    /// Returns the service rates `μ_s = C_s/σ` (S) \[jobs/time\].
    pub(crate) fn service_rates(&self) -> Vec<f64> {
        let rate = |server: &Server| server.rate.value() / self.size().mean();
        self.servers.iter().map(rate).collect()
    }

    /// Returns the name of each class, or a single name if the servers are drawn for each job.
    pub(crate) fn names(&self) -> Vec<&str> {
        let all = self.assignment().map(|_| ALL_JOBS);
        let classes = self.classes.iter().map(|class| &*class.name);
        classes.chain(all).collect()
    }

    /// Returns the arrival rates \[1/time\], in the same order as [`Self::names`].
    pub fn arrival_rates(&self) -> Vec<f64> {
        let all = self.assignment().map(|own| own.arrival_rate.value());
        let classes = self.classes.iter().map(|class| class.arrival_rate.value());
        classes.chain(all).collect()
    }

    pub(crate) fn has_statistics_by_class(&self) -> bool {
        (1..=MOST_DISTINGUISHED).contains(&self.classes.len())
    }

    /// Returns the classes for the statistics. The size of a job is its time on all its servers.
    pub(crate) fn statistics(&self) -> Vec<JobClass> {
        let (rates, arrivals) = (self.service_rates(), self.arrival_rates());
        let drawn = self.assignment();
        let drawn = drawn.map(|_| f64::from(self.degree()) * rates[0]);
        let of_class = |class: &Class| class.servers.iter().map(|s| rates[*s]).sum::<f64>();
        let alone = self.classes.iter().map(of_class).chain(drawn);
        let all = self.arrival_rate();
        let class = |name: &str, rate: f64, mean_size: f64| {
            // The fraction of the total capacity that the servers of the class have.
            let part = 1.0 / (mean_size * rates.iter().sum::<f64>());
            JobClass::poisson(name, rate, (mean_size, self.size()), vec![part], rate / all)
        };
        let each = self.names().into_iter().zip(arrivals).zip(alone);
        if !self.has_statistics_by_class() {
            let time = each.map(|((_, rate), alone)| rate / alone).sum::<f64>() / all;
            return vec![class(ALL_JOBS, all, time)];
        }
        each.map(|((name, rate), alone)| class(name, rate, 1.0 / alone))
            .collect()
    }

    /// Returns a copy with all arrival rates times `factor` > 0, or `None` if one is out of range.
    pub fn scaled(&self, factor: f64) -> Option<Self> {
        let mut record = self.record.clone();
        let arriving = record.classes.iter_mut().map(|own| &mut own.arrival_rate);
        let drawn = record.assignment.iter_mut();
        let drawn = drawn.map(|own| &mut own.arrival_rate);
        for rate in arriving.chain(drawn).filter(|rate| **rate > Decimal::ZERO) {
            let scaled = Decimal::new(rate.value() * factor);
            *rate = scaled.filter(|rate| *rate > Decimal::ZERO)?;
        }
        record.check().ok()
    }

    /// Returns the mean amount of work between two interruptions, θ = σ/m, or `None` if m = 0.
    pub(crate) fn slice(&self, interruptions: f64) -> Option<f64> {
        (interruptions > 0.0).then(|| self.size().mean() / interruptions)
    }

    /// Returns a copy with a different size distribution.
    pub fn with_sizes(&self, size: SizeDistribution) -> Self {
        let mut other = self.clone();
        other.record.size = Some(size.clone());
        other.size = size;
        other
    }
}

/// More classes have no separate statistics, which would need too much memory in all intervals.
const MOST_DISTINGUISHED: usize = 256;

const ALL_JOBS: &str = "jobs";
