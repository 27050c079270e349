//! Walking forward: each window of a log under a rule that was chosen on what came before it.

use std::collections::HashMap;

use serde::Serialize;

use super::choose::{Choice, Goal, choose};
use super::point::Point;
use super::scenario::{Outcome, Past, measured, wait_and_size};
use crate::replay::{
    Clock, DecisionState, Job, Kinds, Log, Speed, Stopped, Walk, gathered, resampled,
};
use synth_cluster::policy::{Estimate, Estimator, Guess, Learned, Promise};
use synth_core::document::DocumentError;

/// The windows of a log.
#[derive(Clone, Copy, Debug)]
pub struct Windows {
    /// The part of the span before the first window.
    pub past: f64,
    /// Length of a window \[s\].
    pub every: f64,
    /// By how much faster jobs come than they did.
    pub speed: Speed,
}

/// What came of walking forward.
#[derive(Clone, Debug, Serialize)]
pub struct Walked {
    /// The choice for each window.
    pub choices: Vec<Choice>,
    /// What came of the jobs of all windows.
    pub outcome: Outcome,
    /// Waits \[s\] of the jobs of all windows.
    #[serde(skip)]
    pub waits: Vec<f64>,
}

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
pub enum WalkError {
    /// A replay ended.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// The jobs cannot be counted.
    #[error(transparent)]
    Document(#[from] DocumentError),
}

/// Estimates of all kinds, as they are made when jobs come, learned from those that ended before.
struct Shadow {
    estimators: Vec<(Estimate, Estimator)>,
    tables: Vec<(Estimate, Vec<f64>)>,
    /// Jobs that have come and not yet been seen to end.
    open: Vec<usize>,
    next: usize,
}

impl Shadow {
    fn promise(scene: &DecisionState<'_>, shares: &[f64], n: usize) -> Promise {
        let job = &scene.jobs[n];
        let i = scene.types[job.kind as usize] as usize;
        Promise {
            user: job.user,
            limit: if job.promised.is_infinite() {
                f64::INFINITY
            } else {
                scene.clock.size(job.limit)
            },
            share: shares[i],
            submitted: scene.clock.submit(job.submit),
        }
    }

    /// Takes in what has come and ended before this time.
    fn look(&mut self, scene: &DecisionState<'_>, shares: &[f64], ends: &[f64], time: f64) {
        let mut events: Vec<(f64, u8, usize)> = Vec::new();
        for n in self.next..ends.len() {
            events.push((scene.clock.submit(scene.jobs[n].submit), 1, n));
            self.open.push(n);
        }
        self.next = ends.len();
        self.open.retain(|n| {
            let ended = ends[*n] < time;
            if ended {
                events.push((ends[*n], 0, *n));
            }
            !ended
        });
        events.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
        for (time, kind, n) in events {
            let promise = Self::promise(scene, shares, n);
            for ((_, estimator), (_, table)) in self.estimators.iter_mut().zip(&mut self.tables) {
                if kind == 1 {
                    table.push(scene.clock.ticks(estimator.estimate(&promise)));
                } else {
                    estimator.learn(&promise, scene.clock.size(scene.jobs[n].size), time);
                }
            }
        }
    }
}

/// The most jobs of the past that a choice looks at.
const MOST: usize = 6000;

/// Walks forward under rules that are chosen for each window.
///
/// # Errors
/// When jobs cannot be counted, or a rule makes a decision that no server could carry out.
pub fn walk(
    log: &Log,
    windows: &Windows,
    estimates: &[Estimate],
    mut rule: impl FnMut(usize, &Gone<'_>) -> Result<Choice, WalkError>,
) -> Result<Walked, WalkError> {
    let kinds = Kinds::exact(log);
    let clock = Clock::whole(windows.speed);
    let per_second = log.tick.per_second() as f64;
    let (fleet, types) = gathered(log, &log.jobs, &kinds, clock, 0.0, false)?;
    let scene = DecisionState {
        jobs: &log.jobs,
        types,
        fleet,
        clock,
        latency: 0.0,
        drawn: Vec::new(),
        promised: true,
        seed: 1,
    };
    let shares = scene.fleet.envelope().dominant_shares();
    let second = clock.size(per_second);
    let day = 86_400.0 * second;
    let estimator = |kind: &Estimate| (*kind, Estimator::new(*kind, day, &Learned::default()));
    let mut shadow = Shadow {
        estimators: estimates.iter().map(estimator).collect(),
        tables: estimates.iter().map(|kind| (*kind, Vec::new())).collect(),
        open: Vec::new(),
        next: 0,
    };
    let build = |point: &Point, shadow: &Shadow| {
        let found = shadow
            .estimators
            .iter()
            .find(|(kind, _)| *kind == point.estimate);
        let own = found.map_or_else(
            || Estimator::new(point.estimate, day, &Learned::default()),
            |(_, own)| own.clone(),
        );
        point.choices(second).by_guess(
            scene.fleet.envelope(),
            scene.fleet.servers(),
            Guess::Estimator(Box::new(own)),
        )
    };
    let span = clock.submit(log.span());
    let start = span * windows.past;
    let mut walk = Walk::new(&scene, build(&Point::EASY, &shadow));
    walk.until(start)?;
    let first = walk.ends().len();
    let mut choices = Vec::new();
    let mut time = start;
    while time < span || choices.is_empty() {
        shadow.look(&scene, &shares, walk.ends(), time);
        let gone = Gone {
            log,
            kinds: &kinds,
            shadow: &shadow,
            ends: walk.ends(),
            time,
            speed: windows.speed,
        };
        let choice = rule(choices.len(), &gone)?;
        walk.hand_over(build(&choice.point, &shadow), time);
        choices.push(choice);
        time += windows.every * second;
        // The last window is as long as it takes.
        walk.until(if time < span { time } else { f64::INFINITY })?;
    }
    let places = first..log.jobs.len();
    let waits = places
        .clone()
        .map(|n| wait_and_size(&scene, walk.ends(), n, per_second).0)
        .collect();
    Ok(Walked {
        choices,
        outcome: measured(&scene, walk.ends(), places, per_second),
        waits,
    })
}

/// What is known of a log at a time of the walk.
pub struct Gone<'a> {
    log: &'a Log,
    kinds: &'a Kinds,
    shadow: &'a Shadow,
    ends: &'a [f64],
    time: f64,
    speed: Speed,
}

impl Gone<'_> {
    /// Chooses a rule for what comes next.
    ///
    /// # Errors
    /// As [`choose`].
    pub fn choose(&self, goal: &Goal, estimates: &[Estimate]) -> Result<Choice, WalkError> {
        let ended: Vec<usize> = (0..self.ends.len())
            .filter(|n| self.ends[*n] < self.time)
            .collect();
        let ended = &ended[ended.len().saturating_sub(MOST)..];
        let begin = ended.first().map_or(0.0, |n| self.log.jobs[*n].submit);
        let jobs: Vec<Job> = ended
            .iter()
            .map(|n| Job {
                submit: self.log.jobs[*n].submit - begin,
                ..self.log.jobs[*n]
            })
            .collect();
        let tables: Vec<(Estimate, Vec<f64>)> = self
            .shadow
            .tables
            .iter()
            .map(|(kind, table)| (*kind, ended.iter().map(|n| table[*n]).collect()))
            .collect();
        let by_line: HashMap<u32, usize> = jobs
            .iter()
            .enumerate()
            .map(|(n, job)| (job.line, n))
            .collect();
        let mut pasts = Vec::new();
        let own = load(self.log, &jobs);
        let mut speeds = vec![self.speed];
        for target in [
            super::choose::env("T1", 0.85),
            super::choose::env("T2", 9.0),
        ] {
            if let Some(speed) = Speed::near(target / own)
                && speed.ratio() > 1.1 * self.speed.ratio()
                && target < 2.0
            {
                speeds.push(speed);
            }
        }
        let week = 7.0 * 86_400.0 * self.log.tick.per_second() as f64;
        let span = jobs.last().map_or(1.0, |job| job.submit);
        let part = week.min(span / 4.0);
        for (s, speed) in speeds.into_iter().enumerate() {
            for replication in 0..if s == 0 {
                super::choose::env("OWN", 3.0)
            } else {
                super::choose::env("BUSY", 2.0)
            } as u32
            {
                let drawn = if replication == 0 {
                    Some(jobs.clone())
                } else {
                    resampled(&jobs, part, 7, replication)
                };
                let Some(drawn) = drawn else { continue };
                let of: Vec<(Estimate, Vec<f64>)> = tables
                    .iter()
                    .map(|(kind, table)| {
                        (
                            *kind,
                            drawn.iter().map(|job| table[by_line[&job.line]]).collect(),
                        )
                    })
                    .collect();
                let from = drawn.len() / 50;
                pasts.push((Past::new(self.log, self.kinds, drawn, &of, speed)?, from));
            }
        }
        Ok(choose(goal, &pasts, estimates)?)
    }
}

fn load(log: &Log, jobs: &[Job]) -> f64 {
    let part = Log {
        jobs: jobs.to_vec(),
        ..log.clone()
    };
    part.load()
}
