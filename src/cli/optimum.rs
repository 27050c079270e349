use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::Duration;

use clap::Args;
use synth::multiresource::optimum::{Limits, optimum};
use synth::multiresource::program;
use synth::multiresource::report::{self, Distance, OptimumReport};
use synth::multiresource::simulator::{Settings, simulate};
use synth::multiresource::workload::Workload;

use super::output::{apart, publish};
use super::plan::enter;
use super::simulate::Budget;
use super::typed::Objective;
use super::{
    Common, INTERRUPTED, NEGATIVE, Outcome, fraction, interrupt, positive, progress, read_workload,
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

    /// How close the bounds shall be, relatively
    #[arg(long, default_value = "0.5%", value_parser = fraction)]
    tolerance: f64,

    /// Also measure these policies, by name (`synth rules` lists them) or policy file
    #[arg(long, value_delimiter = ',', value_name = "P,P,…")]
    policies: Vec<String>,

    /// Seconds for the dynamic program; past it the bounds are told as they are
    #[arg(long, value_name = "SECONDS", default_value = "300", value_parser = positive)]
    time_limit: f64,

    #[command(flatten)]
    budget: Budget,

    /// Also write all results as JSON to this file (`-`: to standard output, in place of the
    /// table)
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Events a policy, where none are asked for.
const EVENTS: u64 = 50_000_000;

pub fn run(arguments: &Arguments, common: &Common) -> Outcome {
    let policies = arguments.policies.iter().map(Path::new);
    let read: Vec<&Path> = policies.chain([&*arguments.workload]).collect();
    let written: Vec<&Path> = arguments.output.iter().map(PathBuf::as_path).collect();
    apart(&read, &written)?;
    let workload = scaled(arguments, common)?;
    let entered: Result<Vec<_>, _> = arguments
        .policies
        .iter()
        .map(|name| enter(name, &workload))
        .collect();
    let entered = entered?;
    let settings = Settings {
        interrupt: interrupt::flag()?,
        ..arguments.budget.settings(EVENTS)
    };
    let limits = Limits {
        tolerance: arguments.tolerance,
        time: Duration::from_secs_f64(arguments.time_limit.min(1e9)),
        ..Limits::default()
    };
    let objective = arguments.objective.into();
    let spinner = progress::spinner(common, "solving the dynamic program");
    let found = optimum(&workload, objective, &limits, &settings.interrupt, |step| {
        spinner.set_message(report::optimum_step(&step));
    })?;
    let mut distances = Vec::new();
    let mut failed = false;
    if !settings.interrupt.load(Ordering::Relaxed) {
        spinner.set_message("simulating its policy".into());
        let run = simulate(&workload, found.policy.clone(), &settings, |_| ())?;
        distances.push(Distance::new("its policy", &run, objective));
        for entered in &entered {
            spinner.set_message(format!("simulating {}", entered.entrant.name));
            match &entered.contender {
                Ok(rule) => {
                    let run = rule.simulate(&workload, &settings, |_| ())?;
                    distances.push(Distance::new(&entered.entrant.name, &run, objective));
                }
                Err(why) => {
                    failed = true;
                    anstream::eprintln!("{}: {why}", entered.entrant.name);
                }
            }
        }
    }
    drop(spinner);
    let results = OptimumReport::new(&found, distances);
    let table = report::optimum(&workload, &results, objective);
    publish(common, &table, &results, arguments.output.as_ref())?;
    match settings.interrupt.load(Ordering::Relaxed) {
        true => Ok(ExitCode::from(INTERRUPTED)),
        false if failed => Ok(ExitCode::from(NEGATIVE)),
        false => Ok(ExitCode::SUCCESS),
    }
}

fn scaled(arguments: &Arguments, common: &Common) -> Result<Workload, Box<dyn std::error::Error>> {
    let workload = read_workload(&arguments.workload, common)?;
    let own = program::solve(&workload, &program::Limits::default())?;
    let own = own.certificate.load;
    match arguments.load {
        Some(load) => Ok(workload.scaled(load / own)?),
        None if own < 1.0 => Ok(workload),
        None => Err(format!(
            "the load ρ is {own}, and at 1 and more every response time is infinite: give --load"
        )
        .into()),
    }
}
