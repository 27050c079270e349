use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A mean that weighs recent values most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Recent(
    /// The number of values.
    pub u32,
    /// The mean.
    pub f64,
);

impl Recent {
    /// Adds a value; about the `last` most recent values count.
    pub(super) fn learn(&mut self, part: f64, last: u32) {
        let Recent(count, mean) = self;
        *count = count.saturating_add(1);
        *mean = rounded(*mean + (part - *mean) / f64::from(last.min(*count)));
    }
}

/// Rounds to five digits, for short files; in memory too, so that reloading changes no estimate.
pub(super) fn rounded(x: f64) -> f64 {
    let scale = 10_f64.powi(4 - (x.abs().log10().floor() as i32).clamp(-300, 300));
    (x * scale).round() / scale
}
