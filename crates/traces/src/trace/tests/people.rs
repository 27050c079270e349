//! Logs as people have them: what stands under another name, in another unit or not at all.

use super::*;

fn csv(columns: &[(&str, &str)], units: &[(&str, &str)], capacity: &str) -> ReadOptions {
    let owned = |pairs: &[(&str, &str)]| {
        let pairs = pairs
            .iter()
            .map(|(a, b)| ((*a).to_owned(), (*b).to_owned()));
        pairs.collect()
    };
    ReadOptions {
        columns: owned(columns),
        units: owned(units),
        ..on(capacity)
    }
}

/// Without a start, waiting would be taken for running.
#[test]
fn a_size_is_the_time_from_start_to_end() {
    let text = b"submit,start,end,gpu\n0,0,3600,4\n60,3600,7200,4\n120,7200,10800,4\n";
    for columns in [&[("time", "submit"), ("end", "end")][..], &[]] {
        let (jobs, trace) = read(text, &csv(columns, &[], "gpu=4"));
        let found: Vec<_> = jobs
            .iter()
            .map(|job| (job.submit, job.size, job.waited))
            .collect();
        assert_eq!(
            found,
            [
                (0, 3600, Some(0)),
                (60, 3600, Some(3540)),
                (120, 3600, Some(7080))
            ]
        );
        assert!(
            trace.account().remarks[0].contains("start=start"),
            "{:?}",
            trace.account().remarks
        );
    }
    let (_, trace) = read(b"time,end,gpu\n0,9,4\n", &csv(&[], &[], "gpu=4"));
    let remarks = trace.account().remarks.join("\n");
    assert!(
        remarks.contains("no column tells when jobs started"),
        "{remarks}"
    );
}

#[test]
fn a_job_without_an_end_still_runs() {
    let text = "time,stop,gpu\n0,3600,1\n600,,1\n1200,4800,1\n1800,,1\n2400,6000,1\n3600,7200,1\n";
    let options = csv(&[("end", "stop")], &[], "gpu=4");
    let (jobs, _) = read(text.as_bytes(), &options);
    let open: Vec<_> = jobs
        .iter()
        .filter(|job| job.seen == Observed::Censored)
        .collect();
    let found: Vec<_> = open
        .iter()
        .map(|job| (job.submit, job.size, job.line))
        .collect();
    // Until 7200, the last that the log tells.
    assert_eq!(
        (jobs.len(), found),
        (6, vec![(600, 6600, 3), (1800, 5400, 5)])
    );
    // Where a column says which ones run, the others never did.
    let marked = text
        .replace("gpu\n", "gpu,censored\n")
        .replace(",1\n", ",1,0\n")
        .replace("600,,1,0", "600,,1,1");
    let (jobs, trace) = read(marked.as_bytes(), &options);
    assert_eq!(
        (jobs.len(), trace.account().count(Reason::NeverRan)),
        (5, 1)
    );
    // What had not started waits.
    let waiting = b"time,start,end,gpu\n0,0,50,1\n10,,,1\n20,30,,1\n";
    let (jobs, trace) = read(waiting, &csv(&[], &[], "gpu=4"));
    assert_eq!(trace.account().count(Reason::NeverRan), 1);
    assert_eq!(
        (jobs[1].submit, jobs[1].size, jobs[1].waited),
        (20, 20, Some(10))
    );
    let pods = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,pod_phase,creation_time,deletion_time,scheduled_time\n\
                a,1000,0,0,0,Running,5,,7\nb,1000,0,0,0,Succeeded,5,90,7\n";
    let (jobs, _) = read(pods.as_bytes(), &on("cpu=4"));
    assert_eq!((jobs[0].size, jobs[0].seen), (83, Observed::Censored));
}

#[test]
fn dates_and_lengths_are_read_as_they_are_shown() {
    let text = b"time,size,limit,cpu\n2024-11-15 16:57:50,0:00:16,1-00:00:00,1\n2024-11-15T16:58:00.5Z,1:00:00,,2\n";
    let (jobs, trace) = read(text, &csv(&[], &[], "cpu=4"));
    assert_eq!(trace.tick(), Tick::Millisecond);
    assert_eq!(
        (jobs[1].submit - jobs[0].submit, jobs[0].size, jobs[1].size),
        (10_500, 16_000, 3_600_000)
    );
    assert_eq!((jobs[0].limit, jobs[1].limit), (86_400_000, 0));
}

#[test]
fn tables_are_separated_by_what_stands_in_their_first_line() {
    for (mark, empty) in [(",", ""), (";", ""), ("\t", ""), ("|", ""), (" ; ", "")] {
        let lines = ["time,user,size,cpu", "0,ann,5,1", &format!("3,{empty},7,2")];
        let text = lines.map(|line| line.replace(',', mark)).join("\n");
        let (jobs, trace) = read(text.as_bytes(), &on("cpu=4"));
        assert_eq!(trace.format(), TraceFormat::Csv, "{mark}");
        let found: Vec<_> = jobs
            .iter()
            .map(|job| (job.submit, job.size, job.user == 0))
            .collect();
        assert_eq!(found, [(0, 5, false), (3, 7, true)], "{mark}");
    }
}

#[test]
fn each_column_of_times_may_have_a_unit_of_its_own() {
    let text = b"time,size,limit,cpu\n0,90,2,1\n1,30,1,1\n";
    let (jobs, _) = read(text, &csv(&[], &[("limit", "min")], "cpu=4"));
    assert_eq!((jobs[0].size, jobs[0].limit), (90, 120));
    let (jobs, trace) = read(text, &csv(&[], &[("time", "h"), ("limit", "d")], "cpu=4"));
    assert_eq!((trace.tick(), jobs[1].submit), (Tick::Second, 3600));
    assert_eq!(jobs[0].limit, 90 * 3600);
    let why = refused(text, &csv(&[], &[("limit", "minutely")], "cpu=4"));
    assert!(
        why.starts_with("--unit limit=minutely: write time="),
        "{why}"
    );
    let why = refused(text, &csv(&[], &[("cpu", "min")], "cpu=4"));
    assert!(why.starts_with("--unit cpu=min: write time="), "{why}");
}

/// Sizes below a second would all be taken as one.
#[test]
fn ticks_are_as_fine_as_the_times_of_the_file() {
    for (size, tick, size_read) in [
        ("2", Tick::Second, 2),
        ("0.25", Tick::Millisecond, 250),
        ("1.000001", Tick::Microsecond, 1_000_001),
    ] {
        let text = format!("time,size,cpu\n0,{size},1\n1,{size},1\n");
        let (jobs, trace) = read(text.as_bytes(), &on("cpu=4"));
        assert_eq!((trace.tick(), jobs[0].size), (tick, size_read));
        assert_eq!(rows(&trace), [(Reason::NoLimit, 2)]);
    }
    // Not coarser than the unit that is said.
    let (jobs, trace) = read(
        b"time,size,cpu\n0,3000,1\n",
        &csv(&[], &[("time", "ms")], "cpu=4"),
    );
    assert_eq!((trace.tick(), jobs[0].size), (Tick::Millisecond, 3000));
}

#[test]
fn limits_and_users_are_taken_by_the_names_of_their_columns() {
    let (jobs, trace) = read(b"time,size,cpu,limit,user\n0,20,4,80,ann\n", &on("cpu=4"));
    assert_eq!(
        (jobs[0].limit, &trace.account().users[&jobs[0].user]),
        (80, &"ann".to_owned())
    );
    assert_eq!(
        trace.account().remarks,
        ["columns taken by their names: limit=limit, user=user"]
    );
}

#[test]
fn a_resource_that_no_line_names_is_reported() {
    let remark =
        |text: &[u8], options: &ReadOptions| read(text, options).1.account().remarks.join("\n");
    let sacct = "JobID|Submit|State|ElapsedRaw|AllocTRES\n1|1709632800|COMPLETED|5|cpu=2,mem=1G\n\
        2|1709932800|COMPLETED|5|cpu=2,mem=1G\n";
    let found = remark(sacct.as_bytes(), &on("cpu=64,memory=64,gpu=8"));
    assert!(found.starts_with("no line demands any gpu:"), "{found}");
    let found = remark(b"time,size,cpu,gpu\n0,5,1,0\n", &on("cpu=4,gpu=4"));
    assert!(found.starts_with("no line demands any gpu:"), "{found}");
    let found = remark(
        &swf(&[line("5", "10", "4", "20", "1")]),
        &on("cpu=128,memory=64"),
    );
    assert!(found.starts_with("no line demands any memory:"), "{found}");
}

#[test]
fn a_file_of_which_no_line_is_read_is_another_one() {
    let why = refused(b"time,size,cpu\nx,y,z\n", &on("cpu=4"));
    assert!(
        why.contains("name another --format") && !why.contains("--faults"),
        "{why}"
    );
}

const SLURM: &str = "JobID|Submit|Eligible|Start|End|Elapsed|State|AllocTRES|Timelimit|User\n";

fn slurm(lines: &[&str]) -> Vec<u8> {
    (SLURM.to_owned() + &lines.join("\n")).into_bytes()
}

/// A job that depends on another is no job that waits.
#[test]
fn jobs_of_slurm_come_when_they_are_eligible() {
    let at = |hour: u32| format!("2024-05-01T{hour:02}:00:00");
    let job = |id: u32, eligible: &str, start: u32| {
        format!(
            "{id}|{}|{eligible}|{}|{}|01:00:00|COMPLETED|cpu=4|1-00:00:00|a",
            at(8),
            at(start),
            at(start + 1)
        )
    };
    let lines = [job(1, &at(8), 8), job(2, &at(9), 9), job(3, "Unknown", 10)];
    let (jobs, trace) = read(&slurm(&lines.each_ref().map(String::as_str)), &on("cpu=4"));
    let first = jobs[0].submit;
    let found: Vec<_> = jobs
        .iter()
        .map(|job| (job.submit - first, job.size, job.waited, job.limit))
        .collect();
    let expected = [
        (0, 3600, Some(0), 86_400),
        (0, 3600, Some(7200), 86_400),
        (3600, 3600, Some(0), 86_400),
    ];
    assert_eq!(found, expected);
    assert_eq!(rows(&trace), [(Reason::Unsorted, 1), (Reason::Eligible, 1)]);
}

#[test]
fn gpus_that_are_named_by_their_type_are_gpus() {
    let gpus = |tres: &str| {
        let line =
            format!("1|1709632800||1709632800|1709632805|5|COMPLETED|cpu=8,{tres}|UNLIMITED|a");
        let (_, trace) = read(&slurm(&[&line]), &on("cpu=64,gpu=8"));
        trace.demands().vectors()[0][1]
    };
    assert_eq!(gpus("gres/gpu:v100=2,mem=64G"), 2.0);
    assert_eq!(gpus("gres/gpu:v100=2,gres/gpu:a100=1"), 3.0);
    assert_eq!(gpus("gres/gpu:v100=2,gres/gpu=2"), 2.0);
    assert_eq!(gpus("gres/gpumem=2,mem=64G"), 0.0);
}

#[test]
fn jobs_of_several_nodes_hold_a_part_of_each() {
    let line =
        |tres: &str| format!("1|1709632800||1709632800|1709632805|5|COMPLETED|{tres}|UNLIMITED|a");
    let fleet = on("8xcpu=32,memory=128");
    let (jobs, trace) = read(&slurm(&[&line("cpu=128,mem=64G,node=4")]), &fleet);
    assert_eq!((jobs.len(), trace.demands().nodes()), (1, &[4][..]));
    assert_eq!(trace.demands().vectors()[0][..], [32.0, 16.0]);
    assert_eq!(trace.work(&jobs[0]), 5.0 * 128.0 / 256.0);
    // No part is smaller than what may be on one node; nine nodes are not there.
    let (_, trace) = read(&slurm(&[&line("cpu=10,mem=1G,node=4")]), &fleet);
    assert_eq!(trace.demands().vectors()[0][..], [3.0, 0.25]);
    let (_, trace, _) = read_till_it_ends(&slurm(&[&line("cpu=9,mem=9G,node=9")]), &fleet);
    assert_eq!(trace.account().count(Reason::TooLarge), 1);
    // Where their number is not reported it is the least that holds the job; an allocation of no node reports none.
    for nodes in ["", ",node=0"] {
        let (_, trace) = read(&slurm(&[&line(&format!("cpu=65,mem=64G{nodes}"))]), &fleet);
        assert_eq!(trace.demands().nodes(), [3]);
        assert_eq!(rows(&trace), [(Reason::Spread, 1), (Reason::NoLimit, 1)]);
    }
    // One server is one, and a resource that is called so is counted.
    let (_, trace) = read(
        &slurm(&[&line("cpu=128,mem=64G,node=4")]),
        &on("cpu=256,node=8"),
    );
    assert_eq!(
        (&trace.demands().vectors()[0][..], trace.demands().nodes()),
        (&[128.0, 4.0][..], &[1][..])
    );
    let options = csv(&[("nodes", "on")], &[], "8xcpu=32");
    let (_, trace) = read(b"time,size,cpu,on\n0,5,64,2\n1,5,64,2\n", &options);
    assert_eq!(
        (trace.demands().vectors()[0][0], trace.demands().nodes()[0]),
        (32.0, 2)
    );
}

/// A hundredth of the work may be larger than all servers; of more it is said which jobs, how much and what to do.
#[test]
fn what_no_server_holds_is_no_small_part_of_the_work() {
    let job = |id: u32, cpus: u32, seconds: u32| {
        format!(
            "{id}|1709632800||1709632800|1709632805|{seconds}|COMPLETED|cpu={cpus},node=1|UNLIMITED|a"
        )
    };
    let lines: Vec<String> = (1..=99).map(|id| job(id, 16, 200)).collect();
    let with = |large: &[String]| {
        let all = [&lines[..], large].concat();
        slurm(&all.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let fleet = on("4xcpu=32");
    let (jobs, trace) = read(&with(&[job(100, 64, 40)]), &fleet);
    assert_eq!(
        (jobs.len(), trace.account().count(Reason::TooLarge)),
        (99, 1)
    );
    let two = with(&[job(100, 64, 50), job(101, 64, 150)]);
    let why = refused(&two, &fleet);
    assert!(
        why.contains("2 jobs with 3.9 % of the work are larger than the servers 4xcpu=32: the one with most work, line 102, holds cpu=64\n")
            && why.contains("--servers (Slurm: sinfo") && why.contains("--faults 4%"),
        "{why}"
    );
    let some = ReadOptions {
        faults: Some(0.04),
        ..fleet
    };
    let (jobs, trace) = read(&two, &some);
    assert_eq!(jobs.len(), 99);
    assert!(trace.account().remarks[0].starts_with("warning: 2 jobs with 3.9 %"));
}

#[test]
fn amounts_stand_in_columns_of_their_own_where_there_is_no_tres() {
    let text = "JobID|Submit|Start|State|Elapsed|NCPUS|NNodes|ReqMem|AllocGRES\n\
                1|2024-05-01T08:00:00|2024-05-01T08:00:00|COMPLETED|1-00:00:00|4|1|4000Mc|\n\
                2|2024-05-01T08:00:00|2024-05-01T08:00:00|COMPLETED|00:00:10|8|2|16Gn|gpu:v100:2(S:0),nic:1\n\
                3|2024-05-01T08:00:00|2024-05-01T08:00:00|COMPLETED|00:00:10|2|1|3G|gpu\n";
    let (jobs, trace) = read(text.as_bytes(), &on("cpu=64,memory=512,gpu=8"));
    assert_eq!((jobs[0].size, jobs[1].size), (86_400, 10));
    let vectors = trace.demands().vectors();
    assert_eq!(vectors[0][..], [4.0, 16_000.0 / 1024.0, 0.0]);
    assert_eq!(
        (&vectors[1][..], &vectors[2][..]),
        (&[8.0, 32.0, 4.0][..], &[2.0, 3.0, 1.0][..])
    );
    let (_, trace) = read(
        text.replace("AllocGRES", "ReqGRES").as_bytes(),
        &on("cpu=64,gpu=8,gpu:v100=8,nic=2"),
    );
    assert_eq!(trace.demands().vectors()[1][..], [8.0, 4.0, 4.0, 2.0]);
}

#[test]
fn components_of_a_heterogeneous_job_are_one_job() {
    let line = |id: &str, tres: &str, end: u32| {
        format!("{id}|1709632800||1709632800|17096328{end}|{end}|COMPLETED|{tres}|UNLIMITED|a")
    };
    let lines = [
        line("9+0", "cpu=8,node=1", 20),
        line("9+1", "cpu=2,node=2", 30),
        line("10", "cpu=1,node=1", 10),
    ];
    let (jobs, trace) = read(&slurm(&lines.each_ref().map(String::as_str)), &on("cpu=64"));
    let found: Vec<_> = jobs.iter().map(|job| (job.line, job.size)).collect();
    assert_eq!(found, [(2, 30), (4, 10)]);
    let demand = |n: usize| trace.demands().vectors()[jobs[n].demand as usize][0];
    assert_eq!((demand(0), demand(1)), (10.0, 1.0));
    assert_eq!(trace.account().count(Reason::Component), 1);
    assert_accounted(&trace);
}

/// A submission of 0 in a log that counts from 1970 makes it fifty years long: that is said, with the line.
#[test]
fn few_jobs_far_from_all_others_are_named() {
    let lines = |odd: &str, at: usize| {
        let mut lines: Vec<String> = (0..60)
            .map(|n| format!("{},60,1\n", 1_700_000_000 + 600 * n))
            .collect();
        lines.insert(at, format!("{odd},60,1\n"));
        format!("submit,size,gpu\n{}", lines.concat())
    };
    let remarks = |text: &str| {
        let (_, trace) = read(text.as_bytes(), &csv(&[], &[], "gpu=4"));
        trace.account().remarks.join("\n")
    };
    let first = remarks(&lines("0", 0));
    assert!(
        first.contains("the first job, up to line 2, came 19675.9 days before"),
        "{first}"
    );
    let last = remarks(&lines("1900000000", 60));
    assert!(
        last.contains("the last job, from line 62 on, came 2314.4 days after"),
        "{last}"
    );
    let near = remarks(&lines("1700036600", 60));
    assert!(!near.contains("all others"), "{near}");
}
