//! How long a job will run, from what it promised and from what others did that have ended.
//!
//! Estimates order the queue. Reservations count with limits, which a job never outlives; where a job came without one,
//! its estimate stands in for it. All that is learned comes from the past alone, and costs no random numbers: a replay,
//! the bridge and `drive` learn the same from the same ends.

mod history;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use history::{History, Remembered};

/// What is known of a job when it comes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Promise {
    /// Who sent it: a hash of a name; 0 where that is not known.
    pub user: u32,
    /// The limit that it came with \[time\]; infinite where there is none.
    pub limit: f64,
    /// What it takes of the scarcest resource, of the whole (0, 1\].
    pub share: f64,
    /// When it came \[time\].
    pub submitted: f64,
}

/// How jobs' sizes are estimated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Estimate {
    /// What they promise.
    #[default]
    Limit,
    /// What they promise, times the ratio of size to limit that is usual here.
    Ratio,
    /// The last three like them: of the same user, limit and share.
    History,
    /// A regression on what they promise and on their users' histories, fitted anew each day.
    Tree,
}

/// What an estimator has learned, as it stands in a policy file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Learned {
    /// Of jobs with a limit.
    limited: Usual,
    /// Of jobs without one.
    unlimited: Usual,
    /// Of those alike, the most recent first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    alike: Vec<Remembered>,
}

/// A mean that follows what is usual: of the logarithms of size/limit, or of size where there is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Usual {
    /// How many jobs it is of.
    count: u64,
    mean: f64,
}

/// So many of the last ends make the mean.
const USUAL_OF: u64 = 200;

impl Usual {
    fn learn(&mut self, ln: f64) {
        self.count += 1;
        // One that is far off moves it as one that is not so far: e³ is a factor of 20.
        let step = (ln - self.mean).clamp(-3.0, 3.0);
        self.mean = rounded(self.mean + step / self.count.min(USUAL_OF) as f64, 1e6);
    }
}

/// A number that is short in a file.
fn rounded(x: f64, parts: f64) -> f64 {
    (x * parts).round() / parts
}

/// Estimates sizes, and learns from those that have ended.
#[derive(Clone, Debug)]
pub struct Estimator {
    estimate: Estimate,
    /// A day \[time\].
    day: f64,
    limited: Usual,
    unlimited: Usual,
    history: History,
}

impl Estimator {
    /// Returns an estimator that has learned this.
    pub fn new(estimate: Estimate, day: f64, learned: &Learned) -> Self {
        Estimator {
            estimate,
            day,
            limited: learned.limited,
            unlimited: learned.unlimited,
            history: History::new(&learned.alike),
        }
    }

    /// Returns what the job is taken to last \[time\]: > 0, finite, at most its limit.
    pub fn estimate(&self, promise: &Promise) -> f64 {
        let usual = self.usual(promise);
        let ln = match self.estimate {
            Estimate::Limit if promise.limit.is_finite() => 0.0,
            Estimate::Limit | Estimate::Ratio => usual,
            Estimate::History | Estimate::Tree => self.history.mean(promise, usual),
        };
        let least = self.least().min(promise.limit);
        (self.base(promise) * ln.exp()).clamp(least, promise.limit.min(f64::MAX))
    }

    /// A job has ended after it ran so long.
    pub fn learn(&mut self, promise: &Promise, ran: f64, _now: f64) {
        let ln = rounded((ran.max(self.least()) / self.base(promise)).ln(), 1e3);
        if promise.limit.is_finite() {
            self.limited.learn(ln);
        } else {
            self.unlimited.learn(ln);
        }
        if matches!(self.estimate, Estimate::History | Estimate::Tree) {
            self.history.learn(promise, ln);
        }
    }

    /// Returns what a policy file keeps: some 10 kB at most.
    pub fn learned(&self) -> Learned {
        Learned {
            limited: self.limited,
            unlimited: self.unlimited,
            alike: self.history.remembered(),
        }
    }

    /// Returns the logarithm of what is usual for a job with such a limit, or without one.
    fn usual(&self, promise: &Promise) -> f64 {
        if promise.limit.is_finite() {
            self.limited.mean
        } else {
            self.unlimited.mean
        }
    }

    /// What logarithms are relative to \[time\]: the limit, or an hour.
    fn base(&self, promise: &Promise) -> f64 {
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
