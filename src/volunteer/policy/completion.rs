//! When a batch will be done: C(B), from what its own results took.
//!
//! Results that are not there yet say as much as those that are: a job that was sent long ago takes
//! long. They are censored observations, and the law of the turnaround is the estimator of Kaplan and
//! Meier (J. American Statistical Association 53, 1958) of both. Where that says nothing, beyond the
//! longest result, the law of all results of the application goes on.

/// Fewer results, there or awaited, say nothing of the law beyond them.
const FEWEST: usize = 10;

/// The turnaround of a batch's instances, as far as it is known.
#[derive(Clone, Debug, Default)]
pub struct Turnarounds {
    /// Time, and whether a result came then; else it had not come by then. Ascending, results first.
    seen: Vec<(f64, bool)>,
}

impl Turnarounds {
    /// From what results took, and for how long others are awaited \[time\].
    pub fn new(
        came: impl IntoIterator<Item = f64>,
        awaited: impl IntoIterator<Item = f64>,
    ) -> Self {
        let came = came.into_iter().map(|time| (time, true));
        let mut seen: Vec<_> = came
            .chain(awaited.into_iter().map(|time| (time, false)))
            .collect();
        seen.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        Turnarounds { seen }
    }

    /// F⁻¹(q): the time by which this part of the results is there, in (0, 1). `others` is a sorted sample of
    /// the law that goes on where fewer than ten are left to be seen: there one result more or less
    /// would take a tenth or all of what is left. Where it has none as long, the last known time.
    #[must_use]
    pub fn quantile(&self, q: f64, others: &[f64]) -> f64 {
        let mut left = 1.0;
        let mut last = 0.0;
        for (n, (time, came)) in self.seen.iter().enumerate() {
            if self.seen.len() - n < FEWEST && !others.is_empty() {
                break;
            }
            if !came {
                continue;
            }
            last = *time;
            left *= 1.0 - 1.0 / (self.seen.len() - n) as f64;
            // Rounding must not put the quantile one result further.
            if 1.0 - left >= q - 1e-12 {
                return *time;
            }
        }
        // What is left is spread as the others are that took longer.
        let longer = &others[others.partition_point(|time| *time <= last)..];
        let needed = 1.0 - (1.0 - q) / left;
        let index = (needed * longer.len() as f64 - 1e-9).ceil().max(0.0) as usize;
        let beyond = longer.get(index.saturating_sub(1)).copied();
        let longest = self.seen.last().map_or(last, |(time, _)| *time);
        beyond.unwrap_or(longest)
    }
}

/// What an estimate is made from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Completion {
    /// Instances that are to be sent (u).
    pub to_send: u32,
    /// Instances that are sent a unit of time (D) \[1/time\].
    pub rate: f64,
    /// F⁻¹(q) \[time\].
    pub turnaround: f64,
}

impl Completion {
    /// C(B) = now + u/D + F⁻¹(q); none where nothing is being sent.
    #[must_use]
    pub fn at(&self, now: f64) -> Option<f64> {
        let sending = match self.to_send {
            0 => 0.0,
            u => f64::from(u) / self.rate,
        };
        let end = now + sending + self.turnaround;
        end.is_finite().then_some(end)
    }
}

/// The quantile that the last of r results is at in the mean: 1 − 1/(r+1).
#[must_use]
pub fn last_of(r: u32) -> f64 {
    1.0 - 1.0 / (f64::from(r) + 1.0)
}
