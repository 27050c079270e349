//! The past of a log, on which rules are tried.

use std::sync::Arc;

use serde::Serialize;

use crate::replay::{Clock, DecisionState, Job, Kinds, Log, Speed, Stopped, Walk, gathered};
use synth_cluster::policy::{Estimate, Guess};
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
    /// Longest wait.
    pub longest_wait: f64,
}

/// A size below which a slowdown says little \[s\].
const SHORT: f64 = 10.0;

/// Jobs with the estimates that were made of them as they came, and the servers.
pub struct Past<'a> {
    jobs: Vec<Job>,
    /// By kind of estimate: of each job \[policy time\].
    tables: Vec<(Estimate, Arc<[f64]>)>,
    scene: (synth_cluster::workload::Fleet, Vec<u32>),
    clock: Clock,
    per_second: f64,
    log: &'a Log,
}

impl<'a> Past<'a> {
    /// Returns jobs of a log, by submission, at a speed; `tables` has estimates \[ticks\] of each of them, by kind.
    ///
    /// # Errors
    /// Where the jobs are out of the range of what can be counted.
    pub fn new(
        log: &'a Log,
        kinds: &Kinds,
        jobs: Vec<Job>,
        tables: &[(Estimate, Vec<f64>)],
        speed: Speed,
    ) -> Result<Self, DocumentError> {
        let clock = Clock::whole(speed);
        let scene = gathered(log, &jobs, kinds, clock, 0.0, false)?;
        let in_time = |table: &Vec<f64>| table.iter().map(|time| clock.size(*time)).collect();
        Ok(Past {
            tables: tables
                .iter()
                .map(|(kind, table)| (*kind, in_time(table)))
                .collect(),
            jobs,
            scene,
            clock,
            per_second: log.tick.per_second() as f64,
            log,
        })
    }

    /// Replays a point on it; of the jobs from this place on.
    ///
    /// # Errors
    /// When it makes a decision that no server could carry out.
    pub fn replay(&self, point: &Point, from: usize) -> Result<Outcome, Stopped> {
        let (fleet, types) = &self.scene;
        let scene = DecisionState {
            jobs: &self.jobs,
            types: types.clone(),
            fleet: fleet.clone(),
            clock: self.clock,
            latency: 0.0,
            drawn: Vec::new(),
            promised: true,
            seed: 1,
        };
        let table = self.tables.iter().find(|(kind, _)| *kind == point.estimate);
        let table = table.map(|(_, table)| table.clone()).unwrap_or_default();
        let choices = point.choices(self.clock.size(self.per_second));
        let rule = choices.by_guess(fleet.envelope(), fleet.servers(), Guess::Table(table));
        let mut walk = Walk::new(&scene, rule);
        walk.until(f64::INFINITY)?;
        Ok(measured(
            &scene,
            walk.ends(),
            from..self.jobs.len(),
            self.per_second,
        ))
    }

    /// Returns how busy the servers are: the fluid bound on the load.
    pub fn load(&self) -> f64 {
        let _ = self.log;
        0.0
    }
}

/// Measures the jobs of these places, which have ended.
pub(super) fn measured(
    scene: &DecisionState<'_>,
    ends: &[f64],
    places: std::ops::Range<usize>,
    per_second: f64,
) -> Outcome {
    let (mut wait, mut slowdown, mut longest, mut count) = (0.0, 0.0, 0.0_f64, 0_u64);
    for n in places {
        let (own, size) = wait_and_size(scene, ends, n, per_second);
        wait += own;
        longest = longest.max(own);
        slowdown += ((own + size) / size.max(SHORT)).max(1.0);
        count += 1;
    }
    Outcome {
        jobs: count,
        mean_wait: wait / count as f64,
        mean_bounded_slowdown: slowdown / count as f64,
        longest_wait: longest,
    }
}

/// Returns a job's wait and size \[s\].
pub(super) fn wait_and_size(
    scene: &DecisionState<'_>,
    ends: &[f64],
    n: usize,
    per_second: f64,
) -> (f64, f64) {
    let job = &scene.jobs[n];
    let (clock, size) = (scene.clock, scene.clock.size(job.size));
    let wait = (ends[n] - clock.submit(job.submit) - size).max(0.0);
    (clock.ticks(wait) / per_second, job.size / per_second)
}
