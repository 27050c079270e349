use rand::{RngExt, SeedableRng};

use super::*;

fn powers() -> Workload {
    servers(4, &[1, 2, 4])
}

#[test]
fn server_filling_serves_largest_jobs_of_the_prefix() {
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

#[test]
fn server_filling_idles_servers_without_powers_of_two() {
    let policy = ServerFilling::new(&cores()).unwrap();
    let mut stage = Stage::new(&cores(), policy, true);
    assert_eq!(stage.arrive(1), "+1:0");
    assert_eq!([stage.arrive(1), stage.arrive(0)], ["", ""]);
    assert_eq!(stage.end(1), "+1:1 +0:2");
    assert_eq!(stage.arrive(2), "");
    assert_eq!(stage.end(0), "+2:3");
    assert_eq!(stage.arrive(1), "");
}

#[test]
fn server_filling_rejects_several_resources() {
    let refused = ServerFilling::new(&section7()).unwrap_err().to_string();
    let is_named = refused.contains("one resource, but the workload has 3");
    assert!(is_named, "{refused}");
}

fn running(system: &System) -> Vec<(usize, u64)> {
    let of_type = |i: usize| system.running_jobs(i).map(move |job| (i, job.number));
    let mut all: Vec<_> = (0..system.types()).flat_map(of_type).collect();
    all.sort_unstable();
    all
}

#[test]
fn server_filling_takes_over_from_any_state() {
    let rule = ServerFilling::new(&powers()).unwrap();
    let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(3);
    let mut stage = Stage::new(&powers(), rule.clone(), true);
    for n in 0..600 {
        let i = random.random_range(0..3);
        if random.random_bool(0.45) {
            stage.arrive(i);
        } else if stage.system.running(i) > 0 {
            stage.end(i);
        }
        if n % 10 == 0 {
            let before = running(&stage.system);
            *stage.policy = rule.clone();
            stage.policy.take_over(&mut stage.system);
            stage.system.audit();
            assert_eq!(running(&stage.system), before);
        }
    }
    assert!((0..3).any(|i| stage.system.waiting(i) > 5));
}
