//! A past on which rules are tried.

use std::ops::Range;
use std::sync::Arc;

use serde::Serialize;

use crate::replay::{Clock, DecisionState, Job, Kinds, Log, Speed, Stopped, Walk, early, gathered};
use synth_cluster::policy::Guess;
use synth_cluster::workload::Fleet;
use synth_core::document::DocumentError;

use super::point::Point;

/// What came of jobs. Times are in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// How many.
    pub jobs: u64,
    /// Mean wait.
    pub mean_wait: f64,
    /// Mean of `max(1, response / max(size, 10 s))`.
    pub mean_bounded_slowdown: f64,
    /// The wait that 99 % of the jobs do not exceed.
    pub p99_wait: f64,
    /// Longest wait.
    pub longest_wait: f64,
}

/// A size below which a slowdown says little \[s\].
const SHORT: f64 = 10.0;

impl Outcome {
    /// Sums up waits and sizes \[s\].
    pub(super) fn of(served: impl Iterator<Item = (f64, f64)>) -> Self {
        let (mut waits, mut slowdown) = (Vec::new(), 0.0);
        for (wait, size) in served {
            waits.push(wait);
            slowdown += Self::bounded_slowdown(wait, size);
        }
        let count = waits.len().max(1) as f64;
        let total: f64 = waits.iter().sum();
        waits.sort_unstable_by(f64::total_cmp);
        let rank = (0.99 * count).ceil() as usize;
        let ranked = waits.get(rank.saturating_sub(1));
        Outcome {
            jobs: waits.len() as u64,
            mean_wait: total / count,
            mean_bounded_slowdown: slowdown / count,
            p99_wait: ranked.copied().unwrap_or(0.0),
            longest_wait: waits.last().copied().unwrap_or(0.0),
        }
    }

    /// Returns `max(1, response / max(size, 10 s))` of a job with this wait and size \[s\].
    pub fn bounded_slowdown(wait: f64, size: f64) -> f64 {
        ((wait + size) / size.max(SHORT)).max(1.0)
    }
}

/// Jobs with the estimates of their sizes as they came, and the servers.
pub(super) struct Past<'a> {
    jobs: &'a [Job],
    /// By kind of estimate, that of each job \[policy time\].
    tables: [Arc<[f64]>; 4],
    fleet: Fleet,
    types: Vec<u32>,
    clock: Clock,
    per_second: f64,
}

/// The first jobs find the servers empty: this part of them is not measured.
const WARM_UP: f64 = 0.02;

impl<'a> Past<'a> {
    /// Returns jobs of a log, by submission, at a speed; `tables` has estimates \[ticks\] of each of them, by kind.
    ///
    /// # Errors
    /// Where the jobs are out of the range of what can be counted.
    pub fn new(
        log: &Log,
        kinds: &Kinds,
        jobs: &'a [Job],
        tables: &[Vec<f64>; 4],
        speed: Speed,
    ) -> Result<Self, DocumentError> {
        let clock = Clock::whole(speed);
        let (fleet, types) = gathered(log, jobs, kinds, clock, 0.0, false)?;
        let in_time = |table: &Vec<f64>| table.iter().map(|time| clock.size(*time)).collect();
        Ok(Past {
            jobs,
            tables: tables.each_ref().map(in_time),
            fleet,
            types,
            clock,
            per_second: log.tick.per_second() as f64,
        })
    }

    /// Replays a rule on it.
    ///
    /// # Errors
    /// When it makes a decision that no server could carry out, or starts no more jobs.
    pub fn replay(&self, point: &Point) -> Result<Outcome, Stopped> {
        let scene = scene(
            self.jobs,
            self.types.clone(),
            self.fleet.clone(),
            self.clock,
        );
        let table = self.tables[point.estimate as usize].clone();
        let choices = point.choices(self.clock.size(self.per_second));
        let (workload, servers) = (self.fleet.envelope(), self.fleet.servers());
        let rule = choices.by_guess(workload, servers, Guess::Table(table));
        let mut walk = Walk::new(&scene, rule);
        walk.finish()?;
        let first = ((WARM_UP * self.jobs.len() as f64) as usize).max(early(self.jobs));
        let places = first..self.jobs.len();
        Ok(Outcome::of(served(
            &scene,
            walk.ends(),
            places,
            self.per_second,
        )))
    }
}

/// What rules see of these jobs: limits where they came with one.
pub(super) fn scene(
    jobs: &[Job],
    types: Vec<u32>,
    fleet: Fleet,
    clock: Clock,
) -> DecisionState<'_> {
    DecisionState {
        promised: true,
        ..DecisionState::new(jobs, types, fleet, clock)
    }
}

/// Returns the waits and sizes \[s\] of the jobs in these places, which have ended.
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
        (
            clock.ticks(wait.max(0.0)) / per_second,
            job.size / per_second,
        )
    })
}
