//! Units of time, and instants.

/// Units of time, each with the fraction of seconds that it is.
const UNITS: [(&[&str], (u32, u32)); 6] = [
    (&["us", "µs", "microsecond", "microseconds"], (1, 1_000_000)),
    (&["ms", "millisecond", "milliseconds"], (1, 1000)),
    (&["s", "sec", "second", "seconds"], (1, 1)),
    (&["min", "minute", "minutes"], (60, 1)),
    (&["h", "hour", "hours"], (3600, 1)),
    (&["d", "day", "days"], (86_400, 1)),
];

/// Returns the fraction of seconds that a unit of time of this name is, if it is known.
pub(super) fn fraction_of(unit: &str) -> Option<(u32, u32)> {
    let named = |(names, _): &&(&[&str], _)| names.contains(&unit);
    UNITS.iter().find(named).map(|(_, fraction)| *fraction)
}

/// Returns how many seconds a unit of time of this name has, if it is known.
pub fn seconds_in(unit: &str) -> Option<f64> {
    let (seconds, of) = fraction_of(unit)?;
    Some(f64::from(seconds) / f64::from(of))
}

/// Reads an instant `2024-03-31T02:30:00` of the Gregorian calendar \[s since 1970 by that clock\].
pub fn civil(field: &[u8]) -> Option<i64> {
    let [date @ .., b'T', _, _, b':', _, _, b':', _, _] = field else {
        return None;
    };
    let [_, _, _, _, b'-', _, _, b'-', _, _] = date else {
        return None;
    };
    let part = |from: usize, length: usize, least: i64, most: i64| {
        let digits = &field[from..from + length];
        if !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let value = |part: i64, digit: &u8| 10 * part + i64::from(digit - b'0');
        let part = digits.iter().fold(0, value);
        (least..=most).contains(&part).then_some(part)
    };
    let (year, month, day) = (part(0, 4, 1, 9999)?, part(5, 2, 1, 12)?, part(8, 2, 1, 31)?);
    let [hour, minute, second] =
        [(11, 23), (14, 59), (17, 60)].map(|(at, most)| part(at, 2, 0, most));
    let seconds = hour? * 3600 + minute? * 60 + second?;
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let most = match month {
        2 => 28 + i64::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    // Years begin in March, so that the day that is put in is the last one; of five months 153 days.
    let (year, month) = (year - i64::from(month <= 2), (month + 9) % 12);
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1;
    // 719 468 days lie between the first of March of year 0 and the first day of 1970.
    (day <= most).then_some((days - 719_468) * 86_400 + seconds)
}

#[cfg(test)]
mod tests {
    use super::civil;

    #[test]
    fn instants_are_counted_in_the_gregorian_calendar() {
        assert_eq!(civil(b"1970-01-01T00:00:00"), Some(0));
        assert_eq!(civil(b"2000-02-29T23:59:59"), Some(951_868_799));
        assert_eq!(civil(b"2024-03-31T02:30:00"), Some(1_711_852_200));
        for wrong in [
            "2023-02-29T00:00:00",
            "1900-02-29T00:00:00",
            "2024-04-31T00:00:00",
            "2024-13-01T00:00:00",
            "2024-01-01T24:00:00",
            "2024-01-01 00:00:00",
            "2024-01-01T00:00",
            "2024-01-01T00:00:0x",
            "-024-01-01T00:00:00",
            "Unknown",
            "",
        ] {
            assert_eq!(civil(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
