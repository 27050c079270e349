use super::*;

/// Ten cores: types of 3, 7 and 1. A seven runs until 5, a second one waits for it.
fn blocked(inflation: f64) -> Stage<dyn Policy> {
    let mut stage = backfilling(&cores(), Backfilling::easy(Estimates::Inflated(inflation)));
    assert_eq!(stage.arrive_sized(1, 0.0, 5.0), "+1:0");
    assert_eq!(stage.arrive_sized(1, 1.0, 1.0), "");
    stage
}

#[test]
fn easy_starts_what_the_head_leaves_over_or_what_ends_before_it() {
    let mut stage = blocked(1.0);
    // At 5 the head will leave 3 of 10.
    assert_eq!(stage.arrive_sized(2, 1.0, 100.0), "+2:2", "of 3 left over");
    assert_eq!(stage.arrive_sized(0, 1.0, 1.0), "", "2 are free");
    assert_eq!(stage.arrive_sized(2, 1.0, 100.0), "+2:4");
    assert_eq!(stage.arrive_sized(2, 1.0, 3.0), "+2:5", "ends at 4");
    assert_eq!(stage.finish(2, 5, 4.0), "");
    // The last left over.
    assert_eq!(stage.arrive_sized(2, 4.0, 50.0), "+2:6");
    assert_eq!(stage.finish(1, 0, 5.0), "+1:1", "the head");
    assert_eq!(stage.finish(1, 1, 6.0), "+0:3", "and who came next");
}

#[test]
fn easy_does_not_delay_the_head() {
    let mut stage = backfilling(&cores(), Backfilling::easy(Estimates::Inflated(1.0)));
    assert_eq!(stage.arrive_sized(0, 0.0, 16.0), "+0:0");
    assert_eq!(stage.arrive_sized(0, 0.0, 20.0), "+0:1");
    // At 16 it takes all that is free then.
    assert_eq!(stage.arrive_sized(1, 7.0, 1.0), "");
    assert_eq!(stage.arrive_sized(2, 7.0, 5.0), "+2:3");
    // It fits, and would last until 27.
    assert_eq!(stage.arrive_sized(0, 7.0, 20.0), "");
    // Until 16, when the head starts.
    assert_eq!(stage.arrive_sized(0, 7.0, 9.0), "+0:5");
    // The other still lasts too long.
    assert_eq!(stage.finish(2, 3, 12.0), "");
    assert_eq!(stage.finish(0, 0, 16.0), "");
    assert_eq!(stage.finish(0, 5, 16.0), "+1:2");
}

/// By limits it does what it does by sizes of the same length; who runs when it takes over is known by its limit,
/// too.
#[test]
fn easy_knows_limits() {
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

/// A job that comes without a limit is served in its turn, and nobody counts on its end.
#[test]
fn easy_serves_jobs_without_limits() {
    let mut stage = backfilling(&cores(), Backfilling::easy(Estimates::Limits));
    assert_eq!(stage.arrive(1), "+1:0", "without a limit");
    assert_eq!(stage.arrive(1), "");
    // Ends before that is known to.
    assert_eq!(stage.arrive_limited(0, 3.0, 1e9), "+0:2");
    assert_eq!(stage.arrive(2), "", "nothing is left");
    assert_eq!(stage.finish(0, 2, 4.0), "+2:3", "of 3 left over");
    assert_eq!(stage.finish(1, 0, 5.0), "+1:1");
}

/// By estimates that are too long the head is expected later than it comes.
#[test]
fn easy_goes_by_estimates() {
    let mut exact = blocked(1.0);
    assert_eq!(exact.arrive_sized(2, 1.0, 9.0), "+2:2", "of 3 left over");
    assert_eq!(exact.arrive_sized(2, 1.0, 9.0), "+2:3");
    // And none is left over.
    assert_eq!(exact.arrive_sized(2, 1.0, 9.0), "+2:4");
    assert_eq!(exact.finish(2, 4, 2.0), "", "earlier than it was said to");
    // So this one takes its place.
    assert_eq!(exact.arrive_sized(2, 2.0, 9.0), "+2:5");
    let mut inflated = blocked(1e9);
    assert_eq!(inflated.arrive_sized(0, 1.0, 9.0), "+0:2");
    // Far earlier than was expected.
    assert_eq!(inflated.finish(1, 0, 5.0), "+1:1");
}

fn conservative(inflation: f64) -> Stage<dyn Policy> {
    backfilling(
        &cores(),
        Backfilling::conservative(Estimates::Inflated(inflation)),
    )
}

#[test]
fn conservative_holds_to_reservations() {
    let mut stage = conservative(1.0);
    assert_eq!(stage.arrive_sized(1, 0.0, 5.0), "+1:0");
    assert_eq!(stage.arrive_sized(1, 1.0, 4.0), "", "from 5 to 9");
    assert_eq!(stage.arrive_sized(0, 1.0, 2.0), "+0:2", "until 3");
    // From 3 to 9, beside both sevens.
    assert_eq!(stage.arrive_sized(0, 1.0, 6.0), "");
    assert_eq!(stage.arrive_sized(2, 1.0, 1.0), "", "all is taken until 9");
    assert_eq!(stage.finish(0, 2, 3.0), "+0:3");
    assert_eq!(stage.finish(1, 0, 5.0), "+1:1");
    assert_eq!(stage.finish(1, 1, 9.0), "+2:4");
    assert_eq!(stage.finish(0, 3, 9.0), "");
}

/// A five runs until 10; then a six will start, and leave 4 of 10. A four for 20 does not delay it:
/// EASY lets it pass. But an eight comes behind the six, at 11.
#[test]
fn conservative_does_not_delay_those_behind_the_head() {
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

/// Estimates three times too long at most: as a job ends early, the plan moves up at once.
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

/// Sums of decimals are not exact: whoever is due starts at the event, and no later.
#[test]
fn conservative_starves_nobody_by_rounding() {
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
