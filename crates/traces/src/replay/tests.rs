#![allow(clippy::unwrap_used)]

mod devices;
mod requests;
mod window;

use std::path::Path;

use rand::{RngExt, SeedableRng};

use super::*;
use crate::trace::tests::{file, outside_log};
use crate::trace::{ReadOptions, Servers, Source, Trace};
use synth_core::number::Decimal;
use synth_multiresource::simulator::Contender;

fn log(path: &Path, options: &ReadOptions) -> Log {
    let mut trace = Trace::open(&Source::named(path), options).unwrap();
    Log::read(&mut trace, |_| ()).unwrap()
}

fn at_once() -> ExactDuration {
    ExactDuration::of_seconds(Decimal::ZERO, 1).unwrap()
}

fn played(log: &Log, rule: &str, speed: Speed) -> Vec<Visit> {
    played_late(log, rule, speed, at_once())
}

fn played_late(log: &Log, rule: &str, speed: Speed, late: ExactDuration) -> Vec<Visit> {
    let contender = Contender::parse(rule).unwrap();
    let (clock, kinds) = (late.clock(speed), DemandKinds::exact(log));
    let latency = late.in_policy_time(speed);
    let seen = [false, true].into_iter().find_map(|sizes| {
        let (fleet, types) =
            replay_workload(log, &log.jobs, &kinds, clock, latency, sizes).unwrap();
        contender
            .build_policy(&fleet)
            .is_ok()
            .then_some((fleet, types))
    });
    let (fleet, types) = seen.unwrap();
    let mut scene = DecisionState::new(&log.jobs, types, fleet, clock);
    scene.latency = latency;
    let replayed = replay(&contender, &scene, &mut |_| true).unwrap();
    visits(&scene, &replayed, log.tick.per_second() as f64).collect()
}

fn under(log: &Log, rule: &str, speed: Speed) -> WindowMeasures {
    let visits = played(log, rule, speed);
    WindowMeasures::of(&visits, [0.0, log.span()], &DemandKinds::exact(log))
}

fn small(jobs: &[(u32, u32, u32)]) -> Log {
    let row = |(submit, size, cpu): &(u32, u32, u32)| format!("{submit} {size} {cpu} -1");
    let rows: Vec<String> = jobs.iter().map(row).collect();
    limited(4, &rows.join("; "))
}

fn limited(cpus: u32, jobs: &str) -> Log {
    let mut text = format!("; MaxProcs: {cpus}\n");
    for job in jobs.split("; ") {
        let words: Vec<&str> = job.split(' ').collect();
        let [submit, size, cpu, limit] = words[..] else {
            panic!("{job}")
        };
        text += &format!("1 {submit} -1 {size} {cpu} -1 -1 -1 {limit} -1 1 -1 -1 -1 -1 -1 -1 -1\n");
    }
    log(file(text.as_bytes()).path(), &ReadOptions::default())
}

fn starts(log: &Log, rule: &str) -> Vec<f64> {
    let visits = played(log, rule, Speed::ONE);
    visits.iter().map(|visit| visit.start).collect()
}

/// The first job runs for 40 more, the second waits, and only the third arrives.
#[test]
fn running_jobs_continue_at_the_beginning() {
    let text = b"time,start,end,cpu\n0,0,100,4\n10,100,130,4\n70,130,140,4\n";
    let options = ReadOptions {
        servers: Some(Servers::shapes("cpu=4").unwrap()),
        from: Some(crate::trace::TraceEdge::After(60.0)),
        ..ReadOptions::default()
    };
    let log = log(file(text).path(), &options);
    for rule in ["fcfs", "easy+sjf", "first-fit", "conservative"] {
        assert_eq!(starts(&log, rule)[0], 0.0, "{rule}");
        let measured = under(&log, rule, Speed::ONE);
        assert_eq!(measured.jobs, 1, "{rule}");
    }
    assert_eq!(starts(&log, "fcfs"), [0.0, 40.0, 70.0]);
    assert_eq!(starts(&log, "easy+sjf"), [0.0, 50.0, 40.0]);
    assert_eq!((log.span(), log.arrivals().len()), (10.0, 1));
    assert_eq!(log.load(), 10.0 * 4.0 / (10.0 * 4.0));
}

/// If there were a decision after each of the ends, first-fit would start the third job at 10.
#[test]
fn rules_decide_after_all_events_of_an_instant() {
    let log = small(&[(0, 10, 2), (0, 10, 2), (1, 5, 4), (2, 5, 2), (10, 7, 1)]);
    for rule in ["first-fit", "best-fit", "fcfs", "easy", "conservative"] {
        let expected = [0.0, 0.0, 10.0, 15.0, 15.0];
        assert_eq!(starts(&log, rule), expected, "{rule}");
    }
}

/// The fourth job moves to 6, where the fifth job is planned to end, and then the fifth job moves.
#[test]
fn keeps_reservations_due_between_events() {
    let jobs = "0 4 1 7; 0 4 4 5; 1 5 1 13; 2 1 4 9; 3 1 2 1; 3 6 5 6; 4 4 2 9";
    let log = limited(5, jobs);
    let found = starts(&log, "conservative");
    assert_eq!(found, [0.0, 0.0, 4.0, 6.0, 4.0, 11.0, 7.0]);
}

#[test]
fn rules_decide_after_all_arrivals_of_an_instant() {
    let log = small(&[(0, 5, 2), (0, 5, 3)]);
    assert_eq!(starts(&log, "best-fit"), [5.0, 0.0]);
    assert_eq!(starts(&log, "first-fit"), [0.0, 5.0]);
    assert_eq!(starts(&log, "least-servers-first"), [0.0, 5.0]);
}

#[test]
fn start_latencies_keep_times_exact() {
    let log = small(&[(0, 10, 2), (0, 10, 2), (1, 5, 4), (2, 5, 2), (10, 7, 1)]);
    let late = ExactDuration::of_seconds(Decimal::new(0.9).unwrap(), 1).unwrap();
    let visits = played_late(&log, "fcfs", Speed::ONE, late);
    let starts: Vec<f64> = visits.iter().map(|visit| visit.start).collect();
    assert_eq!(starts, [0.0, 0.0, 10.9, 16.8, 16.8]);
    let responses: Vec<f64> = visits.iter().map(Visit::response).collect();
    let expected = [10.9, 10.9, 15.8, 20.7, 14.7];
    for (found, expected) in responses.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-12, "{responses:?}");
    }
    assert_eq!(visits[0].wait, 0.0);
    let log = small(&[(0, 10, 3), (0, 5, 4), (0, 10, 1), (0, 9, 1)]);
    let starts = |late| {
        let visits = played_late(&log, "easy", Speed::ONE, late);
        visits.iter().map(|visit| visit.start).collect::<Vec<_>>()
    };
    assert_eq!(starts(at_once()), [0.0, 10.0, 0.0, 15.0]);
    assert_eq!(starts(late), [0.0, 10.9, 0.0, 16.8]);
}

#[test]
fn starts_are_unknown_under_preemptive_rules() {
    let log = small(&[(0, 10, 1), (1, 4, 4), (2, 1, 2)]);
    let visits = played(&log, "server-filling", Speed::ONE);
    let mut all = visits.iter();
    let all_wait = all.all(|visit| visit.start.is_nan() && visit.wait >= 0.0);
    assert!(all_wait);
    assert!(time_series(&visits, 2.0, 1.0, &DemandKinds::exact(&log)).is_empty());
}

type Choice = fn(waiting: &[(usize, u32)], free: u32) -> Option<usize>;

fn by_definition(jobs: &[(u32, u32, u32)], choose: Choice) -> Vec<f64> {
    let mut starts = vec![f64::NAN; jobs.len()];
    let (mut waiting, mut free): (Vec<(usize, u32)>, u32) = (Vec::new(), 4);
    let mut ends: Vec<(u32, u32)> = Vec::new();
    for now in 0..100_000 {
        for (end, cpu) in &ends {
            free += if *end == now { *cpu } else { 0 };
        }
        ends.retain(|(end, _)| *end > now);
        let arrived = jobs.iter().enumerate().filter(|(_, job)| job.0 == now);
        waiting.extend(arrived.map(|(n, job)| (n, job.2)));
        while let Some(place) = choose(&waiting, free) {
            let (n, cpu) = waiting.remove(place);
            starts[n] = f64::from(now);
            free -= cpu;
            ends.push((now + jobs[n].1, cpu));
        }
    }
    starts
}

#[test]
fn random_jobs_match_a_direct_implementation() {
    let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(5);
    for _ in 0..40 {
        let mut jobs: Vec<(u32, u32, u32)> = (0..120)
            .map(|_| {
                let submit = random.random_range(0..200);
                (
                    submit,
                    random.random_range(1..8),
                    random.random_range(1..=4),
                )
            })
            .collect();
        jobs.sort_by_key(|job| job.0);
        jobs[0].0 = 0;
        let log = small(&jobs);
        let largest: Choice = |waiting, free| {
            let fitting = waiting.iter().enumerate();
            let fitting = fitting.filter(|(_, (_, cpu))| *cpu <= free);
            let best = fitting.max_by_key(|(place, (_, cpu))| (*cpu, usize::MAX - place));
            best.map(|(place, _)| place)
        };
        let choices: [(&str, Choice); 5] = [
            ("fcfs", |waiting, free| {
                waiting
                    .first()
                    .and_then(|(_, cpu)| (*cpu <= free).then_some(0))
            }),
            ("first-fit", |waiting, free| {
                waiting.iter().position(|(_, cpu)| *cpu <= free)
            }),
            ("best-fit", largest),
            ("first-fit+widest", largest),
            ("least-servers-first", |waiting, free| {
                let fitting = waiting.iter().enumerate();
                let fitting = fitting.filter(|(_, (_, cpu))| *cpu <= free);
                let best = fitting.min_by_key(|(place, (_, cpu))| (*cpu, *place));
                best.map(|(place, _)| place)
            }),
        ];
        for (rule, choose) in choices {
            let found = starts(&log, rule);
            assert_eq!(found, by_definition(&jobs, choose), "{rule} {jobs:?}");
        }
        for rule in "easy conservative adaptive-quickswap static-quickswap".split(' ') {
            let visits = played(&log, rule, Speed::parse("3/2").unwrap());
            assert!(fits(&visits, &jobs), "{rule} {jobs:?}");
        }
    }
}

fn fits(visits: &[Visit], jobs: &[(u32, u32, u32)]) -> bool {
    let used = |time: f64| -> u32 {
        let running = visits.iter().zip(jobs);
        let running = running.filter(|(visit, _)| visit.start <= time && time < visit.end);
        running.map(|(_, job)| job.2).sum()
    };
    let whole = |visit: &Visit, size: u32| (visit.end - visit.start - f64::from(size)).abs() < 1e-9;
    let pairs = visits.iter().zip(jobs);
    pairs
        .clone()
        .all(|(visit, job)| whole(visit, job.1) && visit.start >= visit.submit - 1e-9)
        && visits.iter().all(|visit| used(visit.start) <= 4)
}

#[test]
fn time_series_preserve_totals() {
    let log = small(&[(0, 10, 2), (0, 10, 2), (1, 5, 4), (2, 5, 2), (10, 7, 1)]);
    let visits = played(&log, "first-fit", Speed::ONE);
    let kinds = DemandKinds::exact(&log);
    let sum = |step: f64| {
        let steps = time_series(&visits, 30.0, step, &kinds);
        let sum = |of: fn(&SeriesStep) -> f64| steps.iter().map(of).sum::<f64>() * step;
        [sum(|s| s.waiting), sum(|s| s.used[0])]
    };
    for step in [1.0, 7.0, 0.3, 30.0] {
        let expected = [27.0, (2.0 * 20.0 + 20.0 + 10.0 + 7.0) / 4.0];
        for (found, expected) in sum(step).into_iter().zip(expected) {
            let is_near = (found - expected).abs() < 1e-9;
            assert!(is_near, "{step}: {found} {expected}");
        }
    }
    let measured = under(&log, "first-fit", Speed::ONE);
    let told = (measured.waited, measured.total_wait, measured.backfilled);
    assert_eq!(told, (3, 27.0, Some(0)));
    assert_eq!(
        measured.utilization,
        [1.0],
        "all four processors, from 0 to 10"
    );
}

#[test]
fn resampled_parts_are_in_order() {
    let log = small(&[
        (0, 10, 2),
        (3, 9, 2),
        (3, 5, 4),
        (20, 4, 2),
        (25, 7, 1),
        (41, 1, 1),
    ]);
    for n in 0..20 {
        let drawn = resampled(&log.jobs, 20.0, 1, n).unwrap();
        assert!(drawn.is_sorted_by(|a, b| a.submit <= b.submit));
        assert!(drawn.iter().all(|job| job.submit < 40.0 && job.line < 7));
    }
    assert_eq!(resampled(&log.jobs, 30.0, 1, 0), None);
}

#[test]
fn block_intervals_match_independent_values() {
    let submits: Vec<f64> = (0..20_000).map(f64::from).collect();
    let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(9);
    let values = submits.iter().map(|_| random.random_range(0.0..1.0));
    let values: Vec<f64> = values.collect();
    let blocks = Blocks::draw(&submits, [0.0, 20_000.0], 50.0, 1).unwrap();
    let means = blocks.means(values.iter().copied());
    let found = Interval::of(means.iter().copied().flatten()).unwrap();
    let half = 1.96 * (1.0_f64 / 12.0 / 20_000.0).sqrt();
    let is_near = ((found.high - found.low) / (2.0 * half) - 1.0).abs() < 0.15;
    assert!(is_near, "{found:?} {half}");
    let ratio = Interval::of_ratio(&means, &means).unwrap();
    assert_eq!((ratio.low, ratio.high), (1.0, 1.0));
    assert!(Blocks::draw(&submits, [0.0, 499.0], 50.0, 1).is_none());
    let wide = Blocks::draw(&submits, [0.0, 1e12], 86400.0, 1).unwrap();
    assert!((3999..=4000).contains(&wide.count), "{}", wide.count);
}

/// The results were computed by independent programs.
#[test]
fn replays_the_sp2_log_to_the_second() {
    let Some(path) = outside_log("sdsc-sp2-1998-first5000.swf") else {
        return;
    };
    let log = log(&path, &ReadOptions::default());
    assert_eq!(log.jobs.len(), 4606);
    assert_eq!(log.work(), [387_596_226.0]);
    assert!((log.load() - 0.653_667_029).abs() < 5e-10);
    for row in include_str!("tests/sp2.txt").lines() {
        let [speed, rule, numbers @ ..] = &row.split_whitespace().collect::<Vec<_>>()[..] else {
            panic!("{row}")
        };
        let number = |n: usize| numbers[n].parse::<f64>().unwrap();
        let found = under(&log, rule, Speed::parse(speed).unwrap());
        let is_near = (found.total_wait - number(0)).abs() < 1e-3;
        assert!(is_near, "{row}: {}", found.total_wait);
        assert_eq!(found.waited as f64, number(1), "{row}");
        let is_near = (found.longest_wait - number(2)).abs() < 1e-6;
        assert!(is_near, "{row}: {}", found.longest_wait);
        let is_near = numbers[3] == "-" || (found.last_end - number(3)).abs() < 1e-6;
        assert!(is_near, "{row}: {}", found.last_end);
    }
    let conservative = under(&log, "conservative", Speed::ONE);
    println!("{conservative:?}");
    assert!((conservative.total_wait / 17_809_468.0 - 1.0).abs() < 0.01);
}
