use super::*;

fn blocked(inflation: f64) -> Stage<dyn Policy> {
    let mut stage = backfilling(&cores(), Backfilling::easy(Estimates::Inflated(inflation)));
    assert_eq!(stage.arrive_sized(1, 0.0, 5.0), "+1:0");
    assert_eq!(stage.arrive_sized(1, 1.0, 1.0), "");
    stage
}

#[test]
fn easy_backfills_within_spare_capacity_or_shadow_time() {
    let mut stage = blocked(1.0);
    assert_eq!(stage.arrive_sized(2, 1.0, 100.0), "+2:2", "3 are left over");
    assert_eq!(stage.arrive_sized(0, 1.0, 1.0), "", "2 are free");
    assert_eq!(stage.arrive_sized(2, 1.0, 100.0), "+2:4");
    assert_eq!(stage.arrive_sized(2, 1.0, 3.0), "+2:5", "it ends at 4");
    assert_eq!(stage.finish(2, 5, 4.0), "");
    assert_eq!(stage.arrive_sized(2, 4.0, 50.0), "+2:6");
    assert_eq!(stage.finish(1, 0, 5.0), "+1:1", "the head");
    assert_eq!(stage.finish(1, 1, 6.0), "+0:3", "then the next arrival");
}

#[test]
fn easy_does_not_delay_the_head() {
    let mut stage = backfilling(&cores(), Backfilling::easy(Estimates::Inflated(1.0)));
    assert_eq!(stage.arrive_sized(0, 0.0, 16.0), "+0:0");
    assert_eq!(stage.arrive_sized(0, 0.0, 20.0), "+0:1");
    assert_eq!(stage.arrive_sized(1, 7.0, 1.0), "");
    assert_eq!(stage.arrive_sized(2, 7.0, 5.0), "+2:3");
    assert_eq!(stage.arrive_sized(0, 7.0, 20.0), "");
    assert_eq!(stage.arrive_sized(0, 7.0, 9.0), "+0:5");
    assert_eq!(stage.finish(2, 3, 12.0), "");
    assert_eq!(stage.finish(0, 0, 16.0), "");
    assert_eq!(stage.finish(0, 5, 16.0), "+1:2");
}

#[test]
fn easy_uses_limits() {
    let mut stage = backfilling(&cores(), Backfilling::easy(Estimates::Limits));
    assert_eq!(stage.arrive_limited(0, 0.0, 16.0), "+0:0");
    assert_eq!(stage.arrive_limited(0, 0.0, 20.0), "+0:1");
    assert_eq!(stage.arrive_limited(1, 7.0, 1.0), "");
    assert_eq!(stage.arrive_limited(0, 7.0, 9.5), "", "until 16.5");
    assert_eq!(stage.arrive_limited(0, 7.0, 9.0), "+0:4", "until 16");
    assert_eq!(stage.arrive_limited(2, 8.0, 8.5), "", "until 16.5");
    stage.policy = Backfilling::easy(Estimates::Limits).rule(&cores(), 1);
    stage.system.advance(8.0);
    stage.policy.take_over(&mut stage.system);
    assert_eq!(stage.arrive_limited(2, 8.0, 8.0), "+2:6", "until 16");
    assert_eq!(stage.finish(0, 0, 16.0), "");
    assert_eq!(stage.finish(0, 4, 16.0), "");
    assert_eq!(stage.finish(2, 6, 16.0), "+1:2");
}

#[test]
fn easy_serves_jobs_without_limits() {
    let mut stage = backfilling(&cores(), Backfilling::easy(Estimates::Limits));
    assert_eq!(stage.arrive(1), "+1:0", "without a limit");
    assert_eq!(stage.arrive(1), "");
    assert_eq!(stage.arrive_limited(0, 3.0, 1e9), "+0:2");
    assert_eq!(stage.arrive(2), "", "no capacity is left over");
    assert_eq!(stage.finish(0, 2, 4.0), "+2:3", "3 are left over");
    assert_eq!(stage.finish(1, 0, 5.0), "+1:1");
}

#[test]
fn easy_uses_estimates() {
    let mut exact = blocked(1.0);
    assert_eq!(exact.arrive_sized(2, 1.0, 9.0), "+2:2", "3 are left over");
    assert_eq!(exact.arrive_sized(2, 1.0, 9.0), "+2:3");
    assert_eq!(exact.arrive_sized(2, 1.0, 9.0), "+2:4");
    assert_eq!(exact.finish(2, 4, 2.0), "", "it ends before its estimate");
    assert_eq!(exact.arrive_sized(2, 2.0, 9.0), "+2:5");
    let mut inflated = blocked(1e9);
    assert_eq!(inflated.arrive_sized(0, 1.0, 9.0), "+0:2");
    assert_eq!(inflated.finish(1, 0, 5.0), "+1:1");
}

fn conservative(inflation: f64) -> Stage<dyn Policy> {
    backfilling(
        &cores(),
        Backfilling::conservative(Estimates::Inflated(inflation)),
    )
}

#[test]
fn conservative_keeps_reservations() {
    let mut stage = conservative(1.0);
    assert_eq!(stage.arrive_sized(1, 0.0, 5.0), "+1:0");
    assert_eq!(stage.arrive_sized(1, 1.0, 4.0), "", "from 5 to 9");
    assert_eq!(stage.arrive_sized(0, 1.0, 2.0), "+0:2", "until 3");
    assert_eq!(stage.arrive_sized(0, 1.0, 6.0), "");
    assert_eq!(stage.arrive_sized(2, 1.0, 1.0), "", "planned until 9");
    assert_eq!(stage.finish(0, 2, 3.0), "+0:3");
    assert_eq!(stage.finish(1, 0, 5.0), "+1:1");
    assert_eq!(stage.finish(1, 1, 9.0), "+2:4");
    assert_eq!(stage.finish(0, 3, 9.0), "");
}

/// With EASY, a job that needs four servers passes the head and delays the job behind the head.
#[test]
fn conservative_protects_jobs_behind_the_head() {
    let workload = servers(10, &[5, 6, 8, 4]);
    let mut easy = backfilling(&workload, Backfilling::easy(Estimates::Inflated(1.0)));
    let mut careful = backfilling(
        &workload,
        Backfilling::conservative(Estimates::Inflated(1.0)),
    );
    for (i, size, decision) in [(0, 10.0, "+0:0"), (1, 1.0, ""), (2, 5.0, "")] {
        assert_eq!(easy.arrive_sized(i, 0.0, size), decision);
        assert_eq!(careful.arrive_sized(i, 0.0, size), decision);
    }
    assert_eq!(easy.arrive_sized(3, 0.0, 20.0), "+3:3");
    assert_eq!(careful.arrive_sized(3, 0.0, 20.0), "", "from 16 on");
    assert_eq!(careful.arrive_sized(3, 0.0, 11.0), "+3:4", "until 11");
    assert_eq!(careful.finish(0, 0, 10.0), "+1:1");
    assert_eq!(careful.finish(1, 1, 11.0), "");
    assert_eq!(careful.finish(3, 4, 11.0), "+2:2");
    assert_eq!(careful.finish(2, 2, 16.0), "+3:3");
}

#[test]
fn conservative_compresses_the_plan_when_a_job_ends_early() {
    let mut stage = conservative(3.0);
    assert_eq!(stage.arrive_sized(1, 0.0, 5.0), "+1:0");
    assert_eq!(stage.arrive_sized(1, 0.0, 5.0), "");
    assert_eq!(stage.arrive_sized(0, 0.0, 50.0), "+0:2");
    assert_eq!(stage.arrive_sized(0, 0.0, 5.0), "");
    assert_eq!(stage.arrive_sized(1, 0.0, 5.0), "");
    assert_eq!(stage.finish(1, 0, 5.0), "+1:1");
    assert_eq!(stage.finish(0, 2, 9.0), "+0:3");
    assert_eq!(stage.finish(1, 1, 10.0), "+1:4");
}

#[test]
fn conservative_starts_due_jobs_despite_rounding() {
    let mut stage = conservative(1.0);
    assert_eq!(stage.arrive_sized(1, 0.0, 0.1), "+1:0");
    for number in 1..200 {
        assert_eq!(stage.arrive_sized(1, 0.05, 0.1), "", "{number}");
    }
    let mut now = 0.0;
    for number in 0..199 {
        now += 0.1;
        let next = format!("+1:{}", number + 1);
        assert_eq!(stage.finish(1, number, now), next, "at {now}");
    }
}
