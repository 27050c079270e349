use super::*;

fn options(columns: &str) -> Options {
    let pairs = columns.split(',').map(|pair| pair.split_once('=').unwrap());
    Options {
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
    assert_eq!(trace.format(), Format::Csv);
    assert_eq!(trace.demands().vectors()[0][..], [4.0, 8.0]);
    assert_eq!((jobs[0].submit, jobs[0].size, jobs[0].line), (10, 5, 2));
    assert_eq!(jobs[0].user, jobs[1].user);
    assert_eq!((jobs[0].seen, jobs[1].seen), (Seen::Whole, Seen::Censored));
    assert_eq!(rows(&trace), [(Reason::NoLimit, 2), (Reason::Censored, 1)]);
    let ends = Options {
        censored_end: true,
        ..options(COLUMNS)
    };
    let (jobs, trace) = read(text.as_bytes(), &ends);
    assert_eq!(jobs[1].seen, Seen::Whole);
    assert_eq!(trace.account().count(Reason::Censored), 1);
}

#[test]
fn what_is_not_named_has_the_name_of_its_column() {
    let text = "time,end,cpu,memory\n0,1.5,2,3\n1,1,2,\n";
    let options = Options {
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
    let options = Options {
        format: Some(Format::Csv),
        ..options("time=creation_time,size=held,cpu=cpu_milli,memory=cpu_milli")
    };
    let options = Options {
        servers: Some(Servers::shapes("cpu=4000,memory=4000").unwrap()),
        ..options
    };
    let (jobs, trace) = read(text, &options);
    assert_eq!((jobs[0].submit, trace.format()), (5, Format::Csv));
}
