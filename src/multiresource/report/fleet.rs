//! What is told of a fleet.

use std::fmt::Write as _;

use super::synthesis::prices;
use super::upgrades::of_overloaded;
use super::{load, number, percent, within};
use crate::multiresource::artifact::{Artifact, Claim, Quantity};
use crate::multiresource::program::{LOAD_MARGIN, PROOF_GAP};
use crate::multiresource::verbs::FleetRefusal;
use crate::multiresource::workload::Fleet;

pub(super) fn heading(fleet: &Fleet, artifact: &Artifact, demand: &[f64]) -> String {
    let evidence = &artifact.evidence;
    let (rho, gap, proven) = (evidence.load, evidence.gap, evidence.proven);
    let least = match fleet.gangs().next() {
        Some(_) => {
            return format!(
                "load ρ ≥ {}  (no policy has less: jobs that take several servers are taken apart){}\n{}",
                load(rho),
                with_slots(artifact),
                there_are(fleet, demand)
            );
        }
        None => load(rho),
    };
    let proof = if proven {
        format!("proven best, relative gap below {PROOF_GAP:.0e}")
    } else {
        format!("NOT PROVEN best: gap {gap:.2e}; a longer --time searches on")
    };
    format!("load ρ = {least}  ({proof})\n{}", there_are(fleet, demand))
}

fn there_are(fleet: &Fleet, demand: &[f64]) -> String {
    let shapes = match fleet.shapes().len() {
        1 => "one shape".to_owned(),
        several => format!("{several} shapes"),
    };
    format!(
        "{} servers of {shapes} (demand: {})\n",
        fleet.servers(),
        shares(fleet, demand)
    )
}

/// What is attained with slots for each type, where these guard the policy.
fn with_slots(artifact: &Artifact) -> String {
    let guarded = |claim: &&Claim| claim.quantity == Quantity::LoadUnderGuard;
    let loads = artifact
        .claims
        .iter()
        .filter(guarded)
        .map(|claim| claim.value);
    match loads.reduce(f64::max) {
        Some(most) => format!("\nwith slots for each type it is {}", number(most)),
        None => String::new(),
    }
}

/// What part of all that there is of each resource the jobs need, whatever the shapes.
fn shares(fleet: &Fleet, demand: &[f64]) -> String {
    let resources = fleet.envelope().resources().iter().zip(demand);
    let parts =
        resources.map(|(resource, share)| format!("{} {}", resource.name(), percent(*share)));
    parts.collect::<Vec<_>>().join(", ")
}

/// A value, with its interval where it was simulated.
pub(super) fn told(claim: &Claim) -> String {
    match claim.half_width {
        Some(half_width) => within(claim.value, half_width),
        None => number(claim.value),
    }
}

/// Why a fleet is refused: the proof, and the way out.
pub fn fleet_refusal(fleet: &Fleet, refusal: &FleetRefusal, width: usize) -> String {
    let (certificate, decided) = (&refusal.overload.certificate, refusal.decided);
    let mut text = String::new();
    let _ = match (decided, certificate.bound > 1.0 + LOAD_MARGIN) {
        (true, true) => writeln!(
            text,
            "no policy can stabilize this fleet: load ρ = {}, and it must be below 1",
            load(certificate.bound)
        ),
        (true, false) => writeln!(
            text,
            "no policy can be said to stabilize this fleet: load ρ = 1 to within {LOAD_MARGIN:e}, which double precision cannot separate from 1, and it must be below 1"
        ),
        (false, _) => writeln!(
            text,
            "undecided: the load lies between {} and {}; give the proof more time with --time",
            load(certificate.bound),
            load(certificate.load)
        ),
    };
    let _ = writeln!(text, "demand: {}", shares(fleet, &refusal.demand));
    let _ = writeln!(
        text,
        "\nThe prices that prove it: weigh each type's running jobs by its price; all servers together are worth no more than {}, and the arrivals bring work worth 1.",
        number(1.0 / certificate.bound)
    );
    text += &prices(fleet.types(), &refusal.prices, &certificate.prices, width);
    let _ = writeln!(
        text,
        "\nThe arrival rates would have to shrink to below {} times what they are, all alike; or the fleet to grow.",
        load((1.0 / certificate.load).min(1.0))
    );
    text + &of_overloaded(fleet, &refusal.upgrades, certificate.load, width)
}
