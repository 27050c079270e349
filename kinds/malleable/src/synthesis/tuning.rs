//! This module uses simulations to tune the parameters of heSRPT for jobs that arrive over time.
//!
//! The arrivals and sizes are the same for all candidates, so that ratios are more precise than
//! means. [`Online::PLAIN`] is used unless there is a candidate that is significantly better. The
//! claims are based on a separate run with other arrivals.

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
    /// The candidates. This is empty if the parameters were given by the user.
    pub tried: Vec<Candidate>,
    /// A separate run of the selected rule.
    pub run: Run,
    /// The total number of events in all simulations.
    pub events: u64,
}

/// A candidate, together with its result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// The parameters.
    pub online: Online,
    /// The mean response time relative to the selected rule, or `None` if one of them has not
    /// converged.
    pub times: Option<Estimate>,
}

struct Choice {
    online: Online,
    /// The mean response time of each replication. This is empty if the run has not converged.
    replications: Vec<f64>,
}

const URGENCIES: [f64; 8] = [0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0];

const BACKGROUNDS: [f64; 6] = [0.25, 0.5, 1.0, 2.0, 4.0, 8.0];

/// The factors of the best urgency that are tested with the best background.
const BESIDE: [f64; 4] = [0.8, 0.9, 1.1, 1.25];

/// The events are divided by this number. The last run has twice as many events as the others.
const RUNS: u64 = 20;

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
    let online = match options.knobs {
        Some(knobs) => knobs,
        None => trials.choose()?,
    };
    let run = trials.simulate(online, false, "running a simulation of the selected rule")?;
    let tried = trials.tried.iter().map(|own| Candidate {
        online: own.online,
        times: trials.ratio(own.online, online),
    });
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
    tried: Vec<Choice>,
    listener: H,
}

impl<H: FnMut(&str, Progress)> Trials<'_, H> {
    fn choose(&mut self) -> Result<Online, String> {
        let plain = Online::PLAIN;
        for urgency in URGENCIES {
            self.attempt(Online { urgency, ..plain })?;
        }
        let best = self.best();
        for background in BACKGROUNDS {
            self.attempt(Online { background, ..best })?;
        }
        let best = self.best();
        for factor in BESIDE {
            let urgency = best.urgency * factor;
            self.attempt(Online { urgency, ..best })?;
        }
        // This does not have to be the candidate with the smallest mean, as others may be more
        // precise.
        let better = |than: &Choice| {
            let ratio = self.ratio(Online::PLAIN, than.online);
            let surely = ratio.is_none_or(|ratio| ratio.mean - ratio.half_width > 1.0);
            surely && !than.replications.is_empty()
        };
        let some = self.tried.iter().any(better);
        Ok(if some { self.best() } else { Online::PLAIN })
    }

    fn attempt(&mut self, online: Online) -> Result<(), String> {
        if self.tried.iter().any(|tried| tried.online == online) {
            return Ok(());
        }
        let doing = format!("trying urgency {}", online.urgency);
        let run = self.simulate(online, true, &doing)?;
        let settled = run.health == Health::Settled;
        let replications = run.replications.into_iter().collect::<Option<Vec<_>>>();
        self.tried.push(Choice {
            online,
            replications: replications.filter(|_| settled).unwrap_or_default(),
        });
        Ok(())
    }

    /// Simulates a candidate, or the selected rule with other arrivals and for twice as long.
    fn simulate(&mut self, online: Online, chooses: bool, doing: &str) -> Result<Run, String> {
        let last = u64::from(!chooses);
        let settings = Settings {
            seed: self.options.seed.wrapping_add(last),
            precision: if chooses { 1e-9 } else { 2e-3 },
            events: (1 + last) * self.options.events / RUNS,
            interrupt: self.options.interrupt.clone(),
            ..Settings::default()
        };
        let listener = |reached| (self.listener)(doing, reached);
        let run = simulate(self.stream, Sharing::HeSrpt(online), &settings, listener)?;
        self.events += run.events;
        Ok(run)
    }

    fn best(&self) -> Online {
        let mean = |tried: &&Choice| tried.replications.iter().sum::<f64>();
        let tried = self.tried.iter();
        let settled = tried.filter(|tried| !tried.replications.is_empty());
        let best = settled.min_by(|a, b| mean(a).total_cmp(&mean(b)));
        best.map_or(Online::PLAIN, |best| best.online)
    }

    fn ratio(&self, of: Online, to: Online) -> Option<Estimate> {
        let find = |online: Online| self.tried.iter().find(|tried| tried.online == online);
        paired_ratio(&find(of)?.replications, &find(to)?.replications)
    }
}
