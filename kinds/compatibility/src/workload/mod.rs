//! The workload: servers, and classes of jobs that may each run on some of these servers.

mod check;
mod document;
#[cfg(test)]
mod tests;
mod trial;

pub use document::{AssignmentRecord, ClassRecord, ClusterDocument, RandomRecord, Server};
pub use trial::Trial;

use synth_core::document::WorkloadDocument as _;
use synth_core::number::Decimal;
use synth_queues::law::Size;
use synth_simulation as simulation;

/// A checked workload.
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    record: ClusterDocument,
    size: Size,
    servers: Vec<Server>,
    classes: Vec<Class>,
}

/// A class of jobs with Poisson arrivals.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    /// The name of the class.
    pub name: String,
    /// The servers of capacity > 0 that it may use: ascending indices below S, at least one.
    pub servers: Vec<usize>,
    /// λ_i \[1/time\], > 0.
    pub arrival_rate: Decimal,
}

impl Cluster {
    /// Returns the document.
    pub fn record(&self) -> &ClusterDocument {
        &self.record
    }

    /// Returns the unit of time.
    pub fn time_unit(&self) -> &str {
        &self.record.time_unit
    }

    /// Returns the servers (S).
    pub fn servers(&self) -> &[Server] {
        &self.servers
    }

    /// Returns the classes (K); empty if servers are drawn for each job.
    pub fn classes(&self) -> &[Class] {
        &self.classes
    }

    /// Returns how servers are drawn for each job; `None` if there are classes.
    pub fn assignment(&self) -> Option<&AssignmentRecord> {
        self.record.assignment.as_ref()
    }

    pub(crate) fn degree(&self) -> u32 {
        self.assignment().map_or(0, |own| own.random.degree)
    }

    /// Returns the size distribution \[work\], common to all jobs.
    pub fn size(&self) -> &Size {
        &self.size
    }

    /// Returns the total arrival rate λ \[1/time\].
    pub fn arrival_rate(&self) -> f64 {
        self.arrival_rates().iter().sum()
    }

    /// Returns μ_s = C_s/σ (S) \[jobs/time\].
    pub fn service_rates(&self) -> Vec<f64> {
        let rate = |server: &Server| server.rate.value() / self.size().mean();
        self.servers.iter().map(rate).collect()
    }

    /// Returns the names of the classes, or a single name for all jobs if servers are drawn.
    pub fn names(&self) -> Vec<&str> {
        let all = self.assignment().map(|_| ALL_JOBS);
        let classes = self.classes.iter().map(|class| &*class.name);
        classes.chain(all).collect()
    }

    /// Returns the arrival rates in the order of [`Self::names`] \[1/time\].
    pub fn arrival_rates(&self) -> Vec<f64> {
        let all = self.assignment().map(|own| own.arrival_rate.value());
        let classes = self.classes.iter().map(|class| class.arrival_rate.value());
        classes.chain(all).collect()
    }

    /// Returns whether statistics are kept by class; thousands of classes need too much memory.
    pub fn are_distinguished(&self) -> bool {
        (1..=MOST_DISTINGUISHED).contains(&self.classes.len())
    }

    /// Returns the classes for statistics. The size of a job is its run time on all its servers.
    pub fn statistics(&self) -> Vec<simulation::JobClass> {
        let (rates, arrivals) = (self.service_rates(), self.arrival_rates());
        let drawn = self.assignment();
        let drawn = drawn.map(|own| f64::from(own.random.degree) * rates[0]);
        let of_class = |class: &Class| class.servers.iter().map(|s| rates[*s]).sum::<f64>();
        let alone = self.classes.iter().map(of_class).chain(drawn);
        let all = self.arrival_rate();
        let class = |name: &str, rate: f64, mean_size: f64| {
            let weight = rate / all;
            let sizes = (mean_size, self.size());
            let part = 1.0 / (mean_size * rates.iter().sum::<f64>());
            simulation::JobClass::poisson(name, rate, sizes, weight).demanding(vec![part])
        };
        let each = self.names().into_iter().zip(arrivals).zip(alone);
        if !self.are_distinguished() {
            let time = each.map(|((_, rate), alone)| rate / alone).sum::<f64>() / all;
            return vec![class(ALL_JOBS, all, time)];
        }
        each.map(|((name, rate), alone)| class(name, rate, 1.0 / alone))
            .collect()
    }

    /// Returns the cluster with all arrival rates multiplied by `factor`, or `None` on overflow.
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

    /// Returns the mean work between two interruptions, θ = σ/m, or `None` if m = 0.
    pub fn slice(&self, interruptions: f64) -> Option<f64> {
        (interruptions > 0.0).then(|| self.size().mean() / interruptions)
    }

    /// Returns the cluster with another size distribution.
    pub fn with_sizes(&self, size: Size) -> Self {
        let mut other = self.clone();
        other.record.size = Some(size.clone());
        other.size = size;
        other
    }
}

/// The largest number of classes that statistics distinguish.
const MOST_DISTINGUISHED: usize = 256;

const ALL_JOBS: &str = "jobs";
