//! This module parses times with a unit, and explains numbers that must not have a unit.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{ToPrimitive, Zero};

use super::Decimal;
use super::time::UNITS;

/// Parses a time with descending units, such as `1h30m`, and returns the number of seconds.
pub fn seconds(text: &str) -> Option<BigRational> {
    let mut rest = text.trim();
    let mut sum = BigRational::zero();
    let mut last: Option<BigRational> = None;
    while !rest.is_empty() {
        let (number, unit, after) = part(rest)?;
        let one = unit_of_time(unit)?;
        if last.is_some_and(|last| one >= last) || number.value() < 0.0 {
            return None;
        }
        sum += number.exact() * &one;
        (last, rest) = (Some(one), after);
    }
    last.map(|_| sum)
}

/// Parses a time ≥ 0, which has a unit or is a number of seconds.
pub fn seconds_of(text: &str) -> Option<f64> {
    let time = match Decimal::parse(text.trim()) {
        Ok(seconds) => seconds.value(),
        Err(_) => seconds(text)?.to_f64()?,
    };
    (time >= 0.0 && time.is_finite()).then_some(time)
}

/// Converts a time with a unit to this unit. Returns `None` if it is not a time or if the unit is
/// not known, and `Some(None)` if the result is not a decimal number.
pub fn time_in(text: &str, unit: &str) -> Option<Option<Decimal>> {
    Some(decimal(&(seconds(text)? / unit_of_time(unit)?)))
}

pub(crate) fn explained_amount(text: &str) -> Option<String> {
    let (number, unit, _) = part(text.trim())?;
    Some(match (thousandths(text), of_amount(text)) {
        (Some(amount), _) => format!(
            "amounts are plain numbers: write {amount} if m is Kubernetes' suffix for thousandths"
        ),
        (None, Some(help)) => help,
        (None, None) => format!(
            "amounts are plain numbers, without a unit such as {unit}: write {number} for {text}"
        ),
    })
}

fn thousandths(text: &str) -> Option<Decimal> {
    part(text.trim())
        .filter(|(_, unit, rest)| *unit == "m" && rest.is_empty())
        .and_then(|(number, ..)| decimal(&(number.exact() / BigInt::from(1000))))
}

/// Suggests a number instead of a number with a unit, if it is one, in this unit of time.
pub fn explained(text: &str, time_unit: Option<&str>) -> Option<String> {
    match (thousandths(text), seconds(text)) {
        (Some(amount), Some(_)) => Some(format!(
            "write {amount} if m is Kubernetes' suffix for thousandths, as in amounts of resources; {}",
            of_time(text, time_unit)?
        )),
        (_, Some(_)) => of_time(text, time_unit),
        _ => of_rate(text, time_unit).or_else(|| of_amount(text)),
    }
}

fn of_time(text: &str, time_unit: Option<&str>) -> Option<String> {
    let known = time_unit.and_then(|unit| Some((unit, time_in(text, unit)?)));
    Some(match known {
        Some((unit, Some(time))) => {
            format!(
                "times are plain numbers here, in the time unit {unit}: write {time} for {text}"
            )
        }
        Some((unit, None)) => format!(
            "{text} is not a finite decimal number in the time unit {unit}: choose a smaller `time_unit`"
        ),
        None => {
            let (number, own, rest) = part(text.trim())?;
            let in_own = format!("{number} if all times are in {own}, or ");
            let in_own = if rest.is_empty() { &*in_own } else { "" };
            let seconds = decimal(&seconds(text)?)?;
            format!(
                "times are plain numbers in a single unit of your choice: for {text} write {in_own}{seconds} if they are in seconds"
            )
        }
    })
}

fn of_rate(text: &str, time_unit: Option<&str>) -> Option<String> {
    let (number, per) = text.split_once('/').or_else(|| text.split_once(" per "))?;
    let number = Decimal::parse(number.trim()).ok()?;
    let per = per.trim();
    let second = unit_of_time(per)?;
    let known = time_unit.and_then(|unit| Some((unit, unit_of_time(unit)?)));
    let Some((unit, own)) = known else {
        return Some(format!(
            "rates are plain numbers, per time unit of your choice: write {number} with `time_unit: {per}`, and give all other times in that unit"
        ));
    };
    let rate = number.exact() * own / second;
    let help = match decimal(&rate) {
        Some(rate) => format!(": write {rate} for {text}"),
        None => format!(
            ", and {text} is {rate}, not a decimal number: choose another `time_unit`, such as {per}"
        ),
    };
    Some(format!(
        "rates are plain numbers, per time unit ({unit}){help}"
    ))
}

fn of_amount(text: &str) -> Option<String> {
    let (number, suffix, rest) = part(text.trim())?;
    if !rest.is_empty() {
        return None;
    }
    if suffix == "%" {
        let part = decimal(&(number.exact() / BigInt::from(100)))?;
        return Some(format!("write it as a fraction of 1: {part}"));
    }
    is_multiple(suffix).then(|| {
        format!(
            "amounts are plain numbers, in a unit of your choice for each resource: for {text} write {number} if the resource is counted in {suffix}"
        )
    })
}

fn is_multiple(suffix: &str) -> bool {
    let letter = suffix.strip_suffix('B').unwrap_or(suffix);
    let letter = letter.strip_suffix('i').unwrap_or(letter);
    ["K", "M", "G", "T", "P", "E"].contains(&letter.to_uppercase().as_str())
}

fn part(text: &str) -> Option<(Decimal, &str, &str)> {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let is_number = |at: usize| match bytes[at] {
        b'.' | b'0'..=b'9' => true,
        b'+' | b'-' => at == 0 || matches!(bytes[at - 1], b'e' | b'E') && is_digit(at + 1),
        b'e' | b'E' => {
            let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
            is_digit(at + 1 + sign)
        }
        _ => false,
    };
    let end = (0..bytes.len()).find(|at| !is_number(*at))?;
    let number = Decimal::parse(&text[..end]).ok()?;
    let rest = text[end..].trim_start();
    let is_unit = |c: char| c.is_alphabetic() || c == '%';
    let end = rest.find(|c| !is_unit(c)).unwrap_or(rest.len());
    (end > 0).then(|| (number, &rest[..end], rest[end..].trim_start()))
}

fn unit_of_time(unit: &str) -> Option<BigRational> {
    let is_it = |own: &&(&[&str], &[&str], _)| own.0.contains(&unit) || own.1.contains(&unit);
    let [seconds, of] = UNITS.iter().find(is_it)?.2.map(BigInt::from);
    Some(BigRational::new(seconds, of))
}

pub(crate) fn units_of_time() -> impl Iterator<Item = &'static str> {
    let own = UNITS.iter().map(|unit| unit.0);
    let others = UNITS.iter().map(|unit| unit.1);
    own.chain(others).flatten().copied()
}

fn decimal(fraction: &BigRational) -> Option<Decimal> {
    Decimal::nearest(fraction).filter(|decimal| decimal.exact() == *fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_exact() {
        for (text, unit, time) in [
            ("4h", "s", "14400"),
            ("30m", "h", "0.5"),
            ("1.5 s", "ms", "1500"),
            ("2d", "h", "48"),
            ("1h30m", "min", "90"),
            ("1h 30min 15 s", "s", "5415"),
            ("1e3ms", "seconds", "1"),
            ("0.1s", "ms", "100"),
            ("250 µs", "ms", "0.25"),
        ] {
            let found = time_in(text, unit).flatten().map(|time| time.to_string());
            assert_eq!(found.as_deref(), Some(time), "{text}");
        }
        let seconds = [
            "90",
            "1e-3",
            "250ms",
            "5m",
            "2weeks",
            "0",
            "-1",
            "1-00:00:00",
            "fast",
        ]
        .map(seconds_of);
        let expected = [90.0, 1e-3, 0.25, 300.0, 1_209_600.0, 0.0].map(Some);
        assert_eq!(seconds[..6], expected);
        assert_eq!(seconds[6..], [None; 3]);
        assert_eq!(time_in("4h", "d"), Some(None), "a sixth");
        for text in [
            "4", "h", "", "4x", "30m1h", "-1h", "4 h 3", "1024Gi", "0x10", "4hh", ".h", "é", "1h é",
        ] {
            assert_eq!(time_in(text, "s"), None, "{text}");
        }
        assert_eq!(time_in("4h", "slots"), None);
    }

    #[test]
    fn rejected_numbers_get_a_suggestion() {
        for (text, unit, parts) in [
            ("4h", Some("s"), &["time unit s: write 14400 for 4h"][..]),
            (
                "4h",
                Some("d"),
                &["not a finite decimal number", "smaller `time_unit`"],
            ),
            (
                "4h",
                None,
                &["write 4 if all times are in h, or 14400 if they are in seconds"],
            ),
            (
                "4h",
                Some("slots"),
                &["write 4 if all times are in h, or 14400 if they are in seconds"],
            ),
            (
                "1024Gi",
                Some("s"),
                &["write 1024 if the resource is counted in Gi"],
            ),
            ("16 GB", None, &["write 16 if", "counted in GB"]),
            (
                "500m",
                Some("s"),
                &["write 0.5 if m is Kubernetes'", "write 30000 for 500m"],
            ),
            ("50%", None, &["a fraction of 1: 0.5"]),
            ("6/min", Some("s"), &["write 0.1 for 6/min"]),
            (
                "4/h",
                Some("s"),
                &["is 1/900, not a decimal number", "such as h"],
            ),
        ] {
            let reported = explained(text, unit).unwrap_or_default();
            for part in parts {
                assert!(reported.contains(part), "{text}: {reported}");
            }
        }
        for (text, part) in [
            ("8000m", "write 8 if"),
            ("1000Gi", "write 1000 if the resource is counted in Gi"),
            ("8h", "write 8 for 8h"),
            ("50%", "a fraction of 1: 0.5"),
            ("4 cores", "write 4 for 4 cores"),
        ] {
            let reported = explained_amount(text).unwrap_or_default();
            assert!(
                reported.contains(part) && !reported.contains("time"),
                "{reported}"
            );
        }
        for text in ["4", "", "web", "0x10", "4 cores", "1_000", "12 é", "1,5"] {
            assert_eq!(explained(text, Some("s")), None, "{text}");
        }
    }
}
