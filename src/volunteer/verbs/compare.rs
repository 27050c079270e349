//! Policies on the same campaigns.

use std::sync::atomic::Ordering;

use super::{Entered, VerbError, enter, refuse, too_long};
use crate::artifact::Quantity as _;
use crate::report::{Column, Outcomes, estimate, headed};
use crate::simulation::sweep::Comparing;
use crate::volunteer::artifact::Quantity;
use crate::volunteer::simulator::{Run, simulate};
use crate::volunteer::synthesis::against;
use crate::volunteer::workload::Campaign;

/// Runs all policies on the same hosts and jobs.
///
/// # Errors
/// When a policy does not exist or is refused, loads are asked for, or one campaign takes more than twice what the
/// settings allow.
pub fn compare(
    campaign: &Campaign,
    asked: &Comparing<'_>,
    mut listener: impl FnMut(&str),
) -> Result<Outcomes, VerbError> {
    if !asked.loads.is_empty() {
        return refuse(
            "--loads goes with jobs that queue, and hosts of volunteers always have some: leave it out",
        );
    }
    if asked.share.is_some() {
        return refuse(
            "--shard goes with policies over loads, and campaigns have none: compare some of the policies on each machine",
        );
    }
    if asked.journal.is_some_and(|(_, resume)| resume) {
        return refuse("a comparison of campaigns keeps no finished parts: leave --resume out");
    }
    let entered = asked.policies.iter().map(|name| enter(name, asked.changes));
    let entered = entered.collect::<Result<Vec<Entered>, VerbError>>()?;
    let settings = asked.settings;
    let options = format!(
        " --replications {} --seed {}",
        settings.replications, settings.seed
    );
    let mut outcomes = Outcomes::new(asked, campaign.digest(), "policy".into(), &options);
    let time = campaign.time_unit();
    let column = |quantity: &Quantity| Column {
        quantity: quantity.row().name,
        at: None,
        unit: quantity.unit(time),
        label: headed(*quantity, time),
    };
    outcomes.columns = Quantity::ALL.iter().map(column).collect();
    let mut runs = Vec::new();
    for (outcome, policy) in outcomes.policies.iter_mut().zip(&entered) {
        listener(&outcome.policy);
        let run = simulate(campaign, policy.rule(campaign), settings, |_| ());
        let run = run.or_else(too_long)?;
        if run.interrupted {
            break;
        }
        let values = Quantity::ALL.iter().map(|own| run.estimate(campaign, *own));
        outcome.values = values.collect();
        runs.push(run);
    }
    outcomes.interrupted = settings.interrupt.load(Ordering::Relaxed);
    outcomes.notes = notes(campaign, asked, &runs);
    Ok(outcomes)
}

/// How many times the median makespan of the first policy each other one has, on the same campaigns; and what the
/// numbers are.
fn notes(campaign: &Campaign, asked: &Comparing<'_>, runs: &[Run]) -> Vec<String> {
    let others = asked.policies.iter().zip(runs).skip(1);
    let line = |(name, run): (&String, &Run)| {
        let found = against(campaign, run, &runs[0], Quantity::MedianMakespan)?;
        let apart = (found.mean - 1.0).abs() > found.half_width;
        let sure = if apart { "surely" } else { "not surely" };
        let longer = found.mean > 1.0;
        let words = if longer { "longer" } else { "shorter" };
        let (times, first) = (estimate(Some(found)), &asked.policies[0]);
        Some(format!(
            "{name}: {times} times the median makespan of {first}, {sure} {words}"
        ))
    };
    let what = format!(
        "means over {} campaigns with the same hosts and jobs for all policies, 95 % intervals; – where a batch was not done in some campaign",
        asked.settings.replications
    );
    others.filter_map(line).chain([what]).collect()
}
