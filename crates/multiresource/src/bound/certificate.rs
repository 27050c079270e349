use num_bigint::BigInt;
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{One, ToPrimitive, Zero};
use serde::{Deserialize, Serialize};

use super::layout::{Constraint, Layout, TypeRates};
use crate::artifact::Objective;
use crate::schedule::{Packing, enumerate};
use crate::workload::{Fleet, JobType, Resource};
use synth_core::document::DocumentError;

/// The values of a function V that proves a lower bound; see [`bound`](super).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoundCertificate {
    /// Whether the bound is also valid for policies with preemption.
    pub preempts: bool,
    /// For each type (K), the number of jobs from which on all numbers share one coordinate.
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
    /// The number of values is not the number of unknowns of the layout, which is the second one.
    #[error("the certificate has {0} values of V; its cells and schedules require {1}")]
    Shape(usize, usize),
    /// The stated bound is greater than the proved one, which is the second one.
    #[error("the stated bound is {0}, but the certificate proves only {1}")]
    Overstated(f64, f64),
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
    #[error("V does not prove a bound: a constraint is violated in the state with {:?} jobs of the types", .0.jobs)]
    Fails(Constraint),
}

pub(super) fn unsupported(why: impl Into<String>) -> CertificateError {
    CertificateError::Unsupported(why.into())
}

/// Returns the costs of [`costs`](super::costs) as fractions, and the rates of all types.
///
/// # Errors
/// If the arrivals are not Poisson, the sizes are not exponential, there is a start latency, or the
/// objective is a percentile.
pub fn exact_costs(
    fleet: &Fleet,
    objective: Objective,
) -> Result<(Vec<BigRational>, TypeRates<BigRational>), CertificateError> {
    if fleet.envelope().start_latency().is_some() {
        let why = "jobs that start immediately, without `start_latency`";
        return Err(unsupported(why));
    }
    let exact = |job: &JobType| {
        let is_supported = job.is_poisson() && job.is_memoryless();
        let rate = job.arrivals().exact_rate().filter(|_| is_supported)?;
        Some((rate, job.holding_time().exact_mean()?))
    };
    let pairs: Option<(Vec<_>, Vec<_>)> = fleet.types().iter().map(exact).collect();
    let unknown = || unsupported("Poisson arrivals and exponential sizes");
    let (arrivals, means) = pairs.ok_or_else(unknown)?;
    let weights: Vec<BigRational> = match objective {
        Objective::Mean => vec![BigRational::one(); means.len()],
        Objective::Weighted => {
            let pairs = fleet.types().iter().zip(&means);
            let resources = fleet.envelope().resources();
            let loads = pairs.map(|(job, mean)| dominant_share(job, resources) * mean);
            loads.collect()
        }
        Objective::P99 => return Err(unsupported(NO_PERCENTILE)),
    };
    let divisor: BigRational = weights.iter().zip(&arrivals).map(|(w, l)| w * l).sum();
    let costs = weights.into_iter().map(|w| w / &divisor).collect();
    let service = means.into_iter().map(|mean| mean.recip()).collect();
    Ok((costs, TypeRates { arrivals, service }))
}

pub(super) const NO_PERCENTILE: &str = "a mean as the objective, not a percentile";

/// Returns `g max_j D_j/P_j`, which is the dominant share of a job.
fn dominant_share(job: &JobType, resources: &[Resource]) -> BigRational {
    let pairs = job.demand().iter().zip(resources);
    let shares = pairs.map(|(d, r)| d.exact() / r.capacity().exact());
    shares.max().unwrap_or_else(BigRational::zero) * BigInt::from(job.nodes())
}

/// Returns the schedules of [`Packing::pooled`], or `None` if there are more than `most`.
pub fn pooled(fleet: &Fleet, most: usize) -> Option<Vec<Vec<u32>>> {
    let found = enumerate(&Packing::pooled(fleet)?, most);
    found.complete.then_some(found.schedules)
}

impl BoundCertificate {
    /// The maximum number of schedules for which a function V can be checked.
    pub const MAX_SCHEDULES: usize = 5_000;

    /// Rounds the unknowns to integers below 2^52 times a common power of two.
    pub fn rounded(preempts: bool, exact: Vec<u32>, values: &[f64]) -> Self {
        let sizes = values.iter().map(|v| v.abs());
        let largest = sizes.fold(f64::MIN_POSITIVE, f64::max);
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
        let (costs, rates) = exact_costs(fleet, objective)?;
        let schedules = pooled(fleet, Self::MAX_SCHEDULES);
        let schedules = schedules.ok_or(CertificateError::Schedules(Self::MAX_SCHEDULES))?;
        let layout = Layout::new(schedules, self.exact.clone(), self.preempts);
        let is_shaped = self.exact.len() == fleet.types().len()
            && self.exact.iter().all(|e| *e < 1000)
            && EXPONENTS.contains(&self.exponent);
        let expected = if is_shaped { layout.unknowns() } else { 0 };
        if !is_shaped || self.values.len() != expected {
            return Err(CertificateError::Shape(self.values.len(), expected));
        }
        self.proved(&layout, &costs, &rates)
    }

    /// Returns the minimum of cost plus drift over all states, if all other constraints hold. The
    /// rates are integers over `unit`, and V is an integer times two to the power `exponent`.
    fn proved(
        &self,
        layout: &Layout,
        costs: &[BigRational],
        rates: &TypeRates<BigRational>,
    ) -> Result<f64, CertificateError> {
        let both = rates.arrivals.iter().chain(&rates.service);
        let unit = both.fold(BigInt::one(), |unit, rate| unit.lcm(rate.denom()));
        let whole = |rate: &BigRational| rate.numer() * (&unit / rate.denom());
        let rates = TypeRates {
            arrivals: rates.arrivals.iter().map(whole).collect(),
            service: rates.service.iter().map(whole).collect(),
        };
        let two = BigRational::from(BigInt::from(2)).pow(self.exponent);
        let quantum = two / BigRational::from(unit);
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
                    let jobs = row.jobs.iter().zip(&in_quanta);
                    let cost: BigRational = jobs.map(|(q, c)| c * BigInt::from(*q)).sum();
                    let here = cost + BigRational::from(sum);
                    least = least.take().into_iter().chain([here]).min();
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
        match failing {
            Some(row) => Err(CertificateError::Fails(row)),
            None => Ok(down(&(least.unwrap_or_else(BigRational::zero) * quantum))),
        }
    }
}

/// Larger powers than those of doubles would be slow to compute.
const EXPONENTS: std::ops::RangeInclusive<i32> = -1200..=1200;

/// Returns a double that is not greater than the fraction, but at least 0, like every mean.
fn down(fraction: &BigRational) -> f64 {
    let near = fraction.to_f64().unwrap_or(0.0);
    let is_above = BigRational::from_float(near).is_none_or(|near| near > *fraction);
    let low = if is_above { near.next_down() } else { near };
    if low.is_finite() { low.max(0.0) } else { 0.0 }
}
