use super::*;

const HEADER: &str =
    "JobIDRaw|Submit|Start|End|ElapsedRaw|State|ReqTRES|AllocTRES|TimelimitRaw|Partition|User\n";

/// A job of ten minutes with this id, state and allocation.
fn job(id: &str, state: &str, tres: &str) -> String {
    format!(
        "{id}|2024-03-05T10:00:00|2024-03-05T10:01:00|2024-03-05T10:11:00|600|{state}|cpu=1,mem=4G|{tres}|60|main|ann\n"
    )
}

fn text(lines: &[String]) -> Vec<u8> {
    (HEADER.to_owned() + &lines.concat()).into_bytes()
}

fn cluster() -> ReadOptions {
    on("cpu=64,memory=1024,gpu=8")
}

#[test]
fn steps_are_no_jobs_and_tasks_of_arrays_are() {
    let ids = ["7", "7.batch", "7.extern", "7.0", "8_3", "9+1"];
    let text = text(&ids.map(|id| job(id, "COMPLETED", "cpu=32,mem=500G,node=1,gres/gpu=2")));
    let (jobs, trace) = read(&text, &cluster());
    assert_eq!(trace.format(), TraceFormat::Sacct);
    assert_eq!(jobs.len(), 3);
    assert_eq!(trace.demands().vectors()[0][..], [32.0, 500.0, 2.0]);
    assert_eq!((jobs[0].size, jobs[0].limit), (600, 3600));
    assert_eq!(rows(&trace), [(Reason::Step, 3)]);
    assert_eq!(trace.account().lines, 3);
}

#[test]
fn columns_stand_in_any_order() {
    let text = "User|State|AllocTRES|JobID|ElapsedRaw|Submit|\nann|FAILED|cpu=2,mem=1024M|1|5|1709632800|\n";
    let (jobs, trace) = read(text.as_bytes(), &on("cpu=64,memory=1024"));
    assert_eq!(
        (jobs[0].submit, jobs[0].size, jobs[0].limit),
        (1_709_632_800, 5, 0)
    );
    assert_eq!(trace.demands().vectors()[0][..], [2.0, 1.0]);
}

#[test]
fn amounts_have_units_of_1024() {
    let gib = [
        ("1048576K", 1.0),
        ("512M", 0.5),
        ("62.50G", 62.5),
        ("1T", 1024.0),
        ("2048", 2.0),
    ];
    for (mem, gib) in gib {
        let text = text(&[job(
            "1",
            "COMPLETED",
            &format!("billing=5,cpu=1,mem={mem},node=1"),
        )]);
        let (_, trace) = read(&text, &cluster());
        assert_eq!(trace.demands().vectors()[0][..], [1.0, gib, 0.0], "{mem}");
    }
}

/// A job has the types that it requested, however many it got of them, and no type that it got without a request.
#[test]
fn types_of_a_resource_are_requested() {
    let servers = "gpu=4,gpu:a100=4;gpu=4,gpu:v100=4;gpu=4,nic=2,gres/gpu:h100=4";
    let of = |requested: &str, allocated: &str| {
        let text = text(&[job("1", "COMPLETED", allocated)]);
        let text = String::from_utf8(text)
            .unwrap()
            .replace("cpu=1,mem=4G", requested);
        let (jobs, trace, _) = read_till_it_ends(text.as_bytes(), &on(servers));
        // gpu, a100, v100, nic, h100.
        let first = jobs.first().map(|_| trace.demands().vectors()[0].to_vec());
        (first, rows(&trace))
    };
    let one = |demand: [f64; 5]| (Some(demand.to_vec()), vec![]);
    let a100 = "cpu=1,gres/gpu:a100=2,gres/gpu=2";
    assert_eq!(of(a100, a100), one([2.0, 2.0, 0.0, 0.0, 0.0]));
    assert_eq!(of("cpu=1,gres/gpu=2", a100), one([2.0, 0.0, 0.0, 0.0, 0.0]));
    assert_eq!(
        of("cpu=1,GRES/gpu:A100=1", a100),
        one([2.0, 2.0, 0.0, 0.0, 0.0])
    );
    assert_eq!(of(a100, "cpu=1,gres/gpu=4"), one([4.0, 2.0, 0.0, 0.0, 0.0]));
    assert_eq!(
        of("cpu=1,gres/gpu:h100=1", "cpu=1,gres/gpu:h100=1,gres/nic=2"),
        one([1.0, 0.0, 0.0, 2.0, 1.0])
    );
    let (first, why) = of("", a100);
    assert_eq!(first, Some(vec![2.0, 2.0, 0.0, 0.0, 0.0]));
    assert!(why.contains(&(Reason::GivenType, 1)), "{why:?}");
    // Another type than the servers have: it would fit nowhere.
    assert_eq!(
        of("cpu=1,gres/gpu:k80=1,gres/gpu=1", "cpu=1,gres/gpu=1"),
        (None, vec![(Reason::OtherType, 1)])
    );
    // Without types of the servers, types say nothing.
    let (_, trace) = read(&text(&[job("1", "COMPLETED", a100)]), &on("gpu=8"));
    assert_eq!(trace.demands().vectors()[0][..], [2.0]);
    assert!(
        trace
            .account()
            .remarks
            .iter()
            .all(|own| !own.contains("gpu:a100"))
    );
    let requested = String::from_utf8(text(&[job("1", "COMPLETED", a100)])).unwrap();
    let requested = requested.replace("cpu=1,mem=4G", a100);
    let (_, trace) = read(requested.as_bytes(), &on("gpu=8"));
    let mut remarks = trace.account().remarks.iter();
    assert!(remarks.any(|own| own.contains("types such as gpu:a100")));
}

/// Instants in another notation than that of sacct are read, and it is said how; those of SWF are seconds.
#[test]
fn digits_of_dates_are_reported() {
    let log = "JobID|Submit|Start|End|ElapsedRaw|State|AllocTRES\n\
        1|20260303164600|20260303164600|20260303164700|60|COMPLETED|cpu=1\n";
    let (jobs, trace) = read(log.as_bytes(), &on("cpu=8"));
    assert_eq!(jobs[0].submit, 1_772_556_360);
    assert_eq!(
        trace.account().remarks[0],
        "its instants are read as YYYYMMDDhhmmss"
    );
    let dated = line("20260303164600", "60", "4", "-1", "1");
    let (faults, jobs) = faults(&dated, &on("cpu=8"));
    assert!(
        jobs == 0 && faults[0].contains("not the digits of a date"),
        "{faults:?}"
    );
}

#[test]
fn what_was_requested_is_taken_where_nothing_was_allocated() {
    let (_, trace) = read(&text(&[job("1", "COMPLETED", "")]), &cluster());
    assert_eq!(trace.demands().vectors()[0][..], [1.0, 4.0, 0.0]);
    assert_eq!(rows(&trace), [(Reason::RequestedTaken, 1)]);
}

#[test]
fn states_tell_what_became_of_a_job() {
    let of = |state: &str| {
        let text = text(&[job("1", state, "cpu=1,mem=1G")]);
        let options = ReadOptions {
            completed_only: true,
            ..cluster()
        };
        let (jobs, trace, _) = read_till_it_ends(&text, &options);
        assert_accounted(&trace);
        (
            jobs.first().map(|job| job.seen),
            rows(&trace).first().map(|row| row.0),
        )
    };
    assert_eq!(of("COMPLETED"), (Some(Observed::Whole), None));
    assert_eq!(
        of("RUNNING"),
        (Some(Observed::Censored), Some(Reason::Censored))
    );
    assert_eq!(of("PENDING"), (None, Some(Reason::NeverRan)));
    for state in [
        "CANCELLED by 1000",
        "CANCELLED+",
        "FAILED",
        "TIMEOUT",
        "NODE_FAIL",
        "OUT_OF_MEMORY",
        "PREEMPTED",
    ] {
        assert_eq!(of(state), (None, Some(Reason::NotCompleted)), "{state}");
    }
    assert_eq!(of("HAPPY"), (None, Some(Reason::Fault)));
}

#[test]
fn what_was_cancelled_before_its_start_never_ran() {
    let line = "1|2024-03-05T10:00:00|Unknown|2024-03-05T10:11:00|0|CANCELLED by 5|cpu=1||Partition_Limit|main|ann\n";
    let none = line
        .replace("Unknown", "None")
        .replace("CANCELLED by 5", "COMPLETED")
        .replace("1|2024", "2|2024");
    let (_, trace, _) = read_till_it_ends(&text(&[line.into(), none]), &cluster());
    assert_eq!(trace.account().count(Reason::NeverRan), 2);
}

#[test]
fn limits_may_be_missing() {
    for limit in ["UNLIMITED", "Partition_Limit", ""] {
        let line = job("1", "COMPLETED", "cpu=1,mem=1G").replace("|60|", &format!("|{limit}|"));
        let (jobs, trace) = read(&text(&[line]), &cluster());
        assert_eq!(jobs[0].limit, 0);
        assert_eq!(rows(&trace), [(Reason::NoLimit, 1)]);
    }
}

#[test]
fn a_span_is_named_by_dates() {
    let of = |day: &str| job("1", "COMPLETED", "cpu=1,mem=1G").replace("2024-03-05", day);
    let log = text(&["2024-03-05", "2024-03-06", "2024-03-07"].map(of));
    let span = |from: &str, to: &str| ReadOptions {
        from: Some(edge(from).unwrap()),
        to: Some(edge(to).unwrap()),
        ..cluster()
    };
    let (jobs, trace) = read(&log, &span("2024-03-06", "2024-03-07"));
    assert_eq!((jobs.len(), jobs[0].line), (1, 3));
    assert_eq!(rows(&trace), [(Reason::OutsideSpan, 2)]);
    let (jobs, _) = read(&log, &span("1s", "2024-03-07T23:59"));
    let seen: Vec<Observed> = jobs.iter().map(|job| job.seen).collect();
    // The first one waits for a minute.
    assert_eq!(seen, [Observed::Waiting, Observed::Whole, Observed::Whole]);
    assert!(
        edge("2024-02-30")
            .unwrap_err()
            .ends_with("nor a date such as 2026-10-01")
    );
}

#[test]
fn a_clock_that_is_set_while_a_job_runs_is_reported() {
    // In 2024 clocks were set forward on 10 March (America) and 31 March (Europe). Time for which a job is suspended is
    // missing on any other day.
    for (day, is_set) in [("05", false), ("10", true), ("17", false), ("31", true)] {
        let day = format!("2024-03-{day}");
        let line = job("1", "COMPLETED", "cpu=1,mem=1G").replace("T10:11:00", "T11:11:00");
        let (_, trace) = read(&text(&[line.replace("2024-03-05", &day)]), &cluster());
        let reported = trace.account().count(Reason::AmbiguousTime);
        assert_eq!(reported, u64::from(is_set), "{day}");
    }
}

#[test]
fn a_bar_in_a_name_is_reported_and_a_missing_column_as_well() {
    let good = ["1", "2", "3"]
        .map(|id| job(id, "COMPLETED", "cpu=1,mem=1G"))
        .concat();
    let bad = good.lines().next().unwrap().replace("|ann", "|a|b") + "\n";
    let (faults, jobs) = faults(&format!("{HEADER}{good}{bad}"), &cluster());
    assert_eq!(jobs, 3);
    assert_eq!(
        faults,
        [
            "line 5, column 113: found `b`, expected no more fields than the header has: a `|` in a name makes more of them; \
          leave JobName out"
        ]
    );
    let why = refused(b"JobIDRaw|Submit|State\n", &cluster());
    assert_eq!(
        why,
        "FILE: its first line has no column `ElapsedRaw`, which sacct has; it has: `JobIDRaw`, `Submit`, `State`. Export with \
         `sacct -aXP -S now-4weeks --format=JobID,User,Account,Partition,QOS,Submit,Eligible,Start,End,ElapsedRaw,State,NNodes,ReqTRES,AllocTRES,TimelimitRaw`"
    );
}

#[test]
fn what_jobs_were_sent_to() {
    let names = ["main|phys|", "gpu|phys|high", "main|phys|", "gpu,main||"];
    let header = "JobID|Submit|ElapsedRaw|State|AllocTRES|Partition|Account|QOS|User\n";
    let mut text = header.to_owned();
    for (n, names) in names.iter().enumerate() {
        let submit = 1_709_632_800 + 100_000 * n;
        let user = ["ann", "bob"][n / 2];
        text += &format!("{n}|{submit}|5|COMPLETED|cpu=2|{names}|{user}\n");
    }
    let (jobs, trace) = read(text.as_bytes(), &on("cpu=64"));
    let classes: Vec<u32> = jobs.iter().map(|job| job.class).collect();
    assert_eq!(classes, [0, 1, 0, 2]);
    let class = |partition: &str, account: &str, qos: &str| SentTo {
        partition: partition.into(),
        account: account.into(),
        qos: qos.into(),
    };
    let expected = [
        class("main", "phys", ""),
        class("gpu", "phys", "high"),
        class("gpu,main", "", ""),
    ];
    assert_eq!(trace.account().classes, expected);
    assert!(trace.account().remarks.is_empty());

    let some = |partition: Option<&str>, user: Option<&str>| ReadOptions {
        partition: partition.map(str::to_owned),
        user: user.map(str::to_owned),
        ..on("cpu=64")
    };
    for (partition, user, lines) in [
        (Some("gpu"), None, vec![3, 5]),
        (Some("main"), Some("bob"), vec![4, 5]),
        (None, Some("ann"), vec![2, 3]),
    ] {
        let (jobs, trace) = read(text.as_bytes(), &some(partition, user));
        let found: Vec<u32> = jobs.iter().map(|job| job.line).collect();
        assert_eq!(found, lines);
        assert_eq!(rows(&trace)[0], (Reason::Others, 2));
    }
    assert_eq!(
        refused(text.as_bytes(), &some(Some("nix"), None)),
        "FILE: no job takes part of 4 lines:\n  4 of others: left out (--partition, --user)\n\
         its partitions are: gpu, gpu,main, main"
    );
    let table = b"submit,size\n1,2\n";
    assert!(refused(table, &some(Some("nix"), None)).contains("--partition and --user are for"));
}

#[test]
fn a_log_of_hours_says_how_to_export_weeks() {
    let (_, trace) = read(
        &text(&[job("1", "COMPLETED", "cpu=1,mem=1G,gres/gpu=1")]),
        &cluster(),
    );
    let [remark] = &trace.account().remarks[..] else {
        panic!("{:?}", trace.account().remarks);
    };
    assert!(
        remark.starts_with("all its jobs came within 0.0 hours"),
        "{remark}"
    );
    assert!(
        remark.ends_with(&format!("Export with `{EXPORT}`")),
        "{remark}"
    );
}

#[test]
fn queues_of_swf() {
    let line = |queue: &str, partition: &str| {
        format!("1 5 0 5 4 -1 -1 -1 20 -1 1 7 9 1 {queue} {partition} -1 -1\n")
    };
    let (jobs, trace) = read(
        &swf(&[line("2", "-1"), line("2", "3"), line("-1", "-1")]),
        &ReadOptions::default(),
    );
    let named = jobs
        .iter()
        .map(|job| &trace.account().classes[job.class as usize]);
    let named: Vec<[&str; 3]> = named
        .map(|own| [&*own.partition, &*own.account, &*own.qos])
        .collect();
    assert_eq!(named, [["2", "9", ""], ["3", "9", "2"], ["", "9", ""]]);
}

/// A job that was submitted at ten, and what is known of it: its start, its end and its state.
fn row(id: &str, start: &str, end: &str, state: &str) -> String {
    let at = |clock: &str| match clock {
        "" => "Unknown".to_owned(),
        clock => format!("2024-03-05T{clock}:00"),
    };
    let minutes = |clock: &str| {
        clock
            .split_once(':')
            .map(|(h, m)| (h.parse::<u32>().unwrap(), m.parse::<u32>().unwrap()))
    };
    let ran = minutes(start)
        .zip(minutes(end))
        .map_or(0, |(a, b)| 60 * (60 * (b.0 - a.0) + b.1 - a.1));
    let end = if state == "RUNNING" { "" } else { end };
    format!(
        "{id}|2024-03-05T10:00:00|{}|{}|{ran}|{state}|cpu=1,mem=4G|cpu=4,mem=4G|300|main|ann\n",
        at(start),
        at(end)
    )
}

#[test]
fn of_the_rows_of_one_job_the_last_state_counts_in_any_order() {
    let rows_of_7 = [
        row("7_1", "", "", "PENDING"),
        row("7_1", "10:30", "10:40", "RUNNING"),
        row("7_1", "10:30", "11:30", "RUNNING"),
        row("7_1", "10:30", "12:00", "COMPLETED"),
    ];
    let other = row("7_2", "10:10", "10:20", "COMPLETED");
    for order in [
        [0, 1, 2, 3],
        [3, 2, 1, 0],
        [2, 3, 0, 1],
        [1, 0, 3, 2],
        [3, 3, 3, 3],
    ] {
        let lines = order.map(|n| rows_of_7[n].clone());
        let log = text(&[&lines[..], std::slice::from_ref(&other)].concat());
        let (jobs, trace) = read(&log, &cluster());
        let found: Vec<_> = jobs
            .iter()
            .map(|job| (job.size, job.waited, job.seen))
            .collect();
        let last = [
            (5400, Some(1800), Observed::Whole),
            (600, Some(600), Observed::Whole),
        ];
        assert_eq!(found, last, "{order:?}");
        assert_eq!(rows(&trace), [(Reason::Repeated, 3)]);
        assert_eq!((trace.account().lines, trace.account().rows_read()), (2, 5));
        assert_accounted(&trace);
    }
}

#[test]
fn a_job_that_was_requeued_or_submitted_again_is_another_one() {
    let first = row("7", "10:30", "10:40", "NODE_FAIL");
    let again = row("7", "11:00", "12:00", "COMPLETED");
    let later = again.replace("|2024-03-05T10:00:00|", "|2024-03-05T10:50:00|");
    let log = text(&[first.clone(), again.clone(), later, first, again]);
    let (jobs, trace) = read(&log, &cluster());
    assert_eq!(
        jobs.iter().map(|job| job.size).collect::<Vec<_>>(),
        [600, 3600, 3600]
    );
    assert_eq!(rows(&trace), [(Reason::Repeated, 2)]);
}

#[test]
fn a_file_that_was_concatenated_with_itself_is_read_once() {
    let log = text(&[
        row("7", "10:30", "10:40", "COMPLETED"),
        row("8+0", "10:30", "10:40", "COMPLETED"),
        row("8+1", "10:30", "10:40", "COMPLETED"),
        row("9", "", "", "CANCELLED"),
    ]);
    let (once, trace) = read(&log, &cluster());
    let (twice, other) = read(&[&log[..], &log].concat(), &cluster());
    assert_eq!(once, twice);
    assert_eq!(trace.demands().vectors(), other.demands().vectors());
    assert_eq!(trace.account().work, other.account().work);
    assert_eq!(other.account().count(Reason::Repeated), 4);
    assert_eq!(other.account().count(Reason::Header), 1);
    assert_accounted(&other);
    let turned = "State|JobIDRaw|Submit|Start|End|ElapsedRaw|ReqTRES|AllocTRES|TimelimitRaw|Partition|User\n";
    let why = refused(&[&log[..], turned.as_bytes()].concat(), &cluster());
    assert!(
        why.contains("line 6 is a header with the columns in another order"),
        "{why}"
    );
}

#[test]
fn times_in_one_number_and_times_that_are_not_known_are_read() {
    // 2024-03-05T10:00:00 is 1 709 632 800 s after 1970.
    let line = |start: &str, state: &str| {
        format!("1|20240305100000|{start}|{start}|0|{state}||cpu=1|60|main|ann\n")
    };
    let (jobs, _) = read(&text(&[line("1709632860", "COMPLETED")]), &cluster());
    assert_eq!((jobs[0].submit, jobs[0].waited), (1_709_632_800, Some(60)));
    for start in [
        "",
        "Unknown",
        "None",
        "NULL",
        "nan",
        "N/A",
        "-",
        "0",
        "-1",
        "1970-01-01T01:00:00",
    ] {
        let (jobs, trace, _) = read_till_it_ends(&text(&[line(start, "PENDING")]), &cluster());
        assert_eq!(
            (jobs.len(), rows(&trace)),
            (0, vec![(Reason::NeverRan, 1)]),
            "{start}"
        );
    }
}
