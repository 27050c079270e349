//! Claims of rules that look at queues: the program's load, and what was simulated. The second
//! derivation of the latter is another simulation, which is not this checker's work; here they
//! have to make sense, and to agree with each other.

use std::collections::HashSet;

use super::Report;
use crate::multiresource::artifact::{Artifact, Claim, Conditions, Method, Quantity};
use crate::multiresource::workload::Workload;

pub(super) fn check(artifact: &Artifact, workload: &Workload, report: &mut Report) {
    let mut known = HashSet::new();
    for (n, claim) in artifact.claims.iter().enumerate() {
        let path = format!("claims[{n}]");
        if !known.insert((claim.quantity, claim.job_type.as_deref())) {
            report.add(path, "claims what another one claims");
            continue;
        }
        let unit = claim.quantity.unit(workload.time_unit());
        if claim.unit != unit {
            report.add(
                format!("{path}.unit"),
                format!("`{}`, expected `{unit}`", claim.unit),
            );
        }
        if claim.holds_for != Conditions::default() || claim.at.is_some() {
            report.add(&path, "expected no conditions, and no number of jobs");
        }
        match claim.method {
            Method::ExactProgram => load(artifact, claim, &path, report),
            Method::Simulated => simulated(claim, workload, &path, report),
            other => report.add(
                format!("{path}.method"),
                format!(
                    "{}, expected exact-program or simulated",
                    serde_name(&other)
                ),
            ),
        }
    }
    chosen(artifact, report);
    littles_law(artifact, workload, report);
    sums(artifact, workload, report);
}

fn load(artifact: &Artifact, claim: &Claim, path: &str, report: &mut Report) {
    if claim.quantity != Quantity::Load || claim.job_type.is_some() || claim.half_width.is_some() {
        report.add(
            path,
            "expected the load of the whole workload, and no interval",
        );
    } else if !artifact.certificate.proven {
        let message = "exact, expected no such claim: the certificate is not proven";
        report.add(format!("{path}.method"), message);
    } else if claim.value != artifact.certificate.load {
        let message = format!("{}, expected {}", claim.value, artifact.certificate.load);
        report.add(format!("{path}.value"), message);
    }
}

/// A mean with its interval; no job leaves before it is served.
fn simulated(claim: &Claim, workload: &Workload, path: &str, report: &mut Report) {
    let types = workload.types();
    let kind = match claim.job_type.as_deref() {
        None => None,
        Some(name) => match types.iter().find(|t| t.name() == name) {
            Some(kind) => Some(kind),
            None => {
                let message = format!("`{name}`, expected the name of a job type");
                return report.add(format!("{path}.type"), message);
            }
        },
    };
    let work: f64 = types.iter().map(|t| t.offered_load()).sum();
    let shares = || workload.load_shares().into_iter().zip(types);
    let least = match (claim.quantity, kind) {
        (Quantity::MeanResponse, Some(kind)) => kind.mean_size(),
        (Quantity::MeanResponse, None) => work / workload.total_arrival_rate(),
        (Quantity::MeanNumber, Some(kind)) => kind.offered_load(),
        (Quantity::MeanNumber, None) => work,
        (Quantity::WeightedResponse, None) => shares().map(|(w, t)| w * t.mean_size()).sum(),
        (other, _) => {
            let other = serde_name(&other);
            let message = format!("{other}, expected a mean number or a mean response time");
            return report.add(format!("{path}.quantity"), message);
        }
    };
    let half_width = claim.half_width.unwrap_or(f64::NAN);
    let sound = claim.value.is_finite() && (0.0..=claim.value).contains(&half_width);
    if !sound {
        report.add(
            path,
            "expected a finite value with the half-width of its interval, and not more than it",
        );
    } else if claim.value + 2.0 * half_width < least {
        report.add(
            format!("{path}.value"),
            format!("{}, expected at least {least}", claim.value),
        );
    }
}

fn claimed<'a>(
    artifact: &'a Artifact,
    quantity: Quantity,
    kind: Option<&str>,
) -> Option<&'a Claim> {
    let mut claims = artifact.claims.iter();
    claims.find(|c| c.quantity == quantity && c.job_type.as_deref() == kind)
}

/// The value that the policy was chosen by is the one claimed.
fn chosen(artifact: &Artifact, report: &mut Report) {
    let Some(choice) = &artifact.provenance.choice else {
        return;
    };
    let quantity = choice.objective.quantity();
    let taken = choice.candidates.first().and_then(|c| c.value);
    if let (Some(taken), Some(claim)) = (taken, claimed(artifact, quantity, None))
        && (taken.mean != claim.value || Some(taken.half_width) != claim.half_width)
    {
        let told = |mean: f64, half_width: f64| format!("{mean} ± {half_width}");
        let message = format!(
            "{}, expected {} as claimed",
            told(taken.mean, taken.half_width),
            told(claim.value, claim.half_width.unwrap_or(f64::NAN))
        );
        report.add("provenance.choice.candidates[0].value", message);
    }
}

/// What is claimed of all types is the sum over them: `E[N] = Σ E[N_i]`, `Σ w_i E[T_i]`, within the
/// intervals.
fn sums(artifact: &Artifact, workload: &Workload, report: &mut Report) {
    let shares = workload.load_shares();
    let ones = vec![1.0; shares.len()];
    for (of_all, of_types, weights) in [
        (Quantity::MeanNumber, Quantity::MeanNumber, ones),
        (Quantity::WeightedResponse, Quantity::MeanResponse, shares),
    ] {
        let (Some(all), names) = (claimed(artifact, of_all, None), workload.types()) else {
            continue;
        };
        let parts = names
            .iter()
            .map(|t| claimed(artifact, of_types, Some(t.name())));
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
            report.add("claims", message);
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
fn littles_law(artifact: &Artifact, workload: &Workload, report: &mut Report) {
    let all = (None, workload.total_arrival_rate());
    let types = workload.types().iter();
    let each = types.map(|t| (Some(t.name()), t.arrival_rate()));
    for (name, rate) in std::iter::once(all).chain(each) {
        let number = claimed(artifact, Quantity::MeanNumber, name);
        let response = claimed(artifact, Quantity::MeanResponse, name);
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
                report.add("claims", message);
            }
        }
    }
}
