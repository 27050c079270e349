use std::ops::Range;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use synth_core::document::DocumentError;
use synth_multiresource::policy::EstimateSource;
use synth_traces::replay::{
    Clock, DecisionState, DemandKinds, Log, ReplayError, ReplayJob, Speed, Walk, bounded_slowdown,
    early, percentiles,
};

use super::point::QueueRule;

/// The waits of a set of jobs. All times are in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct WaitSummary {
    /// The number of jobs.
    pub jobs: u64,
    /// The mean wait.
    pub mean_wait: f64,
    /// The mean of `max(1, response / max(size, 10 s))`.
    pub mean_bounded_slowdown: f64,
    /// The 99th percentile of the waits.
    pub p99_wait: f64,
    /// The longest wait.
    pub longest_wait: f64,
}

impl WaitSummary {
    /// Creates the result from the wait and the size of each job in seconds.
    pub fn of(served: impl IntoIterator<Item = (f64, f64)>) -> Self {
        let served = served.into_iter();
        let both = served.map(|(wait, size)| (wait, bounded_slowdown(wait + size, size)));
        let (waits, slowdowns): (Vec<f64>, Vec<f64>) = both.unzip();
        let count = waits.len().max(1) as f64;
        WaitSummary {
            jobs: waits.len() as u64,
            mean_wait: waits.iter().sum::<f64>() / count,
            mean_bounded_slowdown: slowdowns.into_iter().sum::<f64>() / count,
            longest_wait: waits.iter().copied().fold(0.0, f64::max),
            p99_wait: percentiles(waits.into_iter())[2],
        }
    }
}

/// A training period with the estimates of the sizes on arrival.
pub(super) struct TrainingPeriod<'a> {
    scene: DecisionState<'a>,
    tables: [Arc<[f64]>; 4],
    per_second: f64,
}

const WARM_UP: f64 = 0.02;

impl<'a> TrainingPeriod<'a> {
    /// Creates a training period from jobs in the order of submission, with estimates in ticks.
    pub(super) fn new(
        log: &Log,
        kinds: &DemandKinds,
        jobs: &'a [ReplayJob],
        tables: &[Vec<f64>; 4],
        speed: Speed,
    ) -> Result<Self, DocumentError> {
        let clock = Clock::whole(speed);
        let in_time = |table: &Vec<f64>| table.iter().map(|time| clock.size(*time)).collect();
        Ok(TrainingPeriod {
            scene: DecisionState::of_log(log, jobs, kinds, clock)?,
            tables: tables.each_ref().map(in_time),
            per_second: log.tick.per_second() as f64,
        })
    }

    pub(super) fn replay(&self, point: &QueueRule) -> Result<WaitSummary, ReplayError> {
        let (scene, jobs) = (&self.scene, self.scene.jobs);
        let table = self.tables[point.estimate as usize].clone();
        let choices = point.choices(scene.clock.size(self.per_second));
        let (workload, servers) = (scene.fleet.envelope(), scene.fleet.servers());
        let rule = choices.by_guess(workload, servers, EstimateSource::Table(table));
        let mut walk = Walk::new(scene, rule);
        walk.finish()?;
        let first = ((WARM_UP * jobs.len() as f64) as usize).max(early(jobs));
        let served = served(scene, walk.ends(), first..jobs.len(), self.per_second);
        Ok(WaitSummary::of(served))
    }
}

pub(super) fn served<'a>(
    scene: &'a DecisionState<'_>,
    ends: &'a [f64],
    places: Range<usize>,
    per_second: f64,
) -> impl Iterator<Item = (f64, f64)> + 'a {
    let clock = scene.clock;
    places.map(move |n| {
        let job = &scene.jobs[n];
        let wait = ends[n] - clock.submit(job.submit) - clock.size(job.size);
        let wait = job.observed_wait(wait, clock.submit(job.waited));
        let wait = clock.ticks(wait.max(0.0));
        (wait / per_second, job.size / per_second)
    })
}
