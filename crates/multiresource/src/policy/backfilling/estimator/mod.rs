//! Estimates of job sizes from the limits of jobs and from completed jobs.
//!
//! Estimates order the queue. Reservations use limits, which jobs do not exceed, or the estimates
//! of jobs without limits. Learning uses only past completions and no random numbers, so a replay,
//! the bridge and `drive` learn the same.
//!
//! A job is learned as the cube root of size/limit, its *part*, or of the size in hours if it has
//! no limit. The mean of cube roots is between the geometric mean, which sorts most pairs of jobs
//! correctly, and the arithmetic mean, which accounts for the few jobs that block a server for
//! long.

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
use recent::{Recent, rounded};
use tree::{FEATURES, Trees};
pub use worth::{JudgedJob, Users, Worth, worth};

/// How job sizes are estimated.
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
    /// By the limit.
    #[default]
    Limit,
    /// By the limit times the usual ratio of size to limit.
    Ratio,
    /// By recent jobs of the same user, limit and share.
    History,
    /// By a regression on the limit, share and such histories, fitted once a day.
    Tree,
}

impl RuntimeEstimate {
    /// All estimates with their names, in declaration order.
    pub const NAMED: [(&'static str, Self); 4] = [
        ("limit", RuntimeEstimate::Limit),
        ("ratio", RuntimeEstimate::Ratio),
        ("history", RuntimeEstimate::History),
        ("tree", RuntimeEstimate::Tree),
    ];

    /// Parses a name.
    ///
    /// # Errors
    /// If the name is unknown; the message lists the valid ones.
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

/// The learned state of an estimator, as in a policy file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LearnedRuntimes {
    /// Mean of all jobs with a limit.
    limited: Recent,
    /// Mean of all jobs without a limit.
    unlimited: Recent,
    /// Means of similar jobs, the most recent first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    alike: Vec<Kind>,
    /// The regression.
    #[serde(default, skip_serializing_if = "Trees::is_empty")]
    trees: Trees,
}

/// Effective number of recent completions in the usual part.
const USUAL: u32 = 200;

/// The maximum and minimum number of recent completions to which the regression is fitted.
const WINDOW: usize = 3000;
const ENOUGH: usize = 100;

/// Estimates job sizes and learns from completions, after which a queue must be sorted again.
#[derive(Clone, Debug)]
pub struct Estimator {
    estimate: RuntimeEstimate,
    day: f64,
    limited: Recent,
    unlimited: Recent,
    history: History,
    trees: Trees,
    window: VecDeque<([f64; FEATURES], f64)>,
    fitted: f64,
}

impl Estimator {
    /// Creates an estimator from its learned state.
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
        // Other jobs wait long for a wide job, in vain if its estimate is too short.
        let part = if promise.limit.is_finite() {
            learned + promise.share.clamp(0.0, 1.0) * (usual - learned)
        } else {
            learned
        };
        // Clamping keeps the result valid whatever a file contains.
        let size = self.base(promise) * part.max(0.0).powi(3);
        let most = promise.limit.min(f64::MAX);
        size.clamp(self.least().min(most), most)
    }

    /// Learns from a job that ended after it ran for this long.
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

    /// Returns the usual part, rounded so that the size factor is a power of 2 and changes rarely:
    /// jobs without better information stay in order of arrival. Without rounding, waits were
    /// longer than with limits on 3 of 4 logs.
    fn usual(&self, promise: &JobFacts) -> f64 {
        let limited = promise.limit.is_finite();
        let Recent(count, mean) = if limited {
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

    /// Returns the reference of relative sizes \[time\]: the limit, or an hour.
    fn base(&self, promise: &JobFacts) -> f64 {
        if promise.limit.is_finite() {
            promise.limit.max(self.least())
        } else {
            self.day / 24.0
        }
    }

    fn least(&self) -> f64 {
        self.day * 1e-5
    }
}

#[cfg(test)]
mod tests;
