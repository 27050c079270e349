use itertools::{Itertools as _, chain};

use super::{Column, Report, Section, entry, within};
use crate::{cells, table};
use synth_core::artifact::{
    Accuracy, Artifact, Claim, Content, Method as _, Quantity, ViolatedAssumptions,
};

/// Returns the report on a policy file: its purpose, its origin, its behavior and its claims.
pub fn policy_report<K: Content>(
    what: &str,
    artifact: &Artifact<K>,
    source: Option<&str>,
    does: impl IntoIterator<Item = String>,
    unmet: impl Fn(&Claim<K::Quantity>) -> ViolatedAssumptions,
) -> Report {
    let made = format!("A scheduling policy for {what}, made by {}.", artifact.tool);
    let source = source.map(|source| format!("Workload: {source}"));
    Report {
        summary: chain!([made], source, does).collect(),
        sections: claims(&artifact.claims, unmet),
        ..Report::default()
    }
}

const MOST: usize = 40;

/// Returns tables of claims, without probabilities and claims about single servers. Quantities that
/// are only claimed for the whole policy are in the first table, and all others, by subject, in the
/// second. `unmet` returns the assumptions that are not met by the workload.
pub fn claims<'a, Q: Quantity>(
    claims: impl IntoIterator<Item = &'a Claim<Q>>,
    unmet: impl Fn(&Claim<Q>) -> ViolatedAssumptions,
) -> Vec<Section> {
    let is_shown =
        |own: &&Claim<Q>| own.server.is_none() && own.at.is_none() && own.longer_than.is_none();
    let claims = claims.into_iter().filter(is_shown).collect_vec();
    let subject = |own: &Claim<Q>| {
        let part = own.job_type.as_ref().or(own.batch.as_ref());
        part.or(own.job.as_ref()).cloned()
    };
    let value = |own: &Claim<Q>| (own.value, own.half_width.unwrap_or(0.0));
    let of_parts = claims.iter().filter(|own| subject(own).is_some());
    let of_parts = of_parts.map(|own| own.quantity).unique().collect_vec();
    let is_of_all = |own: &&&Claim<Q>| !of_parts.contains(&own.quantity);
    let of_all = claims.iter().filter(is_of_all);
    let all = table!("Claims", of_all, own => {
        "quantity" => own.quantity.row().label,
        "value" => within(value(own).0, value(own).1),
        "unit" => &own.unit,
    });
    let title = if all.rows.is_empty() { "Claims" } else { "" };
    let mut section = Section::new(title, ["of"]);
    for quantity in &of_parts {
        let unit = claims.iter().find(|own| own.quantity == *quantity);
        let unit = unit.map_or("", |own| &own.unit);
        section.columns.push(Column::of(quantity.row().label, unit));
    }
    let subjects = claims.iter().map(|own| subject(own)).unique();
    let subjects = subjects.sorted_by_key(Option::is_none).collect_vec();
    for of in subjects.iter().take(MOST).filter(|_| !of_parts.is_empty()) {
        let own = claims.iter().filter(|own| subject(own) == *of);
        let own = own.collect_vec();
        let cells = of_parts.iter().map(|quantity| {
            let found = own.iter().find(|own| own.quantity == *quantity);
            found.map(|own| value(own)).into()
        });
        let of = of.as_deref().unwrap_or("all");
        section.rows.push(cells![of; cells]);
    }
    if let Some(more @ 1..) = subjects.len().checked_sub(MOST) {
        section.notes.push(format!("… and of {more} more."));
    }
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    for own in &claims {
        let mut how = match own.method.accuracy() {
            Accuracy::Exact => "Exact",
            Accuracy::Simulated => "Simulated, with 95 % intervals",
            Accuracy::Bound => "Bounds",
            Accuracy::Approximation => "Approximations",
        }
        .to_owned();
        if let Some(assumed) = unmet(own).describe() {
            how += &format!(", as if {assumed}");
        }
        entry(&mut groups, how).push(own.quantity.row().label);
    }
    let notes = groups.iter();
    let notes = notes.map(|(how, own)| format!("{how}: {}.", own.iter().unique().format(", ")));
    section.notes.extend(notes);
    vec![all, section]
}
