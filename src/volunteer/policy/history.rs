//! What a server remembers of a host and a version of an application.

use super::Pair;

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
