//! The page of a comparison on jobs that are all there.

use super::figures;
use super::made::{bracketed, times};
use super::{objective, of_pool, speedup};
use crate::malleable::synthesis::Open;
use crate::malleable::verbs::{Column, Tournament};
use crate::report::{Page, list, number, quoted};

/// A comparison as a page for people: the answer in words, a table, pictures, and how it was made.
///
/// # Errors
/// When a picture cannot be drawn.
pub fn page_of(tournament: &Tournament) -> Result<String, Box<dyn std::error::Error>> {
    let looks = tournament.policies.len().max(figures::GROUPS);
    let unit = tournament.columns.first();
    let source = tournament.source.as_ref().unwrap_or(&tournament.file);
    let title = format!("{} on “{source}”", list(&tournament.policies));
    let page = Page {
        headline: headline(tournament),
        warnings: warnings(tournament),
        what: format!(
            "{}{}",
            objective(tournament.objective),
            unit.map_or(String::new(), |column| bracketed(&column.pool))
        ),
        columns: tournament
            .columns
            .iter()
            .flat_map(|column| [heading(column), "times".into()])
            .collect(),
        rows: rows(tournament),
        note: "Times: over what no policy costs less than.".into(),
        sections: figures::sections(tournament)?,
        method: method(tournament),
        command: command(tournament),
        ..Page::new(title, looks)
    };
    page.text()
}

fn heading(column: &Column) -> String {
    column
        .exponent
        .map_or("cost".into(), |p| format!("p = {p}"))
}

/// Who costs least where, and how much more the worst does.
fn headline(tournament: &Tournament) -> String {
    let told = tournament.columns.iter().filter_map(|column| {
        let costs = tournament.policies.iter().zip(&column.entries);
        let costs = costs.filter_map(|(name, entry)| Some((name, entry.as_ref().ok()?.cost)));
        let mut costs: Vec<_> = costs.filter(|(_, cost)| cost.is_finite()).collect();
        costs.sort_by(|a, b| a.1.total_cmp(&b.1));
        let (best, worst) = (costs.first()?, costs.last()?);
        let at = column
            .exponent
            .map_or(String::new(), |p| format!("At p = {p} "));
        let rest = match costs.len() {
            1 => String::new(),
            _ => format!(", {} {} times that", worst.0, times(worst.1 / best.1)),
        };
        Some(format!(
            "{at}{} costs least, {} times the bound{rest}.",
            best.0,
            times(best.1 / column.least)
        ))
    });
    told.collect::<Vec<_>>().join(" ")
}

fn warnings(tournament: &Tournament) -> Vec<String> {
    let mut warnings = Vec::new();
    if tournament.interrupted {
        warnings.push("INTERRUPTED: not all speedups were run.".to_string());
    }
    let failures = tournament.columns.iter().flat_map(|column| {
        let each = tournament.policies.iter().zip(&column.entries);
        each.filter_map(move |(name, entry)| {
            let why = entry.as_ref().err()?;
            Some(format!("{}, {name}: {why}", heading(column)))
        })
    });
    warnings.extend(failures);
    warnings
}

fn rows(tournament: &Tournament) -> Vec<(String, Vec<String>)> {
    let row = |(n, name): (usize, &String)| {
        let cells = tournament.columns.iter().flat_map(|c| match &c.entries[n] {
            Ok(entry) => [number(entry.cost), times(entry.cost / c.least)],
            Err(_) => ["failed".into(), "–".into()],
        });
        (name.clone(), cells.collect())
    };
    let mut rows: Vec<_> = tournament.policies.iter().enumerate().map(row).collect();
    let least = tournament.columns.iter();
    let least = least.flat_map(|column| [number(column.least), String::new()]);
    rows.push(("any policy, at least".into(), least.collect()));
    rows
}

fn method(tournament: &Tournament) -> Vec<(&'static str, String)> {
    let Some(column) = tournament.columns.first() else {
        return Vec::new();
    };
    let own = match (column.exponent, column.pool.curves()) {
        (Some(_), _) => "the speedup k^p, for each p".to_owned(),
        (None, [curve]) => format!("the speedup {}", speedup(&curve.speedup)),
        (None, curves) => format!("{} different speedups", curves.len()),
    };
    let bound = match column.open {
        None => "a plan reaches it: it is the optimum",
        Some(Open::FavoursLarge) => {
            "weights favour large jobs, so that it may be below the optimum"
        }
        Some(Open::SpeedupsDiffer) => "speedups differ, so that it may be below the optimum",
    };
    vec![
        ("Workload", format!("{}: {}, all there at the start; {own}.", tournament.file, of_pool(&column.pool))),
        ("Digest of the workload", tournament.digest.clone()),
        ("Costs", "Exact: between two ends of jobs all rates are constant, and servers are divided anew at each end.".into()),
        ("What no policy costs less than", format!("By prices of work or rents of servers (weak duality); {bound}.")),
    ]
}

fn command(tournament: &Tournament) -> String {
    let exponents = tournament
        .columns
        .iter()
        .filter_map(|column| column.exponent);
    let exponents: Vec<String> = exponents.map(|p| p.to_string()).collect();
    let exponents = match exponents.is_empty() {
        true => String::new(),
        false => format!(" --exponents {}", exponents.join(",")),
    };
    format!(
        "synth compare --workload {} --policies {}{exponents}",
        quoted(&tournament.file),
        quoted(&tournament.policies.join(","))
    )
}
