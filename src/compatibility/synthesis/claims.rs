//! What is known of a policy, each number with its method and the conditions it holds under.

use super::tuning::Tuned;
use crate::artifact::{ArrivalLaw, SizeLaw, Subject};
use crate::compatibility::analysis::{Load, Means, Sum};
use crate::compatibility::artifact::{Claim, HoldsFor, Method, Quantity};
use crate::compatibility::simulator::Run;
use crate::compatibility::workload::{Cluster, Jobs};

/// Quantities of the policy itself, and the same of balanced fairness.
const OWN: [Quantity; 2] = [Quantity::MeanResponse, Quantity::MeanNumber];
const FAIR: [Quantity; 2] = [Quantity::FairResponse, Quantity::FairNumber];

pub(super) fn claims(
    cluster: &Cluster,
    load: &Load,
    means: Option<&Means>,
    tuned: &Tuned,
) -> Vec<Claim> {
    let mut claims = vec![Claim::new(
        Quantity::Load,
        Subject::ALL,
        (load.load, cluster.time_unit()),
        Method::ExactFlow,
        HoldsFor::default(),
    )];
    if let Some(means) = means {
        claims.extend(exact(cluster, means));
    } else if let Some(run) = &tuned.fair {
        claims.extend(simulated(cluster, run, FAIR));
        if cluster.size().is_exponential() {
            claims.extend(simulated(cluster, run, OWN));
        }
    }
    if let Some(run) = &tuned.own {
        claims.extend(simulated(cluster, run, OWN));
    }
    claims
}

/// Of all jobs, of each class, and of each server.
fn exact(cluster: &Cluster, means: &Means) -> Vec<Claim> {
    let method = match means.by {
        Sum::Servers => Method::ExactIdleServers,
        Sum::Classes => Method::ExactActiveClasses,
        Sum::Counts => Method::ExactSymmetry,
    };
    let poisson = HoldsFor {
        arrivals: Some(ArrivalLaw::Poisson),
        ..HoldsFor::default()
    };
    let exponential = HoldsFor {
        sizes: Some(SizeLaw::Exponential),
        ..poisson.clone()
    };
    let claim = |quantity, subject, value, holds_for: &HoldsFor| {
        let value = (value, cluster.time_unit());
        Claim::new(quantity, subject, value, method, holds_for.clone())
    };
    let told_apart = matches!(cluster.jobs(), Jobs::Classes(_));
    let (names, rates) = (cluster.names(), cluster.arrival_rates());
    let each = names.iter().enumerate().filter(|_| told_apart);
    let each = each.map(|(i, name)| (Subject::of_type(*name), i..i + 1));
    let all = (Subject::ALL, 0..names.len());
    let mut claims = Vec::new();
    for (subject, places) in [all].into_iter().chain(each) {
        let number: f64 = means.numbers[places.clone()].iter().sum();
        let response = number / rates[places].iter().sum::<f64>();
        let rate = cluster.size().mean() / response;
        claims.extend([
            claim(Quantity::FairResponse, subject, response, &poisson),
            claim(Quantity::FairNumber, subject, number, &poisson),
            claim(Quantity::FairRate, subject, rate, &poisson),
        ]);
        if cluster.size().is_exponential() {
            claims.extend([
                claim(Quantity::MeanResponse, subject, response, &exponential),
                claim(Quantity::MeanNumber, subject, number, &exponential),
            ]);
        }
    }
    let servers = cluster.servers().iter().zip(&means.busy);
    claims.extend(servers.filter(|_| told_apart).map(|(server, busy)| {
        let subject = Subject::ALL.on(Some(&server.name));
        claim(Quantity::Utilization, subject, *busy, &exponential)
    }));
    claims
}

/// What a run measured, of all jobs and of each class.
fn simulated(cluster: &Cluster, run: &Run, [response, number]: [Quantity; 2]) -> Vec<Claim> {
    let apart = matches!(cluster.jobs(), Jobs::Classes(_)) && cluster.are_told_apart();
    let each = run.types.iter().filter(|_| apart).map(|class| {
        let subject = Subject::of_type(class.name.as_str());
        (subject, class.mean_response, class.mean_number)
    });
    let all = (Subject::ALL, run.mean_response, run.mean_number);
    let mut claims = Vec::new();
    for (subject, responses, numbers) in [all].into_iter().chain(each) {
        for (quantity, measured) in [(response, responses), (number, numbers)] {
            let Some(measured) = measured else { continue };
            let value = (measured.mean, cluster.time_unit());
            let holds_for = HoldsFor::default();
            claims.push(Claim {
                half_width: Some(measured.half_width),
                ..Claim::new(quantity, subject, value, Method::Simulated, holds_for)
            });
        }
    }
    claims
}
