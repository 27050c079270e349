//! A comparison of policies on the same campaigns: as tables, as CSV and as JSON.

use std::fmt::Write as _;

use serde::Serialize;

use super::{headed, of_run, told};
use crate::artifact::Quantity as _;
use crate::report::{Csv, Table, wrap};
use crate::volunteer::artifact::Quantity;
use crate::volunteer::simulator::estimate;
use crate::volunteer::verbs::{Entry, Tournament};

/// Quantities that are told together.
const TABLES: [&[Quantity]; 4] = [
    &[
        Quantity::MedianMakespan,
        Quantity::WorstMakespan,
        Quantity::OverEstimate,
        Quantity::Instances,
    ],
    &[
        Quantity::ShortBatches,
        Quantity::ShortJobs,
        Quantity::LongBatches,
        Quantity::LongJobs,
    ],
    &[Quantity::Throughput, Quantity::WithinBound],
    &[
        Quantity::Tight,
        Quantity::Stopped,
        Quantity::Delay,
        Quantity::Waited,
    ],
];

/// Policies down, quantities across; and how many times as long as the first each takes.
pub fn table(tournament: &Tournament, width: usize) -> String {
    let campaign = &tournament.campaign;
    let time = campaign.time_unit();
    if tournament.entries.is_empty() {
        return "INTERRUPTED before anything was run".into();
    }
    let mut text = String::new();
    for quantities in TABLES {
        let there = |quantity: &&Quantity| {
            let mut entries = tournament.entries.iter();
            entries.any(|own| own.run.estimate(campaign, **quantity).is_some())
        };
        let own: Vec<&Quantity> = quantities.iter().filter(there).collect();
        if own.is_empty() {
            continue;
        }
        let mut header = vec!["policy".to_owned()];
        header.extend(own.iter().map(|quantity| headed(**quantity, time)));
        let mut table = Table::new(header);
        for entry in &tournament.entries {
            let mut row = vec![entry.name.clone()];
            row.extend(own.iter().map(|q| told(entry.run.estimate(campaign, **q))));
            table.row(row);
        }
        let _ = writeln!(text, "{}\n", table.within(width));
    }
    for line in verdicts(tournament) {
        let _ = writeln!(text, "{}", wrap(&line, width));
    }
    let note = format!(
        "means over {} campaigns with the same hosts and jobs for all policies, 95 % intervals; – where a batch was not done in some campaign",
        tournament.replications
    );
    let _ = writeln!(text, "{}", wrap(&note, width));
    if tournament.interrupted {
        let _ = writeln!(text, "INTERRUPTED: not all policies were run");
    }
    text
}

/// How many times the median makespan of the first policy each other one has, on the same campaigns.
pub(super) fn verdicts(tournament: &Tournament) -> Vec<String> {
    let Some((first, others)) = tournament.entries.split_first() else {
        return Vec::new();
    };
    let line = |other: &Entry| {
        let found = ratio(tournament, other, first)?;
        let apart = (found.mean - 1.0).abs() > found.half_width;
        let sure = if apart { "surely" } else { "not surely" };
        let words = if found.mean > 1.0 {
            "longer"
        } else {
            "shorter"
        };
        Some(format!(
            "{}: {} times the median makespan of {}, {sure} {words}",
            other.name,
            told(Some(found)),
            first.name
        ))
    };
    others.iter().filter_map(line).collect()
}

/// Median makespans over those of another policy.
pub(super) fn ratio(
    tournament: &Tournament,
    one: &Entry,
    other: &Entry,
) -> Option<crate::simulation::Estimate> {
    let campaign = &tournament.campaign;
    let pairs = one.run.campaigns.iter().zip(&other.run.campaigns);
    let ratios = pairs.map(|(a, b)| {
        let of = |own: &crate::volunteer::simulator::Measures| {
            own.value(campaign, Quantity::MedianMakespan)
        };
        Some(of(a)? / of(b)?)
    });
    estimate(ratios)
}

/// All numbers, one a line.
///
/// # Errors
/// When the text cannot be put together.
pub fn lines(tournament: &Tournament) -> Result<String, Box<dyn std::error::Error>> {
    let campaign = &tournament.campaign;
    let time = campaign.time_unit();
    let mut table = Csv::titled(["policy", "batch", "quantity", "value", "half_width", "unit"])?;
    for entry in &tournament.entries {
        for quantity in Quantity::ALL {
            let Some(found) = entry.run.estimate(campaign, *quantity) else {
                continue;
            };
            table.row([
                &entry.name,
                "",
                quantity.row().name,
                &found.mean.to_string(),
                &found.half_width.to_string(),
                &quantity.unit(time),
            ])?;
        }
        for (n, batch) in campaign.batches().iter().enumerate() {
            let Some(found) = entry.run.makespan(n).filter(|_| !batch.is_stream()) else {
                continue;
            };
            table.row([
                &entry.name,
                &batch.name,
                Quantity::Makespan.row().name,
                &found.mean.to_string(),
                &found.half_width.to_string(),
                time,
            ])?;
        }
    }
    table.text()
}

#[derive(Serialize)]
struct Document<'a, R> {
    format: &'static str,
    version: u32,
    tool: String,
    workload: &'a str,
    digest: String,
    time_unit: &'a str,
    seed: u64,
    interrupted: bool,
    policies: Vec<EntryDocument<'a, R>>,
}

#[derive(Serialize)]
struct EntryDocument<'a, R> {
    policy: &'a str,
    run: R,
}

/// The results, for programs.
#[must_use]
pub fn document(tournament: &Tournament) -> impl Serialize + '_ {
    let campaign = &tournament.campaign;
    let policies = tournament.entries.iter().map(|entry| EntryDocument {
        policy: &entry.name,
        run: of_run(campaign, &entry.run),
    });
    Document {
        format: "synth-comparison",
        version: 1,
        tool: format!("synth {}", env!("CARGO_PKG_VERSION")),
        workload: &tournament.file,
        digest: campaign.digest(),
        time_unit: campaign.time_unit(),
        seed: tournament.seed,
        interrupted: tournament.interrupted,
        policies: policies.collect(),
    }
}
