//! A comparison of policies on jobs that are all there: as a table, as CSV and as JSON.

use std::fmt::Write as _;

use serde::Serialize;

use super::made::{bracketed, times};
use super::objective;
use crate::malleable::synthesis::Open;
use crate::malleable::verbs::{Column, Entry, Tournament};
use crate::malleable::workload::Objective;
use crate::report::{Csv, Table, number, wrap};

/// Costs and how many times the least they are, policies down and speedups across.
pub fn table(tournament: &Tournament, width: usize) -> String {
    let Some(first) = tournament.columns.first() else {
        return "INTERRUPTED before anything was run".into();
    };
    let what = format!(
        "{}{}",
        objective(tournament.objective),
        bracketed(&first.pool)
    );
    let mut header = vec![what];
    for column in &tournament.columns {
        header.push(
            column
                .exponent
                .map_or("cost".into(), |p| format!("p = {p}")),
        );
        header.push("times".into());
    }
    let mut table = Table::new(header);
    for (n, name) in tournament.policies.iter().enumerate() {
        let mut row = vec![name.clone()];
        for column in &tournament.columns {
            row.extend(cell(column, n));
        }
        table.row(row);
    }
    let mut row = vec!["any policy, at least".to_string()];
    for column in &tournament.columns {
        row.extend([number(column.least), String::new()]);
    }
    table.row(row);
    let mut text = format!("{}\n", table.within(width));
    let told = "costs are exact, from one end of a job to the next; times: over what no policy costs less than";
    let open = tournament.columns.iter().find_map(|column| column.open);
    let why = match open {
        None if tournament.objective == Objective::Makespan => ", which a plan reaches",
        None => ", which is the optimum",
        Some(Open::FavoursLarge) => ", a bound below the optimum: the weights favour large jobs",
        Some(Open::SpeedupsDiffer) => ", a bound below the optimum: speedups differ",
    };
    let _ = writeln!(text, "\n{}", wrap(&format!("{told}{why}"), width));
    for column in &tournament.columns {
        for (name, entry) in tournament.policies.iter().zip(&column.entries) {
            if let Err(why) = entry {
                let _ = writeln!(text, "{}", wrap(&format!("{name}: {why}"), width));
            }
        }
    }
    if tournament.interrupted {
        let _ = writeln!(text, "INTERRUPTED: not all speedups were run");
    }
    text
}

fn cell(column: &Column, n: usize) -> [String; 2] {
    match &column.entries[n] {
        Ok(entry) => [number(entry.cost), times(entry.cost / column.least)],
        Err(_) => ["failed".into(), "–".into()],
    }
}

/// All numbers, one a line.
///
/// # Errors
/// When the text cannot be put together.
pub fn lines(tournament: &Tournament) -> Result<String, Box<dyn std::error::Error>> {
    let mut table = Csv::titled(["exponent", "policy", "quantity", "value", "unit"])?;
    let time = tournament.time_unit.as_str();
    for column in &tournament.columns {
        let exponent = column.exponent.map_or(String::new(), |p| p.to_string());
        let unit = match tournament.objective {
            Objective::Slowdown => "1",
            _ => time,
        };
        let mut line = |policy: &str, quantity: &str, value: f64, unit: &str| {
            let value = match value.is_finite() {
                true => value.to_string(),
                false => String::new(),
            };
            table.row([exponent.as_str(), policy, quantity, &value, unit])
        };
        line("any, at least", "cost", column.least, unit)?;
        for (name, entry) in tournament.policies.iter().zip(&column.entries) {
            let Ok(entry) = entry else { continue };
            line(name, "cost", entry.cost, unit)?;
            line(name, "times_the_least", entry.cost / column.least, "1")?;
            line(name, "mean_response", entry.mean_response, time)?;
            line(name, "makespan", entry.makespan, time)?;
        }
    }
    table.text()
}

#[derive(Serialize)]
struct Document<'a> {
    format: &'static str,
    version: u32,
    tool: String,
    workload: &'a str,
    digest: &'a str,
    objective: Objective,
    time_unit: &'a str,
    interrupted: bool,
    columns: Vec<ColumnDocument<'a>>,
}

#[derive(Serialize)]
struct ColumnDocument<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    exponent: Option<f64>,
    least: f64,
    least_is_optimal: bool,
    policies: Vec<EntryDocument<'a>>,
}

#[derive(Serialize)]
struct EntryDocument<'a> {
    policy: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<&'a str>,
    #[serde(flatten)]
    costs: Option<Costs<'a>>,
}

#[derive(Serialize)]
struct Costs<'a> {
    cost: f64,
    mean_response: f64,
    makespan: f64,
    ends: &'a [f64],
}

/// The results, for programs.
#[must_use]
pub fn document(tournament: &Tournament) -> impl Serialize + '_ {
    Document {
        format: "synth-comparison",
        version: 1,
        tool: format!("synth {}", env!("CARGO_PKG_VERSION")),
        workload: &tournament.file,
        digest: &tournament.digest,
        objective: tournament.objective,
        time_unit: &tournament.time_unit,
        interrupted: tournament.interrupted,
        columns: tournament
            .columns
            .iter()
            .map(|column| ColumnDocument {
                exponent: column.exponent,
                least: column.least,
                least_is_optimal: column.open.is_none(),
                policies: tournament
                    .policies
                    .iter()
                    .zip(&column.entries)
                    .map(|(name, entry)| of_entry(name, entry))
                    .collect(),
            })
            .collect(),
    }
}

fn of_entry<'a>(policy: &'a str, entry: &'a Result<Entry, String>) -> EntryDocument<'a> {
    EntryDocument {
        policy,
        failure: entry.as_ref().err().map(String::as_str),
        costs: entry.as_ref().ok().map(|entry| Costs {
            cost: entry.cost,
            mean_response: entry.mean_response,
            makespan: entry.makespan,
            ends: &entry.course.ends,
        }),
    }
}
