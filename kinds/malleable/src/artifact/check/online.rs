//! Checks a rule for jobs that arrive over time. It computes the bound, but does not simulate.

use super::bound::least_response;
use super::{NEAR, derived_as, thirds};
use crate::artifact::{Claim, Method, Quantity};
use crate::policy::Online;
use crate::workload::Stream;
use synth_core::artifact::{Findings, Grounds, nonnegative, positive};

const SIMULATED: Grounds =
    Grounds::Judged("the interval is not below the bound; `synth simulate` tries to refute it");
const BOUND: Grounds =
    Grounds::Derived("weak duality: each job pays rent for its servers, and is scheduled alone");

pub(super) fn check(stream: &Stream, online: &Online, claims: &[Claim], findings: &mut Findings) {
    findings.within("policy.online", |f| {
        for (key, value, most) in [
            ("urgency", online.urgency, 100.0),
            ("background", online.background, 1e9),
        ] {
            nonnegative(key, value, f);
            if value > most {
                f.add(key, format!("expected at most {most}"));
            }
        }
    });
    let bound = bound(stream);
    for (n, claim) in claims.iter().enumerate() {
        findings.within(format!("claims[{n}]"), |f| match claim.quantity {
            Quantity::LeastResponse => {
                derived_as(claim, Method::BoundRent, f);
                if !(claim.value > 0.0 && claim.value <= bound * (1.0 + NEAR)) {
                    let message = format!("{}, but the proved bound is only {bound}", claim.value);
                    f.add("value", message);
                }
                f.stands("", BOUND);
            }
            Quantity::MeanResponse => simulated(claim, bound, f),
            Quantity::MeanNumber => simulated(claim, bound * stream.arrival_rate(), f),
            _ => f.add("", "it requires that no job arrives after the start"),
        });
    }
    littles_law(stream, claims, findings);
}

fn simulated(claim: &Claim, least: f64, findings: &mut Findings) {
    derived_as(claim, Method::Simulated, findings);
    positive("value", claim.value, findings);
    let Some(half_width) = claim.half_width else {
        return findings.add("", "expected a `half_width`, as it is simulated");
    };
    positive("half_width", half_width, findings);
    if half_width > claim.value {
        findings.differs("half_width", half_width, "less than the value");
    }
    if claim.value + 4.0 * half_width < least {
        let message = format!("{}, but every policy has at least {least}", claim.value);
        findings.add("value", message);
    }
    findings.stands("", SIMULATED);
}

fn littles_law(stream: &Stream, claims: &[Claim], findings: &mut Findings) {
    let of = |quantity| claims.iter().find(|claim| claim.quantity == quantity);
    let (Some(response), Some(number)) = (of(Quantity::MeanResponse), of(Quantity::MeanNumber))
    else {
        return;
    };
    let widths = |claim: &Claim| claim.half_width.unwrap_or(0.0) / claim.value;
    let apart = (number.value / (stream.arrival_rate() * response.value) - 1.0).abs();
    if apart > 4.0 * (widths(response) + widths(number)) + NEAR {
        let message = format!("the relative difference between E[N] and λE[T] is {apart}");
        findings.add("claims", message);
    }
}

/// Returns the maximum of the bound over all constant rents. It is a concave function of the rent.
fn bound(stream: &Stream) -> f64 {
    let (servers, rate) = (stream.servers(), stream.arrival_rate());
    let mean = stream.size().mean();
    let at = |rent: f64| least_response(servers, stream.curve(), rate, mean, rent);
    let scale = 1.0 / servers;
    let powers = (-60..=60).map(|n| scale * f64::from(n).exp2());
    let each = powers.map(|rent| (rent, at(rent)));
    let best = each.fold((0.0, at(0.0)), |a, b| if b.1 > a.1 { b } else { a });
    let (_, high) = thirds(best.0 / 2.0, best.0 * 2.0, 100, |rent| -at(rent));
    at(high).max(best.1)
}
