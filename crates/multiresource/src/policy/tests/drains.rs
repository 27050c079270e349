use super::*;
use crate::policy::capacity::PackedDemand;
use crate::policy::drain::DrainEstimator;
use crate::policy::{
    BackfillingConfig, Family, Guard, GuardedConfig, Preemption, ReservingConfig, Route, TdcConfig,
    TdcOrder, TdcParameters, section_seven,
};
use crate::schedule::Packing;

fn one_or_all() -> Workload {
    one_server(10, &[(1, 4.0, 1.0), (10, 0.3, 1.0)])
}

/// The time until `k` of `n` identical jobs end is `E[S] (H_n − H_{n−k})`, within 10 %.
#[test]
fn drain_time_approximates_harmonic_sum() {
    let workload = one_or_all();
    let mut drains = DrainEstimator::new(&workload);
    for n in 1..=10_u32 {
        let mut system = System::new(&workload, 0, false);
        (0..n).for_each(|_| {
            system.arrive(0, 0.0);
            system.start(0);
        });
        let exact: f64 = (1..=n).map(|k| 1.0 / f64::from(k)).sum();
        let found = drains.wait(1, &[0, 0], 0.0, &system);
        assert!((found / exact - 1.0).abs() < 0.1, "{n}: {found}, {exact}");
        assert_eq!(drains.wait(0, &[0, 0], 0.0, &system) > 0.0, n == 10);
        assert_eq!(drains.wait(1, &[0, 0], 1.0, &system), 0.0);
        assert!(drains.wait(1, &[1, 0], 0.0, &system).is_infinite());
    }
}

#[test]
fn packed_sums_match_unpacked_sums() {
    for digits in [0, 15] {
        let scale = 10_u64.pow(digits);
        let odd = scale + 1;
        let text = format!(
            "{{kind: multiresource, time_unit: s, server: {{capacity: {{a: {}, b: 7, c: {}}}}}, jobs: [
  {{name: x, demand: {{a: {scale}, b: 1, c: 0}}, arrival_rate: 1, mean_size: 1}},
  {{name: y, demand: {{a: 0, b: 2, c: {scale}}}, arrival_rate: 1, mean_size: 1}},
  {{name: z, demand: {{a: {odd}, b: 0, c: {odd}}}, arrival_rate: 1, mean_size: 1}}]}}",
            5 * scale,
            3 * scale
        );
        let workload = Workload::parse(&text, "t").unwrap().workload;
        let packing = Packing::new(&workload);
        let packed = PackedDemand::new(&packing);
        assert_eq!(packed.words() > 1, digits == 15);
        for x in 0..=5 {
            let mut used: Vec<u64> = packed.empty(packing.capacity());
            packed.take(&mut used, 0, x);
            let mut room = packing.capacity().to_vec();
            packing.take(0, x as u32, &mut room);
            for request in 0..=3 {
                let most = u64::from(packing.max_jobs_in(1, &room)).min(request);
                assert_eq!(packed.most(&used, 1, request), most, "{x}, {request}");
            }
            packed.give(&mut used, 0, x);
            assert_eq!(used, packed.empty::<Vec<u64>>(packing.capacity()));
        }
    }
}

fn reserving(worth: f64) -> ReservingConfig {
    ReservingConfig {
        prices: vec![0.1, 1.0],
        worth,
        exhaust: 100.0,
        let_in: 0.0,
        limits: false,
    }
}

/// Nine light jobs are running. For the heavy job, the loss is
/// `(1 − .9) D + .9 (D − (1 − e^−D)) ≈ 2`, where `D ≈ 2.9`.
#[test]
fn reserving_reserves_when_worth_the_drain() {
    for (worth, then) in [(0.4, ""), (1.0, "+0:10")] {
        let workload = one_or_all();
        let mut stage = driven(&workload, &reserving(worth));
        for n in 0..9 {
            assert_eq!(stage.arrive(0), format!("+0:{n}"));
        }
        assert_eq!(stage.arrive(1), "");
        assert_eq!(stage.arrive(0), then, "at {worth}");
        if worth < 1.0 {
            for _ in 0..8 {
                assert_eq!(stage.end(0), "");
            }
            assert_eq!(stage.end(0), "+1:9");
            assert_eq!(stage.end(1), "+0:10");
        }
    }
}

#[test]
fn jobs_pass_by_their_limits() {
    let text = one_or_all().to_yaml();
    let text = text.replace("server:", "known: size\nserver:");
    let workload = Workload::parse(&text, "t").unwrap().workload;
    for (let_in, limits, passes) in [
        (1.0, true, "+0:12"),
        (0.5, true, "+0:13"),
        (1e-3, false, ""),
    ] {
        let mut policy = reserving(0.1);
        (policy.let_in, policy.limits) = (let_in, limits);
        let mut stage = driven(&workload, &policy);
        for n in 0..10 {
            assert_eq!(stage.arrive_limited(0, 0.0, 10.0), format!("+0:{n}"));
        }
        assert_eq!(stage.arrive_limited(1, 0.0, 3.0), "");
        for limit in [9.5, 8.5, 4.0] {
            assert_eq!(stage.arrive_limited(0, 0.5, limit), "");
        }
        assert_eq!(stage.finish(0, 3, 1.0), passes, "{let_in} {limits}");
    }
}

#[test]
fn tdc_drains_for_more_valuable_jobs() {
    let policy = TdcConfig {
        schedules: vec![vec![10, 0], vec![0, 1]],
        prices: vec![0.1, 1.0],
        knobs: TdcParameters {
            exponent: 1.0,
            favour: 0.0,
            reserve: 0.7,
            margin: 0.1,
            let_in: 0.3,
            patience: 1.0,
            order: TdcOrder::Worth,
        },
    };
    let workload = one_or_all();
    for (heavy, then) in [(3, "+0:10"), (60, "")] {
        let mut stage = driven(&workload, &policy);
        for n in 0..15 {
            let expected = if n < 10 {
                format!("+0:{n}")
            } else {
                String::new()
            };
            assert_eq!(stage.arrive(0), expected);
        }
        (0..heavy).for_each(|_| assert_eq!(stage.arrive(1), ""));
        assert_eq!(stage.end(0), then, "{heavy} heavy jobs");
        if heavy == 60 {
            (0..8).for_each(|_| assert_eq!(stage.end(0), ""));
            assert_eq!(stage.end(0), "+1:15");
        }
    }
}

#[test]
fn guard_takes_over_and_hands_back() {
    let workload = one_or_all();
    let mut guard = section_seven(Preemption::None, Route::ALL[0], 0.1);
    guard.schedules = vec![vec![0, 1], vec![10, 0]];
    let policy = GuardedConfig {
        rule: Box::new(BackfillingConfig::new(Backfilling::FIRST_FIT, true).into()),
        guard: Guard::Msr(guard),
        from: 6,
        until: 3,
    };
    assert!(Family::from(policy.clone()).is_proved_stable(&workload));
    let mut stage = driven(&workload, &policy);
    for n in 0..4 {
        assert_eq!(stage.arrive(0), format!("+0:{n}"));
    }
    assert_eq!(stage.arrive(1), "", "First-Fit");
    assert_eq!(stage.arrive(0), "");
    assert_eq!(stage.system.counters().guards, 1);
    for _ in 0..3 {
        assert_eq!(stage.end(0), "");
    }
    assert_eq!(stage.end(0), "+1:4");
    assert!(stage.system.clocks().iter().all(|rate| *rate == 0.0));
    assert!(stage.system.violation().is_none());
}
