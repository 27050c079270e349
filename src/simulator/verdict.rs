use serde::Serialize;

use super::{Estimate, Health, Run};
use crate::artifact::{Artifact, Claim, Quantity};
use crate::workload::Workload;

/// What a run says of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Not refuted, and the 95 % interval is narrower than ±5 %.
    Confirmed,
    /// The claim lies outside an interval so wide that a right artifact has one chance in a
    /// thousand to see any of its claims refuted; or the run is unstable.
    Refuted,
    /// Not refuted, but the interval is too wide to say more.
    NotEnoughEvidence,
    /// A run of this policy cannot tell (the load, the largest stable rate: these are proved).
    NotExamined,
}

/// A claim beside what was measured.
#[derive(Clone, Debug, Serialize)]
pub struct Judgement {
    /// The claim.
    pub claim: Claim,
    /// What the run measured of it.
    pub measured: Option<Estimate>,
    /// The verdict.
    pub verdict: Verdict,
}

/// The chance that a right artifact has any claim refuted.
const FALSE_ALARM: f64 = 1e-3;

/// Judges all claims by a run under the conditions that they hold for.
pub fn judge(artifact: &Artifact, workload: &Workload, run: &Run) -> Vec<Judgement> {
    let examined_claims = artifact.claims.iter().filter(|c| examined(c)).count();
    let confidence = 1.0 - FALSE_ALARM / examined_claims.max(1) as f64;
    let judged = |claim: &Claim| {
        let measured = measured(claim, artifact, workload, run);
        let verdict = match (examined(claim), run.health, measured) {
            (false, ..) => Verdict::NotExamined,
            (_, Health::Unstable, _) => Verdict::Refuted,
            (_, _, Some(m)) if !m.covers(claim.value, confidence) => Verdict::Refuted,
            (_, _, Some(m)) if m.relative() <= 0.05 => Verdict::Confirmed,
            _ => Verdict::NotEnoughEvidence,
        };
        Judgement {
            claim: claim.clone(),
            measured,
            verdict,
        }
    };
    artifact.claims.iter().map(judged).collect()
}

fn examined(claim: &Claim) -> bool {
    match claim.quantity {
        Quantity::Load | Quantity::MeanSchedule => claim.job_type.is_some(),
        // All of the time is no estimate.
        Quantity::WorkingTime => claim.value < 1.0,
        Quantity::SwitchingFrequency => true,
        Quantity::LargestStableSwitchingRate => false,
    }
}

fn measured(
    claim: &Claim,
    artifact: &Artifact,
    workload: &Workload,
    run: &Run,
) -> Option<Estimate> {
    let i = workload
        .types()
        .iter()
        .position(|t| Some(t.name()) == claim.job_type.as_deref());
    let offered = || run.types[i?].mean_offered;
    match claim.quantity {
        Quantity::MeanSchedule => offered(),
        // ρ_i = b_i / E[u_i]: to first order the relative error is the same.
        Quantity::Load => offered().map(|u| {
            let load = workload.types()[i.unwrap_or(0)].offered_load() / u.mean;
            rescaled(u, load / u.mean)
        }),
        Quantity::SwitchingFrequency => run.switching_frequency,
        // Every switch ends a stay on a working schedule, of mean 1/α.
        Quantity::WorkingTime if artifact.policy.order.len() > 1 => run
            .switching_frequency
            .map(|f| rescaled(f, 1.0 / artifact.policy.switching_rate)),
        Quantity::WorkingTime | Quantity::LargestStableSwitchingRate => None,
    }
}

fn rescaled(estimate: Estimate, factor: f64) -> Estimate {
    Estimate {
        mean: estimate.mean * factor,
        half_width: estimate.half_width * factor,
        standard_error: estimate.standard_error * factor,
    }
}
