//! This module defines decimal numbers that are exact, so that `0.1` is exactly one tenth. A demand
//! of `.1` must fit three times into a capacity of `.3`, but `(.3_f64 / .1).floor()` is 2.
//! Therefore, a number is stored as the nearest `f64`, and its value is the decimal number that is
//! the shortest text for this `f64`. A text with more digits than an `f64` can represent is
//! rejected, so a number is never rounded without an error.

use std::borrow::Cow;
use std::fmt;

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::ToPrimitive;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, de};

/// The decimal number that is the shortest text of a finite `f64`. Zero does not have a sign.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct Decimal(f64);

/// The reason why a text is not a [`Decimal`]. The message contains the text.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("`{text}` {what}")]
pub struct DecimalError {
    text: String,
    what: &'static str,
    /// A sentence that explains what to write instead, without a full stop.
    pub help: String,
}

impl DecimalError {
    fn new(text: &str, what: &'static str, help: impl Into<String>) -> Self {
        let (text, help) = (text.to_owned(), help.into());
        DecimalError { text, what, help }
    }

    fn not_a_number(text: &str) -> Self {
        let help = "write it in decimal notation, without a unit: 12, 0.25, .3 or 1e-9";
        Self::new(text, "is not a decimal number", help)
    }

    pub(crate) fn is_no_number(&self) -> bool {
        *self == Self::not_a_number(&self.text)
    }
}

impl Decimal {
    /// The number 0.
    pub const ZERO: Self = Self(0.0);
    /// The number 1.
    pub const ONE: Self = Self(1.0);

    /// Returns `true` if the number is 0.
    #[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
    pub fn is_zero(&self) -> bool {
        *self == Self::ZERO
    }

    /// Returns the number that has the same shortest text, or `None` if `value` is not finite.
    pub fn new(value: f64) -> Option<Self> {
        // Adding 0 removes the sign of a negative zero.
        value.is_finite().then_some(Self(value + 0.0))
    }

    /// Returns the decimal number of the nearest `f64`, or `None` if it is out of range.
    pub fn nearest(fraction: &BigRational) -> Option<Self> {
        Self::new(fraction.to_f64()?)
    }

    /// Parses a decimal number such as `3`, `.3`, `-1`, `1e-9` or `+2.5E3`.
    ///
    /// # Errors
    /// Returns an error if it is not in decimal notation, out of range, or not exact as an `f64`.
    pub fn parse(text: &str) -> Result<Self, DecimalError> {
        const OTHER_UNIT: &str = "choose a unit in which the number is of ordinary size";
        let refuse = |what, help: &str| Err(DecimalError::new(text, what, help));
        let Some(written) = significand(text) else {
            let word = text.trim_start_matches(['+', '-']).trim_start_matches('.');
            return match &*word.to_ascii_lowercase() {
                "inf" | "infinity" | "nan" => {
                    let help = "write a finite number, such as 12 or 0.25";
                    refuse("is not a finite number", help)
                }
                _ => Err(DecimalError::not_a_number(text)),
            };
        };
        let value: f64 = text.parse().map_err(|_| DecimalError::not_a_number(text))?;
        let Some(nearest) = Self::new(value) else {
            return refuse("is too large: the largest number is 1.8e308", OTHER_UNIT);
        };
        if nearest.significand() == written {
            Ok(nearest)
        } else if value == 0.0 {
            refuse(
                "is too small: the smallest number above 0 is 5e-324",
                OTHER_UNIT,
            )
        } else {
            let help = format!("write {nearest}, the nearest accepted number");
            refuse("has more digits than a double carries", &help)
        }
    }

    /// Returns the nearest `f64`.
    pub fn value(self) -> f64 {
        self.0
    }

    /// Returns the exact value as a fraction.
    pub fn exact(self) -> BigRational {
        let (is_negative, digits, exponent) = self.significand();
        let magnitude: BigInt = format!("0{digits}").parse().expect("digits are a number");
        let numerator = if is_negative { -magnitude } else { magnitude };
        BigRational::from_integer(10.into()).pow(exponent as i32) * numerator
    }

    /// Returns the canonical text, which has an exponent, such as `1e-1` for one tenth.
    pub fn canonical(self) -> String {
        format!("{:e}", self.0)
    }

    fn significand(self) -> (bool, String, i64) {
        let written = significand(&self.canonical());
        written.expect("the shortest text of a finite double is in decimal notation")
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.0.abs();
        match size == 0.0 || (1e-6..1e16).contains(&size) {
            true => write!(f, "{}", self.0),
            false => write!(f, "{:e}", self.0),
        }
    }
}

impl<'de> Deserialize<'de> for Decimal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = f64::deserialize(deserializer)?;
        Self::new(value).ok_or_else(|| de::Error::custom(format!("{value} is not a finite number")))
    }
}

impl JsonSchema for Decimal {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Decimal".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number" })
    }
}

/// Formats a computed number for a message. It can be out of the range of `f64`.
pub fn format_number(value: f64) -> String {
    match value {
        _ if value.is_nan() => "not a number".into(),
        _ if value.is_infinite() => "more than a double can hold".into(),
        _ if value == 0.0 || (1e-4..1e15).contains(&value.abs()) => value.to_string(),
        _ => format!("{value:e}"),
    }
}

/// Returns the sign, the digits and the exponent of a number `± digits · 10^exponent`, where the
/// digits have no leading or trailing zeros. The digits of a written exponent are not checked.
fn significand(text: &str) -> Option<(bool, String, i64)> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, power) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    // An exponent that does not fit into 64 bits is out of the range of `f64` in any case.
    let bound = if power.starts_with('-') {
        i64::MIN
    } else {
        i64::MAX
    };
    let power: i64 = power.parse().unwrap_or(bound);
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = [whole, part].concat();
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let significant = digits.trim_end_matches('0');
    let zeros = digits.len() - significant.len();
    let digits = significant.trim_start_matches('0').to_owned();
    if digits.is_empty() {
        return Some(Default::default());
    }
    let shift = i64::try_from(zeros).ok()? - i64::try_from(part.len()).ok()?;
    Some((text.starts_with('-'), digits, power.saturating_add(shift)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn ratio(numerator: i64, denominator: i64) -> BigRational {
        BigRational::new(numerator.into(), denominator.into())
    }

    #[test]
    fn ordinary_notation_is_exact() {
        for (text, exact) in [
            (".3", ratio(3, 10)),
            ("0.1", ratio(1, 10)),
            ("3", ratio(3, 1)),
            ("3.", ratio(3, 1)),
            ("-1", ratio(-1, 1)),
            ("1e-9", ratio(1, 1_000_000_000)),
            ("+2.5E3", ratio(2500, 1)),
            ("0010.500", ratio(21, 2)),
            ("-0", ratio(0, 1)),
            ("0.018", ratio(9, 500)),
            ("1e+2", ratio(100, 1)),
        ] {
            assert_eq!(Decimal::parse(text).unwrap().exact(), exact, "{text}");
        }
    }

    #[test]
    fn a_tenth_is_decimal_and_not_binary() {
        let [p, d] = [".3", ".1"].map(|t| Decimal::parse(t).unwrap());
        assert!((p.value() / d.value()).floor() < 3.0);
        assert_eq!((p.exact() / d.exact()).floor(), ratio(3, 1));
    }

    #[test]
    fn rejects_other_notations() {
        for text in [
            "",
            " 1",
            "0xB",
            "1_000",
            "1,5",
            "1e",
            "e3",
            ".",
            "-",
            "4GiB",
            "1e2.5",
            "--1",
            "١",
            "1e+-5",
            "0e",
            "0ex",
            "1e99999999999999999999x",
        ] {
            refused(text, "not a decimal number");
        }
    }

    fn refused(text: &str, why: &str) {
        let error = Decimal::parse(text).unwrap_err().to_string();
        assert!(error.contains(why), "{text}: {error}");
    }

    #[test]
    fn rejects_infinities_as_not_finite() {
        for text in [".inf", "-.INF", ".nan", "inf", "NaN", "-Infinity"] {
            refused(text, "not a finite number");
        }
    }

    #[test]
    fn rejects_numbers_out_of_range() {
        for text in ["1e309", "-1e309", "1e999999999999999999999"] {
            refused(text, "too large");
        }
        for text in ["1e-400", "1e-999999999999999999999"] {
            refused(text, "too small");
        }
        let zero = Decimal::parse("0e999999999999999999999").unwrap();
        assert_eq!(zero, Decimal::ZERO);
    }

    #[test]
    fn rejects_excess_digits_and_names_the_nearest_number() {
        refused("0.1000000000000000055511151231257827", "more digits");
        for (text, nearest) in [
            ("0.10000000000000000001", "0.1"),
            ("9007199254740993", "9007199254740992"),
        ] {
            let help = format!("write {nearest}, the nearest accepted number");
            assert_eq!(Decimal::parse(text).unwrap_err().help, help);
        }
        Decimal::parse("123456789.012345").unwrap();
    }

    #[test]
    fn displayed_numbers_read_back() {
        for value in [
            0.1,
            1.0 / 3.0,
            1e-9,
            1e300,
            5e-324,
            f64::MAX,
            -2.5,
            128.0,
            1e16,
            9.87e15,
            1e-6,
            1e-7,
        ] {
            let decimal = Decimal::new(value).unwrap();
            assert_eq!(Decimal::parse(&decimal.to_string()).unwrap(), decimal);
            assert_eq!(Decimal::parse(&decimal.canonical()).unwrap(), decimal);
        }
        assert_eq!(Decimal::new(1e-9).unwrap().to_string(), "1e-9");
        assert_eq!(Decimal::new(-0.0).unwrap().to_string(), "0");
        assert_eq!(Decimal::new(f64::NAN), None);
        assert_eq!(Decimal::new(f64::INFINITY), None);
    }

    /// Without the feature `float_roundtrip`, serde_json may return a slightly different number.
    #[test]
    fn json_carries_the_number_unchanged() {
        let mut state = 0x9E37_79B9_7F4A_7C15_u64;
        for _ in 0..20_000 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let Some(decimal) = Decimal::new(f64::from_bits(state)) else {
                continue;
            };
            let text = serde_json::to_string(&decimal).unwrap();
            let back: Decimal = serde_json::from_str(&text).unwrap();
            assert_eq!(back.value().to_bits(), decimal.value().to_bits(), "{text}");
        }
        assert_eq!(serde_json::from_str::<Decimal>("3").unwrap().value(), 3.0);
        assert!(serde_json::from_str::<Decimal>("1e999").is_err());
    }

    #[test]
    fn shows_numbers_out_of_range_in_words() {
        let shown = [0.0, -2.5, 3e-9, 7e300, f64::INFINITY, f64::NAN].map(format_number);
        let beyond = "more than a double can hold";
        assert_eq!(
            shown,
            ["0", "-2.5", "3e-9", "7e300", beyond, "not a number"]
        );
    }
}
