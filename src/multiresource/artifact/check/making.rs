//! How the policy was made: no claims, but what was tried must be what it is said to be, as far as the
//! work left for that goes, and must make sense.

use super::again::{AGREEMENT, Again, Second, UNSTABLE};
use super::{OneServer, choice, what_if};
use crate::artifact::{Findings, Grounds, is_close, written};
use crate::multiresource::artifact::{Method, MsrPolicy, Preemption, Quantity, RouteTried, Tuning};

const SOLVED: Grounds = Grounds::Derived("the queues on a chain made anew, solved another way");
const FORMULA: Grounds = Grounds::Derived("the MSR paper's formulas, on a chain made anew");
const SENSE: Grounds = Grounds::Judged("none is less than what is claimed of the policy taken");
const PREDICTED: Grounds = Grounds::Trusted("no rate is predicted again");

/// What stands in the record; what follows from a loop is looked at where nothing was found before,
/// since its queues are not solved where something is wrong already.
pub(super) fn check(server: &OneServer<'_>, findings: &mut Findings) {
    if let Some(record) = &server.making.choice {
        choice::check(server, record, findings);
    }
    let (tuning, answers) = (&server.making.tuning, &server.making.what_if);
    let Some(policy) = server.rule.msr() else {
        for (field, is_there) in [("tuning", tuning.is_some()), ("what_if", answers.is_some())] {
            if is_there {
                findings.add(
                    format!("provenance.{field}"),
                    "expected none: there is no loop",
                );
            }
        }
        return;
    };
    if let Some(tuning) = tuning {
        tuned(server, policy, tuning, findings);
    }
    let sound = findings.is_clear("policy") && findings.is_clear("certificate");
    if let Some(answers) = answers.as_ref().filter(|_| sound) {
        what_if::check(server, policy, answers, findings);
    }
    if let Some(tuning) = tuning.as_ref().filter(|_| findings.is_empty()) {
        again(server, policy, tuning, findings);
    }
}

/// What was tried, derived anew: routes at their rates, and the curve of the one taken.
fn again(server: &OneServer<'_>, policy: &MsrPolicy, tuning: &Tuning, findings: &mut Findings) {
    let path = "provenance.tuning";
    let mut compare = |place: String, tried: MsrPolicy, found: f64, method: Method| {
        let again = Again::new(server, tried, server.workload);
        let approximate = method == Method::ApproximationQueueLength;
        match again.is(found, tuning.objective, method) {
            Second::Same if approximate => findings.stands(place, FORMULA),
            Second::Same => findings.stands(place, SOLVED),
            Second::Other(expected) => findings.add(place, format!("{found}, expected {expected}")),
            Second::Unstable => findings.add(place, format!("{found}, {UNSTABLE}")),
            Second::TooLarge | Second::Nothing => findings.stands(place, SENSE),
        }
    };
    for (n, tried) in tuning.routes.iter().enumerate() {
        let other = MsrPolicy {
            route: tried.route,
            switching_rate: tried.switching_rate,
            ..policy.clone()
        };
        if let Some(found) = tried.value {
            let place = format!("{path}.routes[{n}].value");
            compare(place, other, found, tried.method);
        }
    }
    for (n, point) in tuning.curve.iter().enumerate() {
        let other = MsrPolicy {
            switching_rate: point.switching_rate,
            ..policy.clone()
        };
        let place = format!("{path}.curve[{n}].value");
        compare(place, other, point.value, Method::ExactQbd);
    }
    for n in 0..tuning.routes.len() {
        let place = format!("{path}.routes[{n}].predicted_switching_rate");
        findings.stands(place, PREDICTED);
    }
}

pub(super) fn positive(path: String, value: f64, findings: &mut Findings) {
    if !(value > 0.0 && value.is_finite()) {
        findings.add(path, format!("{value}, expected a positive number"));
    }
}

/// The route taken was tried, with the value that is claimed, and none was better; the curve goes
/// on to the right.
fn tuned(server: &OneServer<'_>, policy: &MsrPolicy, tuning: &Tuning, findings: &mut Findings) {
    let path = "provenance.tuning";
    for (n, tried) in tuning.routes.iter().enumerate() {
        positive(
            format!("{path}.routes[{n}].switching_rate"),
            tried.switching_rate,
            findings,
        );
        if let Some(value) = tried.value {
            positive(format!("{path}.routes[{n}].value"), value, findings);
        }
        if !matches!(
            tried.method,
            Method::ExactQbd | Method::ApproximationQueueLength
        ) {
            let message = format!(
                "{}, expected exact-qbd or approximation-queue-length",
                written(&tried.method)
            );
            findings.add(format!("{path}.routes[{n}].method"), message);
        }
        let predicted = tried.predicted_switching_rate;
        positive(
            format!("{path}.routes[{n}].predicted_switching_rate"),
            predicted,
            findings,
        );
    }
    let routes = tuning.routes.iter();
    for (n, tried) in routes.clone().enumerate() {
        if routes
            .clone()
            .take(n)
            .any(|before| before.route == tried.route)
        {
            findings.add(format!("{path}.routes[{n}].route"), "stands there already");
        }
    }
    // Where preemption is full, all routes are one.
    let is_taken =
        |tried: &&RouteTried| tried.route == policy.route || policy.preemption == Preemption::Full;
    match routes.clone().find(is_taken) {
        Some(taken) if taken.switching_rate == policy.switching_rate => {
            least(server, tuning, taken, findings);
        }
        _ => findings.add(
            format!("{path}.routes"),
            "the route taken, at its switching rate, is not among them",
        ),
    }
    for (n, pair) in tuning.curve.windows(2).enumerate() {
        let forward = pair[0].switching_rate < pair[1].switching_rate;
        if !forward {
            let place = format!("{path}.curve[{}].switching_rate", n + 1);
            findings.add(place, "expected one above the one before");
        }
    }
    for (n, point) in tuning.curve.iter().enumerate() {
        positive(
            format!("{path}.curve[{n}].switching_rate"),
            point.switching_rate,
            findings,
        );
        positive(format!("{path}.curve[{n}].value"), point.value, findings);
    }
}

/// The value of the route taken is the one claimed, and no exact value is less.
fn least(server: &OneServer<'_>, tuning: &Tuning, taken: &RouteTried, findings: &mut Findings) {
    let path = "provenance.tuning";
    let Some(claimed) = claimed(server, tuning.objective.quantity()) else {
        return;
    };
    let value = taken.value.unwrap_or(f64::NAN);
    if taken.method != Method::ApproximationQueueLength && !is_close(value, claimed, AGREEMENT) {
        let message = format!("{value} for the route taken, expected {claimed}");
        findings.add(format!("{path}.routes"), message);
    }
    // A search ends where little is left to gain.
    let too_low = |value: f64| value < claimed * (1.0 - 1e-2);
    for (n, tried) in tuning.routes.iter().enumerate() {
        let exact = tried.method != Method::ApproximationQueueLength;
        if let Some(value) = tried.value.filter(|value| exact && too_low(*value)) {
            let message = format!("{value}, less than {claimed} of the route taken");
            findings.add(format!("{path}.routes[{n}].value"), message);
        }
    }
    for (n, point) in tuning
        .curve
        .iter()
        .enumerate()
        .filter(|(_, p)| too_low(p.value))
    {
        let message = format!("{}, less than {claimed} at the rate taken", point.value);
        findings.add(format!("{path}.curve[{n}].value"), message);
    }
}

/// A claim about all types that is no mere estimate.
fn claimed(server: &OneServer<'_>, quantity: Quantity) -> Option<f64> {
    let found = server.find(quantity, None)?;
    (found.method != Method::ApproximationQueueLength).then_some(found.value)
}
