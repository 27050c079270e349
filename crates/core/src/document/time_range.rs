//! A range of time limits, as conditions of documents have it.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Fault, Place};
use crate::number::seconds_of;

/// A range of time limits: above the one, and not above the other.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct TimeRange {
    above: Option<String>,
    up_to: Option<String>,
    /// Both \[s\].
    #[serde(skip)]
    bounds: [Option<f64>; 2],
}

impl TimeRange {
    /// Reads the bounds of a range at this place.
    pub fn read(&mut self, place: &Place, faults: &mut Vec<Fault>) {
        let written = [("above", &self.above), ("up_to", &self.up_to)];
        for (bound, (key, text)) in self.bounds.iter_mut().zip(written) {
            *bound = text.as_ref().and_then(|text| seconds_of(text));
            if let Some(text) = text.as_ref().filter(|_| bound.is_none()) {
                let message = format!("`{text}` is no length of time");
                let help = "write seconds, or a number with s, min, h or d, such as 90min";
                faults.push(Fault::new(place.then(key), message, help));
            }
        }
        if let [Some(above), Some(up_to)] = self.bounds
            && above >= up_to
        {
            let help =
                "write `above` below `up_to`: the limit is above the one, and not above the other";
            faults.push(Fault::new(place.clone(), "no limit is in this range", help));
        }
    }

    /// Whether a limit \[s\] is in the range.
    pub fn has(&self, limit: f64) -> bool {
        let [above, up_to] = self.bounds;
        above.is_none_or(|above| limit > above) && up_to.is_none_or(|up_to| limit <= up_to)
    }
}
