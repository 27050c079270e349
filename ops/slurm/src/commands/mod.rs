//! This module reads the state of a Slurm cluster and controls its jobs by the commands of Slurm.
//!
//! The state is printed as text with columns of fixed width in bytes (`squeue -O NAME:WIDTH`). If a
//! name contains blanks, bars or line feeds, the other columns are therefore still found, and no
//! text that is chosen by a user is long enough to look like a row. A full column may have been
//! truncated, so the row is rejected if the exact value is needed. The option `--json` is not used
//! because its structure differs between versions. The columns are printed by the same code in all
//! versions from 22.05 to 26.05 (`src/squeue/print.c`, `src/sinfo/print.c`).
//!
//! [`Slurm`] runs each command with a time limit, and returns either a complete answer or a
//! [`SlurmError`]. The rows that cannot be parsed are counted in [`Unread`] and are never guessed.
//! Times are requested in UTC, so they are not ambiguous when the clocks change.

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

pub use actions::{ActionRefusal, RefusalKind};
pub(crate) use amounts::{bytes, count, gres_of_node, seconds, whole};
pub use columns::{ColumnTable, Unread};
pub use error::SlurmError;
pub(crate) use export::EXPORT_COMMANDS;
pub use export::{Exported, Text, Texts};
pub use hostlist::{expand, is_plain};
pub use id::{JobId, JobKey};
pub use nodes::{NodeRow, NodeState, Nodes};
pub use queue::{Hold, JobState, QueueRow, SlurmQueue};

use std::path::PathBuf;
use std::time::Duration;

/// The name of a cluster and the start time of its controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlurmCluster {
    /// The cluster name.
    pub name: String,
    /// The start time of the controller as printed by Slurm.
    pub booted: String,
}

/// Runs the Slurm commands in the `PATH` for a partition of the cluster of `SLURM_CONF`.
#[derive(Clone, Debug)]
pub struct Slurm {
    /// The partition.
    pub partition: String,
    /// The time limit of a command. If jobs are released, 0.1 s is added for each job.
    pub limit: Duration,
    /// A folder that is searched before the `PATH`.
    pub programs: Option<PathBuf>,
    /// The configuration file that is used instead of `SLURM_CONF`.
    pub configuration: Option<PathBuf>,
}

impl Slurm {
    /// Creates a value that uses the commands in the `PATH` with a time limit of 10 s.
    pub fn new(partition: impl Into<String>) -> Self {
        Slurm {
            partition: partition.into(),
            limit: Duration::from_secs(10),
            programs: None,
            configuration: None,
        }
    }

    /// Returns the cluster and the current nodes of the partition. This checks that the commands,
    /// the controller, the partition and the columns are available.
    ///
    /// # Errors
    /// If a command fails, or if the partition or a column does not exist.
    pub fn site(&self) -> Result<(SlurmCluster, Nodes), SlurmError> {
        let cluster = self.cluster()?;
        self.check_partition()?;
        self.print(&queue::LAYOUT, true)?;
        let nodes = self.print(&nodes::LAYOUT, true)?;
        Ok((cluster, Nodes::parse(&nodes)))
    }

    /// Returns the cluster name and the start time of its controller.
    pub fn cluster(&self) -> Result<SlurmCluster, SlurmError> {
        let text = self.ask_text("scontrol", &["show", "config"])?;
        let value = |key: &str| {
            let mut pairs = text.lines().filter_map(|line| line.split_once('='));
            let value = pairs.find(|(name, _)| name.trim() == key);
            value.map(|(_, value)| value.trim().to_owned()).ok_or_else(|| {
                SlurmError::Unusable(format!(
                    "`scontrol show config` does not print {key}: check which `scontrol` is in PATH"
                ))
            })
        };
        Ok(SlurmCluster {
            name: value("ClusterName")?,
            booted: value("BOOT_TIME")?,
        })
    }

    fn check_partition(&self) -> Result<(), SlurmError> {
        let name = &self.partition;
        let missing = |text: &str| {
            SlurmError::Unusable(format!(
                "Slurm has no partition `{name}`: {text}. `sinfo -s` lists the partitions"
            ))
        };
        let text = match self.ask_text("scontrol", &["show", "partition", name]) {
            Err(SlurmError::Failed { text, .. }) if text.contains("not found") => {
                return Err(missing(text.trim()));
            }
            shown => shown?,
        };
        let mut words = text.split_whitespace();
        match words.find_map(|word| word.strip_prefix("PartitionName=")) {
            Some(found) if found == name => Ok(()),
            _ => Err(missing("`scontrol show partition` does not show it")),
        }
    }
}
