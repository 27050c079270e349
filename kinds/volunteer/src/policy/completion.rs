//! The expected completion time of a batch, `C(B)`, from the turnaround of its results.

/// The number of remaining observations below which the estimator is too noisy to use.
const FEWEST: usize = 10;

/// Returns `F⁻¹(q)`, the turnaround \[time\] of a fraction `q` of the results of a batch, where
/// `0 < q < 1`. Instances without a result are censored at their age, so this is the Kaplan–Meier
/// estimator (J. American Statistical Association 53, 1958).
///
/// Beyond the time at which fewer than ten of both are left, where a single one would change the
/// estimate too much, the sorted sample `others` is used, or the longest known time.
pub(crate) fn turnaround(
    came: impl IntoIterator<Item = f64>,
    awaited: impl IntoIterator<Item = f64>,
    q: f64,
    others: &[f64],
) -> f64 {
    // If times are equal, a result that has arrived comes before one that is outstanding.
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
        // Rounding errors must not move the quantile to the next result.
        if 1.0 - left >= q - 1e-12 {
            return *time;
        }
    }
    // The remaining probability has the same distribution as the longer values of `others`.
    let longer = &others[others.partition_point(|time| *time <= last)..];
    let needed = 1.0 - (1.0 - q) / left;
    let index = (needed * longer.len() as f64 - 1e-9).ceil().max(0.0) as usize;
    let beyond = longer.get(index.saturating_sub(1)).copied();
    let longest = seen.last().map_or(last, |(time, _)| *time);
    beyond.unwrap_or(longest)
}

/// Returns `C(B) = now + u/D + F⁻¹(q)` if `u` instances must be sent at the rate `D` \[1/time\], or
/// `None` if `u > 0` and no instances are being sent.
pub(crate) fn completion(now: f64, to_send: u32, rate: f64, turnaround: f64) -> Option<f64> {
    let sending = f64::from(to_send) / rate;
    let sending = if to_send > 0 { sending } else { 0.0 };
    Some(now + sending + turnaround).filter(|end| end.is_finite())
}

/// Returns the expected quantile of the last of r results, 1 − 1/(r+1).
pub(crate) fn last_of(r: u32) -> f64 {
    1.0 - 1.0 / (f64::from(r) + 1.0)
}
