use super::*;
use crate::policy::{Family, Guard, GuardedConfig, MaxWeightConfig, MaxWeightSetupConfig};

fn policy(setup_rate: f64, eagerness: f64, haste: f64) -> MaxWeightSetupConfig {
    MaxWeightSetupConfig {
        weights: MaxWeightConfig {
            worths: vec![0.25, 1.0],
            exponent: 1.0,
        },
        setup_rate,
        eagerness,
        haste,
    }
}

fn light_and_heavy() -> Workload {
    servers(4, &[1, 4])
}

fn held(stage: &Stage<dyn Policy>) -> [u32; 2] {
    [0, 1].map(|i| stage.system.held(i))
}

/// `n ≤ 4` light jobs weigh `n²/4`, the heavy job 1. A stop loses 0.1 for each of `n + 1` jobs, so
/// it needs `eagerness (n²/4 − 1) > 0.1 (n + 1)`: for 0.3, this is true for `n = 4` but not for 3.
#[test]
fn stops_a_job_when_the_gain_exceeds_the_setup_loss() {
    let workload = light_and_heavy();
    let mut stage = driven(&workload, &policy(10.0, 0.3, 1.0));
    assert_eq!(stage.arrive(1), "+1:0");
    assert_eq!([0; 3].map(|i| stage.arrive(i)), ["", "", ""]);
    assert_eq!(stage.arrive(0), "-1:0");
    assert_eq!(held(&stage), [0, 1]);
    assert_eq!(stage.system.clocks()[1], 10.0);
    assert_eq!(stage.ring(1), "+0:1 +0:2 +0:3 +0:4");
    assert_eq!(held(&stage), [0, 0]);
    assert_eq!(stage.system.clocks()[1], 0.0);
    // For 0.45 at 3: 0.45 · 1.25 > 0.1 · 4.
    let mut eager = driven(&workload, &policy(10.0, 0.45, 1.0));
    assert_eq!(eager.arrive(1), "+1:0");
    assert_eq!([0; 2].map(|i| eager.arrive(i)), ["", ""]);
    assert_eq!(eager.arrive(0), "-1:0");
}

#[test]
fn waits_for_completions_when_that_loses_less() {
    let workload = light_and_heavy();
    for (setup_rate, haste) in [(0.1, 1.0), (10.0, 0.0)] {
        let mut stage = driven(&workload, &policy(setup_rate, 5.0, haste));
        assert_eq!(stage.arrive(0), "+0:0");
        assert_eq!([stage.arrive(1), stage.arrive(1)], ["", ""]);
        assert_eq!(stage.arrive(0), "", "another light job would be in the way");
        assert_eq!(stage.end(0), "+1:1");
        assert_eq!(held(&stage), [0, 0]);
    }
}

#[test]
fn free_setups_give_max_weight() {
    let workload = section7();
    let weights = MaxWeightConfig {
        worths: vec![0.625, 0.46875, 1.0],
        exponent: 0.3,
    };
    let fast = MaxWeightSetupConfig {
        weights: weights.clone(),
        setup_rate: 1e12,
        eagerness: 1.0,
        haste: 1.0,
    };
    let mut stage = driven(&workload, &fast);
    let mut twin = driven(&workload, &weights);
    let mut random = Random(1);
    for _ in 0..2000 {
        let i = random.below(3);
        if random.below(2) == 0 {
            stage.arrive(i);
            twin.arrive(i);
        } else if stage.system.running(i) > 0 {
            stage.end(i);
            twin.end(i);
        }
        while let Some(clock) = (0..3).find(|i| stage.system.held(*i) > 0) {
            stage.ring(clock);
        }
        let running = |system: &System| [0, 1, 2].map(|i| system.running(i));
        let weight = |system: &System| -> f64 {
            let each = (0..3).map(|i| {
                let jobs = system.present(i) as f64;
                weights.worths[i] * jobs.powf(weights.exponent) * f64::from(system.running(i))
            });
            each.sum()
        };
        let [ours, best] = [&stage.system, &twin.system].map(weight);
        assert!(
            (ours - best).abs() <= 1e-5 * best,
            "{:?} {:?}",
            running(&stage.system),
            running(&twin.system)
        );
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        ((self.0 >> 33) % n) as usize
    }
}

#[test]
fn guard_takes_over_slots_in_setup() {
    let workload = light_and_heavy();
    let mut guard = msr("setup sequential-late none phantom");
    guard.schedules = vec![vec![4, 0], vec![0, 1]];
    let guarded = Family::Guarded(GuardedConfig {
        rule: Box::new(policy(10.0, 5.0, 3.0).into()),
        guard: Guard::Msr(guard),
        from: 5,
        until: 2,
    });
    let mut stage = driven(&workload, &guarded);
    assert_eq!(stage.arrive(1), "+1:0");
    assert_eq!([stage.arrive(0), stage.arrive(0)], ["", ""]);
    assert_eq!(stage.arrive(0), "-1:0", "decided by the rule");
    assert_eq!(stage.arrive(0), "", "the fifth job brings in the guard");
    assert_eq!(held(&stage), [0, 1]);
    assert_eq!(stage.system.clocks()[2], 10.0);
    assert_eq!(stage.ring(2), "+0:1 +0:2 +0:3 +0:4");
    assert_eq!(held(&stage), [0, 0]);
    assert_eq!([0; 3].map(|i| stage.end(i)), ["", "", ""]);
    assert_eq!(stage.system.running(0), 1);
    assert_eq!(stage.end(0), "+1:0", "the rule again");
}
