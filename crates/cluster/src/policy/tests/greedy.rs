use super::*;

/// Six of ten cores in use, then three each for the large and the small.
fn crowd<P: Policy>(policy: P) -> Stage<P> {
    let mut stage = Stage::new(&cores(), policy, false);
    assert_eq!(stage.arrive(0), "+0:0");
    assert_eq!(stage.arrive(0), "+0:1");
    assert_eq!(stage.arrive(1), "", "4 cores are free");
    assert_eq!(stage.arrive(2), "+2:3");
    assert_eq!(stage.arrive(0), "+0:4");
    assert_eq!([stage.arrive(2), stage.arrive(0)], ["", ""]);
    stage
}

#[test]
fn the_largest_that_fits_comes_first() {
    let mut stage = crowd(ByNeed::largest_first(&cores()));
    assert_eq!(stage.end(0), "+0:6", "three, and not the older one");
    assert_eq!(stage.end(0), "+2:5");
}

#[test]
fn the_smallest_that_fits_comes_first() {
    let mut stage = crowd(ByNeed::smallest_first(&cores()));
    assert_eq!(stage.end(0), "+2:5");
    assert_eq!(stage.end(0), "+0:6");
    let mut stage = Stage::new(&cores(), ByNeed::smallest_first(&cores()), false);
    assert_eq!([stage.arrive(1), stage.arrive(0)], ["+1:0", "+0:1"]);
    for i in [1, 0, 2] {
        assert_eq!(stage.arrive(i), "");
    }
    assert_eq!(stage.end(1), "+2:4 +0:3", "and the seven wait on");
}

#[test]
fn of_equal_needs_the_oldest_comes_first() {
    let workload = servers(4, &[2, 4, 2]);
    let mut stage = Stage::new(&workload, ByNeed::largest_first(&workload), false);
    assert_eq!(stage.arrive(1), "+1:0");
    for i in [2, 0, 0, 1] {
        assert_eq!(stage.arrive(i), "");
    }
    assert_eq!(stage.end(1), "+1:4");
    assert_eq!(stage.end(1), "+2:1 +0:2");
}

/// Dominant shares in section 7: 7/15, 4/20, 10/20.
#[test]
fn need_is_the_dominant_share_of_several_resources() {
    let policy = ByNeed::largest_first(&section7());
    let mut stage = Stage::new(&section7(), policy, false);
    for i in [2, 2, 1, 0, 2] {
        stage.arrive(i);
    }
    assert_eq!(stage.end(2), "+2:4");
    // Both fit beside the one that runs.
    assert_eq!(stage.end(2), "+0:3 +1:2");
}

#[test]
fn the_least_dominant_share_comes_first() {
    let policy = ByNeed::smallest_first(&section7());
    let mut stage = Stage::new(&section7(), policy, false);
    for i in [2, 2, 2, 0, 1] {
        stage.arrive(i);
    }
    assert_eq!(stage.end(2), "+1:4 +0:3");
}
