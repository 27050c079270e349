//! What is asked of a cluster once: its version, its partition, its configuration.

use super::{Nodes, Queue, Slurm, SlurmError, expand};

/// What a cluster was found to be.
#[derive(Clone, Debug)]
pub struct Site {
    /// What `scontrol --version` says.
    pub version: String,
    /// The cluster, and since when its controller runs.
    pub cluster: Cluster,
    /// The partition.
    pub partition: Partition,
    /// Its queue at that moment.
    pub queue: Queue,
    /// Its nodes at that moment.
    pub nodes: Nodes,
}

/// A cluster and its controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// Its name.
    pub name: String,
    /// When its controller was started, in Slurm's words: another text is another start.
    pub booted: String,
}

/// A partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// Its name.
    pub name: String,
    /// Whether jobs start in it (`State=UP`).
    pub is_up: bool,
    /// Its state in Slurm's words.
    pub state: String,
    /// The nodes that it has.
    pub nodes: Vec<String>,
}

impl Slurm {
    /// Looks whether all is there that is needed: the commands, the controller, the partition, and every column that is
    /// read later.
    ///
    /// # Errors
    /// As [`SlurmError`] has it; a partition or a column that does not exist is named.
    pub fn site(&self) -> Result<Site, SlurmError> {
        let version = self.ask("scontrol", &["--version"])?;
        Ok(Site {
            version: String::from_utf8_lossy(&version).trim().to_owned(),
            cluster: self.cluster()?,
            partition: self.partition()?,
            queue: self.titled_queue()?,
            nodes: self.titled_nodes()?,
        })
    }

    /// Asks for the cluster's name, and since when its controller runs.
    ///
    /// # Errors
    /// As [`SlurmError`] has it.
    pub fn cluster(&self) -> Result<Cluster, SlurmError> {
        let text = self.show(&["show", "config"])?;
        let lacks = |missing| SlurmError::Answer {
            program: "scontrol show config".into(),
            missing,
        };
        let value = |key: &str| {
            let mut pairs = text.lines().filter_map(|line| line.split_once('='));
            let value = pairs.find(|(name, _)| name.trim() == key);
            value.map(|(_, value)| value.trim().to_owned())
        };
        Ok(Cluster {
            name: value("ClusterName").ok_or_else(|| lacks("ClusterName"))?,
            booted: value("BOOT_TIME").ok_or_else(|| lacks("BOOT_TIME"))?,
        })
    }

    /// Asks for the partition.
    ///
    /// # Errors
    /// As [`SlurmError`] has it; it may not exist.
    pub fn partition(&self) -> Result<Partition, SlurmError> {
        let name = &self.partition;
        let text = match self.show(&["show", "partition", name]) {
            Err(SlurmError::Failed { text, .. }) if text.contains("not found") => {
                return Err(self.no_partition(text.trim()));
            }
            shown => shown?,
        };
        let value = |key: &str| {
            let pairs = text
                .split_whitespace()
                .filter_map(|word| word.split_once('='));
            let mut values = pairs.filter(|(found, _)| *found == key);
            values.next().map(|(_, value)| value)
        };
        if value("PartitionName") != Some(name) {
            return Err(self.no_partition("`scontrol show partition` does not show it"));
        }
        let lacks = |missing| SlurmError::Answer {
            program: format!("scontrol show partition {name}"),
            missing,
        };
        let state = value("State").ok_or_else(|| lacks("State"))?;
        let nodes = value("Nodes").ok_or_else(|| lacks("Nodes"))?;
        let nodes = match nodes {
            "(null)" => Some(Vec::new()),
            list => expand(list),
        };
        Ok(Partition {
            name: name.clone(),
            is_up: state == "UP",
            state: state.to_owned(),
            nodes: nodes.ok_or_else(|| lacks("its nodes as a list"))?,
        })
    }

    fn no_partition(&self, text: &str) -> SlurmError {
        SlurmError::Partition {
            partition: self.partition.clone(),
            text: text.to_owned(),
        }
    }

    /// What `scontrol` shows, as text.
    fn show(&self, words: &[&str]) -> Result<String, SlurmError> {
        let bytes = self.ask("scontrol", words)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}
