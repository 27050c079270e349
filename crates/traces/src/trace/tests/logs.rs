use super::*;

fn read_log(name: &str, options: &ReadOptions) -> Option<(Vec<TraceJob>, Trace)> {
    let mut trace = Trace::open(&Source::named(&outside_log(name)?), options).unwrap();
    let (jobs, ended) = drain(&mut trace);
    ended.unwrap();
    assert_accounted(&trace);
    Some((jobs, trace))
}

fn work(jobs: &[TraceJob], trace: &Trace, j: usize) -> f64 {
    let vectors = &trace.demands.vectors;
    let of = |job: &TraceJob| job.size as f64 * vectors[job.demand as usize][j];
    jobs.iter().map(of).sum()
}

#[test]
fn reads_a_supercomputer_log() {
    let Some((jobs, trace)) = read_log("sdsc-sp2-1998-first5000.swf", &ReadOptions::default())
    else {
        return;
    };
    assert_eq!(jobs.len(), 4606);
    assert_eq!(trace.servers.total(), [128.0]);
    assert_eq!(trace.account.count(Reason::NeverRan), 355);
    assert_eq!(trace.account.count(Reason::PastLimit), 309);
    assert_eq!(trace.demands.vectors.len(), 49);
    assert_eq!(work(&jobs, &trace, 0), 387_596_226.0);
    assert_eq!(trace.account.work * 128.0, 387_596_226.0);
}

#[test]
fn reads_a_virtual_machine_log() {
    let mut options = on("cpu=4096,memory=8192");
    options.columns = columns(AZURE_COLUMNS);
    let Some((jobs, trace)) = read_log("azure-2017-6h.csv", &options) else {
        return;
    };
    assert_eq!(jobs.len(), 15_847);
    let mut batches: Vec<u32> = jobs.iter().map(|job| job.batch).collect();
    batches.sort_unstable();
    batches.dedup();
    assert_eq!(batches.len(), 3123);
    assert_eq!(work(&jobs, &trace, 0), 506_597_400.0);
    assert_eq!(work(&jobs, &trace, 1), 1_063_095_600.0);
}
