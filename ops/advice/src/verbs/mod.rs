//! The verbs `judge`, `advise` and `forecast`.

pub mod advise;
pub mod forecast;
pub mod judge;

use crate::forecast::Scored;
use crate::slurm::{Advice, FORMAT, Promises, SEED};
use synth_traces::replay::Interval;
use synth_traces::trace::{Account, Reason};
use synth_verb::report::Section;
use synth_verb::{Format, schema_of, table};

/// The result formats that are used by these verbs.
pub const FORMATS: &[Format] = &[
    ("synth-judgement", schema_of::<judge::Judged>),
    (FORMAT, schema_of::<Advice>),
    ("synth-promises", schema_of::<Promises>),
    ("synth-forecast", schema_of::<Scored>),
];

/// Returns a table with the lines of a log that were not used or that were changed. Jobs that are
/// still running at the end and are not assumed to end there are counted by `known_in_part`.
pub fn account_of(account: &Account, known_in_part: u64) -> Section {
    let (rows, work) = (account.rows_read() as f64, account.all_work());
    let mut section = table!("Lines of the log", &account.rows, row => {
        "lines" => row.reason.found(),
        "count [#]" => row.lines,
        "of lines [%]" => row.lines as f64 / rows,
        "of work [%]" => Some(row.work / work).filter(|_| row.reason != Reason::Fault),
        "first line [#]" => row.first_line,
        "done" => match row.reason {
            Reason::Censored if known_in_part == 0 => "assumed to end then",
            reason => reason.done(),
        },
        "changed by" => row.reason.option(),
    });
    section.notes.extend(account.window.clone());
    let remarks = account.remarks.iter().map(|own| format!("{own}."));
    section.notes.extend(remarks);
    section
}

/// Returns the lower and the upper end of an interval.
pub fn ends(interval: Option<Interval>) -> Option<[f64; 2]> {
    interval.map(|own| [own.low, own.high])
}
