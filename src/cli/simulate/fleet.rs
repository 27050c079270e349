//! The policy of a fleet, simulated.

use std::error::Error;
use std::time::Instant;

use synth::multiresource::artifact::{CheckedFleet, Family, Routing};
use synth::multiresource::simulator::{
    Ending, Judgement, Run, Settings, judge_fleet, simulate_fleet,
};

use super::{Arguments, as_analysed, told_of_analysed};
use crate::cli::{Common, progress, tell};

/// Runs the policy as it is; and where its claims hold under other conditions, once more under
/// those, to judge them.
pub fn run(
    arguments: &Arguments,
    checked: &CheckedFleet,
    settings: &Settings,
    common: &Common,
) -> Result<(Run, Vec<Judgement>), Box<dyn Error>> {
    let shapes = &checked.artifact().policy.shapes;
    let policies = shapes
        .iter()
        .map(|s| arguments.overriding(&s.policy.policy));
    let policies = policies.collect::<Result<Vec<Family>, String>>()?;
    let routing = arguments
        .routing
        .map_or(Routing::Probabilistic, Routing::from);
    let run = simulate(
        (checked, &policies, routing),
        settings,
        common,
        "simulating",
    )?;
    let pairs = shapes.iter().zip(&policies);
    let analysed: Vec<Family> = pairs
        .map(|(shape, policy)| as_analysed(&shape.policy, policy))
        .collect();
    if routing == Routing::Probabilistic && analysed == policies {
        let judged = judge_fleet(checked, &run);
        return Ok((run, judged));
    }
    if run.ending == Ending::Interrupted {
        tell(common, "Interrupted before the claims could be judged.");
        return Ok((run, Vec::new()));
    }
    let again = simulate(
        (checked, &analysed, Routing::Probabilistic),
        settings,
        common,
        "simulating as analysed",
    )?;
    told_of_analysed(&again, common);
    let judged = judge_fleet(checked, &again);
    Ok((run, judged))
}

/// Simulates with progress on standard error.
fn simulate(
    (checked, policies, routing): (&CheckedFleet, &[Family], Routing),
    settings: &Settings,
    common: &Common,
    what: &str,
) -> Result<Run, Box<dyn Error>> {
    let spinner = progress::spinner(common, what);
    let started = Instant::now();
    let run = simulate_fleet(checked, policies, routing, settings, |reached| {
        let elapsed = started.elapsed();
        spinner.set_message(progress::simulation(what, reached, settings, elapsed));
    })?;
    Ok(super::cut_short(run, settings))
}
