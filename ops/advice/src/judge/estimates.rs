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

/// The estimators in the same order as [`RuntimeEstimate::NAMED`], with the jobs that have ended.
#[derive(Clone)]
pub(super) struct Estimates {
    estimators: [Estimator; 4],
    /// The estimate of each estimator for each job in ticks.
    tables: [Vec<f64>; 4],
    open: Vec<usize>,
    next: usize,
}

impl Estimates {
    /// Creates all estimators, since the current rule may use any. `day` is in units of the clock.
    pub(super) fn new(day: f64) -> Self {
        let learned = LearnedRuntimes::default();
        Estimates {
            estimators: RuntimeEstimate::NAMED.map(|own| Estimator::new(own.1, day, &learned)),
            tables: Default::default(),
            open: Vec::new(),
            next: 0,
        }
    }

    pub(super) fn of(log: &Log) -> &'static [RuntimeEstimate] {
        use RuntimeEstimate::{History, Limit, Tree};
        &[Limit, History, Tree][usize::from(!log.has_limits)..]
    }

    /// Updates the estimates for all jobs that arrive or end before this time.
    pub(super) fn look(&mut self, scene: &DecisionState<'_>, ends: &[f64], time: f64) {
        let shares = scene.fleet.envelope().dominant_shares();
        let come = self.next..ends.len();
        self.next = ends.len();
        self.open.extend(come.clone());
        // At the same time, ends precede arrivals.
        let arrival = |n: usize| (scene.clock.submit(scene.jobs[n].submit), true, n);
        let mut events: Vec<(f64, bool, usize)> = come.map(arrival).collect();
        let ended = self.open.extract_if(.., |n| ends[*n] < time);
        events.extend(ended.map(|n| (ends[n], false, n)));
        events.sort_by(|a, b| a.partial_cmp(b).unwrap_or(Ordering::Equal));
        for (now, arrives, n) in events {
            let job = &scene.jobs[n];
            let facts = JobFacts {
                user: job.user,
                limit: scene.clock.size(job.own_limit()),
                share: shares[scene.types[job.kind as usize] as usize],
                submitted: scene.clock.submit(job.submit),
            };
            for (estimator, table) in self.estimators.iter_mut().zip(&mut self.tables) {
                if arrives {
                    let estimate = estimator.estimate(&facts);
                    table.push(scene.clock.ticks(estimate));
                // If a job was running at the start of the log, its run time is not known.
                } else if job.seen != Observed::Initial {
                    let size = scene.clock.size(job.size);
                    estimator.learn(&facts, size, now);
                }
            }
        }
    }

    pub(super) fn estimator(&self, estimate: RuntimeEstimate) -> &Estimator {
        &self.estimators[estimate as usize]
    }

    pub(super) fn tables(&self, jobs: &[usize]) -> [Vec<f64>; 4] {
        let of = |table: &Vec<f64>| jobs.iter().map(|n| table[*n]).collect();
        self.tables.each_ref().map(of)
    }

    pub(super) fn by_tree(&self, job: usize) -> f64 {
        self.tables[RuntimeEstimate::Tree as usize][job]
    }

    pub(super) fn worth(&self, log: &Log, from: usize) -> Vec<EstimateAccuracy> {
        let of = |estimate: &RuntimeEstimate| {
            let table = &self.tables[*estimate as usize];
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
