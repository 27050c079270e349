//! Units of time.

/// Units of time, each with the fraction of seconds that it is.
const UNITS: [(&[&str], (u32, u32)); 6] = [
    (&["us", "µs", "microsecond", "microseconds"], (1, 1_000_000)),
    (&["ms", "millisecond", "milliseconds"], (1, 1000)),
    (&["s", "sec", "second", "seconds"], (1, 1)),
    (&["min", "minute", "minutes"], (60, 1)),
    (&["h", "hour", "hours"], (3600, 1)),
    (&["d", "day", "days"], (86_400, 1)),
];

/// The fraction of seconds that a unit of time of this name is, if it is known.
pub(super) fn fraction_of(unit: &str) -> Option<(u32, u32)> {
    let named = |(names, _): &&(&[&str], _)| names.contains(&unit);
    UNITS.iter().find(named).map(|(_, fraction)| *fraction)
}

/// How many seconds a unit of time of this name has, if it is known.
#[must_use]
pub fn seconds_in(unit: &str) -> Option<f64> {
    let (seconds, of) = fraction_of(unit)?;
    Some(f64::from(seconds) / f64::from(of))
}
