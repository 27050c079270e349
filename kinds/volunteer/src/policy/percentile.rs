/// The percentile that is used if neither the host nor the application has a history.
pub(crate) const UNKNOWN: f64 = 50.0;

const LONG: u32 = 10;

/// Returns `P = min(X, Y)` for each pair of host and version \[%\], or 0 without a valid result. X
/// is the fraction of the pairs with a larger mean turnaround. Y is the fraction of the pairs with
/// fewer consecutive valid results, or ∞ if the pair has more than ten of them.
pub(crate) fn percentiles(pairs: &[History]) -> Vec<f64> {
    let share = |count: usize| 100.0 * count as f64 / pairs.len() as f64;
    let time = |pair: &History| match pair.known {
        true => pair.turnaround,
        false => f64::INFINITY,
    };
    let mut times: Vec<f64> = pairs.iter().map(time).collect();
    let mut rows: Vec<u32> = pairs.iter().map(|pair| pair.valid).collect();
    times.sort_by(f64::total_cmp);
    rows.sort_unstable();
    let percentile = |pair: &History| {
        // A pair without a valid result is the slowest one, so that X = 0.
        let x = share(times.len() - times.partition_point(|own| *own <= time(pair)));
        if pair.valid > LONG {
            return x;
        }
        x.min(share(rows.partition_point(|row| *row < pair.valid)))
    };
    pairs.iter().map(percentile).collect()
}

/// Returns the largest threshold with at least three pairs and 1 % of the pairs above it, or -1.
pub(crate) fn ceiling(percentiles: &[f64]) -> f64 {
    let mut all = percentiles.to_vec();
    all.sort_by(|a, b| b.total_cmp(a));
    let needed = 3.max(all.len().div_ceil(100));
    match all.get(needed - 1) {
        // The percentile must be greater than the threshold.
        Some(least) => least.next_down().min(100.0),
        None => -1.0,
    }
}

/// The maximum number of results that are copied to a new version, so that its own count more.
pub(crate) const MOST_COPIED: u32 = 10;

/// The number of results after which the mean becomes an exponential moving average.
const MEMORY: u32 = 20;

/// The results of a host with a version.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct History {
    /// The number of results in the mean turnaround.
    pub results: u32,
    /// The mean turnaround \[time\].
    pub turnaround: f64,
    /// The number of consecutive valid results, up to the last.
    pub valid: u32,
    /// Whether any of the results was valid.
    pub known: bool,
}

impl History {
    /// Adds a turnaround, or the wait for a result that missed its deadline.
    pub(crate) fn add_turnaround(&mut self, turnaround: f64) {
        self.results = self.results.saturating_add(1);
        let weight = f64::from(self.results.min(MEMORY));
        self.turnaround += (turnaround - self.turnaround) / weight;
    }

    /// Adds a result that is correct or not. A missing result is not correct.
    pub(crate) fn add_validation(&mut self, right: bool) {
        self.known |= right;
        let valid = self.valid.saturating_add(1);
        self.valid = if right { valid } else { 0 };
    }

    /// Returns the history that is copied to a new version. This function is idempotent.
    pub(crate) fn copied(self) -> Self {
        let results = self.results.min(MOST_COPIED);
        History { results, ..self }
    }
}
