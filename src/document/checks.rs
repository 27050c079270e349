//! Checks that documents of several kinds share.

use std::collections::HashSet;
use std::ops::RangeInclusive;

use super::{Fault, Place, place, unusable};
use crate::number::Decimal;

/// Numbers of which multiples, sums and powers are in the range of numbers.
pub(crate) const SENSIBLE: RangeInclusive<f64> = 1e-60..=1e60;

/// That a number is positive and sensible.
pub(crate) fn sensible(at: Place, what: &str, value: Decimal, help: &str, faults: &mut Vec<Fault>) {
    if !SENSIBLE.contains(&value.value()) {
        let message = if value > Decimal::ZERO {
            format!("{what} is {value}, out of the range of sensible numbers")
        } else {
            format!("{what} is {value}, expected a number > 0")
        };
        faults.push(Fault::new(at, message, help));
    }
}

/// That a unit of time can be shown.
pub(crate) fn check_unit(unit: &str, faults: &mut Vec<Fault>) {
    if let Some(message) = unusable("the unit of time", unit) {
        let help = "name the unit, for instance `time_unit: s`";
        faults.push(Fault::new(place!("time_unit"), message, help));
    }
}

/// That the entries of a list have names of their own, which can be shown.
pub(crate) fn check_names<'a>(
    list: &str,
    what: &str,
    names: impl Iterator<Item = &'a String>,
    faults: &mut Vec<Fault>,
) {
    let mut seen = HashSet::new();
    for (i, name) in names.enumerate() {
        if let Some(message) = unusable(&format!("the name of a {what}"), name) {
            let help = "give each a name of its own, such as `a`";
            faults.push(Fault::new(place!(list, i), message, help));
        } else if !seen.insert(name) {
            let help = "rename one of them: results are reported by name";
            let message = format!("a second {what} is named `{name}`");
            faults.push(Fault::new(place!(list, i), message, help));
        }
    }
}
