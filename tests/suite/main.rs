//! All integration tests but the house's own, as one program: it is linked once.
#![allow(clippy::unwrap_used, clippy::panic)]

mod bridge;
mod checker;
mod checker_mutations;
mod claims;
mod cli;
mod cluster;
mod common;
mod compare;
mod compatibility;
mod configuration;
mod conformance;
mod dependence;
mod docs;
mod exact;
mod fake_slurm;
mod families;
mod figures;
mod fleet;
mod gangs;
mod golden;
mod hostile;
#[path = "../../benches/instances/mod.rs"]
mod instances;
mod judge;
mod kubernetes;
mod live;
mod malleable;
mod msfq;
mod order;
mod own;
mod pooled;
mod priority;
mod reference;
mod replay;
mod same_numbers;
mod schema;
mod shards;
#[path = "../../examples/slurm_site/site.rs"]
mod site;
mod slurm;
mod trust;
mod typed;
mod upgrades;
mod volunteer;
mod whole_log;
