//! Arrival processes: Poisson, renewal, Markov-modulated, and batches.
//!
//! Proofs about load and stability depend only on the mean rate λ. The index of dispersion of
//! counts, `lim Var N(t) / E N(t)`, measures the deviation from Poisson (where it is 1).

use nalgebra::{DMatrix, DVector};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::One;
use petgraph::graph::DiGraph;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Size;
use crate::ctmc::{generator, stationary};
use synth_core::document::in_one_line;
use synth_core::number::Decimal;

/// The arrival process of one job type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "process", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ArrivalProcess {
    /// Poisson. A document may also write `arrival_rate: 4`.
    Poisson {
        /// Mean number of arrivals \[1/time\], > 0.
        rate: Decimal,
    },
    /// A renewal process: times between arrivals, and before the first one, are independent and
    /// identically distributed.
    Renewal {
        /// The distribution of the times between arrivals.
        interarrival: Size,
        /// Number of jobs that arrive together, 1 to 100 000; default 1.
        #[serde(default = "one", skip_serializing_if = "is_one")]
        batch: u32,
    },
    /// A Markov-modulated Poisson process: the rate depends on the state of a Markov chain of 2 to
    /// 20 states that starts in its stationary distribution.
    MarkovModulated {
        /// Arrival rate in each state \[1/time\], ≥ 0, not all 0.
        rates: Vec<Decimal>,
        /// Rate from the state of the row to the state of the column \[1/time\]; ≥ 0, 0 on the
        /// diagonal; every state is reachable from every other.
        switching: Vec<Vec<Decimal>>,
    },
    /// Batches that arrive as a Poisson process, with independent batch sizes.
    Batches {
        /// Mean number of batches \[1/time\], > 0.
        rate: Decimal,
        /// Numbers of jobs in a batch, 1 to 100 000.
        #[serde(serialize_with = "in_one_line")]
        sizes: Vec<u32>,
        /// Probability of each number in `sizes`, > 0, with sum exactly 1; default equal
        /// probabilities.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[serde(serialize_with = "in_one_line")]
        probabilities: Option<Vec<Decimal>>,
        /// Fraction of the batches whose jobs all have the same size, in \[0, 1\]: the correlation
        /// of the sizes of two jobs of a batch. Sizes are independent in the other batches. Default
        /// 0.
        #[serde(default, skip_serializing_if = "Decimal::is_zero")]
        alike: Decimal,
    },
}

impl ArrivalProcess {
    /// Returns the name of the process in documents and records.
    pub fn process(&self) -> &'static str {
        match self {
            Self::Poisson { .. } => "poisson",
            Self::Renewal { .. } => "renewal",
            Self::MarkovModulated { .. } => "markov-modulated",
            Self::Batches { .. } => "batches",
        }
    }

    /// Returns whether the process is Poisson in effect, such as batches of one job.
    pub fn is_poisson(&self) -> bool {
        match self {
            Self::Poisson { .. } => true,
            Self::Renewal { batch: 2.., .. } => false,
            Self::Renewal { interarrival, .. } => interarrival.is_exponential(),
            Self::MarkovModulated { rates, .. } => rates.iter().all(|rate| *rate == rates[0]),
            Self::Batches { sizes, .. } => sizes.iter().all(|size| *size == 1),
        }
    }

    /// Returns the fraction of batches whose jobs have equal sizes; 0 for batches of one job.
    pub fn alike(&self) -> f64 {
        match self {
            Self::Batches { alike, .. } if !self.is_poisson() => alike.value(),
            _ => 0.0,
        }
    }

    /// Returns the mean arrival rate λ of jobs (not batches) \[1/time\].
    pub fn rate(&self) -> f64 {
        match self {
            Self::Poisson { rate } => rate.value(),
            Self::Renewal { interarrival, .. } => self.batch_moment(1) / interarrival.mean(),
            Self::MarkovModulated { rates, .. } => {
                let law = self.stationary_law();
                law.iter().zip(rates).map(|(p, r)| p * r.value()).sum()
            }
            Self::Batches { rate, .. } => rate.value() * self.batch_moment(1),
        }
    }

    /// Returns the index of dispersion of counts, `lim Var N(t) / E N(t)`, ≥ 0; 1 for Poisson
    /// arrivals.
    ///
    /// For a renewal process it is the squared coefficient of variation of interarrival times
    /// multiplied by the batch size; for Poisson batches `E[B²]/E[B]`; for a modulated process `1 +
    /// 2 Σ_s π_s λ_s h_s / λ`, where h solves Poisson's equation `Q h = λ − λ_s`, `π h = 0` (h_s is
    /// the expected number of arrivals in excess of the mean after a start in s).
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

    /// Returns the stationary distribution of the modulating chain; `[1]` for other processes.
    pub fn stationary_law(&self) -> Vec<f64> {
        match self {
            Self::MarkovModulated { switching, .. } => {
                let found = stationary(&chain(switching));
                found.unwrap_or_else(|_| vec![f64::NAN; switching.len()])
            }
            _ => vec![1.0],
        }
    }

    /// Returns the frequency of state changes of a modulating chain \[1/time\], or 0.
    pub fn switching_frequency(&self) -> f64 {
        let Self::MarkovModulated { switching, .. } = self else {
            return 0.0;
        };
        let leave = |row: &Vec<Decimal>| row.iter().map(|x| x.value()).sum::<f64>();
        let law = self.stationary_law();
        let pairs = law.iter().zip(switching);
        pairs.map(|(share, row)| share * leave(row)).sum()
    }

    fn modulated_dispersion(&self, rates: &[Decimal], switching: &[Vec<Decimal>]) -> f64 {
        let (law, mean) = (self.stationary_law(), self.rate());
        let n = law.len();
        let q = generator(&chain(switching));
        // Scaled by the fastest state, so that neither 1π nor Q is lost to rounding.
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
        let (sizes, probabilities) = match self {
            Self::Renewal { batch, .. } => return f64::from(*batch).powi(n),
            Self::Batches {
                sizes,
                probabilities,
                ..
            } => (sizes, probabilities),
            _ => return 1.0,
        };
        let powers = sizes.iter().map(|size| f64::from(*size).powi(n));
        match probabilities {
            Some(probabilities) => powers.zip(probabilities).map(|(b, p)| p.value() * b).sum(),
            None => powers.sum::<f64>() / sizes.len() as f64,
        }
    }

    /// Returns the process with `factor` times as many arrivals; `None` out of the range of
    /// doubles.
    ///
    /// Rates in states are multiplied, since the environment is independent of the load.
    pub fn scaled(&self, factor: f64) -> Option<Self> {
        let scaled = |rate: &Decimal| {
            let product = Decimal::new(rate.value() * factor)?;
            ((product > Decimal::ZERO) == (*rate > Decimal::ZERO)).then_some(product)
        };
        let mut process = self.clone();
        match &mut process {
            Self::Poisson { rate } | Self::Batches { rate, .. } => *rate = scaled(rate)?,
            Self::Renewal { interarrival, .. } => *interarrival = interarrival.divided(factor)?,
            Self::MarkovModulated { rates, .. } => {
                *rates = rates.iter().map(scaled).collect::<Option<_>>()?;
            }
        }
        Some(process)
    }

    /// Returns whether all derived quantities are positive and finite.
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

/// Returns the modulating chain, with nodes in the order of the states.
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
    /// Returns λ as a fraction; `None` if it is irrational.
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

/// Up to a factor, without subtractions (Grassmann, Taksar, Heyman, Operations Research 33, 1985).
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
