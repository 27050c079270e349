//! Searches for the best parameters by changing one parameter at a time.

use std::sync::atomic::Ordering;

use super::trial::{Trial, choose, costs};
use super::{NoPolicy, Options, default_rule, literal};
use crate::policy::Dispatch;
use crate::simulator::{Rule, simulate};
use crate::workload::{Batch, Campaign, Quality};
use synth_simulation::Settings;

const FIRST: [f64; 6] = [0.0, 25.0, 50.0, 75.0, 90.0, 97.0];

const TRIALS: u64 = 23;

/// Returns the trials, the index of the selected one, and whether the budget was too small for all.
pub(super) fn search(
    campaign: &Campaign,
    options: &Options,
    listener: &mut dyn FnMut(&str),
) -> Result<(Vec<Trial>, usize, bool), NoPolicy> {
    let mut search = Search {
        campaign,
        options,
        listener,
        campaigns: 2,
        trials: Vec::new(),
        cut: false,
    };
    let start = default_rule(campaign);
    search.measure(start)?;
    if campaign.batches.iter().all(Batch::is_stream) {
        return Ok((search.trials, 0, search.cut));
    }
    let each = search.trials[0].run.events() / 2;
    search.campaigns = (options.events / TRIALS / each.max(1)).clamp(2, 4) as u32;
    if search.campaigns > 2 {
        search.trials.clear();
        search.measure(start)?;
    }
    search.measure(literal(campaign).with_fixed(&campaign.record.policy))?;
    search.tune()?;
    let taken = choose(&search.trials).ok_or(NoPolicy::Interrupted)?;
    Ok((search.trials, taken, search.cut))
}

fn between(value: f64, all: impl Iterator<Item = f64> + Clone, most: f64) -> Vec<f64> {
    let below = all.clone().filter(|other| *other < value);
    let above = all.filter(|other| *other > value).reduce(f64::min);
    let neighbours = [below.reduce(f64::max), above.or(Some(most))].into_iter();
    let between = neighbours.flatten().map(|other| value.midpoint(other));
    between.collect()
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
    fn tune(&mut self) -> Result<(), NoPolicy> {
        let fixed = &self.campaign.record.policy;
        // The first percentile is only used without a deadline, and the reserve only with one.
        let has_afap = self.campaign.has(&[Quality::Afap]);
        let first = fixed.first_percentile.is_none() && has_afap;
        let quantile = fixed.quantile.is_none();
        if self.campaign.has(&[Quality::Short, Quality::Long]) {
            self.vary(&[0.0], |rule, _| rule.reserve = !rule.reserve)?;
        }
        if first {
            self.vary(&FIRST, |rule, first| rule.first_percentile = first)?;
        }
        if quantile {
            self.vary(&[0.1, 0.3, 0.5, 0.8], |rule, q| rule.quantile = Some(q))?;
            self.vary(&[0.0], |rule, _| rule.quantile = None)?;
        }
        self.narrow(first, quantile)?;
        // If there is no limit for each processor, then higher thresholds are better.
        let own = self.best().first_percentile;
        let higher = FIRST.into_iter().filter(|other| *other > own);
        let mut firsts = vec![own];
        firsts.extend(higher.take(if first { 2 } else { 0 }));
        self.vary(&firsts, |rule, first| {
            (rule.first_percentile, rule.first_each) = (first, None);
        })?;
        if fixed.tight_percentile.is_none() {
            self.vary(&[75.0, 99.0], |rule, tight| rule.tight_percentile = tight)?;
        }
        self.narrow(first, quantile)
    }

    fn vary(&mut self, values: &[f64], set: impl Fn(&mut Dispatch, f64)) -> Result<(), NoPolicy> {
        let best = self.best();
        for value in values {
            let mut rule = best;
            set(&mut rule, *value);
            self.measure(rule)?;
        }
        Ok(())
    }

    fn narrow(&mut self, first: bool, quantile: bool) -> Result<(), NoPolicy> {
        if first {
            let tried = self.trials.iter().map(|own| own.rule.first_percentile);
            let values = between(self.best().first_percentile, tried, 100.0);
            self.vary(&values, |rule, first| rule.first_percentile = first)?;
        }
        if let Some(best) = self.best().quantile.filter(|_| quantile) {
            let tried = self.trials.iter().filter_map(|own| own.rule.quantile);
            let values = between(best, tried, 0.95);
            self.vary(&values, |rule, q| rule.quantile = Some(q))?;
        }
        Ok(())
    }

    fn measure(&mut self, rule: Dispatch) -> Result<(), NoPolicy> {
        if self.trials.iter().any(|trial| trial.rule == rule) {
            return Ok(());
        }
        let spent: u64 = self.trials.iter().map(|trial| trial.run.events()).sum();
        if spent >= self.options.events && !self.trials.is_empty() {
            self.cut = true;
            return Ok(());
        }
        let settings = Settings {
            seed: self.options.seed,
            replications: self.campaigns,
            interrupt: self.options.interrupt.clone(),
            // A campaign can use twice as many. At least two to select and two held out are needed.
            events: self.options.events / 4,
            ..Settings::default()
        };
        let number = self.trials.len() + 1;
        (self.listener)(&format!("testing parameters ({number} of about {TRIALS})"));
        let run = simulate(self.campaign, Rule::Dispatch(rule), &settings, |_| ());
        if run.is_err() && !self.trials.is_empty() {
            self.cut = true;
            return Ok(());
        }
        let run = run.map_err(NoPolicy::TooLong)?;
        if self.options.interrupt.load(Ordering::Relaxed) {
            return Err(NoPolicy::Interrupted);
        }
        let first = self.trials.first().map_or(&run, |trial| &trial.run);
        let costs = costs(&run, first);
        self.trials.push(Trial { rule, run, costs });
        Ok(())
    }

    fn best(&self) -> Dispatch {
        let best = self.trials.iter().min_by(|a, b| a.compare(b));
        best.map_or_else(|| default_rule(self.campaign), |trial| trial.rule)
    }
}
