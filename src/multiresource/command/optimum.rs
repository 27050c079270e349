//! What no policy without preemption can beat.

use std::path::{Path, PathBuf};

use clap::Args;

use super::names::Objective;
use super::{boxed, doing, server_of};
use crate::kind::{Answered, Caller, Given, Word};
use crate::multiresource::optimum::Limits;
use crate::multiresource::report;
use crate::multiresource::verbs::{self, Asking, Doing};
use crate::simulation::Settings;
use crate::typed::{Budget, fraction, load, positive, seconds};

/// What is typed.
#[derive(Args)]
pub struct Arguments {
    /// The workload: two or three types, Poisson arrivals, exponential sizes
    #[arg(long, value_name = "FILE")]
    workload: PathBuf,

    /// Scale its arrival rates to this load ρ, as a fraction of what any policy can serve
    #[arg(long, value_parser = load, allow_negative_numbers = true, value_name = "ρ")]
    load: Option<f64>,

    /// What is least: the mean response time, or that weighted by load
    #[arg(long, value_enum, default_value = "mean")]
    objective: Objective,

    /// Relative distance between the bounds at which to stop
    #[arg(long, default_value = "0.5%", value_parser = fraction)]
    tolerance: f64,

    /// Also measure these policies, by name (`synth rules` lists them) or policy file
    #[arg(long, value_delimiter = ',', value_name = "P,P,…")]
    policies: Vec<String>,

    /// Seconds for the dynamic program; after that the bounds are printed as they are
    #[arg(long, value_name = "SECONDS", default_value = "300", value_parser = positive)]
    time_limit: f64,

    #[command(flatten)]
    budget: Budget,

    /// Also write all results as JSON to this file (`-`: to standard output, in place of the
    /// table)
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Events per policy, by default.
const EVENTS: u64 = 50_000_000;

impl Arguments {
    /// Files that are read, and those that are written.
    pub fn files(&self) -> (Vec<&Path>, Vec<&Path>) {
        let policies = self.policies.iter().map(Path::new);
        let read = policies.chain([&*self.workload]).collect();
        (read, self.output.iter().map(PathBuf::as_path).collect())
    }

    /// Solves the dynamic program, and measures the policies that were asked for.
    pub fn run(&self, caller: &mut Caller<'_>) -> Given<Answered> {
        let workload = server_of(&self.workload, caller)?;
        let settings = Settings {
            interrupt: caller.interrupt.clone(),
            ..self.budget.settings(EVENTS)
        };
        let asking = Asking {
            load: self.load,
            objective: self.objective.into(),
            policies: &self.policies,
            changes: caller.changes,
            limits: &Limits {
                tolerance: self.tolerance,
                time: seconds(self.time_limit),
                ..Limits::default()
            },
            settings: &settings,
        };
        let hears = |step: Doing<'_>| {
            if !matches!(step, Doing::Program) {
                caller.hear(Word::Interruptible);
            }
            caller.hear(Word::Doing(&doing(&step)));
        };
        let least = verbs::least(&workload, &asking, hears).map_err(boxed)?;
        let failures = least.failures.iter();
        let document = serde_json::to_string_pretty(&least.report)? + "\n";
        let output = self.output.iter().cloned();
        Ok(Answered {
            table: report::optimum(&least, asking.objective, caller.width) + "\n",
            documents: output.map(|file| (file, document.clone())).collect(),
            notes: failures
                .map(|(name, why)| format!("{name}: {why}"))
                .collect(),
            negative: !least.failures.is_empty(),
        })
    }
}
