use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use crate::kind::{Files, NamesFiles, files};
use crate::multiresource::replay::{Speed, Window};
use crate::number::Decimal;
use crate::number::quantity::explained;
use crate::trace::ReadArgs;
use crate::typed::fraction;

/// Replay the jobs of a log under other policies: the same jobs at the same times
#[derive(Args)]
pub struct Arguments {
    /// The log, plain or gzip-compressed (`-`: standard input)
    #[arg(id = "trace", value_name = "LOG")]
    pub file: PathBuf,

    /// Policies: rule names (see `synth rules`) or policy files
    #[arg(long, value_delimiter = ',', required = true, value_name = "P,P,…")]
    pub policies: Vec<String>,

    /// The workload that defines the job types, for policy files and --demands rounded or known
    #[arg(long, value_name = "FILE")]
    pub workload: Option<PathBuf>,

    /// Scale the arrival times so that the load of the most demanded resource, relative to its
    /// capacity, is this [default: as recorded]
    #[arg(long, value_delimiter = ',', value_parser = fraction, value_name = "ρ,ρ,…")]
    pub loads: Vec<f64>,

    /// How many times as fast jobs arrive, such as 5/4; sizes stay the same
    #[arg(long, value_name = "A/B", conflicts_with = "loads", value_parser = Speed::parse)]
    pub speed: Option<Speed>,

    /// Start latency: how long each job holds its capacity before it runs, in seconds
    #[arg(long, value_name = "TIME", allow_negative_numbers = true, value_parser = start_latency)]
    pub start_latency: Option<Decimal>,

    /// The amounts that jobs hold under named rules; policy files always use job types
    #[arg(long, value_enum, default_value_t = Demands::Exact)]
    pub demands: Demands,

    /// The jobs to measure: all, or those submitted in a part of the time span such as 0.1,0.9
    /// [default: 0.02,0.98]
    #[arg(long, value_name = "PART", value_parser = Window::parse)]
    pub measure: Option<Window>,

    /// The site's configuration for the rule slurm: its slurm.conf, or a folder with the output of
    /// the commands that `synth advise --help` lists; its nodes are the servers
    #[arg(long, value_name = "FILE|DIR")]
    pub slurm: Option<PathBuf>,

    /// Seed of all random numbers
    #[arg(long, default_value = "1")]
    pub seed: u64,

    /// Also write the outcome of each job as CSV (`-`: standard output)
    #[arg(long, value_name = "FILE")]
    pub jobs: Option<PathBuf>,

    /// Also write all results as JSON to this file (`-`: to standard output, in place of the table)
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Also write all numbers as CSV, one per line (`-`: to standard output)
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,

    /// Also write an HTML page with the answer, tables and charts (`-`: to standard output)
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,

    #[command(flatten)]
    pub(super) reading: ReadArgs,
}

/// Parses a start latency, a number ≥ 0.
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

/// The amounts that jobs hold under named rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Demands {
    /// The recorded amounts
    Exact,
    /// The demands of their types in --workload; at most 1 % of the work may fit into no type
    Rounded,
    /// As rounded, but jobs that demand more than every type are left out for all policies
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
