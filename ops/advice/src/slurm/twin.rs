use std::borrow::Cow;
use std::sync::Arc;

use synth_multiresource::policy::Priority;
use synth_multiresource::simulator::ExternalRule as _;
use synth_slurm::configuration::SlurmSite;
use synth_slurm::rule::{Facts, SlurmRule, clock_of};
use synth_traces::replay::{Clock, DecisionState, DemandKinds, Log, ReplayJob, Speed, Walk};

/// The offsets of the clock in seconds, distinct modulo the backfill interval and the time steps.
const SECONDS: [f64; 3] = [0.0, 17.0, 41.0];

#[derive(Clone)]
pub(super) struct Configuration {
    pub site: SlurmSite,
    pub facts: Vec<Facts>,
    pub order: Option<Priority>,
}

impl Configuration {
    /// Returns the wait of each job in the log in seconds, for each offset of the clock.
    pub(super) fn waits(&self, log: &Log, kinds: &DemandKinds) -> Result<Vec<Vec<f64>>, String> {
        let servers = self.site.servers().0;
        let mut log = Cow::Borrowed(log);
        if servers != log.servers {
            log.to_mut().servers = servers;
        }
        let clock = Clock::whole(Speed::ONE);
        let state = DecisionState::of_log(&log, &log.jobs, kinds, clock);
        let state = state.map_err(|faults| faults.to_string())?;
        let at = (Arc::new(self.site.clone()), self.facts.clone().into());
        let per_second = log.tick.per_second() as f64;
        let run = |second: f64| {
            let rule = SlurmRule {
                at: Some(at.clone()),
                order: self.order,
                clock: clock_of(&log) + second,
                second: Some(clock.size(per_second)),
            };
            let rule = rule.rule(&state.fleet).map_err(|why| why.0)?;
            let mut walk = Walk::new(&state, rule);
            walk.finish().map_err(|why| why.to_string())?;
            let wait = |(job, end): (&ReplayJob, &f64)| {
                (end - job.submit - job.size).max(0.0) / per_second
            };
            Ok(log.jobs.iter().zip(walk.ends()).map(wait).collect())
        };
        SECONDS.into_iter().map(run).collect()
    }
}
