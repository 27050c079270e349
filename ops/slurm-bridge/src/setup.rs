//! How a bridge is run, as it is typed.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use synth_core::artifact::Changes;
use synth_typed::duration;

/// How a bridge is run.
#[derive(Args, Clone, Debug)]
pub(crate) struct Setup {
    /// The policy file.
    #[arg(skip)]
    pub policy: PathBuf,

    /// What becomes of a policy that was changed after it was written.
    #[arg(skip)]
    pub changes: Changes,

    /// Which jobs are of which type, and what Slurm calls the policy's resources: a YAML file [default: by demand]
    #[arg(long, value_name = "FILE")]
    pub types: Option<PathBuf>,

    /// Time between looks at the queue
    #[arg(long, value_name = "TIME", default_value = "250ms", value_parser = duration)]
    pub poll: Duration,

    /// Write what is read and decided to this file, a line of JSON a round
    #[arg(long, value_name = "FILE")]
    pub journal: Option<PathBuf>,

    /// Write what is seen and counted to this file in each round, for Prometheus (node_exporter's textfile collector)
    #[arg(long, value_name = "FILE")]
    pub metrics: Option<PathBuf>,

    /// Look once, say what waits and what would be released now, and end: nothing is released
    #[arg(long)]
    pub dry_run: bool,

    /// What becomes of held jobs in the end
    #[arg(long, value_enum, default_value_t = OnExit::Hold)]
    pub on_exit: OnExit,

    /// Who may release a job besides: its owner, or operators only
    #[arg(long, value_enum, default_value_t = HoldBy::User)]
    pub hold: HoldBy,

    /// What becomes of held jobs that no type of the policy holds
    #[arg(long, value_enum, default_value_t = Unknown::Pass)]
    pub unknown: Unknown,

    /// Take all nodes of the partition for one server: what is free may then lie on several, and started jobs wait
    #[arg(long)]
    pub pool: bool,

    /// Release nothing for this time after the controller was started anew
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub settle: Duration,

    /// End after this time
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub until: Option<Duration>,
}

/// What becomes of held jobs in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnExit {
    /// All stays as it is: jobs wait until a bridge runs again
    Hold,
    /// They are released
    Release,
}

/// Who may release a job besides the bridge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum HoldBy {
    /// Jobs stay held as they were submitted: their owners can release them
    User,
    /// An operator holds them at first sight
    Admin,
}

/// What becomes of held jobs that have no type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Unknown {
    /// They are released at once; what they use is not the policy's
    Pass,
    /// They stay held
    Hold,
}
