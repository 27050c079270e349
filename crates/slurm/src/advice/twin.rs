//! The site's own jobs under its own rule, and under another.

use std::sync::Arc;

use super::error::AdviceError;
use crate::configuration::Site;
use crate::rule::{Facts, SlurmRule, clock_of};
use synth_cluster::policy::Priority;
use synth_cluster::simulator::OtherRule as _;
use synth_trace::replay::{Clock, DecisionState, Kinds, Log, Speed, Walk, gathered};

/// Jobs of a log, to be replayed on a site and on changed ones.
pub(super) struct Twin<'a> {
    log: &'a Log,
    kinds: Kinds,
}

/// Seconds by which the clock is set forth: no two are alike for passes of backfilling, nor for the steps of its plans.
const SECONDS: [f64; 3] = [0.0, 17.0, 41.0];

/// How a site schedules: its set-up, and the facts of the jobs that come.
#[derive(Clone)]
pub(super) struct Setting {
    pub site: Site,
    pub facts: Vec<Facts>,
    pub order: Option<Priority>,
}

impl<'a> Twin<'a> {
    pub fn new(log: &'a Log) -> Self {
        Twin {
            log,
            kinds: Kinds::exact(log),
        }
    }

    /// Returns the wait of each job \[s\] in such a setting, once for each of some seconds in which its clock may stand: plans are made in
    /// whole minutes, and a start that is a second early moves all behind it.
    ///
    /// # Errors
    /// When the jobs cannot be replayed there.
    pub fn waits(&self, setting: &Setting) -> Result<Vec<Vec<f64>>, AdviceError> {
        let seconds = SECONDS.into_iter();
        seconds.map(|second| self.once(setting, second)).collect()
    }

    fn once(&self, setting: &Setting, second: f64) -> Result<Vec<f64>, AdviceError> {
        let servers = setting.site.servers().0;
        let larger;
        let log = if servers == self.log.servers {
            self.log
        } else {
            larger = Log {
                servers,
                ..self.log.clone()
            };
            &larger
        };
        let clock = Clock::whole(Speed::ONE);
        let refused = |why: String| AdviceError(why);
        let seen = gathered(log, &log.jobs, &self.kinds, clock, 0.0, false);
        let (fleet, types) = seen.map_err(|faults| refused(faults.to_string()))?;
        let rule = SlurmRule {
            at: Some((Arc::new(setting.site.clone()), setting.facts.clone().into())),
            order: setting.order,
            clock: clock_of(self.log) + second,
            second: Some(clock.size(self.log.tick.per_second() as f64)),
        };
        let rule = rule.rule(&fleet).map_err(|why| refused(why.0))?;
        let state = DecisionState {
            promised: true,
            ..DecisionState::new(&log.jobs, types, fleet, clock)
        };
        let mut walk = Walk::new(&state, rule);
        walk.finish().map_err(|why| refused(why.to_string()))?;
        let per_second = log.tick.per_second() as f64;
        let waits = log.jobs.iter().zip(walk.ends());
        // Times are whole in a replay at speed 1.
        Ok(waits
            .map(|(job, end)| (end - job.submit - job.size).max(0.0) / per_second)
            .collect())
    }
}
