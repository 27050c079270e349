//! Chooses the parameters of the dispatch by simulation, and claims what it attains from campaigns that
//! decided nothing.

mod search;
#[cfg(test)]
mod tests;
mod trial;

pub use trial::{Trial, against, front};

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::artifact::{Artifact, Claim, Evidence, HoldsFor, Method, Policy, Quantity};
use super::policy::{Dispatch, Queued};
use super::simulator::{REFRESHES, Rule, Run, TICKS, TooLong, simulate};
use super::workload::{Campaign, Quality, Shortage};
use crate::artifact::{Quantity as _, Subject};
use crate::number::Decimal;
use crate::simulation::{Estimate, Settings};
use search::{Searched, search};
use trial::{excess, unbeaten};

/// What is wanted of a synthesis.
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

/// What comes of it.
#[derive(Debug)]
pub enum Outcome {
    /// A policy.
    Made(Box<Made>),
    /// No rule can do the work, and why.
    Impossible(Shortage),
    /// The budget is too small for any.
    TooLong(TooLong),
    /// An end was wanted before there was a policy.
    Interrupted,
}

impl From<TooLong> for Outcome {
    fn from(found: TooLong) -> Self {
        Outcome::TooLong(found)
    }
}

/// A policy, and what it was chosen from.
#[derive(Debug)]
pub struct Made {
    /// The policy.
    pub artifact: Artifact,
    /// What was tried; the one that was taken is `taken`.
    pub trials: Vec<Trial>,
    /// Which of them stand on the front.
    pub front: Vec<bool>,
    /// The index of the one that was taken.
    pub taken: usize,
    /// Whether the budget ended before all was tried.
    pub cut: bool,
    /// What it attains.
    pub run: Run,
    /// Other rules on the same campaigns; none where the budget did not allow them.
    pub beside: Vec<Beside>,
}

/// What the rule is called that tuning found, where another was surely better and is taken.
pub const TUNED: &str = "tuned";

/// The rules that stand beside the one that was taken.
pub const BESIDE: [&str; 3] = ["fixed", "boinc-2025", "literal"];

/// Another rule beside the one that was taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beside {
    /// Its name.
    pub rule: &'static str,
    /// Its median makespan, over that of the rule that was taken; none where a batch was not done.
    pub makespan: Option<Estimate>,
    /// Its instances a job, over those of the rule that was taken.
    pub instances: Option<Estimate>,
    /// By how much more it costs, as what was tried costs, beside the makespans of the rule that was taken; what was not
    /// done counts as done at the end. Below 0 it is better.
    pub excess: Option<Estimate>,
}

/// Campaigns that claims are from have seeds that trials never have.
const FRESH: u64 = 0x5eed_0000_0000;

/// The rule with what is given, and the defaults of all else.
#[must_use]
pub fn default_rule(campaign: &Campaign) -> Dispatch {
    let own = Dispatch {
        first_percentile: 75.0,
        tight_percentile: 95.0,
        quantile: Some(0.3),
        queued: Queued::All,
        first_each: Some(1),
        reserve: true,
        patience: campaign.horizon() / 30.0,
    };
    with_given(campaign, own)
}

/// A rule with what the campaign gives in place of its own.
fn with_given(campaign: &Campaign, rule: Dispatch) -> Dispatch {
    let given = &campaign.record().policy;
    let value = |given: Option<Decimal>, own: f64| given.map_or(own, |d| d.value());
    Dispatch {
        first_percentile: value(given.first_percentile, rule.first_percentile),
        tight_percentile: value(given.tight_percentile, rule.tight_percentile),
        quantile: given.quantile.map(|d| d.value()).or(rule.quantile),
        patience: value(given.patience, rule.patience),
        ..rule
    }
}

/// The rules that others use, by name.
fn others(campaign: &Campaign) -> impl Iterator<Item = (&'static str, Rule)> {
    let bound = fixed_bound(campaign);
    let rules = [
        Rule::Fixed(bound),
        Rule::Tail(bound),
        Rule::Dispatch(literal(campaign)),
    ];
    BESIDE.into_iter().zip(rules)
}

/// The bound of rules that have one for all: that of a stream, or an eighth of the horizon.
#[must_use]
pub fn fixed_bound(campaign: &Campaign) -> f64 {
    let bounds = campaign.batches().iter().filter_map(|b| match b.quality {
        Quality::Throughput(bound) => Some(bound),
        _ => None,
    });
    bounds.reduce(f64::max).unwrap_or(campaign.horizon() / 8.0)
}

/// The proposal to the letter.
#[must_use]
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

/// Makes a policy. `hears` is told what goes on.
pub fn synthesize(
    campaign: &Campaign,
    options: &Options,
    listener: &mut dyn FnMut(&str),
) -> Outcome {
    if let Some(shortage) = campaign.shortage() {
        return Outcome::Impossible(shortage);
    }
    let made = search(campaign, options, listener)
        .and_then(|searched| made(campaign, searched, options, listener));
    made.map_or_else(|none| none, |made| Outcome::Made(Box::new(made)))
}

/// The policy of the rule that was taken, with what it attains in campaigns that decided nothing.
fn made(
    campaign: &Campaign,
    searched: Searched,
    options: &Options,
    listener: &mut dyn FnMut(&str),
) -> Result<Made, Outcome> {
    let Searched { trials, taken, cut } = searched;
    let (rule, run, beside) = measure(campaign, &trials[taken], options, listener)?;
    let artifact = Artifact::new(
        campaign.record().clone(),
        policy(campaign, rule),
        claims(campaign, &run),
        Evidence {
            campaigns: run.campaigns.len() as u32,
        },
    );
    Ok(Made {
        artifact,
        front: front(&trials),
        trials,
        taken,
        cut,
        run,
        beside,
    })
}

/// Campaigns that claims are from where nothing else is asked for.
const CAMPAIGNS: u64 = 8;

/// So many of them as take no more than these events under all rules.
fn affordable(tried: &Run, events: u64) -> u32 {
    let each = tried.events() / tried.campaigns.len().max(1) as u64;
    let rules = 1 + BESIDE.len() as u64;
    (events / (rules * each.max(1))).min(CAMPAIGNS) as u32
}

/// Times that rules stand beside each other in campaigns that decided nothing before, at most.
const ROUNDS: u64 = 4;

/// Measures the rule that was tuned, and others on the same campaigns: where two of each are more than the budget
/// allows, it alone. One that is surely better takes its place, and all are measured anew, so that claims come from
/// campaigns that decided nothing; only those of the last round may be both.
fn measure(
    campaign: &Campaign,
    tuned: &Trial,
    options: &Options,
    listener: &mut dyn FnMut(&str),
) -> Result<(Dispatch, Run, Vec<Beside>), Outcome> {
    let campaigns = options.campaigns;
    let campaigns = campaigns.unwrap_or_else(|| affordable(&tuned.run, options.events));
    let mut rules = vec![(TUNED, Rule::Dispatch(tuned.rule))];
    if campaigns > 1 {
        rules.extend(others(campaign));
    }
    // What is given stays.
    let may = rules.iter().map(|(_, rule)| may_be_taken(campaign, rule));
    let may: Vec<bool> = may.collect();
    let (mut own, mut round) = (0, 0);
    let mut runs: Vec<Run>;
    loop {
        let settings = Settings {
            seed: options.seed ^ (FRESH + round),
            replications: campaigns.max(2),
            interrupt: options.interrupt.clone(),
            events: u64::MAX,
            ..Settings::default()
        };
        runs = Vec::new();
        for (name, rule) in &rules {
            listener(&format!("measuring {name}"));
            runs.push(simulate(campaign, *rule, &settings, |_| ())?);
        }
        if options.interrupt.load(Ordering::Relaxed) {
            return Err(Outcome::Interrupted);
        }
        round += 1;
        let before = own;
        own = unbeaten(campaign, &runs, before, &may);
        if own == before || round == ROUNDS {
            break;
        }
    }
    let named = rules.iter().zip(&runs).enumerate();
    let others = named.filter(|(n, _)| *n != own);
    let beside = others.map(|(_, ((name, _), run))| compared(campaign, name, run, &runs[own]));
    let beside = beside.collect();
    let rule = dispatch_of(&rules[own].1).unwrap_or(tuned.rule);
    Ok((rule, runs.swap_remove(own), beside))
}

/// Whether a policy file can say a rule, with what the campaign gives.
fn may_be_taken(campaign: &Campaign, rule: &Rule) -> bool {
    dispatch_of(rule).is_some_and(|own| own == with_given(campaign, own))
}

fn dispatch_of(rule: &Rule) -> Option<Dispatch> {
    match rule {
        Rule::Dispatch(dispatch) => Some(*dispatch),
        _ => None,
    }
}

/// The rule, with how its percentiles and estimates are made.
fn policy(campaign: &Campaign, dispatch: Dispatch) -> Policy {
    let refresh = campaign.record().policy.refresh;
    let refresh = refresh.map_or(campaign.horizon() / REFRESHES, |own| own.value());
    Policy {
        dispatch,
        refresh,
        tick: refresh / f64::from(TICKS),
    }
}

/// Another rule beside the one that was taken, on the same campaigns.
fn compared(campaign: &Campaign, rule: &'static str, other: &Run, own: &Run) -> Beside {
    Beside {
        rule,
        makespan: against(campaign, other, own, Quantity::MedianMakespan),
        instances: against(campaign, other, own, Quantity::Instances),
        excess: excess(campaign, other, own),
    }
}

/// What campaigns say of the policy; nothing where some batch was not done in some of them.
fn claims(campaign: &Campaign, run: &Run) -> Vec<Claim> {
    let time = campaign.time_unit();
    let all: Vec<usize> = campaign.batches().iter().map(|b| b.application).collect();
    let capacity = campaign.capacity(&all).usual;
    let claim = |quantity, subject, value: f64, method| {
        let holds_for = HoldsFor::default();
        Claim::new(quantity, subject, (value, time), method, holds_for)
    };
    let simulated = |quantity, subject, found: Estimate| Claim {
        half_width: Some(found.half_width),
        ..claim(quantity, subject, found.mean, Method::Simulated)
    };
    let capacity = claim(
        Quantity::Capacity,
        Subject::ALL,
        capacity,
        Method::BoundMeans,
    );
    let whole = Quantity::ALL.iter().filter_map(|quantity| {
        let found = run.estimate(campaign, *quantity)?;
        Some(simulated(*quantity, Subject::ALL, found))
    });
    let batches = campaign.batches().iter().enumerate();
    let batches = batches.filter(|(_, batch)| !batch.is_stream());
    let batches = batches.filter_map(|(n, batch)| {
        let subject = Subject {
            batch: Some(&batch.name),
            ..Subject::ALL
        };
        Some(simulated(Quantity::Makespan, subject, run.makespan(n)?))
    });
    [capacity].into_iter().chain(whole).chain(batches).collect()
}
