use super::*;

const HEADER: &str = "vmId,tenantId,vmTypeId,priority,starttime,endtime\n";
const TYPES: &str = "id,vmTypeId,machineId,core,memory,hdd,ssd,nic\n1,10,16,0.5,0.25,,0.125,0.1\n2,10,17,0.25,0.2,,0,0.1\n3,11,17,1,1,,0,0\n";

/// Reads these rows with the types of a machine.
fn read_on(machine: Option<&str>, rows: &str) -> Result<(Vec<TraceJob>, Trace), String> {
    let (types, file) = (
        file(TYPES.as_bytes()),
        file(format!("{HEADER}{rows}").as_bytes()),
    );
    let options = ReadOptions {
        vm_types: Some(types.path().into()),
        machine: machine.map(String::from),
        ..on("cpu=1,memory=1,ssd=1")
    };
    let trace = Trace::open(&Source::named(file.path()), &options);
    let mut trace = trace.map_err(|why| why.to_string())?;
    let (jobs, ended) = drain(&mut trace);
    ended.map_err(|why| why.to_string())?;
    Ok((jobs, trace))
}

#[test]
fn machines_are_there_before_the_start_and_beyond_the_end() {
    let rows = "1,7,10,0,-3.5,0.5\n2,7,10,1,0.25,1.25\n3,8,10,0,13,\n4,8,10,0,-7157,\n";
    let (jobs, trace) = read_on(Some("16"), rows).unwrap();
    assert_eq!(
        (trace.format(), trace.tick()),
        (TraceFormat::Azure, Tick::Second)
    );
    let of = |job: &TraceJob| (job.submit, job.size, job.seen);
    let day = 86_400;
    assert_eq!(
        jobs.iter().map(of).collect::<Vec<_>>(),
        [
            (0, day / 2, Observed::Initial),
            (0, 90 * day, Observed::Initial),
            (21_600, day, Observed::Whole),
            (13 * 86_400, 77 * day, Observed::Censored),
        ]
    );
    assert_eq!(trace.demands().vectors()[0][..], [0.5, 0.25, 0.125]);
    assert_eq!(jobs[0].user, jobs[2].user);
}

#[test]
fn a_type_that_the_machine_does_not_have_is_larger_than_it() {
    let (jobs, trace) = read_on(Some("16"), "1,7,10,0,1,2\n2,7,11,0,1,2\n").unwrap();
    assert_eq!(jobs.len(), 1);
    assert_eq!(trace.account().count(Reason::TooLarge), 1);
    assert_accounted(&trace);
}

#[test]
fn one_machine_has_to_be_chosen() {
    let why = |machine| read_on(machine, "1,7,10,0,1,2\n").err().unwrap();
    let reported = "say with --machine which one the servers are; the ones with most types: 17 (2 types), 16 (1 types)";
    assert!(why(None).ends_with(reported), "{}", why(None));
    assert!(why(Some("18")).contains("no machine `18`; say with --machine"));
    let why = refused(HEADER.as_bytes(), &on("cpu=1"));
    assert!(why.contains("give --vm-types FILE"), "{why}");
    let why = refused(HEADER.as_bytes(), &ReadOptions::default());
    assert!(
        why.contains("such as --servers 500xcpu=1,memory=1"),
        "{why}"
    );
}
