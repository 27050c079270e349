//! What is no trace, or has lines that are none: each with its line, its column and what was expected.

use std::io::{self, BufRead, Read};

use clap::ValueEnum as _;

use super::*;

/// Each of these lines under the header is a fault in this column.
fn assert_broken(header: &str, options: &ReadOptions, lines: &[(&str, usize, &str, &str)]) {
    for (line, column, found, expected) in lines {
        let (faults, jobs) = faults(&format!("{header}{line}\n"), options);
        let reported = format!("line 2, column {column}: found `{found}`, expected {expected}");
        assert_eq!((faults, jobs), (vec![reported], 0), "{line}");
    }
}

#[test]
fn lines_of_swf() {
    let lines = [
        (
            "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17",
            42,
            "",
            "18 fields: the line ends here",
        ),
        (
            "1 x 0 9 4 -1 -1 -1 -1 -1 1 1 1 1 1 1 -1 -1",
            3,
            "x",
            "a time [s]",
        ),
        (
            "1 -2 0 9 4 -1 -1 -1 -1 -1 1 1 1 1 1 1 -1 -1",
            3,
            "-2",
            "a time of submission ≥ 0 [s]",
        ),
        (
            "1 2 0 nan 4 -1 -1 -1 -1 -1 1 1 1 1 1 1 -1 -1",
            7,
            "nan",
            "a time [s]",
        ),
        (
            "1 2 0 1e300 4 -1 -1 -1 -1 -1 1 1 1 1 1 1 -1 -1",
            7,
            "1e300",
            "a time [s]",
        ),
        (
            "1 9223372036854775808 0 9 4 -1 -1 -1 -1 -1 1 1 1 1 1 1 -1 -1",
            3,
            "9223372036854775808",
            "a time [s]",
        ),
        (
            "1 2 0 9 1e300 -1 -1 -1 -1 -1 1 1 1 1 1 1 -1 -1",
            9,
            "1e300",
            "a number below 2⁵³",
        ),
        (
            "ä 2 0 9 4 -1 -1 -1 , -1 1 1 1 1 1 1 -1 -1",
            20,
            ",",
            "a time [s]",
        ),
        (
            "1 2 0 9 4 -1 -1 -1 -1 -1 ok 1 1 1 1 1 -1 -1",
            26,
            "ok",
            "a number below 2⁵³",
        ),
    ];
    assert_broken("; MaxProcs: 128\n", &ReadOptions::default(), &lines);
}

#[test]
fn lines_of_tables() {
    let lines = [
        (
            "1,2",
            4,
            "",
            "as many fields as the header has: the line ends here",
        ),
        (
            "1,2,3,4",
            7,
            "4",
            "no more fields than the header has: a name with a comma stands in quotation marks",
        ),
        ("1,2,-3", 5, "-3", "an amount ≥ 0 and below 2⁵³"),
        (
            "1,2,18446744073709551617",
            5,
            "18446744073709551617",
            "an amount ≥ 0 and below 2⁵³",
        ),
        ("1, 2, inf", 7, "inf", "an amount ≥ 0 and below 2⁵³"),
        (",2,3", 1, "", "a time"),
        (
            "1,x,3",
            3,
            "x",
            "a time: a number, 2024-03-31 02:30:00 or 0:00:16",
        ),
        (
            "1,\"2,3",
            3,
            "\\\"2,3",
            "a second quotation mark, in the same line",
        ),
        (
            "1,\"2\"0,3",
            6,
            "0,3",
            "the end of the field after its quotation mark",
        ),
        (
            "1,\u{0},3",
            3,
            "\\0",
            "a time: a number, 2024-03-31 02:30:00 or 0:00:16",
        ),
    ];
    assert_broken("time,size,cpu\n", &on("cpu=4"), &lines);
    let options = ReadOptions {
        columns: vec![
            ("end".into(), "end".into()),
            ("censored".into(), "open".into()),
        ],
        ..on("cpu=4")
    };
    let lines = [
        ("5,4,1,0", 3, "4", "an end that is not before its time"),
        ("1,4,1,maybe", 7, "maybe", "0 or 1"),
    ];
    assert_broken("time,end,cpu,open\n", &options, &lines);
}

#[test]
fn lines_of_sacct() {
    let header = "JobIDRaw|Submit|Start|End|ElapsedRaw|State|AllocTRES|TimelimitRaw\n";
    let at = "2024-03-05T10:00:00";
    let instant = "an instant such as 2024-03-31T02:30:00";
    let tres = "amounts such as cpu=32,mem=500G,gres/gpu=2";
    let lines = [
        (
            format!("1|Unknown|{at}|{at}|5|FAILED|cpu=1|"),
            3,
            "Unknown",
            instant,
        ),
        (
            format!("1|05.03.2024|{at}|{at}|5|FAILED|cpu=1|"),
            3,
            "05.03.2024",
            instant,
        ),
        (
            format!("1|{at}|{at}|2024-02-30T10:00:00|5|FAILED|cpu=1|"),
            43,
            "2024-02-30T10:00:00",
            instant,
        ),
        (
            format!("1|{at}|{at}|{at}|00:05|FAILED|cpu=1|"),
            63,
            "00:05",
            "a length of time ≥ 0 [s]",
        ),
        (
            format!("1|{at}|{at}|{at}|-5|FAILED|cpu=1|"),
            63,
            "-5",
            "a length of time ≥ 0 [s]",
        ),
        (
            format!("1|{at}|{at}|{at}|5|Running|cpu=1|"),
            65,
            "Running",
            "a state of Slurm, such as COMPLETED or TIMEOUT",
        ),
        (
            format!("1|{at}|{at}|{at}|5|FAILED|mem=1G,cpu=1x|"),
            72,
            "cpu=1x",
            tres,
        ),
        (
            format!("1|{at}|{at}|{at}|5|FAILED|cpu=-1|"),
            72,
            "cpu=-1",
            tres,
        ),
        (
            format!("1|{at}|{at}|{at}|5|FAILED|cpu=1|1-00"),
            78,
            "1-00",
            "a limit [min], 1-02:00:00, UNLIMITED or Partition_Limit",
        ),
    ];
    let lines: Vec<_> = lines
        .iter()
        .map(|(line, column, found, why)| (line.as_str(), *column, *found, *why))
        .collect();
    assert_broken(header, &on("cpu=4"), &lines);
}

#[test]
fn lines_of_openb() {
    let header = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,pod_phase,creation_time,deletion_time,scheduled_time\n";
    let lines = [
        (
            "a,x,2,0,0,Running,1,9,3",
            3,
            "x",
            "an amount ≥ 0 and below 2⁵³",
        ),
        (
            "a,1,2,0,-1,Running,1,9,3",
            9,
            "-1",
            "an amount ≥ 0 and below 2⁵³",
        ),
        ("a,1,2,0,0,Running,,9,3", 19, "", "a time [s]"),
        ("a,1,2,0,0,Running,1,x,3", 21, "x", "a time [s]"),
        (
            "a,1,2,0,0,Running,1,2,3",
            21,
            "2",
            "a time not before scheduled_time [s]",
        ),
        (
            "a,1,2,0,0,Running,1,2",
            22,
            "",
            "as many fields as the header has: the line ends here",
        ),
    ];
    assert_broken(header, &on("cpu=4,gpu=1"), &lines);
}

#[test]
fn lines_of_azure() {
    let types = file(b"vmTypeId,machineId,core\n10,16,.5\n");
    let options = ReadOptions {
        vm_types: Some(types.path().into()),
        machine: Some("16".into()),
        ..on("cpu=1")
    };
    let lines = [
        ("1,7,10,x,", 8, "x", "a time [days]"),
        ("1,7,10,1,soon", 10, "soon", "a time [days], or nothing"),
        (
            "1,7,10,91,",
            8,
            "91",
            "a time before day 90, where the trace ends",
        ),
        ("1,7,10,2,1", 10, "1", "a time not before starttime [days]"),
    ];
    assert_broken(
        "vmId,tenantId,vmTypeId,starttime,endtime\n",
        &options,
        &lines,
    );
}

#[test]
fn lines_of_borg() {
    let lines = [
        (
            "-1,3,1,0,.1,.1",
            1,
            "-1",
            "a time not before that of the line before: export the events ordered by time",
        ),
        ("x,3,1,0,.1,.1", 1, "x", "a time [µs]"),
        (
            "1,11,1,0,.1,.1",
            3,
            "11",
            "an event such as SCHEDULE or 3, of 0 to 10",
        ),
        ("1,3,one,0,.1,.1", 5, "one", "a whole number"),
        ("1,3,1,,.1,.1", 7, "", "a whole number"),
        ("1,3,1,0,-.1,.1", 9, "-.1", "an amount ≥ 0 and below 2⁵³"),
    ];
    assert_broken(
        "time,type,collection_id,instance_index,cpus,memory\n",
        &on("cpu=1"),
        &lines,
    );
}

#[test]
fn a_file_of_another_format_than_named_is_reported() {
    let log = swf(&[line("5", "10", "4", "20", "1")]);
    let yaml = b"kind: multiresource\ntypes: [{name: a, demand: 1}]\n";
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\xff\xfe\n\0\n";
    for &format in TraceFormat::value_variants() {
        let options = ReadOptions {
            format: Some(format),
            ..on("cpu=128")
        };
        for text in [&log[..], yaml, png] {
            if format == TraceFormat::Swf && text == log {
                continue;
            }
            let why = refused(text, &options);
            let is_clear = [
                "FILE: it is swf, not ",
                "has no column",
                "`: give --columns",
                "are not what the format",
            ];
            assert!(
                is_clear.iter().any(|words| why.contains(words)),
                "{} {why}",
                format.name()
            );
        }
    }
    let why = refused(png, &ReadOptions::default());
    assert_eq!(why, "FILE is no text; a log of jobs is expected here");
    let why = refused(b"hello\nworld\n", &ReadOptions::default());
    assert_eq!(
        why,
        "FILE: no known format begins with `hello`: name one with --format (swf, sacct, openb, azure, borg, csv)"
    );
}

#[test]
fn bytes_that_are_no_text_are_shown_as_such() {
    let bad = b"1 5 0 10 4 -1 -1 4 20 -1 1 7 1 1 1 1 -1 -1\n\xff\xfe 5 0 1\xff 4 -1 -1 4 20 -1 1 7 1 1 1 1 -1 -1\n";
    let text = [HEADER.as_bytes(), bad].concat();
    let why = refused(&text, &ReadOptions::default());
    assert!(
        why.contains("line 4, column 8: found `1\u{fffd}`, expected a time [s]"),
        "{why}"
    );
}

#[test]
fn a_line_of_two_million_bytes_is_refused() {
    let text = [
        HEADER.as_bytes(),
        line("5", "10", "4", "20", "1").as_bytes(),
        &vec![b'7'; 2 << 20],
    ]
    .concat();
    let why = refused(&text, &ReadOptions::default());
    assert_eq!(
        why,
        "cannot read FILE after line 3: the next line has more than a million bytes"
    );
}

/// Lines that are generated as they are read.
struct Endless {
    line: Vec<u8>,
    at: usize,
    left: usize,
}

impl Read for Endless {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.at == self.line.len() && self.left > 0 {
            (self.at, self.left) = (0, self.left - 1);
        }
        let count = (&self.line[self.at..]).read(into)?;
        self.at += count;
        Ok(count)
    }
}

#[test]
fn ten_million_faults_are_counted_and_ten_are_kept() {
    let line = b"1 2 x\n".to_vec();
    let (at, left) = (line.len(), 10_000_000);
    let lines = Endless { line, at, left };
    let input: Box<dyn BufRead> = Box::new(io::BufReader::new(lines));
    let options = on("cpu=4");
    let opened = format::read(TraceFormat::Swf, "lines".into(), input, &options).unwrap();
    let mut trace = Trace::of(opened, &options);
    let why = drain(&mut trace).1.unwrap_err().to_string();
    assert!(
        why.contains("10000000 of 10000000 lines") && why.contains("and 9999990 more"),
        "{why}"
    );
    assert_eq!(trace.account().faults.len(), Account::FAULTS);
}

/// Files that other programs print are described, whatever separators they happen to have.
#[test]
fn files_of_other_programs_are_recognized() {
    let accounting = ["0"; 45].join(":");
    for (text, what) in [
        (
            "03/02/2026 08:00:05;S;501.pbs;user=ann group=g ctime=1\n",
            "PBS or Torque",
        ),
        (
            "\"JOB_FINISH\" \"10.1\" 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20\n",
            "lsb.acct",
        ),
        ("JOBID USER STAT QUEUE\n1 a DONE normal\n", "bjobs"),
        ("JOBID|STAT|SUBMIT_TIME\n801|DONE|Mar  3 16:46\n", "bjobs"),
        (
            &format!("# Version: 8\nall.q{accounting}\n"),
            "accounting file of Grid Engine",
        ),
        (
            "JOBID PARTITION NAME USER ST TIME NODES NODELIST(REASON)\n",
            "squeue",
        ),
        ("{\n  \"jobs\": [\n    {\"job_id\": 1}\n", "JSON of Slurm"),
        (
            "{\n \"apiVersion\": \"v1\",\n \"items\": [],\n \"kind\": \"List\"\n}\n",
            "kubectl",
        ),
        ("[{\"submit\": 1}]\n", "JSON"),
        (
            "JobID  JobName State\n------ ---- ----\n7 a COMPLETED\n",
            "sacct without -P",
        ),
        (
            "7|u|2026-01-05T08:00:00|COMPLETED|cpu=4,mem=1G\n",
            "without its header",
        ),
        (
            "JobID,State,Submit,ElapsedRaw,AllocTRES\n1,COMPLETED,1,2,cpu=4,mem=1G\n",
            "--delimiter=,",
        ),
        ("JobID|User|State|AllocTRES\n", "without its column Submit"),
        ("JobID;State;Submit;NCPUS\n", "sacct with --delimiter="),
        ("JobID\tState\tSubmit\tNCPUS\n", "sacct with --delimiter="),
        ("JOBID|PARTITION|STATE\n", "squeue"),
        ("NAME READY STATUS RESTARTS AGE\n", "kubectl get pods"),
        ("Job Id: 12.pbs\n    Job_Name = a\n", "qstat -f"),
        ("queuename qtype resv/used/tot. load_avg\n", "qstat -f"),
        ("PARTITION AVAIL TIMELIMIT NODES STATE NODELIST\n", "sinfo"),
        ("NODELIST NODES PARTITION STATE\n", "sinfo"),
        (
            "-- Schedd: host : <10.0.0.1:9618>\nOWNER BATCH_NAME\n",
            "condor_q",
        ),
        (" ID OWNER SUBMITTED RUN_TIME ST PRI SIZE CMD\n", "condor_q"),
        (
            "JobId=12 JobName=a\n   UserId=ann(1000)\n",
            "scontrol show job",
        ),
        ("# exported\ntime,size,cpu\n0,1,2\n", "comment lines"),
        ("time size cpu\n0 1 2\n", "blanks between its columns"),
    ] {
        let why = refused(text.as_bytes(), &on("cpu=4"));
        assert!(
            why.starts_with("FILE: this looks like ") && why.contains(what),
            "{text}\n{why}"
        );
    }
    // Tables that can be read are read.
    let text = b"JOBID|STAT|submit|size|cpu\n1|DONE|2026-03-03 16:46:00|5|2\n";
    assert_eq!(read(text, &on("cpu=4")).0.len(), 1);
}

#[test]
fn amounts_with_units_are_explained_by_the_number_to_write() {
    for (amount, number) in [
        ("500m", "write 0.5 if m"),
        ("4Gi", "write 4 if all"),
        ("512Mi", "write 0.5 if all"),
        ("\"1,024\"", "write 1024, or 1.024 if"),
        ("\"0,5\"", "write 0.5"),
        ("\"1,024,000\"", "write 1024000"),
    ] {
        let (faults, _) = faults(&format!("time,size,cpu\n1,2,{amount}\n"), &on("cpu=4"));
        assert!(faults[0].contains(number), "{faults:?}");
    }
}
