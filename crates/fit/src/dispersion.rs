//! How unevenly work arrives: variances over windows of time; and whether the load of the last week is a usual one.
//!
//! # Theory
//! With X the work of a job, `IDW(w) = Var[Σ X in a window of length w] / (λ w E[X²])`, which is 1 for compound Poisson
//! arrivals: bursts of short jobs, which raise the dispersion of counts, hardly raise it.
//! A two-state modulation of the rate has `IDW(w) − 1 = A (1 − (1 − e^{−rw})/(rw))`.

use std::ops::Range;

use schemars::JsonSchema;
use serde::Serialize;

/// The longest window: a day \[s\].
const LONGEST: u64 = 86_400;
/// The fewest windows of which a variance is estimated.
const FEWEST: u64 = 20;

/// Sums over windows, each twice as long as the one before, as jobs arrive in order.
#[derive(Clone, Debug)]
pub(crate) struct Windows {
    /// The windows' lengths \[ticks\].
    levels: Vec<Level>,
    /// The sum of the squares of the work of all jobs.
    squares: f64,
}

#[derive(Clone, Debug)]
struct Level {
    width: u64,
    work: Moment,
    /// By kind of job, of its work.
    kinds: Vec<Moment>,
}

/// Sums over the windows that are closed, and the sum in the open one.
#[derive(Clone, Copy, Debug, Default)]
struct Moment {
    /// The window that is open now.
    window: u64,
    open: f64,
    sum: f64,
    squares: f64,
}

impl Moment {
    /// Goes on to this window.
    fn open(&mut self, window: u64) {
        if window != self.window {
            self.sum += self.open;
            self.squares += self.open * self.open;
            (self.window, self.open) = (window, 0.0);
        }
    }

    /// Variance over so many windows, those without jobs included.
    fn variance(mut self, windows: u64) -> f64 {
        // The last window has ended, unless the trace ended with it.
        self.open(windows.max(self.window));
        let windows = windows as f64;
        let mean = self.sum / windows;
        (self.squares - windows * mean * mean).max(0.0) / (windows - 1.0)
    }
}

impl Windows {
    /// The shortest are this long \[ticks\], > 0, and the longest a day, in a trace with so many ticks a second.
    pub(crate) fn new(shortest: u64, per_second: u64) -> Self {
        let widths = (0..u64::BITS).map_while(|k| shortest.checked_mul(1 << k));
        let widths = widths.take_while(|width| *width <= LONGEST * per_second);
        let levels = widths.map(|width| Level {
            width,
            work: Moment::default(),
            kinds: Vec::new(),
        });
        Windows {
            levels: levels.collect(),
            squares: 0.0,
        }
    }

    /// A job of this kind with this work arrives so many ticks after the first.
    pub(crate) fn add(&mut self, at: u64, kind: usize, work: f64) {
        self.squares += work * work;
        for level in &mut self.levels {
            if level.kinds.len() <= kind {
                level.kinds.resize(kind + 1, Moment::default());
            }
            for moment in [&mut level.work, &mut level.kinds[kind]] {
                moment.open(at / level.width);
                moment.open += work;
            }
        }
    }

    /// Returns the dispersion over each length of which there are enough windows in a trace of this length \[ticks\].
    pub(crate) fn dispersion(&self, length: u64, per_second: u64) -> Vec<Dispersion> {
        let of = |level: &Level| {
            let windows = length / level.width;
            let work = level.width as f64 / length as f64 * self.squares;
            let kinds = level.kinds.iter();
            Dispersion {
                window: level.width as f64 / per_second as f64,
                work: level.work.variance(windows) / work,
                if_independent: kinds.map(|own| own.variance(windows)).sum::<f64>() / work,
            }
        };
        let enough = |level: &&Level| length / level.width >= FEWEST;
        self.levels.iter().filter(enough).map(of).collect()
    }
}

/// Dispersions over windows of one length; 1 for Poisson arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Dispersion {
    /// Length of the windows \[s\].
    pub window: f64,
    /// IDW, that of work.
    pub work: f64,
    /// What it would be if jobs of different demands arrived independently of each other.
    pub if_independent: f64,
}

/// A modulation of the rate that has the dispersion of work.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Excess {
    /// A, what the dispersion of work comes to over long windows, less that at a constant rate; > 0.
    pub amount: f64,
    /// r, how quickly the rate forgets \[1/s\], > 0.
    pub rate: f64,
}

/// A window tells of a modulation from this much dispersion on.
const NOTICEABLE: f64 = 0.05;

impl Excess {
    /// By least squares of logarithms over all windows; none where no window has more than `base`, the dispersion of
    /// arrivals at a constant rate: 1 but for batches.
    pub fn of(dispersions: &[Dispersion], base: f64) -> Option<Self> {
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
        // Between far beyond the longest window and far below the shortest, in steps of 2 %.
        let (slowest, fastest) = (0.1 / last, 100.0 / first);
        let steps = ((fastest / slowest).ln() / 0.02).ceil() as usize;
        let rates = (0..=steps).map(|n| slowest * (0.02 * n as f64).exp());
        let best = rates.min_by(|a, b| at(*a).0.total_cmp(&at(*b).0))?;
        Some(Excess {
            amount: at(best).1,
            rate: best,
        })
    }
}

/// `1 − (1 − e^{−x})/x`, which rises from 0 to 1.
fn rise(x: f64) -> f64 {
    if x < 1e-4 {
        x / 2.0 - x * x / 6.0
    } else {
        1.0 + (-x).exp_m1() / x
    }
}

/// The load of the last seven days beside that of all weeks before.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Drift {
    /// Mean share of all servers that the jobs of the last seven whole days take.
    pub last_week: f64,
    /// Between which 95 % of all spans of seven days before lie.
    pub usual: [f64; 2],
    /// By how much the load of a week varies since jobs are few and unlike: two standard deviations.
    pub chance: f64,
}

impl Drift {
    /// Fewer days than four weeks before the last say nothing of weeks; a longer trace is none of days.
    pub const DAYS: Range<u64> = 35..100_000;

    /// From the loads of all whole days, and the sums of the squares of what each job adds to them.
    pub fn of(loads: &[f64], squares: &[f64]) -> Self {
        let mean = |week: &[f64]| week.iter().sum::<f64>() / week.len() as f64;
        let (before, last) = loads.split_at(loads.len() - 7);
        let mut weeks: Vec<f64> = before.windows(7).map(mean).collect();
        weeks.sort_by(f64::total_cmp);
        // Of jobs that arrive as a Poisson process: Σ x² over the span, of seven days of it.
        let deviation = (squares.iter().sum::<f64>() * 7.0 / squares.len() as f64).sqrt() / 7.0;
        let at = |share: f64| weeks[(share * (weeks.len() - 1) as f64).round() as usize];
        Drift {
            last_week: mean(last),
            usual: [at(0.025), at(0.975)],
            chance: 2.0 * deviation,
        }
    }

    /// Returns whether it is time to make the policy anew: where the load is beyond the usual ones by more than chance
    /// may add.
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
    fn a_week_beyond_all_others_is_seen() {
        let mut loads: Vec<f64> = (0..60).map(|day| 0.4 + 0.1 * f64::from(day % 7)).collect();
        let many = [1e-6; 60];
        let drift = Drift::of(&loads, &many);
        assert!(!drift.is_unusual(), "{drift:?}");
        assert!((drift.last_week - 0.7).abs() < 1e-12, "{drift:?}");
        loads[53..].fill(0.9);
        assert!(Drift::of(&loads, &many).is_unusual());
        // A job every third day that fills all servers for a day: two in a week more are chance.
        assert!(!Drift::of(&loads, &[1.0 / 3.0; 60]).is_unusual());
    }

    /// Windows of 1 and 2 s by hand: works 1, 2, 0, 3 in four seconds, of two kinds.
    #[test]
    fn variances_over_windows_are_those_by_hand() {
        let mut windows = Windows::new(1, 1);
        for (at, kind, work) in [(0, 0, 1.0), (1, 1, 2.0), (3, 0, 1.0), (3, 1, 2.0)] {
            windows.add(at, kind, work);
        }
        // Over 40 s, the others of which are empty: Σ = 6, Σ² = 1 + 4 + 9 in windows of 1 s.
        let found = windows.dispersion(40, 1);
        let variance = |squares: f64, n: f64| (squares - 36.0 / n) / (n - 1.0);
        assert!((found[0].work - variance(14.0, 40.0) / (10.0 / 40.0)).abs() < 1e-12);
        // 3 and 3 in windows of 2 s.
        assert!((found[1].work - variance(18.0, 20.0) / (10.0 / 20.0)).abs() < 1e-12);
        // Kinds: 1 at 0 and 3, 2 at 1 and 3.
        let kinds = (2.0 - 4.0 / 40.0) / 39.0 + (8.0 - 16.0 / 40.0) / 39.0;
        assert!((found[0].if_independent - kinds / (10.0 / 40.0)).abs() < 1e-12);
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn a_modulation_is_found_from_its_own_dispersion() {
        let (amount, rate) = (4.0, 1.0 / 700.0);
        let windows = (0..17).map(|k| f64::from(1 << k));
        let of = |w: f64| Dispersion {
            window: w,
            work: 1.0 + amount * rise(rate * w),
            if_independent: 1.0,
        };
        let found = Excess::of(&windows.map(of).collect::<Vec<_>>(), 1.0).unwrap();
        assert!((found.amount / amount - 1.0).abs() < 0.02, "{found:?}");
        assert!((found.rate / rate - 1.0).abs() < 0.02, "{found:?}");
    }
}
