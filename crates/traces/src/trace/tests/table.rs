use super::*;

fn options(columns: &str) -> ReadOptions {
    let pairs = columns.split(',').map(|pair| pair.split_once('=').unwrap());
    ReadOptions {
        columns: pairs.map(|(a, b)| (a.into(), b.into())).collect(),
        ..on("cpu=64,memory=256")
    }
}

const COLUMNS: &str = "time=at,size=held,cpu=cores,memory=gib,user=who,censored=open";

#[test]
fn columns_are_taken_by_name_in_any_order_and_quoted() {
    let text = "\u{feff}who,gib,\"at\",note,held,cores,open\n\
                ann,8,10,\"a, \"\"b\"\", c\", 5 ,4,0\r\n\
                \"ann\",8,12,,7,\"4\",1\n";
    let (jobs, trace) = read(text.as_bytes(), &options(COLUMNS));
    assert_eq!(trace.format(), TraceFormat::Csv);
    assert_eq!(trace.demands().vectors()[0][..], [4.0, 8.0]);
    assert_eq!((jobs[0].submit, jobs[0].size, jobs[0].line), (10, 5, 2));
    assert_eq!(jobs[0].user, jobs[1].user);
    assert_eq!(
        (jobs[0].seen, jobs[1].seen),
        (Observed::Whole, Observed::Censored)
    );
    assert_eq!(rows(&trace), [(Reason::NoLimit, 2), (Reason::Censored, 1)]);
    let ends = ReadOptions {
        censored_end: true,
        ..options(COLUMNS)
    };
    let (jobs, trace) = read(text.as_bytes(), &ends);
    assert_eq!(jobs[1].seen, Observed::Whole);
    assert_eq!(trace.account().count(Reason::Censored), 1);
}

#[test]
fn what_is_not_named_has_the_name_of_its_column() {
    let text = "time,end,cpu,memory\n0,1.5,2,3\n1,1,2,\n";
    let options = ReadOptions {
        columns: vec![("end".into(), "end".into())],
        units: vec![("time".into(), "min".into())],
        ..on("cpu=64,memory=256")
    };
    let (jobs, trace) = read(text.as_bytes(), &options);
    assert_eq!((jobs[0].size, jobs[1].size), (90, 1));
    let found = [
        (Reason::LessThanATick, 1),
        (Reason::NoLimit, 2),
        (Reason::NoAmount, 1),
    ];
    assert_eq!(rows(&trace), found);
}

#[test]
fn requests_that_do_not_go_with_the_table_are_reported() {
    let text = b"at,held,cores,gib,at\n1,2,3,4,5\n";
    let reported = |columns: &str| refused(text, &options(columns));
    let cases = [
        (
            "size=held",
            "FILE: no column is named for `time`: give --columns time=",
        ),
        (
            "time=at,size=held",
            "FILE: the column `at` stands twice in its first line",
        ),
        (
            "time=cores,size=hald",
            "FILE: no column `hald`; did you mean `held`?",
        ),
        (
            "time=cores,gpu=held",
            "--columns gpu=…: that is neither a resource of the capacity (cpu, memory) nor one of",
        ),
    ];
    for (columns, expected) in cases {
        assert!(
            reported(columns).starts_with(expected),
            "{}",
            reported(columns)
        );
    }
}

#[test]
fn columns_are_reported_of_tables_alone() {
    let text = swf(&[line("5", "10", "4", "20", "1")]);
    let reported = "FILE: --columns is for files of the format csv, and this one is read as swf: leave it out, or name --format csv";
    assert_eq!(refused(&text, &options(COLUMNS)), reported);
}

#[test]
fn the_table_of_another_tool_is_read_by_its_columns() {
    let text = b"cpu_milli,creation_time,held\n2000,5,7\n";
    let options = ReadOptions {
        format: Some(TraceFormat::Csv),
        ..options("time=creation_time,size=held,cpu=cpu_milli,memory=cpu_milli")
    };
    let options = ReadOptions {
        servers: Some(Servers::shapes("cpu=4000,memory=4000").unwrap()),
        ..options
    };
    let (jobs, trace) = read(text, &options);
    assert_eq!((jobs[0].submit, trace.format()), (5, TraceFormat::Csv));
}

/// The numbers of a job that are compared: submission, size and how long it waited \[ticks\].
fn numbers(jobs: &[TraceJob]) -> Vec<(i64, u64, Option<u64>)> {
    let of = |job: &TraceJob| (job.submit - jobs[0].submit, job.size, job.waited);
    jobs.iter().map(of).collect()
}

#[test]
fn instants_are_read_from_numbers_in_the_notation_of_their_column() {
    let starts = [1_772_556_360_i64, 1_772_556_600, 1_772_556_960];
    // Sizes 1800, 3600 and 600 s, as soon as the job before has ended.
    let begun = [1_772_556_360_i64, 1_772_558_160, 1_772_561_760];
    let ends = [1_772_558_160_i64, 1_772_561_760, 1_772_562_360];
    let table = |per_second: i64| {
        let row = |n: usize| {
            let [a, b, c] = [starts[n], begun[n], ends[n]].map(|at| at * per_second);
            format!("{a},{b},{c},8\n")
        };
        format!("submit,start,end,cpu\n{}", [0, 1, 2].map(row).concat())
    };
    let dates = "submit,start,end,cpu\n20260303164600,20260303164600,20260303171600,8\n\
        20260303165000,20260303171600,20260303181600,8\n20260303165600,20260303181600,20260303182600,8\n";
    let minutes: String = dates
        .lines()
        .map(|line| line.replace("00,", ",") + "\n")
        .collect();
    let powers = [1, 1000, 1_000_000, 1_000_000_000].map(table);
    for text in powers.iter().map(String::as_str).chain([dates, &minutes]) {
        let (jobs, _) = read(text.as_bytes(), &on("cpu=8"));
        let expected = [
            (0, 1800, Some(0)),
            (240, 3600, Some(1560)),
            (600, 600, Some(4800)),
        ];
        assert_eq!(numbers(&jobs), expected, "{text}");
        assert_eq!(jobs[0].submit, starts[0]);
    }
    for ambiguous in ["20260303", "2026030316"] {
        let text = format!("submit,size,cpu\n{ambiguous},60,1\n");
        let why = refused(text.as_bytes(), &on("cpu=8"));
        assert!(why.contains("may be dates (YYYYMMDD"), "{why}");
        let options = ReadOptions {
            units: vec![("time".into(), "s".into())],
            ..on("cpu=8")
        };
        let (jobs, _) = read(text.as_bytes(), &options);
        assert_eq!(jobs[0].submit.to_string(), ambiguous);
    }
    for (date, notation) in [
        ("260303164600", "YYMMDDhhmmss"),
        ("2603031646", "YYMMDDhhmm"),
        ("28032026085900", "in an unknown order"),
        ("03282026085900", "in an unknown order"),
    ] {
        let text = format!("submit,size,cpu\n{date},60,1\n");
        let why = refused(text.as_bytes(), &on("cpu=8"));
        assert!(why.contains(&format!("may be dates ({notation}")), "{why}");
    }
    // The basic form of ISO 8601 is read; a day before its month may be another date.
    for (date, is_read) in [
        ("20260303T164600", true),
        ("20260303T164600Z", true),
        ("03/03/2026 16:46:00", false),
    ] {
        let text = format!("submit,size,cpu\n{date},60,1\n");
        let (faults, jobs) = faults(&text, &on("cpu=8"));
        assert_eq!(jobs, usize::from(is_read), "{date}");
        let is_explained = |own: &String| own.contains("expected a time: a number, 2024-03-31");
        assert!(is_read || faults.iter().all(is_explained), "{faults:?}");
    }
    assert_eq!(edge("20260303164600"), edge("2026-03-03T16:46:00"));
    assert_eq!(edge("1772556360000"), edge("2026-03-03T16:46:00"));
    assert_eq!(edge("3600"), Ok(TraceEdge::After(3600.0)));
    assert!(edge("20260303").is_err());
}

/// Next to dates in milliseconds lengths are milliseconds too, unless starts and ends say otherwise or it is named.
#[test]
fn lengths_next_to_dates_in_milliseconds_are_read_alike() {
    let at = 1_772_556_360_000_i64;
    for (header, row, unit, seconds, is_reported) in [
        ("submit,size,cpu", "60000,1".to_owned(), None, 60, true),
        (
            "submit,size,cpu",
            "60000,1".to_owned(),
            Some("s"),
            60_000,
            false,
        ),
        ("submit,size,cpu", "60.5,1".to_owned(), None, 61, false),
        (
            "submit,size,cpu,end",
            format!("60,1,{}", at + 60_000),
            None,
            60,
            false,
        ),
        (
            "submit,size,cpu,end",
            format!("60000,1,{}", at + 60_000),
            None,
            60,
            true,
        ),
    ] {
        let units = unit.map(|unit: &str| ("size".into(), unit.into()));
        let options = ReadOptions {
            units: units.into_iter().collect(),
            ..on("cpu=8")
        };
        let (jobs, trace) = read(format!("{header}\n{at},{row}\n").as_bytes(), &options);
        let size = jobs[0].size.div_ceil(trace.tick().per_second());
        assert_eq!(size, seconds, "{header} {row}");
        let remarks = trace.account().remarks.join(" ");
        assert_eq!(
            remarks.contains("lengths of time are read in ms"),
            is_reported,
            "{remarks}"
        );
    }
}

/// Three jobs of 3600, 600 and 600 s, with sizes and limits in other units: starts and ends tell which, and so does the name of
/// a column.
#[test]
fn lengths_agree_with_starts_and_ends() {
    let at = |minute: u64| format!("2026-03-02 08:{minute:02}:00");
    let ms = |minute: u64| (1_772_438_400_000 + 60_000 * minute).to_string();
    let runs = [(0, 50), (10, 20), (30, 40)];
    for (header, instant, factor, named) in [
        (
            "submit,end,runtime,cpu",
            &at as &dyn Fn(u64) -> String,
            60_000,
            None,
        ),
        ("submit,end,runtime,cpu", &at, 1, None),
        (
            "submit,stop_at,runtime_min,cpu",
            &at,
            1,
            Some("runtime_min"),
        ),
        ("submit,end,limit,cpu", &ms, 60_000, None),
        ("submit,end,limit,cpu", &ms, 60, None),
    ] {
        let row = |(from, to): (u64, u64)| {
            format!(
                "{},{},{},4\n",
                instant(from),
                instant(to),
                (to - from) * factor
            )
        };
        let text = format!("{header}\n{}", runs.map(row).concat());
        let columns = named.map(|column: &str| ("size".into(), column.into()));
        let options = ReadOptions {
            columns: columns.into_iter().collect(),
            ..on("cpu=8")
        };
        let (jobs, trace) = read(text.as_bytes(), &options);
        let seconds = |ticks: u64| ticks / trace.tick().per_second();
        let sizes: Vec<u64> = jobs.iter().map(|job| seconds(job.size)).collect();
        assert_eq!(sizes, [3000, 600, 600], "{text}");
        let limits: Vec<u64> = jobs.iter().map(|job| seconds(job.limit)).collect();
        let expected = if header.contains("limit") {
            sizes
        } else {
            vec![0; 3]
        };
        assert_eq!(limits, expected, "{text}");
    }
}

#[test]
fn times_that_have_not_come_are_as_empty_ones() {
    let table = |none: &str| {
        format!(
            "submit|start|end|cpu\n2026-03-03 16:00:00|2026-03-03 16:00:00|2026-03-03 17:00:00|4\n\
             2026-03-03 16:10:00|2026-03-03 16:10:00|{none}|4\n2026-03-03 16:20:00|{none}|{none}|4\n\
             2026-03-03 16:30:00|2026-03-03 17:00:00|2026-03-03 17:30:00|4\n"
        )
    };
    let (empty, trace) = read(table("").as_bytes(), &on("cpu=8"));
    // The second runs until the last instant of the file.
    let expected = [
        (0, 3600, Some(0)),
        (600, 4800, Some(0)),
        (1800, 1800, Some(1800)),
    ];
    assert_eq!(numbers(&empty), expected);
    for none in [
        "NaN",
        "nan",
        "NaT",
        "NULL",
        "null",
        "None",
        "none",
        "-",
        "--",
        "\\N",
        "N/A",
        "Unknown",
        "0",
        "-1",
        "-1.0",
        "1970-01-01 00:00:00",
        "0001-01-01T00:00:00Z",
        "0000-00-00 00:00:00",
    ] {
        let (jobs, other) = read(table(none).as_bytes(), &on("cpu=8"));
        assert_eq!(jobs, empty, "{none}");
        assert_eq!(trace.account().rows, other.account().rows, "{none}");
    }
    // Of relative times as well, where an instant cannot be before the submission.
    let text = b"time,start,size,cpu\n0,0,10,1\n5,6,-1,1\n7,-1,-1,1\n8,9,3,1\n";
    let (jobs, trace) = read(text, &on("cpu=8"));
    assert_eq!(
        numbers(&jobs),
        [(0, 10, Some(0)), (5, 6, Some(1)), (8, 3, Some(1))]
    );
    assert_eq!(trace.account().count(Reason::NeverRan), 1);
    assert_eq!(jobs[1].seen, Observed::Censored);
}

#[test]
fn amounts_are_of_each_server_or_of_all_as_named_or_reported() {
    let table =
        |column: &str| format!("submit,dur,gpu,{column}\n0,3600,8,2\n60,3600,4,1\n70,3600,8,2\n");
    let options = |servers: &str, column: &str, amounts: Option<bool>| ReadOptions {
        columns: [("time", "submit"), ("size", "dur"), ("nodes", column)]
            .map(|(a, b)| (a.into(), b.into()))
            .to_vec(),
        amounts,
        ..on(servers)
    };
    for (servers, column, amounts, held) in [
        ("3xgpu=8", "workers", None, 8.0),
        ("3xgpu=8", "nodes", None, 4.0),
        ("3xgpu=8", "nodes", Some(true), 8.0),
        ("3xgpu=8", "workers", Some(false), 4.0),
        ("gpu=24", "workers", None, 16.0),
        ("gpu=24", "nodes", None, 8.0),
        // Two of eight do not fit, so that these are totals.
        ("gpu=12", "workers", None, 8.0),
        ("2xgpu=4", "workers", None, 4.0),
    ] {
        let (_, trace) = read(table(column).as_bytes(), &options(servers, column, amounts));
        assert_eq!(
            trace.demands().vectors()[0][..],
            [held],
            "{servers} {column} {amounts:?}"
        );
        let is_reported = trace
            .account()
            .remarks
            .iter()
            .any(|own| own.contains("--amounts"));
        assert_eq!(is_reported, amounts.is_none());
    }
    // One job that is too large for the servers decides nothing.
    let many = "60,3600,4,2\n".repeat(200);
    let text = format!("submit,dur,gpu,workers\n0,1,16,2\n{many}");
    let (_, trace) = read(text.as_bytes(), &options("3xgpu=8", "workers", None));
    assert_eq!(trace.demands().vectors()[0][..], [4.0]);
    assert_eq!(trace.account().count(Reason::TooLarge), 1);
    // By its name, if it has numbers; else it is named as not read.
    let by_name = |text: &str| {
        let (jobs, trace) = read(text.as_bytes(), &on("4xgpu=8"));
        (
            trace.demands().nodes()[jobs[0].demand as usize],
            trace.account().remarks.join("\n"),
        )
    };
    assert_eq!(by_name("time,size,gpu,pods\n0,5,8,4\n").0, 4);
    let (nodes, remarks) = by_name("time,size,gpu,pods\n0,5,8,a-0\n");
    assert_eq!(
        (nodes, remarks.as_str()),
        (1, "columns that are not read: pods")
    );
}

#[test]
fn rows_of_one_id_are_one_job_if_ids_tell_jobs_apart() {
    let sizes = |text: &str| {
        let (jobs, trace) = read(text.as_bytes(), &on("cpu=8"));
        let sizes: Vec<u64> = jobs.iter().map(|job| job.size).collect();
        (sizes, trace.account().count(Reason::Repeated))
    };
    let header = "submit,start,end,cpu,";
    let rows = "0,5,,4,a\n1,2,9,4,b\n0,5,20,4,a\n1,2,9,4,b\n";
    assert_eq!(sizes(&format!("{header}id\n{rows}")), (vec![15, 7], 2));
    // Names may be those of several jobs, and entries that differ are those of different jobs.
    assert_eq!(sizes(&format!("{header}name\n{rows}")).0.len(), 4);
    let tasks = "0,5,9,4,a\n0,5,20,4,a\n1,2,9,4,b\n";
    assert_eq!(sizes(&format!("{header}id\n{tasks}")), (vec![4, 15, 7], 0));
    let (jobs, _) = read(
        format!("{header}name\n{rows}").as_bytes(),
        &options_of_id("name"),
    );
    assert_eq!(jobs.len(), 2);
    // The numbers of a log of swf, where constant ones are none.
    let line = |id: u32, run: u32| format!("{id} 5 0 {run} 4 -1 -1 -1 20 -1 1 7 1 1 1 1 -1 -1\n");
    let swf_of = |lines: &[String]| read(&swf(lines), &ReadOptions::default()).0.len();
    assert_eq!(swf_of(&[line(1, 9), line(2, 9), line(3, 9), line(2, 9)]), 3);
    assert_eq!(swf_of(&[line(1, 9), line(1, 8), line(1, 7)]), 3);
}

fn options_of_id(column: &str) -> ReadOptions {
    ReadOptions {
        columns: vec![("id".into(), column.into())],
        ..on("cpu=8")
    }
}

/// The tasks of a job have equal rows one after the other: their ids do not make them one job. Overlapping exports do.
#[test]
fn equal_rows_of_tasks_are_not_merged() {
    let header = "job_id,submit,start,end,cpu\n";
    let tasks = "1,0,0,600,4\n1,0,0,600,4\n2,10,600,1200,4\n2,10,600,1200,4\n";
    let twice = "1,0,0,600,4\n2,10,600,1200,4\n1,0,0,600,4\n2,10,600,1200,4\n";
    for (rows, count) in [(tasks, 4), (twice, 2)] {
        let options = ReadOptions {
            columns: vec![("cpu".into(), "cpu".into())],
            ..on("cpu=8")
        };
        let (jobs, _) = read((header.to_owned() + rows).as_bytes(), &options);
        assert_eq!(jobs.len(), count, "{rows}");
    }
}

/// Names such as `gpu_per_node` state whose amounts they are.
#[test]
fn amounts_are_those_of_each_server_by_name() {
    for (amounts, held) in [("gpus_per_node", 8.0), ("gpus", 4.0)] {
        let text = format!("submit,dur,{amounts},nodes\n0,3600,8,2\n");
        let columns = [("time", "submit"), ("size", "dur"), ("gpu", amounts)];
        let columns = columns.map(|(what, column)| (what.into(), column.into()));
        let options = ReadOptions {
            columns: columns.to_vec(),
            ..on("3xgpu=8")
        };
        let (_, trace) = read(text.as_bytes(), &options);
        assert_eq!(*trace.demands().vectors()[0], [held], "{amounts}");
    }
}
