//! This module measures how much the arriving work varies, in windows of time and between weeks.
//!
//! If `X` is the work of a job, `IDW(w) = Var[Σ X in a window of length w] / (λ w E[X²])`, which is
//! 1 if arrivals are compound Poisson, and hardly changed by bursts of short jobs. If the rate is
//! modulated by two states, `IDW(w) − 1 = A (1 − (1 − e^{−rw})/(rw))`.

use std::ops::Range;

use schemars::JsonSchema;
use serde::Serialize;

const LONGEST: u64 = 86_400;
const MIN_WINDOWS: u64 = 20;

#[derive(Clone, Debug)]
pub(crate) struct Windows {
    levels: Vec<Level>,
    squares: f64,
}

#[derive(Clone, Debug)]
struct Level {
    width: u64,
    /// The work of all jobs, and then of the jobs of each kind.
    moments: Vec<Moment>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Moment {
    window: u64,
    open: f64,
    sum: f64,
    squares: f64,
}

impl Moment {
    fn open(&mut self, window: u64) {
        if window != self.window {
            self.sum += self.open;
            self.squares += self.open * self.open;
            (self.window, self.open) = (window, 0.0);
        }
    }

    fn variance(mut self, windows: u64) -> f64 {
        self.open(windows.max(self.window));
        let windows = windows as f64;
        let mean = self.sum / windows;
        (self.squares - windows * mean * mean).max(0.0) / (windows - 1.0)
    }
}

impl Windows {
    /// Creates windows whose lengths double from `shortest` (> 0) \[ticks\] up to one day.
    pub(crate) fn new(shortest: u64, per_second: u64) -> Self {
        let widths = (0..u64::BITS).map_while(|k| shortest.checked_mul(1 << k));
        let widths = widths.take_while(|width| *width <= LONGEST * per_second);
        let moments = vec![Moment::default()];
        let levels = widths.map(|width| Level {
            width,
            moments: moments.clone(),
        });
        Windows {
            levels: levels.collect(),
            squares: 0.0,
        }
    }

    /// Adds a job that arrives at the time `at` \[ticks\]. Jobs must be added in order of arrival.
    pub(crate) fn add(&mut self, at: u64, kind: usize, work: f64) {
        self.squares += work * work;
        for level in &mut self.levels {
            let count = level.moments.len().max(kind + 2);
            level.moments.resize(count, Moment::default());
            for n in [0, kind + 1] {
                level.moments[n].open(at / level.width);
                level.moments[n].open += work;
            }
        }
    }

    pub(crate) fn dispersion(&self, length: u64, per_second: u64) -> Vec<Dispersion> {
        let of = |level: &Level| {
            let windows = length / level.width;
            let work = level.width as f64 / length as f64 * self.squares;
            let kinds = level.moments[1..].iter();
            Dispersion {
                window: level.width as f64 / per_second as f64,
                work: level.moments[0].variance(windows) / work,
                if_independent: kinds.map(|own| own.variance(windows)).sum::<f64>() / work,
            }
        };
        let enough = |level: &&Level| length / level.width >= MIN_WINDOWS;
        self.levels.iter().filter(enough).map(of).collect()
    }
}

/// The dispersions for windows of the same length. They are equal to 1 for Poisson arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Dispersion {
    /// The length of the windows \[s\].
    pub window: f64,
    /// The index of dispersion of work (IDW).
    pub work: f64,
    /// The value of the IDW if jobs with different demands were independent of each other.
    pub if_independent: f64,
}

/// The part of the dispersion of work that a modulation of the arrival rate explains.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RateModulation {
    /// The limit of the dispersion of work for long windows minus its value at a constant rate
    /// (`A`), which is > 0.
    pub amount: f64,
    /// The relaxation rate `r` of the modulation \[1/s\], which is greater than 0.
    pub rate: f64,
}

/// Only windows with a larger excess dispersion are used for the fit.
const NOTICEABLE: f64 = 0.05;

impl RateModulation {
    /// Fits a modulation to the logarithms by least squares. `base` is the dispersion at a constant
    /// rate, which is 1 without batches. Returns `None` if no window exceeds it by more than 0.05.
    pub(crate) fn of(dispersions: &[Dispersion], base: f64) -> Option<Self> {
        let points = dispersions.iter().map(|d| (d.window, d.work - base));
        let points: Vec<(f64, f64)> = points.filter(|(_, excess)| *excess > NOTICEABLE).collect();
        let (first, last) = (points.first()?.0, points.last()?.0);
        let at = |rate: f64| {
            let gap = |(w, excess): &(f64, f64)| excess.ln() - rise(rate * w).ln();
            let gaps: Vec<f64> = points.iter().map(gap).collect();
            let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
            let error: f64 = gaps.iter().map(|gap| (gap - mean).powi(2)).sum();
            (error, mean.exp())
        };
        let (slowest, fastest) = (0.1 / last, 100.0 / first);
        let steps = ((fastest / slowest).ln() / 0.02).ceil() as usize;
        let rates = (0..=steps).map(|n| slowest * (0.02 * n as f64).exp());
        let best = rates.min_by(|a, b| at(*a).0.total_cmp(&at(*b).0))?;
        let (rate, (_, amount)) = (best, at(best));
        Some(RateModulation { amount, rate })
    }
}

fn rise(x: f64) -> f64 {
    if x < 1e-4 {
        x / 2.0 - x * x / 6.0
    } else {
        1.0 + (-x).exp_m1() / x
    }
}

/// The load of the last seven days, compared to the load of all weeks before.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Drift {
    /// The mean share of the capacity that is used by the jobs of the last seven complete days.
    pub last_week: f64,
    /// The range that contains 95 % of the loads for all periods of seven days before.
    pub usual: [f64; 2],
    /// Two standard deviations of the weekly load that can be explained by chance.
    pub chance: f64,
}

impl Drift {
    /// The lengths of a trace in days for which the drift is computed.
    pub(crate) const DAYS: Range<u64> = 35..100_000;

    /// Computes the drift from the load of each complete day and the squares of the loads of jobs.
    pub(crate) fn of(loads: &[f64], squares: &[f64]) -> Self {
        let mean = |week: &[f64]| week.iter().sum::<f64>() / week.len() as f64;
        let (before, last) = loads.split_at(loads.len() - 7);
        let mut weeks: Vec<f64> = before.windows(7).map(mean).collect();
        weeks.sort_by(f64::total_cmp);
        // If the arrivals are Poisson, the variance of a sum is `Σ x²`, here scaled to seven days.
        let deviation = (squares.iter().sum::<f64>() * 7.0 / squares.len() as f64).sqrt() / 7.0;
        let at = |share: f64| weeks[(share * (weeks.len() - 1) as f64).round() as usize];
        Drift {
            last_week: mean(last),
            usual: [at(0.025), at(0.975)],
            chance: 2.0 * deviation,
        }
    }

    /// Returns `true` if the last week is unusual, so that the policy should be computed again.
    pub fn is_unusual(&self) -> bool {
        let [low, high] = self.usual;
        !(low - self.chance..=high + self.chance).contains(&self.last_week)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn detects_a_week_outside_the_usual_range() {
        let mut loads: Vec<f64> = (0..60).map(|day| 0.4 + 0.1 * f64::from(day % 7)).collect();
        let many = [1e-6; 60];
        let drift = Drift::of(&loads, &many);
        assert!(!drift.is_unusual(), "{drift:?}");
        assert!((drift.last_week - 0.7).abs() < 1e-12, "{drift:?}");
        loads[53..].fill(0.9);
        assert!(Drift::of(&loads, &many).is_unusual());
        assert!(!Drift::of(&loads, &[1.0 / 3.0; 60]).is_unusual());
    }

    #[test]
    fn window_variances_match_hand_computation() {
        let mut windows = Windows::new(1, 1);
        for (at, kind, work) in [(0, 0, 1.0), (1, 1, 2.0), (3, 0, 1.0), (3, 1, 2.0)] {
            windows.add(at, kind, work);
        }
        let found = windows.dispersion(40, 1);
        let variance = |squares: f64, n: f64| (squares - 36.0 / n) / (n - 1.0);
        assert!((found[0].work - variance(14.0, 40.0) / (10.0 / 40.0)).abs() < 1e-12);
        assert!((found[1].work - variance(18.0, 20.0) / (10.0 / 20.0)).abs() < 1e-12);
        let kinds = (2.0 - 4.0 / 40.0) / 39.0 + (8.0 - 16.0 / 40.0) / 39.0;
        assert!((found[0].if_independent - kinds / (10.0 / 40.0)).abs() < 1e-12);
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn recovers_a_modulation_from_its_dispersion() {
        let (amount, rate) = (4.0, 1.0 / 700.0);
        let windows = (0..17).map(|k| f64::from(1 << k));
        let of = |w: f64| Dispersion {
            window: w,
            work: 1.0 + amount * rise(rate * w),
            if_independent: 1.0,
        };
        let found = RateModulation::of(&windows.map(of).collect::<Vec<_>>(), 1.0).unwrap();
        assert!((found.amount / amount - 1.0).abs() < 0.02, "{found:?}");
        assert!((found.rate / rate - 1.0).abs() < 0.02, "{found:?}");
    }
}
