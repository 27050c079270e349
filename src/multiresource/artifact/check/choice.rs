//! How the policy was chosen, by simulation: no claims, but the record must make sense, and agree with
//! the policy and its claims.

use super::OneServer;
use crate::artifact::{Findings, Grounds, is_close, written};
use crate::multiresource::artifact::{
    CLOSE, Candidate, Choice, Interval, Method, Quantity, Steadiness,
};

const PATH: &str = "provenance.choice";

const SENSE: Grounds =
    Grounds::Judged("the policy, its claims, and what candidates say of each other");

/// Relative rounding allowed in what follows from claims.
const ROUNDING: f64 = 1e-9;

/// Where something of a candidate stands.
fn of(n: usize, field: &str) -> String {
    format!("{PATH}.candidates[{n}].{field}")
}

pub(super) fn check(server: &OneServer<'_>, choice: &Choice, findings: &mut Findings) {
    if choice.replications < 2 {
        let message = format!("{}, expected 2 at least", choice.replications);
        findings.add(format!("{PATH}.replications"), message);
    }
    for (n, candidate) in choice.candidates.iter().enumerate() {
        numbers(n, candidate, findings);
    }
    promises(server, choice, findings);
    let taken = choice.candidates.first();
    let Some(taken) = taken.filter(|c| c.name == server.rule.followed().called()) else {
        let message = format!(
            "expected that of the policy, `{}`",
            server.rule.followed().called()
        );
        return findings.add(of(0, "name"), message);
    };
    first(server, taken, findings);
    for (n, candidate) in choice.candidates.iter().enumerate().skip(1) {
        against_the_first(choice, taken, (n, candidate), findings);
    }
    order(choice, findings);
    if findings.is_clear(PATH) {
        findings.stands(PATH, SENSE);
    }
}

/// Promises about types that there are, and what is claimed keeps them.
fn promises(server: &OneServer<'_>, choice: &Choice, findings: &mut Findings) {
    for (n, promise) in choice.promises.iter().enumerate() {
        let path = format!("{PATH}.promises[{n}]");
        let sound = promise.share > 0.0 && promise.share < 1.0;
        if promise.watch(server.workload).is_none() {
            let message = format!("`{}`, expected the name of a job type", promise.job_type);
            findings.add(format!("{path}.type"), message);
        } else if !(sound && promise.within > 0.0 && promise.within.is_finite()) {
            findings.add(path, "expected a share in (0, 1), and a positive time");
        } else {
            let claimed = promise.claimed(server.claims.iter().map(|(_, claim)| *claim));
            match claimed.map(|claim| claim.value) {
                Some(above) if above > promise.allowed() => {
                    let message =
                        format!("is not kept: it is claimed that {above} of the jobs take longer");
                    findings.add(path, message);
                }
                None if server
                    .claims
                    .iter()
                    .any(|(_, c)| c.method == Method::Simulated) =>
                {
                    findings.add(path, "expected a claim of how many jobs take longer");
                }
                _ => {}
            }
        }
    }
    let kept = choice.candidates.first().and_then(|taken| taken.kept);
    if kept.is_some() == choice.promises.is_empty() || kept == Some(false) {
        let message = "expected true where something is promised, and nothing else";
        findings.add(of(0, "kept"), message);
    }
}

/// Positive numbers where it is steady, and no others.
fn numbers(n: usize, candidate: &Candidate, findings: &mut Findings) {
    let steady = candidate.outcome == Steadiness::Steady;
    let intervals = [candidate.value, candidate.ratio, candidate.other_ratio];
    let sound = |i: &Interval| {
        i.mean > 0.0 && i.mean.is_finite() && (0.0..f64::INFINITY).contains(&i.half_width)
    };
    if steady != candidate.value.is_some() || !intervals.iter().flatten().all(sound) {
        findings.add(
            of(n, "value"),
            "expected positive numbers where it is steady, and no others",
        );
    }
    if candidate.tried == 0 {
        findings.add(of(n, "tried"), "0, expected 1 at least");
    }
    // Jain's index of K means is from 1/K to 1.
    let fair = |index: f64| index > 0.0 && index <= 1.0 + ROUNDING;
    if let Some(found) = candidate.fairness.filter(|index| !fair(*index)) {
        let message = format!("{found}, expected above 0 and at most 1");
        findings.add(of(n, "fairness"), message);
    }
    let uneven = |ratio: f64| ratio >= 1.0 - ROUNDING && ratio.is_finite();
    if let Some(found) = candidate.slowdown_ratio.filter(|ratio| !uneven(*ratio)) {
        findings.add(
            of(n, "slowdown_ratio"),
            format!("{found}, expected at least 1"),
        );
    }
}

/// The policy taken: it settled, or nothing is claimed of it that was simulated; it has the knobs that are recorded, and
/// was as its claims say.
fn first(server: &OneServer<'_>, taken: &Candidate, findings: &mut Findings) {
    let mut claims = server.claims.iter();
    let claimed = claims.any(|(_, claim)| claim.method == Method::Simulated);
    if !(taken.outcome == Steadiness::Steady || taken.outcome == Steadiness::Unsettled && !claimed)
    {
        let message = format!(
            "{}, expected steady of the policy taken",
            written(&taken.outcome)
        );
        findings.add(of(0, "outcome"), message);
    }
    if taken.ratio.is_some() {
        findings.add(of(0, "ratio"), "expected none of the policy taken");
    }
    let sound = findings.is_clear("policy");
    let knobs = || server.rule.knobs(server.workload);
    if let Some(knobs) = sound.then(knobs).filter(|knobs| taken.knobs != *knobs) {
        let told = |knobs: &Option<String>| knobs.clone().unwrap_or("none".into());
        let (found, expected) = (told(&taken.knobs), told(&knobs));
        let message = format!("{found}, expected {expected}, as the policy has them");
        findings.add(of(0, "knobs"), message);
    }
    let Some(responses) = simulated(server) else {
        return;
    };
    let sum: f64 = responses.iter().sum();
    let squares: f64 = responses.iter().map(|x| x * x).sum();
    let jain = sum * sum / (responses.len() as f64 * squares);
    let sizes = server.workload.types().iter().map(|t| t.mean_size());
    let slowdowns = || responses.iter().zip(sizes.clone()).map(|(t, s)| t / s);
    let most = slowdowns().fold(0.0, f64::max);
    let least = slowdowns().fold(f64::INFINITY, f64::min);
    for (field, found, expected) in [
        ("fairness", taken.fairness, jain),
        ("slowdown_ratio", taken.slowdown_ratio, most / least),
    ] {
        if let Some(found) = found.filter(|found| !is_close(*found, expected, ROUNDING)) {
            let message = format!("{found}, expected {expected} by the types' mean responses");
            findings.add(of(0, field), message);
        }
    }
}

/// The mean responses of all types, if all were simulated and are claimed.
fn simulated(server: &OneServer<'_>) -> Option<Vec<f64>> {
    let of_type = |name: &str| {
        let claim = server.find(Quantity::MeanResponse, Some(name))?;
        (claim.method == Method::Simulated).then_some(claim.value)
    };
    let types = server.workload.types().iter();
    types.map(|t| of_type(t.name())).collect()
}

/// And how much it may be off, relatively, beside that.
const ROUGHLY: f64 = 1e-2;

/// How many times as wide as its interval a difference may be.
const SPREAD: f64 = 4.0;

/// What is said of a candidate beside the policy taken. On the same arrivals and sizes; what differs by
/// less than is good enough is taken as good.
fn against_the_first(
    choice: &Choice,
    taken: &Candidate,
    (n, candidate): (usize, &Candidate),
    findings: &mut Findings,
) {
    if choice.decided && candidate.outcome == Steadiness::Unsettled {
        let message = "unsettled, so that how it stands to the policy is not decided";
        findings.add(of(n, "outcome"), message);
    }
    let Some(ratio) = candidate.ratio else {
        return;
    };
    // Its value may be of a longer run than the ratio: intervals of the runs, wide enough for that.
    if let (Some(value), Some(first)) = (candidate.value, taken.value) {
        let quotient = value.mean / first.mean;
        let relative = value.half_width / value.mean + first.half_width / first.mean;
        let spread = ratio.half_width + SPREAD * quotient * relative + ROUGHLY * quotient;
        if (ratio.mean - quotient).abs() > spread {
            let message = format!("{}, but by the values it is {quotient}", ratio.mean);
            return findings.add(of(n, "ratio"), message);
        }
    }
    let less = ratio.mean + ratio.half_width < 1.0 - CLOSE;
    if choice.decided && less && candidate.kept != Some(false) {
        findings.add(
            of(n, "ratio"),
            "less than 1: it is better than the policy, which is called the best",
        );
    }
}

/// Those after the first come by the objective, and those without a steady state last. Where promises count, another
/// order may be right.
fn order(choice: &Choice, findings: &mut Findings) {
    if !choice.promises.is_empty() {
        return;
    }
    let cost = |c: &Candidate| c.value.map_or(f64::INFINITY, |value| value.mean);
    let pairs = choice.candidates.windows(2).enumerate().skip(1);
    for (n, _) in pairs.filter(|(_, pair)| cost(&pair[0]) > cost(&pair[1])) {
        let message = "less than that of the candidate before it, expected by the objective";
        findings.add(of(n + 1, "value"), message);
    }
}
