//! Bounds from prices: whatever a policy does, it works off no more than so much a unit of time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::CertificateError;
use crate::artifact::{Objective, Preemption, ShapeWorth, signs_of_server, worth_of_server};
use crate::workload::{Fleet, JobType, Workload};
use synth_core::artifact::Findings;

/// Prices of some of the types, at which no schedule is worth more than 1.
///
/// # Theory
/// Let `Σ_i v_i u_i ≤ 1` for all schedules. The work `W = Σ v_i × (what is left of each job)` is then served at speed ≤ 1, and if jobs
/// arrive as Poisson processes its mean is at least that of an M/G/1 queue, `w = ½ Σ λ_i v_i² E[S_i²] / (1 − ρ_v)`, `ρ_v = Σ v_i b_i`.
/// If sizes are not known, a job that waits has as much left as its mean size, and one that is not stopped has `λ_i E[S_i²]/2` in all
/// while it runs; of exponential sizes both are the mean size. So the mean numbers x of jobs in the system satisfy
///
/// ```text
/// Σ_i v_i E[S_i] (x_i − b_i) ≥ w − ½ Σ_i v_i λ_i E[S_i²],      x_i ≥ b_i,
/// ```
///
/// and any nonnegative combination of these that is at most the cost bounds it. Such v are the program's prices, of all types or of some.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PriceCut {
    /// The types that have a price, in ascending order.
    pub types: Vec<usize>,
    /// What a job of each of them is worth on each of the servers that it runs on, > 0.
    pub values: Vec<f64>,
    /// What a server of each shape is worth at most; shapes, and units of resources, are those of the fleet that has these types alone.
    pub servers: Vec<ShapeWorth>,
    /// How often the inequality is taken, ≥ 0.
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

/// Rounding of what servers are worth.
const ROUNDING: f64 = 1e-9;

impl PriceCut {
    /// Returns what it says of the mean numbers of jobs. That servers are worth no more is not looked at.
    ///
    /// # Errors
    /// When arrivals are not Poisson, or the types are not the fleet's.
    pub fn inequality(&self, fleet: &Fleet) -> Result<Inequality, CertificateError> {
        let speeds = self.speeds(fleet)?;
        let (mut load, mut squared, mut left) = (0.0, 0.0, 0.0);
        let mut factors = vec![0.0; fleet.types().len()];
        for (&i, speed) in self.types.iter().zip(speeds) {
            let kind = &fleet.types()[i];
            let half = kind.arrival_rate() * kind.holding().moment(2) / 2.0;
            load += speed * kind.offered_load();
            squared += speed * speed * half;
            left += speed * half;
            factors[i] = speed * kind.mean_size();
        }
        let least = squared / (1.0 - load) - left;
        // At a load of 1 there is no queue in steady state.
        let least = if load < 1.0 && least.is_finite() {
            least
        } else {
            0.0
        };
        Ok(Inequality { factors, least })
    }

    /// Returns the part of what all servers are worth at most that a job of each of its types takes while it runs.
    ///
    /// # Errors
    /// When arrivals are not Poisson, or the types are not the fleet's.
    pub(super) fn speeds(&self, fleet: &Fleet) -> Result<Vec<f64>, CertificateError> {
        let part = self.part(fleet)?;
        let shapes = part.shapes().iter().zip(&self.servers);
        let worth: f64 = shapes
            .map(|(shape, own)| f64::from(shape.count()) * own.worth)
            .sum();
        // As much as the check leaves: of the worth, and of what it compares with that.
        let all = worth * (1.0 + 3.0 * ROUNDING);
        let pairs = part.types().iter().zip(&self.values);
        Ok(pairs
            .map(|(kind, value)| value * f64::from(kind.nodes()) / all)
            .collect())
    }

    /// The fleet that has these types alone.
    fn part(&self, fleet: &Fleet) -> Result<Fleet, CertificateError> {
        let laws = |why: &str| CertificateError::Laws(why.into());
        if !fleet.types().iter().all(JobType::is_poisson) {
            return Err(laws("Poisson arrivals"));
        }
        let is_ascending = self.types.windows(2).all(|pair| pair[0] < pair[1]);
        let is_theirs = self.types.last().is_some_and(|i| *i < fleet.types().len());
        let is_priced = self.values.len() == self.types.len()
            && self.values.iter().all(|v| *v > 0.0 && v.is_finite());
        if !(is_ascending && is_theirs && is_priced) {
            return Err(laws(
                "prices above 0 of some of the fleet's types, in their order",
            ));
        }
        let part = fleet
            .only(&self.types)
            .map_err(|why| CertificateError::Laws(why.to_string()))?;
        if part.shapes().len() == self.servers.len() {
            Ok(part)
        } else {
            Err(laws("as many shapes of servers as these types fit on"))
        }
    }

    /// Checks that servers are worth no more.
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

/// Returns the least mean cost that these inequalities prove \[time\]; without any, that of jobs that never wait.
///
/// # Errors
/// When sizes are not exponential with preemption, arrivals not Poisson, or the prices prove nothing.
pub fn check_prices(
    cuts: &[PriceCut],
    fleet: &Fleet,
    objective: Objective,
    preemption: Preemption,
) -> Result<f64, CertificateError> {
    let is_residual_known =
        preemption == Preemption::None || fleet.types().iter().all(JobType::is_memoryless);
    if !is_residual_known && !cuts.is_empty() {
        return Err(CertificateError::Laws(
            "exponential sizes where jobs may be stopped".into(),
        ));
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
    let covers = taken
        .iter()
        .zip(&costs)
        .all(|(taken, cost)| *taken <= cost * (1.0 + ROUNDING));
    if covers && bound.is_finite() {
        Ok(bound * (1.0 - 2.0 * ROUNDING))
    } else {
        Err(CertificateError::Prices(
            "the inequalities are together above the cost".into(),
        ))
    }
}

/// Returns what a job in the system costs (K), so that the mean cost is the objective (Little) \[time\].
///
/// # Errors
/// When the objective is a percentile.
pub fn costs(workload: &Workload, objective: Objective) -> Result<Vec<f64>, CertificateError> {
    let rates = workload.types().iter().map(JobType::arrival_rate);
    match objective {
        Objective::Mean => Ok(vec![1.0 / workload.total_arrival_rate(); rates.len()]),
        Objective::Weighted => {
            let shares = workload.load_shares();
            Ok(shares.iter().zip(rates).map(|(w, l)| w / l).collect())
        }
        Objective::P99 => Err(CertificateError::Laws(
            "means, and not for percentiles".into(),
        )),
    }
}
