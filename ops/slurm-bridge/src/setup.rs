use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use synth_core::artifact::Changes;
use synth_slurm::commands::Hold;
use synth_typed::duration;

#[derive(Args, Clone, Debug)]
pub(crate) struct Setup {
    #[arg(skip)]
    pub policy: PathBuf,

    #[arg(skip)]
    pub changes: Changes,

    /// YAML file that maps jobs to job types and sets the names of resources [default: by demand]
    #[arg(long, value_name = "FILE")]
    pub types: Option<PathBuf>,

    /// Time between polls of the queue
    #[arg(long, value_name = "TIME", default_value = "250ms", value_parser = duration)]
    pub poll: Duration,

    /// Write the observations and decisions to this file, one line of JSON per round
    #[arg(long, value_name = "FILE")]
    pub journal: Option<PathBuf>,

    /// Write metrics to this file in each round (for the textfile collector of node_exporter)
    #[arg(long, value_name = "FILE")]
    pub metrics: Option<PathBuf>,

    /// Print the waiting jobs and the jobs that would be released now, and exit.
    ///
    /// No jobs are released
    #[arg(long)]
    pub dry_run: bool,

    /// What to do with held jobs when the bridge exits
    #[arg(long, value_enum, default_value_t = OnExit::Hold)]
    pub on_exit: OnExit,

    /// Whether jobs can be released by their owners or only by operators
    #[arg(long, value_enum, default_value_t = HoldBy::User)]
    pub hold: HoldBy,

    /// What to do with held jobs that do not fit any type of the policy
    #[arg(long, value_enum, default_value_t = Unknown::Pass)]
    pub unknown: Unknown,

    /// Treat all nodes of the partition as a single server.
    ///
    /// A job may then have to wait after it was started, because the free capacity can be on
    /// several nodes
    #[arg(long)]
    pub pool: bool,

    /// Do not release any jobs for this time after the controller was restarted
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub settle: Duration,

    /// Exit after this time
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub until: Option<Duration>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnExit {
    /// Hold them until a bridge is started again
    Hold,
    /// Release them
    Release,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum HoldBy {
    /// Jobs are held in the same way as at submission, so they can also be released by their owners
    User,
    /// New jobs are held by an operator, so they cannot be released by their owners
    Admin,
}

impl HoldBy {
    /// Returns `true` if a job that is held in this way is waiting for the policy.
    pub(crate) fn covers(self, hold: Hold) -> bool {
        hold == Hold::User || self == HoldBy::Admin && hold == Hold::Admin
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Unknown {
    /// Release them immediately. The resources that they use are not available to the policy
    Pass,
    /// Do not release them
    Hold,
}
