use super::*;

const HEADER: &str = "time,type,collection_id,instance_index,alloc_collection_id,cpus,memory\n";

fn cell() -> ReadOptions {
    on("cpu=1,memory=1")
}

/// Submit, size, how it is seen and line of each job.
fn four(jobs: &[TraceJob]) -> Vec<(i64, u64, Observed, u32)> {
    let four = jobs
        .iter()
        .map(|job| (job.submit, job.size, job.seen, job.line));
    four.collect()
}

#[test]
fn a_job_is_what_an_instance_holds_until_it_is_descheduled() {
    let text = format!(
        "{HEADER}600,SUBMIT,1,0,,.25,.5\n\
         610,ENABLE,1,0,,.25,.5\n\
         620,SCHEDULE,1,0,,.25,.5\n\
         630,0,1,1,,.25,.5\n\
         640,4,1,0,,.25,.5\n\
         650,3,1,0,,.125,.5\n\
         660,7,1,1,,.25,.5\n\
         670,FINISH,1,0,,.125,.5\n"
    );
    let (jobs, trace) = read(text.as_bytes(), &cell());
    assert_eq!(
        (trace.format(), trace.tick()),
        (TraceFormat::Borg, Tick::Microsecond)
    );
    assert_eq!(
        four(&jobs),
        [(600, 20, Observed::Whole, 4), (650, 20, Observed::Whole, 7)]
    );
    assert!(jobs[0].batch == jobs[1].batch && jobs[0].batch > 0);
    let vectors: Vec<&[f64]> = trace.demands().vectors().iter().map(|v| &v[..]).collect();
    assert_eq!(vectors, [&[0.25, 0.5][..], &[0.125, 0.5]]);
    // It was killed as it waited.
    assert_eq!(rows(&trace), [(Reason::NeverRan, 1), (Reason::NoLimit, 2)]);
    assert_eq!(trace.account().lines, 3);
}

#[test]
fn what_is_outside_the_trace_is_known_in_part() {
    let text = format!(
        "{HEADER}0,0,1,0,,.25,.5\n0,3,1,0,,.25,.5\n0,0,2,0,,.25,.5\n0,3,3,0,,.25,.5\n\
         600,0,4,0,,.25,.5\n610,3,4,0,,.25,.5\n620,3,2,0,,.25,.5\n700,6,1,0,,.25,.5\n800,0,5,0,,.25,.5\n900,6,2,0,,.25,.5\n\
         9223372036854775807,6,4,0,,.25,.5\n"
    );
    let (jobs, trace) = read(text.as_bytes(), &cell());
    assert_eq!(
        four(&jobs),
        [
            (600, 100, Observed::Initial, 3),
            (600, 300, Observed::Initial, 5),
            (600, 290, Observed::Censored, 7),
            (600, 280, Observed::Initial, 8),
        ]
    );
    assert_eq!(trace.account().count(Reason::NeverRan), 1);
    assert_accounted(&trace);
}

#[test]
fn what_runs_in_the_room_of_another_is_no_job() {
    let text = format!(
        "{HEADER}600,3,1,0,0,.25,.5\n600,3,2,0,1,.25,.5\n700,6,2,0,1,.25,.5\n800,6,1,0,0,.25,.5\n"
    );
    let (jobs, trace) = read(text.as_bytes(), &cell());
    assert_eq!(four(&jobs), [(600, 200, Observed::Whole, 2)]);
    assert_eq!(trace.account().count(Reason::Step), 1);
}

#[test]
fn an_end_that_was_not_logged_is_the_next_start() {
    let text = format!("{HEADER}600,3,1,0,,.25,.5\n700,3,1,0,,.25,\n800,6,1,0,,.25,.5\n");
    let (jobs, trace) = read(text.as_bytes(), &cell());
    assert_eq!(
        four(&jobs),
        [
            (600, 100, Observed::Whole, 2),
            (700, 100, Observed::Whole, 3)
        ]
    );
    assert_eq!(rows(&trace), [(Reason::NoLimit, 2), (Reason::NoAmount, 1)]);
}

#[test]
fn events_have_to_stand_in_order() {
    let text = format!("{HEADER}700,3,1,0,,.25,.5\n600,6,1,0,,.25,.5\n");
    let (faults, _) = faults(&text, &cell());
    assert_eq!(
        faults,
        [
            "line 3, column 1: found `600`, expected a time not before that of the line before: export the events ordered by time"
        ]
    );
}
