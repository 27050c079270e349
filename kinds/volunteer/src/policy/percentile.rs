//! The results that a server remembers of a host and a version of an application, and their percentiles among all.

/// The percentile of a host of which nothing is known in an application of which nothing is known.
pub const UNKNOWN: f64 = 50.0;

/// More valid results in a row than this are as good as any number.
const LONG: u32 = 10;

/// Returns P = min(X, Y) of each pair of a host and a version \[%\]: X is the share of pairs with a strictly larger mean
/// turnaround, Y that with strictly fewer valid results in a row, infinite beyond ten of them. A pair without a valid
/// result has 0, and a larger turnaround than all that have one.
pub fn percentiles(pairs: &[History]) -> Vec<f64> {
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
        // Without a valid result no pair has a larger turnaround.
        let x = share(times.len() - times.partition_point(|own| *own <= time(pair)));
        if pair.valid > LONG {
            return x;
        }
        x.min(share(rows.partition_point(|row| *row < pair.valid)))
    };
    pairs.iter().map(percentile).collect()
}

/// Returns the greatest threshold that leaves three pairs above it, and a hundredth of all. Below 0 where there
/// are not so many.
pub fn ceiling(percentiles: &[f64]) -> f64 {
    let mut all = percentiles.to_vec();
    all.sort_by(|a, b| b.total_cmp(a));
    let needed = 3.max(all.len().div_ceil(100));
    match all.get(needed - 1) {
        // Above means strictly above: just below that percentile.
        Some(least) => least.next_down().min(100.0),
        None => -1.0,
    }
}

/// So many results are taken over to a new version, so that what it does itself soon counts more.
pub const MOST_COPIED: u32 = 10;

/// From so many results on the mean forgets.
const MEMORY: u32 = 20;

/// Results of a host with a version.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct History {
    /// Results that the mean is of.
    pub results: u32,
    /// Their mean turnaround \[time\].
    pub turnaround: f64,
    /// Valid results in a row, up to the last.
    pub valid: u32,
    /// Whether a result was ever valid.
    pub known: bool,
}

impl History {
    /// Adds a result that came after this time, or did not come until it had to. The mean forgets what is more than some twenty
    /// results ago.
    pub fn took(&mut self, turnaround: f64) {
        self.results = self.results.saturating_add(1);
        let weight = f64::from(self.results.min(MEMORY));
        self.turnaround += (turnaround - self.turnaround) / weight;
    }

    /// Adds whether a result was right; one that did not come is not.
    pub fn validated(&mut self, right: bool) {
        self.known |= right;
        let valid = self.valid.saturating_add(1);
        self.valid = if right { valid } else { 0 };
    }

    /// Returns what a new version inherits; inheriting it once more changes nothing.
    pub fn copied(self) -> Self {
        let results = self.results.min(MOST_COPIED);
        History { results, ..self }
    }
}
