//! Estimates of the size of a job, based on its limit and on the jobs that have completed.
//!
//! The estimates are used to order the queue. Reservations are based on the limits, because a job
//! cannot exceed its limit. If a job does not have a limit, its estimate is used instead. Only past
//! completions and no random numbers are used, so a replay, the bridge and `drive` learn the same
//! values.
//!
//! The value that is learned from a job is called its *part*. It is the cube root of
//! `size / limit`, or of the size in hours if there is no limit. The mean of cube roots lies
//! between the geometric mean and the arithmetic mean. The geometric mean is the best choice to
//! sort pairs of jobs, but the arithmetic mean takes into account the few jobs that block a server
//! for a long time.

mod history;
mod promise;
mod recent;
mod tree;
mod worth;

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use promise::JobFacts;

pub(super) use history::finalized;
use history::{History, Kind};
use recent::{RecentMean, rounded};
use tree::{FEATURES, Trees};
pub use worth::{EstimateQuality, EstimatedCompletion, UserGroup, estimate_quality};

/// The method that is used to estimate the size of a job.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum RuntimeEstimate {
    /// The estimate is the limit.
    #[default]
    Limit,
    /// The estimate is the limit multiplied by the usual ratio of the size to the limit.
    Ratio,
    /// The estimate is based on recent jobs with the same user, limit and share.
    History,
    /// A regression on the limit, the share and the history, which is fitted once per day.
    Tree,
}

impl RuntimeEstimate {
    /// All estimates and their names, in the order of declaration.
    pub const NAMED: [(&'static str, Self); 4] = [
        ("limit", RuntimeEstimate::Limit),
        ("ratio", RuntimeEstimate::Ratio),
        ("history", RuntimeEstimate::History),
        ("tree", RuntimeEstimate::Tree),
    ];

    /// Parses a name.
    ///
    /// # Errors
    /// Returns an error if the name is unknown. The message lists the valid names.
    pub fn parse(text: &str) -> Result<Self, String> {
        let known = Self::NAMED.iter().find(|(name, _)| *name == text);
        known.map(|(_, own)| *own).ok_or_else(|| {
            format!(
                "unknown size estimate `{text}`; use limit, ratio (the limit times the usual ratio), history (recent similar jobs), tree (a regression)"
            )
        })
    }

    /// Returns the name.
    pub fn name(self) -> &'static str {
        Self::NAMED[self as usize].0
    }
}

/// The state that an estimator has learned. It can be stored in a policy file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LearnedRuntimes {
    /// The mean of all jobs that have a limit.
    limited: RecentMean,
    /// The mean of all jobs that do not have a limit.
    unlimited: RecentMean,
    /// The means of similar jobs, with the most recent ones first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    alike: Vec<Kind>,
    /// The regression.
    #[serde(default, skip_serializing_if = "Trees::is_empty")]
    trees: Trees,
}

/// The effective number of recent jobs that are used to compute the usual part.
const USUAL: u32 = 200;

/// The maximum and minimum number of recent completions to which the regression is fitted.
const WINDOW: usize = 3000;
const ENOUGH: usize = 100;

/// An estimator that learns from completed jobs. If a job has completed, new estimates for the
/// waiting jobs of the same user are more accurate than the previous ones.
#[derive(Clone, Debug)]
pub struct Estimator {
    estimate: RuntimeEstimate,
    day: f64,
    limited: RecentMean,
    unlimited: RecentMean,
    history: History,
    trees: Trees,
    window: VecDeque<([f64; FEATURES], f64)>,
    fitted: f64,
}

impl Estimator {
    /// Creates an estimator from a state that was learned before.
    pub fn new(estimate: RuntimeEstimate, day: f64, learned: &LearnedRuntimes) -> Self {
        Estimator {
            estimate,
            day,
            limited: learned.limited,
            unlimited: learned.unlimited,
            history: History::new(&learned.alike),
            trees: learned.trees.clone(),
            window: VecDeque::new(),
            fitted: f64::NEG_INFINITY,
        }
    }

    /// Returns the estimated size \[time\]: positive, finite, and at most the limit.
    pub fn estimate(&self, promise: &JobFacts) -> f64 {
        let usual = self.usual(promise);
        let learned = match self.estimate {
            RuntimeEstimate::Limit if promise.limit.is_finite() => {
                return promise.limit.clamp(f64::MIN_POSITIVE, f64::MAX);
            }
            RuntimeEstimate::Limit | RuntimeEstimate::Ratio => usual,
            RuntimeEstimate::History => self.history.mean(promise, usual),
            RuntimeEstimate::Tree => self.trees.predict(&self.features(promise)),
        };
        // Other jobs have to make room for a wide job for a long time, which is in vain if its
        // estimate is too short. So the wider a job is, the more its own limit counts.
        let part = if promise.limit.is_finite() {
            learned + promise.share.clamp(0.0, 1.0) * (usual - learned)
        } else {
            learned
        };
        // The value is clamped so that the result is valid for any values in the policy file.
        let size = self.base(promise) * part.max(0.0).powi(3);
        let most = promise.limit.min(f64::MAX);
        size.clamp(self.least().min(most), most)
    }

    /// Updates the estimator with a job that has ended. The job ran for the time `ran`.
    pub fn learn(&mut self, promise: &JobFacts, ran: f64, now: f64) {
        let part = rounded((ran.max(self.least()) / self.base(promise)).cbrt());
        if self.estimate == RuntimeEstimate::Tree {
            if self.window.len() == WINDOW {
                self.window.pop_front();
            }
            self.window.push_back((self.features(promise), part));
            let today = (now / self.day).floor();
            if today > self.fitted && self.window.len() >= ENOUGH {
                self.fitted = today;
                self.trees = Trees::fit(self.window.make_contiguous());
            }
        }
        if matches!(
            self.estimate,
            RuntimeEstimate::History | RuntimeEstimate::Tree
        ) {
            self.history.learn(promise, part);
        }
        if promise.limit.is_finite() {
            self.limited.learn(part, USUAL);
        } else {
            self.unlimited.learn(part, USUAL);
        }
    }

    /// Returns the state to keep in a policy file, at most 12 kB.
    pub fn learned(&self) -> LearnedRuntimes {
        LearnedRuntimes {
            limited: self.limited,
            unlimited: self.unlimited,
            alike: self.history.kinds(),
            trees: self.trees.clone(),
        }
    }

    fn features(&self, promise: &JobFacts) -> [f64; FEATURES] {
        [
            self.base(promise),
            promise.share,
            (promise.submitted / self.day).rem_euclid(1.0),
            self.history.mean(promise, self.usual(promise)),
        ]
    }

    /// Returns the usual part, rounded so that the size factor is a power of 2 and rarely changes.
    ///
    /// As a result, jobs are kept in the order of arrival if no better information is available.
    /// Without rounding, the head of the queue changes while it waits for capacity, and jobs waited
    /// longer than with limits on 3 of 4 logs.
    fn usual(&self, promise: &JobFacts) -> f64 {
        let limited = promise.limit.is_finite();
        let RecentMean(count, mean) = if limited {
            self.limited
        } else {
            self.unlimited
        };
        if count > 0 {
            ((3.0 * mean.log2()).round() / 3.0).exp2()
        } else {
            1.0
        }
    }

    /// Returns the reference for relative sizes \[time\]: the limit, or an hour if there is none.
    fn base(&self, promise: &JobFacts) -> f64 {
        if promise.limit.is_finite() {
            promise.limit.max(self.least())
        } else {
            self.day / 24.0
        }
    }

    /// Returns the size \[time\] below which sizes are not distinguished, about one second.
    fn least(&self) -> f64 {
        self.day * 1e-5
    }
}

#[cfg(test)]
mod tests;
