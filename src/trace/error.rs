//! Why a trace cannot be read.

use std::io;

use super::{Account, Trace};

/// Why a trace cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The file cannot be read, or not to its end.
    #[error("cannot read {name} {}: {source}{}", after(*.line), help(.source))]
    Io {
        /// The file.
        name: String,
        /// The last line that was read; 0 where none was.
        line: u32,
        /// Why.
        source: io::Error,
    },
    /// It has no format that is known, or not the one that was named.
    #[error("{name}: {why}")]
    Format {
        /// The file.
        name: String,
        /// What was found, and what to do.
        why: String,
    },
    /// What was asked for does not go with the trace.
    #[error("{0}")]
    Request(String),
    /// Too many lines are not what the format has.
    #[error(
        "{name}: {} of {} lines are not what the format {format} has, more than {limit} of them may be:\n{}{}",
        .account.count(super::Reason::Fault), .account.lines, told(.account), FAULTS_HELP
    )]
    Faults {
        /// The file.
        name: String,
        /// The format.
        format: &'static str,
        /// The share that may be, as it is told.
        limit: String,
        /// What was done with the lines.
        account: Box<Account>,
    },
    /// Lines are too far from the order of their submission.
    #[error(
        "{name}, line {line}: submitted before a job of more than {} lines earlier: {sort}",
        Trace::MOST_OUT_OF_ORDER
    )]
    Disorder {
        /// The file.
        name: String,
        /// The line.
        line: u32,
        /// What to do.
        sort: &'static str,
    },
    /// No job takes part.
    #[error("{name}: no job takes part{}", why_none(.account))]
    Empty {
        /// The file.
        name: String,
        /// What was done with the lines.
        account: Box<Account>,
    },
}

const FAULTS_HELP: &str =
    "\nmend the lines, name another --format, or allow more with --faults, such as --faults 5%";

fn after(line: u32) -> String {
    match line {
        0 => "from its start".into(),
        line => format!("after line {line}"),
    }
}

fn help(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::UnexpectedEof => ": it is cut off; fetch it again",
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
            ": it is damaged; fetch it again"
        }
        _ => "",
    }
}

fn told(account: &Account) -> String {
    let mut text = account
        .faults
        .iter()
        .map(|fault| format!("  {fault}"))
        .collect::<Vec<_>>();
    let more = account.count(super::Reason::Fault) - account.faults.len() as u64;
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
