//! A comparison of policies over loads, as a table, as CSV and as a page.
//!
//! These know no kind of workload. What its runs tell besides comes with [`Besides`].

mod answer;
mod csv;
mod figures;
mod page;
mod words;

pub use self::csv::comparison_csv;
pub use page::comparison_page;
pub use words::list;

pub use synth_simulation::sweep::quoted;

use std::fmt::Write as _;

use clap::ValueEnum;

use super::{Rows, Shown, TableUnit, estimate, grid, wrap};
use synth_simulation::sweep::{CellOutcome, Comparison};
use synth_simulation::{Ending, Estimate, Health, Run, Stretch};

/// What one kind of workload adds to a comparison; `M` and `C` are what its runs measure besides.
#[derive(Clone, Debug)]
pub struct Besides<'a, M, C> {
    /// What arrives, and where: `3 job types on cpu and memory`.
    pub about: String,
    /// Names of the parts that [`Shares`] are of: resources, or servers.
    pub parts: Vec<&'a str>,
    /// Title of the pictures of the shares, and what is seen there.
    pub section: (&'static str, &'static str),
    /// Fractions that a run has for each part.
    pub shares: &'a [Shares<M, C>],
    /// Counts that a run has, by name.
    pub counts: &'a [(&'static str, CountOfRun<M, C>)],
    /// Frequencies that a run has, per unit of time, by name.
    pub frequencies: &'a [(&'static str, OfRun<M, C>)],
    /// Takes from a run what was recorded of it for a picture.
    pub take_stretch: fn(&mut Run<M, C>) -> Option<Stretch>,
}

impl<M, C> Besides<'_, M, C> {
    /// Returns what a kind adds whose runs measure nothing besides.
    pub fn new(about: String) -> Self {
        Besides {
            about,
            parts: Vec::new(),
            section: ("", ""),
            shares: &[],
            counts: &[],
            frequencies: &[],
            take_stretch: |_| None,
        }
    }
}

/// How often something happened in a run.
pub type CountOfRun<M, C> = fn(&Run<M, C>) -> u64;

/// An estimate that a run has, if it has means.
pub type OfRun<M, C> = fn(&Run<M, C>) -> Option<Estimate>;

/// A fraction of each part.
#[derive(Clone, Copy, Debug)]
pub struct Shares<M, C> {
    /// Its name for programs: `utilization`.
    pub quantity: &'static str,
    /// Its name for people, which may follow that of a part: `in use`.
    pub words: &'static str,
    /// A run's, by part; empty where it has none.
    pub of: fn(&Run<M, C>) -> &[f64],
}

/// Mean response times, policies down and loads across; then what follows from them, in words.
/// Tables are `width` characters wide at most.
pub fn comparison_table<M, C>(
    comparison: &Comparison<M, C>,
    means: &[Mean],
    width: usize,
) -> String {
    let unit = &table_unit(comparison, |run| run.mean_response);
    let table = |head: &str, rows: &Rows| grid(head, &columns(comparison), rows, width);
    let main = table(&format!("E[T] [{}]", unit.name), &rows(comparison, unit));
    let mut text = format!("{main}\n\n");
    for mean in means {
        let _ = writeln!(text, "{}\n", mean.table(comparison, table));
    }
    for at in &comparison.rankings {
        let sentences = words::sentences(comparison, at);
        let _ = writeln!(text, "{}\n  {sentences}", words::ranked(comparison, at));
    }
    for warning in words::warnings(comparison) {
        let _ = writeln!(text, "{warning}");
    }
    text += "\n";
    text += &wrap(NOTE, width);
    text
}

/// Returns the heads of the loads.
fn columns<M, C>(comparison: &Comparison<M, C>) -> Vec<String> {
    let loads = comparison.header.loads.iter();
    loads.map(|load| comparison.header.place(*load)).collect()
}

/// What a comparison tabulates besides the mean response time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Mean {
    /// `E[N]`, the mean number of jobs in the system
    Number,
    /// The mean response time in which jobs count by the work that they bring
    Weighted,
}

impl Mean {
    /// Renders it by this function of a head and rows.
    fn table<M, C>(
        self,
        comparison: &Comparison<M, C>,
        table: impl FnOnce(&str, &Rows) -> String,
    ) -> String {
        let unit = table_unit(comparison, |run| run.weighted_response);
        let text = |name: &str, load: f64| {
            let run = comparison.settled(name, load);
            match self {
                Mean::Number => estimate(run.and_then(|run| run.mean_number)),
                Mean::Weighted => unit.estimate(run.and_then(|run| run.weighted_response)),
            }
        };
        let head = match self {
            Mean::Number => "E[N] [jobs]".into(),
            Mean::Weighted => format!("weighted E[T] [{}]", unit.name),
        };
        let row = |name: &str| {
            let loads = comparison.header.loads.iter();
            let cells = loads.map(|load| Shown::plain(text(name, *load)));
            (comparison.titled(name), cells.collect())
        };
        table(&head, &comparison.names().map(row).collect())
    }
}

/// Returns the unit in which a time of all runs that have settled is easily read.
fn table_unit<M, C>(comparison: &Comparison<M, C>, of: OfRun<M, C>) -> TableUnit {
    let header = &comparison.header;
    let runs = header.loads.iter().flat_map(|load| {
        let names = comparison.names();
        names.filter_map(|name| comparison.settled(name, *load))
    });
    let times = runs.filter_map(|run| Some(of(run)?.mean));
    TableUnit::of(&header.workload.time_unit, times)
}

/// Returns a row for each policy, in this unit; below them one of means that are known without a run.
fn rows<M, C>(comparison: &Comparison<M, C>, unit: &TableUnit) -> Rows {
    let row = |name: &str| {
        let cells = comparison.rankings.iter().map(|at| Shown {
            text: cell(comparison, name, at.load, unit),
            class: match comparison.settled(name, at.load) {
                None => "none",
                Some(_) if words::leaders(at).contains(&name) => "best",
                Some(_) => "",
            },
        });
        (comparison.titled(name), cells.collect())
    };
    let mut rows: Rows = comparison.names().map(row).collect();
    if let Some(first) = comparison.exact.first() {
        let cells = comparison.header.loads.iter().map(|load| {
            let exact = comparison.exact(*load);
            Shown {
                text: exact.map_or("–".into(), |own| unit.number(own.mean_response)),
                class: "none",
            }
        });
        rows.push((first.name.clone(), cells.collect()));
    }
    rows
}

const NOTE: &str = "mean response time over all jobs with 95 % confidence intervals; the same arrivals and \
    sizes for each policy at a load. What is said of a load holds together at 95 % (pairs of replications, Bonferroni); \
    ≈ stands between neighbours of which neither is surely faster, ≲ where the second takes a tenth longer, but not surely.";

/// Returns a cell in a few characters.
fn cell<M, C>(comparison: &Comparison<M, C>, name: &str, load: f64, unit: &TableUnit) -> String {
    match comparison.cell(name, load).map(|cell| &cell.outcome) {
        None => "not run".into(),
        Some(CellOutcome::Failure(_)) => "failed".into(),
        Some(CellOutcome::Run(run)) => {
            let mean = match run.health {
                Health::Settled => unit.estimate(run.mean_response),
                Health::Unsettled => "unsettled".into(),
                Health::Unstable => "unstable".into(),
            };
            let is_cut = run.ending == Ending::Interrupted;
            mean + if is_cut { " (interrupted)" } else { "" }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::WIDTH;
    use synth_simulation::sweep::SweepHeader;

    /// Without any cell: every sentence still stands.
    #[test]
    fn nothing_run_is_said_to_be_nothing() {
        let none: Comparison =
            Comparison::new(SweepHeader::sample(&["fcfs", "a/p.json"]), Vec::new(), true);
        let table = comparison_table(&none, &[], WIDTH);
        assert!(
            table.contains("fcfs and p.json are not measured."),
            "{table}"
        );
        assert!(table.contains("INTERRUPTED: 0 of 4 cells"), "{table}");
        assert_eq!(
            words::lead_over_loads(&none),
            "No policy has a mean at every load compared."
        );
    }

    #[test]
    fn the_command_can_be_typed_again() {
        let comparison: Comparison = Comparison::new(
            SweepHeader::sample(&["fcfs", "it's.json"]),
            Vec::new(),
            false,
        );
        assert_eq!(
            comparison.header.command(),
            r"synth compare --workload 'a file.yaml' --policies 'fcfs,it'\''s.json' --loads 0.5,0.95 --seed 1 --replications 8 --precision 0.01 --events 10 --time 1.5"
        );
    }
}
