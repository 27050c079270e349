//! What is told of a rule over all servers of a fleet.

use std::fmt::Write as _;

use super::fleet::{heading, told};
use super::upgrades::{bounds, upgrades};
use super::{Table, choice, claim, number, percent, wrap};
use crate::multiresource::artifact::{Artifact, Family, Preemption, Quantity, unmet};
use crate::multiresource::policy::words;
use crate::multiresource::verbs::{PooledMade, Stability};
use crate::multiresource::workload::Fleet;

/// The summary.
pub fn pooled(fleet: &Fleet, made: &PooledMade, width: usize) -> String {
    let (artifact, workload) = (&made.synthesis.artifact, fleet.envelope());
    let record = made.synthesis.choice.as_ref();
    let mut text = match &made.synthesis.basis {
        Some(basis) => {
            let basis = (basis, made.synthesis.is_cut);
            choice::taken(&artifact.policy, record, basis, made.stability, width)
        }
        None => String::new(),
    };
    text += &heading(fleet, artifact, &made.demand);
    let _ = writeln!(text, "\n{}", shapes(fleet, made, width));
    if let Some(record) = record {
        text += &choice::compared(workload, record, (Preemption::None, None), width);
        text += &wrap(&choice::verdict(record), width);
        text += &choice::promised(record, artifact);
    }
    let made_of = &made.synthesis;
    text += &choice::left_out(made_of.unclaimed.as_deref(), &made_of.skipped, width);
    let _ = writeln!(text, "{}", stability(made));
    text += &wrap(&room_for_more(fleet, artifact), width);
    let rule = words(artifact.policy.followed(), workload);
    let _ = writeln!(text, "\n{}", wrap(&rule, width));
    let _ = writeln!(text, "\n{}", costs(fleet, artifact, width));
    text += &wrap(&conditions(fleet, artifact), width);
    let load = artifact.evidence.load;
    text + &bounds(fleet, artifact, width) + &upgrades(fleet, &made.log.upgrades, load, width)
}

fn stability(made: &PooledMade) -> String {
    let simulated = made.synthesis.choice.is_some();
    match made.stability {
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
    let told = least.filter(|_| policy.assignments.len() == 1).map(|(more, name)| {
        format!(
            "The slots are for these rates: type {name} has least room for more, {}; where rates are not that sure, `--family pooled` shares all room.\n",
            percent(more)
        )
    });
    told.unwrap_or_default()
}

/// What there is, and what is scarce.
fn shapes(fleet: &Fleet, made: &PooledMade, width: usize) -> String {
    let mut table = Table::new(["shape", "servers", "price", "types"]);
    for (shape, worth) in fleet.shapes().iter().zip(&made.worth) {
        table.row([
            shape.name().to_owned(),
            shape.count().to_string(),
            percent(*worth),
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
    let of = |quantity, kind| claim(artifact, quantity, kind).map_or("–".into(), told);
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
        told(mean),
        fleet.time_unit()
    )
}
