#![allow(clippy::unwrap_used)]

mod azure;
mod borg;
mod broken;
mod logs;
mod openb;
mod order;
mod people;
mod random;
mod rules;
mod sacct;
mod table;

use std::io::Write;

use super::*;

/// A file with this text, read to its end.
pub(crate) fn read(text: &[u8], options: &ReadOptions) -> (Vec<TraceJob>, Trace) {
    let (jobs, trace, ended) = read_till_it_ends(text, options);
    ended.unwrap();
    (jobs, trace)
}

fn read_till_it_ends(
    text: &[u8],
    options: &ReadOptions,
) -> (Vec<TraceJob>, Trace, Result<(), TraceError>) {
    let file = file(text);
    let mut trace = Trace::open(&Source::named(file.path()), options).unwrap();
    let (jobs, ended) = drain(&mut trace);
    (jobs, trace, ended)
}

fn drain(trace: &mut Trace) -> (Vec<TraceJob>, Result<(), TraceError>) {
    let mut jobs = Vec::new();
    let ended = loop {
        match trace.next_job() {
            Ok(Some(job)) => jobs.push(job),
            Ok(None) => break Ok(()),
            Err(why) => break Err(why),
        }
    };
    (jobs, ended)
}

pub(crate) fn file(text: &[u8]) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text).unwrap();
    file
}

/// Why a file with this text cannot be opened or read to its end, without its name.
fn refused(text: &[u8], options: &ReadOptions) -> String {
    let file = file(text);
    let source = Source::named(file.path());
    let ended = Trace::open(&source, options).and_then(|mut trace| drain(&mut trace).1);
    let why = ended.unwrap_err().to_string();
    why.replace(&source.name(), "FILE")
}

/// The faults of a file with this text, and how many jobs are left.
fn faults(text: &str, options: &ReadOptions) -> (Vec<String>, usize) {
    let options = ReadOptions {
        faults: Some(1.0),
        ..options.clone()
    };
    let (jobs, trace, _) = read_till_it_ends(text.as_bytes(), &options);
    (trace.account().faults.clone(), jobs.len())
}

pub(crate) fn on(capacity: &str) -> ReadOptions {
    ReadOptions {
        servers: Some(Servers::shapes(capacity).unwrap()),
        ..ReadOptions::default()
    }
}

/// By reason how many lines.
pub(crate) fn rows(trace: &Trace) -> Vec<(Reason, u64)> {
    let rows = trace.account().rows.iter();
    rows.map(|row| (row.reason, row.lines)).collect()
}

/// The reasons for which a line that stands for a job is left out.
const LEFT_OUT: [Reason; 8] = [
    Reason::Fault,
    Reason::NeverRan,
    Reason::NotCompleted,
    Reason::Partial,
    Reason::NoDemand,
    Reason::TooLarge,
    Reason::OutsideSpan,
    Reason::Others,
];

/// Conservation: each line that stands for a job takes part or is counted once among those left out.
pub(crate) fn assert_accounted(trace: &Trace) {
    let account = trace.account();
    let out: u64 = LEFT_OUT.iter().map(|reason| account.count(*reason)).sum();
    assert_eq!(account.lines, account.jobs + out, "{account:?}");
    assert!(account.work.is_finite() && account.rows.iter().all(|row| row.work.is_finite()));
}

const HEADER: &str = "; Version: 2.2\n; MaxProcs: 128\n";

/// A line of swf.
fn line(submit: &str, run: &str, processors: &str, limit: &str, status: &str) -> String {
    format!("1 {submit} 0 {run} {processors} -1 -1 -1 {limit} -1 {status} 7 1 1 1 1 -1 -1\n")
}

fn swf(lines: &[String]) -> Vec<u8> {
    (HEADER.to_owned() + &lines.concat()).into_bytes()
}

#[test]
fn each_reason_says_what_is_left_out() {
    for reason in LEFT_OUT {
        assert_eq!(reason.done(), "left out");
    }
}
