//! The record of a choice in an artifact.

use super::decision::Decision;
use super::evaluator::{DONE, Evaluator, REPLICATIONS, slowdown_ratio};
use super::{ChoiceOptions, Synthesis, ladder};
use crate::multiresource::artifact::{
    Artifact, Claim, Evidence, Family, HoldsFor, Method, Objective, Quantity, Simulation, Subject,
};
use crate::multiresource::simulator::{Estimate, Run, Threshold, TypeResult};
use crate::multiresource::synthesis::claims::of_guard;
use crate::multiresource::synthesis::exact::evidence;
use crate::multiresource::synthesis::log::{Candidate, Choice, Interval, Steadiness};
use crate::multiresource::workload::{JobType, Workload};

impl From<Estimate> for Interval {
    fn from(estimate: Estimate) -> Self {
        Interval {
            mean: estimate.mean,
            half_width: estimate.half_width,
        }
    }
}

pub(super) fn choice(
    evaluator: &Evaluator<'_>,
    options: &ChoiceOptions,
    decision: &Decision<'_>,
) -> Choice {
    let all = 0..decision.order.len();
    let mut candidates: Vec<Candidate> = all.map(|n| candidate(evaluator, decision, n)).collect();
    // By what is told of them: ratios may be of shorter runs than the order was found by.
    let value = |c: &Candidate| c.value.map_or(f64::INFINITY, |value| value.mean);
    candidates[1..].sort_by(|a, b| value(a).total_cmp(&value(b)));
    Choice {
        objective: evaluator.objective,
        promises: options.promises.clone(),
        seed: options.seed,
        replications: REPLICATIONS,
        budget: options.budget,
        events: evaluator.events,
        decided: decision.is_decided,
        candidates,
    }
}

fn candidate(evaluator: &Evaluator<'_>, decision: &Decision<'_>, n: usize) -> Candidate {
    let (entrant, comparison) = (&decision.order[n], decision.comparison(evaluator));
    let outcome = match (n, &decision.basis) {
        (0, basis) if !basis.has_settled() => Steadiness::Unsettled,
        _ => entrant.outcome(evaluator, comparison.is_far(0, n)),
    };
    let steady = outcome == Steadiness::Steady;
    let run = entrant.measured(evaluator).filter(|_| steady);
    let ratio = |objective| {
        let ratio = || comparison.ratio(objective, n, 0);
        (n > 0 && steady).then(ratio).flatten()
    };
    let (objective, first) = (evaluator.objective, decision.taken());
    let of_first = first
        .measured(evaluator)
        .and_then(|run| value(evaluator, run));
    Candidate {
        name: entrant.name().into(),
        knobs: entrant.policy.knobs(evaluator.workload),
        tried: entrant.tried,
        outcome,
        value: match of_first.zip(ratio(objective)) {
            Some((first, ratio)) => Some(product(&first, &ratio)),
            None => run.and_then(|run| value(evaluator, run)).map(Into::into),
        },
        ratio: ratio(objective).map(Into::into),
        other_ratio: ratio(objective.other()).map(Into::into),
        slowdown_ratio: run.and_then(slowdown_ratio),
        kept: run
            .filter(|_| evaluator.is_bound())
            .map(|run| evaluator.keeps_all(run)),
    }
}

/// What a run says of what is made least.
fn value(evaluator: &Evaluator<'_>, run: &Run) -> Option<Estimate> {
    let least = least(evaluator.objective, evaluator.workload);
    Some(reaching(evaluator.value(run)?, least))
}

/// What is made least is this at least, since jobs are there while they run; 0 where that says nothing.
fn least(objective: Objective, workload: &Workload) -> f64 {
    let types = workload.types().iter();
    match objective {
        Objective::Mean => {
            let number: f64 = types.map(JobType::offered_load).sum();
            number / workload.total_arrival_rate()
        }
        Objective::Weighted => {
            let shares = types.zip(workload.load_shares());
            shares.map(|(t, share)| share * t.mean_size()).sum()
        }
        Objective::P99 => 0.0,
    }
}

/// Lets the interval reach what every rule has. Where arrivals and sizes are constant nothing varies from batch to batch, and
/// a window that ends in the midst of a period falls below it all the same; and so do a few jobs of sizes that vary much.
fn reaching(found: Estimate, least: f64) -> Estimate {
    Estimate {
        half_width: found.half_width.max(least - found.mean),
        ..found
    }
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
pub(super) fn broken(evaluator: &Evaluator<'_>, taken: &ladder::Candidate<'_>) -> Option<String> {
    if !evaluator.is_bound() {
        return None;
    }
    let Some(run) = taken.measured(evaluator) else {
        return Some("no run was long enough to tell whether --slo is kept: nothing is written. Give more --budget, or more --time".into());
    };
    if evaluator.keeps_all(run) {
        return None;
    }
    let unit = evaluator.workload.time_unit();
    let lines = evaluator.kept(run).map(|(promise, seen)| {
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
    let lines: Vec<String> = lines.collect();
    Some(format!(
        "no policy was found that keeps --slo; the nearest, {}:\n  {}\nNothing is written. Allow more time or fewer jobs, add resources, or search longer with --budget",
        taken.name(),
        lines.join("\n  ")
    ))
}

/// The artifact of a policy: as it was synthesized, if it is a Markovian Service Rate policy; else
/// with the program's proof of the load, and what was simulated, if that is to be claimed.
pub(super) fn artifact(
    synthesis: &Synthesis,
    policy: &Family,
    run: Option<&Run>,
    objective: Objective,
    workload: &Workload,
) -> Artifact {
    let mut artifact = synthesis.artifact.clone();
    if policy.msr().is_some() {
        return artifact;
    }
    artifact.policy = policy.clone();
    artifact.evidence = Evidence {
        simulation: run.map(simulation),
        ..evidence(&synthesis.solution, synthesis.exact.as_ref(), false)
    };
    let claims = &mut artifact.claims;
    claims.retain(|claim| claim.method == Method::ExactProgram);
    if let Family::Guarded(policy) = policy {
        let guard = policy.guard.msr().into_iter();
        claims.extend(guard.flat_map(|guard| of_guard(workload, guard)));
    }
    claims.extend(
        run.into_iter()
            .flat_map(|run| simulated(run, objective, workload)),
    );
    artifact
}

/// How a run measured.
pub(super) fn simulation(run: &Run) -> Simulation {
    Simulation {
        seed: run.seed,
        replications: run.replications.len() as u32,
        events: run.events,
    }
}

/// What a run measured, as claims.
pub(super) fn simulated(run: &Run, objective: Objective, workload: &Workload) -> Vec<Claim> {
    let measured = |quantity: Quantity, job_type: Option<&str>, found: Estimate| {
        let (subject, time) = (Subject::of_type(job_type), workload.time_unit());
        let (value, method) = ((found.mean, time), Method::Simulated);
        Claim {
            half_width: Some(found.half_width),
            ..Claim::new(quantity, subject, value, method, HoldsFor::default())
        }
    };
    let claim = |quantity, job_type: Option<&str>, found: Option<Estimate>, least: f64| {
        let found = reaching(found?, least);
        // What is too rare to be measured is not claimed.
        let is_known = found.mean > 0.0 && found.half_width < found.mean;
        is_known.then(|| measured(quantity, job_type, found))
    };
    // The record of the choice follows from responses as they were measured, and nothing from numbers. Where arrivals and
    // sizes are constant all that is unsure is what the ends of a replication cut off, a job or so.
    let number = |job_type: Option<&str>, found: Option<Estimate>, least: f64, cut: f64| {
        let claim = claim(Quantity::MeanNumber, job_type, found, least)?;
        Some(Claim {
            value: claim.value.max(least),
            half_width: claim.half_width.map(|own| own.max(cut)),
            ..claim
        })
    };
    let cut = |of: &TypeResult| {
        let at_ends = of.mean_number.map_or(0.0, |number| number.mean.min(1.0));
        at_ends * run.replications.len() as f64 / of.completions.max(1) as f64
    };
    let least = |objective| least(objective, workload);
    let (mean, weighted) = (least(Objective::Mean), least(Objective::Weighted));
    let (present, ends) = (
        mean * workload.total_arrival_rate(),
        run.types.iter().map(cut),
    );
    let mut claims = vec![
        claim(Quantity::MeanResponse, None, run.mean_response, mean),
        claim(
            Quantity::WeightedResponse,
            None,
            run.weighted_response,
            weighted,
        ),
        number(None, run.mean_number, present, ends.sum()),
    ];
    if objective == Objective::P99 {
        claims.push(claim(Quantity::ResponseP99, None, run.p99_response, 0.0));
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
        let own = &run.types[watched.watch.job_type];
        claims.push(watched.above.map(|above| Claim {
            half_width: Some(above.half_width.max(unseen(own)).min(1.0)),
            longer_than: Some(time),
            ..measured(quantity, Some(&own.name), above)
        }));
    }
    let types = run.types.iter().zip(workload.types());
    for (found, own) in types.filter(|(found, _)| found.completions >= DONE) {
        let (response, count, name) = (found.mean_response, found.mean_number, Some(own.name()));
        claims.push(claim(
            Quantity::MeanResponse,
            name,
            response,
            own.mean_size(),
        ));
        claims.push(number(name, count, own.offered_load(), cut(found)));
    }
    claims.into_iter().flatten().collect()
}

/// What part of a type's jobs may take longer than any that was seen, at 95 %: the rule of three, `(1 − p)^n = .05` for
/// `p ≈ 3/n`. Jobs that come together wait together: n is no more than independent ones would be that tell the mean
/// response time as closely, if it varied as an exponential time does.
fn unseen(own: &TypeResult) -> f64 {
    let jobs = own.completions as f64;
    let worth = |e: Estimate| (e.mean / e.standard_error).powi(2);
    3.0 / own.mean_response.map_or(jobs, worth).min(jobs)
}
