//! Estimates of all kinds, made as the jobs of a log come, from those that ended before.

use std::cmp::Ordering;

use serde::Serialize;

use crate::replay::{DecisionState, Log};
use synth_cluster::policy::{Estimate, Estimator, Judged, Learned, Promise, Worth, worth};

/// What an estimate is worth.
#[derive(Clone, Debug, Serialize)]
pub struct OfEstimate {
    /// Which.
    pub estimate: Estimate,
    /// Of all jobs, and by users.
    pub worth: [Worth; 3],
}

/// One estimator of each kind, and what it said of each job.
pub(super) struct Estimates {
    kinds: Vec<Kind>,
    /// Jobs that have come and were not yet seen to end.
    open: Vec<usize>,
    /// The next job to come.
    next: usize,
}

struct Kind {
    estimate: Estimate,
    estimator: Estimator,
    /// By job \[ticks\].
    table: Vec<f64>,
}

/// What happens at an instant: ends come before arrivals.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Seen {
    End,
    Arrival,
}

const ALL: [Estimate; 4] = [
    Estimate::Limit,
    Estimate::Ratio,
    Estimate::History,
    Estimate::Tree,
];

impl Estimates {
    /// All kinds, since the rule of today may go by each, in a clock of which a day has so many units.
    pub fn new(day: f64) -> Self {
        let kind = |estimate: &Estimate| Kind {
            estimate: *estimate,
            estimator: Estimator::new(*estimate, day, &Learned::default()),
            table: Vec::new(),
        };
        Estimates {
            kinds: ALL.iter().map(kind).collect(),
            open: Vec::new(),
            next: 0,
        }
    }

    /// The kinds that are tried on a log.
    pub fn of(log: &Log) -> &'static [Estimate] {
        if log.has_limits {
            &[Estimate::Limit, Estimate::History, Estimate::Tree]
        } else {
            &[Estimate::History, Estimate::Tree]
        }
    }

    /// Takes in what has come, and what ended before this time; `shares` by type.
    pub fn look(&mut self, scene: &DecisionState<'_>, shares: &[f64], ends: &[f64], time: f64) {
        let come = self.next..ends.len();
        self.next = ends.len();
        self.open.extend(come.clone());
        let arrival = |n: usize| (scene.clock.submit(scene.jobs[n].submit), Seen::Arrival, n);
        let mut events: Vec<(f64, Seen, usize)> = come.map(arrival).collect();
        self.open.retain(|&n| {
            let has_ended = ends[n] < time;
            if has_ended {
                events.push((ends[n], Seen::End, n));
            }
            !has_ended
        });
        events.sort_by(|a, b| a.partial_cmp(b).unwrap_or(Ordering::Equal));
        for (now, seen, n) in events {
            let promise = promise(scene, shares, n);
            for kind in &mut self.kinds {
                match seen {
                    Seen::Arrival => {
                        let estimate = kind.estimator.estimate(&promise);
                        kind.table.push(scene.clock.ticks(estimate));
                    }
                    Seen::End => {
                        let size = scene.clock.size(scene.jobs[n].size);
                        kind.estimator.learn(&promise, size, now);
                    }
                }
            }
        }
    }

    /// Returns the estimator of this kind as it is now.
    pub fn estimator(&self, estimate: Estimate) -> Option<&Estimator> {
        let kind = self.kinds.iter().find(|kind| kind.estimate == estimate);
        kind.map(|kind| &kind.estimator)
    }

    /// Returns what was said \[ticks\] of these jobs, by kind.
    pub fn tables(&self, jobs: &[usize]) -> Vec<(Estimate, Vec<f64>)> {
        let of = |kind: &Kind| jobs.iter().map(|n| kind.table[*n]).collect();
        let kinds = self.kinds.iter();
        kinds.map(|kind| (kind.estimate, of(kind))).collect()
    }

    /// Returns what each kind that is tried is worth, from this job on.
    pub fn worth(&self, log: &Log, from: usize) -> Vec<OfEstimate> {
        let of = |kind: &Kind| {
            let said = log.jobs.iter().zip(&kind.table).skip(from);
            let judged = said.map(|(job, estimate)| Judged {
                user: job.user,
                estimate: *estimate,
                size: job.size,
            });
            OfEstimate {
                estimate: kind.estimate,
                worth: worth(&judged.collect::<Vec<_>>()),
            }
        };
        let tried = |kind: &&Kind| Self::of(log).contains(&kind.estimate);
        self.kinds.iter().filter(tried).map(of).collect()
    }
}

fn promise(scene: &DecisionState<'_>, shares: &[f64], n: usize) -> Promise {
    let job = &scene.jobs[n];
    let limit = if job.promised.is_infinite() {
        f64::INFINITY
    } else {
        scene.clock.size(job.limit)
    };
    Promise {
        user: job.user,
        limit,
        share: shares[scene.types[job.kind as usize] as usize],
        submitted: scene.clock.submit(job.submit),
    }
}
