use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use synth::artifact::CheckedArtifact;
use synth::program::{self, Limits};
use synth::report;
use synth::simulator::{Contender, Run};

use super::simulate::{Budget, same_types};
use super::{Common, Outcome, fraction, progress, publish, read_workload};

#[derive(Args)]
pub struct Arguments {
    /// The workload; its arrival rates are scaled to each load
    #[arg(long, value_name = "FILE")]
    workload: PathBuf,

    /// Policies to compare, by name (first-fit, fcfs) or policy file
    #[arg(long, value_delimiter = ',', required = true, value_name = "P,P,…")]
    policies: Vec<String>,

    /// Loads ρ to compare at, as fractions of what any policy can serve
    #[arg(long, value_delimiter = ',', default_value = "0.5,0.7,0.9", value_parser = load, value_name = "ρ,ρ,…")]
    loads: Vec<f64>,

    #[command(flatten)]
    budget: Budget,

    /// Also write all results as JSON to this file (`-`: to standard output, in place of the
    /// table)
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// A load below 1.
fn load(text: &str) -> Result<f64, String> {
    match fraction(text)? {
        load if load < 1.0 => Ok(load),
        _ => Err(format!(
            "`{text}`: at a load of 1 and more no policy is stable; give a load below 1, such as 0.9 or 90%"
        )),
    }
}

#[derive(serde::Serialize)]
struct Cell<'a> {
    policy: &'a str,
    load: f64,
    run: &'a Run,
}

pub fn run(arguments: &Arguments, common: &Common) -> Outcome {
    let workload = read_workload(&arguments.workload, common)?;
    let mut contenders = Vec::new();
    for name in &arguments.policies {
        contenders.push(contender(name, &workload)?);
    }
    let spinner = progress::spinner(common, "solving the program");
    let own_load = program::solve(&workload, &Limits::default())?
        .certificate
        .load;
    let settings = arguments.budget.settings();
    let mut runs = Vec::new();
    for (name, contender) in arguments.policies.iter().zip(&contenders) {
        let mut row = Vec::new();
        for load in &arguments.loads {
            let scaled = workload.scaled(load / own_load)?;
            let what = format!("{name} at ρ = {load}");
            row.push(contender.simulate(&scaled, &settings, |reached| {
                spinner.set_message(progress::events(&what, reached, settings.precision));
            })?);
        }
        runs.push(row);
    }
    drop(spinner);
    let table = report::comparison(&workload, &arguments.loads, &arguments.policies, &runs);
    let rows = arguments.policies.iter().zip(&runs);
    let cells = rows.flat_map(|(policy, row)| {
        let loads = arguments.loads.iter().zip(row);
        loads.map(move |(load, run)| Cell {
            policy,
            load: *load,
            run,
        })
    });
    publish(
        common,
        &table,
        &cells.collect::<Vec<_>>(),
        arguments.output.as_ref(),
    )?;
    Ok(ExitCode::SUCCESS)
}

/// A rule by name, or a policy file that fits the workload's types.
fn contender(
    name: &str,
    workload: &synth::workload::Workload,
) -> Result<Contender, Box<dyn std::error::Error>> {
    if let Some(rule) = Contender::named(name) {
        return Ok(rule);
    }
    let path = PathBuf::from(name);
    if !path.exists() {
        let names = Contender::NAMES.join(", ");
        return Err(format!(
            "there is no rule `{name}` and no such policy file; the rules are {names}"
        )
        .into());
    }
    let checked = CheckedArtifact::read(&path)?;
    same_types(checked.artifact(), workload).map_err(|why| format!("{name}: {why}"))?;
    Ok(Contender::Msr(Box::new(checked.artifact().policy.clone())))
}
