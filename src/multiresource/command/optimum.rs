//! What no policy can beat.

use std::path::{Path, PathBuf};

use clap::Args;

use super::{progress, server_of};
use crate::kind::{Caller, Files, NamesFiles, OwnVerb, VerbOutput, VerbResult, json};
use crate::multiresource::artifact::{Objective, Preemption};
use crate::multiresource::optimum::{Limits, Problem};
use crate::multiresource::report;
use crate::multiresource::verbs::{self, Asking};
use crate::simulation::Settings;
use crate::typed::{Budget, WorkloadFile, count, load, part, positive, seconds, time};

/// What is typed.
#[derive(Args)]
#[command(after_help = ABOUT)]
pub struct Arguments {
    #[command(flatten)]
    workload: WorkloadFile,

    /// Scale its arrival rates to this load ρ, as a fraction of what any policy can serve
    #[arg(long, value_parser = load, allow_negative_numbers = true, value_name = "ρ")]
    load: Option<f64>,

    /// What may happen to a running job: nothing, or that it waits again, at no cost or after a setup
    #[arg(long, value_enum, default_value = "none")]
    preemption: Preemption,

    /// γ, the rate of setups [1/time unit]; needed with `--preemption setup`
    #[arg(long, value_name = "γ", value_parser = positive, allow_negative_numbers = true, required_if_eq("preemption", "setup"))]
    setup_rate: Option<f64>,

    /// What is least: the mean response time, or that weighted by load
    #[arg(long, value_enum, default_value = "mean")]
    objective: Objective,

    /// Relative distance between the bounds at which to stop
    #[arg(long, default_value = "0.5%", value_parser = part)]
    tolerance: f64,

    /// Also measure these policies, by name (`synth rules` lists them) or policy file
    #[arg(long, value_delimiter = ',', value_name = "P,P,…")]
    policies: Vec<String>,

    /// States of the dynamic program at most, 20 bytes each; what begins with more is refused
    #[arg(long, default_value = "2e7", value_parser = count)]
    states: u64,

    /// Seconds, or such as 10min, for the dynamic program; after that the bounds are printed as they are
    #[arg(long, value_name = "TIME", default_value = "300", value_parser = time)]
    time_limit: f64,

    #[command(flatten)]
    budget: Budget,

    /// Also write all results as JSON to this file (`-`: to standard output, in place of the table)
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

const ABOUT: &str = "\
The workload has Poisson arrivals and exponential sizes, on a system so small that schedules times waiting jobs of each type \
are few, or with preemption the numbers of jobs (see --states).";

/// Events per policy, by default.
const EVENTS: u64 = 50_000_000;

impl NamesFiles for Arguments {
    fn files(&self) -> Files<'_> {
        let policies = self.policies.iter().map(Path::new);
        let read = policies.chain(self.workload.typed()).collect();
        (read, self.output.iter().map(PathBuf::as_path).collect())
    }
}

impl OwnVerb for Arguments {
    fn run(&self, caller: &mut Caller<'_>) -> VerbResult<VerbOutput> {
        if self.setup_rate.is_some() && self.preemption != Preemption::Setup {
            return Err("--setup-rate goes with --preemption setup".into());
        }
        let workload = server_of(self.workload.file()?, caller)?;
        let settings = Settings {
            interrupt: caller.interrupt.clone(),
            ..self.budget.settings(EVENTS)
        };
        let asking = Asking {
            load: self.load,
            sought: Problem {
                preemption: self.preemption,
                setup_rate: self.setup_rate,
                objective: self.objective,
            },
            policies: &self.policies,
            changes: caller.changes,
            limits: &Limits {
                tolerance: self.tolerance,
                states: usize::try_from(self.states).unwrap_or(usize::MAX),
                time: seconds(self.time_limit),
                ..Limits::default()
            },
            settings: &settings,
        };
        let found = verbs::least(&workload, &asking, &mut progress(caller))?;
        let files = self.output.iter().cloned();
        let documents = files.map(|file| Ok((file, json(&found)?)));
        let failures = found.failures.iter();
        Ok(VerbOutput {
            table: report::optimum(&found, asking.sought.objective, caller.width) + "\n",
            documents: documents.collect::<VerbResult<_>>()?,
            negative: !found.failures.is_empty(),
            notes: failures
                .map(|(name, why)| format!("{name}: {why}"))
                .collect(),
        })
    }
}
