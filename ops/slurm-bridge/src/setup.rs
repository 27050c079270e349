//! Options of a bridge.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use synth_core::artifact::Changes;
use synth_typed::duration;

#[derive(Args, Clone, Debug)]
pub(crate) struct Setup {
    #[arg(skip)]
    pub policy: PathBuf,

    #[arg(skip)]
    pub changes: Changes,

    /// YAML file that maps jobs to job types and names the policy's resources in Slurm [default: by
    /// demand]
    #[arg(long, value_name = "FILE")]
    pub types: Option<PathBuf>,

    /// Time between polls of the queue
    #[arg(long, value_name = "TIME", default_value = "250ms", value_parser = duration)]
    pub poll: Duration,

    /// Record observations and decisions in this file, one line of JSON per round
    #[arg(long, value_name = "FILE")]
    pub journal: Option<PathBuf>,

    /// Write metrics to this file in each round, for Prometheus (node_exporter's textfile
    /// collector)
    #[arg(long, value_name = "FILE")]
    pub metrics: Option<PathBuf>,

    /// Print the waiting jobs and the jobs that would be released now, and exit without releasing
    /// anything
    #[arg(long)]
    pub dry_run: bool,

    /// What to do with held jobs on exit
    #[arg(long, value_enum, default_value_t = OnExit::Hold)]
    pub on_exit: OnExit,

    /// Whether jobs can also be released by their owners, or only by operators
    #[arg(long, value_enum, default_value_t = HoldBy::User)]
    pub hold: HoldBy,

    /// What to do with held jobs that fit no type of the policy
    #[arg(long, value_enum, default_value_t = Unknown::Pass)]
    pub unknown: Unknown,

    /// Treat all nodes of the partition as a single server. Jobs may then have to wait after they
    /// are started, because the free capacity can be on several nodes
    #[arg(long)]
    pub pool: bool,

    /// Release nothing for this time after a restart of the controller
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub settle: Duration,

    /// Exit after this time
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub until: Option<Duration>,
}

/// What to do with held jobs on exit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnExit {
    /// Leave them held until a bridge runs again
    Hold,
    /// Release them
    Release,
}

/// Who can release jobs in addition to the bridge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum HoldBy {
    /// Jobs stay held as they were submitted, so that they can also be released by their owners
    User,
    /// New jobs are held by an operator, so that their owners cannot release them
    Admin,
}

/// What to do with held jobs without a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Unknown {
    /// Release them immediately; the resources they use are not available to the policy
    Pass,
    /// Keep them held
    Hold,
}
