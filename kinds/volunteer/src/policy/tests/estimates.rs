#![allow(clippy::unwrap_used)]
use super::*;

/// This also checks that only the order of turnarounds matters.
#[test]
fn percentiles_match_direct_counting() {
    let mut stream = Streams::new(5, 0).arrivals;
    for _ in 0..200 {
        let mut pair = || {
            let known = stream.uniform() > 0.1;
            History {
                results: 1,
                known,
                turnaround: if known {
                    (stream.uniform() * 20.0).floor() + 1.0
                } else {
                    3.0
                },
                valid: (stream.uniform() * 16.0) as u32,
            }
        };
        let pairs: Vec<History> = (0..60).map(|_| pair()).collect();
        let found = percentiles(&pairs);
        for (own, p) in pairs.iter().zip(&found) {
            let share = |count: usize| 100.0 * count as f64 / pairs.len() as f64;
            let slower =
                |other: &&History| own.known && (!other.known || other.turnaround > own.turnaround);
            let x = share(pairs.iter().filter(slower).count());
            let y = if own.valid > 10 {
                f64::INFINITY
            } else {
                share(pairs.iter().filter(|other| other.valid < own.valid).count())
            };
            let expected = if own.known { x.min(y) } else { 0.0 };
            assert_eq!(*p, expected);
        }
        let mapped: Vec<History> = pairs
            .iter()
            .map(|own| History {
                turnaround: (own.turnaround / 7.0).exp() + own.turnaround.powi(3),
                ..*own
            })
            .collect();
        assert_eq!(percentiles(&mapped), found);
    }
}

#[test]
fn new_versions_inherit_at_most_ten_results() {
    let mut old = History::default();
    for n in 1..=30 {
        old.add_turnaround(f64::from(n));
        old.add_validation(true);
    }
    let copied = old.copied();
    assert_eq!((copied.results, copied.valid), (10, 30));
    assert_eq!(copied.turnaround, old.turnaround);
    assert_eq!(copied.copied(), copied);
    let mut new = copied;
    new.add_turnaround(copied.turnaround + 11.0);
    assert!((new.turnaround - copied.turnaround - 1.0).abs() < 1e-12);
    let mut few = History::default();
    [3.0, 5.0, 10.0]
        .into_iter()
        .for_each(|t| few.add_turnaround(t));
    assert!((few.turnaround - 6.0).abs() < 1e-12);
}

/// A Kaplan–Meier example by hand. There are results at 1, 3 and 4, and censored values at 2 and 5.
#[test]
fn turnaround_matches_kaplan_meier() {
    let law = |q: f64| turnaround([3.0, 1.0, 4.0], [2.0, 5.0], q, &[]);
    for (q, expected) in [
        (0.2, 1.0),
        (0.21, 3.0),
        (0.466, 3.0),
        (0.467, 4.0),
        (0.733, 4.0),
    ] {
        assert_eq!(law(q), expected, "{q}");
    }
    assert_eq!(law(0.99), 5.0);
    assert_eq!(turnaround([], [], 0.5, &[2.0, 4.0]), 2.0);
    // Beyond 10, half of the others are needed for 0.75, and four fifths for 0.9.
    let others = [5.0, 11.0, 12.0, 13.0, 14.0];
    let half = |q: f64| turnaround((1..=10).map(f64::from), [20.0; 10], q, &others);
    for (q, expected) in [(0.25, 5.0), (0.5, 10.0), (0.75, 12.0), (0.9, 14.0)] {
        assert_eq!(half(q), expected, "{q}");
    }
}

/// The tolerance is ± 3.3 √(q(1−q)/4000) for a probability of 0.999, plus half a result of 150.
#[test]
fn quantiles_have_nominal_coverage() {
    type Law = fn(&mut RandomStream) -> f64;
    let laws: [Law; 3] = [
        |s| 10.0 * s.exponential(),
        |s| (1.0 + s.normal()).exp(),
        |s| 4.0 + 8.0 * s.uniform() + if s.uniform() < 0.1 { 20.0 } else { 0.0 },
    ];
    for (n, law) in laws.into_iter().enumerate() {
        let mut stream = Streams::new(6 + n as u64, 0).arrivals;
        let mut others: Vec<f64> = (0..1000).map(|_| law(&mut stream)).collect();
        others.sort_by(f64::total_cmp);
        for q in [0.5, 0.8, 0.9] {
            let (mut covered, mut short) = (0, 0);
            for _ in 0..4000 {
                let sent = (0..400).map(|_| (10.0 * stream.uniform(), law(&mut stream)));
                let sent: Vec<(f64, f64)> = sent.collect();
                let done = |(sent, took): &&(f64, f64)| sent + took <= 12.0;
                let came: Vec<f64> = sent.iter().filter(done).map(|own| own.1).collect();
                let out = sent.iter().filter(|own| !done(own));
                let awaited: Vec<f64> = out.map(|own| 12.0 - own.0).collect();
                let next = law(&mut stream);
                let end = turnaround(came.iter().copied(), awaited, q, &others);
                covered += usize::from(next <= end);
                short += usize::from(next <= turnaround(came, [], q, &[]));
            }
            let (covered, short) = (covered as f64 / 4000.0, short as f64 / 4000.0);
            let most = 3.3 * (q * (1.0 - q) / 4000.0_f64).sqrt() + 0.5 / 150.0;
            assert!((covered - q).abs() <= most, "law {n}, {q}: {covered}");
            let is_less = short < q - 2.0 * most;
            assert!(is_less, "law {n}, {q} without awaited ones: {short}");
        }
    }
}

#[test]
fn completion_adds_sending_time_and_turnaround() {
    assert_eq!(completion(100.0, 30, 10.0, 5.0), Some(108.0));
    assert_eq!(completion(1.0, 0, f64::NAN, 5.0), Some(6.0));
    assert_eq!(completion(1.0, 30, 0.0, 5.0), None);
    assert_eq!(last_of(4), 0.8);
    assert!(!enough_done(9, 100) && enough_done(10, 100));
    assert!(!enough_done(14, 300) && enough_done(15, 300) && enough_done(3, 3));
}
