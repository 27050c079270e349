//! Computes a policy: the load, the mean values, the number of interruptions, and the claims.

mod tuning;

pub use tuning::{Options, Tuning};

use std::sync::atomic::Ordering;

use super::analysis::{self, Load, Means};
use super::artifact::{Artifact, Claim, Evidence, Method, Part, Policy, Quantity};
use super::simulator::Run;
use super::workload::Cluster;
use synth_core::artifact::{ArrivalAssumption, HoldsFor, SizeAssumption, Subject};
use synth_simulation::{Estimate, Progress};
use tuning::Tuned;

/// The result of a synthesis.
#[derive(Clone, Debug)]
pub struct Synthesis {
    /// The policy.
    pub artifact: Artifact,
    /// The mean values under balanced fairness, or the reason why they are not known.
    pub means: Result<Means, String>,
    /// How the number of interruptions was selected, or `None` if it was given.
    pub tuning: Option<Tuning>,
}

/// The outcome of a synthesis.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// The synthesis was successful.
    Made(Box<Synthesis>),
    /// There is no policy that is stable.
    Overload(Load),
    /// The synthesis was interrupted before there was a policy.
    Interrupted,
}

/// Computes a policy for a workload.
///
/// # Errors
/// Returns an error if an invariant does not hold, which is a bug in this program.
pub fn synthesize(
    cluster: &Cluster,
    options: &Options,
    listener: impl FnMut(&str, Progress),
) -> Result<Outcome, String> {
    let load = analysis::load(cluster);
    if load.load >= 1.0 {
        return Ok(Outcome::Overload(load));
    }
    let means = analysis::means(cluster);
    let tuned = tuning::tune(cluster, &load, means.as_ref().ok(), options, listener)?;
    if options.interrupt.load(Ordering::Relaxed) {
        return Ok(Outcome::Interrupted);
    }
    let policy = Policy {
        interruptions: tuned.interruptions,
        slice: cluster.slice(tuned.interruptions),
    };
    let claims = claims(cluster, &load, means.as_ref().ok(), &tuned);
    let evidence = evidence(cluster, &load);
    Ok(Outcome::Made(Box::new(Synthesis {
        artifact: Artifact::new(cluster.record.clone(), policy, claims, evidence),
        means,
        tuning: tuned.tuning,
    })))
}

fn evidence(cluster: &Cluster, load: &Load) -> Evidence {
    let margin = load.margin.as_ref();
    let part = |(s, part): &(usize, f64)| Part {
        server: cluster.servers()[*s].name.clone(),
        part: *part,
    };
    let of_class = |parts: &Vec<(usize, f64)>| parts.iter().map(part).collect();
    let name = |i: &usize| cluster.classes()[*i].name.clone();
    Evidence {
        load: load.load,
        tight: margin.map(|margin| margin.tight.iter().map(name).collect()),
        routing: margin.map(|margin| margin.routing.iter().map(of_class).collect()),
    }
}

const OWN: [Quantity; 2] = [Quantity::MeanResponse, Quantity::MeanNumber];
const FAIR: [Quantity; 2] = [Quantity::FairResponse, Quantity::FairNumber];

fn claims(cluster: &Cluster, load: &Load, means: Option<&Means>, tuned: &Tuned) -> Vec<Claim> {
    let (value, always) = ((load.load, &*cluster.record.time_unit), HoldsFor::default());
    let (load, method) = (Quantity::Load, Method::ExactFlow);
    let mut claims = vec![Claim::new(load, Subject::ALL, value, method, always)];
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

fn exact(cluster: &Cluster, means: &Means) -> Vec<Claim> {
    let poisson = HoldsFor {
        arrivals: Some(ArrivalAssumption::Poisson),
        ..HoldsFor::default()
    };
    let exponential = HoldsFor {
        sizes: Some(SizeAssumption::Exponential),
        ..poisson.clone()
    };
    let claim = |quantity, subject, value, holds_for: &HoldsFor<_>| {
        let value = (value, &*cluster.record.time_unit);
        Claim::new(quantity, subject, value, means.by, holds_for.clone())
    };
    let rates = cluster.arrival_rates();
    let each = cluster.classes().iter().enumerate();
    let each = each.map(|(i, class)| (Subject::of_type(&*class.name), i..i + 1));
    let all = (Subject::ALL, 0..rates.len());
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
    if cluster.assignment().is_none() {
        let servers = cluster.servers().iter().zip(&means.utilizations);
        claims.extend(servers.map(|(server, busy)| {
            let subject = Subject::ALL.on(Some(&server.name));
            claim(Quantity::Utilization, subject, *busy, &exponential)
        }));
    }
    claims
}

fn simulated(cluster: &Cluster, run: &Run, quantities: [Quantity; 2]) -> Vec<Claim> {
    let classes = run.types.iter();
    let classes = classes.filter(|_| cluster.has_statistics_by_class());
    let each = classes.map(|class| {
        let subject = Subject::of_type(class.name.as_str());
        (subject, [class.mean_response, class.mean_number])
    });
    let all = (Subject::ALL, [run.mean_response, run.mean_number]);
    let claim = |subject, quantity, measured: Estimate| {
        let value = (measured.mean, &*cluster.record.time_unit);
        let (method, always) = (Method::Simulated, HoldsFor::default());
        Claim {
            half_width: Some(measured.half_width),
            ..Claim::new(quantity, subject, value, method, always)
        }
    };
    let claims = [all].into_iter().chain(each).flat_map(|(subject, both)| {
        let both = quantities.into_iter().zip(both);
        both.filter_map(move |(quantity, own)| Some(claim(subject, quantity, own?)))
    });
    claims.collect()
}
