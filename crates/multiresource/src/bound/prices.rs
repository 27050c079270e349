use serde::{Deserialize, Serialize};

use super::CertificateError;
use super::certificate::{NO_PERCENTILE, unsupported};
use crate::artifact::{Objective, Preemption, ShapeValue, signs_of_server, worth_of_server};
use crate::workload::{Fleet, JobType, Workload};
use synth_core::artifact::Findings;

/// A list of prices for some of the types, such that no schedule is worth more than 1.
///
/// # Theory
/// Assume that `Σ_i v_i u_i ≤ 1` for all schedules. Then the work
/// `W = Σ v_i × (remaining size of each job)` is served at a rate of at most 1. If the arrivals are
/// Poisson, its mean is at least as large as the mean of an M/G/1 queue,
/// `w = ½ Σ λ_i v_i² E[S_i²] / (1 − ρ_v)` with `ρ_v = Σ v_i b_i`. If sizes are unknown, a waiting
/// job has its mean size remaining, and running jobs have `λ_i E[S_i²]/2` in total if they are not
/// interrupted or sizes are exponential. So the mean numbers x of jobs in the system satisfy
///
/// ```text
/// Σ_i v_i E[S_i] (x_i − b_i) ≥ w − ½ Σ_i v_i λ_i E[S_i²],      x_i ≥ b_i,
/// ```
///
/// If the coefficients of a nonnegative combination of these inequalities are at most the costs,
/// then it is a lower bound on the mean cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceCut {
    /// The types that have a price, in ascending order.
    pub types: Vec<usize>,
    /// Value of a job of each of them on each server that it runs on, > 0.
    pub values: Vec<f64>,
    /// The maximum value of a server of each shape, with the shapes and units of [`Fleet::only`].
    pub servers: Vec<ShapeValue>,
    /// The factor of the inequality in the combination, ≥ 0.
    pub weight: f64,
}

/// `Σ_i a_i (x_i − b_i) ≥ k`.
#[derive(Clone, Debug)]
pub struct Inequality {
    /// a (K).
    pub factors: Vec<f64>,
    /// k.
    pub least: f64,
}

/// The relative tolerance for the value of a server.
const ROUNDING: f64 = 1e-9;

impl PriceCut {
    /// Returns the inequality, without checking the value of the servers.
    pub fn inequality(&self, fleet: &Fleet) -> Result<Inequality, CertificateError> {
        let speeds = self.value_fractions(fleet)?;
        let (mut load, mut squared, mut left) = (0.0, 0.0, 0.0);
        let mut factors = vec![0.0; fleet.types().len()];
        for (&i, speed) in self.types.iter().zip(speeds) {
            let kind = &fleet.types()[i];
            let half = kind.arrival_rate() * kind.holding_time().moment(2) / 2.0;
            load += speed * kind.offered_load();
            squared += speed * speed * half;
            left += speed * half;
            factors[i] = speed * kind.mean_size();
        }
        let least = squared / (1.0 - load) - left;
        let is_steady = load < 1.0 && least.is_finite();
        let least = if is_steady { least } else { 0.0 };
        Ok(Inequality { factors, least })
    }

    /// Returns the fraction of the value of all servers that a running job takes, per type.
    pub(super) fn value_fractions(&self, fleet: &Fleet) -> Result<Vec<f64>, CertificateError> {
        let part = self.part(fleet)?;
        let shapes = part.shapes().iter().zip(&self.servers);
        let worths = shapes.map(|(shape, own)| f64::from(shape.count()) * own.worth);
        // Allows for the tolerances of the check of `worth` and of the comparison with it.
        let all = worths.sum::<f64>() * (1.0 + 3.0 * ROUNDING);
        let pairs = part.types().iter().zip(&self.values);
        let fractions = pairs.map(|(kind, value)| value * f64::from(kind.nodes()) / all);
        Ok(fractions.collect())
    }

    fn part(&self, fleet: &Fleet) -> Result<Fleet, CertificateError> {
        if !fleet.types().iter().all(JobType::is_poisson) {
            return Err(unsupported("Poisson arrivals"));
        }
        let is_ascending = self.types.windows(2).all(|pair| pair[0] < pair[1]);
        let is_in_range = self.types.last().is_some_and(|i| *i < fleet.types().len());
        let is_priced = self.values.len() == self.types.len()
            && self.values.iter().all(|v| *v > 0.0 && v.is_finite());
        if !(is_ascending && is_in_range && is_priced) {
            let why = "positive prices of some of the fleet's types, in the order of the types";
            return Err(unsupported(why));
        }
        let part = fleet.only(&self.types);
        let part = part.map_err(|why| unsupported(why.to_string()))?;
        if part.shapes().len() != self.servers.len() {
            let why = "one server value per server shape that these types fit on";
            return Err(unsupported(why));
        }
        Ok(part)
    }

    pub(super) fn check(&self, fleet: &Fleet) -> Result<(), CertificateError> {
        let part = self.part(fleet)?;
        let mut findings = Findings::default();
        for (shape, own) in part.shapes().iter().zip(&self.servers) {
            signs_of_server(own, shape.server(), &mut findings);
            if findings.first().is_some() {
                break;
            }
            let values: Vec<f64> = shape.types().iter().map(|i| self.values[*i]).collect();
            worth_of_server(own, &values, shape.server(), &mut findings);
        }
        match findings.first() {
            None => Ok(()),
            Some(why) => Err(CertificateError::Prices(why.to_string())),
        }
    }
}

/// Returns the lower bound that these inequalities prove \[time\]; without them, no job waits.
pub fn check_prices(
    cuts: &[PriceCut],
    fleet: &Fleet,
    objective: Objective,
    preemption: Preemption,
) -> Result<f64, CertificateError> {
    let is_residual_known =
        preemption == Preemption::None || fleet.types().iter().all(JobType::is_memoryless);
    if !is_residual_known && !cuts.is_empty() {
        return Err(unsupported("exponential sizes if jobs can be preempted"));
    }
    let costs = costs(fleet.envelope(), objective)?;
    let types = fleet.types().iter().zip(&costs);
    let mut bound: f64 = types.map(|(kind, c)| c * kind.offered_load()).sum();
    let mut taken = vec![0.0; costs.len()];
    for cut in cuts.iter().filter(|cut| cut.weight > 0.0) {
        cut.check(fleet)?;
        let Inequality { factors, least } = cut.inequality(fleet)?;
        bound += cut.weight * least;
        for (taken, factor) in taken.iter_mut().zip(factors) {
            *taken += cut.weight * factor;
        }
    }
    let mut pairs = taken.iter().zip(&costs);
    if bound.is_finite() && pairs.all(|(taken, cost)| *taken <= cost * (1.0 + ROUNDING)) {
        return Ok(bound * (1.0 - 2.0 * ROUNDING));
    }
    let why = "the combination of the inequalities exceeds the cost";
    Err(CertificateError::Prices(why.into()))
}

/// Returns the cost rate of a job per type (K), so that the mean cost is the objective (Little). It
/// is an error if the objective is a percentile.
pub fn costs(workload: &Workload, objective: Objective) -> Result<Vec<f64>, CertificateError> {
    let rates = workload.types().iter().map(JobType::arrival_rate);
    match objective {
        Objective::Mean => Ok(vec![1.0 / workload.total_arrival_rate(); rates.len()]),
        Objective::Weighted => {
            let shares = workload.load_shares();
            Ok(shares.iter().zip(rates).map(|(w, l)| w / l).collect())
        }
        Objective::P99 => Err(unsupported(NO_PERCENTILE)),
    }
}
