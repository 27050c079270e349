//! Means in which the last ones count most.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A mean in which the last ones count most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Recent(
    /// Of so many.
    pub u32,
    /// The mean.
    pub f64,
);

impl Recent {
    /// Takes in one more; about so many of the last ones count.
    pub(super) fn learn(&mut self, part: f64, last: u32) {
        let Recent(count, mean) = self;
        *count = count.saturating_add(1);
        *mean = rounded(*mean + (part - *mean) / f64::from(last.min(*count)));
    }
}

/// A number of five digits, short in a file; in memory it is the same, so that what is read back estimates alike.
pub(super) fn rounded(x: f64) -> f64 {
    let scale = 10_f64.powi(4 - (x.abs().log10().floor() as i32).clamp(-300, 300));
    (x * scale).round() / scale
}
