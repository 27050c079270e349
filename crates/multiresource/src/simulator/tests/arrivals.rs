use super::*;
use crate::simulator::laws;
use synth_simulation::{Arrival, Streams};

fn workload(arrivals: &[&str]) -> Workload {
    let jobs = arrivals.iter();
    let jobs = jobs.map(|arrivals| format!("mean_size: 1, {arrivals}"));
    one_server("", 1, &jobs.collect::<Vec<_>>())
}

fn arrivals(workload: &Workload, count: usize) -> Vec<Arrival> {
    let mut block = vec![Arrival::default(); count];
    laws::arrivals(workload, Streams::new(5, 0).arrivals).fill(&mut block, &mut []);
    block
}

const MIXED: [&str; 5] = [
    "arrival_rate: 3",
    "arrivals: {process: renewal, interarrival: {law: lognormal, mean: .25, scv: 4}}",
    "arrivals: {process: markov-modulated, rates: [1, 10], switching: [[0, 1], [2, 0]]}",
    "arrivals: {process: batches, rate: 2, sizes: [1, 5], probabilities: [.9, .1]}",
    "arrivals: {process: renewal, interarrival: {law: deterministic, mean: .5}}",
];

/// Checks that the mean of at least 100 independent samples is within 3.5 standard errors (99.9 %),
/// and that the standard error is small enough.
pub(super) fn samples_agree(samples: &[f64], exact: f64, within: f64, what: &str) {
    let n = samples.len() as f64;
    let mean = samples.iter().sum::<f64>() / n;
    let variance = samples.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let error = (variance / n).sqrt();
    let is_near = (mean - exact).abs() <= 3.5 * error;
    assert!(is_near, "{what}: {mean} for {exact} ± {error}");
    assert!(3.5 * error < within * exact, "{what}: ±{error} is too wide");
}

fn counts(arrivals: &str, window: f64, windows: usize) -> Vec<f64> {
    let workload = workload(&[arrivals]);
    let mut flow = laws::arrivals(&workload, Streams::new(7, 0).arrivals);
    let mut counts = vec![0.0; windows];
    let mut block = [Arrival::default(); 512];
    loop {
        flow.fill(&mut block, &mut []);
        for arrival in block {
            match counts.get_mut((arrival.time / window) as usize) {
                Some(count) => *count += 1.0,
                None => return counts,
            }
        }
    }
}

/// Returns the mean of each group of a thousand windows, since these are almost independent.
pub(super) fn groups(windows: &[f64]) -> Vec<f64> {
    let groups = windows.chunks(1000);
    groups.map(|own| own.iter().sum::<f64>() / 1000.0).collect()
}

fn check_counts(arrivals: &str, window: f64, rate: f64, variance: f64) {
    let counts = counts(arrivals, window, 100_000);
    samples_agree(&counts, rate * window, 0.05, arrivals);
    let squares: Vec<f64> = counts.iter().map(|n| (n - rate * window).powi(2)).collect();
    samples_agree(&groups(&squares), variance, 0.05, arrivals);
}

#[test]
fn poisson_counts_have_their_mean_as_variance() {
    check_counts("arrival_rate: 3", 2.0, 3.0, 6.0);
    let text = "arrivals: {process: batches, rate: 3, sizes: [1]}";
    check_counts(text, 2.0, 3.0, 6.0);
}

/// `Var N(t) = λ_b t E[B²]`.
#[test]
fn batches_have_their_variance() {
    check_counts(MIXED[3], 2.0, 2.8, 2.0 * 2.0 * 3.4);
}

/// Two states with rates a, b, left at rates r, s (Heffes, Lucantoni, IEEE JSAC 4(6), 1986):
/// `Var N(t) = λt + 2 (a−b)² r s / (r+s)³ (t − (1 − e^−(r+s)t)/(r+s))`.
#[test]
fn modulated_arrivals_have_their_variance_over_short_and_long_windows() {
    let (a, b, r, s) = (1.0, 10.0, 1.0, 2.0);
    let rate = (a * s + b * r) / (r + s);
    for window in [0.2, 1.0, 5.0] {
        let memory: f64 = r + s;
        let lasting = window + (-memory * window).exp_m1() / memory;
        let excess = 2.0 * f64::powi(a - b, 2) * r * s / memory.powi(3) * lasting;
        check_counts(MIXED[2], window, rate, rate * window + excess);
    }
}

/// Erlang-2 intervals are every second point of a Poisson process:
/// `Var N(t) = λt/2 + (1 − e^−4λt)/8`.
#[test]
fn renewal_counts_have_their_variance() {
    let window = 50.0;
    let erlang = "arrivals: {process: renewal, interarrival: {law: erlang, stages: 2, mean: 1}}";
    check_counts(erlang, window, 1.0, 0.5 * window + 0.125);
    let counts = counts(MIXED[4], 1.25, 1000);
    assert!(counts[1..].iter().all(|n| *n == 2.0 || *n == 3.0));
}

#[test]
fn interarrival_times_are_independent_and_of_their_law() {
    let arrivals = arrivals(&workload(&[MIXED[1]]), 1_000_000);
    let gaps: Vec<f64> = arrivals.windows(2).map(|w| w[1].time - w[0].time).collect();
    samples_agree(&gaps, 0.25, 0.05, "mean");
    // The distribution of the root is closer to a normal one, with E[√S] = √m (1 + scv)^(−1/8).
    let roots: Vec<f64> = gaps.iter().map(|gap| gap.sqrt()).collect();
    samples_agree(&roots, 0.5 * 5.0_f64.powf(-0.125), 0.05, "roots");
    let centre = 0.5 * 5.0_f64.powf(-0.125);
    let products = roots.windows(2).step_by(2);
    let products = products.map(|w| 1.0 + (w[0] - centre) * (w[1] - centre));
    let products: Vec<f64> = products.collect();
    samples_agree(&products, 1.0, 0.05, "correlation of neighbours");
}

#[test]
fn arrivals_do_not_depend_on_the_blocks() {
    for laws in [
        &MIXED[..1],
        &["arrival_rate: 3", "arrival_rate: .2"],
        &MIXED,
    ] {
        let workload = workload(laws);
        let whole = arrivals(&workload, 5000);
        for size in [1, 7, 999] {
            let mut flow = laws::arrivals(&workload, Streams::new(5, 0).arrivals);
            let mut parts = Vec::new();
            while parts.len() < whole.len() {
                let mut block = vec![Arrival::default(); size];
                flow.fill(&mut block, &mut []);
                parts.extend(block);
            }
            assert_eq!(parts[..whole.len()], whole, "blocks of {size}");
        }
        assert!(whole.windows(2).all(|w| w[0].time <= w[1].time));
        assert!(whole[0].time > 0.0);
    }
}

#[test]
fn arrivals_of_a_type_do_not_depend_on_other_types() {
    let of_first = |laws: &[&str]| -> Vec<f64> {
        let all = arrivals(&workload(laws), 2000);
        let first = all.iter().filter(|a| a.class == 0);
        first.map(|a| a.time).take(200).collect()
    };
    let others = [MIXED[1], MIXED[4], MIXED[3]];
    let first = of_first(&MIXED[1..]);
    assert_eq!(first.len(), 200);
    assert_eq!(first, of_first(&others));
    assert_eq!(first, of_first(&MIXED[1..2]));
}

#[test]
fn every_type_arrives_at_its_rate() {
    let poisson = ["arrival_rate: 3", "arrival_rate: .5", "arrival_rate: 6.5"];
    for laws in [&poisson[..], &MIXED] {
        let workload = workload(laws);
        let all = arrivals(&workload, 2_000_000);
        let end = all[all.len() - 1].time;
        for (i, job_type) in workload.types().iter().enumerate() {
            let count = all.iter().filter(|a| a.class as usize == i).count() as f64;
            let expected = job_type.arrival_rate() * end;
            let spread = (job_type.arrivals().dispersion() * expected).sqrt() + 1.0;
            let away = (count - expected).abs() / spread;
            assert!(away < 4.0, "{}: {count} for {expected}", job_type.name());
        }
    }
}

#[test]
fn simultaneous_arrivals_keep_their_order() {
    let batches = workload(&[
        "arrivals: {process: batches, rate: 1, sizes: [3]}",
        MIXED[0],
    ]);
    let all = arrivals(&batches, 3000);
    let mut batch = 0;
    while batch + 3 <= all.len() {
        if all[batch].class == 1 {
            batch += 1;
            continue;
        }
        let jobs = &all[batch..batch + 3];
        assert!(jobs.iter().all(|job| *job == all[batch]));
        batch += 3;
    }
    let clock = "arrivals: {process: renewal, interarrival: {law: deterministic, mean: .5}}";
    let twice = "arrivals: {process: renewal, interarrival: {law: deterministic, mean: .25}}";
    let found = arrivals(&workload(&[clock, twice]), 6);
    let found: Vec<(f64, u32)> = found.iter().map(|a| (a.time, a.class)).collect();
    let half = [(0.25, 1), (0.5, 0), (0.5, 1)];
    assert_eq!(found[..3], half);
    assert_eq!(found[3..], half.map(|(time, class)| (time + 0.5, class)));
}
