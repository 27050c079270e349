//! Thresholds that a run watches: how often something lies above one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ClassResult, Estimate, Histogram};

/// What is watched of a class, and above which threshold.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
pub struct Stay {
    /// From arrival to completion.
    pub response: f64,
    /// From arrival to the last start.
    pub waiting: f64,
}

/// A threshold of a class of jobs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Watch {
    /// The class, by its place; in a document the job type.
    pub job_type: usize,
    /// What is watched.
    pub threshold: Threshold,
}

/// What a run saw of a watched threshold.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
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

impl Watched {
    /// Returns the fraction of jobs above the threshold, with an interval that allows for what too few jobs have shown.
    ///
    /// By the rule of three, none of n independent jobs is above the threshold with a probability of 5 % if the fraction is
    /// `3/n`: `(1 − p)^n = 0.05`. Jobs that come together wait together, so n is the number of independent jobs whose mean
    /// would be known as precisely. Response times are taken to vary as exponential ones do.
    pub fn known<C>(&self, own: &ClassResult<C>) -> Option<Estimate> {
        let above = self.above?;
        let waits = own.waits.as_ref().map(Histogram::variance);
        let (mean, variance) = match self.watch.threshold {
            Threshold::Number(_) => return Some(above),
            Threshold::Waiting(_) => (own.mean_waiting?, waits.filter(|own| *own > 0.0)),
            Threshold::Response(_) => (own.mean_response?, None),
        };
        let variance = variance.unwrap_or(mean.mean.powi(2));
        // Where nothing varies all jobs count, even if no job waits.
        let worth = (variance / mean.standard_error.powi(2)).min(own.completions as f64);
        Some(Estimate {
            half_width: above.half_width.max(3.0 / worth).min(1.0),
            ..above
        })
    }
}

struct Watcher {
    threshold: Threshold,
    /// 1 while there are more jobs.
    more: Meter,
    /// Jobs so far that took longer.
    longer: f64,
}

/// All that is watched, in the open bucket.
pub struct Watchers {
    of_class: Vec<Vec<Watcher>>,
    /// In the order of the values of [`Watchers::collect`].
    pub watches: Vec<Watch>,
}

impl Watchers {
    /// Returns those of so many classes; watches of other classes are dropped.
    pub fn new(classes: usize, watches: &[Watch]) -> Self {
        let of = |i: usize| watches.iter().filter(move |w| w.job_type == i);
        let watcher = |w: &Watch| Watcher {
            threshold: w.threshold,
            more: Meter::default(),
            longer: 0.0,
        };
        Watchers {
            of_class: (0..classes).map(|i| of(i).map(watcher).collect()).collect(),
            watches: (0..classes).flat_map(of).copied().collect(),
        }
    }

    /// Notes that so many jobs of class i are there, `at` after the bucket's begin.
    pub fn number(&mut self, i: usize, present: u64, at: f64) {
        for watcher in &mut self.of_class[i] {
            if let Threshold::Number(most) = watcher.threshold {
                watcher.more.set(f64::from(present > most), at);
            }
        }
    }

    /// Notes that a job of class i left.
    pub fn departed(&mut self, i: usize, stay: Stay) {
        for watcher in &mut self.of_class[i] {
            watcher.longer += match watcher.threshold {
                Threshold::Number(_) => 0.0,
                Threshold::Response(time) => f64::from(stay.response > time),
                Threshold::Waiting(time) => f64::from(stay.waiting > time),
            };
        }
    }

    /// Returns the time above, or jobs above, in the bucket of this length.
    pub fn collect(&mut self, length: f64) -> impl Iterator<Item = f64> {
        let all = self.of_class.iter_mut().flatten();
        all.map(move |own| own.more.collect(length) + std::mem::take(&mut own.longer))
    }
}

/// The first moment of the jumps of a quantity, for its integral over time: `Σ Δ t` over its jumps Δ
/// at times t since an origin. At time T after it the integral is `value·T − Σ Δ t`; so a constant
/// quantity costs no work.
#[derive(Clone, Copy, Debug, Default)]
pub struct FirstMoment(f64);

impl FirstMoment {
    /// Adds 1, `at` after the origin.
    #[inline(always)]
    pub fn rise(&mut self, at: f64) {
        self.0 += at;
    }

    /// Subtracts 1, `at` after the origin.
    #[inline(always)]
    pub fn fall(&mut self, at: f64) {
        self.0 -= at;
    }

    /// Adds `by`, `at` after the origin.
    pub fn jump(&mut self, by: f64, at: f64) {
        self.0 += by * at;
    }

    /// Returns the integral over the `length` since the origin, which moves to its end, where the quantity
    /// has this value.
    pub fn collect(&mut self, value: f64, length: f64) -> f64 {
        value * length - std::mem::take(&mut self.0)
    }
}

/// A quantity that jumps, its integral kept.
#[derive(Clone, Copy, Debug, Default)]
pub struct Meter {
    /// The quantity.
    pub value: f64,
    moment: FirstMoment,
}

impl Meter {
    /// Adds `more`, `at` after the origin.
    pub fn add(&mut self, more: f64, at: f64) {
        self.value += more;
        self.moment.jump(more, at);
    }

    /// Sets it to `value`, `at` after the origin.
    pub fn set(&mut self, value: f64, at: f64) {
        self.moment.jump(value - self.value, at);
        self.value = value;
    }

    /// Returns the integral over the `length` since the origin, which moves to its end.
    pub fn collect(&mut self, length: f64) -> f64 {
        self.moment.collect(self.value, length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integral_of_a_staircase() {
        let mut meter = Meter::default();
        meter.set(2.0, 1.0);
        meter.set(5.0, 3.0);
        assert_eq!(meter.collect(4.0), 2.0 * 2.0 + 5.0);
        meter.set(0.0, 0.5);
        assert_eq!(meter.collect(4.0), 2.5);
        assert_eq!(meter.collect(4.0), 0.0);
    }
}
