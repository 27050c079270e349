//! What is written down of a lower bound, and its check.

use num_bigint::BigInt;
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{One, ToPrimitive, Zero};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::layout::{Constraint, Layout, TypeRates};
use crate::artifact::Objective;
use crate::schedule::{Packing, enumerate};
use crate::workload::{Fleet, JobType};
use synth_core::document::DocumentError;

/// A function V from which a lower bound follows: see [`bound`](super).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BoundCertificate {
    /// Whether policies may stop running jobs.
    pub preempts: bool,
    /// Numbers of jobs of each type below which each has a coordinate of its own (K).
    pub exact: Vec<u32>,
    /// Values of [`Layout`]'s unknowns are the whole numbers times two to this power \[time²\].
    pub exponent: i32,
    /// Those whole numbers.
    pub values: Vec<i64>,
}

/// Why a certificate proves nothing.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// The laws are others than those of the theory.
    #[error("the bound is for {0}")]
    Laws(String),
    /// What can run together cannot be listed.
    #[error("more than {0} schedules, which are all looked at")]
    Schedules(usize),
    /// It is of another shape.
    #[error("{found} values of V, and its cells and schedules have {expected}")]
    Shape {
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// It says more than it proves.
    #[error("the bound is {found}, and what is proved is {proved}")]
    Beyond {
        /// As it is written.
        found: f64,
        /// What the proof gives.
        proved: f64,
    },
    /// It is of another version.
    #[error("a bound of version {0}, and this synth reads version 2")]
    Version(u32),
    /// Its workload is faulty.
    #[error(transparent)]
    Workload(DocumentError),
    /// Prices do not prove what they should.
    #[error("the prices prove no bound: {0}")]
    Prices(String),
    /// What has to hold does not, at this place.
    #[error("V does not prove a bound: what has to hold does not with {:?} jobs of the types", .0.state.jobs)]
    Fails(Constraint),
}

/// What a job in the system costs: its weight (K) over the divisor, so that the mean cost is the objective (Little).
#[derive(Clone, Debug)]
pub struct Costs {
    /// Weights (K), ≥ 0.
    pub weights: Vec<BigRational>,
    /// What they are divided by, > 0.
    pub divisor: BigRational,
}

impl Costs {
    /// Returns those of an objective, and the laws in fractions.
    ///
    /// # Errors
    /// Where sizes are not exponential, arrivals not Poisson, jobs do not start at once, or the objective is a percentile.
    pub fn new(
        fleet: &Fleet,
        objective: Objective,
    ) -> Result<(Self, TypeRates<BigRational>), CertificateError> {
        let laws = |why: &str| CertificateError::Laws(why.into());
        if fleet.envelope().start_latency().is_some() {
            return Err(laws("jobs that start at once, without `start_latency`"));
        }
        let exact = |job: &JobType| {
            let is_theirs = job.is_poisson() && job.is_memoryless();
            let pair = Some((job.arrivals().exact_rate()?, job.holding().exact_mean()?));
            pair.filter(|_| is_theirs)
        };
        let pairs: Option<Vec<_>> = fleet.types().iter().map(exact).collect();
        let pairs = pairs.ok_or_else(|| laws("Poisson arrivals and exponential sizes"))?;
        let (arrivals, means): (Vec<BigRational>, Vec<BigRational>) = pairs.into_iter().unzip();
        let weights = match objective {
            Objective::Mean => vec![BigRational::one(); means.len()],
            // The load that a job brings, by its dominant demand.
            Objective::Weighted => {
                let shares = (0..means.len()).map(|i| dominant(fleet, i));
                shares
                    .zip(&means)
                    .map(|(share, mean)| share * mean)
                    .collect()
            }
            Objective::P99 => return Err(laws("means, and not for percentiles")),
        };
        let divisor = weights.iter().zip(&arrivals).map(|(w, l)| w * l).sum();
        let service = means.into_iter().map(|mean| mean.recip()).collect();
        Ok((Costs { weights, divisor }, TypeRates { arrivals, service }))
    }
}

/// `g_i max_j D_ij/P_j` as a fraction.
fn dominant(fleet: &Fleet, i: usize) -> BigRational {
    let (job, resources) = (&fleet.types()[i], fleet.envelope().resources());
    let shares = job.demand().iter().zip(resources);
    let shares = shares.map(|(d, r)| d.exact() / r.capacity().exact());
    let largest = shares.max().unwrap_or_else(BigRational::zero);
    largest * BigInt::from(job.nodes())
}

/// Returns what can run together on all servers as if they were one, if that are at most `most` schedules.
pub fn pooled(fleet: &Fleet, most: usize) -> Option<Vec<Vec<u32>>> {
    let found = enumerate(&Packing::pooled(fleet)?, most);
    found.complete.then_some(found.schedules)
}

impl BoundCertificate {
    /// The most schedules of a system of which bounds are proved by cells.
    pub const MOST_SCHEDULES: usize = 5_000;

    /// Rounds the unknowns, so that each is a whole number below 2^52 times a power of two.
    pub fn rounded(preempts: bool, exact: Vec<u32>, values: &[f64]) -> Self {
        let largest = values
            .iter()
            .fold(f64::MIN_POSITIVE, |most, v| most.max(v.abs()));
        let exponent = largest.log2().ceil() as i32 - 52;
        let scale = (-f64::from(exponent)).exp2();
        BoundCertificate {
            preempts,
            exact,
            exponent,
            values: values.iter().map(|v| (v * scale).round() as i64).collect(),
        }
    }

    /// Returns the bound that V proves for this fleet \[time\], rounded down: no policy has less.
    ///
    /// # Errors
    /// When the laws are others, V is of another shape, or proves none.
    pub fn check(&self, fleet: &Fleet, objective: Objective) -> Result<f64, CertificateError> {
        let (costs, rates) = Costs::new(fleet, objective)?;
        let schedules = pooled(fleet, Self::MOST_SCHEDULES);
        let schedules = schedules.ok_or(CertificateError::Schedules(Self::MOST_SCHEDULES))?;
        let layout = Layout::new(schedules, self.exact.clone(), self.preempts);
        let is_shaped = self.exact.len() == fleet.types().len()
            && self.exact.iter().all(|e| *e < 1000)
            && EXPONENTS.contains(&self.exponent);
        let expected = if is_shaped { layout.unknowns() } else { 0 };
        if !is_shaped || self.values.len() != expected {
            let found = self.values.len();
            return Err(CertificateError::Shape { found, expected });
        }
        self.proved(&layout, &costs, &rates)
    }

    /// The least of cost and drift over all states, all else being as it has to be. Everything is counted in one quantum: rates in
    /// whole numbers over `unit`, V in whole numbers times two to the power `exponent`.
    fn proved(
        &self,
        layout: &Layout,
        costs: &Costs,
        rates: &TypeRates<BigRational>,
    ) -> Result<f64, CertificateError> {
        let both = rates.arrivals.iter().chain(&rates.service);
        let unit = both.fold(BigInt::one(), |unit, rate| unit.lcm(rate.denom()));
        let whole = |rates: &[BigRational]| -> Vec<BigInt> {
            let each = rates
                .iter()
                .map(|rate| rate.numer() * (&unit / rate.denom()));
            each.collect()
        };
        let rates = TypeRates {
            arrivals: whole(&rates.arrivals),
            service: whole(&rates.service),
        };
        let two = BigRational::from(BigInt::from(2)).pow(self.exponent);
        // A sum of whole numbers is so much drift, over the divisor.
        let quantum = two / BigRational::from(unit);
        let costs: Vec<BigRational> = costs.weights.iter().map(|w| w / &costs.divisor).collect();
        let in_quanta: Vec<BigRational> = costs.iter().map(|c| c / &quantum).collect();
        let values: Vec<BigInt> = self.values.iter().map(|v| BigInt::from(*v)).collect();
        let mut least: Option<BigRational> = None;
        let mut failing = None;
        layout.each_row(|row| {
            let mut sum = BigInt::zero();
            layout.form(&row, &rates, &mut |unknown, by: BigInt| {
                sum += by * &values[unknown]
            });
            let holds = match (row.after, row.grows) {
                (None, None) => {
                    let jobs = row.state.jobs.iter().zip(&in_quanta);
                    let cost: BigRational = jobs.map(|(q, c)| c * BigInt::from(*q)).sum();
                    let here = cost + BigRational::from(sum);
                    if least.as_ref().is_none_or(|least| here < *least) {
                        least = Some(here);
                    }
                    true
                }
                (None, Some(j)) => {
                    in_quanta[j].clone() + BigRational::from(sum) >= BigRational::zero()
                }
                (Some(_), _) => sum >= BigInt::zero(),
            };
            if !holds {
                failing = Some(row);
            }
            failing.is_none()
        });
        match (failing, least) {
            (Some(row), _) => Err(CertificateError::Fails(row)),
            (None, least) => Ok(down(&(least.unwrap_or_else(BigRational::zero) * quantum))),
        }
    }
}

/// Those of all doubles: a power beyond them is no value, and takes long to write out.
const EXPONENTS: std::ops::RangeInclusive<i32> = -1200..=1200;

/// Returns a double that is not above a fraction, and at least 0, which every mean is.
fn down(fraction: &BigRational) -> f64 {
    let near = fraction.to_f64().unwrap_or(0.0);
    let is_above = BigRational::from_float(near).is_none_or(|near| near > *fraction);
    let low = if is_above { near.next_down() } else { near };
    if low.is_finite() { low.max(0.0) } else { 0.0 }
}
