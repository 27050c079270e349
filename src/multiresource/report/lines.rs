//! What was done with the lines of a trace.

use super::{Table, percent};
use crate::trace::{Account, Reason};

/// A row a reason; `known_in_part` is the number of jobs that still ran at the end and are not taken to have ended then.
pub(super) fn lines(account: &Account, known_in_part: u64, width: usize) -> String {
    let header = [
        "lines",
        "",
        "of lines",
        "of work",
        "first line",
        "done",
        "changed by",
    ];
    let mut table = Table::new(header)
        .words(1)
        .words(5)
        .wrapping(5)
        .words(6)
        .wrapping(6);
    let work = account.all_work();
    for row in &account.rows {
        table.row([
            row.lines.to_string(),
            row.reason.found().to_owned(),
            percent(row.lines as f64 / account.lines as f64),
            match work > 0.0 {
                true => percent(row.work / work),
                false => "–".into(),
            },
            row.first_line.to_string(),
            match (row.reason, known_in_part) {
                (Reason::Censored, 0) => "taken to have ended then".to_owned(),
                (reason, _) => reason.done().to_owned(),
            },
            row.reason.option().unwrap_or_default().to_owned(),
        ]);
    }
    match account.rows.is_empty() {
        true => String::new(),
        false => table.within(width),
    }
}
