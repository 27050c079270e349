#![allow(clippy::unwrap_used)]

mod cases;
mod logs;
mod order;
mod random;

use std::io::Write;
use std::path::{Path, PathBuf};

use super::typed::edge;
use super::*;

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
    match trace.jobs(|_| true) {
        Ok(jobs) => (jobs.unwrap(), Ok(())),
        Err(why) => (Vec::new(), Err(why)),
    }
}

pub(crate) fn file(text: &[u8]) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text).unwrap();
    file
}

pub(crate) fn outside_log(name: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/traces");
    let path = folder.join(name);
    if !path.is_file() {
        println!("skipped: no {}", path.display());
    }
    path.is_file().then_some(path)
}

pub(crate) const AZURE_COLUMNS: &str =
    "time=submit_s,size=held_s,cpu=cores,memory=memory_gib,batch=batch,censored=censored";

pub(crate) fn columns(text: &str) -> Vec<(String, String)> {
    let pairs = text.split(',').map(|pair| pair.split_once('=').unwrap());
    pairs.map(|(what, own)| (what.into(), own.into())).collect()
}

fn refused(text: &[u8], options: &ReadOptions) -> String {
    let file = file(text);
    let source = Source::named(file.path());
    let ended = Trace::open(&source, options).and_then(|mut trace| drain(&mut trace).1);
    let why = ended.unwrap_err().to_string();
    why.replace(&source.name(), "FILE")
}

pub(crate) fn on(capacity: &str) -> ReadOptions {
    ReadOptions {
        servers: Some(Servers::shapes(capacity).unwrap()),
        ..ReadOptions::default()
    }
}

pub(crate) fn rows(trace: &Trace) -> Vec<(Reason, u64)> {
    let rows = trace.account.rows.iter();
    rows.map(|row| (row.reason, row.lines)).collect()
}

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

pub(crate) fn assert_accounted(trace: &Trace) {
    let account = &trace.account;
    let out: u64 = LEFT_OUT.iter().map(|reason| account.count(*reason)).sum();
    assert_eq!(account.lines, account.jobs + out, "{account:?}");
    assert!(account.work.is_finite() && account.rows.iter().all(|row| row.work.is_finite()));
}

const HEADER: &str = "; Version: 2.2\n; MaxProcs: 128\n";

fn line(submit: &str, run: &str, processors: &str, limit: &str, status: &str) -> String {
    format!("1 {submit} 0 {run} {processors} -1 -1 -1 {limit} -1 {status} 7 1 1 1 1 -1 -1\n")
}

fn swf(lines: &[String]) -> Vec<u8> {
    (HEADER.to_owned() + &lines.concat()).into_bytes()
}

#[test]
fn reasons_describe_left_out_lines() {
    for reason in LEFT_OUT {
        assert_eq!(reason.done(), "left out");
    }
}

#[test]
fn edges_are_dates_or_times_after_the_first_job() {
    for date in ["20260303164600", "1772556360000"] {
        assert_eq!(edge(date), edge("2026-03-03T16:46:00"));
    }
    assert_eq!(edge("3600"), Ok(TraceEdge::After(3600.0)));
    assert!(edge("20260303").is_err());
    let why = edge("2024-02-30").unwrap_err();
    assert!(why.ends_with("nor a date such as 2026-10-01"), "{why}");
}

#[test]
fn reads_servers_from_a_list_of_nodes() {
    let list = b"sn,cpu_milli,memory_mib,gpu,model\nn0,32000,262144,0,\nn1,96000,393216,8,V100M32\nn2,32000,262144,0,\n";
    let servers = nodes(file(list).path()).unwrap();
    let text = servers.to_string();
    let expected = "2xcpu=32,memory=256;1xcpu=96,memory=384,gpu:devices=8";
    assert_eq!(text, expected);
    for (list, why) in [
        ("sn,cpu\n", "not a list of nodes"),
        ("cpu_milli,memory_mib,gpu\n", "no line describes a node"),
        (
            "cpu_milli,memory_mib,gpu\n1,2,x\n",
            "line 2, column 5: found `x`",
        ),
        ("cpu_milli,memory_mib,gpu\n1,2\n", "line 2, column 4"),
    ] {
        let found = nodes(file(list.as_bytes()).path()).unwrap_err();
        assert!(found.to_string().contains(why), "{found}");
    }
}
