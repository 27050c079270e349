//! What a run must not say: means where there are none, or where it is too short for them.

use super::*;

fn workload(servers: u32, unit: &str, jobs: &[&str]) -> Workload {
    let mut text = format!(
        "kind: multiresource\ntime_unit: {unit}\nserver: {{capacity: {{cpu: {servers}}}}}\njobs:\n"
    );
    for job in jobs {
        text += &format!("  - {{{job}}}\n");
    }
    Workload::parse(&text, "t").unwrap().workload
}

/// Big jobs need the whole server, which the small ones leave empty e^-30 of the time.
#[test]
fn a_type_that_starves_makes_the_rule_unstable() {
    let small = "name: small, demand: {cpu: 1}, arrival_rate: 30, mean_size: 1";
    let big = "name: big, demand: {cpu: 60}, arrival_rate: .01, mean_size: 1";
    let workload = workload(60, "s", &[small, big]);
    let run = simulate(&workload, FirstFit, &events(5_000_000), quiet).unwrap();
    assert_eq!(run.health, Health::Unstable);
    assert!(run.types[1].grows && !run.types[0].grows);
    assert!(run.mean_response.is_none());
}

/// No job waits, so E[T] = E[S]: of all types (100 + 10 + .02)/100.020 01. While the long ones are
/// few beside all others, a short run sees only those of them that happen to be short.
#[test]
fn a_run_that_is_short_beside_its_jobs_has_no_mean() {
    let short = "name: short, demand: {cpu: 1}, arrival_rate: 100, mean_size: 1";
    let long = "name: long, demand: {cpu: 1}, arrival_rate: .02, mean_size: 500";
    let rare = "name: rare, demand: {cpu: 1}, arrival_rate: 1e-5, mean_size: 2000";
    let workload = workload(1000, "s", &[short, long, rare]);
    let run = |count| simulate(&workload, FirstFit, &events(count), quiet).unwrap();
    assert_eq!(run(1_000_000).health, Health::Unsettled);
    let long_enough = run(20_000_000);
    let exact = 110.02 / 100.02001;
    agrees(long_enough.mean_response, exact, 0.02, "all");
    agrees(long_enough.types[1].mean_response, 500.0, 0.1, "long");
    // Too rare to matter for the others, and nothing is said of it.
    assert!(long_enough.types[2].mean_response.is_none());
    assert!(long_enough.weighted_response.is_none());
}

/// Jobs of a hold one of two servers for .6 of each time unit, and those of b, which come at the
/// same moment and need both, wait for as long: half of the room is free meanwhile.
#[test]
fn room_that_is_free_while_a_job_waits_is_seen_by_clockwork_too() {
    let job = |name: &str, need: u32, size: f64| {
        format!(
            "name: {name}, demand: {{cpu: {need}}}, arrivals: {{process: renewal, interarrival: {{law: deterministic, mean: 1}}}}, size: {{law: deterministic, mean: {size}}}"
        )
    };
    let workload = workload(2, "s", &[&job("a", 1, 0.6), &job("b", 2, 0.3)]);
    let run = simulate(&workload, Fcfs, &events(1_000_000), quiet).unwrap();
    assert!(
        (run.own.wastage[0] - 0.3).abs() < 0.005,
        "{:?}",
        run.own.wastage
    );
    assert!((run.own.utilization[0] - 0.6).abs() < 1e-4);
}

/// M/M/1 at load .7 in a very short time unit and in a very long one.
#[test]
fn percentiles_do_not_depend_on_the_time_unit() {
    for scale in [1e-12, 1e15] {
        let job = format!(
            "name: a, demand: {{cpu: 1}}, arrival_rate: {:e}, mean_size: {scale:e}",
            0.7 / scale
        );
        let workload = workload(1, "s", &[&job]);
        let run = simulate(&workload, Fcfs, &events(4_000_000), quiet).unwrap();
        let exact = [0.5_f64, 0.95, 0.99].map(|p| -(1.0 - p).ln() * scale / 0.3);
        for (found, exact) in run.types[0].percentiles.unwrap().iter().zip(exact) {
            assert!((found / exact - 1.0).abs() < 0.03, "{found} {exact}");
        }
    }
}
