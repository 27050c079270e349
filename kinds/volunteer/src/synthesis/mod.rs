//! Tunes the parameters of the dispatch rule by simulation. Claims are measured in campaigns that
//! are held out.

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

/// A synthesized policy, with the trials behind it.
#[derive(Debug)]
pub struct Made {
    /// The policy.
    pub artifact: Artifact,
    /// All trials.
    pub trials: Vec<Trial>,
    /// Whether the budget ended before all trials were done.
    pub cut: bool,
    /// The measurements of the policy.
    pub run: Run,
    /// Competing rules on the same campaigns; empty if the budget did not allow them.
    pub competitors: Vec<Competitor>,
}

/// The name of the tuned rule, if a competing rule was significantly better and is selected.
pub const TUNED: &str = "tuned";

/// The competing rules.
pub const COMPETITORS: [&str; 3] = ["fixed", "boinc-2025", "literal"];

/// A competing rule, compared with the selected one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Competitor {
    /// The name of the rule.
    pub rule: &'static str,
    /// The relative median makespan; `None` if a batch was not completed.
    pub makespan: Option<Estimate>,
    /// The relative number of instances per job.
    pub instances: Option<Estimate>,
    /// The relative excess of its cost. A batch that is not finished counts as finished at the end.
    pub excess: Option<Estimate>,
}

/// This is added to the seed of the campaigns that are held out, so that no trial uses them.
const FRESH: u64 = 0x5eed_0000_0000;

/// Synthesizes a policy and reports the progress to `listener`.
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

const CAMPAIGNS: u64 = 8;

const ROUNDS: u64 = 4;

/// Measures the tuned rule, and its competitors if the budget allows, on the same campaigns. If a
/// competitor is significantly better, it is selected and all are measured again on new campaigns,
/// so that claims come from held-out campaigns; only the last round may serve both purposes.
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
    let others = [
        Rule::Fixed(bound),
        Rule::Tail(bound),
        Rule::Dispatch(literal(campaign)),
    ];
    let mut rules = vec![(TUNED, Rule::Dispatch(tuned.rule))];
    let competitors = COMPETITORS.into_iter().zip(others);
    rules.extend(competitors.filter(|_| campaigns > 1));
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

/// User options.
#[derive(Clone, Debug)]
pub struct Options {
    /// The event budget of the search.
    pub events: u64,
    /// Number of campaigns for the claims, at least 2; by default as many as the events allow, to
    /// 8.
    pub campaigns: Option<u32>,
    /// The seed.
    pub seed: u64,
    /// If this flag is set, the synthesis stops without a policy.
    pub interrupt: Arc<AtomicBool>,
}

/// Why there is no policy.
#[derive(Debug)]
pub enum NoPolicy {
    /// No rule can do the work.
    Impossible(Shortage),
    /// The budget is too small for any policy.
    TooLong(TooLong),
    /// The synthesis was interrupted.
    Interrupted,
}

/// Returns the default rule with the parameters that the workload fixes.
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

/// Returns the bound of rules with a single one: a stream's, or an eighth of the horizon.
pub fn fixed_bound(campaign: &Campaign) -> f64 {
    let streams = campaign.batches().iter().filter(|own| own.is_stream());
    let bounds = streams.map(|own| own.limit);
    bounds.reduce(f64::max).unwrap_or(campaign.horizon() / 8.0)
}

/// Returns the rule of the original proposal.
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
