//! What a person reads: on the terminal, and the page of a comparison. Only rendered here; every value comes from the makers
//! and the verbs. Tables are `width` characters wide at most.

mod figures;
mod made;
mod page;
mod run;
mod show;
mod tournament;

pub use made::{impossible, made};
pub use page::page_of;
pub use run::{notes, of_run, rules, simulation};
pub use show::{show, valid};
pub use tournament::{document, lines, table};

use crate::artifact::Quantity as _;
use crate::report::{decimals, number};
use crate::simulation::Estimate;
use crate::volunteer::artifact::{Mean, Quantity};
use crate::volunteer::policy::{Dispatch, Queued};
use crate::volunteer::workload::Campaign;

/// What it is for, in a few words: `400 hosts for 1440 h`.
fn about(campaign: &Campaign) -> String {
    let hosts = match campaign.host_count() {
        1 => "one host".to_owned(),
        many => format!("{many} hosts"),
    };
    format!(
        "{hosts} for {} {}",
        number(campaign.horizon()),
        campaign.time_unit()
    )
}

/// A quantity with its unit, as the head of a row.
fn headed(quantity: Quantity, time: &str) -> String {
    match quantity.unit(time).as_str() {
        "1" => quantity.row().label.to_owned(),
        unit => format!("{} [{unit}]", quantity.row().label),
    }
}

/// An estimate, to the digits that its interval leaves.
fn told(found: Option<Estimate>) -> String {
    match found {
        None => "–".into(),
        Some(found) => with_width(found.mean, found.half_width),
    }
}

fn mean(found: Option<Mean>) -> String {
    found.map_or("–".into(), |own| with_width(own.value, own.half_width))
}

fn with_width(value: f64, half_width: f64) -> String {
    match decimals(half_width) {
        Some(digits) if half_width > 0.0 => format!("{value:.digits$} ±{half_width:.digits$}"),
        _ => number(value),
    }
}

/// The parameters in a few words.
fn rule(rule: &Dispatch) -> String {
    let quantile = match rule.quantile {
        Some(q) => format!("quantile {}", knob(q)),
        None => "quantile of the last".into(),
    };
    let queued = match rule.queued {
        Queued::All => "",
        Queued::Tight => ", behind tight jobs only",
    };
    let each = match rule.first_each {
        Some(1) => ", one job without an estimate a processor".to_owned(),
        Some(n) => format!(", {n} jobs without an estimate a processor"),
        None => String::new(),
    };
    format!(
        "first above {} %, tight above {} %, {quantile}{each}{queued}",
        knob(rule.first_percentile),
        knob(rule.tight_percentile)
    )
}

/// A percentile or a quantile as it was chosen, to four decimals.
fn knob(value: f64) -> String {
    ((value * 1e4).round() / 1e4).to_string()
}
