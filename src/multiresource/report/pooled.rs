//! What is told of a rule over all servers of a fleet.

use std::fmt::Write as _;

use super::{Table, choice, claim, load, number, percent, within, wrap};
use crate::multiresource::artifact::{Artifact, Claim, Family, Preemption, Quantity, unmet};
use crate::multiresource::program::PROOF_GAP;
use crate::multiresource::synthesis::{Basis, Chosen};
use crate::multiresource::verbs::{Stability, Synthesized, demand};
use crate::multiresource::workload::Fleet;

/// The summary.
pub(super) fn pooled(fleet: &Fleet, found: &Synthesized, own: &Chosen, width: usize) -> String {
    let (artifact, workload) = (&found.artifact, fleet.envelope());
    let record = own.choice.as_ref();
    let mut text = match &own.basis {
        Basis::Given => String::new(),
        basis => {
            let basis = (basis, own.is_cut);
            choice::taken(&artifact.policy, record, basis, found.stability, width)
        }
    };
    text += &heading(fleet, artifact);
    let _ = writeln!(text, "\n{}", shapes(fleet, artifact, width));
    if let Some(record) = record {
        text += &choice::compared(workload, record, (Preemption::None, None), width);
        text += &wrap(&choice::verdict(record), width);
        text += &choice::promised(record, artifact);
    }
    text += &choice::left_out(own.unclaimed.as_deref(), &own.skipped, width);
    let _ = writeln!(text, "{}", stability(found.stability, record.is_some()));
    text += &wrap(&room_for_more(fleet, artifact), width);
    let rule = artifact.policy.followed().words(workload);
    let _ = writeln!(text, "\n{}", wrap(&rule, width));
    let _ = writeln!(text, "\n{}", costs(fleet, artifact, width));
    text + &wrap(&conditions(fleet, artifact), width)
}

fn stability(known: Stability, simulated: bool) -> String {
    match known {
        Stability::Seen if !simulated => "stability: proved for exponential sizes and Poisson arrivals only, since each type has more slots than work".into(),
        Stability::Loads => {
            "stability: proved, since each type has more slots than work".into()
        }
        other => choice::stability(other),
    }
}

/// How much more of a type its slots carry, where these are all that it has.
fn room_for_more(fleet: &Fleet, artifact: &Artifact) -> String {
    let Family::Partition(policy) = &artifact.policy else {
        return String::new();
    };
    let nodes: Vec<u32> = fleet.types().iter().map(|kind| kind.nodes()).collect();
    let slots = fleet.types().iter().zip(policy.jobs(0, &nodes));
    let more = slots.map(|(kind, slots)| (slots as f64 / kind.offered_load() - 1.0, kind.name()));
    let least = more.min_by(|a, b| a.0.total_cmp(&b.0));
    let words = least.filter(|_| policy.assignments.len() == 1).map(|(more, name)| {
        format!(
            "The slots are for these rates: type {name} has least room for more, {}; where rates are not that sure, `--family pooled` shares all room.\n",
            percent(more)
        )
    });
    words.unwrap_or_default()
}

/// What there is, and what is scarce.
fn shapes(fleet: &Fleet, artifact: &Artifact, width: usize) -> String {
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
    let slots = match &artifact.policy {
        Family::Partition(policy) if policy.assignments.len() == 1 => {
            let nodes: Vec<u32> = fleet.types().iter().map(|kind| kind.nodes()).collect();
            Some(policy.jobs(0, &nodes))
        }
        _ => None,
    };
    let header = ["type", "arrivals", "mean size"].into_iter();
    let header = header
        .chain(slots.iter().map(|_| "slots"))
        .chain([&*mean, "E[N]"]);
    let mut table = Table::new(header);
    let of = |quantity, kind| claim(artifact, quantity, kind).map_or("–".into(), value);
    for (i, kind) in fleet.types().iter().enumerate() {
        let name = Some(kind.name());
        let mut row = vec![
            kind.name().to_owned(),
            format!("{} /{unit}", number(kind.arrival_rate())),
            format!("{} {unit}", number(kind.mean_size())),
        ];
        row.extend(slots.iter().map(|slots| slots[i].to_string()));
        row.extend([Quantity::MeanResponse, Quantity::MeanNumber].map(|q| of(q, name)));
        table.row(row);
    }
    let mut row = vec!["all".to_owned(), String::new(), String::new()];
    row.extend(slots.iter().map(|_| String::new()));
    row.extend([Quantity::MeanResponse, Quantity::MeanNumber].map(|q| of(q, None)));
    table.row(row);
    table.within(width)
}

/// What the mean over all jobs assumes.
fn conditions(fleet: &Fleet, artifact: &Artifact) -> String {
    let Some(mean) = claim(artifact, Quantity::MeanResponse, None) else {
        return "no mean is claimed\n".into();
    };
    let how = match mean.half_width {
        Some(_) => "by simulation of all servers".into(),
        None => match unmet(&mean.holds_for, None, fleet.envelope(), false).words() {
            None => "exactly".into(),
            Some(taken) => format!("as if {taken}"),
        },
    };
    format!(
        "E[T] = {} {} over all jobs, {how}; they wait in one place.\n",
        value(mean),
        fleet.time_unit()
    )
}

fn heading(fleet: &Fleet, artifact: &Artifact) -> String {
    let evidence = &artifact.evidence;
    let (rho, gap, proven) = (evidence.load, evidence.gap, evidence.proven);
    let least = match fleet.gangs().next() {
        Some(_) => {
            return format!(
                "load ρ ≥ {}  (no policy has less: jobs that take several servers are taken apart){}\n{}",
                load(rho),
                with_slots(artifact),
                there_are(fleet)
            );
        }
        None => load(rho),
    };
    let proof = if proven {
        format!("proven best, relative gap below {PROOF_GAP:.0e}")
    } else {
        format!("NOT PROVEN best: gap {gap:.2e}; a longer --time searches on")
    };
    format!("load ρ = {least}  ({proof})\n{}", there_are(fleet))
}

fn there_are(fleet: &Fleet) -> String {
    let shapes = match fleet.shapes().len() {
        1 => "one shape".to_owned(),
        several => format!("{several} shapes"),
    };
    format!(
        "{} servers of {shapes} (demand: {})\n",
        fleet.servers(),
        shares(fleet)
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
pub(super) fn shares(fleet: &Fleet) -> String {
    let resources = fleet.envelope().resources().iter().zip(demand(fleet));
    let parts =
        resources.map(|(resource, share)| format!("{} {}", resource.name(), percent(share)));
    parts.collect::<Vec<_>>().join(", ")
}

/// A value, with its interval where it was simulated.
fn value(claim: &Claim) -> String {
    match claim.half_width {
        Some(half_width) => within(claim.value, half_width),
        None => number(claim.value),
    }
}
