use super::*;
use crate::policy::{AdaptiveMsrConfig, StaticQuickswapConfig, Switching};
use rand::{RngExt, SeedableRng};

fn four() -> Workload {
    servers(4, &[1, 4])
}

fn msfq(threshold: f64) -> Stage<StaticQuickswap> {
    let policy = StaticQuickswapConfig::msfq(&four(), Some(threshold)).unwrap();
    Stage::new(&four(), StaticQuickswap::new(&policy, &four()), false)
}

#[test]
fn light_jobs_give_way_at_the_threshold() {
    let mut stage = msfq(2.0);
    for n in 0..4 {
        assert_eq!(stage.arrive(0), format!("+0:{n}"));
    }
    assert_eq!([stage.arrive(1), stage.arrive(0)], ["", ""]);
    assert_eq!([stage.end(0), stage.end(0)], ["+0:5", ""]);
    assert_eq!(stage.arrive(0), "+0:6", "four again");
    assert_eq!([stage.end(0), stage.end(0)], ["", ""]);
    assert_eq!(stage.arrive(0), "", "phase 4 began at two");
    assert_eq!([stage.end(0), stage.end(0)], ["", "+1:4"]);
    assert_eq!([stage.arrive(1), stage.arrive(0)], ["", ""]);
    assert_eq!([stage.end(1), stage.end(1)], ["+1:8", "+0:7 +0:9"]);
}

#[test]
fn strict_turns_drain_without_waiting_jobs() {
    let policy = StaticQuickswapConfig::strict_msfq(&four(), Some(2.0)).unwrap();
    let rule = StaticQuickswap::new(&policy, &four());
    let mut stage = Stage::new(&four(), rule, false);
    assert_eq!(stage.arrive(0), "+0:0");
    let drained = [stage.arrive(0), stage.arrive(0), stage.arrive(0)];
    assert_eq!(drained, ["", "", ""]);
    assert_eq!(stage.end(0), "+0:1 +0:2 +0:3");
    let above = [stage.arrive(0), stage.end(0), stage.end(0)];
    assert_eq!(above, ["+0:4", "", ""]);
    assert_eq!([stage.arrive(0), stage.arrive(1)], ["", ""]);
    assert_eq!([stage.end(0), stage.end(0)], ["", "+1:6"]);
    assert_eq!(stage.end(1), "+0:5");
    assert_eq!(stage.end(0), "", "the system is empty");
    assert_eq!(stage.arrive(1), "+1:7");
}

#[test]
fn light_jobs_continue_without_heavy_jobs() {
    let mut stage = msfq(2.0);
    assert_eq!([stage.arrive(0), stage.arrive(0)], ["+0:0", "+0:1"]);
    let drains = [stage.arrive(1), stage.arrive(0)];
    assert_eq!(drains, ["", ""], "two are not above two");
}

#[test]
fn threshold_0_is_most_servers_first() {
    let mut quickswap = msfq(0.0);
    let mut largest = backfilling(&four(), Backfilling::MOST_SERVERS_FIRST);
    let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(4);
    for _ in 0..3000 {
        let heavy = usize::from(random.random_range(0..8) == 0);
        let ends: Vec<usize> = (0..2).filter(|i| largest.system.running(*i) > 0).collect();
        if random.random_range(0..5) < 2 || ends.is_empty() {
            assert_eq!(quickswap.arrive(heavy), largest.arrive(heavy));
        } else {
            let i = ends[random.random_range(0..ends.len())];
            assert_eq!(quickswap.end(i), largest.end(i));
        }
    }
    assert!(largest.system.counters().completions > 1000);
}

#[test]
fn rejects_workloads_that_are_not_one_or_all() {
    let said = |workload: &Workload, l| {
        let refused = StaticQuickswapConfig::msfq(workload, l);
        refused.unwrap_err().to_string()
    };
    assert!(said(&servers(4, &[1, 2]), None).contains("no type does"));
    assert!(said(&servers(4, &[3, 4]), None).contains("t0, t1 do"));
    assert!(said(&servers(4, &[1, 4, 2]), None).contains("the other types are t0, t2"));
    assert!(said(&servers(4, &[4]), None).contains("there is no other type"));
    assert!(said(&four(), Some(4.0)).contains("from 0 to 3"));
    let wide = OneOrAll::new(&servers(5, &[4, 2])).unwrap();
    assert_eq!((wide.light, wide.heavy, wide.servers), (1, 0, 2));
}

/// Ten servers. Three jobs of type 0 fit, one of type 1, and two of type 2. The order is 1, 2, 0.
fn ten() -> Workload {
    servers(10, &[3, 7, 4])
}

#[test]
fn types_take_turns() {
    let quickswap = StaticQuickswap::new(&StaticQuickswapConfig::published(&ten()), &ten());
    let mut stage = Stage::new(&ten(), quickswap, false);
    assert_eq!(stage.arrive(1), "+1:0");
    let found = [stage.arrive(0), stage.arrive(2), stage.arrive(2)];
    assert_eq!(found, ["", "", ""]);
    assert_eq!(stage.end(1), "+2:2 +2:3");
    assert_eq!(stage.arrive(2), "", "two fit");
    assert_eq!(stage.end(2), "+2:4");
    assert_eq!(stage.end(2), "");
    assert_eq!([stage.arrive(2), stage.arrive(1)], ["", ""]);
    assert_eq!(stage.end(2), "+0:1", "the next in the cycle");
    assert_eq!(stage.arrive(0), "", "other jobs wait during the drain");
    assert_eq!(stage.end(0), "+1:6");
    assert_eq!(stage.end(1), "+2:5");
}

#[test]
fn overlapping_turns_start_during_the_drain() {
    let mut policy = StaticQuickswapConfig::published(&ten());
    policy.overlap = true;
    let mut stage = Stage::new(&ten(), StaticQuickswap::new(&policy, &ten()), false);
    assert_eq!(stage.arrive(2), "+2:0");
    assert_eq!(stage.arrive(0), "+0:1");
    assert_eq!([stage.arrive(2), stage.arrive(0)], ["", ""]);
    assert_eq!(stage.end(0), "+2:2", "it has the turn and now fits");
    assert_eq!(stage.end(2), "+0:3");
}

#[test]
fn adaptive_quickswap_drains_for_the_largest_blocked_job() {
    let mut stage = Stage::new(&ten(), AdaptiveQuickswap::new(&ten()), false);
    assert_eq!([stage.arrive(0), stage.arrive(0)], ["+0:0", "+0:1"]);
    assert_eq!(stage.arrive(0), "+0:2");
    assert_eq!(stage.arrive(1), "");
    assert_eq!([stage.arrive(0), stage.end(0)], ["", ""]);
    assert_eq!(stage.end(0), "+1:3");
    assert_eq!(stage.arrive(2), "");
    assert_eq!(stage.end(1), "+2:5 +0:4");
}

fn switching([waste, floor, patience, drain, let_in]: [f64; 5]) -> Switching {
    Switching {
        waste,
        margin: 0.0,
        floor,
        patience,
        drain,
        let_in,
    }
}

#[test]
fn adaptive_msr_switches_by_queue_lengths() {
    let switching = self::switching([0.5, 3.0, 0.0, 0.0, 0.0]);
    let policy = AdaptiveMsrConfig {
        limits: false,
        schedules: vec![vec![4, 0], vec![0, 1]],
        prices: vec![0.25, 1.0],
        switching,
    };
    let mut stage = Stage::new(&four(), AdaptiveMsr::new(&policy, &four()), false);
    for n in 0..4 {
        assert_eq!(stage.arrive(0), format!("+0:{n}"));
    }
    assert_eq!([stage.arrive(1), stage.arrive(0)], ["", ""]);
    assert_eq!([stage.end(0), stage.end(0)], ["+0:5", ""]);
    assert_eq!(stage.end(0), "");
    assert_eq!(stage.arrive(0), "", "no other job starts meanwhile");
    assert_eq!([stage.end(0), stage.end(0)], ["", "+1:4"]);
    // The weight of a heavy job is 1. The weight of `n` light jobs is `n²/4` if `n ≤ 4`, or `n`.
    let found = [stage.arrive(1), stage.arrive(0), stage.arrive(0)];
    assert_eq!(found, ["", "", ""]);
    assert_eq!(stage.end(1), "+1:7", "three light jobs are not enough");
    for _ in 0..2 {
        assert_eq!(stage.arrive(0), "");
    }
    assert_eq!(stage.end(1), "+0:6 +0:8 +0:9 +0:10", "no heavy job is left");
}

#[test]
fn patience_admits_other_jobs() {
    let at = |patience: f64| {
        let switching = self::switching([0.5, 3.0, patience, 0.0, 0.0]);
        let workload = servers(4, &[1, 2]);
        let policy = AdaptiveMsrConfig {
            limits: false,
            schedules: vec![vec![0, 2], vec![4, 0]],
            prices: vec![0.25, 0.5],
            switching,
        };
        let policy = AdaptiveMsr::new(&policy, &workload);
        let mut stage = Stage::new(&workload, policy, false);
        for n in 0..3 {
            assert_eq!(stage.arrive(0), format!("+0:{n}"));
        }
        for _ in 3..9 {
            assert_eq!(stage.arrive(1), "");
        }
        assert_eq!(stage.end(0), "+1:3", "with two jobs it is wasteful");
        assert_eq!(stage.end(0), "");
        stage.arrive(0)
    };
    assert_eq!([at(0.0), at(1.0)], ["", "+0:9"].map(String::from));
}

fn lengths(jobs: [(u32, f64); 3]) -> Workload {
    one_server(10, &jobs.map(|(demand, mean)| (demand, 0.001, mean)))
}

#[test]
fn long_drains_are_not_started() {
    let switches = |mean: f64, drain: f64| {
        let workload = lengths([(3, mean), (1, 1.0), (6, 1.0)]);
        let policy = AdaptiveMsrConfig {
            limits: false,
            schedules: vec![vec![3, 1, 0], vec![0, 4, 1]],
            prices: vec![0.3, 0.1, 0.6],
            switching: switching([0.0, 1.0, 0.0, drain, 0.0]),
        };
        let mut stage = Stage::new(&workload, AdaptiveMsr::new(&policy, &workload), false);
        for (n, i) in [0, 0, 0, 1].into_iter().enumerate() {
            assert_eq!(stage.arrive(i), format!("+{i}:{n}"));
        }
        assert_eq!(stage.arrive(1), "");
        (0..20).for_each(|_| assert_eq!(stage.arrive(2), ""));
        assert_eq!(stage.end(1), "+1:4");
        stage.system.counters().switches
    };
    assert_eq!(switches(1000.0, 0.0), 1);
    assert_eq!(switches(1000.0, 1.0), 0);
    assert_eq!(switches(1.0, 1.0), 1, "a short drain is worth it");
}

#[test]
fn short_jobs_pass_during_a_drain() {
    for (let_in, then) in [(0.0, ""), (0.005, ""), (0.3, "+1:3")] {
        let workload = lengths([(3, 100.0), (1, 1.0), (10, 100.0)]);
        let policy = AdaptiveMsrConfig {
            limits: false,
            schedules: vec![vec![3, 1, 0], vec![0, 0, 1]],
            prices: vec![0.3, 0.1, 1.0],
            switching: switching([0.5, 3.0, 0.0, 0.0, let_in]),
        };
        let mut stage = Stage::new(&workload, AdaptiveMsr::new(&policy, &workload), false);
        assert_eq!([stage.arrive(0), stage.arrive(0)], ["+0:0", "+0:1"]);
        assert_eq!(stage.arrive(2), "");
        assert_eq!(stage.end(0), "", "it has become wasteful");
        assert_eq!(stage.arrive(1), then, "{let_in}");
        assert_eq!(stage.arrive(0), "", "it lasts as long as the awaited job");
        if let_in == 0.3 {
            assert_eq!(stage.end(1), "");
        }
        let last = stage.end(0);
        assert!(last.starts_with("+2:2"), "{last}");
    }
}
