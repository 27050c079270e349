//! What a person reads on the terminal. Only rendered here; every value comes from the makers and the verbs. Tables are
//! `width` characters wide at most.

mod run;
mod show;
mod synthesis;

pub use run::{besides, simulation};
pub use show::show;
pub use synthesis::{made, overload};

use crate::compatibility::workload::{Cluster, Jobs};
use crate::report::number;

/// What it is for, in a few words: `3 classes of jobs on 4 servers`.
pub fn about(cluster: &Cluster) -> String {
    let servers = match cluster.servers().len() {
        1 => "one server".to_owned(),
        several => format!("{several} servers"),
    };
    match cluster.jobs() {
        Jobs::Classes(classes) if classes.len() == 1 => format!("one class of jobs on {servers}"),
        Jobs::Classes(classes) => format!("{} classes of jobs on {servers}", classes.len()),
        Jobs::Random(random) => format!(
            "jobs on {} of {servers} each, drawn at random",
            random.degree
        ),
    }
}

/// Names in a sentence, of which so many are told.
fn list(names: &[String]) -> String {
    const TOLD: usize = 12;
    match names {
        [] => "none".into(),
        [one] => one.clone(),
        [first @ .., last] if first.len() < TOLD => format!("{} and {last}", first.join(", ")),
        many => format!("{} and {} more", many[..TOLD].join(", "), many.len() - TOLD),
    }
}

/// A load with the digits that tell it from 1.
fn load(load: f64) -> String {
    let digits = match (load - 1.0).abs() {
        near if near < 1e-3 => 12,
        _ if !(1e-3..1e6).contains(&load) => return number(load),
        _ => 6,
    };
    let text = format!("{load:.digits$}");
    text.trim_end_matches('0').trim_end_matches('.').into()
}
