use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;

const DAY: f64 = 86_400.0;

const ALL: [RuntimeEstimate; 4] = [
    RuntimeEstimate::Limit,
    RuntimeEstimate::Ratio,
    RuntimeEstimate::History,
    RuntimeEstimate::Tree,
];

type Ran = (JobFacts, f64);

fn promise(user: u32, limit: f64) -> JobFacts {
    JobFacts {
        user,
        limit,
        share: 1.0 / 64.0,
        submitted: 0.0,
    }
}

fn log(count: u32, mut job: impl FnMut(&mut Xoshiro256PlusPlus) -> Ran) -> Vec<Ran> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    let jobs = (0..count).map(|n| {
        let (promise, size) = job(&mut random);
        let submitted = 100.0 * f64::from(n);
        (
            JobFacts {
                submitted,
                ..promise
            },
            size,
        )
    });
    jobs.collect()
}

fn judged(estimator: &mut Estimator, log: &[Ran]) -> Vec<EstimatedCompletion> {
    let mut judged = Vec::new();
    for (n, (promise, size)) in log.iter().enumerate() {
        judged.push(EstimatedCompletion {
            user: promise.user,
            estimate: estimator.estimate(promise),
            size: *size,
        });
        if let Some((ended, ran)) = n.checked_sub(10).map(|n| &log[n]) {
            estimator.learn(ended, *ran, promise.submitted);
        }
    }
    judged
}

fn in_order(estimate: RuntimeEstimate, log: &[Ran]) -> f64 {
    let mut estimator = Estimator::new(estimate, DAY, &LearnedRuntimes::default());
    let judged = judged(&mut estimator, log).split_off(log.len() / 2);
    estimate_quality(&judged)[0].in_order.unwrap()
}

fn own_sizes(random: &mut Xoshiro256PlusPlus) -> Ran {
    let user = random.random_range(1..25);
    let size = 30.0 * 1.3_f64.powi(user as i32);
    let hours = [1.0, 4.0, 24.0][random.random_range(0..3)];
    (
        promise(user, 3600.0 * hours),
        size * random.random_range(0.99..1.01),
    )
}

#[test]
fn estimates_are_positive_finite_and_within_limits() {
    let strange = r#"{"limited": [4294967295, 1e300], "unlimited": [0, -1e300], "alike": [[7, [9, -3.0]]],
        "trees": [{"root": [9, 0.0], "sides": [[0, -1e308], [3, 1e308]], "leaves": [1e308, -1e308, 0.0, 1e308]},
                  {"root": [3, 0.5], "sides": [[0, -1e308], [3, 1e308]], "leaves": [1e308, -1e308, 0.0, 1e308]}]}"#;
    for learned in [
        LearnedRuntimes::default(),
        serde_json::from_str(strange).unwrap(),
    ] {
        for estimate in ALL {
            let mut estimator = Estimator::new(estimate, DAY, &learned);
            for n in 0..2000_u32 {
                let limit = [f64::INFINITY, 3600.0, 1e-9, 60.0, f64::MAX][n as usize % 5];
                let submitted = f64::from(n) * 1000.0;
                let promise = JobFacts {
                    submitted,
                    ..promise(n % 3, limit)
                };
                let size = estimator.estimate(&promise);
                let is_size = size > 0.0 && size.is_finite() && size <= limit;
                assert!(is_size, "{estimate:?}: {size} of {limit}");
                let ran = [0.0, 1e12, 30.0, f64::MAX][n as usize % 4];
                estimator.learn(&promise, ran, submitted + 1.0);
            }
        }
    }
}

#[test]
fn limits_count_more_for_wide_jobs() {
    let mut estimator = Estimator::new(RuntimeEstimate::History, DAY, &LearnedRuntimes::default());
    let wide = |user, share| JobFacts {
        share,
        ..promise(user, 3600.0)
    };
    for n in 0..200 {
        estimator.learn(&wide(1, 1.0), 36.0, 0.0);
        estimator.learn(&wide(1, 0.1), 36.0, 0.0);
        estimator.learn(&wide(2 + n, 0.5), 3600.0, 0.0);
    }
    let of = |share| estimator.estimate(&wide(1, share));
    assert!(of(0.1) < 0.2 * of(1.0), "{} {}", of(0.1), of(1.0));
}

#[test]
fn limit_estimates_equal_limits() {
    let estimator = Estimator::new(RuntimeEstimate::Limit, DAY, &LearnedRuntimes::default());
    assert_eq!(estimator.estimate(&promise(3, 1234.5)), 1234.5);
}

#[test]
fn histories_sort_jobs_with_uninformative_limits() {
    let log = log(8000, own_sizes);
    let limits = in_order(RuntimeEstimate::Limit, &log);
    assert!((0.45..0.55).contains(&limits), "{limits}");
    for estimate in [RuntimeEstimate::History, RuntimeEstimate::Tree] {
        let found = in_order(estimate, &log);
        assert!(found > 0.9, "{estimate:?} {found}");
    }
}

#[test]
fn learning_does_not_degrade_exact_limits() {
    let log = log(8000, |random| {
        let limit = 600.0 * f64::from(random.random_range(1..40));
        let user = random.random_range(1..10);
        (promise(user, limit), limit * random.random_range(0.7..1.0))
    });
    let limits = in_order(RuntimeEstimate::Limit, &log);
    for estimate in [
        RuntimeEstimate::Ratio,
        RuntimeEstimate::History,
        RuntimeEstimate::Tree,
    ] {
        let found = in_order(estimate, &log);
        assert!(found > limits - 0.01, "{estimate:?} {found} of {limits}");
    }
}

#[test]
fn widths_sort_jobs_without_limits_or_users() {
    let log = log(4000, |random| {
        let share = 2_f64.powi(-random.random_range(0..8));
        let size = 10_000.0 * share * random.random_range(0.9..1.1);
        let promise = promise(0, f64::INFINITY);
        (JobFacts { share, ..promise }, size)
    });
    assert!(in_order(RuntimeEstimate::Limit, &log) < 0.6);
    for estimate in [RuntimeEstimate::History, RuntimeEstimate::Tree] {
        let found = in_order(estimate, &log);
        assert!(found > 0.9, "{estimate:?} {found}");
    }
}

#[test]
fn learns_the_size_of_identical_jobs() {
    let log = log(500, |_| (promise(1, 3600.0), 450.0));
    for estimate in [
        RuntimeEstimate::Ratio,
        RuntimeEstimate::History,
        RuntimeEstimate::Tree,
    ] {
        let mut estimator = Estimator::new(estimate, DAY, &LearnedRuntimes::default());
        let judged = judged(&mut estimator, &log);
        let is_near = (judged.last().unwrap().estimate / 450.0 - 1.0).abs() < 0.01;
        assert!(is_near, "{estimate:?}");
        assert_eq!(estimate_quality(&judged)[0].in_order, None);
    }
}

#[test]
fn learned_state_round_trips_through_a_file() {
    let mut log = log(12_000, |random| {
        let (promise, size) = own_sizes(random);
        let user = random.next_u32() % 3000 + 1;
        (JobFacts { user, ..promise }, size)
    });
    for (n, (promise, _)) in log.iter_mut().enumerate() {
        promise.user = if n > 11_900 {
            1 + n as u32 % 9
        } else {
            promise.user
        };
    }
    for estimate in ALL {
        let run = || {
            let mut estimator = Estimator::new(estimate, DAY, &LearnedRuntimes::default());
            let judged = judged(&mut estimator, &log);
            (
                estimator,
                judged.iter().map(|job| job.estimate).sum::<f64>(),
            )
        };
        let (estimator, sum) = run();
        let (again, same) = run();
        let learned = estimator.learned();
        assert_eq!((&learned, sum), (&again.learned(), same), "{estimate:?}");
        let text = serde_json::to_string(&learned).unwrap();
        assert!(text.len() < 13_000, "{estimate:?}: {} bytes", text.len());
        let read: LearnedRuntimes = serde_json::from_str(&text).unwrap();
        let restored = Estimator::new(estimate, DAY, &read);
        assert_eq!(restored.learned(), learned);
        for (promise, _) in &log[11_950..11_990] {
            let found = restored.estimate(promise);
            assert_eq!(found, estimator.estimate(promise), "{estimate:?}");
        }
    }
}

#[test]
fn old_kinds_are_dropped_from_memory() {
    let mut estimator = Estimator::new(RuntimeEstimate::History, DAY, &LearnedRuntimes::default());
    for user in 1..20_000 {
        estimator.learn(&promise(user, 3600.0), 360.0, 0.0);
    }
    assert!(estimator.history.size() <= 8193);
    let of = |user| estimator.estimate(&promise(user, 3600.0));
    assert!(of(19_999) < of(5) && of(5) == of(30_000));
}

#[test]
fn trees_are_fitted_at_most_once_a_day() {
    let log = log(3000, own_sizes);
    let mut estimator = Estimator::new(RuntimeEstimate::Tree, DAY, &LearnedRuntimes::default());
    let mut fits = Vec::new();
    for (promise, ran) in &log {
        let before = estimator.trees.clone();
        estimator.learn(promise, *ran, promise.submitted);
        if estimator.trees != before {
            fits.push((promise.submitted / DAY).floor());
        }
    }
    assert_eq!(fits, [0.0, 1.0, 2.0, 3.0]);
    let mut restored = Estimator::new(RuntimeEstimate::Tree, DAY, &estimator.learned());
    for (promise, ran) in &log[..ENOUGH - 1] {
        restored.learn(promise, *ran, 10.0 * DAY);
    }
    assert_eq!(restored.trees, estimator.trees);
}

#[test]
fn exact_sizes_score_one_and_constants_half() {
    let by = |estimate: fn(f64) -> f64| {
        let jobs: Vec<EstimatedCompletion> = (0..100)
            .map(|n| {
                let size = f64::from(n * 37 % 101 + 1);
                let user = if n < 40 { 1 } else { 100 + n as u32 };
                EstimatedCompletion {
                    user,
                    estimate: estimate(size),
                    size,
                }
            })
            .collect();
        estimate_quality(&jobs)
    };
    let [all, many, few] = by(|size| 2.0 * size);
    assert_eq!((all.jobs, many.jobs, few.jobs), (100, 40, 60));
    let found = (all.in_order, many.in_order, few.in_order);
    assert_eq!(found, (Some(1.0), Some(1.0), Some(1.0)));
    assert_eq!(all.ratios, Some([2.0; 5]));
    assert_eq!(by(|_| 5.0)[0].in_order, Some(0.5));
    assert_eq!(by(|size| -size)[0].in_order, Some(0.0));
    let nobody = estimate_quality(&[]);
    let found = (nobody[0].jobs, nobody[0].in_order, nobody[0].ratios);
    assert_eq!(found, (0, None, None));
}
