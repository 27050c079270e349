//! Tunes the parameters of heSRPT for jobs that arrive over time (see [`Online`]).
//!
//! The arrivals and sizes are the same for all candidates, so that ratios are more precise than
//! means. [`Online::PLAIN`] is used unless it has not converged, or another candidate has and is
//! significantly better. The policy's claims are based on a separate run with other arrivals.

use super::Options;
use crate::policy::{Online, Sharing};
use crate::simulator::{Run, simulate};
use crate::workload::Stream;
use synth_simulation::{Estimate, Health, Progress, Settings, paired_ratio};

/// The result of the tuning.
#[derive(Clone, Debug)]
pub struct Tuned {
    /// The selected parameters.
    pub online: Online,
    /// The candidates with their mean response time relative to the selected rule, or `None` if one
    /// of the two has not converged. This is empty if the parameters were given by the user.
    pub tried: Vec<(Online, Option<Estimate>)>,
    /// A separate run of the selected rule.
    pub run: Run,
    /// The total number of events in all simulations.
    pub events: u64,
}

/// The events are divided among 8 + 6 + 4 candidates and the last run, which counts twice.
const SHARES: u64 = 20;

/// Selects the parameters, and then simulates the selected rule with new arrivals.
pub(super) fn tune(
    stream: &Stream,
    options: &Options,
    listener: impl FnMut(&str, Progress),
) -> Result<Tuned, String> {
    let mut trials = Trials {
        stream,
        options,
        events: 0,
        tried: Vec::new(),
        listener,
    };
    let online = match options.parameters {
        Some(parameters) => parameters,
        None => trials.choose()?,
    };
    let run = trials.simulate(online, true, "running a simulation of the selected rule")?;
    let tried = trials.tried.iter();
    let tried = tried.map(|(own, _)| (*own, trials.ratio(*own, online)));
    Ok(Tuned {
        online,
        tried: tried.collect(),
        run,
        events: trials.events,
    })
}

struct Trials<'a, H> {
    stream: &'a Stream,
    options: &'a Options,
    events: u64,
    /// The candidates, with the mean response time of each replication if the run has converged.
    tried: Vec<(Online, Vec<f64>)>,
    listener: H,
}

impl<H: FnMut(&str, Progress)> Trials<'_, H> {
    fn choose(&mut self) -> Result<Online, String> {
        let plain = Online::PLAIN;
        for urgency in [0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0] {
            self.attempt(Online { urgency, ..plain })?;
        }
        let best = self.best();
        for background in [0.25, 0.5, 1.0, 2.0, 4.0, 8.0] {
            self.attempt(Online { background, ..best })?;
        }
        let best = self.best();
        for factor in [0.8, 0.9, 1.1, 1.25] {
            let urgency = best.urgency * factor;
            self.attempt(Online { urgency, ..best })?;
        }
        // One significantly better candidate is enough. The mean of the best may be less precise.
        let is_better = |(candidate, replications): &(Online, Vec<f64>)| {
            let ratio = self.ratio(Online::PLAIN, *candidate);
            let is_better = ratio.is_none_or(|ratio| ratio.mean - ratio.half_width > 1.0);
            is_better && !replications.is_empty()
        };
        let any = self.tried.iter().any(is_better);
        Ok(if any { self.best() } else { Online::PLAIN })
    }

    fn attempt(&mut self, online: Online) -> Result<(), String> {
        if self.tried.iter().any(|(tried, _)| *tried == online) {
            return Ok(());
        }
        let (urgency, background) = (online.urgency, online.background);
        let doing = format!("trying urgency {urgency} and background {background}");
        let run = self.simulate(online, false, &doing)?;
        let converged = run.health == Health::Settled;
        let replications = run.replications.into_iter().collect::<Option<Vec<_>>>();
        let replications = replications.filter(|_| converged).unwrap_or_default();
        self.tried.push((online, replications));
        Ok(())
    }

    /// Simulates a candidate without stopping early, or the selected rule with twice the events.
    fn simulate(&mut self, online: Online, is_final: bool, doing: &str) -> Result<Run, String> {
        let last = u64::from(is_final);
        let settings = Settings {
            seed: self.options.seed.wrapping_add(last),
            precision: if is_final { 2e-3 } else { 1e-9 },
            events: (1 + last) * self.options.events / SHARES,
            interrupt: self.options.interrupt.clone(),
            ..Settings::default()
        };
        let listener = |reached| (self.listener)(doing, reached);
        let run = simulate(self.stream, Sharing::HeSrpt(online), &settings, listener)?;
        self.events += run.events;
        Ok(run)
    }

    fn best(&self) -> Online {
        let total = |replications: &[f64]| replications.iter().sum::<f64>();
        let converged = self.tried.iter().filter(|(_, own)| !own.is_empty());
        let best = converged.min_by(|a, b| total(&a.1).total_cmp(&total(&b.1)));
        best.map_or(Online::PLAIN, |best| best.0)
    }

    fn ratio(&self, of: Online, to: Online) -> Option<Estimate> {
        let find = |online: Online| self.tried.iter().find(|tried| tried.0 == online);
        paired_ratio(&find(of)?.1, &find(to)?.1)
    }
}
