//! Chooses the parameters of the dispatch by simulation, and claims what it attains in campaigns that decided nothing.

mod search;
#[cfg(test)]
mod tests;
mod trial;

pub use trial::{Trial, against, front};

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::artifact::{Artifact, Claim, Evidence, HoldsFor, Method, Policy, Quantity};
use super::policy::{Dispatch, Queued};
use super::simulator::{Rule, Run, TICKS, TooLong, simulate};
use super::workload::{Campaign, Shortage};
use search::search;
use synth_core::artifact::{Quantity as _, Subject};
use synth_simulation::{Estimate, Settings};
use trial::{excess, unbeaten};

/// A policy, and what it was chosen from.
#[derive(Debug)]
pub struct Made {
    /// The policy.
    pub artifact: Artifact,
    /// What was tried.
    pub trials: Vec<Trial>,
    /// Whether the budget ended before all was tried.
    pub cut: bool,
    /// What the policy attains.
    pub run: Run,
    /// Other rules on the same campaigns; none where the budget did not allow them.
    pub competitors: Vec<Competitor>,
}

/// The name of the rule that tuning chose, where another was surely better and is taken.
pub const TUNED: &str = "tuned";

/// The rules that the tuned one is compared with.
pub const COMPETITORS: [&str; 3] = ["fixed", "boinc-2025", "literal"];

/// Another rule beside the one that was taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Competitor {
    /// Its name.
    pub rule: &'static str,
    /// Its median makespan, over that of the rule that was taken; none where a batch was not done.
    pub makespan: Option<Estimate>,
    /// Its instances a job, over those of the rule that was taken.
    pub instances: Option<Estimate>,
    /// By how much more it costs, relative to the makespans of the rule that was taken; what was not done counts as done at the
    /// end. Below 0 it is better.
    pub excess: Option<Estimate>,
}

/// Campaigns that claims are from have seeds that trials never have.
const FRESH: u64 = 0x5eed_0000_0000;

/// Makes a policy; `listener` is notified of progress.
///
/// # Errors
/// When there is none, or the budget is too small.
pub fn synthesize(
    campaign: &Campaign,
    options: &Options,
    listener: &mut dyn FnMut(&str),
) -> Result<Made, NoPolicy> {
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
    let (record, claims) = (campaign.record().clone(), claims(campaign, &run));
    Ok(Made {
        artifact: Artifact::new(record, policy, claims, evidence),
        trials,
        cut,
        run,
        competitors,
    })
}

/// Campaigns that claims are from at most where nothing else is requested.
const CAMPAIGNS: u64 = 8;

/// Times that the rules are compared in campaigns that decided nothing before, at most.
const ROUNDS: u64 = 4;

/// Measures the rule that was tuned, and others on the same campaigns: where two of each are more than the budget
/// allows, it alone. One that is surely better takes its place, and all are measured again, so that claims come from
/// campaigns that decided nothing; only those of the last round may be both.
fn measure(
    campaign: &Campaign,
    tuned: &Trial,
    options: &Options,
    listener: &mut dyn FnMut(&str),
) -> Result<(Dispatch, Run, Vec<Competitor>), NoPolicy> {
    let campaigns = options.campaigns.unwrap_or_else(|| {
        // As many as take no more than these events under all rules.
        let each = tuned.run.events() / tuned.run.campaigns.len().max(1) as u64;
        let all = (1 + COMPETITORS.len() as u64) * each.max(1);
        (options.events / all).min(CAMPAIGNS) as u32
    });
    let bound = fixed_bound(campaign);
    let others = [
        Rule::Fixed(bound),
        Rule::Tail(bound),
        Rule::Dispatch(literal(campaign)),
    ];
    let mut rules = vec![(TUNED, Rule::Dispatch(tuned.rule))];
    let competitors = COMPETITORS.into_iter().zip(others);
    rules.extend(competitors.filter(|_| campaigns > 1));
    // A policy file can hold a dispatch that has all parameters of the campaign.
    let own = &campaign.record().policy;
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

/// Returns what campaigns say of the policy; nothing where some batch was not done in some of them.
fn claims(campaign: &Campaign, run: &Run) -> Vec<Claim> {
    let claim = |quantity, subject, value: f64, method| {
        let value = (value, campaign.time_unit());
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

/// Options of a synthesis.
#[derive(Clone, Debug)]
pub struct Options {
    /// Events that may be simulated to choose.
    pub events: u64,
    /// Campaigns that the claims are from, two at least; none for as many as the events allow, from two to eight.
    pub campaigns: Option<u32>,
    /// The seed.
    pub seed: u64,
    /// Once it is set, the synthesis ends without a policy.
    pub interrupt: Arc<AtomicBool>,
}

/// Why there is no policy.
#[derive(Debug)]
pub enum NoPolicy {
    /// No rule can do the work, and why.
    Impossible(Shortage),
    /// The budget is too small for any.
    TooLong(TooLong),
    /// The synthesis was interrupted.
    Interrupted,
}

/// Returns the rule with the parameters that the campaign has, and the defaults of all others.
pub fn default_rule(campaign: &Campaign) -> Dispatch {
    let rule = Dispatch {
        first_percentile: 75.0,
        tight_percentile: 95.0,
        quantile: Some(0.3),
        queued: Queued::All,
        first_each: Some(1),
        reserve: true,
        patience: campaign.horizon() / 30.0,
    };
    rule.with_fixed(&campaign.record().policy)
}

/// Returns the bound of rules that have one for all: that of a stream, or an eighth of the horizon.
pub fn fixed_bound(campaign: &Campaign) -> f64 {
    let streams = campaign.batches().iter().filter(|own| own.is_stream());
    let bounds = streams.map(|own| own.limit);
    bounds.reduce(f64::max).unwrap_or(campaign.horizon() / 8.0)
}

/// Returns the proposal to the letter.
pub fn literal(campaign: &Campaign) -> Dispatch {
    Dispatch {
        first_percentile: 50.0,
        tight_percentile: 90.0,
        quantile: Some(0.8),
        queued: Queued::Tight,
        first_each: None,
        reserve: false,
        patience: default_rule(campaign).patience,
    }
}
