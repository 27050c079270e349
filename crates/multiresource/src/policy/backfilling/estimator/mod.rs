//! How long a job will run, from what it promised and from what others did that have ended.
//!
//! Estimates order the queue. Reservations count with limits, which a job does not outlive; where a job came without one,
//! its estimate stands in for it. All that is learned comes from the past alone, and no random numbers are drawn: a
//! replay, the bridge and `drive` learn the same from the same ends.
//!
//! Means are of cube roots: between the geometric mean, which sorts most pairs of jobs right, and the arithmetic one,
//! which sees the few that would block a server for long. What is learned of a job is the cube root of size/limit, its
//! *part*; of one without a limit, of its size in hours.

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

/// How jobs' sizes are estimated.
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
    /// What they promise.
    #[default]
    Limit,
    /// What they promise, times the ratio of size to limit that is usual here.
    Ratio,
    /// The last ones like them: of the same user, limit and share.
    History,
    /// A regression on what they promise and on such histories, fitted anew each day.
    Tree,
}

impl RuntimeEstimate {
    /// All of them, in this order, with their names.
    pub const NAMED: [(&'static str, Self); 4] = [
        ("limit", RuntimeEstimate::Limit),
        ("ratio", RuntimeEstimate::Ratio),
        ("history", RuntimeEstimate::History),
        ("tree", RuntimeEstimate::Tree),
    ];

    /// Returns the estimate of this name.
    ///
    /// # Errors
    /// Says which there are.
    pub fn parse(text: &str) -> Result<Self, String> {
        let known = Self::NAMED.iter().find(|(name, _)| *name == text);
        known.map(|(_, own)| *own).ok_or_else(|| {
            format!(
                "`{text}` is no estimate of a job's size: limit, ratio (the limit times the usual ratio), history (the last jobs like it), tree (a regression)"
            )
        })
    }

    /// Returns its name.
    pub fn name(self) -> &'static str {
        Self::NAMED[self as usize].0
    }
}

/// What an estimator has learned, as it stands in a policy file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LearnedRuntimes {
    /// Of all jobs with a limit.
    limited: Recent,
    /// Of all jobs without one.
    unlimited: Recent,
    /// Of jobs that are alike, those first that came last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    alike: Vec<Kind>,
    /// The regression.
    #[serde(default, skip_serializing_if = "Trees::is_empty")]
    trees: Trees,
}

/// So many of the last ends say what is usual.
const USUAL: u32 = 200;

/// So many of the last ends the regression is fitted to; no fewer than the second are enough for one.
const WINDOW: usize = 3000;
const ENOUGH: usize = 100;

/// Estimates sizes, and learns from those that have ended.
///
/// Estimates of jobs that wait get better with each end of the same user's: order them anew then.
#[derive(Clone, Debug)]
pub struct Estimator {
    estimate: RuntimeEstimate,
    /// A day \[time\].
    day: f64,
    limited: Recent,
    unlimited: Recent,
    history: History,
    trees: Trees,
    /// What was known of the last jobs, and their parts.
    window: VecDeque<([f64; FEATURES], f64)>,
    /// The day on which there was a fit.
    fitted: f64,
}

impl Estimator {
    /// Returns an estimator that has learned this.
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

    /// Returns what the job is taken to last \[time\]: > 0, finite, at most its limit.
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
        // For a wide job others make room for long: where it is taken to be shorter than it is, they do so in vain. So the
        // wider it is, the more its own word counts.
        let part = if promise.limit.is_finite() {
            learned + promise.share.clamp(0.0, 1.0) * (usual - learned)
        } else {
            learned
        };
        // Whatever stands in a file, this is a number.
        let size = self.base(promise) * part.max(0.0).powi(3);
        let most = promise.limit.min(f64::MAX);
        size.clamp(self.least().min(most), most)
    }

    /// Takes in that a job has ended after it ran so long.
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

    /// Returns what a policy file keeps: 12 kB at most.
    pub fn learned(&self) -> LearnedRuntimes {
        LearnedRuntimes {
            limited: self.limited,
            unlimited: self.unlimited,
            alike: self.history.kinds(),
            trees: self.trees.clone(),
        }
    }

    /// Returns what the regression looks at.
    fn features(&self, promise: &JobFacts) -> [f64; FEATURES] {
        [
            self.base(promise),
            promise.share,
            (promise.submitted / self.day).rem_euclid(1.0),
            self.history.mean(promise, self.usual(promise)),
        ]
    }

    /// Returns the part that is usual for a job with such a limit, or without one; of the size it is a power of 2. So it
    /// changes seldom, and jobs of which no more is known stay in order of arrival. With one that moves as the mean does
    /// the head of the queue changes while it waits for room, and waits were longer than with limits on 3 logs of 4.
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

    /// What sizes are relative to \[time\]: the limit, or an hour.
    fn base(&self, promise: &JobFacts) -> f64 {
        if promise.limit.is_finite() {
            promise.limit.max(self.least())
        } else {
            self.day / 24.0
        }
    }

    /// Sizes below about a second are alike \[time\].
    fn least(&self) -> f64 {
        self.day * 1e-5
    }
}

#[cfg(test)]
mod tests;
