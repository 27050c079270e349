//! What is typed to replay a trace.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::artifact::Changes;
use crate::kind::{Files, NamesFiles};
use crate::multiresource::replay::{Speed, Window};
use crate::multiresource::workload::Fleet;
use crate::number::Decimal;
use crate::simulation::Settings;
use crate::trace::ReadOptions;
use crate::typed::duration;

/// A trace, and how it is replayed.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Replay of a trace")]
pub struct TraceArgs {
    /// Replay the jobs of this trace instead of drawing some (`-`: from standard input; .gz is read as it is)
    #[arg(id = "trace", long = "trace", value_name = "FILE")]
    pub file: Option<PathBuf>,

    /// By how much faster jobs come than they did, such as 5/4; sizes stay
    #[arg(long, value_name = "A/B", requires = "trace", value_parser = Speed::parse)]
    pub speed: Option<Speed>,

    /// What jobs hold under rules by name: policy files always know jobs by the types of their workload
    #[arg(long, requires = "trace", value_enum, default_value_t = Demands::Exact)]
    pub demands: Demands,

    /// Leave out jobs that demand more than every type, for every policy, also where they are over 1 % of the work
    #[arg(long, requires = "trace")]
    pub unknown_out: bool,

    /// Of which jobs measures are: all, or those submitted in a part of the span such as .1,.9 [default: .02,.98]
    #[arg(long, value_name = "PART", requires = "trace", value_parser = Window::parse)]
    pub measure: Option<Window>,

    /// With --trace: where to write what came of each job, as CSV (`-`: to standard output). Without: recorded jobs to
    /// run once under --policy of `simulate`, a table with the columns type, arrival and size in the policy's time
    /// unit, as `synth bridge --replay … --jobs` writes them (`-`: from standard input)
    #[arg(long, value_name = "FILE")]
    pub jobs: Option<PathBuf>,

    /// Also write how many wait and run over time, as CSV (`-`: to standard output)
    #[arg(long, value_name = "FILE", requires = "trace")]
    pub series: Option<PathBuf>,

    /// Length of a step of the series, such as 1h; a millionth of the span at least [default: a 500th of it]
    #[arg(long, value_name = "TIME", requires = "series", value_parser = duration)]
    pub step: Option<Duration>,

    /// How the site is set up, for the rule slurm: its slurm.conf, or a folder with what a login node printed (`synth
    /// advise slurm --help` lists the commands); its nodes are the servers
    #[arg(long, value_name = "FILE|DIR", requires = "trace")]
    pub slurm: Option<PathBuf>,

    #[command(flatten)]
    pub(super) reading: ReadOptions,
}

/// What jobs hold under rules by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Demands {
    /// What they did
    Exact,
    /// What their types in --workload do
    Rounded,
}

/// A trace, policies, and how they are run.
pub struct Replaying<'a> {
    /// The trace, and how it is read, measured and replayed.
    pub trace: &'a TraceArgs,
    /// The workload whose types its jobs are, where there is one.
    pub workload: Option<&'a Fleet>,
    /// Rules by name, or policy files.
    pub policies: &'a [String],
    /// Jobs come so fast that the load is each of these; without any at the speed that was typed.
    pub loads: &'a [f64],
    /// How long each job holds its room before it runs \[s\], ≥ 0.
    pub start_latency: Option<Decimal>,
    /// Whether whole weeks are drawn, too.
    pub resample: bool,
    /// What becomes of policy files that were changed after they were written.
    pub changes: Changes,
    /// Seed of all that is drawn; and its interrupt ends the replay with what it has.
    pub settings: &'a Settings,
}

impl NamesFiles for TraceArgs {
    fn files(&self) -> Files<'_> {
        let mut read = Vec::from_iter(self.file.as_deref());
        let mut written = Vec::from_iter(self.series.as_deref());
        // Without a trace these are recorded jobs.
        let jobs = match self.file {
            Some(_) => &mut written,
            None => &mut read,
        };
        jobs.extend(self.jobs.as_deref());
        (read, written)
    }
}
