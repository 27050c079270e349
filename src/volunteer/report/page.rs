//! The page of a comparison of campaigns.

use super::figures;
use super::tournament::verdicts;
use super::{about, headed, told};
use crate::report::{Page, list, number, quoted};
use crate::volunteer::artifact::Quantity;
use crate::volunteer::verbs::{Entry, Tournament};

/// What the table of the page has.
const COLUMNS: [Quantity; 8] = [
    Quantity::MedianMakespan,
    Quantity::WorstMakespan,
    Quantity::ShortBatches,
    Quantity::LongBatches,
    Quantity::Throughput,
    Quantity::Instances,
    Quantity::Tight,
    Quantity::Delay,
];

/// A comparison as a page for people: the answer in words, a table, pictures, and how it was made.
///
/// # Errors
/// When a picture cannot be drawn.
pub fn page_of(tournament: &Tournament) -> Result<String, Box<dyn std::error::Error>> {
    let campaign = &tournament.campaign;
    let names: Vec<String> = tournament
        .entries
        .iter()
        .map(|own| own.name.clone())
        .collect();
    let source = campaign
        .record()
        .source
        .as_ref()
        .unwrap_or(&tournament.file);
    let there = |quantity: &&Quantity| {
        let mut entries = tournament.entries.iter();
        entries.any(|own| own.run.estimate(campaign, **quantity).is_some())
    };
    let columns: Vec<&Quantity> = COLUMNS.iter().filter(there).collect();
    let row = |entry: &Entry| {
        let cells = columns
            .iter()
            .map(|q| told(entry.run.estimate(campaign, **q)));
        (entry.name.clone(), cells.collect())
    };
    let page = Page {
        headline: headline(tournament),
        warnings: match tournament.interrupted {
            true => vec!["INTERRUPTED: not all policies were run.".into()],
            false => Vec::new(),
        },
        what: "What came of it".into(),
        columns: columns.iter().map(|q| headed(**q, campaign.time_unit())).collect(),
        rows: tournament.entries.iter().map(row).collect(),
        note: "Means over campaigns with 95 % intervals; – where a batch was not done in some campaign.".into(),
        sections: figures::sections(tournament)?,
        method: method(tournament),
        command: format!(
            "synth compare --workload {} --policies {} --replications {} --seed {}",
            quoted(&tournament.file),
            quoted(&names.join(",")),
            tournament.replications,
            tournament.seed
        ),
        ..Page::new(format!("{} on “{source}”", list(&names)), tournament.entries.len().max(3))
    };
    page.text()
}

/// Who is fastest, and how much slower the others are.
fn headline(tournament: &Tournament) -> String {
    let campaign = &tournament.campaign;
    let of = |entry: &Entry| entry.run.estimate(campaign, Quantity::MedianMakespan);
    let done = tournament
        .entries
        .iter()
        .filter_map(|own| Some((own, of(own)?.mean)));
    let Some((best, found)) = done.min_by(|a, b| a.1.total_cmp(&b.1)) else {
        return "No policy did all batches that are to be done as fast as possible.".into();
    };
    let mut text = format!(
        "{} does batches fastest, in {} {} in the median.",
        best.name,
        number(found),
        campaign.time_unit()
    );
    for line in verdicts(tournament) {
        text += &format!(" {line}.");
    }
    text
}

fn method(tournament: &Tournament) -> Vec<(&'static str, String)> {
    let campaign = &tournament.campaign;
    vec![
        (
            "Workload",
            format!("{}: {}.", tournament.file, about(campaign)),
        ),
        ("Digest of the workload", campaign.digest()),
        (
            "Simulation",
            format!(
                "{} campaigns a policy, seed {}: hosts and their speeds, when they are on, and the sizes of jobs of batches are the same for all policies. Hosts run jobs in the order in which they came, unless one would miss its deadline; then the earliest deadline first.",
                tournament.replications, tournament.seed
            ),
        ),
        (
            "Intervals",
            "95 % by Student's t over campaigns, which are independent.".into(),
        ),
    ]
}
