//! Numbers of policies where there are no loads to compare them over: as a table, as CSV and as a page.

use std::error::Error;

use serde::Serialize;

use super::{Csv, Page, Rows, Shown, estimate, grid, headed, list, wrap};
use synth_core::artifact::Quantity;
use synth_simulation::Estimate;
use synth_simulation::sweep::{Comparing, quoted};

/// Policies, and what was found of each.
#[derive(Clone, Debug, Serialize)]
pub struct Outcomes {
    /// The format of the document and its version.
    pub format: &'static str,
    /// See `format`.
    pub version: u32,
    /// The program and its version.
    pub tool: String,
    /// The workload's file, as it was named.
    pub workload: String,
    /// The digest of the workload.
    pub digest: String,
    /// Whether not all was run.
    pub interrupted: bool,
    /// What the numbers are.
    pub columns: Vec<Column>,
    /// Each policy with its numbers, one a column; none where it has none.
    pub policies: Vec<PolicyValues>,
    /// Policies that could not be run, and why.
    pub failures: Vec<String>,
    /// The head of the column of names.
    #[serde(skip)]
    pub head: String,
    /// What follows from the numbers, and what they are, in words.
    #[serde(skip)]
    pub notes: Vec<String>,
    /// The command that gives them again.
    #[serde(skip)]
    pub command: String,
}

/// What a number of each policy is.
#[derive(Clone, Debug, Serialize)]
pub struct Column {
    /// The quantity, for programs.
    pub quantity: &'static str,
    /// For what it was found, where the same is found several times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<f64>,
    /// Its unit; `1` for a pure number.
    pub unit: String,
    /// Its head, for people.
    #[serde(skip)]
    pub label: String,
}

impl Column {
    /// Returns the column of a quantity, in this unit of time.
    pub fn of<Q: Quantity>(quantity: Q, time: &str) -> Self {
        Column {
            quantity: quantity.row().name,
            at: None,
            unit: quantity.unit(time),
            label: headed(quantity, time),
        }
    }
}

/// A policy with its numbers.
#[derive(Clone, Debug, Serialize)]
pub struct PolicyValues {
    /// Its name.
    pub policy: String,
    /// One a column.
    pub values: Vec<Option<Estimate>>,
}

impl Outcomes {
    /// Of a comparison that was typed, with these options besides; without any number yet.
    pub fn new(comparing: &Comparing<'_>, digest: String, head: String, options: &str) -> Self {
        let policies = comparing.policies.iter().map(|policy| PolicyValues {
            policy: policy.clone(),
            values: Vec::new(),
        });
        Outcomes {
            format: "synth-comparison",
            version: 1,
            tool: concat!("synth ", env!("CARGO_PKG_VERSION")).into(),
            workload: comparing.file.into(),
            digest,
            interrupted: false,
            columns: Vec::new(),
            policies: policies.collect(),
            failures: Vec::new(),
            head,
            notes: Vec::new(),
            command: format!(
                "synth compare --workload {} --policies {}{options}",
                quoted(comparing.file),
                quoted(&comparing.policies.join(","))
            ),
        }
    }

    /// Says what should be known before the numbers are used.
    fn warnings(&self) -> impl Iterator<Item = String> {
        let interrupted = "INTERRUPTED: not all was run".to_owned();
        let interrupted = self.interrupted.then_some(interrupted);
        self.failures.iter().cloned().chain(interrupted)
    }

    /// Returns the heads of the columns in which some policy has a number, and the rows below them.
    fn grid(&self) -> (Vec<String>, Rows) {
        let has = |n: usize| self.policies.iter().any(|own| own.value(n).is_some());
        let columns = self.columns.iter().enumerate().filter(|(n, _)| has(*n));
        let (columns, labels): (Vec<usize>, Vec<String>) =
            columns.map(|(n, own)| (n, own.label.clone())).unzip();
        let rows = self.policies.iter().map(|own| {
            let cells = columns.iter().map(|n| Shown::plain(cell(own.value(*n))));
            (own.policy.clone(), cells.collect())
        });
        (labels, rows.collect())
    }
}

impl PolicyValues {
    fn value(&self, column: usize) -> Option<Estimate> {
        self.values.get(column).copied().flatten()
    }
}

/// Returns a number to the digits that its interval leaves; an exact ratio near 1 has more.
fn cell(found: Option<Estimate>) -> String {
    match found {
        Some(own) if own.half_width == 0.0 && (own.mean - 1.0).abs() < 0.1 => {
            format!("{:.4}", own.mean)
        }
        found => estimate(found),
    }
}

/// Policies down, quantities across; then what follows, in words.
pub fn outcomes_table(outcomes: &Outcomes, width: usize) -> String {
    let (labels, rows) = outcomes.grid();
    let table = grid(&outcomes.head, &labels, &rows, width);
    let lines = outcomes.notes.iter().cloned().chain(outcomes.warnings());
    let lines: Vec<String> = lines.map(|line| wrap(&line, width)).collect();
    format!("{table}\n\n{}\n", lines.join("\n"))
}

/// Writes all numbers, one a line.
///
/// # Errors
/// When the text cannot be put together.
pub fn outcomes_csv(outcomes: &Outcomes) -> Result<String, Box<dyn Error>> {
    let mut table = Csv::titled(["policy", "at", "quantity", "value", "half_width", "unit"])?;
    for own in &outcomes.policies {
        let values = own.values.iter().zip(&outcomes.columns);
        let some = values.filter_map(|(value, column)| Some(((*value)?, column)));
        for (found, column) in some.filter(|(found, _)| found.mean.is_finite()) {
            table.row([
                &own.policy,
                &column.at.map_or(String::new(), |at| at.to_string()),
                column.quantity,
                &found.mean.to_string(),
                &found.half_width.to_string(),
                &column.unit,
            ])?;
        }
    }
    table.text()
}

/// Renders the table as a page for people.
///
/// # Errors
/// When it cannot be put together.
pub fn outcomes_page(outcomes: &Outcomes) -> Result<String, Box<dyn Error>> {
    let names: Vec<&str> = outcomes.policies.iter().map(|own| &*own.policy).collect();
    let title = format!("{} on “{}”", list(&names), outcomes.workload);
    let (columns, rows) = outcomes.grid();
    let page = Page {
        headline: outcomes.notes.join(". "),
        warnings: outcomes.warnings().collect(),
        what: outcomes.head.clone(),
        columns,
        rows,
        method: vec![("Digest of the workload", outcomes.digest.clone())],
        command: outcomes.command.clone(),
        ..Page::new(title, std::iter::empty())
    };
    page.text()
}
