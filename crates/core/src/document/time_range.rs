use schemars::JsonSchema;
use serde::Deserialize;

use super::{Fault, Place};
use crate::number::seconds_of;

/// A range of time limits. A limit must be greater than `above` and at most `up_to`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct TimeRange {
    above: Option<String>,
    up_to: Option<String>,
    /// The values of `above` and `up_to` \[s\].
    #[serde(skip)]
    bounds: [Option<f64>; 2],
}

impl TimeRange {
    /// Parses the ends of the range. `place` is the place of the range.
    pub fn read(&mut self, place: &Place, faults: &mut Vec<Fault>) {
        let written = [("above", &self.above), ("up_to", &self.up_to)];
        for (bound, (key, text)) in self.bounds.iter_mut().zip(written) {
            *bound = text.as_ref().and_then(|text| seconds_of(text));
            if let Some(text) = text.as_ref().filter(|_| bound.is_none()) {
                let message = format!("`{text}` is not a duration");
                let help = "write seconds, or a number with s, min, h or d, such as 90min";
                faults.push(Fault::new(place.then(key), message, help));
            }
        }
        if let [Some(above), Some(up_to)] = self.bounds
            && above >= up_to
        {
            let help = "make `above` less than `up_to`: the range is `above` < limit ≤ `up_to`";
            faults.push(Fault::new(place.clone(), "the range is empty", help));
        }
    }

    /// Returns `true` if a limit \[s\] is in the range.
    pub fn has(&self, limit: f64) -> bool {
        let [above, up_to] = self.bounds;
        above.is_none_or(|above| limit > above) && up_to.is_none_or(|up_to| limit <= up_to)
    }
}
