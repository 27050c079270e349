//! Which parameters are tried: one after the other, each from the best so far.

use std::sync::atomic::Ordering;

use super::trial::choose;
use super::{Options, Trial, default_rule};
use crate::simulation::Settings;
use crate::volunteer::policy::Dispatch;
use crate::volunteer::simulator::{Rule, simulate};
use crate::volunteer::workload::{Campaign, Quality};

/// What goes on.
#[derive(Clone, Copy, Debug)]
pub enum Doing<'a> {
    /// The n-th parameters are tried, of about so many.
    Trying(usize, usize),
    /// A rule is measured, by name.
    Measuring(&'a str),
}

const FIRST: [f64; 7] = [0.0, 25.0, 50.0, 75.0, 90.0, 95.0, 98.0];
const TIGHT: [f64; 4] = [50.0, 75.0, 90.0, 99.0];
const QUANTILES: [f64; 4] = [0.1, 0.2, 0.5, 0.8];

/// Trials that a search makes, about.
const TRIALS: u64 = 30;

/// What was tried, and the index of what is taken; none where an end was wanted.
pub(super) fn search(
    campaign: &Campaign,
    options: &Options,
    hears: &mut dyn FnMut(Doing<'_>),
) -> Option<(Vec<Trial>, usize)> {
    let mut search = Search {
        campaign,
        options,
        hears,
        campaigns: 2,
        trials: Vec::new(),
    };
    let given = &campaign.record().policy;
    let matters = campaign
        .batches()
        .iter()
        .any(|batch| !matches!(batch.quality, Quality::Throughput(_)));
    let start = default_rule(campaign);
    search.measure(start)?;
    if !matters {
        return Some((search.trials, 0));
    }
    search.campaigns = {
        let each = search.trials[0].run.events() / 2;
        (options.events / TRIALS / each.max(1)).clamp(2, 4) as u32
    };
    search.trials.clear();
    search.measure(start)?;
    let each = [Some(1), None];
    let firsts: &[f64] = if given.first_percentile.is_some() {
        &[]
    } else {
        &FIRST
    };
    for first_each in each {
        search.measure(Dispatch {
            first_each,
            ..start
        })?;
        for first_percentile in firsts {
            search.measure(Dispatch {
                first_percentile: *first_percentile,
                first_each,
                ..start
            })?;
        }
    }
    if given.quantile.is_none() {
        for own in search.best(2) {
            for quantile in QUANTILES.map(Some) {
                search.measure(Dispatch { quantile, ..own })?;
            }
        }
        for own in search.best(1) {
            let quantile = None;
            search.measure(Dispatch { quantile, ..own })?;
        }
    }
    if given.tight_percentile.is_none() {
        for own in search.best(1) {
            for tight_percentile in TIGHT {
                search.measure(Dispatch {
                    tight_percentile,
                    ..own
                })?;
            }
        }
    }
    if given.first_percentile.is_none() {
        for own in search.best(1) {
            for first_percentile in between(own.first_percentile) {
                search.measure(Dispatch {
                    first_percentile,
                    ..own
                })?;
            }
        }
    }
    let taken = choose(&search.trials)?;
    Some((search.trials, taken))
}

/// Thresholds half-way to the next ones on both sides.
fn between(first: f64) -> Vec<f64> {
    let below = FIRST.iter().rev().find(|other| **other < first);
    let above = FIRST.iter().find(|other| **other > first);
    [below, above.or(Some(&100.0))]
        .into_iter()
        .flatten()
        .map(|other| first.midpoint(*other))
        .collect()
}

struct Search<'a> {
    campaign: &'a Campaign,
    options: &'a Options,
    hears: &'a mut dyn FnMut(Doing<'_>),
    campaigns: u32,
    trials: Vec<Trial>,
}

impl Search<'_> {
    /// Tries a rule, if it was not tried before and events are left; none where an end was wanted.
    fn measure(&mut self, rule: Dispatch) -> Option<()> {
        let spent: u64 = self.trials.iter().map(|trial| trial.run.events()).sum();
        let over = spent >= self.options.events && !self.trials.is_empty();
        if over || self.trials.iter().any(|trial| trial.rule == rule) {
            return Some(());
        }
        let settings = Settings {
            seed: self.options.seed,
            replications: self.campaigns,
            interrupt: self.options.interrupt.clone(),
            events: u64::MAX,
            ..Settings::default()
        };
        let number = self.trials.len() + 1;
        (self.hears)(Doing::Trying(number, TRIALS as usize));
        let run = simulate(self.campaign, Rule::Dispatch(rule), &settings, |_| ());
        if self.options.interrupt.load(Ordering::Relaxed) {
            return None;
        }
        let first = self.trials.first().map(|trial| &trial.run);
        let trial = Trial::new(self.campaign, rule, run, first);
        self.trials.push(trial);
        Some(())
    }

    /// The rules of least cost so far.
    fn best(&self, count: usize) -> Vec<Dispatch> {
        let mut order: Vec<&Trial> = self.trials.iter().collect();
        order.sort_by(|a, b| a.cost().total_cmp(&b.cost()));
        order
            .into_iter()
            .take(count)
            .map(|trial| trial.rule)
            .collect()
    }
}
