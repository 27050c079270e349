use itertools::Itertools as _;

use super::{Report, counted, entry};
use crate::table;
use synth_core::artifact::{Checked, Content, Grounds, Quantity as _};

/// Returns the report on an accepted policy. `about` describes the subjects of the claims.
pub fn valid_report<K: Content>(checked: &Checked<K>, about: &str) -> Report {
    let claims = checked.artifact().claims.iter().zip(checked.grounds());
    let claims = claims.map(|(claim, grounds)| (claim.quantity.row().label.to_owned(), *grounds));
    let rest = checked.other_statements().iter();
    let rest = rest.map(|examined| (without_places(&examined.path), examined.grounds));
    let mut groups: Vec<(_, Vec<(String, u64)>)> = Vec::new();
    for (name, grounds) in claims.chain(rest) {
        let group = match grounds {
            Grounds::Derived(by) => ("derived again", by),
            Grounds::Judged(by) => ("judged for plausibility", by),
            Grounds::Trusted(by) => ("taken on trust", by),
        };
        *entry(entry(&mut groups, group), name) += 1;
    }
    let groups = groups.into_iter().sorted_by_key(|own| own.0.0);
    let section = table!("", groups, ((how, by), things) => {
        "grounds" => how,
        "by" => by,
        "of" => things.iter().map(|(name, count)| match count {
            1 => name.clone(),
            several => format!("{name} ({several})"),
        }).join(", "),
    });
    let count = |is: fn(&Grounds) -> bool| checked.grounds().iter().filter(|own| is(own)).count();
    let changed = "The file was changed after it was written; the changes are accepted.";
    let changed = checked.is_changed().then_some(changed.to_owned());
    Report {
        summary: vec![format!(
            "valid: {} about {about}, {} derived again, {} judged for plausibility, {} taken on trust",
            counted(checked.grounds().len() as f64, "claim"),
            count(|own| matches!(own, Grounds::Derived(_))),
            count(|own| matches!(own, Grounds::Judged(_))),
            count(|own| matches!(own, Grounds::Trusted(_)))
        )],
        warnings: changed.into_iter().collect(),
        sections: vec![section],
        ..Report::default()
    }
}

fn without_places(path: &str) -> String {
    let path = path.replace(".servers[", "[");
    let parts = path.split('[');
    let parts = parts.map(|part| part.split_once(']').map_or(part, |(_, rest)| rest));
    parts.collect()
}
