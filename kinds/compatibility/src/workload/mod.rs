//! Servers, and jobs each of which may run on some of them, and on several at once.

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

/// A class of jobs: Poisson arrivals.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    /// Its name.
    pub name: String,
    /// Its servers: places below S, ascending, at least one, each of them with a capacity > 0.
    pub servers: Vec<usize>,
    /// λ_i \[1/time\], > 0.
    pub arrival_rate: Decimal,
}

impl Cluster {
    /// All its numbers.
    pub fn record(&self) -> &ClusterDocument {
        &self.record
    }

    /// The unit of time.
    pub fn time_unit(&self) -> &str {
        &self.record.time_unit
    }

    /// The servers (S).
    pub fn servers(&self) -> &[Server] {
        &self.servers
    }

    /// The classes (K); none where servers are drawn for each job.
    pub fn classes(&self) -> &[Class] {
        &self.classes
    }

    /// How servers are drawn for each job, all of them alike; none where there are classes.
    pub fn assignment(&self) -> Option<&AssignmentRecord> {
        self.record.assignment.as_ref()
    }

    /// How many servers are drawn for each job; 0 where there are classes.
    pub(crate) fn degree(&self) -> u32 {
        self.assignment().map_or(0, |own| own.random.degree)
    }

    /// The law of sizes \[work\], of all jobs alike.
    pub fn size(&self) -> &Size {
        &self.size
    }

    /// λ \[1/time\].
    pub fn arrival_rate(&self) -> f64 {
        self.arrival_rates().iter().sum()
    }

    /// μ_s = C_s/σ (S) \[jobs/time\].
    pub fn service_rates(&self) -> Vec<f64> {
        let rate = |server: &Server| server.rate.value() / self.size().mean();
        self.servers.iter().map(rate).collect()
    }

    /// Names of the classes, or of all jobs where servers are drawn.
    pub fn names(&self) -> Vec<&str> {
        let all = self.assignment().map(|_| ALL_JOBS);
        let classes = self.classes.iter().map(|class| &*class.name);
        classes.chain(all).collect()
    }

    /// Arrival rates of the classes, or of all jobs \[1/time\].
    pub fn arrival_rates(&self) -> Vec<f64> {
        let all = self.assignment().map(|own| own.arrival_rate.value());
        let classes = self.classes.iter().map(|class| class.arrival_rate.value());
        classes.chain(all).collect()
    }

    /// Whether statistics distinguish the classes: a table of thousands of them, each in thousands of intervals of time, is
    /// more than the memory that a run may take.
    pub fn are_distinguished(&self) -> bool {
        (1..=MOST_DISTINGUISHED).contains(&self.classes.len())
    }

    /// The classes, as statistics see them, or all jobs as one. The size of a job is the time that it takes alone.
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
            // Of all servers together: each job is served at the rate of those that it may be on.
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

    /// The same with all arrival rates times `factor`, a finite number > 0; `None` where one of them leaves the range of
    /// numbers.
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

    /// Returns θ = σ/m, the work done of a job between two of m interruptions in the mean; none without any.
    pub fn slice(&self, interruptions: f64) -> Option<f64> {
        (interruptions > 0.0).then(|| self.size().mean() / interruptions)
    }

    /// The same with other sizes.
    pub fn with_sizes(&self, size: Size) -> Self {
        let mut other = self.clone();
        other.record.size = Some(size.clone());
        other.size = size;
        other
    }
}

/// More classes than this are one for statistics.
const MOST_DISTINGUISHED: usize = 256;

/// What all jobs are called where servers are drawn for each.
const ALL_JOBS: &str = "jobs";
