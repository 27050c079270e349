#![allow(clippy::unwrap_used)]
mod estimates;
mod thresholds;

use super::*;
use crate::workload::Processor;
use synth_simulation::{RandomStream, Streams};

const RULE: Dispatch = Dispatch {
    first_percentile: 50.0,
    tight_percentile: 90.0,
    quantile: Some(0.8),
    queued: WorkAhead::All,
    first_each: None,
    reserve: true,
    patience: 48.0,
};

fn request(percentile: f64, end: Option<f64>) -> Request {
    let cpu = Host {
        count: 2,
        wanted: 1000.0,
        queue: 10.0,
        busy: 1.0,
        first: 0,
        idle: 0,
    };
    Request {
        now: 100.0,
        delay: 0.0,
        processors: [cpu, Host::default()],
        versions: vec![UsableVersion {
            application: 0,
            version: 7,
            processor: Processor::Cpu,
            speed: 0.5,
            percentile,
            ceiling: 100.0,
        }],
        jobs: vec![Candidate {
            id: 1,
            application: 0,
            size: 2.0,
            end,
            waiting: 0.0,
            had: false,
        }],
    }
}

fn verdict(rule: &Dispatch, request: &Request) -> Verdict {
    decide(rule, request)[0].verdict
}

fn sent(deadline: f64, tight: bool, why: DispatchReason) -> Verdict {
    Verdict::Sent {
        version: 7,
        deadline,
        tight,
        why,
    }
}

/// The job runs for four hours, so that it ends at 114 after the queue, or at 105 after tight jobs.
#[test]
fn each_branch_of_the_decision() {
    let told = verdict(&RULE, &request(60.0, None));
    assert_eq!(told, sent(114.0, false, DispatchReason::First));
    let mut late = request(60.0, None);
    late.delay = 3.0;
    assert_eq!(
        verdict(&RULE, &late),
        sent(117.0, false, DispatchReason::First)
    );
    let right = Verdict::Refused(Refusal::NotFirst {
        percentile: 50.0,
        threshold: 50.0,
    });
    assert_eq!(verdict(&RULE, &request(50.0, None)), right);
    let told = verdict(&RULE, &request(0.0, Some(115.0)));
    assert_eq!(told, sent(115.0, false, DispatchReason::InTime));
    let late = Verdict::Refused(Refusal::TooLate {
        earliest: 114.0,
        end: 114.0,
        percentile: 90.0,
        threshold: 90.0,
    });
    assert_eq!(verdict(&RULE, &request(90.0, Some(114.0))), late);
    let told = verdict(&RULE, &request(91.0, Some(114.0)));
    assert_eq!(told, sent(114.0, false, DispatchReason::Above));

    let mut literal = RULE;
    literal.queued = WorkAhead::Tight;
    let told = verdict(&literal, &request(60.0, None));
    assert_eq!(told, sent(105.0, true, DispatchReason::First));
    let told = verdict(&literal, &request(0.0, Some(106.0)));
    assert_eq!(told, sent(106.0, true, DispatchReason::InTime));
    let told = verdict(&literal, &request(91.0, Some(102.0)));
    assert_eq!(told, sent(105.0, true, DispatchReason::Above));

    for (queue, busy, idle, deadline) in [
        (10.0, 2.5, 1, 106.5),
        (10.0, 2.5, 2, 106.5),
        (0.5, 2.0, 0, 106.0),
        (0.0, 0.0, 2, 104.0),
    ] {
        for (percentile, end) in [(60.0, None), (91.0, Some(102.0))] {
            let mut request = request(percentile, end);
            let host = &mut request.processors[0];
            (host.queue, host.busy, host.idle) = (queue, busy, idle);
            let found = verdict(&literal, &request);
            let is_sent =
                matches!(found, Verdict::Sent { deadline: d, tight: false, .. } if d == deadline);
            assert!(is_sent, "queue {queue}, BT {busy}, {idle} idle: {found:?}");
        }
    }

    let with = |change: fn(&mut Request)| {
        let mut request = request(60.0, None);
        change(&mut request);
        verdict(&RULE, &request)
    };
    let told = with(|r| r.jobs[0].had = true);
    assert_eq!(told, Verdict::Refused(Refusal::Had));
    let told = with(|r| r.jobs[0].application = 1);
    assert_eq!(told, Verdict::Refused(Refusal::NoVersion));
    let told = with(|r| r.processors[0].wanted = 0.0);
    assert_eq!(told, Verdict::Refused(Refusal::NoRoom));
    let told = with(|r| r.versions[0].processor = Processor::Gpu);
    assert_eq!(told, Verdict::Refused(Refusal::NoVersion));
    let mut one_each = RULE;
    one_each.first_each = Some(1);
    let mut full = request(60.0, None);
    full.processors[0].first = 2;
    let told = verdict(&one_each, &full);
    assert_eq!(told, Verdict::Refused(Refusal::EnoughFirst));
    full.processors[0].first = 1;
    assert_eq!(
        verdict(&one_each, &full),
        sent(114.0, false, DispatchReason::First)
    );
}

#[test]
fn thresholds_fall_and_leave_enough_hosts() {
    for (waiting, expected) in [
        (0.0, 50.0),
        (48.0, 50.0),
        (72.0, 25.0),
        (96.0, -1.0),
        (1e9, -1.0),
    ] {
        assert_eq!(RULE.threshold(50.0, 100.0, waiting), expected, "{waiting}");
    }
    assert_eq!(RULE.threshold(50.0, 30.0, 0.0), 30.0);
    let mut waited = request(0.0, None);
    waited.jobs[0].waiting = 96.0;
    assert!(matches!(verdict(&RULE, &waited), Verdict::Sent { .. }));
    for n in [3, 10, 250, 1000] {
        let all: Vec<f64> = (0..n).map(|i| f64::from(i % 7) * 10.0).collect();
        let above = all.iter().filter(|p| **p > ceiling(&all)).count();
        assert!(above >= 3.max(n as usize / 100), "{n}: {above}");
    }
    assert!(ceiling(&[99.0, 98.0]) < 0.0);
}

#[test]
fn answers_requests_in_two_passes_with_growing_load() {
    let mut request = request(60.0, None);
    let job = request.jobs[0];
    request.processors[0].wanted = 9.0;
    let bounded = |id| Candidate {
        id,
        end: Some(1000.0),
        ..job
    };
    request.jobs = vec![bounded(1), bounded(2), job, Candidate { id: 4, ..job }];
    request.jobs[2].id = 3;
    let answers: Vec<Verdict> = decide(&RULE, &request).iter().map(|a| a.verdict).collect();
    assert_eq!(answers[2], sent(114.0, false, DispatchReason::First));
    assert_eq!(answers[3], sent(116.0, false, DispatchReason::First));
    assert_eq!(answers[0], sent(1000.0, false, DispatchReason::InTime));
    assert_eq!(answers[1], Verdict::Refused(Refusal::NoRoom));
}

#[test]
fn uses_the_first_version_that_passes() {
    let mut request = request(60.0, Some(1000.0));
    request.processors[1] = Host {
        count: 1,
        wanted: 0.1,
        ..Host::default()
    };
    let cpu = request.versions[0];
    request.versions.push(UsableVersion {
        version: 8,
        processor: Processor::Gpu,
        speed: 20.0,
        ..cpu
    });
    let job = request.jobs[0];
    request.jobs.push(Candidate { id: 2, ..job });
    let version = |answer: &Answer| match answer.verdict {
        Verdict::Sent { version, .. } => version,
        Verdict::Refused(why) => panic!("{why:?}"),
    };
    let answers = decide(&RULE, &request);
    assert_eq!((version(&answers[0]), version(&answers[1])), (8, 7));
    request.processors[1].queue = 500.0;
    request.jobs.truncate(1);
    assert_eq!(version(&decide(&RULE, &request)[0]), 7);
}

#[test]
fn missing_processor_types_give_no_reason() {
    let mut request = request(60.0, Some(1000.0));
    request.processors[0].wanted = 0.0;
    request.processors[1] = Host::default();
    let cpu = request.versions[0];
    let gpu = UsableVersion {
        version: 8,
        processor: Processor::Gpu,
        ..cpu
    };
    request.versions.insert(0, gpu);
    assert_eq!(verdict(&RULE, &request), Verdict::Refused(Refusal::NoRoom));
}

#[test]
fn requests_are_checked() {
    let faulty = |change: fn(&mut Request)| {
        let mut request = request(60.0, None);
        assert_eq!(request.check(), Ok(()));
        change(&mut request);
        request.check().unwrap_err()
    };
    let second = faulty(|request| request.versions.push(request.versions[0]));
    assert!(second.contains("a second version"), "{second}");
    let idle = faulty(|request| request.processors[0].idle = 99);
    assert!(idle.contains("99 idle"), "{idle}");
    let ceiling = faulty(|request| request.versions[0].ceiling = 500.0);
    assert!(ceiling.contains("ceiling"), "{ceiling}");
}

#[test]
fn versions_in_time_wait_for_the_second_pass() {
    let mut request = request(99.0, Some(110.0));
    request.processors[1] = Host {
        count: 1,
        wanted: 50.0,
        ..Host::default()
    };
    let cpu = request.versions[0];
    request.versions.push(UsableVersion {
        version: 8,
        processor: Processor::Gpu,
        speed: 2.0,
        percentile: 0.0,
        ..cpu
    });
    let expected = Verdict::Sent {
        version: 8,
        deadline: 110.0,
        tight: false,
        why: DispatchReason::InTime,
    };
    assert_eq!(verdict(&RULE, &request), expected);
}

#[test]
fn idle_processors_take_a_job_each() {
    let mut request = request(60.0, Some(105.0));
    request.processors[0] = Host {
        wanted: 0.0,
        idle: 2,
        ..request.processors[0]
    };
    let job = request.jobs[0];
    request.jobs = (0..3).map(|id| Candidate { id, ..job }).collect();
    let answers: Vec<Verdict> = decide(&RULE, &request).iter().map(|a| a.verdict).collect();
    let in_time = sent(105.0, false, DispatchReason::InTime);
    let found = answers;
    assert_eq!(found, [in_time, in_time, Verdict::Refused(Refusal::NoRoom)]);
}

fn random(stream: &mut RandomStream) -> Request {
    let mut up_to = |n: f64| (stream.uniform() * n).floor();
    let mut host = || Host {
        count: 1 + up_to(8.0) as u32,
        wanted: up_to(60.0),
        queue: up_to(30.0),
        busy: up_to(5.0),
        first: up_to(3.0) as u32,
        idle: (up_to(3.0) as u32).saturating_sub(1),
    };
    let processors = [host(), host()];
    let mut versions = Vec::new();
    for application in 0..3 {
        for processor in Processor::ALL {
            if up_to(3.0) > 0.0 {
                versions.push(UsableVersion {
                    application,
                    version: versions.len() as u32,
                    processor,
                    speed: 0.25 + up_to(8.0) / 4.0,
                    percentile: up_to(101.0),
                    ceiling: up_to(101.0),
                });
            }
        }
    }
    let delay = up_to(9.0);
    let jobs = (0..20).map(|_| Candidate {
        id: up_to(16.0) as u64,
        application: up_to(3.0) as u32,
        size: 1.0 + up_to(10.0),
        end: (up_to(2.0) > 0.0).then(|| 100.0 + up_to(50.0)),
        waiting: up_to(100.0),
        had: up_to(8.0) == 0.0,
    });
    Request {
        now: 100.0,
        delay,
        processors,
        jobs: jobs.collect(),
        versions,
    }
}

fn rules() -> [Dispatch; 3] {
    let mut literal = RULE;
    literal.queued = WorkAhead::Tight;
    let mut spread = RULE;
    spread.first_each = Some(1);
    [RULE, literal, spread]
}

#[test]
fn answers_satisfy_invariants() {
    let mut stream = Streams::new(1, 0).arrivals;
    for _ in 0..2000 {
        let request = random(&mut stream);
        for rule in rules() {
            let answers = decide(&rule, &request);
            let mut seen = std::collections::HashSet::new();
            for (answer, job) in answers.iter().zip(&request.jobs) {
                let Verdict::Sent {
                    version, deadline, ..
                } = answer.verdict
                else {
                    continue;
                };
                assert!(seen.insert(answer.id), "job {} twice", answer.id);
                let mut used = request.versions.iter();
                let used = used.find(|v| v.version == version).unwrap();
                assert!(deadline >= request.now + job.size / used.speed - 1e-9);
                assert!(!job.had && used.application == job.application);
            }
        }
    }
}

#[test]
fn busy_time_never_falls_within_a_request() {
    let mut stream = Streams::new(2, 0).arrivals;
    for _ in 0..500 {
        let request = random(&mut stream);
        for rule in rules() {
            let mut decider = Decider {
                rule: Some(&rule),
                now: request.now,
                delay: request.delay,
                processors: request.processors,
            };
            let mut before = request.processors;
            for job in &request.jobs {
                decider.consider(job, &request.versions, false);
                for (was, is) in before.iter().zip(&decider.processors) {
                    assert!(is.busy >= was.busy && is.queue >= was.queue && is.first >= was.first);
                    assert!(is.wanted <= was.wanted);
                }
                before = decider.processors;
            }
        }
    }
}

#[test]
fn jobs_with_equal_keys_may_change_places() {
    let mut stream = Streams::new(4, 0).arrivals;
    for _ in 0..500 {
        let mut request = random(&mut stream);
        for (n, job) in request.jobs.iter_mut().enumerate() {
            job.id = n as u64;
            job.size = 3.0;
            job.end = Some(130.0);
            job.application = 0;
            job.had = false;
            job.waiting = 0.0;
        }
        let kinds = |request: &Request| {
            let mut kinds: Vec<String> = decide(&RULE, request)
                .iter()
                .map(|answer| format!("{:?}", answer.verdict))
                .collect();
            kinds.sort();
            kinds
        };
        let straight = kinds(&request);
        request.jobs.reverse();
        assert_eq!(kinds(&request), straight);
    }
    let place = |end: f64, retries, id| Place { end, retries, id };
    let mut order = [
        place(2.0, 0, 1),
        place(1.0, 0, 3),
        place(1.0, 0, 2),
        place(1.0, 4, 9),
    ];
    order.sort_by(feed);
    assert_eq!(order.map(|own| own.id), [9, 2, 3, 1]);
}
