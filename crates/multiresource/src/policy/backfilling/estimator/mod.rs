//! Estimates of the size of a job, based on its limit and on the jobs that have completed.
//! They order the queue, while reservations are based on the limits, which a job cannot exceed, or
//! on the estimate of a job without a limit. Only past completions and no random numbers are used,
//! so a replay, the bridge and `drive` learn the same values.
//!
//! The value that is learned from a job is its *part*: the cube root of `size / limit`, or of the
//! size in hours. The mean of cube roots lies between the geometric mean, which sorts pairs of jobs
//! best, and the arithmetic mean, which counts the few jobs that block a server for a long time.

mod history;
mod tree;
mod worth;

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(super) use history::finalized;
use history::{History, Kind};
use tree::{FEATURES, Trees};
pub use worth::{EstimateQuality, EstimatedCompletion, UserGroup, estimate_quality};

/// The information about a job that is available when it arrives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JobFacts {
    /// The hash of the user name, or 0 if the user is unknown.
    pub user: u32,
    /// The limit of the job \[time\], or infinity if it does not have a limit.
    pub limit: f64,
    /// The fraction of the scarcest resource that is used by the job, in the range `(0, 1]`.
    pub share: f64,
    /// The arrival time \[time\].
    pub submitted: f64,
}

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
    /// All estimates with their names, in the order of declaration.
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

/// A mean in which recent values have a higher weight than older values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
struct RecentMean(
    /// The number of values.
    pub u32,
    /// The mean.
    pub f64,
);

impl RecentMean {
    fn learn(&mut self, part: f64, last: u32) {
        let RecentMean(count, mean) = self;
        *count = count.saturating_add(1);
        *mean = rounded(*mean + (part - *mean) / f64::from(last.min(*count)));
    }
}

/// Rounds a number to five digits so that files are small. Values in memory are rounded as well, so
/// that loading a file does not change the estimates.
fn rounded(x: f64) -> f64 {
    let scale = 10_f64.powi(4 - (x.abs().log10().floor() as i32).clamp(-300, 300));
    (x * scale).round() / scale
}

/// The effective number of recent jobs that determine the usual part.
const USUAL: u32 = 200;

/// The maximum and minimum number of recent completions to which the regression is fitted.
const WINDOW: usize = 3000;
const ENOUGH: usize = 100;

/// An estimator that learns from completed jobs.
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
    pub fn estimate(&self, facts: &JobFacts) -> f64 {
        let usual = self.usual(facts);
        let learned = match self.estimate {
            RuntimeEstimate::Limit if facts.limit.is_finite() => {
                return facts.limit.clamp(f64::MIN_POSITIVE, f64::MAX);
            }
            RuntimeEstimate::Limit | RuntimeEstimate::Ratio => usual,
            RuntimeEstimate::History => self.history.mean(facts, usual),
            RuntimeEstimate::Tree => self.trees.predict(&self.features(facts)),
        };
        // Other jobs wait long for the start of a wide job, in vain if its estimate is too short.
        // So the wider a job is, the more its own limit counts.
        let part = if facts.limit.is_finite() {
            learned + facts.share.clamp(0.0, 1.0) * (usual - learned)
        } else {
            learned
        };
        // The result must be valid for any values in the policy file.
        let size = self.base(facts) * part.max(0.0).powi(3);
        let most = facts.limit.min(f64::MAX);
        size.clamp(self.least().min(most), most)
    }

    /// Learns from a job that has run for the time `ran`.
    pub fn learn(&mut self, facts: &JobFacts, ran: f64, now: f64) {
        let part = rounded((ran.max(self.least()) / self.base(facts)).cbrt());
        if self.estimate == RuntimeEstimate::Tree {
            if self.window.len() == WINDOW {
                self.window.pop_front();
            }
            self.window.push_back((self.features(facts), part));
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
            self.history.learn(facts, part);
        }
        let mean = match facts.limit.is_finite() {
            true => &mut self.limited,
            false => &mut self.unlimited,
        };
        mean.learn(part, USUAL);
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

    fn features(&self, facts: &JobFacts) -> [f64; FEATURES] {
        [
            self.base(facts),
            facts.share,
            (facts.submitted / self.day).rem_euclid(1.0),
            self.history.mean(facts, self.usual(facts)),
        ]
    }

    /// Returns the usual part, rounded so that the size factor is a power of 2 and, like the head
    /// of the queue, rarely changes. Otherwise jobs waited longer than with limits on 3 of 4 logs.
    fn usual(&self, facts: &JobFacts) -> f64 {
        let RecentMean(count, mean) = match facts.limit.is_finite() {
            true => self.limited,
            false => self.unlimited,
        };
        match count {
            0 => 1.0,
            _ => ((3.0 * mean.log2()).round() / 3.0).exp2(),
        }
    }

    /// Returns the reference for relative sizes \[time\]: the limit, or an hour if there is none.
    fn base(&self, facts: &JobFacts) -> f64 {
        if facts.limit.is_finite() {
            facts.limit.max(self.least())
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
