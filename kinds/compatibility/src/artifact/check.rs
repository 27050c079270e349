//! The checker of a policy file, which does not use the code of the synthesis.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::means::{Means, means};
use super::{Artifact, Claim, Evidence, Method, Part, Policy, Quantity, unmet};
use crate::workload::Cluster;
use synth_core::artifact::{
    Findings, Grounds, KnownNames, is_close, nonnegative, positive, sums_to_one,
};

const NEAR: f64 = 1e-9;

/// The relative tolerance for means, which is larger because digits are lost near load 1.
const NEAR_MEANS: f64 = 1e-8;

const CUT_AND_FLOW: Grounds =
    Grounds::Derived("a set of classes needs this load, and a routing attains it");
const SUMS: Grounds =
    Grounds::Derived("the other recursion over sets, or the same one in forward mode");
const BY_LITTLE: Grounds = Grounds::Derived("Little's law");
const SLICE: Grounds = Grounds::Derived("the mean size divided by the number of interruptions");
const TOO_MANY_SETS: Grounds =
    Grounds::Trusted("the number of sets is too large to compute the value again");
const SIMULATED: Grounds = Grounds::Judged(
    "the interval is around a positive number; `synth simulate` tries to refute it",
);

pub(super) fn check(artifact: &Artifact, cluster: &Cluster, findings: &mut Findings) {
    findings.within("policy", |f| policy(&artifact.policy, cluster, f));
    findings.within("evidence", |f| evidence(&artifact.evidence, cluster, f));
    claims(artifact, cluster, findings);
}

fn policy(policy: &Policy, cluster: &Cluster, findings: &mut Findings) {
    nonnegative("interruptions", policy.interruptions, findings);
    let expected = cluster.size().mean() / policy.interruptions;
    match policy.slice {
        Some(slice) => {
            positive("slice", slice, findings);
            if !is_close(slice, expected, NEAR) {
                let expected =
                    format!("{expected}, which is σ divided by the number of interruptions");
                findings.differs("slice", slice, expected);
            }
        }
        None if policy.interruptions > 0.0 => {
            let expected = "σ/m, because the jobs can be interrupted";
            findings.differs("slice", "absent", expected);
        }
        None => {}
    }
    findings.stands("slice", SLICE);
}

fn evidence(evidence: &Evidence, cluster: &Cluster, findings: &mut Findings) {
    positive("load", evidence.load, findings);
    let rates = cluster.service_rates();
    let (needed, most) = match (cluster.assignment(), &evidence.tight, &evidence.routing) {
        (Some(_), None, None) => {
            let all = cluster.arrival_rate() / rates.iter().sum::<f64>();
            (all, all)
        }
        (None, Some(tight), Some(routing)) => {
            let needed = findings.within("tight", |f| needed(tight, cluster, &rates, f));
            let most = findings.within("routing", |f| most_loaded(routing, cluster, f));
            let Some(both) = needed.zip(most) else { return };
            both
        }
        (Some(_), ..) => {
            let message = "expected no tight set and no routing: the servers are identical and drawn for each job";
            return findings.add("", message);
        }
        (None, ..) => {
            return findings.add("", "expected a tight set of classes and also a routing");
        }
    };
    let load = evidence.load;
    if !is_close(load, needed, NEAR) {
        findings.differs("load", load, format!("{needed}, the load of the tight set"));
    }
    if most > load * (1.0 + NEAR) {
        let message = format!("{load}, but the routing loads one server to {most}");
        findings.add("load", message);
    }
    if load >= 1.0 {
        findings.differs("load", load, "less than 1");
    }
    for path in ["load", "tight", "routing"] {
        findings.stands(path, CUT_AND_FLOW);
    }
}

/// Returns `λ(A)/μ(A)` for the tight set `A`.
fn needed(tight: &[String], cluster: &Cluster, rates: &[f64], f: &mut Findings) -> Option<f64> {
    let (mut servers, mut arriving, mut seen) = (BTreeSet::new(), 0.0, HashSet::new());
    for (n, name) in tight.iter().enumerate() {
        let class = cluster.classes().iter().find(|class| class.name == *name);
        let Some(class) = class.filter(|_| seen.insert(name)) else {
            let found = format!("`{name}`");
            f.differs(format!("[{n}]"), found, "the name of a class, listed once");
            return None;
        };
        servers.extend(class.servers.iter().copied());
        arriving += class.arrival_rate.value();
    }
    if tight.is_empty() {
        f.differs("", "empty", "at least one class");
        return None;
    }
    Some(arriving / servers.into_iter().map(|s: usize| rates[s]).sum::<f64>())
}

fn most_loaded(routing: &[Vec<Part>], cluster: &Cluster, f: &mut Findings) -> Option<f64> {
    let (classes, rates) = (cluster.classes(), cluster.service_rates());
    f.length("", routing.len(), classes.len(), "class");
    let names = cluster.servers().iter().enumerate();
    let places: HashMap<&str, usize> = names.map(|(s, server)| (&*server.name, s)).collect();
    let mut loads = vec![0.0; rates.len()];
    for (i, (parts, class)) in routing.iter().zip(classes).enumerate() {
        for (n, part) in parts.iter().enumerate() {
            positive(format!("[{i}][{n}].part"), part.part, f);
            let place = places.get(&*part.server);
            match place.filter(|s| class.servers.contains(s)) {
                Some(s) => loads[*s] += class.arrival_rate.value() * part.part / rates[*s],
                None => {
                    let expected = format!("a server that class `{}` may use", class.name);
                    let path = format!("[{i}][{n}].server");
                    f.differs(path, format!("`{}`", part.server), expected);
                }
            }
        }
        let parts: Vec<f64> = parts.iter().map(|part| part.part).collect();
        sums_to_one(&format!("[{i}]"), &parts, f);
    }
    let most = loads.into_iter().fold(0.0, f64::max);
    f.is_clear("").then_some(most)
}

fn claims(artifact: &Artifact, cluster: &Cluster, findings: &mut Findings) {
    let types: Vec<&str> = cluster.classes().iter().map(|c| &*c.name).collect();
    let servers: Vec<&str> = cluster.servers().iter().map(|s| &*s.name).collect();
    let known = KnownNames {
        servers: &servers,
        types: &types,
        ..KnownNames::default()
    };
    // If the load is 1 or more, the sums do not exist.
    let sound = findings.is_clear("evidence");
    let means = sound.then(|| means(cluster)).flatten();
    let (time, mut seen) = (&cluster.record.time_unit, HashSet::new());
    for (n, own) in artifact.claims.iter().enumerate() {
        let path = format!("claims[{n}]");
        if own.check_plain(&path, &known, time, &mut seen, findings) {
            let load = artifact.evidence.load;
            findings.within(path, |f| claim(own, load, cluster, means.as_ref(), f));
        }
    }
}

fn malformed(claim: &Claim) -> Option<&'static str> {
    let is_amount = |number: f64| number >= 0.0 && number.is_finite();
    let of_server = claim.quantity == Quantity::Utilization;
    let simulated = claim.method == Method::Simulated;
    if of_server != claim.server.is_some() {
        Some("a claim must have a server if it is about the utilization, and no server otherwise")
    } else if simulated != claim.half_width.is_some() {
        Some("a claim must have a `half_width` if it was simulated, and none otherwise")
    } else if !is_amount(claim.value) || !claim.half_width.is_none_or(is_amount) {
        Some("expected numbers that are finite and not negative")
    } else {
        None
    }
}

fn claim(
    claim: &Claim,
    load: f64,
    cluster: &Cluster,
    means: Option<&Means>,
    findings: &mut Findings,
) {
    if let Some(why) = malformed(claim) {
        return findings.add("", why);
    }
    if claim.quantity == Quantity::Load {
        if claim.value != load {
            findings.differs("value", claim.value, load);
        }
        return findings.stands("", CUT_AND_FLOW);
    }
    let own = matches!(
        claim.quantity,
        Quantity::MeanResponse | Quantity::MeanNumber | Quantity::Utilization
    );
    if claim.method == Method::Simulated {
        if claim.value <= 0.0 || own && unmet(claim, cluster).any() {
            findings.add("value", "this value cannot be the result of a simulation");
        }
        return findings.stands("", SIMULATED);
    }
    // The policy is only known to have these means if the sizes are exponential.
    if own && claim.holds_for.sizes.is_none() {
        let expected = "`exponential`, because the value is not known for other size distributions";
        return findings.differs("holds_for.sizes", "absent", expected);
    }
    match means.and_then(|means| expected(claim, cluster, means)) {
        Some((expected, by)) if is_close(claim.value, expected, NEAR_MEANS) => {
            findings.stands("", by);
        }
        Some((expected, _)) => findings.differs("value", claim.value, expected),
        None => findings.stands("", TOO_MANY_SETS),
    }
}

fn expected(claim: &Claim, cluster: &Cluster, means: &Means) -> Option<(f64, Grounds)> {
    let (names, rates) = (cluster.names(), cluster.arrival_rates());
    let chosen = |i: &usize| claim.job_type.as_deref().is_none_or(|own| own == names[*i]);
    let places: Vec<usize> = (0..names.len()).filter(chosen).collect();
    let number: f64 = places.iter().map(|i| means.numbers[*i]).sum();
    let response = number / places.iter().map(|i| rates[*i]).sum::<f64>();
    Some(match claim.quantity {
        Quantity::MeanNumber | Quantity::FairNumber => (number, SUMS),
        Quantity::MeanResponse | Quantity::FairResponse => (response, BY_LITTLE),
        Quantity::FairRate => (cluster.size().mean() / response, BY_LITTLE),
        Quantity::Utilization => {
            let mut servers = cluster.servers().iter();
            let place = servers.position(|s| Some(&s.name) == claim.server.as_ref())?;
            (means.busy[place], SUMS)
        }
        Quantity::Load => return None,
    })
}
