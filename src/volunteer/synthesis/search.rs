//! Which parameters are tried: one after the other, each from the best so far.

use std::sync::atomic::Ordering;

use super::trial::choose;
use super::{Options, Outcome, Trial, default_rule, literal, with_given};
use crate::simulation::Settings;
use crate::volunteer::policy::Dispatch;
use crate::volunteer::simulator::{Rule, simulate};
use crate::volunteer::workload::{Campaign, Quality, Record};

/// Values that are tried before those between them.
const FIRST: [f64; 6] = [0.0, 25.0, 50.0, 75.0, 90.0, 97.0];
const QUANTILES: [f64; 4] = [0.1, 0.3, 0.5, 0.8];
const TIGHT: [f64; 2] = [75.0, 99.0];

/// Trials that a search makes, about.
const TRIALS: u64 = 23;

/// What was tried.
pub(super) struct Searched {
    pub trials: Vec<Trial>,
    /// The index of what is taken.
    pub taken: usize,
    /// Whether the budget ended before all was tried.
    pub cut: bool,
}

/// Looks for the best parameters.
pub(super) fn search(
    campaign: &Campaign,
    options: &Options,
    listener: &mut dyn FnMut(&str),
) -> Result<Searched, Outcome> {
    let mut search = Search {
        campaign,
        options,
        listener,
        campaigns: 2,
        trials: Vec::new(),
        cut: false,
    };
    let matters = campaign
        .batches()
        .iter()
        .any(|batch| !matches!(batch.quality, Quality::Throughput(_)));
    let start = default_rule(campaign);
    search.measure(start)?;
    if !matters {
        return Ok(search.ended(0));
    }
    search.campaigns = {
        let each = search.trials[0].run.events() / 2;
        (options.events / TRIALS / each.max(1)).clamp(2, 4) as u32
    };
    if search.campaigns > 2 {
        search.trials.clear();
        search.measure(start)?;
    }
    // Tuning goes on from the better one.
    search.measure(with_given(campaign, literal(campaign)))?;
    search.tune(campaign.record())?;
    let taken = choose(&search.trials).ok_or(Outcome::Interrupted)?;
    Ok(search.ended(taken))
}

/// Values half-way from one to the next ones on both sides among these, which end at `most`.
fn between(value: f64, all: &[f64], most: f64) -> Vec<f64> {
    let below = all.iter().rev().find(|other| **other < value);
    let above = all.iter().find(|other| **other > value);
    [below, above.or(Some(&most))]
        .into_iter()
        .flatten()
        .map(|other| value.midpoint(*other))
        .collect()
}

struct Search<'a> {
    campaign: &'a Campaign,
    options: &'a Options,
    listener: &'a mut dyn FnMut(&str),
    campaigns: u32,
    trials: Vec<Trial>,
    cut: bool,
}

impl Search<'_> {
    fn ended(self, taken: usize) -> Searched {
        Searched {
            trials: self.trials,
            taken,
            cut: self.cut,
        }
    }

    /// One parameter after the other, each from the best so far, and then between its neighbours; what
    /// is given stays.
    fn tune(&mut self, record: &Record) -> Result<(), Outcome> {
        let given = &record.policy;
        let (first, quantile) = (given.first_percentile.is_none(), given.quantile.is_none());
        if first {
            self.vary(&FIRST, |rule, first| rule.first_percentile = first)?;
        }
        if quantile {
            self.vary(&QUANTILES, |rule, q| rule.quantile = Some(q))?;
            self.vary(&[0.0], |rule, _| rule.quantile = None)?;
        }
        self.narrow(first, quantile)?;
        // Without a limit of jobs for each processor higher thresholds are better.
        let own = self.best().first_percentile;
        let higher = FIRST.iter().copied().filter(|other| *other > own);
        let higher = higher.take(if first { 2 } else { 0 });
        let firsts: Vec<f64> = std::iter::once(own).chain(higher).collect();
        self.vary(&firsts, |rule, first| {
            (rule.first_percentile, rule.first_each) = (first, None);
        })?;
        if given.tight_percentile.is_none() {
            self.vary(&TIGHT, |rule, tight| rule.tight_percentile = tight)?;
        }
        self.narrow(first, quantile)
    }

    /// The best rule so far with each of these values.
    fn vary(&mut self, values: &[f64], set: impl Fn(&mut Dispatch, f64)) -> Result<(), Outcome> {
        let best = self.best();
        for value in values {
            let mut rule = best;
            set(&mut rule, *value);
            self.measure(rule)?;
        }
        Ok(())
    }

    /// Between the best percentile so far and its neighbours, and the same of the quantile.
    fn narrow(&mut self, first: bool, quantile: bool) -> Result<(), Outcome> {
        if first {
            let tried = self.tried(|rule| Some(rule.first_percentile));
            let values = between(self.best().first_percentile, &tried, 100.0);
            self.vary(&values, |rule, first| rule.first_percentile = first)?;
        }
        let best = self.best().quantile.filter(|_| quantile);
        if let Some(best) = best {
            let tried = self.tried(|rule| rule.quantile);
            let values = between(best, &tried, 0.95);
            self.vary(&values, |rule, q| rule.quantile = Some(q))?;
        }
        Ok(())
    }

    /// The values of a parameter that were tried, ascending.
    fn tried(&self, of: impl Fn(&Dispatch) -> Option<f64>) -> Vec<f64> {
        let mut tried: Vec<f64> = self.trials.iter().filter_map(|t| of(&t.rule)).collect();
        tried.sort_by(f64::total_cmp);
        tried
    }

    /// Tries a rule, if it was not tried before and events are left.
    fn measure(&mut self, rule: Dispatch) -> Result<(), Outcome> {
        let spent: u64 = self.trials.iter().map(|trial| trial.run.events()).sum();
        if self.trials.iter().any(|trial| trial.rule == rule) {
            return Ok(());
        }
        if spent >= self.options.events && !self.trials.is_empty() {
            self.cut = true;
            return Ok(());
        }
        let settings = Settings {
            seed: self.options.seed,
            replications: self.campaigns,
            interrupt: self.options.interrupt.clone(),
            // A campaign may have twice as many, and two that choose and two that decide nothing are the least.
            events: self.options.events / 4,
            ..Settings::default()
        };
        let number = self.trials.len() + 1;
        (self.listener)(&format!("trying parameters, {number} of about {TRIALS}"));
        let run = simulate(self.campaign, Rule::Dispatch(rule), &settings, |_| ());
        let run = match run {
            Err(_) if !self.trials.is_empty() => {
                self.cut = true;
                return Ok(());
            }
            run => run?,
        };
        if self.options.interrupt.load(Ordering::Relaxed) {
            return Err(Outcome::Interrupted);
        }
        let first = self.trials.first().map(|trial| &trial.run);
        let trial = Trial::new(self.campaign, rule, run, first);
        self.trials.push(trial);
        Ok(())
    }

    /// The rule of least cost so far; the first one before any.
    fn best(&self) -> Dispatch {
        let trials = self.trials.iter();
        let best = trials.min_by(|a, b| a.cost().total_cmp(&b.cost()));
        best.map_or_else(|| default_rule(self.campaign), |trial| trial.rule)
    }
}
