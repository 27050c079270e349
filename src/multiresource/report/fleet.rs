//! What is said of a rule over all servers of a fleet.

use std::fmt::Write as _;

use itertools::chain;

use super::room::demand;
use super::{Table, claim, load, number, percent, proof, shares, value, wrap};
use crate::multiresource::artifact::{Artifact, Family, Quantity, unmet};
use crate::multiresource::workload::Fleet;
use crate::report::counted;

/// Says how much more the slots carry, what the rule does, and what it costs.
pub(super) fn slots_and_costs(fleet: &Fleet, artifact: &Artifact, width: usize) -> String {
    let rule = artifact.policy.followed().words(fleet.envelope());
    format!(
        "{}\n{}\n\n{}\n{}",
        wrap(&room_for_more(fleet, artifact), width),
        wrap(&rule, width),
        costs(fleet, artifact, width),
        wrap(&conditions(fleet, artifact), width)
    )
}

/// Returns the slots of each type, where these are all that it has.
fn slots(fleet: &Fleet, artifact: &Artifact) -> Option<Vec<u64>> {
    let nodes: Vec<u32> = fleet.types().iter().map(|kind| kind.nodes()).collect();
    match &artifact.policy {
        Family::Partition(policy) if policy.assignments.len() == 1 => Some(policy.jobs(0, &nodes)),
        _ => None,
    }
}

/// Returns how much more of a type its slots carry.
fn room_for_more(fleet: &Fleet, artifact: &Artifact) -> String {
    let slots = slots(fleet, artifact).unwrap_or_default();
    let slots = fleet.types().iter().zip(slots);
    let more = slots.map(|(kind, slots)| (slots as f64 / kind.offered_load() - 1.0, kind.name()));
    let Some((more, name)) = more.min_by(|a, b| a.0.total_cmp(&b.0)) else {
        return String::new();
    };
    format!(
        "The slots are for these rates: type {name} has least room for more, {}; where rates are not that sure, `--family pooled` shares all room.\n",
        percent(more)
    )
}

/// Says what there is, and what is scarce.
pub(super) fn shapes(fleet: &Fleet, artifact: &Artifact, width: usize) -> String {
    let mut table = Table::new(["shape", "servers", "price", "types"]);
    let evidence = &artifact.evidence;
    for (shape, at) in fleet.shapes().iter().zip(&evidence.servers) {
        // What all of them are worth, as a fraction of the whole fleet's worth.
        let worth = f64::from(shape.count()) * at.worth * evidence.bound;
        table.row([
            shape.name().to_owned(),
            shape.count().to_string(),
            percent(worth),
            shape.types().len().to_string(),
        ]);
    }
    table.within(width)
}

fn costs(fleet: &Fleet, artifact: &Artifact, width: usize) -> String {
    let unit = fleet.time_unit();
    let mean = format!("E[T] [{unit}]");
    let slots = slots(fleet, artifact);
    let mut table = Table::new(chain!(
        ["type", "arrivals", "mean size"],
        slots.as_ref().map(|_| "slots"),
        [&*mean, "E[N]"]
    ));
    let of = |kind| {
        let claimed = |quantity| claim(artifact, quantity, kind).map_or("–".into(), value);
        [Quantity::MeanResponse, Quantity::MeanNumber].map(claimed)
    };
    for (i, kind) in fleet.types().iter().enumerate() {
        let row = [
            kind.name().to_owned(),
            format!("{} /{unit}", number(kind.arrival_rate())),
            format!("{} {unit}", number(kind.mean_size())),
        ];
        let slots = slots.as_ref().map(|slots| slots[i].to_string());
        table.row(chain!(row, slots, of(Some(kind.name()))));
    }
    let empty = slots.map(|_| String::new());
    let row = ["all", "", ""].map(String::from);
    table.row(chain!(row, empty, of(None)));
    table.within(width)
}

/// Says what the mean over all jobs assumes.
fn conditions(fleet: &Fleet, artifact: &Artifact) -> String {
    let Some(mean) = claim(artifact, Quantity::MeanResponse, None) else {
        return "no mean is claimed\n".into();
    };
    let unmet = unmet(&mean.holds_for, None, fleet.envelope(), false);
    let how = match unmet.words() {
        _ if mean.half_width.is_some() => "by simulation of all servers".into(),
        None => "exactly".into(),
        Some(taken) => format!("as if {taken}"),
    };
    let (mean, unit) = (value(mean), fleet.time_unit());
    format!("E[T] = {mean} {unit} over all jobs, {how}; they wait in one place.\n")
}

/// Returns the load with its proof, and what there is.
pub(super) fn heading(fleet: &Fleet, artifact: &Artifact) -> String {
    let evidence = &artifact.evidence;
    let rho = load(evidence.load);
    let mut text = format!("load ρ = {rho}  ({})\n", proof(evidence));
    if fleet.gangs().next().is_some() {
        text = format!(
            "load ρ ≥ {rho}  (no policy has less: jobs that take several servers are taken apart)\n"
        );
        // What is attained with slots for each type, where these guard the policy.
        let claims = artifact.claims.iter();
        let guarded = claims.filter(|claim| claim.quantity == Quantity::LoadUnderGuard);
        if let Some(most) = guarded.map(|claim| claim.value).reduce(f64::max) {
            let _ = writeln!(text, "with slots for each type it is {}", number(most));
        }
    }
    let shapes = counted(fleet.shapes().len() as f64, "shape");
    let (servers, shares) = (fleet.servers(), shares(fleet.envelope(), &demand(fleet)));
    let _ = writeln!(text, "{servers} servers of {shapes} (demand: {shares})");
    text
}
