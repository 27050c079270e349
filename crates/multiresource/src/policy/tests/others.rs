use super::*;

#[test]
fn timers_start_jobs_and_dummies() {
    let policy = RandomizedTimers::new(&cores(), 1.0);
    let mut stage = Stage::new(&cores(), policy, false);
    assert_eq!(stage.system.clocks(), [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]);
    assert_eq!([stage.arrive(0), stage.arrive(0)], ["", ""]);
    let rate = 3.0_f64.ln().powf(0.9).exp();
    assert!((stage.system.clocks()[0] - rate).abs() < 1e-12, "exp f(2)");
    assert_eq!(stage.ring(0), "+0:0", "the oldest");
    assert_eq!(stage.ring(1), "", "a dummy of 7");
    assert_eq!(stage.system.free(0), 0);
    assert_eq!(stage.system.clocks(), [0.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    assert_eq!(stage.arrive(1), "+1:2", "replaces the dummy");
    assert_eq!(stage.system.clocks(), [0.0; 6]);
    assert_eq!(stage.end(1), "", "jobs start only by clocks");
    assert!(stage.system.clocks()[..3].iter().all(|rate| *rate > 0.0));
    assert_eq!([stage.ring(2), stage.ring(2), stage.ring(5)], ["", "", ""]);
    assert_eq!(stage.system.free(0), 6, "one dummy has gone");
}
