//! Thresholds that a run watches: how often something lies above one.

use serde::{Deserialize, Serialize};

use super::{Estimate, Meter};

/// What is watched of a class, and above which threshold.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Threshold {
    /// Jobs in the system.
    Number(u64),
    /// Response time \[time\].
    Response(f64),
    /// Time from arrival to the last start \[time\]; of jobs that share a server 0.
    Waiting(f64),
}

/// How long a job was there \[time\].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stay {
    /// From arrival to completion.
    pub response: f64,
    /// From arrival to the last start.
    pub waiting: f64,
}

/// A threshold of a class of jobs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Watch {
    /// The class, by its place; in a document the job type.
    pub job_type: usize,
    /// What is watched.
    pub threshold: Threshold,
}

/// What a run saw of a watched threshold.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Watched {
    /// What was watched.
    pub watch: Watch,
    /// The fraction of time with more jobs than the threshold; or of jobs that took longer, none
    /// without jobs.
    pub above: Option<Estimate>,
    /// The same fraction, settled or not.
    #[serde(skip)]
    pub rough: Option<f64>,
}

enum Watcher {
    /// More jobs than this: 1 while there are.
    Number(u64, Meter),
    /// Longer than this: jobs so far.
    Response(f64, f64),
    Waiting(f64, f64),
}

/// All that is watched, in the open bucket.
pub(crate) struct Watchers {
    of_class: Vec<Vec<Watcher>>,
    /// In the order in which [`Watchers::collect`] tells.
    pub watches: Vec<Watch>,
}

impl Watchers {
    /// Those of so many classes; watches of other classes are dropped.
    pub fn new(classes: usize, watches: &[Watch]) -> Self {
        let of = |i: usize| watches.iter().filter(move |w| w.job_type == i);
        let watcher = |w: &Watch| match w.threshold {
            Threshold::Number(at) => Watcher::Number(at, Meter::default()),
            Threshold::Response(time) => Watcher::Response(time, 0.0),
            Threshold::Waiting(time) => Watcher::Waiting(time, 0.0),
        };
        Watchers {
            of_class: (0..classes).map(|i| of(i).map(watcher).collect()).collect(),
            watches: (0..classes).flat_map(of).copied().collect(),
        }
    }

    /// So many jobs of class i are there, `at` after the bucket's begin.
    pub fn number(&mut self, i: usize, present: u64, at: f64) {
        for watcher in &mut self.of_class[i] {
            if let Watcher::Number(most, above) = watcher {
                above.set(f64::from(present > *most), at);
            }
        }
    }

    /// A job of class i left.
    pub fn departed(&mut self, i: usize, stay: Stay) {
        for watcher in &mut self.of_class[i] {
            match watcher {
                Watcher::Number(..) => {}
                Watcher::Response(time, jobs) => *jobs += f64::from(stay.response > *time),
                Watcher::Waiting(time, jobs) => *jobs += f64::from(stay.waiting > *time),
            }
        }
    }

    /// Time above, or jobs above, in the bucket of this length.
    pub fn collect(&mut self, length: f64) -> impl Iterator<Item = f64> {
        let all = self.of_class.iter_mut().flatten();
        all.map(move |watcher| match watcher {
            Watcher::Number(_, above) => above.collect(length),
            Watcher::Response(_, jobs) | Watcher::Waiting(_, jobs) => std::mem::take(jobs),
        })
    }
}
