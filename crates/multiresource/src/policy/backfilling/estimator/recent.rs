use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A mean in which recent values have a higher weight than older values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct RecentMean(
    /// The number of values.
    pub u32,
    /// The mean.
    pub f64,
);

impl RecentMean {
    /// Adds a value to the mean, which is based on about the `last` most recent values.
    pub(super) fn learn(&mut self, part: f64, last: u32) {
        let RecentMean(count, mean) = self;
        *count = count.saturating_add(1);
        *mean = rounded(*mean + (part - *mean) / f64::from(last.min(*count)));
    }
}

/// Rounds a number to five digits so that the files are small. Values in memory are rounded as
/// well, so that the estimates do not change when a file is loaded.
pub(super) fn rounded(x: f64) -> f64 {
    let scale = 10_f64.powi(4 - (x.abs().log10().floor() as i32).clamp(-300, 300));
    (x * scale).round() / scale
}
