use rand::{RngExt, SeedableRng};

use super::*;

fn powers() -> Workload {
    servers(4, &[1, 2, 4])
}

#[test]
fn server_filling_serves_the_largest_of_the_oldest_that_fill() {
    let policy = ServerFilling::new(&powers()).unwrap();
    let mut stage = Stage::new(&powers(), policy, true);
    assert_eq!(stage.arrive(0), "+0:0");
    assert_eq!(stage.arrive(2), "-0:0 +2:1", "1 + 4 fill, and 4 is larger");
    assert_eq!(stage.arrive(0), "", "behind the prefix");
    assert_eq!(stage.end(2), "+0:0 +0:2", "both together do not fill");
    assert_eq!(stage.arrive(1), "+1:3");
    assert_eq!(stage.arrive(2), "", "1 + 1 + 2 fill without it");
    assert_eq!(stage.end(1), "-0:2 -0:0 +2:4");
    assert_eq!(stage.end(2), "+0:0 +0:2");
}

/// 7 + 7 of 10: one of them is served, and what comes behind them waits beside three idle servers.
#[test]
fn server_filling_leaves_servers_idle_where_needs_are_no_powers_of_two() {
    let policy = ServerFilling::new(&cores()).unwrap();
    let mut stage = Stage::new(&cores(), policy, true);
    assert_eq!(stage.arrive(1), "+1:0");
    assert_eq!([stage.arrive(1), stage.arrive(0)], ["", ""]);
    assert_eq!(stage.end(1), "+1:1 +0:2");
    // 7 + 3 + 1 would be too much for the 7 that came last: it is passed over.
    assert_eq!(stage.arrive(2), "");
    assert_eq!(stage.end(0), "+2:3");
    assert_eq!(
        stage.arrive(1),
        "",
        "7 + 1 + 7: the second 7 does not fit, the 1 does"
    );
}

#[test]
fn divisor_filling_finds_the_oldest_subset_that_fills() {
    let workload = servers(6, &[1, 2, 3]);
    let policy = DivisorFilling::new(&workload).unwrap();
    let mut stage = Stage::new(&workload, policy, true);
    assert_eq!([stage.arrive(2), stage.arrive(1)], ["+2:0", "+1:1"]);
    assert_eq!(stage.arrive(1), "", "5 of 6, by the oldest");
    assert_eq!(stage.arrive(0), "+0:3", "3 + 2 + 1");
    assert_eq!(stage.arrive(2), "");
    assert_eq!(
        stage.finish(2, 0, 9.0),
        "+2:4",
        "2 + 1 + 3, the second 2 waits"
    );
    assert_eq!(stage.finish(1, 1, 10.0), "+1:2");
    assert_eq!([stage.arrive(1), stage.arrive(1), stage.arrive(1)], [""; 3]);
    let decision = stage.finish(0, 3, 20.0);
    assert_eq!(
        decision, "-2:4 +1:5 +1:6",
        "2 + 2 + 2 fill, and 3 does not go with them"
    );
    // Six jobs are looked at: the 1 behind 2, 3, 2, 2, 2 and 3 comes in as one of them leaves.
    assert_eq!([stage.arrive(2), stage.arrive(0)], ["", ""]);
    assert_eq!(stage.finish(1, 2, 30.0), "-1:6 +2:4 +0:9", "3 + 2 + 1");
}

#[test]
fn divisor_filling_refuses_what_does_not_divide() {
    let refused = DivisorFilling::new(&servers(6, &[1, 4])).unwrap_err();
    assert_eq!(refused, Unsuitable::Divisor("t1".into(), 4, 6));
    assert_eq!(
        ServerFilling::new(&section7()).unwrap_err(),
        Unsuitable::Resources(3)
    );
}

#[test]
fn srpt_orders_by_need_and_remaining_size() {
    let policy = ServerFillingSrpt::new(&powers()).unwrap();
    let mut stage = Stage::new(&powers(), policy, true);
    assert_eq!(stage.arrive_sized(0, 0.0, 4.0), "+0:0");
    // 4 · .5 is less than 1 · 3, and fills the server alone.
    assert_eq!(stage.arrive_sized(2, 1.0, 0.5), "-0:0 +2:1");
    assert_eq!(stage.finish(2, 1, 1.5), "+0:0");
    assert_eq!(stage.arrive_sized(1, 2.0, 1.0), "+1:2");
    // 2 · 1, 1 · 2.5, 4 · 2: the last one fills up the prefix, and is the largest.
    assert_eq!(stage.arrive_sized(2, 2.0, 2.0), "-1:2 -0:0 +2:3");
    assert_eq!(stage.arrive_sized(2, 3.0, 2.0), "", "behind the prefix");
    // 2 · .5 belongs before 4 · .6, of the four that runs; with 2 · 1 it fills the server.
    assert_eq!(stage.arrive_sized(1, 3.4, 0.5), "-2:3 +1:5 +1:2");
    assert_eq!(
        stage.finish(1, 5, 3.9),
        "-1:2 +2:3",
        "2 · .5 and 4 · .6 fill, and 4 is larger"
    );
}

/// What runs, as types and numbers of jobs.
fn running(system: &System) -> Vec<(usize, u64)> {
    let of_type = |i: usize| system.running_jobs(i).map(move |job| (i, job.number));
    let mut all: Vec<_> = (0..system.types()).flat_map(of_type).collect();
    all.sort_unstable();
    all
}

/// A rule that takes over in the middle serves what the same rule serves that saw all events.
fn takes_over<P: Policy + Clone>(workload: &Workload, rule: &P) {
    let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(3);
    let mut stage = Stage::new(workload, rule.clone(), true);
    for n in 0..600 {
        let i = random.random_range(0..3);
        if random.random_bool(0.45) {
            let now = stage.system.now() + 0.1;
            stage.arrive_sized(i, now, 10.0 + random.random_range(0.0..50.0));
        } else if stage.system.running(i) > 0 {
            stage.end(i);
        }
        if n % 10 == 0 {
            let before = running(&stage.system);
            stage.policy = rule.clone();
            stage.policy.take_over(&mut stage.system);
            stage.system.audit();
            assert_eq!(running(&stage.system), before);
        }
    }
    assert!((0..3).any(|i| stage.system.waiting(i) > 5));
}

#[test]
fn rules_that_fill_go_on_from_anywhere() {
    let workload = powers();
    takes_over(&workload, &ServerFilling::new(&workload).unwrap());
    takes_over(&workload, &DivisorFilling::new(&workload).unwrap());
    takes_over(&workload, &ServerFillingSrpt::new(&workload).unwrap());
}
