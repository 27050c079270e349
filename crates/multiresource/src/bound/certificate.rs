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

/// The values of a function V that proves a lower bound; see [`bound`](super).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BoundCertificate {
    /// Whether the bound is also valid for policies with preemption.
    pub preempts: bool,
    /// For each type (K), each number of jobs below this one has its own coordinate, and all of the
    /// larger numbers share one.
    pub exact: Vec<u32>,
    /// The unknowns of [`Layout`] are `values` times two to this power \[time²\].
    pub exponent: i32,
    /// The unknowns as integers.
    pub values: Vec<i64>,
}

/// The reason why a certificate proves no bound.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// The bound does not apply to this workload or objective.
    #[error("this bound requires {0}")]
    Unsupported(String),
    /// There are too many schedules to enumerate.
    #[error("the check enumerates all schedules, and there are more than {0}")]
    Schedules(usize),
    /// The number of values does not match the layout.
    #[error("the certificate has {found} values of V; its cells and schedules require {expected}")]
    Shape {
        /// Number of values in the certificate.
        found: usize,
        /// Number of unknowns of the layout.
        expected: usize,
    },
    /// The bound in the document is greater than the bound that was proved.
    #[error("the stated bound is {found}, but the certificate proves only {proved}")]
    Overstated {
        /// The stated bound.
        found: f64,
        /// The proved bound.
        proved: f64,
    },
    /// The version of the document is not supported.
    #[error("the bound has version {0}; this synth reads version 2")]
    Version(u32),
    /// The recorded workload is invalid.
    #[error(transparent)]
    Workload(DocumentError),
    /// One of the conditions on the prices does not hold.
    #[error("the prices do not prove a bound: {0}")]
    Prices(String),
    /// A constraint on V is violated.
    #[error("V does not prove a bound: a constraint is violated in the state with {:?} jobs of the types", .0.state.jobs)]
    Fails(Constraint),
}

/// The exact cost rate of a job of each type, which is its weight over the divisor. The mean cost
/// is then the objective (Little).
#[derive(Clone, Debug)]
pub struct Costs {
    /// The weight of each type (K), which is nonnegative.
    pub weights: Vec<BigRational>,
    /// The common divisor of the weights, > 0.
    pub divisor: BigRational,
}

impl Costs {
    /// Returns the costs for the given objective, and the rates of all types as fractions.
    ///
    /// # Errors
    /// If the arrivals are not Poisson, the sizes are not exponential, there is a start latency, or
    /// the objective is a percentile.
    pub fn new(
        fleet: &Fleet,
        objective: Objective,
    ) -> Result<(Self, TypeRates<BigRational>), CertificateError> {
        let laws = |why: &str| CertificateError::Unsupported(why.into());
        if fleet.envelope().start_latency().is_some() {
            return Err(laws("jobs that start immediately, without `start_latency`"));
        }
        let exact = |job: &JobType| {
            let is_theirs = job.is_poisson() && job.is_memoryless();
            let pair = Some((
                job.arrivals().exact_rate()?,
                job.holding_time().exact_mean()?,
            ));
            pair.filter(|_| is_theirs)
        };
        let pairs: Option<Vec<_>> = fleet.types().iter().map(exact).collect();
        let pairs = pairs.ok_or_else(|| laws("Poisson arrivals and exponential sizes"))?;
        let (arrivals, means): (Vec<BigRational>, Vec<BigRational>) = pairs.into_iter().unzip();
        let weights = match objective {
            Objective::Mean => vec![BigRational::one(); means.len()],
            Objective::Weighted => {
                let shares = (0..means.len()).map(|i| dominant(fleet, i));
                shares
                    .zip(&means)
                    .map(|(share, mean)| share * mean)
                    .collect()
            }
            Objective::P99 => return Err(laws("a mean as the objective, not a percentile")),
        };
        let divisor = weights.iter().zip(&arrivals).map(|(w, l)| w * l).sum();
        let service = means.into_iter().map(|mean| mean.recip()).collect();
        Ok((Costs { weights, divisor }, TypeRates { arrivals, service }))
    }
}

/// Returns `g_i max_j D_ij/P_j`, which is the dominant share of a job.
fn dominant(fleet: &Fleet, i: usize) -> BigRational {
    let (job, resources) = (&fleet.types()[i], fleet.envelope().resources());
    let shares = job.demand().iter().zip(resources);
    let shares = shares.map(|(d, r)| d.exact() / r.capacity().exact());
    let largest = shares.max().unwrap_or_else(BigRational::zero);
    largest * BigInt::from(job.nodes())
}

/// Returns the schedules of all servers pooled into one; `None` if there are more than `most`, or
/// the total capacity overflows.
pub fn pooled(fleet: &Fleet, most: usize) -> Option<Vec<Vec<u32>>> {
    let found = enumerate(&Packing::pooled(fleet)?, most);
    found.complete.then_some(found.schedules)
}

impl BoundCertificate {
    /// The maximum number of schedules for which a function V can be checked.
    pub const MAX_SCHEDULES: usize = 5_000;

    /// Rounds the unknowns to integers below 2^52 times a common power of two.
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

    /// Returns the lower bound that V proves for this fleet \[time\], rounded down.
    pub fn check(&self, fleet: &Fleet, objective: Objective) -> Result<f64, CertificateError> {
        let (costs, rates) = Costs::new(fleet, objective)?;
        let schedules = pooled(fleet, Self::MAX_SCHEDULES);
        let schedules = schedules.ok_or(CertificateError::Schedules(Self::MAX_SCHEDULES))?;
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

    /// Returns the minimum of cost plus drift over all states, if all other constraints hold. All
    /// terms are expressed in the same quantum: the rates are integers over `unit`, and V is an
    /// integer times two to the power `exponent`.
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
            let holds = match (row.started, row.growing_type) {
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

/// The range of the exponents of doubles. Larger powers would be slow to compute.
const EXPONENTS: std::ops::RangeInclusive<i32> = -1200..=1200;

/// Returns a double that is not greater than the fraction, but at least 0, like every mean.
fn down(fraction: &BigRational) -> f64 {
    let near = fraction.to_f64().unwrap_or(0.0);
    let is_above = BigRational::from_float(near).is_none_or(|near| near > *fraction);
    let low = if is_above { near.next_down() } else { near };
    if low.is_finite() { low.max(0.0) } else { 0.0 }
}
