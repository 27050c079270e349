//! The record of a choice in an artifact.

use super::course::{Course, DONE, REPLICATIONS, slowdown_ratio};
use super::finals::{Entrant, Standing};
use super::{ChoiceOptions, Synthesis};
use crate::multiresource::artifact::{
    Artifact, Candidate, Choice, Claim, Family, HoldsFor, Interval, Making, Method, Mix, Quantity,
    Steadiness, Subject,
};
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
                candidate(course, &standing.order[0], entrant, ratio)
            })
            .collect(),
    }
}

fn candidate(
    course: &Course<'_>,
    taken: &Entrant,
    entrant: &Entrant,
    ratio: Option<Estimate>,
) -> Candidate {
    let run = entrant
        .last(course)
        .filter(|run| course.value(run).is_some());
    let ratio = ratio.filter(|_| run.is_some());
    let first = value(course, taken);
    Candidate {
        name: entrant.name.into(),
        knobs: entrant.policy.knobs(course.workload),
        tried: entrant.tried,
        outcome: entrant.outcome(course),
        value: match ratio {
            Some(ratio) => first.map(|first| product(&first, &ratio)),
            None => value(course, entrant).map(Into::into),
        },
        ratio: ratio.map(Into::into),
        fairness: run.and_then(|run| run.fairness),
        slowdown_ratio: run.and_then(slowdown_ratio),
    }
}

/// What is made least, in the run of the claims of the policy taken, or the longest of another one.
fn value(course: &Course<'_>, entrant: &Entrant) -> Option<Estimate> {
    let steady = entrant.outcome(course) == Steadiness::Steady;
    let run = entrant.last(course).filter(|_| steady)?;
    course.value(run)
}

/// As many times as much as the first: runs of other lengths, on other arrivals and sizes, may
/// contradict the ratio of runs of the same.
fn product(first: &Estimate, ratio: &Estimate) -> Interval {
    let (own, of_ratio) = (ratio.mean * first.half_width, first.mean * ratio.half_width);
    Interval {
        mean: ratio.mean * first.mean,
        half_width: own.hypot(of_ratio),
    }
}

/// The options of a choice, for the provenance.
pub fn told(seed: u64, budget: u64) -> [String; 2] {
    [
        format!("seed: {seed}"),
        format!("budget: {:e}", budget as f64),
    ]
}

/// The artifact of a policy: as it was synthesized, if it is a Markovian Service Rate policy; else
/// with the program's proof of the load, and what was simulated, if that is to be claimed.
pub(super) fn artifact(
    made: &Synthesis,
    policy: &Family,
    run: Option<&Run>,
    choice: Choice,
    workload: &Workload,
) -> Artifact {
    let mut artifact = made.artifact.clone();
    let told = told(choice.seed, choice.budget);
    artifact.provenance.options.extend(told);
    let making = &mut artifact.provenance.servers[0];
    if policy.msr().is_some() {
        making.choice = Some(choice);
        return artifact;
    }
    *making = Making {
        choice: Some(choice),
        ..Making::default()
    };
    artifact.policy.servers[0].rule = policy.clone();
    let certificate = &mut artifact.evidence.servers[0];
    certificate.balance = None;
    certificate.mix.get_or_insert_with(|| Mix {
        schedules: made.policy.schedules.clone(),
        weights: made.policy.weights.clone(),
    });
    let claims = &mut artifact.claims;
    claims.retain(|claim| claim.method == Method::ExactProgram);
    claims.extend(run.into_iter().flat_map(|run| simulated(run, workload)));
    artifact
}

/// What a run measured, as claims.
pub(super) fn simulated(run: &Run, workload: &Workload) -> Vec<Claim> {
    let claim = |quantity: Quantity, job_type: Option<&str>, measured: Option<Estimate>| {
        // What is too rare to be measured is not claimed.
        let told = measured.filter(|e| e.mean > 0.0 && e.half_width < e.mean);
        told.map(|measured| {
            let (subject, time) = (Subject::of_type(job_type), workload.time_unit());
            let (value, method) = ((measured.mean, time), Method::Simulated);
            Claim {
                half_width: Some(measured.half_width),
                ..Claim::new(quantity, subject, value, method, HoldsFor::default())
            }
        })
    };
    let mut claims = vec![
        claim(Quantity::MeanResponse, None, run.mean_response),
        claim(Quantity::WeightedResponse, None, run.weighted_response),
        claim(Quantity::MeanNumber, None, run.mean_number),
    ];
    for job_type in run.types.iter().filter(|t| t.completions >= DONE) {
        let name = Some(job_type.name.as_str());
        claims.push(claim(Quantity::MeanResponse, name, job_type.mean_response));
        claims.push(claim(Quantity::MeanNumber, name, job_type.mean_number));
    }
    claims.into_iter().flatten().collect()
}
