use std::ops::RangeInclusive;

use super::format_number;

/// The names of units of time, more names that only follow a number, and lengths as fractions.
pub(super) const UNITS: [(&[&str], &[&str], [u32; 2]); 7] = [
    (
        &["us", "µs", "microsecond", "microseconds"],
        &[],
        [1, 1_000_000],
    ),
    (&["ms", "millisecond", "milliseconds"], &[], [1, 1000]),
    (&["s", "sec", "second", "seconds"], &["secs"], [1, 1]),
    (&["min", "minute", "minutes"], &["m", "mins"], [60, 1]),
    (&["h", "hour", "hours"], &["hr", "hrs"], [3600, 1]),
    (&["d", "day", "days"], &[], [86_400, 1]),
    (&[], &["w", "week", "weeks"], [604_800, 1]),
];

/// Returns the length of a unit of time in seconds, or `None` if it is not known.
pub fn seconds_in(unit: &str) -> Option<f64> {
    let (.., [seconds, of]) = UNITS.iter().find(|(names, ..)| names.contains(&unit))?;
    Some(f64::from(*seconds) / f64::from(*of))
}

/// Formats a duration in the largest unit with at most one decimal place, or else with a value ≥ 3.
/// A unit of unknown length is kept.
pub fn in_words(time: f64, unit: &str) -> String {
    let Some(second) = seconds_in(unit) else {
        return format!("{} {unit}", format_number(time));
    };
    let readable = [("d", 86_400.0), ("h", 3600.0), ("min", 60.0)];
    let is_whole = |n: f64| (n * 10.0).fract() == 0.0;
    let seconds = time * second;
    let simple = |(_, own): &&(&str, f64)| seconds >= *own && is_whole(seconds / own);
    let several = |(_, own): &&(&str, f64)| seconds >= 3.0 * own;
    let found = readable.iter().find(simple);
    match found.or_else(|| readable.iter().find(several)) {
        Some((name, own)) => format!("{} {name}", (seconds / own * 100.0).round() / 100.0),
        None => format!("{} s", format_number((seconds * 1e6).round() / 1e6)),
    }
}

/// Parses a Gregorian date and time, such as `2024-03-31T02:30:00`, `2024-03-31 02:30:00.25`,
/// `2024-03-31` or `2024-03-31T02:30:00+02:00`. Returns the time \[s\] since 1970 in UTC, or by the
/// clock that the text refers to if there is no offset from UTC.
pub fn instant(field: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(field).ok()?;
    let (date, clock) = text.split_once(['T', ' ']).unwrap_or((text, "00:00:00"));
    let date: Vec<&str> = date.split(['-', '/']).collect();
    let [year, month, day]: [&str; 3] = date.try_into().ok()?;
    let year = digits(year, 4..=4, 1..=9999)?;
    let month = digits(month, 2..=2, 1..=12)?;
    let day = digits(day, 2..=2, 1..=31)?;
    let zone = clock.find(['Z', '+', '-']).unwrap_or(clock.len());
    let (clock, zone) = clock.split_at(zone);
    let seconds = of_day(clock.trim_end())? - f64::from(east(zone)?);
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let most = match month {
        2 => 28 + i32::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    // Years start in March, so that the leap day is the last day. Five months have 153 days.
    let (year, month) = (year - i32::from(month <= 2), (month + 9) % 12);
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1;
    // There are 719 468 days from 0000-03-01 to 1970-01-01.
    (day <= most).then_some(f64::from(days - 719_468) * 86_400.0 + seconds)
}

/// Returns `true` if a number of seconds since 1970 is plausible: between 1990 and 2100.
pub fn is_epoch(seconds: f64) -> bool {
    (631_152_000.0..4_102_444_800.0).contains(&seconds)
}

/// Reads a time between 1990 and 2100 that is written as one number: the digits of a date, or a
/// time since 1970 in the units below. Returns the seconds since 1970 and the name of the format.
///
/// A number of 8 or 10 digits can also be the seconds of another clock. The caller must decide.
pub fn stamp(number: f64) -> Option<(f64, &'static str)> {
    const DATES: [&str; 4] = ["YYYYMMDD", "YYYYMMDDhh", "YYYYMMDDhhmm", "YYYYMMDDhhmmss"];
    const SINCE: [(f64, &str); 4] = [
        (1.0, "seconds since 1970"),
        (1e3, "milliseconds since 1970"),
        (1e6, "microseconds since 1970"),
        (1e9, "nanoseconds since 1970"),
    ];
    let digits = format!("{number:.0}");
    let date = DATES.iter().find(|date| date.len() == digits.len());
    let date = date.filter(|_| number.fract() == 0.0).and_then(|date| {
        let full = format!("{digits:0<14}");
        let parts = [0..4, 4..6, 6..8, 8..10, 10..12, 12..14].map(|own| full.get(own));
        let [year, month, day, hour, minute, second] = parts.map(Option::unwrap_or_default);
        let text = format!("{year}-{month}-{day}T{hour}:{minute}:{second}");
        Some((instant(text.as_bytes())?, *date))
    });
    let since = SINCE.map(|(per_second, name)| (number / per_second, name));
    let mut all = date.into_iter().chain(since);
    all.find(|(seconds, _)| is_epoch(*seconds))
}

/// Formats a time \[s since 1970\] as `2024-03-31T02:30:00`. It is rounded down to a second.
pub fn date(seconds: f64) -> String {
    let seconds = seconds.floor() as i64;
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let (day, month) = (day - (153 * month + 2) / 5 + 1, (month + 2) % 12 + 1);
    let year = 400 * era + year + i64::from(month <= 2);
    let [hour, minute, second] = [second / 3600, second / 60 % 60, second % 60];
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")
}

/// Parses a duration \[s\] such as `0:00:16`, `26:03:00.5`, `1-02:03:00` or `1 day, 2:03:00`.
pub fn clock(field: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(field).ok()?;
    let (days, clock) = match text.rsplit_once(['-', ' ']) {
        Some((days, clock)) => {
            let days = days.trim_end_matches(',').trim_end_matches('s');
            (days.trim_end_matches("day").trim_end(), clock)
        }
        None => ("0", text),
    };
    let (hours, rest) = clock.split_once(':')?;
    let [days, hours] = [days, hours].map(|text| digits(text, 1..=6, 0..=999_999));
    Some(f64::from(days?) * 86_400.0 + f64::from(hours?) * 3600.0 + sexagesimal(rest, 59)?)
}

fn of_day(text: &str) -> Option<f64> {
    let (hours, rest) = text.split_once(':')?;
    let seconds = if rest.len() == 2 { ":00" } else { "" };
    let hours = f64::from(digits(hours, 2..=2, 0..=23)?);
    Some(hours * 3600.0 + sexagesimal(&format!("{rest}{seconds}"), 60)?)
}

/// Parses minutes and seconds, where the seconds are at most `most` and can have a fraction \[s\].
fn sexagesimal(text: &str, most: i32) -> Option<f64> {
    let (minutes, seconds) = text.split_once(':')?;
    let (whole, fraction) = seconds.split_once(['.', ',']).unwrap_or((seconds, "0"));
    digits(fraction, 1..=9, 0..=i32::MAX)?;
    let fraction: f64 = format!("0.{fraction}").parse().ok()?;
    let whole = 60 * digits(minutes, 2..=2, 0..=59)? + digits(whole, 2..=2, 0..=most)?;
    Some(f64::from(whole) + fraction)
}

/// Parses a UTC offset \[s\] such as `Z`, `+02:00` or `-0530`, which may be empty.
fn east(text: &str) -> Option<i32> {
    let hours = text.replace(':', "");
    match (hours.get(..1), hours.get(1..)) {
        (None, _) | (Some("Z"), Some("")) => Some(0),
        (Some(sign), Some(rest)) if rest.len() == 4 || rest.len() == 2 => {
            let minutes = rest.get(2..).filter(|rest| !rest.is_empty());
            let minutes = minutes.map_or(Some(0), |rest| digits(rest, 2..=2, 0..=59))?;
            let seconds = 3600 * digits(rest.get(..2)?, 2..=2, 0..=14)? + 60 * minutes;
            Some(if sign == "-" { -seconds } else { seconds })
        }
        _ => None,
    }
}

fn digits(text: &str, count: RangeInclusive<usize>, range: RangeInclusive<i32>) -> Option<i32> {
    let is_whole = count.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse().ok().filter(|number| range.contains(number));
    number.filter(|_| is_whole)
}

#[cfg(test)]
mod tests {
    use super::{clock, date, in_words, instant, stamp};

    #[test]
    fn durations_are_formatted_in_readable_units() {
        for (time, unit, words) in [
            (64_800.0, "s", "18 h"),
            (1.5, "h", "1.5 h"),
            (36.0, "h", "1.5 d"),
            (0.0, "s", "0 s"),
            (61.0, "s", "61 s"),
            (100_000.0, "s", "27.78 h"),
            (7.0, "d", "7 d"),
            (0.25, "s", "0.25 s"),
            (500.0, "ms", "0.5 s"),
            (3.0, "moons", "3 moons"),
        ] {
            assert_eq!(in_words(time, unit), words);
        }
    }

    #[test]
    fn instants_follow_the_gregorian_calendar() {
        for (text, seconds) in [
            ("1970-01-01T00:00:00", 0.0),
            ("2000-02-29T23:59:59", 951_868_799.0),
            ("2024-03-31T02:30:00", 1_711_852_200.0),
            ("2024-03-31 02:30:00.25", 1_711_852_200.25),
            ("2024/03/31 02:30", 1_711_852_200.0),
            ("2024-03-31T02:30:00Z", 1_711_852_200.0),
            ("2024-03-31T04:30:00+02:00", 1_711_852_200.0),
            ("2024-03-31 00:00:00-0230", 1_711_852_200.0),
            ("1970-01-02", 86_400.0),
        ] {
            assert_eq!(instant(text.as_bytes()), Some(seconds), "{text}");
            let written = date(seconds);
            assert_eq!(
                instant(written.as_bytes()),
                Some(seconds.floor()),
                "{written}"
            );
        }
        for day in -719_162..80_000 {
            let seconds = f64::from(day) * 86_400.0 + 86_399.0;
            assert_eq!(instant(date(seconds).as_bytes()), Some(seconds));
        }
        for wrong in [
            "2023-02-29T00:00:00",
            "1900-02-29T00:00:00",
            "2024-04-31T00:00:00",
            "2024-13-01T00:00:00",
            "2024-01-01T24:00:00",
            "2024-01-01T00:00:0x",
            "2024-01-01T00:00:00+1",
            "2024-01-01T00:00:00+99:00",
            "31/03/2024 02:30:00",
            "-024-01-01T00:00:00",
            "Unknown",
            "1711852200",
            "",
        ] {
            assert_eq!(instant(wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    fn instants_are_read_from_one_number() {
        for (number, notation) in [
            (20_260_301_123_000.0, "YYYYMMDDhhmmss"),
            (202_603_011_230.0, "YYYYMMDDhhmm"),
            (1_772_368_200.0, "seconds since 1970"),
            (1_772_368_200e3, "milliseconds since 1970"),
            (1_772_368_200e6, "microseconds since 1970"),
            (1_772_368_200e9, "nanoseconds since 1970"),
        ] {
            assert_eq!(stamp(number), Some((1_772_368_200.0, notation)));
        }
        assert_eq!(stamp(20_260_301.0), Some((1_772_323_200.0, "YYYYMMDD")));
        for number in [
            20_261_301_123_000.0,
            20_260_230.0,
            19_890_101.0,
            -1.0,
            0.0,
            86_400.0,
            f64::NAN,
            f64::INFINITY,
        ] {
            assert_eq!(stamp(number), None, "{number}");
        }
    }

    #[test]
    fn parses_durations_in_clock_notation() {
        for (text, seconds) in [
            ("0:00:16", 16.0),
            ("00:00:00.5", 0.5),
            ("26:03:00", 93_780.0),
            ("1-02:03:00", 93_780.0),
            ("1 day, 2:03:00", 93_780.0),
            ("2 days 00:00:01", 172_801.0),
        ] {
            assert_eq!(clock(text.as_bytes()), Some(seconds), "{text}");
        }
        for wrong in [
            "",
            "16",
            "1:30",
            "0:60:00",
            "0:00:60",
            "-0:00:16",
            "x-0:00:16",
            "1-",
        ] {
            assert_eq!(clock(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
