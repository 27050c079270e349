//! What is typed to replay a trace.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use crate::kind::{Files, NamesFiles, files};
use crate::multiresource::replay::{Speed, Window};
use crate::number::Decimal;
use crate::number::quantity::explained;
use crate::trace::ReadArgs;
use crate::typed::fraction;

/// Run the jobs of a log again under other rules: the same jobs, to the second
#[derive(Args)]
pub struct Arguments {
    /// The log, plain or packed by gzip (`-`: standard input)
    #[arg(id = "trace", value_name = "LOG")]
    pub file: PathBuf,

    /// Policies, by name (`synth rules` lists them, and the words of names with +) or policy file
    #[arg(long, value_delimiter = ',', required = true, value_name = "P,P,…")]
    pub policies: Vec<String>,

    /// The workload whose types the jobs are, for policy files, and for --demands rounded or known
    #[arg(long, value_name = "FILE")]
    pub workload: Option<PathBuf>,

    /// Speed arrivals up or slow them down to these loads; the load is the most that is demanded of a resource, relative to its
    /// capacity [default: as recorded]
    #[arg(long, value_delimiter = ',', value_parser = fraction, value_name = "ρ,ρ,…")]
    pub loads: Vec<f64>,

    /// By how much faster jobs arrive than they did, such as 5/4; sizes stay
    #[arg(long, value_name = "A/B", conflicts_with = "loads", value_parser = Speed::parse)]
    pub speed: Option<Speed>,

    /// Dead time: how long each job holds its capacity before it runs, in seconds
    #[arg(long, value_name = "TIME", allow_negative_numbers = true, value_parser = start_latency)]
    pub start_latency: Option<Decimal>,

    /// The amounts that jobs hold under rules by name: policy files always know jobs by the types of their workload
    #[arg(long, value_enum, default_value_t = Demands::Exact)]
    pub demands: Demands,

    /// The jobs that are measured: all, or those submitted in a part of the span such as .1,.9 [default: .02,.98]
    #[arg(long, value_name = "PART", value_parser = Window::parse)]
    pub measure: Option<Window>,

    /// How the site is set up, for the rule slurm: its slurm.conf, or a folder with what a login node printed (`synth
    /// advise --help` lists the commands); its nodes are the servers
    #[arg(long, value_name = "FILE|DIR")]
    pub slurm: Option<PathBuf>,

    /// Seed of everything that is drawn
    #[arg(long, default_value = "1")]
    pub seed: u64,

    /// Also write the outcome of each job, as CSV (`-`: to standard output)
    #[arg(long, value_name = "FILE")]
    pub jobs: Option<PathBuf>,

    /// Also write all results as JSON to this file (`-`: to standard output, in place of the table)
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Also write all numbers as CSV, one per line (`-`: to standard output)
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,

    /// Also write a page with the answer in words, tables and pictures (`-`: to standard output)
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,

    #[command(flatten)]
    pub(super) reading: ReadArgs,
}

/// Parses a start latency.
///
/// # Errors
/// When it is no number ≥ 0.
pub fn start_latency(text: &str) -> Result<Decimal, String> {
    match Decimal::parse(text) {
        Ok(latency) if latency >= Decimal::ZERO => Ok(latency),
        Ok(latency) => Err(format!(
            "the start latency is {latency}, expected a number ≥ 0"
        )),
        Err(why) => {
            let help = explained(text, None).unwrap_or_else(|| why.help());
            Err(format!("{why}; {help}"))
        }
    }
}

/// What jobs hold under rules by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Demands {
    /// What they did
    Exact,
    /// What their types in --workload do; an error if over 1 % of the work is of jobs that demand more than every type
    Rounded,
    /// The same, without the jobs that demand more than every type, which are left out for every policy
    Known,
}

impl NamesFiles for Arguments {
    fn files(&self) -> Files<'_> {
        let policies = self.policies.iter().map(Path::new);
        let read = policies
            .chain([&*self.file])
            .chain(self.workload.as_deref());
        let written = [&self.output, &self.csv, &self.html, &self.jobs];
        files(read, written.into_iter().flatten())
    }
}
