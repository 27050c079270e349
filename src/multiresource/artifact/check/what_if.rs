//! What a change would do, as the file says: derived where it is about this very policy, as far as the
//! work left for that goes; else it must make sense.

use super::OneServer;
use super::again::{AGREEMENT, Again, Second, UNSTABLE};
use super::making::positive;
use crate::artifact::{Findings, Grounds, is_close};
use crate::multiresource::artifact::{
    Crossing, Method, MoreArrivals, MoreResource, MsrPolicy, Objective, Quantity, WhatIf,
};
use crate::multiresource::workload::Workload;

const PATH: &str = "provenance.what_if";

/// Relative rounding allowed in what follows from the certificate.
const ROUNDING: f64 = 1e-9;

/// The part of more arrivals that is asked about.
const MORE: f64 = 0.01;

const SOLVED: Grounds = Grounds::Derived("the queues on a chain made anew, solved another way");
const PRICES: Grounds = Grounds::Derived("the prices of the certificate");
const SENSE: Grounds = Grounds::Judged("the mean sizes, and what is claimed of the policy now");
const PROGRAM: Grounds =
    Grounds::Judged("what the prices allow, and the load now: the program is not solved again");
const TUNED: Grounds = Grounds::Trusted("policies with and without setups are not tuned again");

pub(super) fn check(
    server: &OneServer<'_>,
    policy: &MsrPolicy,
    what_if: &WhatIf,
    findings: &mut Findings,
) {
    let mut answers = Answers {
        server,
        policy,
        findings,
    };
    answers.more_arrivals(&what_if.more_arrivals);
    for (n, more) in what_if.more_resource.iter().enumerate() {
        answers.more_resource(n, more);
    }
    if let Some(load) = what_if.load_of_twice_the_response {
        answers.twice("load_of_twice_the_response", load);
    }
    if let Some(value) = what_if.response_at_twice_the_switching_rate {
        answers.at_twice_the_rate("response_at_twice_the_switching_rate", value);
    }
    if let Some(setups) = what_if.setups {
        answers.setups(setups);
    }
}

/// What the answers are checked against.
struct Answers<'a> {
    server: &'a OneServer<'a>,
    policy: &'a MsrPolicy,
    findings: &'a mut Findings,
}

impl Answers<'_> {
    fn add(&mut self, place: &str, message: impl Into<String>) {
        self.findings.add(format!("{PATH}.{place}"), message);
    }

    fn stands(&mut self, place: &str, grounds: Grounds) {
        let path = format!("{PATH}.{place}");
        if self.findings.is_clear(&path) {
            self.findings.stands(path, grounds);
        }
    }

    fn positive(&mut self, place: &str, value: f64) {
        positive(format!("{PATH}.{place}"), value, self.findings);
    }

    /// A mean response time derived anew; where that cannot be had, whether it makes sense.
    fn second(&mut self, place: &str, found: f64, second: &Second) {
        match second {
            Second::Same => self.stands(place, SOLVED),
            Second::Other(expected) => self.add(place, format!("{found}, expected {expected}")),
            Second::Unstable => self.add(place, format!("{found}, {UNSTABLE}")),
            Second::TooLarge | Second::Nothing => self.stands(place, SENSE),
        }
    }

    /// The mean response time over all jobs that is claimed, if it is exact.
    fn now(&self) -> Option<f64> {
        let claim = self.server.find(Quantity::MeanResponse, None)?;
        (claim.method == Method::ExactQbd).then_some(claim.value)
    }

    /// The mean size over all arrivals: no job leaves before it is served.
    fn shortest(&self, workload: &Workload) -> f64 {
        let work: f64 = workload.types().iter().map(|t| t.offered_load()).sum();
        work / workload.total_arrival_rate()
    }

    fn between(&mut self, place: &str, found: f64, least: f64, most: f64) {
        if !(least * (1.0 - AGREEMENT)..=most * (1.0 + AGREEMENT)).contains(&found) {
            self.add(place, format!("{found}, expected from {least} to {most}"));
        }
    }

    /// The load by the type's price. Of a type's queue the others see nothing: with more arrivals of
    /// all types, each has what it has with more of itself alone.
    fn more_arrivals(&mut self, answers: &[MoreArrivals]) {
        let (workload, certificate) = (self.server.workload, self.server.certificate);
        let names = workload.types().iter().map(|t| t.name());
        if !names.eq(answers.iter().map(|more| more.job_type.as_str())) {
            let message = "expected one entry for each type, in order";
            return self.add("more_arrivals", message);
        }
        let numbers = |workload: &Workload| {
            let again = Again::new(self.server, self.policy.clone(), workload);
            again.numbers(Method::ExactQbd).ok()
        };
        let asked = answers.iter().any(|more| more.mean_response.is_some());
        let busier = workload.scaled(1.0 + MORE).ok().filter(|_| asked);
        let pair = busier.and_then(|busier| Some((numbers(workload)?, numbers(&busier)?)));
        for (n, (more, price)) in answers.iter().zip(&certificate.prices).enumerate() {
            let place = format!("more_arrivals[{n}].load");
            let load = certificate.load * (1.0 + MORE * price);
            match is_close(more.load, load, ROUNDING) {
                true => self.stands(&place, PRICES),
                false => self.add(&place, format!("{}, expected {load}", more.load)),
            }
            let Some(found) = more.mean_response else {
                continue;
            };
            let place = format!("more_arrivals[{n}].mean_response");
            let rate = MORE * workload.types()[n].arrival_rate() + workload.total_arrival_rate();
            // More arrivals mean more jobs, but perhaps more of those that are soon done.
            let jobs = self
                .now()
                .map_or(0.0, |now| now * workload.total_arrival_rate());
            self.between(&place, found, jobs / rate, f64::MAX);
            let second = match &pair {
                Some((now, then)) => {
                    let total: f64 = now.means.iter().sum();
                    let expected = (total - now.means[n] + then.means[n]) / rate;
                    match is_close(found, expected, then.slack) {
                        true => Second::Same,
                        false => Second::Other(expected),
                    }
                }
                None => Second::TooLarge,
            };
            self.second(&place, found, &second);
        }
    }

    /// A larger server is no worse, and no better than the prices allow: all that there is of the
    /// resources, at their prices, is worth `w·P`, and the load 1 over that at least.
    fn more_resource(&mut self, n: usize, more: &MoreResource) {
        let (workload, certificate) = (self.server.workload, self.server.certificate);
        let here = |field: &str| format!("more_resource[{n}].{field}");
        let resources = workload.resources();
        let place = resources.iter().position(|r| r.name() == more.resource);
        let larger = place.and_then(|j| workload.with_one_more_unit(j));
        let Some((larger, unit)) = larger else {
            let message = "expected a resource of the server that some type needs";
            return self.add(&here("resource"), message);
        };
        if !is_close(more.more, unit, ROUNDING) {
            self.add(&here("more"), format!("{}, expected {unit}", more.more));
        }
        let pairs = larger.resources().iter().zip(&certificate.resource_prices);
        let worth: f64 = pairs.map(|(r, w)| r.units() as f64 * w).sum();
        self.between(&here("load"), more.load, 1.0 / worth, certificate.load);
        self.stands(&here("load"), PROGRAM);
        if let Some(found) = more.mean_response {
            let (least, most) = (self.shortest(workload), self.now().unwrap_or(f64::MAX));
            self.between(&here("mean_response"), found, least, most);
            self.stands(&here("mean_response"), SENSE);
        }
    }

    /// The mean response time is twice as long between a little less and a little more.
    fn twice(&mut self, place: &str, found: f64) {
        let (workload, load) = (self.server.workload, self.server.certificate.load);
        self.between(place, found, load, 1.0);
        let factor = found / load;
        let times = |factor: f64| {
            let busier = workload.scaled(factor).ok()?;
            let again = Again::new(self.server, self.policy.clone(), &busier);
            let number: f64 = again.numbers(Method::ExactQbd).ok()?.means.iter().sum();
            Some(number / busier.total_arrival_rate() / self.now()?)
        };
        let [less, more] = [1.0 - AGREEMENT, 1.0 + AGREEMENT].map(|f| times(f * factor));
        match less.zip(more) {
            Some((less, more)) if less <= 2.0 && 2.0 <= more => self.stands(place, SOLVED),
            Some((less, _)) => {
                self.add(
                    place,
                    format!("{found}, where it is {less} times as long, expected 2"),
                );
            }
            None => self.stands(place, SENSE),
        }
    }

    fn at_twice_the_rate(&mut self, place: &str, found: f64) {
        let workload = self.server.workload;
        self.between(place, found, self.shortest(workload), f64::MAX);
        let faster = MsrPolicy {
            switching_rate: 2.0 * self.policy.switching_rate,
            ..self.policy.clone()
        };
        let again = Again::new(self.server, faster, workload);
        let second = again.is(found, Objective::Mean, Method::ExactQbd);
        self.second(place, found, &second);
    }

    /// Both tuned, and neither of them is this policy.
    fn setups(&mut self, setups: Crossing) {
        if let Some(rate) = setups.setup_rate {
            self.positive("setups.setup_rate", rate);
        }
        self.positive("setups.without_preemption", setups.without_preemption);
        self.stands("setups", TUNED);
    }
}
