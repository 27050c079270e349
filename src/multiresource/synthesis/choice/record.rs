//! The record of a choice in an artifact.

use std::time::Duration;

use super::course::{Course, DONE, REPLICATIONS, slowdown_ratio};
use super::finals::{Entrant, Standing};
use super::{Budget, ChoiceOptions, Synthesis};
use crate::multiresource::artifact::{
    Artifact, Candidate, Choice, Claim, Family, HoldsFor, Interval, Making, Method, Mix, Objective,
    Quantity, Robust, Steadiness, Subject,
};
use crate::multiresource::simulator::{Estimate, Run, Threshold};
use crate::multiresource::synthesis::claims::of_guard;
use crate::multiresource::synthesis::growth;
use crate::multiresource::workload::Workload;

impl From<Estimate> for Interval {
    fn from(estimate: Estimate) -> Self {
        Interval {
            mean: estimate.mean,
            half_width: estimate.half_width,
        }
    }
}

pub(super) fn choice(
    course: &Course<'_>,
    options: &ChoiceOptions,
    standing: &Standing,
    robust: Option<Robust>,
) -> Choice {
    let of = |(n, entrant): (usize, &Entrant)| {
        let ratio = |objective| (n > 0).then(|| standing.ratio(objective, entrant))?;
        let ratios = [course.objective, course.objective.other()].map(ratio);
        candidate(course, &standing.order[0], entrant, ratios)
    };
    let mut candidates: Vec<Candidate> = standing.order.iter().enumerate().map(of).collect();
    // By what is told of them: ratios may be of shorter runs than the order was found by.
    let value = |c: &Candidate| c.value.map_or(f64::INFINITY, |value| value.mean);
    candidates[1..].sort_by(|a, b| value(a).total_cmp(&value(b)));
    Choice {
        objective: course.objective,
        max_slowdown_ratio: options.max_slowdown_ratio,
        promises: options.promises.clone(),
        robust,
        good_enough: options.good_enough,
        seed: options.seed,
        replications: REPLICATIONS,
        budget: match options.budget {
            Budget::Events(events) => events,
            Budget::Time(_) => course.events,
        },
        seconds: match options.budget {
            Budget::Events(_) => None,
            Budget::Time(time) => Some(time.as_secs_f64()),
        },
        events: course.events,
        decided: standing.decided,
        candidates,
    }
}

fn candidate(
    course: &Course<'_>,
    taken: &Entrant,
    entrant: &Entrant,
    ratios: [Option<Estimate>; 2],
) -> Candidate {
    let run = entrant
        .last(course)
        .filter(|run| course.value(run).is_some());
    let [ratio, other_ratio] = ratios.map(|ratio| ratio.filter(|_| run.is_some()));
    let first = value(course, taken);
    Candidate {
        name: entrant.name.into(),
        knobs: entrant.policy.knobs(course.workload),
        tried: entrant.tried,
        outcome: entrant.outcome(course),
        value: match first.zip(ratio) {
            Some((first, ratio)) => Some(product(&first, &ratio)),
            None => value(course, entrant).map(Into::into),
        },
        ratio: ratio.map(Into::into),
        other_ratio: other_ratio.map(Into::into),
        fairness: run.and_then(|run| run.fairness),
        slowdown_ratio: run.and_then(slowdown_ratio),
        kept: run
            .filter(|_| course.is_bound())
            .map(|run| course.keeps_all(run)),
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

/// That the best policy that was found breaks a promise, and which, if it does.
pub(super) fn broken(course: &Course<'_>, taken: &Entrant) -> Option<String> {
    let runs = [taken.measured(course), taken.last(course)];
    let broken = |run: &&Run| !course.keeps_all(run);
    let run = runs.into_iter().flatten().find(broken)?;
    let unit = course.workload.time_unit();
    let told = course.kept(run).map(|(promise, seen)| {
        let found = match seen.and_then(|w| Some((w.rough?, w.above))) {
            Some((_, Some(above))) => {
                format!(
                    "{:.2} ± {:.2} % of them do",
                    100.0 * (1.0 - above.mean),
                    100.0 * above.half_width
                )
            }
            Some((rough, None)) => {
                format!("{:.2} % of them do, in short runs", 100.0 * (1.0 - rough))
            }
            None => "runs were too short to tell".into(),
        };
        format!("{promise} {unit}: {found}")
    });
    let told: Vec<String> = told.collect();
    Some(format!(
        "no policy was found that keeps --slo; the nearest, {}:\n  {}\nNothing is written. Allow more time or fewer jobs, add resources, or search longer with --budget",
        taken.name,
        told.join("\n  ")
    ))
}

/// The options of a choice, for the provenance.
pub fn told(seed: u64, budget: Budget) -> [String; 2] {
    [format!("seed: {seed}"), format!("budget: {budget}")]
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
    let budget = match choice.seconds {
        Some(seconds) => Budget::Time(Duration::from_secs_f64(seconds)),
        None => Budget::Events(choice.budget),
    };
    let (told, objective) = (told(choice.seed, budget), choice.objective);
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
    // Those of the policy of the program.
    artifact
        .provenance
        .growth
        .iter_mut()
        .for_each(growth::without_means);
    follow(&mut artifact, made, policy, workload);
    artifact.claims.extend(
        run.into_iter()
            .flat_map(|run| simulated(run, objective, workload)),
    );
    artifact
}

/// Another rule in place of that of the program, and no more evidence and claims than hold of any.
fn follow(artifact: &mut Artifact, made: &Synthesis, policy: &Family, workload: &Workload) {
    artifact.policy.servers[0].rule = policy.clone();
    let certificate = &mut artifact.evidence.servers[0];
    certificate.balance = None;
    certificate.mix.get_or_insert_with(|| Mix {
        schedules: made.policy.schedules.clone(),
        weights: made.policy.weights.clone(),
    });
    let claims = &mut artifact.claims;
    claims.retain(|claim| claim.method == Method::ExactProgram);
    if let Family::Guarded(policy) = policy {
        let guard = policy.guard.msr().into_iter();
        claims.extend(guard.flat_map(|guard| of_guard(workload, guard)));
    }
}

/// What a run measured, as claims.
pub(super) fn simulated(run: &Run, objective: Objective, workload: &Workload) -> Vec<Claim> {
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
    if objective == Objective::P99 {
        claims.push(claim(Quantity::ResponseP99, None, run.p99_response));
    }
    for watched in &run.watched {
        let about = |threshold| match threshold {
            Threshold::Waiting(time) => Some((Quantity::WaitingAbove, time)),
            Threshold::Response(time) => Some((Quantity::ResponseAbove, time)),
            Threshold::Number(_) => None,
        };
        let Some((quantity, time)) = about(watched.watch.threshold) else {
            continue;
        };
        let name = Some(run.types[watched.watch.job_type].name.as_str());
        let above = claim(quantity, name, watched.above);
        claims.push(above.map(|above| Claim {
            longer_than: Some(time),
            ..above
        }));
    }
    for job_type in run.types.iter().filter(|t| t.completions >= DONE) {
        let name = Some(job_type.name.as_str());
        claims.push(claim(Quantity::MeanResponse, name, job_type.mean_response));
        claims.push(claim(Quantity::MeanNumber, name, job_type.mean_number));
    }
    claims.into_iter().flatten().collect()
}
