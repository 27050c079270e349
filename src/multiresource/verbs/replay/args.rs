use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::multiresource::replay::{Speed, Window};
use crate::number::Decimal;
use crate::number::quantity::explained;
use crate::typed::fraction;
use synth_slurm::SiteArgs;

/// Replay a log under other policies, with the same jobs and times
#[derive(Args)]
pub(crate) struct Arguments {
    /// The log, which may be gzipped (`-`: standard input)
    #[arg(id = "trace", value_name = "LOG")]
    pub file: PathBuf,

    /// Names of rules (see `synth rules`) or paths to policy files
    #[arg(long, value_delimiter = ',', required = true, value_name = "P,P,…")]
    pub policies: Vec<String>,

    /// The workload with the job types
    ///
    /// It is required for policy files and for `--demands rounded` or `known`
    #[arg(long, value_name = "FILE")]
    pub workload: Option<PathBuf>,

    /// Scale the arrival times to this load [default: as in the log]
    ///
    /// The load is that of the most used resource, as a fraction of its capacity
    #[arg(long, value_delimiter = ',', value_parser = fraction, value_name = "ρ,ρ,…")]
    pub loads: Vec<f64>,

    /// Let the same jobs arrive faster by this factor, such as 5/4
    #[arg(long, value_name = "A/B", conflicts_with = "loads", value_parser = Speed::parse)]
    pub speed: Option<Speed>,

    /// The start latency in seconds: a job holds its capacity but does not run
    #[arg(long, value_name = "TIME", allow_negative_numbers = true, value_parser = start_latency)]
    pub start_latency: Option<Decimal>,

    /// The amount of each resource that is held by a job for a rule.
    ///
    /// For policy files, this always depends on the job type
    #[arg(long, value_enum, default_value_t = Demands::Exact)]
    pub demands: Demands,

    /// The jobs in the results: all, or a part [default: 0.02,0.98]
    ///
    /// A part such as 0.1,0.9 means the jobs that were submitted in this part of the time span
    #[arg(long, value_name = "PART", value_parser = Window::parse)]
    pub measure: Option<Window>,

    /// The seed for all random numbers
    #[arg(long, default_value = "1")]
    pub seed: u64,

    /// Also write the result of each job to this file as CSV
    #[arg(long, value_name = "FILE")]
    pub jobs: Option<PathBuf>,

    /// Also write all results to this file as JSON (`-`: standard output)
    ///
    /// On the standard output, it replaces the table
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Also write all numbers to this file as CSV, one per line
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,

    /// Also write an HTML page with charts to this file
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,

    #[command(flatten)]
    pub(super) site: SiteArgs,
}

pub(crate) fn start_latency(text: &str) -> Result<Decimal, String> {
    match Decimal::parse(text) {
        Ok(latency) if latency >= Decimal::ZERO => Ok(latency),
        Ok(latency) => Err(format!(
            "the start latency is {latency}, expected a number ≥ 0"
        )),
        Err(why) => {
            let help = explained(text, None).unwrap_or_else(|| why.help.clone());
            Err(format!("{why}; {help}"))
        }
    }
}

/// The amount of each resource that is held by a job, for rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Demands {
    /// Use the amounts in the log
    Exact,
    /// Use the demand of the job type in `--workload`. It is an error if more than 1 % of the work
    /// does not fit into any type
    Rounded,
    /// The same as rounded, but jobs that do not fit into any type are ignored for all policies
    Known,
}
