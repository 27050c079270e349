//! The checker: derives what an artifact says from the artifact alone, by other code than made it.

use std::collections::{HashMap, HashSet};

use super::means::{Means, means};
use super::{Artifact, Claim, Evidence, Measure, Method, Policy, Quantity, unmet};
use crate::artifact::{
    Findings, Grounds, Known, Quantity as _, is_close, length, nonnegative, positive, sums_to_one,
};
use crate::compatibility::workload::{Cluster, Jobs};

/// How near sums of many doubles are to what they are to be.
const NEAR: f64 = 1e-9;

/// The same of means, which near the load 1 lose digits.
const NEAR_MEANS: f64 = 1e-8;

const CUT_AND_FLOW: Grounds =
    Grounds::Derived("a set of classes needs that much, and a routing needs no more");
const SUMS: Grounds = Grounds::Derived("the other recursion over sets, or this one forward");
const BY_LITTLE: Grounds = Grounds::Derived("Little's law");
const SIMULATED: Grounds =
    Grounds::Judged("an interval around a positive number; `synth simulate` tries to refute it");

/// Checks what an artifact says, and notes on which grounds the rest stands.
pub(super) fn check(artifact: &Artifact, findings: &mut Findings) -> Option<Cluster> {
    let cluster = findings.workload(artifact.workload.check())?;
    policy(&artifact.policy, &cluster, findings);
    evidence(&artifact.evidence, &cluster, findings);
    claims(artifact, &cluster, findings);
    findings.remarks(&["workload.source", "tool"]);
    Some(cluster)
}

fn policy(policy: &Policy, cluster: &Cluster, findings: &mut Findings) {
    nonnegative("policy.interruptions", policy.interruptions, findings);
    match policy.slice {
        None if policy.interruptions > 0.0 => {
            findings.add("policy.slice", "absent, expected σ/m: jobs are interrupted");
        }
        Some(slice) => {
            positive("policy.slice", slice, findings);
            let expected = cluster.size().mean() / policy.interruptions;
            if !is_close(slice, expected, NEAR) {
                let message = format!("{slice}, expected {expected}: σ over the interruptions");
                findings.add("policy.slice", message);
            }
        }
        None => {}
    }
    let by = Grounds::Derived("the mean size over the number of interruptions");
    findings.stands("policy.slice", by);
}

/// The load, from below and from above.
fn evidence(evidence: &Evidence, cluster: &Cluster, findings: &mut Findings) {
    const LOAD: &str = "evidence.load";
    positive(LOAD, evidence.load, findings);
    let rates = cluster.service_rates();
    let all = cluster.arrival_rate() / rates.iter().sum::<f64>();
    let needed = match (cluster.jobs(), &evidence.tight, &evidence.routing) {
        (Jobs::Random(_), None, None) => Some([all; 2]),
        (Jobs::Classes(_), Some(tight), Some(_)) => {
            let needed = needed(tight, cluster, &rates, findings);
            let most = most_loaded(evidence, cluster, &rates, findings);
            needed.zip(most).map(|(needed, most)| [needed, most])
        }
        (jobs, ..) => {
            let expected = match jobs {
                Jobs::Random(_) => "absent: servers are drawn for each job, and all are alike",
                Jobs::Classes(_) => "both a tight set of classes and a routing",
            };
            findings.add("evidence", format!("expected {expected}"));
            None
        }
    };
    let Some([needed, most]) = needed else {
        return;
    };
    if !is_close(evidence.load, needed, NEAR) {
        let message = format!(
            "{}, expected {needed}: what the tight set needs",
            evidence.load
        );
        findings.add(LOAD, message);
    }
    if most > evidence.load * (1.0 + NEAR) {
        let message = format!("{}, but the routing gives a server {most}", evidence.load);
        findings.add(LOAD, message);
    }
    if evidence.load >= 1.0 {
        findings.add(LOAD, format!("{}, expected less than 1", evidence.load));
    }
    for path in [LOAD, "evidence.tight", "evidence.routing"] {
        findings.stands(path, CUT_AND_FLOW);
    }
}

/// `λ(A)/μ(A)` of the tight set.
fn needed(
    tight: &[String],
    cluster: &Cluster,
    rates: &[f64],
    findings: &mut Findings,
) -> Option<f64> {
    let mut servers = HashSet::new();
    let mut arriving = 0.0;
    let mut seen = HashSet::new();
    for (n, name) in tight.iter().enumerate() {
        let class = cluster.classes().iter().find(|class| class.name == *name);
        let Some(class) = class.filter(|_| seen.insert(name)) else {
            let message = format!("`{name}`, expected the name of a class, once");
            findings.add(format!("evidence.tight[{n}]"), message);
            return None;
        };
        servers.extend(class.servers.iter().copied());
        arriving += class.arrival_rate.value();
    }
    if tight.is_empty() {
        findings.add("evidence.tight", "empty, expected at least one class");
        return None;
    }
    let mut servers: Vec<usize> = servers.into_iter().collect();
    servers.sort_unstable();
    Some(arriving / servers.iter().map(|s| rates[*s]).sum::<f64>())
}

/// The load of the server that has the most under the routing.
fn most_loaded(
    evidence: &Evidence,
    cluster: &Cluster,
    rates: &[f64],
    findings: &mut Findings,
) -> Option<f64> {
    const PATH: &str = "evidence.routing";
    let routing = evidence.routing.as_ref()?;
    let classes = cluster.classes();
    length(PATH, routing.len(), classes.len(), "class", findings);
    let names = cluster.servers().iter().enumerate();
    let places: HashMap<&str, usize> = names.map(|(s, server)| (&*server.name, s)).collect();
    let mut loads = vec![0.0; rates.len()];
    for (i, (parts, class)) in routing.iter().zip(classes).enumerate() {
        let path = format!("{PATH}[{i}]");
        for (n, part) in parts.iter().enumerate() {
            let here = format!("{path}[{n}]");
            positive(format!("{here}.part"), part.part, findings);
            match places
                .get(&*part.server)
                .filter(|s| class.servers.contains(s))
            {
                Some(s) => loads[*s] += class.arrival_rate.value() * part.part / rates[*s],
                None => {
                    let message = format!(
                        "`{}`, expected a server that class `{}` may use",
                        part.server, class.name
                    );
                    findings.add(format!("{here}.server"), message);
                }
            }
        }
        let parts: Vec<f64> = parts.iter().map(|part| part.part).collect();
        sums_to_one(&path, &parts, findings);
    }
    let clear = findings.is_clear(PATH);
    clear.then(|| loads.into_iter().fold(0.0, f64::max))
}

fn claims(artifact: &Artifact, cluster: &Cluster, findings: &mut Findings) {
    let types: Vec<&str> = match cluster.jobs() {
        Jobs::Classes(_) => cluster.names(),
        Jobs::Random(_) => Vec::new(),
    };
    let servers: Vec<&str> = cluster.servers().iter().map(|s| s.name.as_str()).collect();
    let known = Known {
        servers: &servers,
        types: &types,
        ..Known::default()
    };
    // Nothing is derived for a load of 1 or more: the sums do not exist.
    let sound = findings.is_clear("evidence");
    let means = sound.then(|| means(cluster)).flatten();
    let derived = Derived { cluster, means };
    let mut seen = HashSet::new();
    for (n, claim) in artifact.claims.iter().enumerate() {
        let path = format!("claims[{n}]");
        if !claim.is_plain(&path, &known, cluster.time_unit(), &mut seen, findings) {
            continue;
        }
        match shape(claim) {
            Some(why) => findings.add(&*path, why),
            None => derived.claim(artifact, claim, &path, findings),
        }
    }
}

/// What is wrong with a claim, whatever is derived.
fn shape(claim: &Claim) -> Option<&'static str> {
    let is_amount = |number: f64| number >= 0.0 && number.is_finite();
    let of_server = claim.quantity.row().measure == Measure::Utilization;
    let simulated = claim.method == Method::Simulated;
    let wrongs = [
        (
            of_server != claim.server.is_some(),
            "a server is named iff the claim is about its utilization",
        ),
        (
            simulated != claim.half_width.is_some(),
            "a half-width stands with what was simulated, and with nothing else",
        ),
        (
            !is_amount(claim.value) || !claim.half_width.is_none_or(is_amount),
            "expected finite numbers ≥ 0",
        ),
    ];
    let wrong = wrongs.into_iter().find(|(is_wrong, _)| *is_wrong);
    wrong.map(|(_, why)| why)
}

/// What the checker knows itself.
struct Derived<'a> {
    cluster: &'a Cluster,
    means: Option<Means>,
}

impl Derived<'_> {
    fn claim(&self, artifact: &Artifact, claim: &Claim, path: &str, findings: &mut Findings) {
        if claim.quantity == Quantity::Load {
            if claim.value != artifact.evidence.load {
                let message = format!("{}, expected {}", claim.value, artifact.evidence.load);
                findings.add(format!("{path}.value"), message);
            }
            return findings.stands(path, CUT_AND_FLOW);
        }
        let own = matches!(
            claim.quantity,
            Quantity::MeanResponse | Quantity::MeanNumber | Quantity::Utilization
        );
        if claim.method == Method::Simulated {
            let same = !own || !unmet(&claim.holds_for, self.cluster).any();
            if claim.value <= 0.0 || !same {
                let message = "not what could have been simulated";
                findings.add(format!("{path}.value"), message);
            }
            return findings.stands(path, SIMULATED);
        }
        // Of this policy nothing is known but where balanced fairness is the same.
        if own && claim.holds_for.sizes.is_none() {
            let message = "absent, expected `exponential`: for other sizes it is not known";
            return findings.add(format!("{path}.holds_for.sizes"), message);
        }
        match self.expected(claim) {
            Some(expected) if is_close(claim.value, expected, NEAR_MEANS) => {
                let by = if Self::is_number(claim) {
                    SUMS
                } else {
                    BY_LITTLE
                };
                findings.stands(path, by);
            }
            Some(expected) => {
                let message = format!("{}, expected {expected}", claim.value);
                findings.add(format!("{path}.value"), message);
            }
            None => findings.stands(path, Grounds::Trusted("the sums over sets are too long")),
        }
    }

    fn is_number(claim: &Claim) -> bool {
        matches!(
            claim.quantity,
            Quantity::MeanNumber | Quantity::FairNumber | Quantity::Utilization
        )
    }

    /// The value under balanced fairness.
    fn expected(&self, claim: &Claim) -> Option<f64> {
        let means = self.means.as_ref()?;
        let names = self.cluster.names();
        let chosen = |name: &&str| claim.job_type.as_deref().is_none_or(|own| own == *name);
        let places = names.iter().enumerate().filter(|(_, name)| chosen(name));
        let places: Vec<usize> = places.map(|(i, _)| i).collect();
        let rates = self.cluster.arrival_rates();
        let number: f64 = places.iter().map(|i| means.numbers[*i]).sum();
        let response = number / places.iter().map(|i| rates[*i]).sum::<f64>();
        Some(match claim.quantity {
            Quantity::MeanNumber | Quantity::FairNumber => number,
            Quantity::MeanResponse | Quantity::FairResponse => response,
            Quantity::FairRate => self.cluster.size().mean() / response,
            Quantity::Utilization => {
                let mut servers = self.cluster.servers().iter();
                let place = servers.position(|s| Some(&s.name) == claim.server.as_ref())?;
                means.busy[place]
            }
            Quantity::Load => return None,
        })
    }
}
