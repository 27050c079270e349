//! Offered loads as fractions: decimals are exact, so what is only added, multiplied and divided
//! from them is too.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Zero};

use super::{ArrivalProcess, Decimal, JobType, Size};

impl JobType {
    /// b = λ E\[S\] as a fraction, > 0; `None` where the law of sizes or of times between
    /// arrivals has a mean that is no fraction (a bounded Pareto law).
    #[must_use]
    pub fn exact_load(&self) -> Option<BigRational> {
        Some(self.arrivals.exact_rate()? * self.size.exact_mean()?)
    }
}

impl Size {
    /// E\[S\] as a fraction.
    fn exact_mean(&self) -> Option<BigRational> {
        Some(match self {
            Self::Exponential { mean }
            | Self::Erlang { mean, .. }
            | Self::BalancedHyperexponential { mean, .. }
            | Self::Deterministic { mean }
            | Self::Lognormal { mean, .. }
            | Self::Weibull { mean, .. } => mean.exact(),
            Self::Hyperexponential {
                probabilities,
                means,
            } => average(means.iter().map(|m| m.exact()), Some(probabilities)),
            Self::Coxian { means, onward } => {
                let onward = onward
                    .iter()
                    .map(|q| q.exact())
                    .chain([BigRational::zero()]);
                let stages: Vec<_> = means.iter().zip(onward).collect();
                let ahead =
                    |mean: BigRational, (m, q): &(&Decimal, BigRational)| m.exact() + q * mean;
                stages.iter().rev().fold(BigRational::zero(), ahead)
            }
            Self::Pareto { .. } => return None,
            Self::Empirical {
                values,
                probabilities,
            } => average(values.iter().map(|x| x.exact()), probabilities.as_deref()),
        })
    }
}

impl ArrivalProcess {
    /// λ as a fraction.
    fn exact_rate(&self) -> Option<BigRational> {
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
            } => {
                let sizes = sizes
                    .iter()
                    .map(|size| BigRational::from_integer((*size).into()));
                rate.exact() * average(sizes, probabilities.as_deref())
            }
        })
    }
}

/// Σ p x, or the plain average where no probabilities are given.
fn average(
    values: impl ExactSizeIterator<Item = BigRational>,
    probabilities: Option<&[Decimal]>,
) -> BigRational {
    match probabilities {
        Some(probabilities) => values.zip(probabilities).map(|(x, p)| x * p.exact()).sum(),
        None => {
            let count = BigInt::from(values.len());
            values.sum::<BigRational>() / count
        }
    }
}

/// The stationary law of a chain up to a factor, from its rates (off the diagonal), by the
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
    use crate::multiresource::workload::Workload;

    fn load(arrivals: &str, size: &str) -> Option<BigRational> {
        let text = format!(
            "kind: multiresource\ntime_unit: s\nserver: {{capacity: {{cpu: 1}}}}\njobs:\n  - {{name: a, demand: {{cpu: 1}}, {arrivals}, {size}}}\n"
        );
        Workload::parse(&text, "one").unwrap().workload.types()[0].exact_load()
    }

    fn ratio(numerator: i64, denominator: i64) -> Option<BigRational> {
        Some(BigRational::new(numerator.into(), denominator.into()))
    }

    /// By hand: .3·2 + .7·.5 = .95; .5 + .5·1 = 1; (1 + 2 + 7)/3; π = (2, 1)/3 gives 2/3 + 10/3;
    /// 2 (.9·1 + .1·5); 1/.3.
    #[test]
    fn loads_by_hand() {
        let (poisson, unit) = ("arrival_rate: .1", "mean_size: 1");
        for (arrivals, size, expected) in [
            (poisson, "mean_size: .3", ratio(3, 100)),
            (
                poisson,
                "size: {law: hyperexponential, probabilities: [.3, .7], means: [2, .5]}",
                ratio(95, 1000),
            ),
            (
                poisson,
                "size: {law: coxian, means: [.5, 1], onward: [.5]}",
                ratio(1, 10),
            ),
            (
                poisson,
                "size: {law: empirical, values: [1, 2, 7]}",
                ratio(1, 3),
            ),
            (
                poisson,
                "size: {law: lognormal, mean: .7, scv: 4}",
                ratio(7, 100),
            ),
            (
                poisson,
                "size: {law: pareto, shape: 1.2, low: 1, high: 100}",
                None,
            ),
            (
                "arrivals: {process: markov-modulated, rates: [1, 10], switching: [[0, .1], [.2, 0]]}",
                unit,
                ratio(4, 1),
            ),
            (
                "arrivals: {process: batches, rate: 2, sizes: [1, 5], probabilities: [.9, .1]}",
                unit,
                ratio(28, 10),
            ),
            (
                "arrivals: {process: renewal, interarrival: {law: deterministic, mean: .3}}",
                unit,
                ratio(10, 3),
            ),
            (
                "arrivals: {process: renewal, interarrival: {law: pareto, shape: 1.2, low: 1, high: 9}}",
                unit,
                None,
            ),
        ] {
            assert_eq!(load(arrivals, size), expected, "{arrivals} {size}");
        }
    }

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
