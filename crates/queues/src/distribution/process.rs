//! This module defines the arrival processes of job types. Proofs about the load and the stability
//! only depend on the mean rate λ.

use nalgebra::{DMatrix, DVector};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::One;
use petgraph::graph::DiGraph;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SizeDistribution;
use crate::ctmc::{generator, stationary};
use synth_core::document::in_one_line;
use synth_core::number::Decimal;

/// The arrival process of a job type. It is independent of the other types, except for a modulation
/// that all types have in common.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "process", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ArrivalProcess {
    /// A Poisson process. It can also be written as `arrival_rate: 4`.
    Poisson {
        /// The mean number of arrivals \[1/time\], which must be positive.
        rate: Decimal,
    },
    /// A renewal process. The times between arrivals are independent and have the same
    /// distribution, including the time before the first arrival.
    Renewal {
        /// The distribution of the time between two arrivals.
        interarrival: SizeDistribution,
        /// The number of jobs that arrive at the same time, from 1 to 100 000. The default is 1.
        #[serde(default = "one", skip_serializing_if = "is_one")]
        batch: u32,
    },
    /// A Markov-modulated Poisson process. The rate depends on the state of a Markov chain with 2
    /// to 20 states, which starts in its stationary distribution.
    MarkovModulated {
        /// The arrival rate in each state \[1/time\]. All must be ≥ 0 and at least one must be > 0.
        rates: Vec<Decimal>,
        /// The rate from the state of the row to the state of the column \[1/time\], ≥ 0, and 0 on
        /// the diagonal. Every state must be reachable from every other state.
        switching: Vec<Vec<Decimal>>,
    },
    /// A Poisson process of batches. The sizes of the batches are independent.
    Batches {
        /// The mean number of batches \[1/time\], which must be positive.
        rate: Decimal,
        /// The possible numbers of jobs in a batch, each from 1 to 100 000.
        #[serde(serialize_with = "in_one_line")]
        sizes: Vec<u32>,
        /// The probability of each value in `sizes`. Each must be positive, and the sum must be
        /// exactly 1. By default, all values have the same probability.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[serde(serialize_with = "in_one_line")]
        probabilities: Option<Vec<Decimal>>,
        /// The fraction of the batches in which all jobs have the same size, in \[0, 1\]. It is the
        /// correlation between the sizes of two jobs of a batch. In all other batches, the sizes
        /// are independent. Default 0.
        #[serde(default, skip_serializing_if = "Decimal::is_zero")]
        alike: Decimal,
    },
}

impl ArrivalProcess {
    /// Returns the name of the process in documents and records.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Poisson { .. } => "poisson",
            Self::Renewal { .. } => "renewal",
            Self::MarkovModulated { .. } => "markov-modulated",
            Self::Batches { .. } => "batches",
        }
    }

    /// Returns `true` if this is equivalent to a Poisson process, such as batches of one job.
    pub fn is_poisson(&self) -> bool {
        match self {
            Self::Poisson { .. } => true,
            Self::Renewal { batch: 2.., .. } => false,
            Self::Renewal { interarrival, .. } => interarrival.is_exponential(),
            Self::MarkovModulated { rates, .. } => rates.iter().all(|rate| *rate == rates[0]),
            Self::Batches { sizes, .. } => sizes.iter().all(|size| *size == 1),
        }
    }

    /// Returns the fraction of batches with equal sizes, or 0 if each batch has only one job.
    pub fn equal_size_fraction(&self) -> f64 {
        match self {
            Self::Batches { alike, .. } if !self.is_poisson() => alike.value(),
            _ => 0.0,
        }
    }

    /// Returns the mean arrival rate `λ` of jobs \[1/time\], which is not the rate of batches.
    pub fn rate(&self) -> f64 {
        match self {
            Self::Poisson { rate } => rate.value(),
            Self::Renewal { interarrival, .. } => self.batch_moment(1) / interarrival.mean(),
            Self::MarkovModulated { rates, .. } => {
                let law = self.stationary_distribution();
                law.iter().zip(rates).map(|(p, r)| p * r.value()).sum()
            }
            Self::Batches { rate, .. } => rate.value() * self.batch_moment(1),
        }
    }

    /// Returns the index of dispersion of counts, `lim Var N(t) / E N(t)`, which is 1 for Poisson.
    ///
    /// For a renewal process, it is the squared coefficient of variation of the times between
    /// arrivals, multiplied by the size of the batches. For batches, it is `E[B²]/E[B]`. For a
    /// modulated process, it is `1 + 2 Σ_s π_s λ_s h_s / λ`, where `Q h = λ − λ_s` and `π h = 0`.
    /// `h_s` is the expected number of arrivals in excess of the mean from state `s` on.
    pub fn dispersion(&self) -> f64 {
        match self {
            Self::Poisson { .. } => 1.0,
            Self::Renewal { interarrival, .. } => self.batch_moment(1) * interarrival.scv(),
            Self::MarkovModulated { rates, switching } => {
                self.modulated_dispersion(rates, switching)
            }
            Self::Batches { .. } => self.batch_moment(2) / self.batch_moment(1),
        }
    }

    /// Returns the stationary distribution of the modulating chain, or `[1]` if there is none.
    pub fn stationary_distribution(&self) -> Vec<f64> {
        match self {
            // Only a workload that has not been checked can have a reducible chain.
            Self::MarkovModulated { switching, .. } => {
                stationary(&chain(switching)).unwrap_or_else(|_| vec![f64::NAN; switching.len()])
            }
            _ => vec![1.0],
        }
    }

    /// Returns how often the state of a modulating chain changes \[1/time\], or 0 if there is none.
    pub fn switching_frequency(&self) -> f64 {
        let Self::MarkovModulated { switching, .. } = self else {
            return 0.0;
        };
        let leave = |row: &Vec<Decimal>| row.iter().map(|x| x.value()).sum::<f64>();
        let law = self.stationary_distribution();
        let pairs = law.iter().zip(switching);
        pairs.map(|(share, row)| share * leave(row)).sum()
    }

    fn modulated_dispersion(&self, rates: &[Decimal], switching: &[Vec<Decimal>]) -> f64 {
        let (law, mean) = (self.stationary_distribution(), self.rate());
        let n = law.len();
        let q = generator(&chain(switching));
        // Divide by the largest exit rate, so that neither `1π` nor `Q` is lost to rounding.
        let scale = (0..n).map(|s| -q[(s, s)]).fold(0.0, f64::max);
        let system = DMatrix::from_fn(n, n, |s, t| law[t] - q[(s, t)] / scale);
        let excess = DVector::from_fn(n, |s, _| (rates[s].value() - mean) / scale);
        let Some(ahead) = system.lu().solve(&excess) else {
            return f64::NAN;
        };
        let terms = (0..n).map(|s| law[s] * rates[s].value() / mean * ahead[s]);
        1.0 + 2.0 * terms.sum::<f64>()
    }

    fn batch_moment(&self, n: i32) -> f64 {
        let power = |size: &u32| f64::from(*size).powi(n);
        match self {
            Self::Renewal { batch, .. } => power(batch),
            Self::Batches {
                sizes,
                probabilities: Some(p),
                ..
            } => {
                let pairs = sizes.iter().map(power).zip(p);
                pairs.map(|(b, p)| p.value() * b).sum()
            }
            Self::Batches { sizes, .. } => {
                sizes.iter().map(power).sum::<f64>() / sizes.len() as f64
            }
            _ => 1.0,
        }
    }

    /// Returns the process with `factor` times as many arrivals, or `None` if it is out of range. A
    /// modulating chain is not changed, because it does not depend on the load.
    pub fn scaled(&self, factor: f64) -> Option<Self> {
        let scaled = |rate: &Decimal| {
            let product = Decimal::new(rate.value() * factor)?;
            ((product > Decimal::ZERO) == (*rate > Decimal::ZERO)).then_some(product)
        };
        let mut process = self.clone();
        match &mut process {
            Self::Poisson { rate } | Self::Batches { rate, .. } => *rate = scaled(rate)?,
            Self::Renewal { interarrival, .. } => {
                *interarrival = interarrival.scaled_down(factor)?
            }
            Self::MarkovModulated { rates, .. } => {
                *rates = rates.iter().map(scaled).collect::<Option<_>>()?;
            }
        }
        Some(process)
    }

    /// Returns `true` if all computed values of a process without faults are positive and finite.
    pub fn in_range(&self) -> bool {
        let times = match self {
            Self::Renewal { interarrival, .. } => interarrival.in_range(),
            _ => true,
        };
        let rate = self.rate();
        times && rate > 0.0 && rate.is_finite() && self.dispersion().is_finite()
    }
}

fn one() -> u32 {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_one(n: &u32) -> bool {
    *n == 1
}

pub(super) fn chain(switching: &[Vec<Decimal>]) -> DiGraph<(), f64> {
    let mut chain = DiGraph::new();
    let states: Vec<_> = switching.iter().map(|_| chain.add_node(())).collect();
    for (s, row) in switching.iter().enumerate() {
        for (t, rate) in row.iter().enumerate().filter(|(_, r)| **r > Decimal::ZERO) {
            chain.add_edge(states[s], states[t], rate.value());
        }
    }
    chain
}

impl ArrivalProcess {
    /// Returns `λ` as a fraction, or `None` if the time between arrivals is bounded Pareto.
    pub fn exact_rate(&self) -> Option<BigRational> {
        Some(match self {
            Self::Poisson { rate } => rate.exact(),
            Self::Renewal {
                interarrival,
                batch,
            } => interarrival.exact_mean()?.recip() * BigInt::from(*batch),
            Self::MarkovModulated { rates, switching } => {
                let shares = exact_stationary(switching);
                let total: BigRational = shares.iter().sum();
                let pairs = shares.iter().zip(rates);
                let sum: BigRational = pairs.map(|(share, rate)| share * rate.exact()).sum();
                sum / total
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

/// Computes the distribution of an irreducible chain up to a factor, without subtractions
/// (Grassmann, Taksar, Heyman, Operations Research 33, 1985).
fn exact_stationary(switching: &[Vec<Decimal>]) -> Vec<BigRational> {
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
mod tests;
