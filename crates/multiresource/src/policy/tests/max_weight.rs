use super::*;
use crate::policy::MaxWeightConfig;
use crate::schedule::{Packing, Schedule, enumerate};
use rand::{RngExt, SeedableRng};

/// Maximal schedules: (0 0 10), (0 1 3), (1 0 7), (1 1 0), (2 0 4), (3 0 1).
#[test]
fn schedules_count_only_present_jobs() {
    let mut stage = Stage::new(&cores(), MaxWeight::plain(&cores()), true);
    assert_eq!([stage.arrive(0), stage.arrive(1)], ["+0:0", "+1:1"]);
    assert_eq!(stage.arrive(2), "-0:0 +2:2", "the first one wins");
    assert_eq!(stage.arrive(2), "+2:3", "1 · 1 + 2 · 2");
    assert_eq!(stage.arrive(1), "", "2 · 1 + 2 · 2");
    assert_eq!(stage.finish(2, 2, 9.0), "");
    assert_eq!(stage.finish(2, 3, 10.0), "+0:0");
}

#[test]
fn preempts_the_youngest_jobs() {
    let mut stage = Stage::new(&cores(), MaxWeight::plain(&cores()), true);
    for decision in ["+0:0", "+0:1", "+0:2"] {
        assert_eq!(stage.arrive(0), decision);
    }
    assert_eq!(stage.arrive(2), "+2:3");
    assert_eq!([stage.arrive(2), stage.arrive(2)], ["", "-0:2 +2:4 +2:5"]);
}

#[test]
fn running_schedule_has_maximum_weight() {
    let workload = section7();
    let all = enumerate(&Packing::new(&workload), 1000).schedules;
    let scanning = MaxWeight::plain(&workload);
    for policy in [scanning.clone(), scanning.bounding(&workload)] {
        let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
        let mut stage = Stage::new(&workload, policy, true);
        for _ in 0..3000 {
            let i = random.random_range(0..3);
            if random.random_bool(0.5) {
                stage.arrive(i);
            } else if stage.system.running(i) > 0 {
                stage.end(i);
            }
            let jobs = |i: usize| stage.system.present(i);
            let within = |u: &&Schedule| (0..3).all(|i| u64::from(u[i]) <= jobs(i));
            let worth = |u: &[u32]| -> u64 { (0..3).map(|i| jobs(i) * u64::from(u[i])).sum() };
            let best = all.iter().filter(within).map(|u| worth(u)).max();
            let running = [0, 1, 2].map(|i| stage.system.running(i));
            assert_eq!(Some(worth(&running)), best);
        }
        assert!((0..3).any(|i| stage.system.present(i) > 20));
    }
}

fn weighted(worths: [f64; 3], exponent: f64) -> MaxWeightConfig {
    MaxWeightConfig {
        worths: worths.into(),
        exponent,
    }
}

#[test]
fn weighted_schedule_has_maximum_weight() {
    let workload = section7();
    let all = enumerate(&Packing::new(&workload), 1000).schedules;
    let policy = weighted([0.625, 0.46875, 1.0], 0.3);
    let scanning = MaxWeight::weighted(&workload, &policy);
    for (rule, takes_over) in [
        (scanning.clone(), false),
        (scanning.clone().bounding(&workload), false),
        (scanning.clone(), true),
        (scanning.bounding(&workload), true),
    ] {
        let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
        let mut stage = Stage::new(&workload, rule.clone(), true);
        for _ in 0..1500 {
            let i = random.random_range(0..3);
            if random.random_bool(0.5) {
                stage.arrive(i);
            } else if stage.system.running(i) > 0 {
                stage.end(i);
            }
            if takes_over {
                *stage.policy = rule.clone();
                stage.policy.take_over(&mut stage.system);
            }
            let jobs = |i: usize| stage.system.present(i);
            let within = |u: &&Schedule| (0..3).all(|i| u64::from(u[i]) <= jobs(i));
            let weight = |i: usize| policy.worths[i] * (jobs(i) as f64).powf(policy.exponent);
            let worth = |u: &[u32]| -> f64 { (0..3).map(|i| weight(i) * f64::from(u[i])).sum() };
            let best = all.iter().filter(within);
            let best = best.map(|u| worth(u)).fold(0.0, f64::max);
            let running = [0, 1, 2].map(|i| stage.system.running(i));
            assert!(worth(&running) > best * (1.0 - 1e-5) - 1e-5, "{running:?}");
        }
        assert!((0..3).any(|i| stage.system.present(i) > 20));
    }
}
