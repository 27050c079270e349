//! What a server remembers of a host and a version of an application, and how these stand among all others.

/// The percentile of a host of which nothing is known where nobody is known: neither preferred nor
/// kept back.
pub const UNKNOWN: f64 = 50.0;

/// More valid results in a row than this are as good as any number.
const LONG: u32 = 10;

/// What counts of a host and a version.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// Mean turnaround, > 0 \[time\]; none where no result was valid yet.
    pub turnaround: Option<f64>,
    /// Valid results in a row, up to the last.
    pub valid: u32,
}

/// P = min(X, Y) of each pair \[%\]: X is the share of pairs with a strictly larger mean turnaround, Y
/// that with strictly fewer valid results in a row, infinite beyond ten of them. A pair without a
/// valid result has 0, and a larger turnaround than all that have one.
#[must_use]
pub fn percentiles(pairs: &[Pair]) -> Vec<f64> {
    let n = pairs.len() as f64;
    let turnaround = |pair: &Pair| pair.turnaround.unwrap_or(f64::INFINITY);
    let mut times: Vec<f64> = pairs.iter().map(turnaround).collect();
    let mut rows: Vec<u32> = pairs.iter().map(|pair| pair.valid).collect();
    times.sort_by(f64::total_cmp);
    rows.sort_unstable();
    let of = |pair: &Pair| {
        let Some(own) = pair.turnaround else {
            return 0.0;
        };
        let slower = times.len() - times.partition_point(|time| *time <= own);
        let x = 100.0 * slower as f64 / n;
        if pair.valid > LONG {
            return x;
        }
        let fewer = rows.partition_point(|row| *row < pair.valid);
        x.min(100.0 * fewer as f64 / n)
    };
    pairs.iter().map(of).collect()
}

/// The greatest threshold that leaves three pairs above it, and a hundredth of all. Below 0 where there
/// are not so many.
#[must_use]
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
    /// A result came after this time, or did not until it had to: its mean forgets what is more than
    /// some twenty results ago.
    pub fn took(&mut self, turnaround: f64) {
        self.results = self.results.saturating_add(1);
        let weight = f64::from(self.results.min(MEMORY));
        self.turnaround += (turnaround - self.turnaround) / weight;
    }

    /// A result was found to be right.
    pub fn was_valid(&mut self) {
        self.valid = self.valid.saturating_add(1);
        self.known = true;
    }

    /// A result was wrong, or did not come.
    pub fn failed(&mut self) {
        self.valid = 0;
    }

    /// What a new version takes over; the same if it is taken over once more.
    #[must_use]
    pub fn copied(self) -> Self {
        History {
            results: self.results.min(MOST_COPIED),
            ..self
        }
    }

    /// What counts among all others.
    #[must_use]
    pub fn pair(&self) -> Pair {
        Pair {
            turnaround: self.known.then_some(self.turnaround),
            valid: self.valid,
        }
    }
}
