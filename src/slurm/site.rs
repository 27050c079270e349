//! What is asked of a cluster once: its configuration, and whether it has the partition.

use super::{Nodes, Slurm, SlurmError};

/// A cluster and its controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// Its name.
    pub name: String,
    /// When its controller was started, in Slurm's words: another text is another start.
    pub booted: String,
}

impl Slurm {
    /// Looks whether all is there that is needed: the commands, the controller, the partition, and every column that is
    /// read later. Returns the cluster, and the partition's nodes at that moment.
    ///
    /// # Errors
    /// As [`SlurmError`] has it; a partition or a column that does not exist is named.
    pub fn site(&self) -> Result<(Cluster, Nodes), SlurmError> {
        let cluster = self.cluster()?;
        self.check_partition()?;
        self.titled_queue()?;
        Ok((cluster, self.titled_nodes()?))
    }

    /// Asks for the cluster's name, and since when its controller runs.
    ///
    /// # Errors
    /// As [`SlurmError`] has it.
    pub fn cluster(&self) -> Result<Cluster, SlurmError> {
        let text = self.show(&["show", "config"])?;
        let value = |key: &str| {
            let mut pairs = text.lines().filter_map(|line| line.split_once('='));
            let value = pairs.find(|(name, _)| name.trim() == key);
            let value = value.map(|(_, value)| value.trim().to_owned());
            value.ok_or_else(|| {
                SlurmError::Unusable(format!(
                    "scontrol show config does not tell {key}: see what `scontrol show config` is in PATH"
                ))
            })
        };
        Ok(Cluster {
            name: value("ClusterName")?,
            booted: value("BOOT_TIME")?,
        })
    }

    /// Checks that there is the partition.
    fn check_partition(&self) -> Result<(), SlurmError> {
        let name = &self.partition;
        let text = match self.show(&["show", "partition", name]) {
            Err(SlurmError::Failed { text, .. }) if text.contains("not found") => {
                return Err(self.no_partition(text.trim()));
            }
            shown => shown?,
        };
        let names = text.split_whitespace();
        let mut names = names.filter_map(|word| word.strip_prefix("PartitionName="));
        if names.next() == Some(name) {
            return Ok(());
        }
        Err(self.no_partition("`scontrol show partition` does not show it"))
    }

    fn no_partition(&self, text: &str) -> SlurmError {
        SlurmError::Partition {
            partition: self.partition.clone(),
            text: text.to_owned(),
        }
    }

    /// Returns what `scontrol` shows, as text.
    fn show(&self, words: &[&str]) -> Result<String, SlurmError> {
        let bytes = self.ask("scontrol", words)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}
