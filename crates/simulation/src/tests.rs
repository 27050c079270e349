#![allow(clippy::unwrap_used)]

use super::mm1::{Own, run};
use super::*;

/// E\[T\] = 1/(μ−λ), P(Q > x) = ρ^(x+1), and the server is busy for ρ of the time.
#[test]
fn mm1_matches_closed_forms() {
    let settings = Settings {
        precision: 0.02,
        watch: vec![Watch {
            job_type: 0,
            threshold: Threshold::Number(4),
        }],
        ..Settings::default()
    };
    let run = run(0.7, &settings);
    assert_eq!(run.health, Health::Settled);
    assert_eq!(run.ending, Ending::Precision);
    for (found, exact) in [
        (run.mean_response, 1.0 / 0.3),
        (run.mean_number, 0.7 / 0.3),
        (run.types[0].mean_in_service, 0.7),
        (run.watched[0].above, 0.7_f64.powi(5)),
        (run.own.busy, 0.7),
    ] {
        let found = found.unwrap();
        assert!(found.covers(exact, 0.999), "{found:?} for {exact}");
        assert!(found.relative() < 0.1);
    }
}

/// More misses have a probability of 0.003 (binomial). Stopping at the first precise check fails.
#[test]
fn stopping_by_precision_does_not_bias_intervals() {
    let misses = (1..=40).map(|seed| {
        let settings = Settings {
            seed,
            precision: 0.02,
            ..Settings::default()
        };
        let run = run(0.8, &settings);
        assert_eq!(run.ending, Ending::Precision);
        let found = run.mean_response.unwrap();
        (!found.covers(5.0, 0.95)).then_some(found.mean < 5.0)
    });
    let misses: Vec<bool> = misses.flatten().collect();
    let low = misses.iter().filter(|is_low| **is_low).count();
    let high = misses.len() - low;
    assert!(misses.len() <= 6, "{low} low, {high} high");
    assert!(low <= 4 && high <= 4, "{low} low, {high} high");
}

#[test]
fn percentiles_do_not_contradict_watched_times() {
    let p95 = 20_f64.ln() / 0.3;
    let times = [0.98, 0.99, 0.995, 1.0, 1.005, 1.01, 1.02].map(|part| part * p95);
    let watch = times.map(|time| Watch {
        job_type: 0,
        threshold: Threshold::Response(time),
    });
    let settings = Settings {
        watch: watch.into(),
        events: 300_000,
        ..Settings::default()
    };
    let run = run(0.7, &settings);
    let [_, measured, _] = run.types[0].percentiles.unwrap();
    for (own, time) in run.watched.iter().zip(times) {
        let above = own.above.unwrap().mean;
        let is_consistent = if above <= 0.05 {
            measured <= time
        } else {
            measured >= time
        };
        assert!(
            is_consistent,
            "{above} take longer than {time}, but P95 is {measured}"
        );
    }
}

#[test]
fn kind_specific_fields_are_flattened() {
    let settings = Settings {
        events: 400_000,
        ..Settings::default()
    };
    let run = run(0.5, &settings);
    let value = serde_json::to_value(&run).unwrap();
    assert!(value["busy"]["mean"].is_number(), "{value}");
    assert!(value["types"][0].get("own").is_none());
    let text = serde_json::to_string(&run).unwrap();
    let read: Run<Own> = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), text);
}

#[test]
fn an_unstable_queue_has_no_mean() {
    let run = run(1.2, &Settings::default());
    assert_eq!(run.health, Health::Unstable);
    assert_eq!(run.ending, Ending::RunsAway);
    assert!(run.mean_response.is_none() && run.own.busy.is_none() && run.types[0].grows);
}

#[test]
fn arrivals_can_start_with_jobs_in_the_system() {
    let of = |early: &[u64]| {
        let mut arrivals = Arrivals::poisson(&[1.0, 2.0], Streams::new(1, 0).arrivals);
        arrivals.begin_with(early);
        let mut block = [Arrival::default(); 40];
        let (first, rest) = block.split_at_mut(7);
        arrivals.fill(first, &mut []);
        arrivals.fill(rest, &mut []);
        block
    };
    let (plain, crowd) = (of(&[]), of(&[2, 8]));
    assert!(crowd[..10].iter().all(|arrival| arrival.time == 0.0));
    let first = crowd[..10].iter().filter(|arrival| arrival.class == 0);
    assert_eq!(first.count(), 2);
    assert_eq!(plain[..30], crowd[10..]);
}
