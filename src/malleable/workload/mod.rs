//! Jobs that may run on any number of servers.

mod check;
mod document;
mod speedup;
#[cfg(test)]
mod tests;

pub use document::{JobRecord, Record, SizesRecord};
pub use speedup::{Curve, Speedup, SpeedupRecord};

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::{DocumentError, Parsed, digest, read_file, to_yaml};

/// What is to be small; T_i is the time at which job i ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Objective {
    /// Σ T_i.
    #[default]
    FlowTime,
    /// Σ w_i T_i.
    WeightedFlowTime,
    /// Σ T_i/x_i.
    Slowdown,
    /// max T_i.
    Makespan,
}

/// A checked workload.
#[derive(Clone, Debug, PartialEq)]
pub struct Pool {
    record: Record,
    curves: Vec<Curve>,
    jobs: Vec<Job>,
}

/// A job that is present at the start.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// Its name.
    pub name: String,
    /// x_i \[work\], > 0.
    pub size: f64,
    /// w_i of the objective, > 0: 1 for flow time and makespan, 1/x_i for slowdown.
    pub weight: f64,
    /// Its place among the [curves](Pool::curves).
    pub curve: usize,
}

impl Pool {
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

    /// The digest of all its numbers.
    #[must_use]
    pub fn digest(&self) -> String {
        digest(&to_yaml(&self.record))
    }

    /// The unit of time.
    #[must_use]
    pub fn time_unit(&self) -> &str {
        &self.record.time_unit
    }

    /// N, > 0.
    #[must_use]
    pub fn servers(&self) -> f64 {
        self.record.servers.value()
    }

    /// What is to be small.
    #[must_use]
    pub fn objective(&self) -> Objective {
        self.record.objective
    }

    /// The jobs, at least one, in the order of the document.
    #[must_use]
    pub fn jobs(&self) -> &[Job] {
        &self.jobs
    }

    /// The curves of the jobs, each once.
    #[must_use]
    pub fn curves(&self) -> &[Curve] {
        &self.curves
    }

    /// Places of the jobs from the largest on; of equal ones the lighter goes first, then the earlier.
    #[must_use]
    pub fn by_size(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.jobs.len()).collect();
        let key = |i: &usize| (&self.jobs[*i].size, &self.jobs[*i].weight);
        order.sort_by(|i, j| {
            let ((x, v), (y, w)) = (key(i), key(j));
            y.total_cmp(x).then(v.total_cmp(w))
        });
        order
    }
}
