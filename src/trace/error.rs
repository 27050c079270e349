//! Why a trace cannot be read.

use std::io;

use super::{Account, Reason};

/// Why a trace cannot be read, and what to do.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct TraceError(pub String);

impl TraceError {
    /// Says that the file of this name cannot be read beyond this line; not at all where that is 0.
    pub(super) fn unreadable(name: &str, line: u32, why: &io::Error) -> Self {
        let place = match line {
            0 => "from its start".into(),
            line => format!("after line {line}"),
        };
        let help = match why.kind() {
            io::ErrorKind::UnexpectedEof => ": it is cut off; fetch it again",
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
                ": it is damaged; fetch it again"
            }
            _ => "",
        };
        TraceError(format!("cannot read {name} {place}: {why}{help}"))
    }

    /// Too many lines are not what the format has.
    pub(super) fn faults(name: &str, format: &str, limit: f64, account: &Account) -> Self {
        TraceError(format!(
            "{name}: {} of {} lines are not what the format {format} has, more than {} % of them may be:\n{}\nmend the lines, name another --format, or allow more with --faults, such as --faults 5%",
            account.count(Reason::Fault),
            account.lines,
            100.0 * limit,
            shown(account)
        ))
    }

    /// No job takes part.
    pub(super) fn empty(name: &str, account: &Account) -> Self {
        TraceError(format!("{name}: no job takes part{}", why_none(account)))
    }
}

fn shown(account: &Account) -> String {
    let mut text = account
        .faults
        .iter()
        .map(|fault| format!("  {fault}"))
        .collect::<Vec<_>>();
    let more = account.count(Reason::Fault) - account.faults.len() as u64;
    if more > 0 {
        text.push(format!("  and {more} more"));
    }
    text.join("\n")
}

fn why_none(account: &Account) -> String {
    if account.lines == 0 {
        return ": no line stands for a job".into();
    }
    let rows = account.rows.iter();
    let rows = rows.map(|row| {
        let option = row
            .reason
            .option()
            .map_or(String::new(), |o| format!(" ({o})"));
        format!(
            "\n  {} {}: {}{option}",
            row.lines,
            row.reason.found(),
            row.reason.done()
        )
    });
    format!(" of {} lines:{}", account.lines, rows.collect::<String>())
}
