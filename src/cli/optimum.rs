use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use synth::multiresource::optimum::Limits;
use synth::multiresource::report;
use synth::multiresource::simulator::Settings;
use synth::multiresource::verbs::{self, Asking, Doing};

use super::output::{apart, publish};
use super::progress::spinner;
use super::simulate::Budget;
use super::typed::Objective;
use super::{
    Common, INTERRUPTED, NEGATIVE, Outcome, fraction, interrupt, positive, read_workload, width,
};

#[derive(Args)]
pub struct Arguments {
    /// The workload: two or three types, Poisson arrivals, exponential sizes
    #[arg(long, value_name = "FILE")]
    workload: PathBuf,

    /// Scale its arrival rates to this load ρ, as a fraction of what any policy can serve
    #[arg(long, value_parser = super::compare::load, allow_negative_numbers = true, value_name = "ρ")]
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

pub fn run(arguments: &Arguments, common: &Common) -> Outcome {
    let policies = arguments.policies.iter().map(Path::new);
    let read: Vec<&Path> = policies.chain([&*arguments.workload]).collect();
    let written: Vec<&Path> = arguments.output.iter().map(PathBuf::as_path).collect();
    apart(&read, &written)?;
    let workload = read_workload(&arguments.workload, common)?;
    let interrupt = interrupt::Later::new();
    let settings = Settings {
        interrupt: interrupt.flag(),
        ..arguments.budget.settings(EVENTS)
    };
    let asking = Asking {
        load: arguments.load,
        objective: arguments.objective.into(),
        policies: &arguments.policies,
        limits: &Limits {
            tolerance: arguments.tolerance,
            time: Duration::from_secs_f64(arguments.time_limit.min(1e9)),
            ..Limits::default()
        },
        settings: &settings,
    };
    let spinner = spinner(common, "solving the program");
    let least = verbs::least(&workload, &asking, |doing| {
        if !matches!(doing, Doing::Program) {
            interrupt.listen();
        }
        spinner.doing(&doing);
    })?;
    drop(spinner);
    for (name, why) in &least.failures {
        anstream::eprintln!("{name}: {why}");
    }
    let table = report::optimum(&least, asking.objective, width());
    publish(common, &table, &least.report, arguments.output.as_ref())?;
    match interrupt.is_set() {
        true => Ok(ExitCode::from(INTERRUPTED)),
        false if !least.failures.is_empty() => Ok(ExitCode::from(NEGATIVE)),
        false => Ok(ExitCode::SUCCESS),
    }
}
