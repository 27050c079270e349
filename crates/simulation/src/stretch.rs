use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A period of time under a policy.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stretch {
    /// The start \[time\].
    pub from: f64,
    /// The end \[time\].
    pub to: f64,
    /// The name and total amount of the resource that `part` of the stints refers to.
    pub resource: (String, f64),
    /// Names of the job classes.
    pub classes: Vec<String>,
    /// The periods in which jobs were running, in the order of their start.
    pub stints: Vec<Stint>,
    /// Times at which the number of waiting jobs changes, in ascending order, with the new numbers.
    pub waiting: Vec<(f64, f64)>,
}

/// A period in which a job was running and its resources were not released.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stint {
    /// The class of the job.
    pub class: u32,
    /// The fraction of the resource that it held.
    pub part: f64,
    /// The start \[time\], which may be before the period shown.
    pub start: f64,
    /// The end \[time\], which may be after it.
    pub end: f64,
}

impl Stretch {
    /// Returns whether a time span overlaps with this period.
    pub fn overlaps(&self, start: f64, end: f64) -> bool {
        start < self.to && end > self.from
    }

    /// Returns the maximum number of waiting jobs.
    pub fn most_waiting(&self) -> f64 {
        self.waiting.iter().map(|(_, own)| *own).fold(0.0, f64::max)
    }

    /// Returns the fraction of the capacity that was idle while jobs were waiting, in `[0, 1]`.
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
