use super::*;
use crate::multiresource::schedule::{Packing, Schedule, enumerate};
use rand::{RngExt, SeedableRng};

/// Types of 3, 7 and 1 on ten cores: maximal are (0 0 10), (0 1 3), (1 0 7), (1 1 0), (2 0 4), (3 0 1).
#[test]
fn capped_counts_only_jobs_that_are_there() {
    let mut stage = Stage::new(&cores(), MaxWeight::capped(&cores()), true);
    assert_eq!([stage.arrive(0), stage.arrive(1)], ["+0:0", "+1:1"]);
    assert_eq!(stage.arrive(2), "-0:0 +2:2", "all are worth 2: the first");
    assert_eq!(stage.arrive(2), "+2:3", "1 · 1 + 2 · 2");
    assert_eq!(stage.arrive(1), "", "2 · 1 + 2 · 2");
    assert_eq!(
        stage.finish(2, 2, 9.0),
        "",
        "2 · 1 + 1 · 1, as 1 · 1 + 2 · 1"
    );
    assert_eq!(stage.finish(2, 3, 10.0), "+0:0");
}

#[test]
fn uncapped_serves_schedules_that_there_are_no_jobs_for() {
    let mut stage = Stage::new(&cores(), MaxWeight::uncapped(&cores()), true);
    assert_eq!(stage.arrive(0), "+0:0", "1 · 3");
    assert_eq!(stage.arrive(1), "", "1 · 3 is more than 1 · 1 + 1 · 1");
    assert_eq!(
        stage.arrive(2),
        "-0:0 +2:2",
        "1 · 10, and nine of them idle"
    );
}

#[test]
fn the_youngest_are_preempted() {
    let mut stage = Stage::new(&cores(), MaxWeight::capped(&cores()), true);
    for decision in ["+0:0", "+0:1", "+0:2"] {
        assert_eq!(stage.arrive(0), decision);
    }
    assert_eq!(stage.arrive(2), "+2:3");
    assert_eq!([stage.arrive(2), stage.arrive(2)], ["", "-0:2 +2:4 +2:5"]);
}

/// Whatever comes and goes, what runs is worth as much as any schedule within Q: by scanning, and
/// by branch and bound.
#[test]
fn what_runs_is_the_maximum() {
    let workload = section7();
    let all = enumerate(&Packing::new(&workload), 1000).schedules;
    let scanning = MaxWeight::capped(&workload);
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
