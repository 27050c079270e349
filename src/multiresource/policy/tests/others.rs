use super::*;

/// Nobody starts but by a clock; who rings without a job leaves a dummy.
#[test]
fn timers_start_jobs_and_dummies() {
    let policy = RandomizedTimers::new(&cores(), Timers::default());
    let mut stage = Stage::new(&cores(), policy, false);
    assert_eq!(stage.system.clocks(), [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]);
    assert_eq!([stage.arrive(0), stage.arrive(0)], ["", ""]);
    let rate = 3.0_f64.ln().powf(0.9).exp();
    assert!((stage.system.clocks()[0] - rate).abs() < 1e-12, "exp f(2)");
    assert_eq!(stage.ring(0), "+0:0", "the oldest");
    assert_eq!(stage.ring(1), "", "a dummy of 7");
    assert_eq!(stage.system.free(0), 0);
    assert_eq!(stage.system.clocks(), [0.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    assert_eq!(stage.arrive(1), "+1:2", "in the dummy's place");
    assert_eq!(stage.system.clocks(), [0.0; 6]);
    assert_eq!(stage.end(1), "", "the race of those that fit is on");
    assert!(stage.system.clocks()[..3].iter().all(|rate| *rate > 0.0));
    assert_eq!([stage.ring(2), stage.ring(2), stage.ring(5)], ["", "", ""]);
    assert_eq!(stage.system.free(0), 6, "one dummy has gone");
}

#[test]
fn timers_without_dummies_stand_still_for_types_without_jobs() {
    let timers = Timers {
        dummies: false,
        ..Timers::default()
    };
    let mut stage = Stage::new(&cores(), RandomizedTimers::new(&cores(), timers), false);
    stage.arrive(2);
    let rates = stage.system.clocks();
    assert!(rates[2] > 0.0 && rates[..2] == [0.0, 0.0]);
}

/// Twelve servers, needs of 1 and 4 with half the load each. At ψ = 1 they would own 6 and 4, and
/// leave 2; the largest scale that leaves 4 helpers is just below 5/6, for 4 slots of one server.
fn split() -> Workload {
    let text = "kind: multiresource\ntime_unit: s\nserver: {capacity: {cpu: 12}}\njobs:
  - {name: one, demand: {cpu: 1}, arrival_rate: 4, mean_size: 1}
  - {name: four, demand: {cpu: 4}, arrival_rate: 1, mean_size: 1}\n";
    Workload::parse(text, "split").unwrap().workload
}

#[test]
fn balanced_splitting_leaves_helpers_for_the_largest() {
    let policy = BalancedSplitting::new(&split()).unwrap();
    assert_eq!(policy.split(), (&[4, 1][..], 4));
    let all = servers(4, &[1, 4]);
    let policy = BalancedSplitting::new(&all).unwrap();
    assert_eq!(policy.split(), (&[0, 0][..], 4), "nothing is owned: FCFS");
    let one = servers(8, &[1]);
    assert_eq!(BalancedSplitting::new(&one).unwrap().split(), (&[7][..], 1));
}

#[test]
fn balanced_splitting_serves_slots_by_type_and_helpers_in_order() {
    let policy = BalancedSplitting::new(&split()).unwrap();
    let mut stage = Stage::new(&split(), policy, false);
    assert_eq!([stage.arrive(1), stage.arrive(1)], ["+1:0", "+1:1"]);
    assert_eq!(stage.arrive(1), "", "slot and helpers are busy");
    for decision in ["+0:3", "+0:4", "+0:5", "+0:6", ""] {
        assert_eq!(stage.arrive(0), decision);
    }
    assert_eq!(stage.finish(1, 1, 20.0), "+1:2", "helpers go to the head");
    assert_eq!(stage.arrive(0), "");
    assert_eq!(
        stage.finish(0, 5, 30.0),
        "+0:7",
        "a slot to the oldest of its type"
    );
    assert_eq!(
        stage.finish(1, 0, 31.0),
        "",
        "the slot of four is not for ones"
    );
    assert_eq!(stage.arrive(1), "+1:9");
    assert_eq!(stage.finish(1, 2, 50.0), "+0:8");
}
