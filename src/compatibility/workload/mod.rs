//! Servers, and jobs each of which may run on some of them, and on several at once.

mod check;
mod document;
#[cfg(test)]
mod tests;
mod trial;

pub use document::{AssignmentRecord, ClassRecord, RandomRecord, Record, Server};
pub use trial::Trial;

use std::path::Path;

use crate::document::{DocumentError, Parsed, digest, read_file, to_yaml};
use crate::law::Size;
use crate::number::Decimal;
use crate::simulation;

/// A checked workload.
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    record: Record,
    servers: Vec<Server>,
    jobs: Jobs,
}

/// What arrives.
#[derive(Clone, Debug, PartialEq)]
pub enum Jobs {
    /// Classes, at least one.
    Classes(Vec<Class>),
    /// Each job may run on some servers that are drawn for it; all servers are alike.
    Random(Random),
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

/// Jobs that may run on so many of the servers, any of them alike.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Random {
    /// Servers a job, 1 to S.
    pub degree: u32,
    /// λ \[1/time\], > 0, of all jobs.
    pub arrival_rate: Decimal,
}

impl Cluster {
    /// Reads a document; `name` stands for the file in messages.
    ///
    /// # Errors
    /// [`DocumentError::Faults`] with every fault found.
    pub fn parse(text: &str, name: &str) -> Result<Parsed<Self>, DocumentError> {
        document::parse(text, name)
    }

    /// Reads the document in a file of UTF-8 text, at most 64 MiB.
    ///
    /// # Errors
    /// [`DocumentError::Io`] if the file cannot be read, [`DocumentError::Faults`] with every
    /// fault found in it.
    pub fn read(path: &Path) -> Result<Parsed<Self>, DocumentError> {
        read_file(path, Self::parse)
    }

    /// All its numbers.
    #[must_use]
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// The unit of time.
    #[must_use]
    pub fn time_unit(&self) -> &str {
        &self.record.time_unit
    }

    /// The servers (S).
    #[must_use]
    pub fn servers(&self) -> &[Server] {
        &self.servers
    }

    /// What arrives.
    #[must_use]
    pub fn jobs(&self) -> &Jobs {
        &self.jobs
    }

    /// The classes (K); none where servers are drawn for each job.
    #[must_use]
    pub fn classes(&self) -> &[Class] {
        match &self.jobs {
            Jobs::Classes(classes) => classes,
            Jobs::Random(_) => &[],
        }
    }

    /// The law of sizes \[work\], of all jobs alike.
    #[must_use]
    pub fn size(&self) -> &Size {
        &self.record.size
    }

    /// λ \[1/time\].
    #[must_use]
    pub fn arrival_rate(&self) -> f64 {
        match &self.jobs {
            Jobs::Classes(classes) => classes.iter().map(|c| c.arrival_rate.value()).sum(),
            Jobs::Random(random) => random.arrival_rate.value(),
        }
    }

    /// μ_s = C_s/σ (S) \[jobs/time\].
    #[must_use]
    pub fn service_rates(&self) -> Vec<f64> {
        let size = self.size().mean();
        let servers = self.servers.iter();
        servers.map(|server| server.rate.value() / size).collect()
    }

    /// Names of what is told apart: the classes, or all jobs.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        match &self.jobs {
            Jobs::Classes(classes) => classes.iter().map(|c| c.name.as_str()).collect(),
            Jobs::Random(_) => vec![ALL_JOBS],
        }
    }

    /// Arrival rates of what is told apart \[1/time\].
    #[must_use]
    pub fn arrival_rates(&self) -> Vec<f64> {
        match &self.jobs {
            Jobs::Classes(classes) => classes.iter().map(|c| c.arrival_rate.value()).collect(),
            Jobs::Random(random) => vec![random.arrival_rate.value()],
        }
    }

    /// Whether statistics tell the classes apart: a table of thousands of them, each in thousands of intervals of time, is
    /// more than the memory that a run may take.
    #[must_use]
    pub fn are_told_apart(&self) -> bool {
        (1..=MOST_TOLD_APART).contains(&self.classes().len())
    }

    /// The classes, as statistics see them, or all jobs as one. The size of a job is the time that it takes alone.
    #[must_use]
    pub fn statistics(&self) -> Vec<simulation::Class> {
        let rates = self.service_rates();
        let alone: Vec<f64> = match &self.jobs {
            Jobs::Classes(classes) => {
                let alone = |c: &Class| c.servers.iter().map(|s| rates[*s]).sum::<f64>();
                classes.iter().map(alone).collect()
            }
            Jobs::Random(random) => vec![f64::from(random.degree) * rates[0]],
        };
        let all = self.arrival_rate();
        if !self.are_told_apart() {
            let times = alone.iter().zip(self.arrival_rates());
            return vec![simulation::Class {
                name: ALL_JOBS.into(),
                arrival_rate: all,
                mean_size: times.map(|(alone, rate)| rate / alone).sum::<f64>() / all,
                scv: self.size().scv(),
                dispersion: 1.0,
                weight: 1.0,
            }];
        }
        let each = self.names().into_iter().zip(self.arrival_rates());
        let class = |((name, arrival_rate), alone): ((&str, f64), f64)| simulation::Class {
            name: name.into(),
            arrival_rate,
            mean_size: 1.0 / alone,
            scv: self.size().scv(),
            dispersion: 1.0,
            weight: arrival_rate / all,
        };
        each.zip(alone).map(class).collect()
    }

    /// The same with all arrival rates times `factor`, a finite number > 0; `None` where one of them leaves the range of
    /// numbers.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Option<Self> {
        let mut record = self.record.clone();
        let arriving = record.classes.iter_mut().map(|own| &mut own.arrival_rate);
        let drawn = record
            .assignment
            .iter_mut()
            .map(|own| &mut own.arrival_rate);
        for rate in arriving.chain(drawn).filter(|rate| **rate > Decimal::ZERO) {
            let scaled = Decimal::new(rate.value() * factor);
            *rate = scaled.filter(|rate| *rate > Decimal::ZERO)?;
        }
        record.check().ok()
    }

    /// The same with other sizes.
    #[must_use]
    pub fn with_sizes(&self, size: Size) -> Self {
        let mut other = self.clone();
        other.record.size = size;
        other
    }

    /// What identifies it.
    #[must_use]
    pub fn digest(&self) -> String {
        digest(&to_yaml(&self.record))
    }
}

/// More classes than this are one for statistics.
const MOST_TOLD_APART: usize = 256;

/// What all jobs are called where servers are drawn for each.
pub const ALL_JOBS: &str = "jobs";
