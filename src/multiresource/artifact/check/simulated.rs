//! Claims of rules that look at queues: the program's load, and what was simulated. The second
//! derivation of the latter is another simulation, which is not this checker's work; here they
//! have to make sense, and to agree with each other.

use std::collections::HashSet;

use super::OneServer;
use crate::artifact::{Findings, Known, Quantity as _, Side, Subject, find};
use crate::multiresource::artifact::{Claim, HoldsFor, Measure, Method, Quantity};
use crate::multiresource::workload::Workload;

/// Simulated claims, and what they are about.
struct Simulated<'a> {
    /// The claims, each with its place among all.
    claims: &'a [(usize, &'a Claim)],
    /// The shape of which one server is meant, if it is not the whole policy.
    shape: Option<&'a str>,
    workload: &'a Workload,
    /// The load in the certificate, and whether that is proven.
    load: f64,
    proven: bool,
}

/// The claims about one server.
pub(super) fn of_server(server: &OneServer<'_>, findings: &mut Findings) {
    let simulated = Simulated {
        claims: &server.claims,
        shape: server.shapes.get(server.place).copied(),
        workload: server.workload,
        load: server.certificate.load,
        proven: server.certificate.proven,
    };
    check(&simulated, findings);
    chosen(server, findings);
}

fn check(server: &Simulated<'_>, findings: &mut Findings) {
    let types: Vec<&str> = server.workload.types().iter().map(|t| t.name()).collect();
    let known = Known {
        types: &types,
        servers: server.shape.as_slice(),
        ..Known::default()
    };
    let mut before = HashSet::new();
    for (n, claim) in server.claims {
        let path = format!("claims[{n}]");
        if !before.insert((claim.quantity, claim.subject())) {
            findings.add(path, "claims what another one claims");
            continue;
        }
        if !claim.has_subject(&path, &known, findings) {
            continue;
        }
        let unit = claim.quantity.unit(server.workload.time_unit());
        if claim.unit != unit {
            findings.add(
                format!("{path}.unit"),
                format!("`{}`, expected `{unit}`", claim.unit),
            );
        }
        if claim.holds_for != HoldsFor::default() || claim.at.is_some() {
            findings.add(&path, "expected no conditions, and no number of jobs");
        }
        match claim.method {
            Method::ExactProgram => load(server, claim, &path, findings),
            Method::Simulated => simulated(claim, server.workload, &path, findings),
            other => findings.add(
                format!("{path}.method"),
                format!(
                    "{}, expected exact-program or simulated",
                    serde_name(&other)
                ),
            ),
        }
    }
    littles_law(server, findings);
    sums(server, findings);
}

fn load(server: &Simulated<'_>, claim: &Claim, path: &str, findings: &mut Findings) {
    if claim.quantity != Quantity::Load || claim.job_type.is_some() || claim.half_width.is_some() {
        findings.add(
            path,
            "expected the load of the whole workload, and no interval",
        );
    } else if !server.proven {
        let message = "exact, expected no such claim: the certificate is not proven";
        findings.add(format!("{path}.method"), message);
    } else if claim.value != server.load {
        let message = format!("{}, expected {}", claim.value, server.load);
        findings.add(format!("{path}.value"), message);
    }
}

/// A mean with its interval; no job leaves before it is served.
fn simulated(claim: &Claim, workload: &Workload, path: &str, findings: &mut Findings) {
    let types = workload.types();
    let name = claim.job_type.as_deref();
    let kind = types.iter().find(|kind| name == Some(kind.name()));
    let work: f64 = types.iter().map(|t| t.offered_load()).sum();
    let shares = || workload.load_shares().into_iter().zip(types);
    let least = match (claim.quantity.row().measure, kind) {
        (Measure::Response, Some(kind)) => kind.mean_size(),
        (Measure::Response, None) => work / workload.total_arrival_rate(),
        (Measure::Number(Side::Equal), Some(kind)) => kind.offered_load(),
        (Measure::Number(Side::Equal), None) => work,
        (Measure::WeightedResponse, _) => shares().map(|(w, t)| w * t.mean_size()).sum(),
        _ => {
            let other = serde_name(&claim.quantity);
            let message = format!("{other}, expected a mean number or a mean response time");
            return findings.add(format!("{path}.quantity"), message);
        }
    };
    let half_width = claim.half_width.unwrap_or(f64::NAN);
    let sound = claim.value.is_finite() && (0.0..=claim.value).contains(&half_width);
    if !sound {
        findings.add(
            path,
            "expected a finite value with the half-width of its interval, and not more than it",
        );
    } else if claim.value + 2.0 * half_width < least {
        findings.add(
            format!("{path}.value"),
            format!("{}, expected at least {least}", claim.value),
        );
    }
}

impl Simulated<'_> {
    fn find(&self, quantity: Quantity, job_type: Option<&str>) -> Option<&Claim> {
        let subject = Subject::of_type(job_type).on(self.shape);
        find(
            self.claims.iter().map(|(_, claim)| *claim),
            quantity,
            subject,
        )
    }
}

/// The value that the policy was chosen by is the one claimed.
fn chosen(server: &OneServer<'_>, findings: &mut Findings) {
    let Some(choice) = &server.making.choice else {
        return;
    };
    let quantity = choice.objective.quantity();
    let taken = choice.candidates.first().and_then(|c| c.value);
    if let (Some(taken), Some(claim)) = (taken, server.find(quantity, None))
        && (taken.mean != claim.value || Some(taken.half_width) != claim.half_width)
    {
        let told = |mean: f64, half_width: f64| format!("{mean} ± {half_width}");
        let message = format!(
            "{}, expected {} as claimed",
            told(taken.mean, taken.half_width),
            told(claim.value, claim.half_width.unwrap_or(f64::NAN))
        );
        findings.add("provenance.choice.candidates[0].value", message);
    }
}

/// What is claimed of all types is the sum over them: `E[N] = Σ E[N_i]`, `Σ w_i E[T_i]`, within the
/// intervals.
fn sums(server: &Simulated<'_>, findings: &mut Findings) {
    let workload = server.workload;
    let shares = workload.load_shares();
    let ones = vec![1.0; shares.len()];
    for (of_all, of_types, weights) in [
        (Quantity::MeanNumber, Quantity::MeanNumber, ones),
        (Quantity::WeightedResponse, Quantity::MeanResponse, shares),
    ] {
        let (Some(all), names) = (server.find(of_all, None), workload.types()) else {
            continue;
        };
        let parts = names.iter().map(|t| server.find(of_types, Some(t.name())));
        let Some(parts) = parts.collect::<Option<Vec<&Claim>>>() else {
            continue;
        };
        let sum = |number: fn(&Claim) -> f64| -> f64 {
            parts.iter().zip(&weights).map(|(c, w)| w * number(c)).sum()
        };
        let (value, width) = (sum(|c| c.value), sum(|c| c.half_width.unwrap_or(0.0)));
        if (all.value - value).abs() > all.half_width.unwrap_or(0.0) + width + SLACK * value {
            let message = format!(
                "{} {} is not {value}, the sum over the types",
                serde_name(&of_all),
                all.value
            );
            findings.add("claims", message);
        }
    }
}

/// As the document has it.
fn serde_name(value: &impl serde::Serialize) -> String {
    let json = serde_json::to_string(value).unwrap_or_default();
    json.trim_matches('"').into()
}

/// How far means of the same run may differ, relatively: jobs at its ends count in one and not in
/// the other.
const SLACK: f64 = 1e-3;

/// `E[N_i] = λ_i E[T_i]`, within both intervals.
fn littles_law(server: &Simulated<'_>, findings: &mut Findings) {
    let workload = server.workload;
    let all = (None, workload.total_arrival_rate());
    let types = workload.types().iter();
    let each = types.map(|t| (Some(t.name()), t.arrival_rate()));
    for (name, rate) in std::iter::once(all).chain(each) {
        let number = server.find(Quantity::MeanNumber, name);
        let response = server.find(Quantity::MeanResponse, name);
        if let (Some(number), Some(response)) = (number, response) {
            let spread =
                number.half_width.unwrap_or(0.0) + rate * response.half_width.unwrap_or(0.0);
            let off = (number.value - rate * response.value).abs();
            if off > 3.0 * spread + SLACK * number.value {
                let of = name.unwrap_or("all types");
                let message = format!(
                    "the mean number {} of {of} is not the arrival rate times the mean response time {}",
                    number.value, response.value
                );
                findings.add("claims", message);
            }
        }
    }
}
