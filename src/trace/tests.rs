#![allow(clippy::unwrap_used)]

use std::io::Write;

use super::*;

/// A file with this text, read to its end.
fn read(text: &[u8], options: &Options) -> (Vec<Job>, Trace) {
    let (jobs, trace, ended) = read_till_it_ends(text, options);
    ended.unwrap();
    (jobs, trace)
}

fn read_till_it_ends(text: &[u8], options: &Options) -> (Vec<Job>, Trace, Result<(), TraceError>) {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text).unwrap();
    let mut trace = Trace::open(&Source::named(file.path()), options).unwrap();
    let mut jobs = Vec::new();
    let ended = loop {
        match trace.next_job() {
            Ok(Some(job)) => jobs.push(job),
            Ok(None) => break Ok(()),
            Err(why) => break Err(why),
        }
    };
    (jobs, trace, ended)
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
fn a_log_is_read_with_its_header() {
    let text = swf(&[
        line("5", "10", "4", "20", "1"),
        line("9.00", "3", "128", "-1", "1"),
    ]);
    let (jobs, trace) = read(&text, &Options::default());
    assert_eq!(trace.servers().total(), [128.0]);
    assert_eq!((trace.format(), trace.tick()), (Format::Swf, Tick::Second));
    let of = |job: &Job| (job.line, job.submit, job.size, job.limit);
    assert_eq!(
        jobs.iter().map(of).collect::<Vec<_>>(),
        [(3, 5, 10, 20), (4, 9, 3, 0)]
    );
    assert_eq!(trace.account().count(Reason::NoLimit), 1);
}
