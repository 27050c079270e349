//! The policy of a fleet.

use std::process::ExitCode;

use synth::multiresource::artifact::{CheckedFleet, FleetArtifact};
use synth::multiresource::report;
use synth::multiresource::synthesis::{FleetOutcome, Options, synthesize_fleet};
use synth::multiresource::workload::Fleet;

use super::{Arguments, Balance, Family};
use crate::cli::output::emit;
use crate::cli::{Common, NEGATIVE, Outcome, progress, tell};

pub fn run(arguments: &Arguments, fleet: &Fleet, options: &Options, common: &Common) -> Outcome {
    only_msr(arguments)?;
    let spinner = progress::spinner(common, "solving the program of the fleet");
    let outcome = synthesize_fleet(fleet, options)?;
    drop(spinner);
    match outcome {
        FleetOutcome::Policy(made) => {
            publish(arguments, &made.artifact)?;
            tell(common, &report::fleet(fleet, &made));
            Ok(ExitCode::SUCCESS)
        }
        // A negative answer is the result: it is told to the quiet, too.
        FleetOutcome::Overloaded(overload) => {
            anstream::eprintln!("{}", report::fleet_overload(fleet, &overload, true));
            Ok(ExitCode::from(NEGATIVE))
        }
        FleetOutcome::Undecided(overload) => {
            anstream::eprintln!("{}", report::fleet_overload(fleet, &overload, false));
            Ok(ExitCode::from(2))
        }
    }
}

/// The servers of a fleet run msr, and what goes with other families goes with none of them.
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

/// Writes the policy, after the second derivation of every number: before anybody relies on the
/// first.
fn publish(
    arguments: &Arguments,
    artifact: &FleetArtifact,
) -> Result<(), Box<dyn std::error::Error>> {
    if let Err(findings) = CheckedFleet::check(artifact.clone()) {
        return Err(super::unchecked(&findings).into());
    }
    emit(arguments.output.as_ref(), &artifact.to_json()?)
}
