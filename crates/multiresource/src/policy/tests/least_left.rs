use super::*;
use crate::policy::LeastLeftFirst;

#[test]
fn least_left_first_preempts_jobs_with_more_remaining_work() {
    let workload = servers(3, &[1, 2]);
    let mut rule = LeastLeftFirst::new(&workload);
    let mut system = System::new(&workload, 0, true);
    let mut arrive = |i: usize, time: f64, size: f64| {
        system.arrive_sized(i, time, size);
        rule.react(Event::Arrival(i), &mut system);
        assert!(system.violation().is_none());
        [0, 1].map(|i| system.running_jobs(i).map(|job| job.number).min())
    };
    assert_eq!(arrive(1, 0.0, 3.0), [None, Some(0)]);
    assert_eq!(arrive(0, 0.0, 5.5), [Some(1), Some(0)]);
    assert_eq!(arrive(0, 1.0, 3.0), [Some(2), Some(0)]);
    // Of `.6 × 1`, `3 × 1`, `2 × 2` and `4.5 × 1`, the third does not fit, but the fourth does.
    assert_eq!(arrive(0, 1.0, 0.6), [Some(1), None]);
    rule.take_over(&mut system);
    assert_eq!([system.running(0), system.running(1)], [3, 0]);
}
