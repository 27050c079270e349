//! This module converts amounts to integer multiples of their greatest common divisor `g`. Let
//! `part_i = units_i · g`. Because `Σ u_i units_i` is an integer, `Σ u_i part_i ≤ whole` is
//! equivalent to `Σ u_i units_i ≤ ⌊whole / g⌋`, which does not depend on the unit of measurement.

use num_bigint::BigInt;
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{ToPrimitive, Zero};

use super::decimal::Decimal;

/// Integers up to this value can also be represented exactly as `f64`.
const LARGEST: u64 = 1 << 53;

/// A whole and its parts as integers.
#[derive(Debug, PartialEq, Eq)]
pub struct Units {
    /// The value of `⌊whole / g⌋`.
    pub whole: u64,
    /// The value of `part_i / g` for each part.
    pub parts: Vec<u64>,
}

/// Converts a whole and its parts, which must be ≥ 0. Returns `None` if an integer is > 2^53. The
/// whole has 0 units if all parts are 0, because there is no `g`.
pub fn in_units(whole: Decimal, parts: &[Decimal]) -> Option<Units> {
    let exact: Vec<BigRational> = parts.iter().map(|d| d.exact()).collect();
    let whole = whole.exact();
    let denominators = exact.iter().map(BigRational::denom);
    let denominator = denominators.fold(whole.denom().clone(), |lcm, d| lcm.lcm(d));
    let scaled = |x: &BigRational| x.numer() * (&denominator / x.denom());
    let parts: Vec<BigInt> = exact.iter().map(scaled).collect();
    let grain = parts.iter().fold(BigInt::zero(), |gcd, d| gcd.gcd(d));
    if grain.is_zero() {
        let parts = vec![0; parts.len()];
        return Some(Units { whole: 0, parts });
    }
    let bounded = |value: BigInt| value.to_u64().filter(|value| *value <= LARGEST);
    let parts = parts.iter().map(|d| bounded(d / &grain));
    Some(Units {
        whole: bounded(scaled(&whole).div_floor(&grain))?,
        parts: parts.collect::<Option<_>>()?,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn scaled(whole: &str, parts: &[&str]) -> Option<Units> {
        let parts: Vec<Decimal> = parts.iter().map(|d| Decimal::parse(d).unwrap()).collect();
        in_units(Decimal::parse(whole).unwrap(), &parts)
    }

    #[test]
    fn capacity_is_rounded_down_to_a_multiple_of_the_unit() {
        for (whole, parts, (units, counts)) in [
            (".3", &[".1"][..], (3, &[1][..])),
            ("1", &["0.1", "0.3"], (10, &[1, 3])),
            ("20", &["3", "6", "0"], (6, &[1, 2, 0])),
            ("20", &["0", "0"], (0, &[0, 0])),
        ] {
            let found = scaled(whole, parts).unwrap();
            assert_eq!((found.whole, &*found.parts), (units, counts));
        }
    }

    #[test]
    fn rejects_integers_beyond_two_to_the_53() {
        assert_eq!(scaled("1", &["0.3333333333333333", "0.1"]), None);
        assert_eq!(scaled("9007199254740992", &["1"]).unwrap().whole, LARGEST);
        assert_eq!(scaled("9007199254740994", &["1"]), None);
    }
}
