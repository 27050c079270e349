use synth_core::number::{self, stamp};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub column: usize,
    pub found: String,
    pub expected: &'static str,
}

impl Fault {
    pub(super) fn at(before: &[u8], field: &[u8], expected: &'static str) -> Self {
        let mut found = String::from_utf8_lossy(field).into_owned();
        if let Some((end, _)) = found.char_indices().nth(40) {
            found.replace_range(end.., "…");
        }
        Fault {
            column: 1 + String::from_utf8_lossy(before).chars().count(),
            found,
            expected,
        }
    }

    pub(super) fn reported(&self, line: u32) -> String {
        let (column, expected) = (self.column, self.expected);
        let found = self.found.escape_debug();
        let help = self.without_unit().or_else(|| self.without_commas());
        let help = help.map(|number| format!(": write {number}"));
        let help = help.unwrap_or_default();
        format!("line {line}, column {column}: found `{found}`, expected {expected}{help}")
    }

    fn without_unit(&self) -> Option<String> {
        let unit = self.found.find(char::is_alphabetic)?;
        let (amount, unit) = self.found.split_at(unit);
        let (per, words) = match unit {
            "m" => (1000.0, "m means 1/1000"),
            "Ki" => (1_048_576.0, "all amounts are in Gi"),
            "Mi" => (1024.0, "all amounts are in Gi"),
            "Gi" => (1.0, "all amounts are in Gi"),
            "Ti" => (1.0 / 1024.0, "all amounts are in Gi"),
            _ => return None,
        };
        let amount = number(amount.as_bytes()).filter(|_| self.expected == AMOUNT)? / per;
        Some(format!("{amount} if {words}"))
    }

    fn without_commas(&self) -> Option<String> {
        let value = |text: &str| number(text.as_bytes());
        let is_number = self.expected == AMOUNT || self.expected.starts_with("a time");
        let mut groups = self.found.split(',').skip(1).peekable();
        groups.peek().filter(|_| is_number)?;
        let is_grouped = groups.all(|group| group.len() == 3);
        let whole = value(&self.found.replace(',', "")).filter(|_| is_grouped);
        let point = value(&self.found.replace(',', "."));
        Some(match whole.zip(point) {
            Some((whole, point)) => format!("{whole}, or {point} if the comma is decimal"),
            None => whole.or(point)?.to_string(),
        })
    }
}

#[inline]
pub(super) fn is_unknown(field: &[u8]) -> bool {
    const WORDS: &str = "- -- . ? nan nat null none nil na n/a #n/a \\n <na> <none> <nil> (null) \
                         undefined unknown";
    let Some(first) = field.first() else {
        return true;
    };
    if first.is_ascii_digit() {
        // Dates that are used as placeholders, and Slurm's NO_VAL and INFINITE.
        let none = ["0000-00-00", "9999-12-31", "4294967294", "4294967295"];
        return none.iter().any(|none| field.starts_with(none.as_bytes()));
    }
    let mut words = WORDS.split(' ').map(str::as_bytes);
    words.any(|word| field.eq_ignore_ascii_case(word))
}

pub(super) fn instant(field: &[u8]) -> Option<f64> {
    let basic = || {
        let text = std::str::from_utf8(field).ok()?;
        let (date, clock) = text.split_once('T')?;
        let digits = format!("{date}{}", clock.trim_end_matches('Z'));
        let is_full = date.len() == 8 && digits.len() == 14;
        let (at, _) = stamp(whole(digits.as_bytes()).filter(|_| is_full)? as f64)?;
        Some(at)
    };
    number::instant(field).or_else(basic)
}

/// Returns `true` for an instant \[s\] before the submission if 0, -1, in year 1, or on 1970-01-01.
pub(super) fn is_placeholder(at: f64, submit: f64) -> bool {
    let is_first_day = submit > super::FIRST_DATE && at.abs() <= 86_400.0;
    at < submit && (matches!(at, 0.0 | -1.0) || at < -6e10 || is_first_day)
}

/// Larger integers may not be exact in doubles.
pub(super) const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

pub(super) const AMOUNT: &str = "an amount ≥ 0 and below 2⁵³";

#[inline]
pub(super) fn amount(field: &[u8]) -> Option<f64> {
    // Adding zero makes a negative zero positive, so that equal demands have equal bits.
    let amount = number(field).filter(|amount| (0.0..=MAX_EXACT).contains(amount))?;
    Some(amount + 0.0)
}

#[inline]
pub(super) fn number(field: &[u8]) -> Option<f64> {
    let field = field.trim_ascii();
    if let Some(whole) = whole(field) {
        return Some(whole as f64);
    }
    let number: f64 = std::str::from_utf8(field).ok()?.parse().ok()?;
    number.is_finite().then_some(number)
}

#[inline]
pub(super) fn whole(field: &[u8]) -> Option<i64> {
    let digits = field.strip_prefix(b"-").unwrap_or(field);
    if digits.is_empty() || digits.len() > 15 {
        return None;
    }
    let value = digits.iter().try_fold(0_i64, |value, digit| {
        let digit = digit.is_ascii_digit().then(|| i64::from(digit - b'0'))?;
        Some(10 * value + digit)
    })?;
    let sign = if digits.len() < field.len() { -1 } else { 1 };
    Some(sign * value)
}

/// Parses ticks, of which the unit of the field has `per_unit`, and returns if they were rounded.
#[inline]
pub(super) fn ticks(field: &[u8], per_unit: f64) -> Option<(i64, bool)> {
    rounded(number(field)? * per_unit, 0.0)
}

pub(super) fn clock_ticks(seconds: f64, per_second: f64) -> Option<(i64, bool)> {
    // The error of seconds since 1970 in doubles is at most a quarter of a microsecond.
    rounded(seconds * per_second, 2.5e-7 * per_second)
}

/// Returns the nearest integer, and if it is off by more than `near` and rounding errors.
fn rounded(ticks: f64, near: f64) -> Option<(i64, bool)> {
    if ticks.is_nan() || ticks.abs() > MAX_EXACT {
        return None;
    }
    let whole = ticks as i64;
    if whole as f64 == ticks {
        return Some((whole, false));
    }
    let next = ticks.round();
    let is_off = (ticks - next).abs() > near.max(4.0 * f64::EPSILON * ticks.abs());
    Some((next as i64, is_off))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_numbers_as_written_in_logs() {
        assert_eq!(number(b" 12 "), Some(12.0));
        assert_eq!(number(b"-1"), Some(-1.0));
        assert_eq!(number(b"129.02"), Some(129.02));
        assert_eq!(number(b"1e3"), Some(1000.0));
        for none in " - <NA> . ? n/a (null) undefined 4294967294".split(' ') {
            assert!(is_unknown(none.as_bytes()), "{none}");
        }
        for wrong in ["", "-", "nan", "inf", "12a", "0x10", "1 2", "--1", "\u{ff}"] {
            assert_eq!(number(wrong.as_bytes()), None, "{wrong}");
        }
        assert_eq!(ticks(b"18.00", 1.0), Some((18, false)));
        assert_eq!(ticks(b"129.6", 1.0), Some((130, true)));
        assert_eq!(ticks(b"1e300", 1.0), None);
        assert_eq!(ticks(b"0.29", 1000.0), Some((290, false)));
        assert_eq!(
            clock_ticks(1_711_852_200.25, 1e6),
            Some((1_711_852_200_250_000, false))
        );
        assert_eq!(clock_ticks(0.25, 1.0), Some((0, true)));
    }
}
