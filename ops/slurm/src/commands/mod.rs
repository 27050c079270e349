//! A real Slurm, queried and controlled by its own commands.
//!
//! # Theory
//! What a cluster does is read as text of fixed widths (`squeue -O NAME:WIDTH`): of every column as many bytes as
//! were requested, whatever stands in it. So a name with blanks, bars or ends of lines moves nothing, and no text that
//! a user can choose is as long as the columns before it, so that none can pose as a job. A column that is full may be
//! cut: where it matters, its job is not understood. Text and not `--json`, whose shapes change with versions; the
//! functions that print these columns are the same from 22.05 to 26.05 (`src/squeue/print.c`, `src/sinfo/print.c`).
//!
//! # Practice
//! [`Slurm`] runs the commands, each with a time limit. An answer is whole or an error ([`SlurmError`]): nothing follows
//! from a command that failed. What of an answer is not understood is counted ([`Unread`]), never guessed.
//! Times are requested in UTC, so that no hour comes twice. Nothing here knows policies.

mod actions;
mod amounts;
mod columns;
mod command;
mod error;
mod export;
mod hostlist;
mod id;
mod nodes;
mod queue;

#[cfg(test)]
pub(crate) mod tests;

pub use actions::{ActionRefusal, Why};
pub(crate) use amounts::{bytes, count, gres_of_node, seconds, whole};
pub use columns::{ColumnTable, Unread};
pub use error::SlurmError;
pub(crate) use export::QUESTIONS;
pub use export::{Exported, Text, Texts};
pub use hostlist::{expand, is_plain};
pub use id::{JobId, Key};
pub use nodes::{NodeRow, NodeState, Nodes};
pub use queue::{Hold, JobState, QueueRow, SlurmQueue};

use std::path::PathBuf;
use std::time::Duration;

/// A cluster and its controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlurmCluster {
    /// Its name.
    pub name: String,
    /// When its controller was started, in Slurm's words: another text is another start.
    pub booted: String,
}

/// The commands of Slurm for one partition. They are found by `PATH`, and find their cluster by `SLURM_CONF`.
#[derive(Clone, Debug)]
pub struct Slurm {
    /// The partition that is queried.
    pub partition: String,
    /// How long a command may take; releases get a tenth of a second a job besides.
    pub limit: Duration,
    /// A folder where commands are looked for first.
    pub programs: Option<PathBuf>,
    /// The file that names the cluster, instead of what `SLURM_CONF` says.
    pub configuration: Option<PathBuf>,
}

impl Slurm {
    /// How long a command may take if nothing else is said.
    pub const LIMIT: Duration = Duration::from_secs(10);

    /// Returns the commands found by `PATH`, with the usual limit.
    pub fn new(partition: impl Into<String>) -> Self {
        Slurm {
            partition: partition.into(),
            limit: Slurm::LIMIT,
            programs: None,
            configuration: None,
        }
    }

    /// Looks whether all is there that is needed: the commands, the controller, the partition, and every column that is
    /// read later. Returns the cluster, and the partition's nodes at that moment.
    ///
    /// # Errors
    /// As [`SlurmError`] has it; a partition or a column that does not exist is named.
    pub fn site(&self) -> Result<(SlurmCluster, Nodes), SlurmError> {
        let cluster = self.cluster()?;
        self.check_partition()?;
        self.print(&queue::LAYOUT, true)?;
        let nodes = self.print(&nodes::LAYOUT, true)?;
        Ok((cluster, Nodes::parse(&nodes)))
    }

    /// Asks for the cluster's name, and since when its controller runs.
    ///
    /// # Errors
    /// As [`SlurmError`] has it.
    pub fn cluster(&self) -> Result<SlurmCluster, SlurmError> {
        let text = self.told("scontrol", &["show", "config"])?;
        let value = |key: &str| {
            let mut pairs = text.lines().filter_map(|line| line.split_once('='));
            let value = pairs.find(|(name, _)| name.trim() == key);
            value.map(|(_, value)| value.trim().to_owned()).ok_or_else(|| {
                SlurmError::Unusable(format!(
                    "scontrol show config does not tell {key}: see what `scontrol show config` is in PATH"
                ))
            })
        };
        Ok(SlurmCluster {
            name: value("ClusterName")?,
            booted: value("BOOT_TIME")?,
        })
    }

    /// Checks that there is the partition.
    fn check_partition(&self) -> Result<(), SlurmError> {
        let name = &self.partition;
        let missing = |text: &str| {
            SlurmError::Unusable(format!(
                "Slurm has no partition `{name}`: {text}. `sinfo -s` lists them"
            ))
        };
        let text = match self.told("scontrol", &["show", "partition", name]) {
            Err(SlurmError::Failed { text, .. }) if text.contains("not found") => {
                return Err(missing(text.trim()));
            }
            shown => shown?,
        };
        let words = text.split_whitespace();
        let mut names = words.filter_map(|word| word.strip_prefix("PartitionName="));
        let is_there = names.next() == Some(name);
        let unseen = || missing("`scontrol show partition` does not show it");
        is_there.then_some(()).ok_or_else(unseen)
    }
}
