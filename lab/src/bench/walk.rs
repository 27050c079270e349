//! This module uses logs to compare the rules in common use with a walk-forward selection.

use std::sync::atomic::AtomicBool;

use itertools::Itertools as _;
use rayon::prelude::*;

use super::logs::LogDistribution;
use super::measure::{AGAIN, CHOICE, Conditions, Line, Listener, PolicyRun, apparent_losers};
use super::systems::Tier;
use synth::document::digest;
use synth::kind::VerbResult;
use synth::multiresource::judge::{
    JudgeObjective, QueueRule, SelectionCriteria, WaitsAndSizes, WalkForward, baseline_rules,
};
use synth::multiresource::policy::RuntimeEstimate as OfSize;
use synth::multiresource::replay::{Log, LogError};
use synth::simulation::sweep::Information;
use synth::simulation::{Health, over_replications};

/// The number of logs for each system. If a policy has lost, [`AGAIN`] times as many other logs are
/// used.
pub(super) const LOGS: u64 = 8;

/// The name of a policy, its information, and its rule, which is `None` for the selection.
pub(super) type Entrant = (String, Information, Option<QueueRule>);

pub(super) fn measure(
    origin: &LogDistribution,
    terms: &Conditions,
    interrupt: &AtomicBool,
    listener: Listener<'_>,
) -> VerbResult<Line> {
    listener(&format!("{}: {LOGS} logs", origin.name));
    let (texts, logs) = origin.draw(0..LOGS)?;
    let entrants = entrants(&logs[0], terms);
    let runs = walked(origin, &logs, &entrants, interrupt)?;
    let suspects = apparent_losers(&runs, terms);
    let is_suspect = |own: &Entrant| suspects.contains(&own.0.as_str());
    let lost: Vec<Entrant> = entrants.into_iter().filter(is_suspect).collect();
    let mut again = Vec::new();
    if !lost.is_empty() {
        listener(&format!("{}: {} other logs", origin.name, AGAIN * LOGS));
        let (_, others) = origin.draw(LOGS..(1 + AGAIN) * LOGS)?;
        again = walked(origin, &others, &lost, interrupt)?;
    }
    Ok(Line {
        system: origin.name.clone(),
        tier: Tier::Logs,
        digest: digest(&texts.concat()),
        about: origin.about(),
        load: origin.load,
        optimum: None,
        bound: 0.0,
        runs,
        again,
        families: Vec::new(),
        terms: terms.clone(),
    })
}

pub(super) fn entrants(log: &Log, terms: &Conditions) -> Vec<Entrant> {
    let choice = (terms.budget > 0).then(|| (CHOICE.to_owned(), Information::Estimates, None));
    let mut all: Vec<Entrant> = choice.into_iter().collect();
    for (name, _) in &terms.policies {
        // Other policies can only be used in the other tiers.
        if let Ok(mut point) = QueueRule::parse(name) {
            if !log.has_limits && point.estimate == OfSize::Limit {
                point.estimate = OfSize::History;
            }
            all.push((name.clone(), Information::Estimates, Some(point)));
        }
    }
    all.extend(baseline_rules(log.has_limits).map(|(point, is_known)| {
        // If there are no limits, all rules use the history, so the name does not contain it.
        let name = point.name();
        let short = name.strip_suffix("+history").filter(|_| !log.has_limits);
        let name = short.unwrap_or(&name).to_owned();
        match is_known {
            true => (name + "+size", Information::Sizes, Some(point)),
            false => (name, Information::Estimates, Some(point)),
        }
    }));
    all.into_iter().unique_by(|own| own.0.clone()).collect()
}

pub(super) fn walked(
    origin: &LogDistribution,
    logs: &[Log],
    entrants: &[Entrant],
    interrupt: &AtomicBool,
) -> VerbResult<Vec<PolicyRun>> {
    let goal = SelectionCriteria {
        objective: JudgeObjective::Wait,
        longest: logs.first().and_then(SelectionCriteria::default_wait_bound),
        now: origin.now(),
    };
    let of_log = |log: &Log| {
        let forward = WalkForward::new(log, origin.windows(log), goal, interrupt)?;
        let served = entrants.par_iter().map(|(_, knows, point)| {
            let Some(point) = point else {
                let (windows, served, _) = forward.evaluate_selection(&mut |_, _| ())?;
                let rules = windows.iter().map(|own| own.choice.point.name());
                return Ok((mean(&served), rules.collect()));
            };
            let served = forward.evaluate_rule(point, *knows == Information::Sizes)?;
            Ok((mean(&served), vec![point.name()]))
        });
        served.collect::<Result<Vec<(f64, Vec<String>)>, LogError>>()
    };
    let by_log = logs.par_iter().map(of_log);
    let by_log = by_log.collect::<Result<Vec<_>, LogError>>()?;
    let ran = |(n, (policy, knows, _)): (usize, &Entrant)| {
        let means: Vec<f64> = by_log.iter().map(|own| own[n].0).collect();
        let rules = by_log.iter().flat_map(|own| &own[n].1).counts();
        let rule = rules
            .into_iter()
            .max_by_key(|(rule, count)| (*count, *rule));
        let response = over_replications(&means);
        PolicyRun {
            policy: policy.clone(),
            rule: rule.map_or(String::new(), |(rule, _)| rule.clone()),
            knows: *knows,
            health: Some(Health::Settled),
            failure: None,
            response: Some(response),
            stay: response.mean,
            events: 2 * logs.iter().map(|log| log.jobs.len() as u64).sum::<u64>(),
            replications: means.into_iter().map(Some).collect(),
        }
    };
    Ok(entrants.iter().enumerate().map(ran).collect())
}

fn mean(jobs: &WaitsAndSizes) -> f64 {
    jobs.iter().map(|(wait, size)| wait + size).sum::<f64>() / jobs.len() as f64
}
