use super::*;
use crate::artifact::{BackfillingConfig, Guard, GuardedConfig, MsrConfig};
use crate::policy::Backfilling;

const SMALL: &str = "name: small, demand: {cpu: 1}, arrival_rate: 30, mean_size: 1";
const BIG: &str = "name: big, demand: {cpu: 60}, arrival_rate: .01, mean_size: 1";

/// The big jobs need the whole server, which is empty for a fraction e^−30 of the time.
#[test]
fn a_type_that_starves_makes_the_rule_unstable() {
    let workload = one_server("", 60, &[SMALL, BIG]);
    let run = simulate(&workload, FIRST_FIT, &events(5_000_000), quiet).unwrap();
    assert_eq!(run.health, Health::Unstable);
    assert!(run.types[1].grows && !run.types[0].grows);
    assert!(run.mean_response.is_none());
}

#[test]
fn a_type_without_completions_never_converges() {
    let workload = one_server("", 60, &[SMALL, BIG]);
    for seed in 1..=8 {
        let mut settings = events(300_000);
        settings.seed = seed;
        let run = simulate(&workload, FIRST_FIT, &settings, quiet).unwrap();
        let Some(NotConverged::FewDone { class, done, left }) = &run.unsettled else {
            panic!("{:?} {:?}", run.health, run.unsettled);
        };
        let found = (class.as_str(), *done, *left);
        assert_eq!(found, ("big", 0, run.types[1].left));
        assert!(run.mean_response.is_none() && run.replications.iter().all(Option::is_none));
        let reported = run.unsettled.as_ref().unwrap().to_string();
        assert_eq!(
            reported,
            format!("big: {left} jobs waiting, none completed")
        );
    }
}

/// No job waits, so that E\[T\] = E\[S\] = (100 + 10)/100.02. A short run can only have completed
/// the long jobs that happen to be short.
#[test]
fn a_run_shorter_than_its_jobs_has_no_mean() {
    let short = "name: short, demand: {cpu: 1}, arrival_rate: 100, mean_size: 1";
    let long = "name: long, demand: {cpu: 1}, arrival_rate: .02, mean_size: 500";
    let rare = "name: rare, demand: {cpu: 1}, arrival_rate: 1e-5, mean_size: 2000";
    let of = |jobs: &[&str], count| {
        simulate(
            &one_server("", 1000, jobs),
            FIRST_FIT,
            &events(count),
            quiet,
        )
        .unwrap()
    };
    assert_eq!(of(&[short, long], 1_000_000).health, Health::Unsettled);
    let long_enough = of(&[short, long], 30_000_000);
    agrees(long_enough.mean_response, 110.0 / 100.02, 0.02, "all");
    agrees(long_enough.types[1].mean_response, 500.0, 0.1, "long");
    let rare_ones = of(&[short, long, rare], 3_000_000);
    assert_eq!(rare_ones.health, Health::Unsettled);
    assert!(rare_ones.mean_response.is_none());
}

/// The relaxation time (1+ρ)/(1−ρ)² is 500 000, but a replication has a length of 125 000.
#[test]
fn a_queue_that_changes_too_slowly_has_no_mean() {
    for seed in 1..=8 {
        let mut settings = events(2_000_000);
        settings.seed = seed;
        let run = simulate(&one_type(1, 0.998), FCFS, &settings, quiet).unwrap();
        assert_ne!(run.health, Health::Settled, "{:?}", run.mean_response);
    }
}

/// For 0.6 of each unit of time, a job of type b waits for one of type a, which needs half of the
/// capacity.
#[test]
fn wastage_of_deterministic_arrivals_is_measured() {
    let job = |name: &str, need: u32, size: f64| {
        format!(
            "name: {name}, demand: {{cpu: {need}}}, arrivals: {{process: renewal, interarrival: {{law: deterministic, mean: 1}}}}, size: {{law: deterministic, mean: {size}}}"
        )
    };
    let workload = one_server("", 2, &[job("a", 1, 0.6), job("b", 2, 0.3)]);
    let run = simulate(&workload, FCFS, &events(1_000_000), quiet).unwrap();
    let is_near = (run.own.wastage[0] - 0.3).abs() < 0.005;
    assert!(is_near, "{:?}", run.own.wastage);
    assert!((run.own.utilization[0] - 0.6).abs() < 1e-4);
}

#[test]
fn percentiles_do_not_depend_on_the_time_unit() {
    for scale in [1e-12, 1e15] {
        let job = format!(
            "name: a, demand: {{cpu: 1}}, arrival_rate: {:e}, mean_size: {scale:e}",
            0.7 / scale
        );
        let workload = one_server("", 1, &[job]);
        let run = simulate(&workload, FCFS, &events(4_000_000), quiet).unwrap();
        let exact = [0.5_f64, 0.95, 0.99].map(|p| -(1.0 - p).ln() * scale / 0.3);
        for (found, exact) in run.types[0].percentiles.unwrap().iter().zip(exact) {
            assert!((found / exact - 1.0).abs() < 0.03, "{found} {exact}");
        }
    }
}

/// With Least Servers First, jobs that need the whole server starve, but a guard makes it stable.
#[test]
fn a_guard_stabilizes_an_unstable_rule() {
    let lines = [
        "name: light, demand: {cpu: 1}, arrival_rate: 5, mean_size: 1",
        "name: heavy, demand: {cpu: 10}, arrival_rate: .3, mean_size: 1",
    ];
    let workload = one_server("", 10, &lines);
    let rule = Family::from(BackfillingConfig::new(
        Backfilling::LEAST_SERVERS_FIRST,
        true,
    ));
    let settings = events(4_000_000);
    let alone = Contender::from(rule.clone());
    let run = alone.simulate(&workload, &settings, quiet).unwrap();
    assert_eq!(run.health, Health::Unstable);
    let guarded = Family::Guarded(GuardedConfig {
        rule: Box::new(rule),
        guard: Guard::Msr(MsrConfig {
            schedules: vec![vec![0, 1], vec![10, 0]],
            weights: vec![0.4, 0.6],
            ..section_seven(Preemption::None, Route::ALL[0], 0.05)
        }),
        from: 40,
        until: 20,
    });
    let guarded = Contender::from(guarded);
    let run = guarded.simulate(&workload, &settings, quiet).unwrap();
    assert_eq!(run.health, Health::Settled, "{:?}", run.unsettled);
    assert!(run.own.counters.guards > 100, "{:?}", run.own.counters);
    let part = run.own.guarded;
    assert!(part > 0.0 && part < 1.0, "{part}");
}

/// The relaxation time of an M/M/1 queue with a load of 0.98 is about 1e4 times the mean size.
#[test]
fn a_run_too_short_for_its_load_has_no_mean() {
    let queue = one_type(1, 0.98);
    for seed in 1..=20 {
        let settings = |count| Settings {
            seed,
            ..events(count)
        };
        let run = simulate(&queue, FCFS, &settings(500_000), quiet).unwrap();
        let Some(NotConverged::HeavyTraffic { events }) = run.unsettled else {
            panic!("{seed}: {:?}", run.unsettled);
        };
        assert!((1.5e6..4e6).contains(&events), "{seed}: {events}");
    }
    let long = simulate(&queue, FCFS, &events(4_000_000), quiet).unwrap();
    agrees(long.mean_response, 50.0, 0.3, "E[T]");
    // With a hundred servers, there is almost no queue.
    let wide = simulate(&one_type(100, 0.7 * 100.0), FCFS, &events(500_000), quiet).unwrap();
    assert_eq!(wide.health, Health::Settled);
}

/// The time between two switches is 1e5 mean sizes. The queues grow until the next switch.
#[test]
fn a_run_too_short_for_slow_clocks_has_not_converged() {
    let policy = section_seven(Preemption::None, Route::ALL[0], 1e-5);
    let contender = Contender::from(Family::Msr(policy));
    let settings = events(5_000_000);
    let run = contender.simulate(&model("section7"), &settings, quiet);
    let run = run.unwrap();
    assert_eq!(run.health, Health::Unsettled);
    let Some(NotConverged::SlowClock { rings }) = run.unsettled else {
        panic!("{:?}", run.unsettled);
    };
    assert!(rings < 10.0, "{rings}");
}

/// The number of jobs increases for the whole run, but would decrease from about 1e6 jobs on.
#[test]
fn growth_that_reverses_is_not_unstable() {
    let run = rule("randomized-timers");
    let run = run.simulate(&model("one_or_all"), &events(5_000_000), quiet);
    let run = run.unwrap();
    assert_eq!(run.health, Health::Unsettled);
    let is_unsettled =
        matches!(run.unsettled, Some(NotConverged::Turns { jobs }) if jobs > 100_000);
    assert!(is_unsettled, "{:?}", run.unsettled);
}

#[test]
fn a_stable_rule_in_heavy_traffic_is_not_unstable() {
    let workload = model("one_or_all").scaled(0.997 / 0.76875).unwrap();
    for name in ["first-fit", "most-servers-first"] {
        for seed in 1..=4 {
            let mut settings = events(1_000_000 * seed);
            settings.seed = seed;
            let run = rule(name).simulate(&workload, &settings, quiet).unwrap();
            assert_eq!(run.health, Health::Unsettled, "{name} {seed}");
        }
    }
}

/// Most runs have too few large jobs to estimate their own error. Therefore, the width of an
/// interval must be at least half of the theoretical value.
#[test]
fn intervals_account_for_rare_large_sizes() {
    let size =
        "name: a, demand: {cpu: 1}, arrival_rate: .1, size: {law: lognormal, mean: 1, scv: 16}";
    let workload = one_server("", 1, &[size]);
    let exact = 1.0 + 0.1 * 17.0 / 1.8;
    let mut missed = 0;
    for seed in 1..=10 {
        let mut settings = events(6_000_000);
        settings.seed = seed;
        let run = simulate(&workload, FCFS, &settings, quiet).unwrap();
        let mean = run.mean_response.unwrap();
        println!("{} {mean:?}", mean.relative());
        missed += u32::from(!mean.covers(exact, 0.95));
        assert!(mean.relative() > 0.08, "{seed}: {mean:?}");
    }
    assert!(missed <= 1, "{missed}");
}

#[test]
fn deterministic_runs_converge() {
    let clockwork = "arrivals: {process: renewal, interarrival: {law: deterministic, mean: 1}}, \
         size: {law: deterministic, mean: .9}";
    let workload = one_server("", 1, &[clockwork]);
    let run = simulate(&workload, FCFS, &events(100_000), quiet).unwrap();
    assert_eq!(run.health, Health::Settled);
    let [_, p95, p99] = run.percentiles.unwrap();
    assert!(p95 <= 0.9 + 1e-9 && p99 <= 0.9 + 1e-9, "{p95} {p99}");
    // If two jobs arrive at the same time, the second job always waits for the first one.
    let half = clockwork.replace("mean: .9", "mean: .4");
    let pairs = one_server("", 1, &[&half, &half]);
    let run = simulate(&pairs, FCFS, &events(1_000_000), quiet).unwrap();
    agrees(run.mean_response, 0.6, 1e-5, "E[T]");
}
