//! Why jobs of a cluster cannot be mapped to a policy.

use std::io;
use std::path::PathBuf;

use crate::document::DocumentError;

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
