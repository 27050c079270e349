//! Tunes the parameters of the dispatch rule by simulation, with claims from held-out campaigns.

mod search;
#[cfg(test)]
mod tests;
mod trial;

pub use trial::Trial;
pub(crate) use trial::against;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::artifact::{Artifact, Claim, Evidence, Method, Policy, Quantity};
use super::policy::{Dispatch, WorkAhead};
use super::simulator::{Rule, Run, TICKS, TooLong, simulate};
use super::workload::{Campaign, Shortage};
use search::search;
use synth_core::artifact::{HoldsFor, Quantity as _, Subject};
use synth_simulation::{Estimate, Settings};
use trial::{excess, unbeaten};

/// The result of the synthesis, with all trials.
#[derive(Debug)]
pub struct Synthesis {
    /// The policy.
    pub artifact: Artifact,
    /// All trials.
    pub trials: Vec<Trial>,
    /// Whether the budget was used before all trials were done.
    pub cut: bool,
    /// The measured values of the policy.
    pub run: Run,
    /// The competing rules on the same campaigns, or empty if the budget was too small.
    pub competitors: Vec<Competitor>,
}

/// The name of the tuned rule if a competing rule was selected, which was significantly better.
pub(crate) const TUNED: &str = "tuned";

pub(crate) const COMPETITORS: [&str; 3] = ["fixed", "boinc-2025", "literal"];

/// A competing rule, compared with the selected one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Competitor {
    /// The name of the rule.
    pub rule: &'static str,
    /// The relative median makespan, or `None` if one of the batches was not completed.
    pub makespan: Option<Estimate>,
    /// The relative number of instances per job.
    pub instances: Option<Estimate>,
    /// The difference of its cost, relative to the makespans of the selected rule, which is
    /// negative if this rule is better. Batches that are not done count as done at the end of the
    /// campaign.
    pub excess: Option<Estimate>,
}

/// This is added to the seed of the campaigns that are held out, so that no trial uses them.
const FRESH: u64 = 0x5eed_0000_0000;

/// Computes a policy for a campaign. The `listener` is called to report the progress.
///
/// # Errors
/// Returns the reason why there is no policy.
pub fn synthesize(
    campaign: &Campaign,
    options: &Options,
    listener: &mut dyn FnMut(&str),
) -> Result<Synthesis, NoPolicy> {
    if let Some(shortage) = campaign.shortage() {
        return Err(NoPolicy::Impossible(shortage));
    }
    let (trials, taken, cut) = search(campaign, options, listener)?;
    let (dispatch, run, competitors) = measure(campaign, &trials[taken], options, listener)?;
    let policy = Policy {
        dispatch,
        refresh: campaign.refresh(),
        tick: campaign.refresh() / f64::from(TICKS),
    };
    let evidence = Evidence {
        campaigns: run.campaigns.len() as u32,
    };
    let (record, claims) = (campaign.record.clone(), claims(campaign, &run));
    Ok(Synthesis {
        artifact: Artifact::new(record, policy, claims, evidence),
        trials,
        cut,
        run,
        competitors,
    })
}

const CAMPAIGNS: u64 = 8;

const ROUNDS: u64 = 4;

/// Measures the tuned rule and, if the budget is large enough, its competitors on the same
/// campaigns. If one of them is significantly better, it is selected, and all rules are measured
/// again on campaigns that are held out (except for the last round).
fn measure(
    campaign: &Campaign,
    tuned: &Trial,
    options: &Options,
    listener: &mut dyn FnMut(&str),
) -> Result<(Dispatch, Run, Vec<Competitor>), NoPolicy> {
    let campaigns = options.campaigns.unwrap_or_else(|| {
        let each = tuned.run.events() / tuned.run.campaigns.len().max(1) as u64;
        let all = (1 + COMPETITORS.len() as u64) * each.max(1);
        (options.events / all).min(CAMPAIGNS) as u32
    });
    let bound = fixed_bound(campaign);
    let literal = Rule::Dispatch(literal(campaign));
    let others = [Rule::Fixed(bound), Rule::Tail(bound), literal];
    let mut rules = vec![(TUNED, Rule::Dispatch(tuned.rule))];
    let competitors = COMPETITORS.into_iter().zip(others);
    rules.extend(competitors.filter(|_| campaigns > 1));
    // A policy file can only contain a dispatch rule with all fixed parameters of the workload.
    let own = &campaign.record.policy;
    let dispatch = |n: usize| match rules[n].1 {
        Rule::Dispatch(rule) => Some(rule).filter(|rule| *rule == rule.with_fixed(own)),
        _ => None,
    };
    let (mut taken, mut round) = (0, 0);
    loop {
        let settings = Settings {
            seed: options.seed ^ (FRESH + round),
            replications: campaigns.max(2),
            interrupt: options.interrupt.clone(),
            events: u64::MAX,
            ..Settings::default()
        };
        let mut runs = Vec::new();
        for (name, rule) in &rules {
            listener(&format!("measuring {name}"));
            let run = simulate(campaign, *rule, &settings, |_| ());
            runs.push(run.map_err(NoPolicy::TooLong)?);
        }
        if options.interrupt.load(Ordering::Relaxed) {
            return Err(NoPolicy::Interrupted);
        }
        round += 1;
        let before = taken;
        taken = unbeaten(&runs, before, |n| dispatch(n).is_some());
        if taken != before && round < ROUNDS {
            continue;
        }
        let others = (0..rules.len()).filter(|n| *n != taken);
        let competitors = others.map(|n| Competitor {
            rule: rules[n].0,
            makespan: against(&runs[n], &runs[taken], Quantity::MedianMakespan),
            instances: against(&runs[n], &runs[taken], Quantity::Instances),
            excess: excess(&runs[n], &runs[taken]),
        });
        let competitors = competitors.collect();
        let rule = dispatch(taken).unwrap_or(tuned.rule);
        return Ok((rule, runs.swap_remove(taken), competitors));
    }
}

fn claims(campaign: &Campaign, run: &Run) -> Vec<Claim> {
    let claim = |quantity, subject, value: f64, method| {
        let value = (value, &*campaign.record.time_unit);
        Claim::new(quantity, subject, value, method, HoldsFor::default())
    };
    let simulated = |quantity, subject, found: Estimate| Claim {
        half_width: Some(found.half_width),
        ..claim(quantity, subject, found.mean, Method::Simulated)
    };
    let usual = campaign.capacity(&campaign.applications()).usual;
    let (capacity, method) = (Quantity::Capacity, Method::BoundMeans);
    let mut claims = vec![claim(capacity, Subject::ALL, usual, method)];
    claims.extend(Quantity::ALL.iter().filter_map(|quantity| {
        let found = run.estimate(*quantity)?;
        Some(simulated(*quantity, Subject::ALL, found))
    }));
    claims.extend(campaign.dated_batches().filter_map(|(n, batch)| {
        let subject = Subject {
            batch: Some(&batch.name),
            ..Subject::ALL
        };
        Some(simulated(Quantity::Makespan, subject, run.makespan(n)?))
    }));
    claims
}

/// The options that can be set by the user.
#[derive(Clone, Debug)]
pub struct Options {
    /// The maximum number of events that can be used by the search.
    pub events: u64,
    /// The number of campaigns for the claims, at least 2, or 2 to 8 depending on the events.
    pub campaigns: Option<u32>,
    /// The seed.
    pub seed: u64,
    /// If this flag is set, the synthesis is stopped and does not return a policy.
    pub interrupt: Arc<AtomicBool>,
}

/// The reason why there is no policy.
#[derive(Debug)]
pub enum NoPolicy {
    /// There is no rule that can do all of the work.
    Impossible(Shortage),
    /// The budget is too small for any policy.
    TooLong(TooLong),
    /// The synthesis was interrupted.
    Interrupted,
}

/// Returns the default rule with the parameters that are fixed by the workload.
pub fn default_rule(campaign: &Campaign) -> Dispatch {
    let rule = Dispatch {
        first_percentile: 75.0,
        tight_percentile: 95.0,
        quantile: Some(0.3),
        queued: WorkAhead::All,
        first_each: Some(1),
        reserve: true,
        patience: campaign.horizon() / 30.0,
    };
    rule.with_fixed(&campaign.record.policy)
}

/// Returns the bound for rules with a single bound: the largest bound of a stream, or an eighth of
/// the horizon if there is no stream.
pub fn fixed_bound(campaign: &Campaign) -> f64 {
    let streams = campaign.batches.iter().filter(|own| own.is_stream());
    let bounds = streams.map(|own| own.limit);
    bounds.reduce(f64::max).unwrap_or(campaign.horizon() / 8.0)
}

/// Returns the rule of the original proposal.
pub fn literal(campaign: &Campaign) -> Dispatch {
    Dispatch {
        first_percentile: 50.0,
        tight_percentile: 90.0,
        quantile: Some(0.8),
        queued: WorkAhead::Tight,
        first_each: None,
        reserve: false,
        patience: default_rule(campaign).patience,
    }
}
