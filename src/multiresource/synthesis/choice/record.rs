//! The record of a choice in an artifact.

use super::course::{Course, REPLICATIONS, slowdown_ratio};
use super::finals::{Entrant, Standing};
use super::{ChoiceOptions, Synthesis};
use crate::multiresource::artifact::{
    Artifact, Candidate, Choice, Claim, Conditions, Family, Interval, Method, Mix, Provenance,
    Quantity,
};
use crate::multiresource::policy::knobs;
use crate::multiresource::simulator::{Estimate, Run};
use crate::multiresource::workload::Workload;

impl From<Estimate> for Interval {
    fn from(estimate: Estimate) -> Self {
        Interval {
            mean: estimate.mean,
            half_width: estimate.half_width,
        }
    }
}

pub(super) fn choice(course: &Course<'_>, options: &ChoiceOptions, standing: &Standing) -> Choice {
    let candidates = standing.order.iter().enumerate();
    Choice {
        objective: course.objective,
        max_slowdown_ratio: options.max_slowdown_ratio,
        seed: options.seed,
        replications: REPLICATIONS,
        budget: options.budget,
        events: course.spent,
        decided: standing.decided,
        candidates: candidates
            .map(|(n, entrant)| {
                let ratio = (n > 0).then(|| standing.ratio(course, entrant)).flatten();
                candidate(course, entrant, ratio)
            })
            .collect(),
    }
}

fn candidate(course: &Course<'_>, entrant: &Entrant, ratio: Option<Estimate>) -> Candidate {
    let run = entrant.last();
    let value = run.and_then(|run| course.value(run));
    Candidate {
        name: entrant.name.into(),
        knobs: entrant
            .policy
            .as_ref()
            .and_then(|p| knobs(p, course.workload)),
        tried: entrant.tried,
        outcome: entrant.outcome(course),
        value: value.map(Into::into),
        ratio: ratio.filter(|_| value.is_some()).map(Into::into),
        fairness: run.and_then(|run| run.fairness).filter(|_| value.is_some()),
        slowdown_ratio: run.and_then(slowdown_ratio).filter(|_| value.is_some()),
    }
}

/// The artifact of a policy: as it was synthesized, if it is a Markovian Service Rate policy; else
/// with the program's proof of the load, and what was simulated.
pub(super) fn artifact(
    made: &Synthesis,
    policy: &Family,
    run: &Run,
    choice: Choice,
    workload: &Workload,
) -> Artifact {
    let synthesized = made.artifact.clone();
    let mut options = synthesized.provenance.options.clone();
    options.extend([
        format!("seed: {}", choice.seed),
        format!("budget: {:e}", choice.budget as f64),
    ]);
    let provenance = Provenance {
        options,
        choice: Some(choice),
        ..synthesized.provenance
    };
    if policy.msr().is_some() {
        return Artifact {
            provenance,
            ..synthesized
        };
    }
    let mut certificate = synthesized.certificate;
    certificate.balance = None;
    certificate.mix.get_or_insert_with(|| Mix {
        schedules: made.policy.schedules.clone(),
        weights: made.policy.weights.clone(),
    });
    let load = |c: &Claim| c.method == Method::ExactProgram;
    let mut claims: Vec<Claim> = synthesized.claims.into_iter().filter(load).collect();
    claims.extend(simulated(run, workload));
    Artifact {
        policy: policy.clone(),
        claims,
        certificate,
        provenance: Provenance {
            drains: None,
            phases: None,
            tuning: None,
            what_if: None,
            ..provenance
        },
        ..synthesized
    }
}

/// What a run measured, as claims.
pub(super) fn simulated(run: &Run, workload: &Workload) -> Vec<Claim> {
    let claim = |quantity: Quantity, job_type: Option<&str>, measured: Option<Estimate>| {
        // What is too rare to be measured is not claimed.
        let told = measured.filter(|e| e.mean > 0.0 && e.half_width < e.mean);
        told.map(|measured| Claim {
            quantity,
            job_type: job_type.map(Into::into),
            at: None,
            value: measured.mean,
            half_width: Some(measured.half_width),
            unit: quantity.unit(workload.time_unit()),
            method: Method::Simulated,
            holds_for: Conditions::default(),
        })
    };
    let mut claims = vec![
        claim(Quantity::MeanResponse, None, run.mean_response),
        claim(Quantity::WeightedResponse, None, run.weighted_response),
        claim(Quantity::MeanNumber, None, run.mean_number),
    ];
    for job_type in &run.types {
        let name = Some(job_type.name.as_str());
        claims.push(claim(Quantity::MeanResponse, name, job_type.mean_response));
        claims.push(claim(Quantity::MeanNumber, name, job_type.mean_number));
    }
    claims.into_iter().flatten().collect()
}
