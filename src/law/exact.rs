//! Rates as fractions: decimals are exact, so what is only added, multiplied and divided
//! from them is too.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::One;

use super::ArrivalProcess;
use crate::number::Decimal;

impl ArrivalProcess {
    /// λ as a fraction; `None` where it is none.
    pub(crate) fn exact_rate(&self) -> Option<BigRational> {
        Some(match self {
            Self::Poisson { rate } => rate.exact(),
            Self::Renewal { interarrival } => interarrival.exact_mean()?.recip(),
            Self::MarkovModulated { rates, switching } => {
                let shares = stationary(switching);
                let total: BigRational = shares.iter().sum();
                let pairs = shares.iter().zip(rates);
                pairs
                    .map(|(share, rate)| share * rate.exact())
                    .sum::<BigRational>()
                    / total
            }
            Self::Batches {
                rate,
                sizes,
                probabilities,
                ..
            } => {
                let sizes = sizes.iter().map(|size| BigInt::from(*size));
                let mean: BigRational = match probabilities {
                    Some(p) => sizes.zip(p).map(|(size, p)| p.exact() * size).sum(),
                    None => BigRational::new(sizes.clone().sum(), sizes.len().into()),
                };
                rate.exact() * mean
            }
        })
    }
}

/// Returns the stationary law of a chain up to a factor, from its rates (off the diagonal), by the
/// elimination of states without a subtraction (Grassmann, Taksar, Heyman, Operations Research 33,
/// 1985). The chain is irreducible: drafts that are not have been refused.
fn stationary(switching: &[Vec<Decimal>]) -> Vec<BigRational> {
    let exact = |row: &Vec<Decimal>| row.iter().map(|x| x.exact()).collect();
    let mut q: Vec<Vec<BigRational>> = switching.iter().map(exact).collect();
    for n in (1..q.len()).rev() {
        let leave: BigRational = q[n][..n].iter().sum();
        let (above, below) = q.split_at_mut(n);
        for row in above {
            let share = &row[n] / &leave;
            for (rate, onward) in row.iter_mut().zip(&below[0][..n]) {
                *rate += &share * onward;
            }
            row[n] = share;
        }
    }
    let mut law = vec![BigRational::one()];
    while law.len() < q.len() {
        let n = law.len();
        let enters = law.iter().zip(&q).map(|(share, row)| share * &row[n]);
        law.push(enters.sum());
    }
    law
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use num_traits::Zero;

    /// π Q = 0 exactly, for a chain of four states without any symmetry.
    #[test]
    fn stationary_laws_balance() {
        let rate = |s: i64, t: i64| {
            if s == t {
                0.0
            } else {
                ((3 * s + 5 * t + s * t) % 7) as f64 / 10.0
            }
        };
        let row = |s| (0..4).map(|t| Decimal::new(rate(s, t)).unwrap()).collect();
        let switching: Vec<Vec<Decimal>> = (0..4).map(row).collect();
        let law = stationary(&switching);
        for t in 0..4 {
            let enters: BigRational = (0..4)
                .map(|s: usize| &law[s] * switching[s][t].exact())
                .sum();
            let leaves: BigRational = switching[t].iter().map(|x| &law[t] * x.exact()).sum();
            assert_eq!(enters, leaves, "state {t}");
            assert!(law[t] > BigRational::zero());
        }
    }
}
