use super::*;

fn crowd(choices: Backfilling) -> Stage<dyn Policy> {
    let mut stage = backfilling(&cores(), choices);
    assert_eq!(stage.arrive(0), "+0:0");
    assert_eq!(stage.arrive(0), "+0:1");
    assert_eq!(stage.arrive(1), "", "4 cores are free");
    assert_eq!(stage.arrive(2), "+2:3");
    assert_eq!(stage.arrive(0), "+0:4");
    assert_eq!([stage.arrive(2), stage.arrive(0)], ["", ""]);
    stage
}

#[test]
fn largest_fitting_job_starts_first() {
    let mut stage = crowd(Backfilling::MOST_SERVERS_FIRST);
    assert_eq!(stage.end(0), "+0:6", "the type-0 job, not the older one");
    assert_eq!(stage.end(0), "+2:5");
}

#[test]
fn smallest_fitting_job_starts_first() {
    let mut stage = crowd(Backfilling::LEAST_SERVERS_FIRST);
    assert_eq!(stage.end(0), "+2:5");
    assert_eq!(stage.end(0), "+0:6");
    let mut stage = backfilling(&cores(), Backfilling::LEAST_SERVERS_FIRST);
    assert_eq!([stage.arrive(1), stage.arrive(0)], ["+1:0", "+0:1"]);
    for i in [1, 0, 2] {
        assert_eq!(stage.arrive(i), "");
    }
    assert_eq!(stage.end(1), "+2:4 +0:3", "the type-1 job waits");
}

#[test]
fn equal_needs_start_in_arrival_order() {
    let workload = servers(4, &[2, 4, 2]);
    let mut stage = backfilling(&workload, Backfilling::MOST_SERVERS_FIRST);
    assert_eq!(stage.arrive(1), "+1:0");
    for i in [2, 0, 0, 1] {
        assert_eq!(stage.arrive(i), "");
    }
    assert_eq!(stage.end(1), "+1:4");
    assert_eq!(stage.end(1), "+2:1 +0:2");
}

#[test]
fn largest_need_uses_dominant_share() {
    let mut stage = backfilling(&section7(), Backfilling::MOST_SERVERS_FIRST);
    for i in [2, 2, 1, 0, 2] {
        stage.arrive(i);
    }
    assert_eq!(stage.end(2), "+2:4");
    assert_eq!(stage.end(2), "+0:3 +1:2");
}

#[test]
fn smallest_dominant_share_starts_first() {
    let mut stage = backfilling(&section7(), Backfilling::LEAST_SERVERS_FIRST);
    for i in [2, 2, 2, 0, 1] {
        stage.arrive(i);
    }
    assert_eq!(stage.end(2), "+1:4 +0:3");
}

#[test]
fn strict_priority_does_not_pass_blocked_jobs() {
    let text = "kind: multiresource\ntime_unit: s\nserver: {capacity: {cpu: 10}}\njobs:
  - {name: three, demand: {cpu: 3}, arrival_rate: 1, mean_size: 1}
  - {name: seven, demand: {cpu: 7}, arrival_rate: 1, mean_size: 1, priority: 5}\n";
    let workload = Workload::parse(text, "priorities").unwrap().workload;
    for (strict, ends) in [(false, ["+0:4", "", "+1:3"]), (true, ["", "+1:3", "+0:4"])] {
        let name = if strict {
            "strict-priority"
        } else {
            "priority"
        };
        let rule = NAMED_RULES.iter().find(|rule| rule.name == name).unwrap();
        let policy = (rule.settings)(&workload.clone().into(), None).unwrap();
        let mut stage = driven(&workload, &policy);
        let arrive = [0, 0, 0, 1, 0].map(|i| stage.arrive(i));
        assert_eq!(arrive, ["+0:0", "+0:1", "+0:2", "", ""]);
        assert_eq!([0, 0, 0].map(|i| stage.end(i)), ends, "strict: {strict}");
    }
}
