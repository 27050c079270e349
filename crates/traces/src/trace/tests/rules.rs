//! What is done with each line: a test a rule.

use super::*;

/// Submit, size and limit of each job.
fn three(jobs: &[TraceJob]) -> Vec<(i64, u64, u64)> {
    let three = jobs.iter().map(|job| (job.submit, job.size, job.limit));
    three.collect()
}

#[test]
fn a_log_is_read_with_its_header() {
    let text = swf(&[
        line("5", "10", "4", "20", "1"),
        line("9.00", "3", "128", "-1", "1"),
    ]);
    let (jobs, trace) = read(&text, &ReadOptions::default());
    assert_eq!(trace.servers().total(), [128.0]);
    assert_eq!(
        (trace.format(), trace.tick()),
        (TraceFormat::Swf, Tick::Second)
    );
    assert_eq!(three(&jobs), [(5, 10, 20), (9, 3, 0)]);
    assert_eq!((jobs[0].line, jobs[1].line), (3, 4));
    assert_eq!(rows(&trace), [(Reason::NoLimit, 1)]);
}

#[test]
fn what_never_ran_is_left_out() {
    let text = swf(&[
        line("1", "-1", "4", "20", "1"),
        line("2", "0", "4", "20", "0"),
        line("3", "0", "4", "20", "5"),
        line("4", "7", "4", "20", "5"),
    ]);
    let (jobs, trace) = read(&text, &ReadOptions::default());
    assert_eq!(three(&jobs), [(4, 7, 20)]);
    assert_eq!(rows(&trace), [(Reason::NeverRan, 3)]);
    assert_accounted(&trace);
}

#[test]
fn less_than_a_tick_is_a_tick() {
    let text = swf(&[
        line("1", "0", "4", "20", "1"),
        line("2", "5", "4", "20", "1"),
    ]);
    let (jobs, trace) = read(&text, &ReadOptions::default());
    assert_eq!(three(&jobs), [(1, 1, 20), (2, 5, 20)]);
    assert_eq!(rows(&trace), [(Reason::LessThanATick, 1)]);
}

#[test]
fn what_failed_held_its_room() {
    let text = swf(&[
        line("1", "8", "4", "20", "0"),
        line("2", "5", "4", "20", "1"),
    ]);
    let (jobs, trace) = read(&text, &ReadOptions::default());
    assert_eq!(three(&jobs), [(1, 8, 20), (2, 5, 20)]);
    assert_eq!(rows(&trace), []);
    let options = ReadOptions {
        completed_only: true,
        ..ReadOptions::default()
    };
    let (jobs, trace) = read(&text, &options);
    assert_eq!(jobs.len(), 1);
    assert_eq!(rows(&trace), [(Reason::NotCompleted, 1)]);
}

#[test]
fn the_line_that_sums_executions_up_counts() {
    let statuses = ["1", "2", "3", "4"];
    let text = swf(&statuses.map(|status| line("1", "8", "4", "20", status)));
    let (jobs, trace) = read(&text, &ReadOptions::default());
    assert_eq!(jobs.len(), 1);
    assert_eq!(rows(&trace), [(Reason::Partial, 3)]);
}

#[test]
fn what_was_requested_stands_for_what_was_not_allocated() {
    let text = format!(
        "{HEADER}1 0 0 9 -1 -1 -1 16 20 -1 1 7 1 1 1 1 -1 -1\n2 0 0 9 0 -1 -1 0 20 -1 1 7 1 1 1 1 -1 -1\n"
    );
    let (jobs, trace) = read(text.as_bytes(), &ReadOptions::default());
    assert_eq!(jobs.len(), 1);
    assert_eq!(trace.demands().vectors()[0][..], [16.0]);
    assert_eq!(
        rows(&trace),
        [(Reason::NoDemand, 1), (Reason::RequestedTaken, 1)]
    );
    assert_accounted(&trace);
}

#[test]
fn what_no_server_holds_is_left_out_with_its_work() {
    let text = swf(&[
        line("1", "8", "129", "20", "1"),
        line("2", "5", "128", "20", "1"),
    ]);
    let half = ReadOptions {
        faults: Some(0.7),
        ..ReadOptions::default()
    };
    let (jobs, trace) = read(&text, &half);
    assert_eq!(jobs.len(), 1);
    let row = &trace.account().rows[0];
    assert_eq!((row.reason, row.lines), (Reason::TooLarge, 1));
    assert!((row.work - 8.0 * 129.0 / 128.0).abs() < 1e-12);
    // How many servers of a fleet it had a log of processors does not tell: as few as hold it.
    let fleet = ReadOptions {
        servers: Some(Servers::shapes("40xcpu=64").unwrap()),
        ..ReadOptions::default()
    };
    let (jobs, trace) = read(&text, &fleet);
    assert_eq!((jobs.len(), trace.demands().nodes()), (2, &[3, 2][..]));
    assert!(
        refused(&text, &on("2xcpu=32")).contains("2 larger than any server: left out (--servers")
    );
}

#[test]
fn a_capacity_below_each_job_leaves_none() {
    let text = swf(&[line("1", "8", "4", "20", "1")]);
    let why = refused(&text, &on("cpu=3"));
    assert_eq!(
        why,
        "FILE: no job takes part of 1 lines:\n  1 larger than any server: left out (--servers, --faults)"
    );
}

#[test]
fn a_limit_is_never_below_the_size() {
    let text = swf(&[line("1", "30", "4", "20", "1")]);
    let (jobs, trace) = read(&text, &ReadOptions::default());
    assert_eq!(three(&jobs), [(1, 30, 30)]);
    assert_eq!(rows(&trace), [(Reason::PastLimit, 1)]);
    let options = ReadOptions {
        kill: true,
        ..ReadOptions::default()
    };
    let (jobs, trace) = read(&text, &options);
    assert_eq!(three(&jobs), [(1, 20, 20)]);
    assert_eq!(rows(&trace), [(Reason::Killed, 1)]);
}

#[test]
fn a_span_that_leaves_nothing_is_reported() {
    let text = swf(&[
        line("100", "8", "4", "20", "1"),
        line("200", "5", "4", "20", "1"),
    ]);
    let span = |from: Option<f64>, to: Option<f64>| ReadOptions {
        from: from.map(TraceEdge::After),
        to: to.map(TraceEdge::After),
        ..ReadOptions::default()
    };
    let (jobs, trace) = read(&text, &span(Some(100.0), None));
    assert_eq!(three(&jobs), [(200, 5, 20)]);
    assert_eq!(rows(&trace), [(Reason::OutsideSpan, 1)]);
    let (jobs, _) = read(&text, &span(None, Some(99.0)));
    assert_eq!(three(&jobs), [(100, 8, 20)]);
    let why = refused(&text, &span(Some(106.0), Some(7e9)));
    assert!(
        why.ends_with("2 outside the span: left out (--from, --to)"),
        "{why}"
    );
    // What only ran then is no arrival.
    let why = refused(&text, &span(Some(101.0), None));
    assert!(why.contains("1 there before the start"), "{why}");
    let date = ReadOptions {
        from: Some(TraceEdge::At(1.7e9)),
        ..ReadOptions::default()
    };
    assert!(refused(&text, &date).contains("its times are no dates"));
}

#[test]
fn faults_are_reported_and_more_than_a_hundredth_are_too_many() {
    let good = line("5", "10", "4", "20", "1");
    let with = |good: usize, bad: &str| {
        let lines = vec![self::line("5", "10", "4", "20", "1"); good];
        [swf(&lines), bad.as_bytes().to_vec()].concat()
    };
    let (jobs, trace) = read(&with(99, "1 2 3\n"), &ReadOptions::default());
    assert_eq!((jobs.len(), trace.account().count(Reason::Fault)), (99, 1));
    assert_accounted(&trace);
    let strict = ReadOptions {
        faults: Some(0.0),
        ..ReadOptions::default()
    };
    assert_eq!(
        refused(&with(99, "1 2 3\n"), &strict),
        "FILE: 1 of 100 lines are not what the format swf has, more than 0 % of them may be:\n  \
         line 102, column 6: found ``, expected 18 fields: the line ends here\n\
         mend the lines, name another --format, or leave them out with --faults 2%"
    );
    let why = refused(
        &with(10, &good.replace("10", "x").repeat(12)),
        &ReadOptions::default(),
    );
    assert!(
        why.contains("12 of 22 lines") && why.contains("and 2 more"),
        "{why}"
    );
}

#[test]
fn memory_is_of_each_processor_and_what_is_missing_is_reported() {
    let line = |requested: &str, used: &str| {
        format!("1 0 0 9 4 -1 {used} 4 20 {requested} 1 7 1 1 1 1 -1 -1\n")
    };
    let text = [
        HEADER.to_owned(),
        line("1048576", "5"),
        line("-1", "524288"),
        line("-1", "-1"),
    ];
    let (_, trace) = read(text.concat().as_bytes(), &on("cpu=8,memory=4"));
    let vectors: Vec<&[f64]> = trace.demands().vectors().iter().map(|v| &v[..]).collect();
    assert_eq!(vectors, [&[4.0, 4.0][..], &[4.0, 2.0], &[4.0, 0.0]]);
    assert_eq!(rows(&trace), [(Reason::NoAmount, 1)]);
}
