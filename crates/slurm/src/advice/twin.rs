//! The site's own jobs under its own rule, and under another.

use std::sync::Arc;

use super::error::AdviceError;
use crate::configuration::Site;
use crate::rule::{Facts, SlurmRule, clock_of};
use synth_cluster::policy::Priority;
use synth_cluster::simulator::OtherRule as _;
use synth_trace::replay::{Clock, DecisionState, Job, Kinds, Log, Speed, Walk, gathered};

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
        let seen = gathered(log, &log.jobs, &self.kinds, clock, 0.0, false);
        let (fleet, types) = seen.map_err(|faults| AdviceError(faults.to_string()))?;
        let state = DecisionState {
            promised: true,
            ..DecisionState::new(&log.jobs, types, fleet, clock)
        };
        let at = (Arc::new(setting.site.clone()), setting.facts.clone().into());
        let run = |second: f64| {
            let rule = SlurmRule {
                at: Some(at.clone()),
                order: setting.order,
                clock: clock_of(log) + second,
                second: Some(clock.size(log.tick.per_second() as f64)),
            };
            waits_under(&rule, &state, log)
        };
        SECONDS.into_iter().map(run).collect()
    }
}

/// Returns the wait of each job \[s\] under a rule.
fn waits_under(
    rule: &SlurmRule,
    state: &DecisionState<'_>,
    log: &Log,
) -> Result<Vec<f64>, AdviceError> {
    let rule = rule.rule(&state.fleet);
    let mut walk = Walk::new(state, rule.map_err(|why| AdviceError(why.0))?);
    walk.finish().map_err(|why| AdviceError(why.to_string()))?;
    let per_second = log.tick.per_second() as f64;
    // Times are whole in a replay at speed 1.
    let wait = |(job, end): (&Job, &f64)| (end - job.submit - job.size).max(0.0) / per_second;
    Ok(log.jobs.iter().zip(walk.ends()).map(wait).collect())
}
