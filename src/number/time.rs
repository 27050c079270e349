//! Units of time.

/// How many seconds a unit of time of this name has, if it is known.
#[must_use]
pub fn seconds_in(unit: &str) -> Option<f64> {
    Some(match unit {
        "us" | "µs" | "microsecond" | "microseconds" => 1e-6,
        "ms" | "millisecond" | "milliseconds" => 1e-3,
        "s" | "sec" | "second" | "seconds" => 1.0,
        "min" | "minute" | "minutes" => 60.0,
        "h" | "hour" | "hours" => 3600.0,
        "d" | "day" | "days" => 86_400.0,
        _ => return None,
    })
}
