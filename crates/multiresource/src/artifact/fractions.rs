use std::borrow::Cow;
use std::fmt;

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{Signed, ToPrimitive};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Limit on the digits of all fractions of a certificate, so that they do not dominate the file.
pub const MAX_DIGITS: usize = 20_000;

/// The certificate of the load as exact fractions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExactRecord {
    /// The load ρ of the mix; `load` is the double nearest to it.
    pub load: Fraction,
    /// The weight of each schedule in the mix (N). The weights are positive, and their sum is 1.
    /// The weights of the mix are the doubles nearest to them.
    pub weights: Vec<Fraction>,
    /// The statement that is proven by the fractions.
    pub proven: Proven,
    /// The price y_i of each type (K), such that `Σ_i (y_i/b_i) u_i ≤ 1/ρ` for every schedule. The
    /// prices are nonnegative, and their sum is 1. It is `None` if the optimum is not proven.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prices: Option<Vec<Fraction>>,
}

/// The statement that is proven by the fractions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Proven {
    /// The mix has the load ρ, and no policy has a lower one.
    Optimum,
    /// The mix has the load ρ, which is optimal up to `gap`.
    Mix,
}

impl ExactRecord {
    /// Returns the number of digits of all fractions.
    pub fn digits(&self) -> usize {
        let prices = self.prices.iter().flatten();
        let all = self.weights.iter().chain(prices).chain([&self.load]);
        all.map(Fraction::digits).sum()
    }
}

/// A fraction ≥ 0 in lowest terms, in JSON a string of decimal digits such as `131/200` or `1`.
#[derive(Clone, Debug, PartialEq)]
pub struct Fraction(BigRational);

impl Fraction {
    /// Creates a fraction; `None` if the number is negative.
    pub fn new(number: BigRational) -> Option<Self> {
        (!number.is_negative()).then_some(Fraction(number))
    }

    /// Returns the exact value.
    pub fn exact(&self) -> &BigRational {
        &self.0
    }

    /// Returns the nearest double, infinite if out of range.
    pub fn nearest(&self) -> f64 {
        self.0.to_f64().unwrap_or(f64::INFINITY)
    }

    fn digits(&self) -> usize {
        let of = |x: &BigInt| (x.bits() as f64 * std::f64::consts::LOG10_2) as usize + 1;
        of(self.0.numer()) + of(self.0.denom())
    }

    fn parse(text: &str) -> Result<Self, String> {
        if text.len() > MAX_DIGITS {
            return Err(format!(
                "a fraction of {} characters, expected at most {MAX_DIGITS}",
                text.len()
            ));
        }
        // A text that is reproduced exactly is in lowest terms and has no sign.
        let number = text.parse::<BigRational>().ok();
        let canonical = number.filter(|x| !x.is_negative() && x.to_string() == text);
        let expected = "a fraction such as 131/200 or 1, in lowest terms";
        let fraction = canonical.map(Fraction);
        fraction.ok_or_else(|| format!("`{text}`, expected {expected}"))
    }
}

impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for Fraction {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Fraction {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <Cow<'_, str>>::deserialize(deserializer)?;
        Self::parse(&text).map_err(de::Error::custom)
    }
}

impl JsonSchema for Fraction {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Fraction".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^(0|[1-9][0-9]*)(/[1-9][0-9]*)?$" })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn reads_only_canonical_fractions() {
        for text in ["0", "1", "131/200", "7", "12345678901234567890123456789/2"] {
            assert_eq!(Fraction::parse(text).unwrap().to_string(), text);
        }
        for text in [
            "", "-1", "1/0", "0/5", "2/4", "3/1", "01/2", "1/02", "1.5", "1/2/3", "+1", "1/", "/2",
            "½", "1 /2",
        ] {
            assert!(
                Fraction::parse(text).unwrap_err().contains("lowest terms"),
                "{text}"
            );
        }
        assert!(Fraction::parse(&"9".repeat(MAX_DIGITS + 1)).is_err());
        assert_eq!(Fraction::parse("131/200").unwrap().nearest(), 0.655);
    }
}
