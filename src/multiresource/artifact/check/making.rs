//! How the policy was chosen, and what a change would do: no claims, but they must make sense.

use super::OneServer;
use crate::artifact::{Findings, is_close};
use crate::multiresource::artifact::{
    CLOSE, Candidate, Choice, Interval, Method, MsrPolicy, Preemption, Quantity, RouteTried,
    Steadiness, Tuning, WhatIf,
};

pub(super) fn check(server: &OneServer<'_>, findings: &mut Findings) {
    match (&server.making.tuning, server.rule.msr()) {
        (Some(tuning), Some(policy)) => tuned(server, policy, tuning, findings),
        (Some(_), None) => findings.add("provenance.tuning", "expected none: there is no loop"),
        (None, _) => {}
    }
    if let Some(choice) = &server.making.choice {
        chosen(server, choice, findings);
    }
    if let Some(what_if) = &server.making.what_if {
        let mut answers = Answers {
            server,
            what_if,
            findings,
        };
        answers.more_arrivals();
        answers.more_resource();
        answers.others();
    }
}

fn positive(path: String, value: f64, findings: &mut Findings) {
    if !(value > 0.0 && value.is_finite()) {
        findings.add(path, format!("{value}, expected a positive number"));
    }
}

/// The policy stands first among its candidates, and no other one is less; no more was simulated
/// than allowed.
fn chosen(server: &OneServer<'_>, choice: &Choice, findings: &mut Findings) {
    let path = "provenance.choice";
    if choice.events > choice.budget {
        let message = format!("{}, expected at most {}", choice.events, choice.budget);
        findings.add(format!("{path}.events"), message);
    }
    let here = |n: usize, field: &str| format!("{path}.candidates[{n}].{field}");
    let name = server.rule.name();
    if choice.candidates.first().is_none_or(|c| c.name != name) {
        return findings.add(
            here(0, "name"),
            format!("expected that of the policy, `{name}`"),
        );
    };
    for (n, candidate) in choice.candidates.iter().enumerate() {
        let steady = candidate.outcome == Steadiness::Steady;
        let numbers = [candidate.value, candidate.ratio];
        let sound = |i: &Interval| i.mean > 0.0 && i.mean.is_finite() && i.half_width >= 0.0;
        if steady != candidate.value.is_some() || !numbers.iter().flatten().all(sound) {
            findings.add(
                here(n, "value"),
                "expected positive numbers where it is steady, and no others",
            );
        }
    }
    // On the same arrivals and sizes; what differs by less than 1 % is taken as good.
    let is_less = |c: &Candidate| c.ratio.is_some_and(|r| r.mean + r.half_width < 1.0 - CLOSE);
    let better = |c: &Candidate| choice.decided && is_less(c) && within(choice, c);
    if let Some(n) = choice.candidates.iter().position(better) {
        findings.add(
            here(n, "ratio"),
            "less than 1: it is better than the policy, which is called the best",
        );
    }
}

/// Whether types are served as evenly as was asked for.
fn within(choice: &Choice, candidate: &Candidate) -> bool {
    let most = choice.max_slowdown_ratio.unwrap_or(f64::INFINITY);
    candidate.slowdown_ratio.is_none_or(|ratio| ratio <= most)
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
        let predicted = tried.predicted_switching_rate;
        positive(
            format!("{path}.routes[{n}].predicted_switching_rate"),
            predicted,
            findings,
        );
    }
    let free = policy.preemption == Preemption::Full;
    let taken = tuning
        .routes
        .iter()
        .find(|r| free || r.route == policy.route);
    match taken {
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
    if taken.method != Method::ApproximationQueueLength && !is_close(value, claimed, 1e-6) {
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

/// What the answers are checked against.
struct Answers<'a> {
    server: &'a OneServer<'a>,
    what_if: &'a WhatIf,
    findings: &'a mut Findings,
}

impl Answers<'_> {
    fn add(&mut self, place: &str, message: impl Into<String>) {
        let path = format!("provenance.what_if.{place}");
        self.findings.add(path, message);
    }

    fn positive(&mut self, place: &str, value: Option<f64>) {
        if let Some(value) = value {
            let path = format!("provenance.what_if.{place}");
            positive(path, value, self.findings);
        }
    }

    /// A mean response time: no job leaves before it is served.
    fn response(&mut self, place: &str, value: Option<f64>, most: f64) {
        let work: f64 = self
            .server
            .workload
            .types()
            .iter()
            .map(|t| t.offered_load())
            .sum();
        let shortest = 0.98 * work / self.server.workload.total_arrival_rate();
        if let Some(value) = value.filter(|value| !(shortest..=most).contains(value)) {
            self.add(
                place,
                format!("{value}, expected from {shortest} to {most}"),
            );
        }
    }

    fn more_arrivals(&mut self) {
        let answers = &self.what_if.more_arrivals;
        let names = self.server.workload.types().iter().map(|t| t.name());
        if !names.eq(answers.iter().map(|more| more.job_type.as_str())) {
            self.add(
                "more_arrivals",
                "expected one entry for each type, in order",
            );
            return;
        }
        let certificate = self.server.certificate;
        for (n, (more, price)) in answers.iter().zip(&certificate.prices).enumerate() {
            let here = format!("more_arrivals[{n}]");
            let load = certificate.load * (1.0 + 0.01 * price);
            if !is_close(more.load, load, 1e-9) {
                let message = format!("{}, expected {load}", more.load);
                self.add(&format!("{here}.load"), message);
            }
            self.response(
                &format!("{here}.mean_response"),
                more.mean_response,
                f64::MAX,
            );
        }
    }

    /// A larger server is no worse.
    fn more_resource(&mut self) {
        let load = self.server.certificate.load;
        let now = claimed(self.server, Quantity::MeanResponse);
        let most = now.map_or(f64::MAX, |now| now * (1.0 + 1e-6));
        for (n, more) in self.what_if.more_resource.iter().enumerate() {
            let here = format!("more_resource[{n}]");
            let mut known = self.server.workload.resources().iter();
            if !known.any(|r| r.name() == more.resource) {
                self.add(
                    &format!("{here}.resource"),
                    "expected a resource of the server",
                );
            }
            self.positive(&format!("{here}.more"), Some(more.more));
            self.positive(&format!("{here}.load"), Some(more.load));
            if more.load > load * (1.0 + 1e-6) {
                let message = format!("{}, expected no more than now", more.load);
                self.add(&format!("{here}.load"), message);
            }
            self.response(&format!("{here}.mean_response"), more.mean_response, most);
        }
    }

    fn others(&mut self) {
        let what_if = self.what_if;
        let now = self.server.certificate.load;
        let twice = what_if.load_of_twice_the_response;
        if let Some(load) = twice.filter(|load| !(now..=1.0 + 1e-9).contains(load)) {
            let message = format!("{load}, expected between the load now and 1");
            self.add("load_of_twice_the_response", message);
        }
        let doubled = what_if.response_at_twice_the_switching_rate;
        self.response("response_at_twice_the_switching_rate", doubled, f64::MAX);
        let setups = what_if.setups;
        self.positive("setups.setup_rate", setups.and_then(|s| s.setup_rate));
        let without = setups.map(|s| s.without_preemption);
        self.positive("setups.without_preemption", without);
    }
}
