use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::quantiles::Histogram;
use super::{ClassResult, Estimate};

/// A quantity of a class that is watched, and its threshold.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Threshold {
    /// The number of jobs in the system.
    Number(u64),
    /// Response time \[time\].
    Response(f64),
    /// The time between the arrival and the last start \[time\], or 0 for jobs that share a server.
    Waiting(f64),
}

/// The times that a job spent in the system \[time\].
#[derive(Clone, Copy, Debug)]
pub struct Stay {
    /// The time between the arrival and the completion of the job.
    pub response: f64,
    /// The time between the arrival of the job and its last start.
    pub waiting: f64,
}

/// A threshold that is watched for a class of jobs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Watch {
    /// The index of the class, called job type in documents.
    pub job_type: usize,
    /// What is watched.
    pub threshold: Threshold,
}

/// The result for a watched threshold.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Watched {
    /// The threshold.
    pub watch: Watch,
    /// The fraction of time with more jobs, or the fraction of jobs that took longer. It is null if
    /// there are no jobs, or if the run has not converged.
    pub above: Option<Estimate>,
    /// The same fraction, even if the run has not converged.
    #[serde(skip)]
    pub rough: Option<f64>,
}

impl Watched {
    /// Returns the fraction above the threshold, with an interval that is corrected for small
    /// samples by the rule of three: if the fraction is `3/n`, none of n independent jobs is above
    /// it with a probability of 5 %. Jobs that arrive together wait together, so `n` independent
    /// jobs would give the mean the same precision. Response times are treated as exponential.
    pub fn known<C>(&self, own: &ClassResult<C>) -> Option<Estimate> {
        let above = self.above?;
        let waits = own.waits.as_ref().map(Histogram::variance);
        let (mean, variance) = match self.watch.threshold {
            Threshold::Number(_) => return Some(above),
            Threshold::Waiting(_) => (own.mean_waiting?, waits.filter(|own| *own > 0.0)),
            Threshold::Response(_) => (own.mean_response?, None),
        };
        let variance = variance.unwrap_or(mean.mean.powi(2));
        let worth = (variance / mean.standard_error.powi(2)).min(own.completions as f64);
        Some(Estimate {
            half_width: above.half_width.max(3.0 / worth).min(1.0),
            ..above
        })
    }
}

struct Watcher {
    threshold: Threshold,
    more: Meter,
    longer: f64,
}

pub struct Watchers {
    of_class: Vec<Vec<Watcher>>,
    pub watches: Vec<Watch>,
}

impl Watchers {
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

    pub fn number(&mut self, i: usize, present: u64, at: f64) {
        for watcher in &mut self.of_class[i] {
            if let Threshold::Number(most) = watcher.threshold {
                watcher.more.set(f64::from(present > most), at);
            }
        }
    }

    pub fn departed(&mut self, i: usize, stay: Stay) {
        for watcher in &mut self.of_class[i] {
            watcher.longer += match watcher.threshold {
                Threshold::Number(_) => 0.0,
                Threshold::Response(time) => f64::from(stay.response > time),
                Threshold::Waiting(time) => f64::from(stay.waiting > time),
            };
        }
    }

    /// Returns the time or number of jobs above each threshold in a bucket of this length.
    pub fn collect(&mut self, length: f64) -> impl Iterator<Item = f64> {
        let all = self.of_class.iter_mut().flatten();
        all.map(move |own| own.more.collect(length) + std::mem::take(&mut own.longer))
    }
}

/// The first moment `Σ Δ t` of the jumps `Δ` of a value at the times `t` since an origin. The
/// integral up to `T` is `value·T − Σ Δ t`, so that a constant value has no cost.
#[derive(Clone, Copy, Debug, Default)]
pub struct FirstMoment(f64);

impl FirstMoment {
    /// Adds `by`, `at` after the origin. If `by` is the constant ±1, the product costs nothing.
    #[inline(always)]
    pub fn jump(&mut self, by: f64, at: f64) {
        self.0 += by * at;
    }

    /// Returns the integral over `length`, and moves the origin to its end.
    pub fn collect(&mut self, value: f64, length: f64) -> f64 {
        value * length - std::mem::take(&mut self.0)
    }
}

/// A value that only changes in jumps, and its integral over time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Meter {
    /// The current value.
    pub value: f64,
    moment: FirstMoment,
}

impl Meter {
    /// Adds `more`, `at` after the origin.
    pub fn add(&mut self, more: f64, at: f64) {
        self.value += more;
        self.moment.jump(more, at);
    }

    /// Sets the value, `at` after the origin.
    pub fn set(&mut self, value: f64, at: f64) {
        self.moment.jump(value - self.value, at);
        self.value = value;
    }

    /// Returns the integral over `length`, and moves the origin to its end.
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
