//! Estimates of all kinds, computed as the jobs of a log come, from those that ended before.

use std::cmp::Ordering;

use schemars::JsonSchema;
use serde::Serialize;

use synth_multiresource::policy::{
    Estimator, JobFacts, JudgedJob, LearnedRuntimes, RuntimeEstimate, Worth, worth,
};
use synth_traces::replay::{DecisionState, Log};
use synth_traces::trace::Observed;

/// What an estimate is worth.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct OfEstimate {
    /// Which.
    pub estimate: RuntimeEstimate,
    /// Of all jobs, and by users.
    pub worth: [Worth; 3],
}

/// One estimator of each kind, and what it said of each job.
#[derive(Clone)]
pub(super) struct Estimates {
    /// In the order of [`Estimate::NAMED`].
    kinds: [Kind; 4],
    /// Jobs that have come and were not yet seen to end.
    open: Vec<usize>,
    /// The next job to come.
    next: usize,
}

#[derive(Clone)]
struct Kind {
    estimator: Estimator,
    /// By job \[ticks\].
    table: Vec<f64>,
}

impl Estimates {
    /// All kinds, since the rule of today may go by each, in a clock of which a day has so many units.
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

    /// The kinds that are tried on a log.
    pub(super) fn of(log: &Log) -> &'static [RuntimeEstimate] {
        use RuntimeEstimate::{History, Limit, Tree};
        &[Limit, History, Tree][usize::from(!log.has_limits)..]
    }

    /// Takes in what has come, and what ended before this time; `shares` by type.
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
        // At one instant ends come before arrivals.
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
                    // Of the others it is not known here how long they ran before the log began.
                    let size = scene.clock.size(scene.jobs[n].size);
                    kind.estimator.learn(&promise, size, now);
                }
            }
        }
    }

    /// Returns the estimator of this kind as it is now.
    pub(super) fn estimator(&self, estimate: RuntimeEstimate) -> &Estimator {
        &self.kinds[estimate as usize].estimator
    }

    /// Returns what was said \[ticks\] of these jobs, by kind.
    pub(super) fn tables(&self, jobs: &[usize]) -> [Vec<f64>; 4] {
        let of = |kind: &Kind| jobs.iter().map(|n| kind.table[*n]).collect();
        self.kinds.each_ref().map(of)
    }

    /// Returns the size of a job by the tree \[ticks\].
    pub(super) fn by_tree(&self, job: usize) -> f64 {
        self.kinds[RuntimeEstimate::Tree as usize].table[job]
    }

    /// Returns what each kind that is tried is worth, from this job on.
    pub(super) fn worth(&self, log: &Log, from: usize) -> Vec<OfEstimate> {
        let of = |estimate: &RuntimeEstimate| {
            let table = &self.kinds[*estimate as usize].table;
            let judged = log.jobs.iter().zip(table).skip(from);
            let judged = judged.map(|(job, said)| JudgedJob {
                user: job.user,
                estimate: *said,
                size: job.size,
            });
            OfEstimate {
                estimate: *estimate,
                worth: worth(&judged.collect::<Vec<_>>()),
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
