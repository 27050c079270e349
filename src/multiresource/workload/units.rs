//! Demands in whole units of their greatest common divisor.
//!
//! u·D ≤ P decided in integers: with g the greatest common divisor of one resource's demands (of
//! the exact decimals), demand_i = units_i · g, and since Σ u_i units_i is whole,
//! Σ u_i demand_i ≤ P  ⇔  Σ u_i units_i ≤ ⌊P / g⌋. The unit in which the document counts the
//! resource cancels, so units of 1e-9 and of 1e9 give the same integers.

use num_bigint::BigInt;
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{ToPrimitive, Zero};

use super::decimal::Decimal;

/// Whole numbers up to this bound, 2^53, are also exact as doubles.
pub(super) const LARGEST: u64 = 1 << 53;

/// One resource in whole units.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Units {
    /// ⌊P / g⌋.
    pub capacity: u64,
    /// demand_i / g, one a type.
    pub demand: Vec<u64>,
}

/// Scales one resource to whole units; demands are ≥ 0.
///
/// A resource that nobody demands has no g: it gets capacity 0 and demands 0, and 0 ≤ 0 holds for
/// every schedule. `None` when an integer would exceed [`LARGEST`].
pub(super) fn scale(capacity: Decimal, demand: &[Decimal]) -> Option<Units> {
    let exact: Vec<BigRational> = demand.iter().map(|d| d.exact()).collect();
    let capacity = capacity.exact();
    let denominator = exact
        .iter()
        .fold(capacity.denom().clone(), |lcm, d| lcm.lcm(d.denom()));
    let whole = |x: &BigRational| x.numer() * (&denominator / x.denom());
    let demand: Vec<BigInt> = exact.iter().map(whole).collect();
    let grain = demand.iter().fold(BigInt::zero(), |gcd, d| gcd.gcd(d));
    if grain.is_zero() {
        return Some(Units {
            capacity: 0,
            demand: vec![0; demand.len()],
        });
    }
    Some(Units {
        capacity: bounded(&whole(&capacity).div_floor(&grain))?,
        demand: demand
            .iter()
            .map(|d| bounded(&(d / &grain)))
            .collect::<Option<_>>()?,
    })
}

/// How many jobs with these demands fit on a server with these capacities, all in whole units:
/// min_j ⌊capacity_j / demand_j⌋ over what is demanded; the largest integer if nothing is.
pub(super) fn most_alone(capacity: &[u64], demand: &[u64]) -> u64 {
    let fit = |(capacity, demand): (&u64, &u64)| capacity.checked_div(*demand);
    capacity
        .iter()
        .zip(demand)
        .filter_map(fit)
        .min()
        .unwrap_or(u64::MAX)
}

fn bounded(value: &BigInt) -> Option<u64> {
    value.to_u64().filter(|value| *value <= LARGEST)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn scaled(capacity: &str, demand: &[&str]) -> Option<Units> {
        let demand: Vec<Decimal> = demand.iter().map(|d| Decimal::parse(d).unwrap()).collect();
        scale(Decimal::parse(capacity).unwrap(), &demand)
    }

    #[test]
    fn three_tenths_hold_three_tenths() {
        assert_eq!(
            scaled(".3", &[".1"]).unwrap(),
            Units {
                capacity: 3,
                demand: vec![1]
            }
        );
        assert_eq!(
            scaled("1", &["0.1", "0.3"]).unwrap(),
            Units {
                capacity: 10,
                demand: vec![1, 3]
            }
        );
    }

    #[test]
    fn capacity_is_rounded_down_to_the_grain() {
        assert_eq!(
            scaled("20", &["3", "6", "0"]).unwrap(),
            Units {
                capacity: 6,
                demand: vec![1, 2, 0]
            }
        );
    }

    #[test]
    fn an_unused_resource_binds_nobody() {
        assert_eq!(
            scaled("20", &["0", "0"]).unwrap(),
            Units {
                capacity: 0,
                demand: vec![0, 0]
            }
        );
    }

    #[test]
    fn integers_beyond_two_to_the_53_are_refused() {
        assert_eq!(scaled("1", &["0.3333333333333333", "0.1"]), None);
        assert_eq!(
            scaled("9007199254740992", &["1"]).unwrap().capacity,
            LARGEST
        );
        assert_eq!(scaled("9007199254740994", &["1"]), None);
    }
}
