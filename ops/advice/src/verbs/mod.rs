//! The verbs of an administrator: `judge`, `advise` and `forecast`.

pub mod advise;
pub mod forecast;
pub mod judge;

use itertools::{Itertools as _, chain};

use synth_traces::replay::Log;
use synth_traces::trace::{Account, Reason};
use synth_verb::report::plot::{Axis, Curve, Panel, Point, Scale, curves};
use synth_verb::report::{Table, percent, wrap};

/// Says what was done with the lines of a trace. A row a reason; `known_in_part` is the number of jobs that still ran at the end and are not taken to have ended then.
pub fn lines(account: &Account, known_in_part: u64, width: usize) -> String {
    if account.rows.is_empty() {
        return String::new();
    }
    let header = "lines,,of lines,of work,first line,done,changed by".split(',');
    let table = Table::new(header).words(1).words(5).wrapping(5);
    let mut table = table.words(6).wrapping(6);
    let work = account.all_work();
    for row in &account.rows {
        table.row([
            row.lines.to_string(),
            row.reason.found().to_owned(),
            percent(row.lines as f64 / account.rows_read() as f64),
            match row.reason {
                Reason::Fault => "unknown".into(),
                // A dash where there is no work.
                _ => percent(row.work / work),
            },
            row.first_line.to_string(),
            match (row.reason, known_in_part) {
                (Reason::Censored, 0) => "taken to have ended then".into(),
                (reason, _) => reason.done().into(),
            },
            row.reason.option().unwrap_or_default().into(),
        ]);
    }
    let window = account.window.iter().map(|own| wrap(own, width) + "\n\n");
    window.collect::<String>() + &table.within(width)
}

/// Joins the parts of a report that are not empty, with an empty line between two of them.
fn paragraphs(parts: impl IntoIterator<Item = String>) -> String {
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    parts.collect_vec().join("\n\n")
}

/// Returns notes on a log: this one first, then the remarks of its reader and what was done with its lines.
fn notes(first: String, log: &Log, width: usize) -> Vec<String> {
    let remarks = log.account.remarks.iter().map(|own| format!("{own}."));
    let lines = lines(&log.account, log.censored, width);
    chain!([first], remarks, (!lines.is_empty()).then_some(lines)).collect()
}

/// Draws the mean wait of each class of jobs over today's, from today's and the other one, in this order. A class that does
/// not wait today has no mark.
fn by_class(description: &str, waits: &[(f64, f64)]) -> Panel {
    let waited = waits.iter().zip(1_u32..).filter(|(own, _)| own.0 > 0.0);
    let points = waited.map(|((today, own), n)| Point::exact(f64::from(n), own / today));
    let points: Vec<Point> = points.collect();
    let ends = [0.5, waits.len() as f64 + 0.5];
    let x = Axis::new("class", Scale::Linear, ends[0], ends[1]);
    let values = points.iter().map(|point| point.value).chain([0.0, 1.0]);
    let y = Axis::around("mean wait over today's", Scale::Linear, values);
    let line = ends.map(|at| Point::exact(at, 1.0)).to_vec();
    Panel::new(
        "mean wait over today's, by class".into(),
        description.into(),
        curves(&x, &y, &[Curve::new(0, line), Curve::new(1, points)]),
    )
}
