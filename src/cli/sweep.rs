use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use synth::multiresource::artifact::Route;
use synth::multiresource::report;
use synth::multiresource::synthesis::{self, Options};

use super::output::{apart, emit};
use super::typed::Preemption;
use super::{Common, Outcome, count, positive, progress, read_workload};

#[derive(Args)]
pub struct Arguments {
    /// The workload
    #[arg(long, value_name = "FILE")]
    workload: PathBuf,

    /// What may happen to a running job when the schedule changes
    #[arg(long, value_enum)]
    preemption: Preemption,

    /// γ, the rate of setups [1/time unit]; needed with `--preemption setup`
    #[arg(long, value_name = "γ", value_parser = positive, allow_negative_numbers = true)]
    setup_rate: Option<f64>,

    /// One route only
    #[arg(long)]
    route: Option<Route>,

    /// How much work may go into exact analysis, as for a synthesis
    #[arg(long, value_name = "N", default_value = "1", value_parser = positive)]
    effort: f64,

    /// Switching rates for each route, on a logarithmic scale around the best
    #[arg(long, value_name = "N", default_value = "40", value_parser = count)]
    points: u64,

    /// Where the table goes, as CSV; standard output if not given
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Also draw the curves, as SVG
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

pub fn run(arguments: &Arguments, common: &Common) -> Outcome {
    let results = [&arguments.output, &arguments.plot].into_iter().flatten();
    let written: Vec<&Path> = results.map(PathBuf::as_path).collect();
    apart(&[&arguments.workload], &written)?;
    let workload = read_workload(&arguments.workload, common)?;
    let options = Options {
        setup_rate: arguments.setup_rate,
        route: arguments.route,
        effort: arguments.effort,
        ..Options::new(arguments.preemption.into())
    };
    if arguments.points > 10_000 {
        return Err(format!(
            "{} points are more than a curve needs: give at most 10000",
            arguments.points
        )
        .into());
    }
    let spinner = progress::spinner(common, "evaluating switching rates");
    let swept = synthesis::sweep(&workload, &options, arguments.points as usize)?;
    drop(spinner);
    if swept.is_empty() {
        return Err(
            "there is nothing to sweep: one schedule serves all types, and is never left".into(),
        );
    }
    if let Some(file) = &arguments.plot {
        emit(Some(file), &report::sweep_plot(&workload, &swept)?)?;
    }
    emit(
        arguments.output.as_ref(),
        &report::sweep_csv(&workload, &swept),
    )?;
    Ok(ExitCode::SUCCESS)
}
