//! The policy of a fleet.

use std::process::ExitCode;

use synth::multiresource::report;
use synth::multiresource::synthesis::Options;
use synth::multiresource::verbs::{self, FleetAnswer};
use synth::multiresource::workload::Fleet;

use super::{Arguments, Balance, Family};
use crate::cli::output::emit;
use crate::cli::{Common, NEGATIVE, Outcome, progress, tell, width};

pub fn run(arguments: &Arguments, fleet: &Fleet, options: &Options, common: &Common) -> Outcome {
    only_msr(arguments)?;
    let spinner = progress::spinner(common, "solving the program of the fleet");
    let answer = verbs::synthesize_fleet(fleet, options)?;
    drop(spinner);
    match answer {
        FleetAnswer::Policy(made) => {
            let json = made.synthesis.artifact.to_json()?;
            emit(arguments.output.as_ref(), &json)?;
            tell(common, &report::fleet(fleet, &made, width()));
            Ok(ExitCode::SUCCESS)
        }
        // A negative answer is the result: it is printed with --quiet, too.
        FleetAnswer::Refused(refusal) => {
            anstream::eprintln!("{}", report::fleet_refusal(fleet, &refusal, width()));
            Ok(ExitCode::from(if refusal.decided { NEGATIVE } else { 2 }))
        }
    }
}

/// Refuses options of other families than msr, which the servers of a fleet do not run.
fn only_msr(arguments: &Arguments) -> Result<(), String> {
    if !matches!(arguments.family, None | Some(Family::Msr)) {
        return Err(
            "the servers of a fleet run policies of the family msr only, so far: leave --family out"
                .into(),
        );
    }
    let typed = [
        ("--cycle", arguments.cycle.is_some()),
        ("--thresholds", arguments.thresholds.is_some()),
        (
            "--max-slowdown-ratio",
            arguments.max_slowdown_ratio.is_some(),
        ),
        ("--explain", arguments.explain),
        ("--balance", arguments.balance != Balance::Load),
        ("--weights", arguments.weights.is_some()),
    ];
    match typed.iter().find(|(_, typed)| *typed) {
        Some((name, _)) => Err(format!(
            "{name} goes with one server, and the workload is a fleet: leave it out"
        )),
        None => Ok(()),
    }
}
