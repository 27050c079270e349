//! The verbs of an administrator: `judge`, `advise` and `forecast`.

pub mod advise;
pub mod forecast;
pub mod judge;

use synth_traces::trace::{Account, Reason};
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
