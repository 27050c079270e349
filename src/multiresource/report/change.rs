use std::fmt::Write as _;

use itertools::Itertools;

use super::{number, percent};
use crate::multiresource::artifact::{Artifact, Quantity};
use crate::multiresource::schedule::Schedule;
use crate::multiresource::workload::{Record, RecordType};

/// Changes that are told one by one; of more, how many and how far.
const LISTED: usize = 5;

/// What is different between two policies: what they were made for, and what came of it.
pub fn change(old: &Artifact, new: &Artifact) -> String {
    let mut lines = workloads(&old.workload, &new.workload);
    if lines.is_empty() {
        lines.push("the workload is the same".into());
    }
    lines.push(format!(
        "load ρ {} → {}",
        super::synthesis::load(old.certificate.load),
        super::synthesis::load(new.certificate.load)
    ));
    lines.extend(mixes(old, new));
    if let (Some(old), Some(new)) = (old.policy.msr(), new.policy.msr()) {
        lines.push(format!(
            "switching rate α {} → {}, route {} → {}",
            number(old.switching_rate),
            number(new.switching_rate),
            old.route,
            new.route
        ));
    }
    let mean = |of: &Artifact| {
        let mut claims = of.claims.iter();
        claims
            .find(|c| c.quantity == Quantity::MeanResponse && c.job_type.is_none())
            .map(|c| format!("{} {}", number(c.value), c.unit))
    };
    if let (Some(old), Some(new)) = (mean(old), mean(new)) {
        lines.push(format!("mean response time claimed {old} → {new}"));
    }
    let mut text = "what changed:\n".to_string();
    for line in lines {
        let _ = writeln!(text, "  {line}");
    }
    text.trim_end().into()
}

fn workloads(old: &Record, new: &Record) -> Vec<String> {
    let mut lines = Vec::new();
    if old.time_unit != new.time_unit {
        lines.push(format!(
            "unit of time {} → {}",
            old.time_unit, new.time_unit
        ));
    }
    let names = |of: &Record| of.types.iter().map(|t| t.name.clone()).collect_vec();
    let (before, now) = (names(old), names(new));
    let missing = |from: &[String], of: &[String]| {
        let missing = of.iter().filter(|name| !from.contains(name));
        missing.map(|name| format!("`{name}`")).join(", ")
    };
    for (what, list) in [
        ("new types", missing(&before, &now)),
        ("types gone", missing(&now, &before)),
    ] {
        if !list.is_empty() {
            lines.push(format!("{what}: {list}"));
        }
    }
    for resource in &new.resources {
        let before = old.resources.iter().find(|r| r.name == resource.name);
        match before {
            None => lines.push(format!("new resource {}", resource.name)),
            Some(before) if before.capacity != resource.capacity => lines.push(format!(
                "capacity of {} {} → {}",
                resource.name, before.capacity, resource.capacity
            )),
            Some(_) => {}
        }
    }
    let pairs = || {
        new.types.iter().filter_map(|now| {
            let before = old.types.iter().find(|t| t.name == now.name)?;
            Some((now.name.as_str(), before, now))
        })
    };
    let rate = |t: &RecordType| t.arrival_rate.value();
    let rates = pairs().map(|(name, before, now)| (name, rate(before), rate(now)));
    lines.extend(figures_changed("arrival rate", rates));
    let size = |t: &RecordType| t.size.mean();
    let sizes = pairs().map(|(name, before, now)| (name, size(before), size(now)));
    lines.extend(figures_changed("mean size", sizes));
    let needs = |of: &Record, kind: &RecordType| {
        let amounts = of.resources.iter().zip(&kind.demand);
        let named = amounts.map(|(resource, demand)| (resource.name.clone(), *demand));
        let needed = named.filter(|(_, demand)| demand.value() > 0.0);
        needed.sorted_by(|a, b| a.0.cmp(&b.0)).collect_vec()
    };
    let demands = pairs().filter(|(_, before, now)| needs(old, before) != needs(new, now));
    let demands = demands.map(|(name, ..)| format!("`{name}`")).join(", ");
    if !demands.is_empty() {
        lines.push(format!("demand of {demands}"));
    }
    lines
}

fn figures_changed<'a>(
    what: &str,
    figures: impl Iterator<Item = (&'a str, f64, f64)>,
) -> Vec<String> {
    let changed = figures
        .filter(|(_, before, now)| before != now)
        .collect_vec();
    let relative = |before: f64, now: f64| 100.0 * (now / before - 1.0);
    if changed.len() <= LISTED {
        let line = |&(name, before, now): &(&str, f64, f64)| {
            let by = relative(before, now);
            format!(
                "{what} of `{name}` {} → {} ({by:+.1} %)",
                number(before),
                number(now)
            )
        };
        return changed.iter().map(line).collect();
    }
    let by = changed
        .iter()
        .map(|(_, before, now)| relative(*before, *now));
    let (least, most) = by.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), by| {
        (least.min(by), most.max(by))
    });
    let count = changed.len();
    vec![format!(
        "{what}s of {count} types, by {least:+.1} to {most:+.1} %"
    )]
}

/// The schedules that both have, by names of types, and how much of the time is spent otherwise.
fn mixes(old: &Artifact, new: &Artifact) -> Option<String> {
    let before = named(old)?;
    let now = named(new)?;
    let weight = |of: &[(Named, f64)], schedule: &Named| -> f64 {
        let same = of.iter().filter(|(u, _)| u == schedule);
        same.map(|(_, weight)| weight).sum()
    };
    let kept = now
        .iter()
        .filter(|(u, _)| before.iter().any(|(v, _)| v == u));
    let kept = kept.count();
    let alike: f64 = now.iter().map(|(u, p)| p.min(weight(&before, u))).sum();
    Some(format!(
        "schedules: {kept} kept, {} new, {} gone; {} of the time is spent otherwise",
        now.len() - kept,
        before.len().saturating_sub(kept),
        percent((1.0 - alike).max(0.0))
    ))
}

/// A schedule by names of types, those that run only.
type Named = Vec<(String, u32)>;

/// The mix with its schedules by names of types.
fn named(artifact: &Artifact) -> Option<Vec<(Named, f64)>> {
    let (schedules, weights) = artifact.mix()?;
    let types = &artifact.workload.types;
    let of = |u: &Schedule| {
        let counts = types.iter().zip(u).filter(|(_, count)| **count > 0);
        let counts = counts.map(|(kind, count)| (kind.name.clone(), *count));
        counts.sorted().collect_vec()
    };
    Some(
        schedules
            .iter()
            .map(of)
            .zip(weights.iter().copied())
            .collect(),
    )
}
