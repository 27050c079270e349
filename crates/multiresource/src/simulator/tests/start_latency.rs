use super::*;
use crate::policy::{Backfilling, Estimates};
use synth_simulation::Estimate;

fn two(before: &str, size: &str, wide: &str) -> Workload {
    let small = format!("demand: {{cpu: 1}}, arrival_rate: .9, size: {{{size}}}");
    let wide = format!("demand: {{cpu: 3}}, arrival_rate: .2, size: {{{wide}}}");
    one_server(before, 4, &[small, wide])
}

/// M/G/1 with G = L + S: `E[W] = λ E[G²] / (2 (1 − ρ))` and `E[T] = E[W] + E[G]`. The waiting time
/// ends before the latency.
#[test]
fn a_single_server_has_the_mean_of_pollaczek_and_khinchine() {
    for (latency, size, mean, variance) in [
        (".5", "mean_size: 1", 1.5, 1.0),
        ("{law: exponential, mean: .5}", "mean_size: 1", 1.5, 1.25),
        (".5", "size: {law: deterministic, mean: 1}", 1.5, 0.0),
        (
            "{law: uniform, low: 0, high: 2}",
            "size: {law: erlang, stages: 2, mean: 1}",
            2.0,
            1.0 / 3.0 + 0.5,
        ),
    ] {
        let rate = 0.7 / mean;
        let job = format!("name: a, demand: {{cpu: 1}}, arrival_rate: {rate}, {size}");
        let late = one_server(&format!("start_latency: {latency}\n"), 1, &[job]);
        let waiting = rate * (variance + mean * mean) / (2.0 * 0.3);
        let run = simulate(&late, FCFS, &events(4_000_000), quiet).unwrap();
        agrees(run.mean_response, waiting + mean, 0.04, latency);
        agrees(run.mean_waiting, waiting, 0.06, latency);
        let used = run.own.utilization[0];
        let is_near = (used - 0.7).abs() < 0.01;
        assert!(is_near, "{latency}: capacity is held for {used}");
    }
}

#[test]
fn a_latency_is_a_longer_size() {
    let latency = "start_latency: {law: exponential, mean: .4}\n";
    let text = "law: exponential, mean: 1";
    let late = two(latency, text, "law: exponential, mean: 2");
    let coxian = |mean: u32| format!("law: coxian, means: [.4, {mean}], onward: [1]");
    let longer = two("", &coxian(1), &coxian(2));
    let mean = |workload: &Workload| -> Estimate {
        let run = simulate(workload, FIRST_FIT, &events(4_000_000), quiet).unwrap();
        run.mean_response.unwrap()
    };
    let (late, longer) = (mean(&late), mean(&longer));
    let apart = (late.mean - longer.mean).abs();
    let is_near = apart < late.half_width + longer.half_width;
    assert!(is_near, "{late:?} {longer:?}");
    assert!(late.relative() < 0.03 && longer.relative() < 0.03);
}

#[test]
fn rules_that_plan_add_the_latency() {
    let sizes = |values: &str| format!("law: empirical, values: [{values}]");
    let late = "known: size\nstart_latency: .25\n";
    let late = two(late, &sizes(".5, 1.5"), &sizes("1, 3"));
    let longer = two("known: size\n", &sizes(".75, 1.75"), &sizes("1.25, 3.25"));
    for by_mean in [false, true] {
        let mean = |workload: &Workload| {
            let estimates = if by_mean {
                Estimates::Means
            } else {
                Estimates::Limits
            };
            let easy = Backfilling::easy(estimates).rule(workload, 1);
            let (fleet, settings) = (workload.clone().into(), one_run(200_000));
            let run = Simulation::new(&fleet, &*easy, &settings).run(&settings, &mut quiet);
            run.unwrap().mean_response.unwrap().mean
        };
        assert!((mean(&late) / mean(&longer) - 1.0).abs() < 1e-9);
    }
}

/// The jobs of a batch can have the same size, but their latencies are independent. For batches of
/// two with equal sizes, `lim Var W(t)/t` is `λ_b Var(2 S + L₁ + L₂) + λ_b (2 E[S + L])²`.
#[test]
fn jobs_of_a_batch_have_independent_latencies() {
    let lines = [
        "name: a, demand: {cpu: 1}, size: {law: exponential, mean: 2}, arrivals: {process: batches, rate: .1, sizes: [2], alike: 1}",
    ];
    let late = one_server("start_latency: {law: exponential, mean: .5}\n", 1, &lines);
    let class = &classes(&late)[0];
    let variance = 4.0 * 4.0 + 2.0 * 0.25;
    let expected = 0.1 * (variance + 25.0);
    let found = class.arrival_rate * class.mean_size.powi(2) * (class.dispersion + class.scv);
    assert!((found / expected - 1.0).abs() < 1e-12, "{found} {expected}");
}

#[test]
fn rejects_preemptive_rules() {
    let job = "name: a, demand: {cpu: 1}, arrival_rate: .9, mean_size: 1";
    let late = one_server("start_latency: .25\n", 4, &[job]);
    for rule in Contender::rules() {
        let contender = Contender::from(rule);
        let run = contender.simulate(&late, &one_run(1000), quiet);
        let refused =
            matches!(&run, Err(Failure::Unsuitable { why, .. }) if why.0.contains("start latency"));
        assert_eq!(refused, contender.preempts(), "{}", rule.name);
        let fits = contender.build_policy(&late.clone().into()).map(drop);
        assert_eq!(fits.err(), run.err(), "{}", rule.name);
    }
}
