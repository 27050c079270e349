//! What ran and what waited in a stretch of time: what a picture of a schedule is drawn from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A stretch of time under a policy.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stretch {
    /// When it begins \[time\].
    pub from: f64,
    /// When it ends \[time\].
    pub to: f64,
    /// The resource that parts are of, and how much of it there is.
    pub resource: (String, f64),
    /// Names of the classes of jobs.
    pub classes: Vec<String>,
    /// What ran, by start.
    pub stints: Vec<Stint>,
    /// How many wait, and since when: ascending in time.
    pub waiting: Vec<(f64, f64)>,
}

/// A job that held its room without a break.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stint {
    /// Its class.
    pub class: u32,
    /// What it held of the resource, over all that there is.
    pub part: f64,
    /// When it began \[time\]; that may be before the stretch.
    pub start: f64,
    /// When it ended \[time\]; that may be after it.
    pub end: f64,
}

impl Stretch {
    /// Returns whether this time is in it, or reaches into it.
    pub fn overlaps(&self, start: f64, end: f64) -> bool {
        start < self.to && end > self.from
    }

    /// Returns the most that wait at once.
    pub fn most_waiting(&self) -> f64 {
        self.waiting.iter().map(|(_, own)| *own).fold(0.0, f64::max)
    }

    /// Returns what stood idle while jobs waited, over all that there was in the stretch: in [0, 1].
    pub fn idle_while_waiting(&self) -> f64 {
        let mut idle = 0.0;
        for (n, &(since, _)) in self.waiting.iter().enumerate().filter(|own| own.1.1 > 0.0) {
            let end = self.waiting.get(n + 1).map_or(self.to, |next| next.0);
            let within =
                |own: &Stint| own.part * (own.end.min(end) - own.start.max(since)).max(0.0);
            let used: f64 = self.stints.iter().map(within).sum();
            idle += (end - since - used).max(0.0);
        }
        idle / (self.to - self.from)
    }
}
