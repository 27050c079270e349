//! This module computes all estimates of the run time, using the jobs in a log that have ended.

use std::cmp::Ordering;

use schemars::JsonSchema;
use serde::Serialize;

use synth_multiresource::policy::{
    EstimateQuality, EstimatedCompletion, Estimator, JobFacts, LearnedRuntimes, RuntimeEstimate,
    estimate_quality,
};
use synth_traces::replay::{DecisionState, Log};
use synth_traces::trace::Observed;

/// The accuracy of an estimate.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct EstimateAccuracy {
    /// The type of the estimate.
    pub estimate: RuntimeEstimate,
    /// The accuracy for all jobs and for each user.
    pub worth: [EstimateQuality; 3],
}

/// The estimators of all kinds, and their estimates for each job.
#[derive(Clone)]
pub(super) struct Estimates {
    /// The estimators in the same order as [`RuntimeEstimate::NAMED`].
    kinds: [Kind; 4],
    open: Vec<usize>,
    next: usize,
}

#[derive(Clone)]
struct Kind {
    estimator: Estimator,
    /// The estimate for each job in ticks.
    table: Vec<f64>,
}

impl Estimates {
    /// Creates all estimators, since the current rule may use any. `day` is in units of the clock.
    pub(super) fn new(day: f64) -> Self {
        Estimates {
            kinds: RuntimeEstimate::NAMED.map(|(_, estimate)| Kind {
                estimator: Estimator::new(estimate, day, &LearnedRuntimes::default()),
                table: Vec::new(),
            }),
            open: Vec::new(),
            next: 0,
        }
    }

    pub(super) fn of(log: &Log) -> &'static [RuntimeEstimate] {
        use RuntimeEstimate::{History, Limit, Tree};
        &[Limit, History, Tree][usize::from(!log.has_limits)..]
    }

    /// Updates the estimates for all jobs that arrive or end before this time.
    pub(super) fn look(
        &mut self,
        scene: &DecisionState<'_>,
        shares: &[f64],
        ends: &[f64],
        time: f64,
    ) {
        let come = self.next..ends.len();
        self.next = ends.len();
        self.open.extend(come.clone());
        // If a job ends and another one arrives at the same time, the end is first.
        let arrival = |n: usize| (scene.clock.submit(scene.jobs[n].submit), true, n);
        let mut events: Vec<(f64, bool, usize)> = come.map(arrival).collect();
        let ended = self.open.extract_if(.., |n| ends[*n] < time);
        events.extend(ended.map(|n| (ends[n], false, n)));
        events.sort_by(|a, b| a.partial_cmp(b).unwrap_or(Ordering::Equal));
        for (now, arrives, n) in events {
            let promise = promise(scene, shares, n);
            for kind in &mut self.kinds {
                if arrives {
                    let estimate = kind.estimator.estimate(&promise);
                    kind.table.push(scene.clock.ticks(estimate));
                } else if scene.jobs[n].seen != Observed::Initial {
                    // For these jobs, the run time before the start of the log is not known.
                    let size = scene.clock.size(scene.jobs[n].size);
                    kind.estimator.learn(&promise, size, now);
                }
            }
        }
    }

    pub(super) fn estimator(&self, estimate: RuntimeEstimate) -> &Estimator {
        &self.kinds[estimate as usize].estimator
    }

    pub(super) fn tables(&self, jobs: &[usize]) -> [Vec<f64>; 4] {
        let of = |kind: &Kind| jobs.iter().map(|n| kind.table[*n]).collect();
        self.kinds.each_ref().map(of)
    }

    pub(super) fn by_tree(&self, job: usize) -> f64 {
        self.kinds[RuntimeEstimate::Tree as usize].table[job]
    }

    pub(super) fn worth(&self, log: &Log, from: usize) -> Vec<EstimateAccuracy> {
        let of = |estimate: &RuntimeEstimate| {
            let table = &self.kinds[*estimate as usize].table;
            let judged = log.jobs.iter().zip(table).skip(from);
            let judged = judged.map(|(job, said)| EstimatedCompletion {
                user: job.user,
                estimate: *said,
                size: job.size,
            });
            EstimateAccuracy {
                estimate: *estimate,
                worth: estimate_quality(&judged.collect::<Vec<_>>()),
            }
        };
        Self::of(log).iter().map(of).collect()
    }
}

fn promise(scene: &DecisionState<'_>, shares: &[f64], n: usize) -> JobFacts {
    let job = &scene.jobs[n];
    JobFacts {
        user: job.user,
        limit: scene.clock.size(job.own_limit()),
        share: shares[scene.types[job.kind as usize] as usize],
        submitted: scene.clock.submit(job.submit),
    }
}
