#![allow(clippy::unwrap_used, clippy::panic)]

use std::io::Write as _;
use std::sync::atomic::AtomicBool;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::point::common_rules;
use super::*;
use synth_multiresource::policy::RuntimeEstimate;
use synth_multiresource::simulator::Contender;
use synth_traces::replay::{
    Clock, DecisionState, DemandKinds, Log, LogError, Speed, replay, replay_workload, visits,
};
use synth_traces::trace::{ReadOptions, Source, Trace};

/// A job in a log. All times are in seconds, or −1 if they are not known.
#[derive(Clone, Copy)]
struct Row {
    submit: i64,
    size: i64,
    processors: i64,
    limit: i64,
    user: i64,
}

/// Returns short jobs and a few long jobs with a load of 0.9. The limit is 1.2 times the size.
fn rows(count: usize) -> Vec<Row> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
    let mut submit = 0.0;
    let row = |_| {
        submit -= 458.0 * (1.0 - rng.random::<f64>()).ln();
        let is_long = rng.random_bool(0.2);
        let (size, users) = if is_long {
            (rng.random_range(3000..17_000), 10..12)
        } else {
            (rng.random_range(30..600), 0..8)
        };
        Row {
            submit: submit as i64,
            size,
            processors: 1 << rng.random_range(0..4),
            limit: size * 6 / 5,
            user: rng.random_range(users),
        }
    };
    (0..count).map(row).collect()
}

fn log(rows: &[Row]) -> Log {
    let mut text = String::from("; MaxProcs: 16\n");
    for row in rows {
        let Row {
            submit,
            size,
            processors,
            limit,
            user,
        } = row;
        text += &format!(
            "1 {submit} -1 {size} {processors} -1 -1 -1 {limit} -1 1 {user} -1 -1 -1 -1 -1 -1\n"
        );
    }
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    let mut trace = Trace::open(&Source::named(file.path()), &ReadOptions::default()).unwrap();
    Log::read(&mut trace, |_| ()).unwrap()
}

const DAY: f64 = 86_400.0;

fn every(days: f64) -> LogWindows {
    LogWindows {
        past: 0.5,
        every: days * DAY,
        speed: Speed::ONE,
    }
}

fn goal(longest: Option<f64>) -> SelectionCriteria {
    SelectionCriteria {
        objective: JudgeObjective::Wait,
        longest,
        now: QueueRule::EASY,
    }
}

fn walked(
    log: &Log,
    windows: LogWindows,
    goal: &SelectionCriteria,
) -> (Vec<JudgedWindow>, WaitsAndSizes, Vec<EstimateAccuracy>) {
    let interrupt = AtomicBool::new(false);
    let forward = WalkForward::new(log, windows, *goal, &interrupt).unwrap();
    forward.evaluate_selection(&mut |_, _| ()).unwrap()
}

fn starts_of_easy(log: &Log) -> Vec<f64> {
    let contender = Contender::parse("easy").unwrap();
    let (clock, kinds) = (Clock::whole(Speed::ONE), DemandKinds::exact(log));
    let (fleet, types) = replay_workload(log, &log.jobs, &kinds, clock, 0.0, false).unwrap();
    let scene = DecisionState::new(&log.jobs, types, fleet, clock);
    let replayed = replay(&contender, &scene, &mut |_| true).unwrap();
    let visits = visits(&scene, &replayed, log.tick.per_second() as f64);
    visits.map(|visit| visit.start).collect()
}

/// This changes the sizes of the running jobs and all later jobs, except for the submission times.
#[test]
fn selections_do_not_depend_on_the_future() {
    let mut rows = rows(700);
    let own = log(&rows);
    let starts = starts_of_easy(&own);
    let begin = own.span() / 2.0;
    let first = rows[0].submit as f64;
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(8);
    let mut running = 0;
    for (row, start) in rows.iter_mut().zip(starts) {
        let has_come = row.submit as f64 - first < begin;
        if !has_come {
            row.size = rng.random_range(30..9000);
            row.limit = 2 * row.size;
            row.user = rng.random_range(0..20);
        } else if start + row.size as f64 >= begin {
            row.size = row.limit;
            running += 1;
        }
    }
    assert!(running > 0);
    let other = log(&rows);
    let goal = goal(None);
    let [own, other] = [&own, &other].map(|log| walked(log, every(1.0), &goal).0);
    let said =
        |windows: &[JudgedWindow], n: usize| format!("{:?}", (windows[n].past, &windows[n].choice));
    assert_eq!(said(&own, 0), said(&other, 0));
    assert_ne!(said(&own, 1), said(&other, 1));
}

#[test]
fn selected_rules_shorten_waits_of_short_jobs_behind_long_ones() {
    let log = log(&rows(900));
    let interrupt = AtomicBool::new(false);
    let forward = WalkForward::new(&log, every(1.0), goal(None), &interrupt).unwrap();
    let easy = forward.evaluate_rule(&QueueRule::EASY, false).unwrap();
    let sjf = QueueRule::parse("easy+sjf").unwrap();
    let known = forward.evaluate_rule(&sjf, true).unwrap();
    let (windows, chosen, estimates) = forward.evaluate_selection(&mut |_, _| ()).unwrap();
    let [easy, known, chosen] = [easy, known, chosen].map(WaitSummary::of);
    assert!(windows.iter().all(|window| window.choice.ratio < 0.9));
    assert!(chosen.mean_wait < 0.8 * easy.mean_wait);
    // The limits are close to the sizes.
    assert!(known.mean_wait > 0.7 * chosen.mean_wait);
    let pairs = windows.iter().zip(&windows[1..]);
    assert!(
        pairs
            .clone()
            .all(|(a, b)| a.jobs[1] == b.jobs[0] && a.from < b.from)
    );
    let judged = [windows[0].jobs[0], windows[windows.len() - 1].jobs[1]];
    assert_eq!(judged, [forward.first(), log.jobs.len()]);
    assert_eq!(chosen.jobs as usize, log.jobs.len() - forward.first());
    let kinds: Vec<RuntimeEstimate> = estimates.iter().map(|own| own.estimate).collect();
    let expected = [
        RuntimeEstimate::Limit,
        RuntimeEstimate::History,
        RuntimeEstimate::Tree,
    ];
    assert_eq!(kinds, expected);
}

#[test]
fn guarantees_are_kept_in_training_or_reported_as_broken() {
    let log = log(&rows(250));
    let once = every(f64::INFINITY);
    let (windows, ..) = walked(&log, once, &goal(Some(1.0)));
    assert!(windows[0].choice.keeps);
    assert!(windows[0].choice.point.longest_wait.is_some());
    let (windows, ..) = walked(&log, once, &goal(Some(1e-6)));
    assert!(!windows[0].choice.keeps);
    let (windows, ..) = walked(&log, once, &goal(None));
    assert!(windows[0].choice.keeps);
    assert_eq!(windows[0].choice.point.longest_wait, None);
}

#[test]
fn unfinished_jobs_are_part_of_the_training_period() {
    let log = log(&rows(400));
    let interrupt = AtomicBool::new(false);
    let once = every(f64::INFINITY);
    let forward = WalkForward::new(&log, once, goal(None), &interrupt).unwrap();
    let (windows, ..) = forward.evaluate_selection(&mut |_, _| ()).unwrap();
    assert_eq!(windows[0].past, forward.first());
}

#[test]
fn guarantees_use_only_jobs_with_known_sizes() {
    let mut rows = rows(700);
    let whole = log(&rows);
    let begin = whole.span() / 2.0;
    let (starts, first) = (starts_of_easy(&whole), rows[0].submit);
    let mut starts = starts.into_iter();
    rows.retain(|row| starts.next().unwrap() + (row.size as f64) < begin);
    let ended = log(&rows);
    let waits = ended.jobs.iter().zip(starts_of_easy(&ended));
    let waits = waits.map(|(job, start)| start - job.submit);
    let longest = waits.skip(rows.len() / 50).fold(0.0, f64::max);
    let (windows, ..) = walked(&whole, every(f64::INFINITY), &goal(Some(4.0)));
    assert_eq!(first, rows[0].submit);
    assert_eq!(windows[0].choice.promised, Some(4.0 * longest));
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let log = log(&rows(250));
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let walk = || walked(&log, every(1.0), &goal(Some(1.0)));
        let (windows, served, worth) = pool.build().unwrap().install(walk);
        format!("{windows:?} {served:?} {worth:?}")
    };
    let two = on(2);
    assert_eq!(two, on(2));
    assert_eq!(two, on(1));
}

#[test]
fn evaluates_logs_without_limits_or_users() {
    let own = rows(250);
    let with = |change: fn(&Row) -> Row| log(&own.iter().map(change).collect::<Vec<_>>());
    let logs = [
        with(|row| Row { limit: -1, ..*row }),
        with(|row| Row { user: -1, ..*row }),
        with(|row| Row { user: 3, ..*row }),
        with(|row| Row {
            limit: -1,
            user: -1,
            ..*row
        }),
    ];
    for log in &logs {
        let (windows, served, worth) = walked(log, every(f64::INFINITY), &goal(None));
        assert_eq!(windows.len(), 1, "a window longer than the span");
        assert!((WaitSummary::of(served).mean_wait + windows[0].choice.ratio).is_finite());
        let mut with_limits = worth.iter();
        let with_limits = with_limits.any(|own| own.estimate == RuntimeEstimate::Limit);
        assert_eq!(with_limits, log.has_limits);
        let estimate = windows[0].choice.point.estimate;
        let plain = windows[0].choice.point.order == QueueRule::EASY.order;
        assert!(log.has_limits || plain || estimate != RuntimeEstimate::Limit);
    }
}

#[test]
fn the_current_rule_may_use_any_estimate() {
    let log = log(&rows(250));
    for now in "easy+sjf+ratio first-fit+saf+history strict+wfp3+tree".split(' ') {
        let now = QueueRule::parse(now).unwrap();
        let goal = SelectionCriteria { now, ..goal(None) };
        let (windows, ..) = walked(&log, every(f64::INFINITY), &goal);
        assert!(windows[0].choice.ratio.is_finite());
    }
}

#[test]
fn rejects_logs_that_are_too_short() {
    let interrupt = AtomicBool::new(false);
    let is_short = |rows: &[Row], past: f64| {
        let log = log(rows);
        let windows = LogWindows { past, ..every(1.0) };
        let walked = WalkForward::new(&log, windows, goal(None), &interrupt)
            .and_then(|forward| forward.evaluate_selection(&mut |_, _| ()));
        matches!(walked, Err(LogError::Refused(_)))
    };
    assert!(is_short(&rows(60), 0.5));
    assert!(is_short(&rows(400), 0.01));
    assert!(!is_short(&rows(200), 0.5));
    // All of these jobs have arrived before the first window, but none of them has ended.
    let mut late = rows(200);
    late.iter_mut().for_each(|row| {
        row.size = 10_000_000;
        row.limit = row.size;
    });
    assert!(is_short(&late, 0.5));
}

#[test]
fn handing_over_to_the_same_rule_changes_nothing() {
    let log = log(&rows(900));
    let starts = starts_of_easy(&log);
    let interrupt = AtomicBool::new(false);
    let forward = WalkForward::new(&log, every(1.0), goal(None), &interrupt).unwrap();
    let served = forward.evaluate_rule(&QueueRule::EASY, false).unwrap();
    let pairs = log.jobs.iter().zip(starts).skip(forward.first());
    let expected = pairs.map(|(job, start)| (start - job.submit, job.size));
    let expected: Vec<(f64, f64)> = expected.collect();
    assert_eq!(served, expected);
}

#[test]
fn parses_the_names_of_common_rules() {
    let estimates = [
        RuntimeEstimate::Limit,
        RuntimeEstimate::Ratio,
        RuntimeEstimate::History,
        RuntimeEstimate::Tree,
    ];
    for point in common_rules(&estimates) {
        assert_eq!(QueueRule::parse(&point.name()), Ok(point));
    }
    assert_eq!(QueueRule::parse("easy"), Ok(QueueRule::EASY));
    assert_eq!(QueueRule::parse("strict").unwrap().name(), "strict+fcfs");
    for wrong in [
        "",
        "nonsense",
        "easy+",
        "easy+nonsense",
        "easy+sjf+nonsense",
        "easy+sjf+size",
    ] {
        let error = QueueRule::parse(wrong).unwrap_err();
        println!("{wrong}: {error}");
        assert!(!error.is_empty());
    }
}
