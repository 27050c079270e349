//! Arrival processes: Poisson, renewal, modulated by a Markov chain, and in batches.
//!
//! What is proved of loads and stability looks at the mean rate λ alone. How far arrivals are
//! from Poisson is measured by their index of dispersion, `lim Var N(t) / E N(t)`, which is 1 for
//! Poisson; it is to arrivals what the squared coefficient of variation is to sizes.

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

/// How jobs of one type arrive, independently of all else but of what modulates all types.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "process", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ArrivalProcess {
    /// Poisson. A document writes it `arrival_rate: 4`, too.
    Poisson {
        /// Mean number of arrivals \[1/time\], > 0.
        rate: Decimal,
    },
    /// Renewal: the times between arrivals, and before the first one, are independent and of one
    /// law. The mean rate is one over its mean.
    Renewal {
        /// The law of the times between arrivals.
        interarrival: Size,
        /// Number of jobs that arrive at each of these times, 1 to 100 000; 1 if it is left out.
        #[serde(default = "one", skip_serializing_if = "is_one")]
        batch: u32,
    },
    /// Modulated by a Markov chain of 2 to 20 states: Poisson, at a rate that depends on the
    /// state. The chain starts in its stationary law.
    MarkovModulated {
        /// Arrival rate in each state \[1/time\], ≥ 0, not all 0.
        rates: Vec<Decimal>,
        /// Rate from the state of the row to that of the column \[1/time\], ≥ 0, and 0 on the
        /// diagonal; every state leads to every other.
        switching: Vec<Vec<Decimal>>,
    },
    /// Batches that arrive as a Poisson process; how many jobs they have is independent.
    Batches {
        /// Mean number of batches \[1/time\], > 0.
        rate: Decimal,
        /// Numbers of jobs in a batch, 1 to 100 000.
        #[serde(serialize_with = "in_one_line")]
        sizes: Vec<u32>,
        /// Probability of each number, > 0, of sum 1 exactly; as many. Absent where all are
        /// equally probable.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[serde(serialize_with = "in_one_line")]
        probabilities: Option<Vec<Decimal>>,
        /// Part of the batches whose jobs all have one size, in \[0, 1\]: the correlation of the sizes
        /// of two jobs of a batch. Sizes are independent in the other batches, and where it is
        /// absent.
        #[serde(default, skip_serializing_if = "Decimal::is_zero")]
        alike: Decimal,
    },
}

impl ArrivalProcess {
    /// Returns the name of the process, as a document and a record spell it.
    pub fn process(&self) -> &'static str {
        match self {
            Self::Poisson { .. } => "poisson",
            Self::Renewal { .. } => "renewal",
            Self::MarkovModulated { .. } => "markov-modulated",
            Self::Batches { .. } => "batches",
        }
    }

    /// Returns whether the process is Poisson, under whatever name: exponential times between arrivals,
    /// one rate in all states, or batches of one job.
    pub fn is_poisson(&self) -> bool {
        match self {
            Self::Poisson { .. } => true,
            Self::Renewal { batch: 2.., .. } => false,
            Self::Renewal { interarrival, .. } => interarrival.is_exponential(),
            Self::MarkovModulated { rates, .. } => rates.iter().all(|rate| *rate == rates[0]),
            Self::Batches { sizes, .. } => sizes.iter().all(|size| *size == 1),
        }
    }

    /// Part of the batches whose jobs all have one size; 0 where no batch has two jobs.
    pub fn alike(&self) -> f64 {
        match self {
            Self::Batches { alike, .. } if !self.is_poisson() => alike.value(),
            _ => 0.0,
        }
    }

    /// Mean rate λ \[1/time\], over all states and of jobs, not batches.
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

    /// Index of dispersion of counts, `lim Var N(t) / E N(t)`, ≥ 0: 1 for Poisson arrivals.
    ///
    /// For a renewal process the squared coefficient of variation of the times between arrivals, times
    /// the jobs of a batch; for Poisson batches `E[B²]/E[B]`; for a modulated process `1 + 2 Σ_s π_s λ_s h_s / λ`, where h
    /// solves Poisson's equation `Q h = λ − λ_s`, `π h = 0` (h_s: how many more arrivals than the
    /// mean a start in s brings).
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

    /// Returns the stationary law of a modulating chain, of sum 1; `[1]` for all other processes.
    pub fn stationary_law(&self) -> Vec<f64> {
        match self {
            Self::MarkovModulated { switching, .. } => {
                let found = stationary(&chain(switching));
                // Only a draft may be reducible, and is refused for it.
                found.unwrap_or_else(|_| vec![f64::NAN; switching.len()])
            }
            _ => vec![1.0],
        }
    }

    /// Changes of a modulating chain's state \[1/time\]; 0 for all other processes.
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
        // Scaled by the fastest state, so that neither 1π nor Q is lost to rounding beside the other.
        let scale = (0..n).map(|s| -q[(s, s)]).fold(0.0, f64::max);
        let system = DMatrix::from_fn(n, n, |s, t| law[t] - q[(s, t)] / scale);
        let excess = DVector::from_fn(n, |s, _| (rates[s].value() - mean) / scale);
        let Some(ahead) = system.lu().solve(&excess) else {
            return f64::NAN;
        };
        let terms = (0..n).map(|s| law[s] * rates[s].value() / mean * ahead[s]);
        1.0 + 2.0 * terms.sum::<f64>()
    }

    /// `E[B^n]` of the number of jobs in a batch; 1 where there are no batches.
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

    /// Returns the same process with `factor` times as many arrivals: times between arrivals divided,
    /// rates in the states multiplied (the environment does not change with the load), batches
    /// more frequent. `None` where a number leaves the range of doubles.
    pub fn scaled(&self, factor: f64) -> Option<Self> {
        let scaled = |rate: &Decimal| {
            let product = Decimal::new(rate.value() * factor)?;
            // What was positive stays so.
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

    /// Returns whether what is computed from a process without faults is positive and finite in doubles.
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

/// Returns the modulating chain, its nodes in the order of the states.
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
    /// λ as a fraction; `None` where it is none.
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

/// Returns the stationary law of a chain up to a factor, from its rates (off the diagonal), by the
/// elimination of states without a subtraction (Grassmann, Taksar, Heyman, Operations Research 33,
/// 1985). The chain is irreducible: drafts that are not have been refused.
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
