#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;

use super::course::{Course, LogReplay, Record, as_submitted, has_starts};
use super::*;
use synth_multiresource::policy::Policy;
use synth_multiresource::simulator::Contender;
use synth_slurm::rule::SlurmRule;
use synth_traces::replay::{Clock, DecisionState, DemandKinds, Log, Speed, Walk};
use synth_traces::trace::{ReadOptions, Source, Trace};

/// The submission time, run time, number of processors, limit (−1 if not known) and user of a job.
type Line = (u64, u64, u64, i64, u64);

fn log(processors: u64, jobs: &[Line]) -> Log {
    log_with_waits(processors, jobs, &vec![-1.0; jobs.len()])
}

fn log_with_waits(processors: u64, jobs: &[Line], waits: &[f64]) -> Log {
    let mut text = format!("; MaxProcs: {processors}\n");
    for (n, ((submit, size, width, limit, user), wait)) in jobs.iter().zip(waits).enumerate() {
        let n = n + 1;
        writeln!(
            text,
            "{n} {submit} {wait} {size} {width} -1 -1 {width} {limit} -1 1 {user} -1 -1 -1 -1 -1 -1"
        )
        .unwrap();
    }
    let folder = tempfile::TempDir::new().unwrap();
    let file = folder.path().join("log.swf");
    std::fs::write(&file, text).unwrap();
    let source = Source::named(&file);
    let mut trace = Trace::open(&source, &ReadOptions::default()).unwrap();
    Log::read(&mut trace, |_| ()).unwrap()
}

fn rule(name: &str) -> impl Fn(&ForecastSite) -> Result<Box<dyn Policy>, String> {
    move |site| {
        let rule = Contender::named(name, &site.fleet)?;
        rule.build_policy(&site.fleet)
            .map_err(|why| why.to_string())
    }
}

fn scored(log: &Log, name: &str) -> Scored {
    let interrupt = AtomicBool::new(false);
    let scoring = Scoring {
        log,
        slurm: None,
        draws: Draws { runs: 60, seed: 1 },
        every: 1,
        interrupt: &interrupt,
    };
    scoring.run(rule(name), false, &mut |_| ()).unwrap()
}

fn chance(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed;
    move |bound| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % bound
    }
}

/// If there is a single FCFS server and all jobs run until their limits, the forecasts are exact.
#[test]
fn forecasts_are_exact_if_jobs_run_up_to_their_limits() {
    let mut below = chance(5);
    let mut submit = 0;
    let jobs: Vec<Line> = (0..300)
        .map(|_| {
            submit += 1 + below(1000);
            let size = 1 + below(1000);
            (submit, size, 1, size as i64, below(4))
        })
        .collect();
    let scored = scored(&log(1, &jobs), "fcfs");
    let record = scored.record.unwrap();
    assert!(record.forecasts > 100, "{}", record.forecasts);
    for own in &scored.forecasts {
        assert_eq!(own.said.0, [own.wait; 3], "line {}", own.line);
        assert_eq!(own.by_limits, own.wait, "line {}", own.line);
    }
    assert_eq!((record.error, record.error_by_limits), (0.0, 0.0));
}

// By hand: a job with a limit of 100 was started 40 s ago. Similar jobs ran for 50 or 80 s.
#[test]
fn remaining_run_times_are_conditioned_on_the_age() {
    let past = [(0, 30), (1000, 50), (2000, 80), (3000, 50), (4000, 80)];
    let mut jobs: Vec<Line> = past.map(|(at, size)| (at, size, 2, 100, 1)).to_vec();
    jobs.extend([(5000, 70, 1, 100, 1), (5040, 10, 2, 100, 1)]);
    let log = log(2, &jobs);
    let site = ForecastSite::of_log(&log).unwrap();
    let mut known = Past::default();
    for (n, job) in log.jobs[..5].iter().enumerate() {
        known.arrive(*job);
        known.ended(n, job.size);
    }
    let running = PresentJob {
        job: log.jobs[5],
        started: Some(5000.0),
        servers: Vec::new(),
        number: 0,
    };
    let waiting = PresentJob {
        job: log.jobs[6],
        started: None,
        servers: Vec::new(),
        number: 0,
    };
    let moment = Snapshot {
        occupied: Vec::new(),
        at: 5040.0,
        jobs: vec![running, waiting],
    };
    let policy = rule("easy")(&site).unwrap();
    let draws = Draws { runs: 60, seed: 1 };
    let found = site.forecast(&moment, &known, &*policy, &[1], draws);
    let found = found.unwrap();
    let (draws, by_limits) = &found[0];
    assert_eq!(*by_limits, 60.0);
    let are_known = draws.iter().all(|wait| [10.0, 40.0].contains(wait));
    assert!(are_known, "{draws:?}");
    let early = draws.iter().filter(|wait| **wait == 10.0).count() as f64;
    // Four standard errors of 60 independent draws.
    assert!((early - 30.0).abs() < 4.0 * 15.0_f64.sqrt(), "{early}");
}

#[test]
fn quantiles_are_calibrated_on_a_random_log() {
    let jobs = drawn(1200);
    let scored = scored(&log(16, &jobs), "easy");
    let record = scored.record.unwrap();
    assert!(record.forecasts > 300, "{}", record.forecasts);
    for (started, level) in record.started.into_iter().zip(LEVELS) {
        // A third of the jobs, because neighbours are not independent.
        let error = (level * (1.0 - level) / (record.forecasts as f64 / 3.0)).sqrt();
        let is_near = (started - level).abs() < 4.0 * error;
        assert!(is_near, "{started} of {level}");
    }
    assert!(record.error < record.error_by_limits / 2.0, "{record:?}");
}

fn drawn(count: u64) -> Vec<Line> {
    let mut below = chance(11);
    let mut submit = 0;
    let jobs = (0..count).map(|_| {
        submit += below(1000);
        let user = below(6);
        let limit = 600 * (1 + below(10));
        let part = 5 + 14 * user + below(20);
        (
            submit,
            1 + limit * part / 100,
            1 << below(4),
            limit as i64,
            user,
        )
    });
    jobs.collect()
}

#[test]
fn forecasts_do_not_depend_on_the_future() {
    let jobs = drawn(400);
    let before = scored(&log(16, &jobs), "easy");
    let from = 250;
    let mut others = jobs.clone();
    for own in &mut others[from..] {
        *own = (
            own.0 + 5,
            (own.1 / 3).max(1),
            (own.2 * 2).min(16),
            own.3,
            own.4 + 1,
        );
    }
    let waits = scored_waits(&before);
    let until = (jobs[from].0 - jobs[0].0) as f64;
    let mut hidden = 0;
    for (n, own) in others[..from].iter_mut().enumerate() {
        let begin = (own.0 - jobs[0].0) as f64;
        let end = begin + waits.get(&(n as u32 + 2)).copied().unwrap_or(0.0) + own.1 as f64;
        // Earlier waits are not known, so this only changes the last hundred jobs.
        if n > 150 && end > until {
            own.1 = own.1.max(2) - 1;
            hidden += 1;
        }
    }
    assert!(hidden > 0);
    let after = scored(&log(16, &others), "easy");
    let said = |scored: &Scored| -> Vec<_> {
        let early = scored.forecasts.iter().filter(|own| own.submitted < until);
        early
            .map(|own| (own.line, own.said, own.by_limits))
            .collect()
    };
    let (before, after) = (said(&before), said(&after));
    assert!(before.len() > 50, "{}", before.len());
    let common = before.len().min(after.len());
    assert_eq!(
        before[before.len() - common..],
        after[after.len() - common..]
    );
}

fn scored_waits(scored: &Scored) -> std::collections::HashMap<u32, f64> {
    let all = scored.forecasts.iter();
    all.map(|own| (own.line, own.wait)).collect()
}

#[test]
fn scores_logs_without_limits_users_or_waits() {
    let bare: Vec<Line> = drawn(400)
        .into_iter()
        .map(|(submit, size, width, _, _)| (submit, size, width, -1, 0))
        .collect();
    let scored_bare = scored(&log(16, &bare), "easy+fcfs");
    let record = scored_bare.record.unwrap();
    assert!(record.error_by_limits.is_nan() && record.before_limits.is_nan());
    assert!(record.error.is_finite(), "{record:?}");
    assert!(record.started[2] > 0.7, "{record:?}");
    let idle: Vec<Line> = (0..50).map(|n| (1000 * n, 10, 1, 20, 1)).collect();
    let nothing = scored(&log(4, &idle), "easy");
    assert_eq!((nothing.waited, nothing.record.is_none()), ([0, 50], true));
}

#[test]
fn larger_jobs_wait_longer_on_the_map() {
    let log = log(16, &drawn(900));
    let interrupt = AtomicBool::new(false);
    let scoring = Scoring {
        log: &log,
        slurm: None,
        draws: Draws { runs: 20, seed: 1 },
        every: 10,
        interrupt: &interrupt,
    };
    let map = scoring.run(rule("easy"), true, &mut |_| ()).unwrap().map;
    let map = map.unwrap();
    assert!(map.moments >= 40 && map.widths.len() > 2 && map.limits.len() > 2);
    let (first, last) = (&map.cells[0][0], map.cells.last().unwrap().last().unwrap());
    assert!(first.at_once > last.at_once);
    assert!(first.waits.0[1] < last.waits.0[1], "{map:?}");
}

/// Returns the log with the waits of its jobs under another scheduler.
fn scheduled(processors: u64, jobs: &[Line], name: &str) -> Log {
    let log = log(processors, jobs);
    let kinds = DemandKinds::exact(&log);
    let clock = Clock::whole(Speed::ONE);
    let state = DecisionState::of_log(&log, &log.jobs, &kinds, clock).unwrap();
    let policy = rule(name)(&ForecastSite::of_log(&log).unwrap()).unwrap();
    let mut walk = Walk::new(&state, policy);
    walk.finish().unwrap();
    let ends = log.jobs.iter().zip(walk.ends());
    let waits: Vec<f64> = ends.map(|(job, end)| end - job.size - job.submit).collect();
    log_with_waits(processors, jobs, &waits)
}

/// The present jobs are compared with their definition: submit ≤ t < start, or start ≤ t < end.
#[test]
fn the_recorded_state_is_that_of_the_log() {
    let log = scheduled(16, &drawn(300), "fcfs");
    let site = ForecastSite::of_log(&log).unwrap();
    assert!(has_starts(&log));
    let jobs = as_submitted(&log);
    let record = Record::new(&jobs, &site, &SlurmRule::default());
    let mut replay = LogReplay::new(&jobs, &site, Course::Record(Box::new(record)));
    let mut moments = 0;
    while let Some(come) = replay.step().unwrap() {
        let at = jobs[come.start].submit;
        let present = replay.snapshot().jobs;
        let found = present.iter().map(|own| (own.number, own.started));
        let expected = (0..come.end).filter_map(|n| {
            let start = jobs[n].submit + jobs[n].waited;
            let is_present = start + jobs[n].size > at;
            is_present.then_some((n, Some(start).filter(|start| *start <= at)))
        });
        assert_eq!(found.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
        let ended =
            (0..come.start).filter(|n| jobs[*n].submit + jobs[*n].waited + jobs[*n].size <= at);
        assert_eq!(replay.past.known(), ended.count());
        moments += 1;
    }
    assert!(moments > 200);
    let (waits, misfits) = replay.into_waits().unwrap();
    let recorded: Vec<f64> = jobs.iter().map(|job| job.waited).collect();
    assert_eq!((waits, misfits), (recorded, Some(0)));
}

/// By hand: with 4 processors, the jobs 2 and 3 cannot have run at the same time, so the job that
/// started last is ignored until the other ends.
#[test]
fn jobs_that_do_not_fit_are_ignored_and_counted() {
    let lines = [
        (0, 100, 3, 100, 1),
        (10, 100, 3, 100, 1),
        (150, 50, 1, 100, 1),
    ];
    let log = log_with_waits(4, &lines, &[0.0, 10.0, 5.0]);
    let site = ForecastSite::of_log(&log).unwrap();
    let record = Record::new(&log.jobs, &site, &SlurmRule::default());
    let mut replay = LogReplay::new(&log.jobs, &site, Course::Record(Box::new(record)));
    let mut found = Vec::new();
    while replay.step().unwrap().is_some() {
        let moment = replay.snapshot();
        let numbers = moment.jobs.iter().map(|own| (own.number, own.started));
        found.push(numbers.collect::<Vec<_>>());
    }
    assert_eq!(found[0], [(0, Some(0.0))]);
    assert_eq!(found[1], [(0, Some(0.0)), (1, None)]);
    assert_eq!(replay.into_waits().unwrap().1, Some(1));
}

#[test]
fn forecasts_are_calibrated_for_the_recorded_starts_of_another_scheduler() {
    let log = scheduled(16, &drawn(1200), "fcfs");
    let (wrong, right) = (scored(&log, "easy"), scored(&log, "fcfs"));
    for own in &wrong.forecasts {
        let job = log.jobs.iter().find(|job| job.line == own.line).unwrap();
        assert_eq!(own.wait, job.waited);
    }
    for scored in [&wrong, &right] {
        let record = scored.record.as_ref().unwrap();
        assert!(record.forecasts > 300, "{}", record.forecasts);
        for (started, level) in record.started.into_iter().zip(LEVELS) {
            // A third of the jobs, because neighbours are not independent.
            let error = (level * (1.0 - level) / (record.forecasts as f64 / 3.0)).sqrt();
            assert!(
                (started - level).abs() < 4.0 * error,
                "{started} of {level}"
            );
        }
    }
    let [wrong, right] = [wrong, right].map(|own| own.record.unwrap());
    assert!(right.error < wrong.error, "{} {}", right.error, wrong.error);
    assert!(right.width < wrong.width, "{} {}", right.width, wrong.width);
}

#[test]
fn forecasts_do_not_depend_on_the_number_of_threads() {
    let log = scheduled(16, &drawn(200), "fcfs");
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(|| scored(&log, "easy"))
    };
    let of = |scored: Scored| -> Vec<_> {
        let all = scored.forecasts.iter();
        all.map(|own| (own.line, own.said, own.by_limits)).collect()
    };
    assert_eq!(of(run(1)), of(run(3)));
}
