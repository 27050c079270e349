//! Why jobs of a cluster cannot be mapped to a policy.

use std::io;
use std::path::PathBuf;

use crate::document::DocumentError;
use crate::slurm::SlurmError;

/// Why jobs and nodes of a cluster cannot be mapped to a policy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TypesError {
    /// The file of types cannot be read.
    #[error("cannot read the types {}: {source}: check the path that --types names", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It has faults, each shown at its place.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// A resource of the policy of which Slurm's name is not known.
    #[error(
        "it is not known what Slurm calls the policy's resource `{name}`: write a file with `resources: {{{name}: gres/{name}}}`, and name it by --types (`cpu`, `mem:G` for memory counted in GiB, `gres/NAME`, or `none` where Slurm does not count it)"
    )]
    Resource {
        /// The resource.
        name: String,
    },
    /// Two types that demand tells nothing apart, so that no job would be of the second.
    #[error(
        "the types `{first}` and `{second}` have one demand, so that demand does not tell their jobs apart: write a file with `types:` that says which jobs are which (`match:` of partition, qos, account, user, name, time_limit or comment), and name it by --types"
    )]
    Alike {
        /// The type that all jobs would be of.
        first: String,
        /// The type that none would be of.
        second: String,
    },
    /// A fleet of which no file says which nodes are its servers.
    #[error(
        "the policy is of a fleet, and no file says which nodes are its servers: write `servers: {{{shape}: [n1, \"n[2-4]\"]}}` with {count} nodes for this shape, and name the file by --types"
    )]
    NoServers {
        /// A shape.
        shape: String,
        /// How many servers have it.
        count: u32,
    },
    /// A node of the file that the partition does not have.
    #[error(
        "node `{node}` of `servers:` is not in the partition: `sinfo -N -p PARTITION` lists those that are"
    )]
    NoNode {
        /// The node.
        node: String,
    },
    /// A policy of one server, and several nodes or none.
    #[error(
        "the policy is of one server, and the partition has {nodes} nodes: make a policy of a fleet, whose document has `servers:`, or take all nodes for one server with --pool: then jobs may wait though the policy starts them, since what is free lies on several nodes"
    )]
    Nodes {
        /// How many nodes.
        nodes: usize,
    },
    /// A node with less than the server that it stands for.
    #[error(
        "{node} has {found} of `{resource}`, and the policy counts on {wanted}: make the policy for what the node has, or say by --types in which unit the policy counts (`resources: {{memory: mem:1000M}}`)"
    )]
    Capacity {
        /// The node, or all nodes together.
        node: String,
        /// The resource of the policy.
        resource: String,
        /// What the node has, as the policy counts it.
        found: String,
        /// What the policy's server has.
        wanted: String,
    },
}

/// Why a bridge does not run, or has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BridgeError {
    /// Jobs and nodes cannot be mapped.
    #[error(transparent)]
    Types(#[from] TypesError),
    /// Slurm does not answer as it should.
    #[error(transparent)]
    Slurm(#[from] SlurmError),
    /// A policy that a bridge cannot carry out.
    #[error("{0}")]
    Unfit(String),
    /// Another bridge runs the partition.
    #[error(
        "another bridge (process {pid}) runs the partition `{partition}` of `{cluster}`: stop it first; {path} is locked"
    )]
    Locked {
        /// Its process.
        pid: String,
        /// The partition.
        partition: String,
        /// The cluster.
        cluster: String,
        /// The file.
        path: String,
    },
    /// The file that keeps others away.
    #[error("cannot lock {path}: {source}; TMPDIR says where such files are kept")]
    Lock {
        /// The file.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// Whoever runs the bridge may not release jobs of others.
    #[error(
        "Slurm does not let this user release job {job}: {text}. Run the bridge as SlurmUser or root, or as an operator (`sacctmgr modify user NAME set adminlevel=operator`)"
    )]
    NoRight {
        /// A job.
        job: String,
        /// Slurm's words.
        text: String,
    },
    /// A journal that cannot be opened.
    #[error("cannot write the journal {path}: {source}; choose another place by --journal")]
    Write {
        /// The file.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// A journal that cannot be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// The file.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// A line that is not of a journal.
    #[error("{path}, line {line}: {message}")]
    Journal {
        /// The file.
        path: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// A journal of other policies.
    #[error("{path} has no decisions of the policy {digest}; it is of {}", .policies.join(", "))]
    OtherPolicy {
        /// The file.
        path: String,
        /// The policy that was given.
        digest: String,
        /// Those that it is of.
        policies: Vec<String>,
    },
    /// The signals of a process.
    #[error("cannot listen to signals: {0}")]
    Signals(io::Error),
}
