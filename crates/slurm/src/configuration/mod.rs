//! How a cluster is set up, from the texts in which Slurm says it.

mod site;

pub use site::{Association, Node, Partition, Priority, Qos, Scheduler, Site, Tres, Weights};
