//! When a batch will be done: C(B), from what its own results took.
//!
//! Results that are not there yet say as much as those that are: a job that was sent long ago takes
//! long. They are censored observations, and the law of the turnaround is the estimator of Kaplan and
//! Meier (J. American Statistical Association 53, 1958) of both. Where that says nothing, beyond the
//! longest result, the law of all results of the application goes on.

/// Results, present or awaited, without which the estimator says nothing of the law beyond them.
const FEWEST: usize = 10;

/// Returns F⁻¹(q), the time by which the part q of a batch's results is there, 0 < q < 1, from what results took and for how long
/// others are awaited \[time\]. Where fewer than ten observations are left, one result more or less would change a tenth or all
/// of the rest, so that the law of `others`, a sorted sample, takes over. Where it has none as long, returns the last known
/// time.
pub fn turnaround(
    came: impl IntoIterator<Item = f64>,
    awaited: impl IntoIterator<Item = f64>,
    q: f64,
    others: &[f64],
) -> f64 {
    // Times, ascending, and whether a result came then; otherwise it had not come by then. Results first.
    let came = came.into_iter().map(|time| (time, true));
    let awaited = awaited.into_iter().map(|time| (time, false));
    let mut seen: Vec<(f64, bool)> = came.chain(awaited).collect();
    seen.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
    let mut left = 1.0;
    let mut last = 0.0;
    for (n, (time, came)) in seen.iter().enumerate() {
        if seen.len() - n < FEWEST && !others.is_empty() {
            break;
        }
        if !came {
            continue;
        }
        last = *time;
        left *= 1.0 - 1.0 / (seen.len() - n) as f64;
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
    let longest = seen.last().map_or(last, |(time, _)| *time);
    beyond.unwrap_or(longest)
}

/// Returns C(B) = now + u/D + F⁻¹(q), for u instances that are to be sent at the rate D \[1/time\], and the turnaround F⁻¹(q);
/// none where nothing is being sent.
pub fn completion(now: f64, to_send: u32, rate: f64, turnaround: f64) -> Option<f64> {
    let sending = f64::from(to_send) / rate;
    let sending = if to_send > 0 { sending } else { 0.0 };
    Some(now + sending + turnaround).filter(|end| end.is_finite())
}

/// Returns the quantile that the last of r results is at in the mean: 1 − 1/(r+1).
pub fn last_of(r: u32) -> f64 {
    1.0 - 1.0 / (f64::from(r) + 1.0)
}
