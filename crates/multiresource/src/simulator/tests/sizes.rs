use super::*;
use synth_simulation::{Sampler, Streams};

const LAWS: [&str; 6] = [
    "{law: exponential, mean: 2}",
    "{law: erlang, stages: 3, mean: 1}",
    "{law: hyperexponential, mean: 1, scv: 4}",
    "{law: hyperexponential, probabilities: [.3, .6, .1], means: [2, .5, 1]}",
    "{law: coxian, means: [1, 2], onward: [.25]}",
    "{law: coxian, means: [1, 2, .5], onward: [1, .1]}",
];

fn workload(capacity: u32, types: &[(f64, &str)]) -> Workload {
    let jobs = types.iter();
    let jobs = jobs.map(|(rate, size)| format!("arrival_rate: {rate}, size: {size}"));
    one_server("", capacity, &jobs.collect::<Vec<_>>())
}

fn moments(workload: &Workload, i: usize) -> (f64, f64) {
    let size = workload.types()[i].size();
    (size.mean(), size.mean().powi(2) * (1.0 + size.scv()))
}

/// The tolerance is 3.29 standard errors (99.9 %), by the moments of the sample.
#[test]
fn sampled_sizes_have_the_first_two_moments_of_their_law() {
    let others = [
        "{law: lognormal, mean: 3, scv: .5}",
        "{law: weibull, mean: 3, scv: .1}",
        "{law: weibull, mean: .2, scv: 3}",
        "{law: pareto, shape: 2, low: .1, high: 10}",
        "{law: pareto, shape: .5, low: 1, high: 100}",
        "{law: empirical, values: [1, 2, 10]}",
        "{law: empirical, values: [3, .5, 40], probabilities: [.25, .7, .05]}",
    ];
    let laws = LAWS.into_iter().map(|law| (law, 1));
    for (law, seed) in laws.chain(others.map(|law| (law, 3))) {
        let workload = workload(1, &[(0.1, law)]);
        let sampler = Sampler::of(workload.types()[0].size());
        let mut stream = Streams::new(seed, 0).sizes;
        let count = 1_000_000;
        let mut sums = [0.0; 3];
        for _ in 0..count {
            let size = sampler.draw(&mut stream);
            assert!(size > 0.0 && size.is_finite());
            for (sum, n) in sums.iter_mut().zip([1, 2, 4]) {
                *sum += size.powi(n);
            }
        }
        let [first, second, fourth] = sums.map(|sum| sum / f64::from(count));
        let (mean, square) = moments(&workload, 0);
        for (found, exact, variance) in [
            (first, mean, second - first * first),
            (second, square, fourth - second * second),
        ] {
            let error = (variance / f64::from(count)).sqrt();
            let is_near = (found - exact).abs() < 3.29 * error;
            assert!(is_near, "{law}: {found} for {exact}");
            let is_narrow = error < 0.02 * exact;
            assert!(is_narrow, "{law}: {error} is too wide for {exact}");
        }
    }
}

/// M/G/1: E[T] = E[S] + λE[S²]/(2(1−ρ)) (Pollaczek–Khinchine).
#[test]
fn a_single_server_has_the_mean_of_pollaczek_and_khinchine() {
    let without_stages = [
        "{law: deterministic, mean: 2}",
        "{law: lognormal, mean: 1, scv: 2}",
        "{law: weibull, mean: 1, scv: .3}",
        "{law: pareto, shape: 1.5, low: 1, high: 20}",
        "{law: empirical, values: [1, 2, 8], probabilities: [.5, .4, .1]}",
    ];
    let with_stages = LAWS[1..5].iter().map(|law| (*law, 0.04));
    for (law, within) in with_stages.chain(without_stages.map(|law| (law, 0.05))) {
        let (mean, _) = moments(&workload(1, &[(0.1, law)]), 0);
        let workload = workload(1, &[(0.7 / mean, law)]);
        let (_, square) = moments(&workload, 0);
        let exact = mean + 0.7 / mean * square / (2.0 * 0.3);
        let run = simulate(&workload, FCFS, &events(4_000_000), quiet).unwrap();
        agrees(run.mean_response, exact, within, law);
    }
}

#[test]
fn exponential_and_other_sizes_can_be_mixed() {
    let workload = workload(1, &[(0.2, LAWS[0]), (0.3, LAWS[2])]);
    let wait = (0.2 * 8.0 + 0.3 * 5.0) / (2.0 * 0.3);
    let run = simulate(&workload, FCFS, &events(6_000_000), quiet).unwrap();
    for (job_type, mean) in run.types.iter().zip([2.0, 1.0]) {
        agrees(job_type.mean_response, wait + mean, 0.03, &job_type.name);
    }
}

/// M/G/∞: E[N] = λE[S], and T = S.
#[test]
fn without_waiting_only_the_mean_size_matters() {
    for law in &LAWS[1..5] {
        let workload = workload(10_000, &[(20.0, law)]);
        let mean = workload.types()[0].mean_size();
        let run = simulate(&workload, FCFS, &events(1_000_000), quiet).unwrap();
        agrees(run.mean_number, 20.0 * mean, 0.02, law);
        agrees(run.mean_response, mean, 0.02, law);
    }
}

/// A preemptive priority by the index of the type. Its clock only draws random numbers.
#[derive(Clone)]
struct Priority;

impl Policy for Priority {
    fn preempts(&self) -> bool {
        true
    }

    fn clocks(&self) -> usize {
        1
    }

    fn begin(&mut self, system: &mut System) {
        system.set_clock(0, 0.1);
    }

    fn react(&mut self, _: Event, system: &mut System) {
        let Some(first) = (0..system.types()).find(|&i| system.running(i) + system.waiting(i) > 0)
        else {
            return;
        };
        for i in first + 1..system.types() {
            if system.running(i) > 0 {
                system.stop(i);
            }
        }
        if system.running(first) == 0 {
            system.start(first);
        }
    }
}

fn two_types() -> Workload {
    workload(
        1,
        &[
            (0.4, "{law: erlang, stages: 50, mean: 1}"),
            (0.2, "{law: hyperexponential, mean: 2, scv: 4}"),
        ],
    )
}

/// Preemptive resume: `E[T₁] = E[S₁] + R₁/(1−ρ₁)` and
/// `E[T₂] = E[S₂]/(1−ρ₁) + R₂/((1−ρ₁)(1−ρ₁−ρ₂))`, where `R_i = Σ λE[S²]/2` is the sum over the
/// types up to i. The means would be different if a preempted job had to start again.
#[test]
fn a_preempted_job_resumes_where_it_was_stopped() {
    let workload = two_types();
    let (first, second) = (moments(&workload, 0), moments(&workload, 1));
    let residual = 0.4 * first.1 / 2.0;
    let both = residual + 0.2 * second.1 / 2.0;
    let exact = [
        first.0 + residual / 0.6,
        second.0 / 0.6 + both / (0.6 * 0.2),
    ];
    let run = simulate(&workload, Priority, &events(10_000_000), quiet).unwrap();
    assert!(run.own.counters.preemptions > 100_000);
    for (job_type, exact) in run.types.iter().zip(exact) {
        agrees(job_type.mean_response, exact, 0.05, &job_type.name);
    }
}

/// The server is then empty at the same times for all policies that never idle.
#[test]
fn arrivals_and_sizes_are_common_and_work_is_conserved() {
    let workload = two_types();
    let policies: [Box<dyn Policy>; 3] = [Box::new(FCFS), Box::new(FIRST_FIT), Box::new(Priority)];
    let times = policies.map(|policy| {
        witnessed(&workload, policy, 200_000, |event, system| {
            let is_empty = (0..system.types()).all(|i| system.present(i) == 0);
            (is_empty && matches!(event, Event::Completion(_))).then(|| system.now())
        })
    });
    let count = times.iter().map(Vec::len).min().unwrap();
    assert!(count > 10_000, "{count} busy periods");
    for n in 0..count {
        for other in &times[1..] {
            assert!((times[0][n] - other[n]).abs() < 1e-6, "busy period {n}");
        }
    }
}

/// Clocks are still used for the slots that are not ended by a job.
#[test]
fn the_calendar_reproduces_exponential_results() {
    let path = format!("{}/../../models/section7.yaml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let line = "size: {law: hyperexponential, probabilities: [.5, .5], means: [1, 1]}";
    let disguised = text.replace("mean_size: 1", line);
    let workload = Workload::parse(&disguised, "disguised").unwrap().workload;
    assert!(workload.types().iter().all(|t| !t.size().is_exponential()));
    let route = "sequential-eager".parse().unwrap();
    let preemptive = section_seven(Preemption::Full, Route::ALL[0], 2.0);
    let draining = section_seven(Preemption::None, route, 0.17308);
    for (load, policy, exact, budget, within) in [
        (0.5, preemptive, [1.125, 2.5742, 1.5603], 3_000_000, 0.03),
        (0.9, draining, [29.088, 50.874, 88.509], 20_000_000, 0.2),
    ] {
        let workload = workload.scaled(load / 0.9).unwrap();
        let policy = Contender::from(Family::Msr(policy));
        let run = policy.simulate(&workload, &events(budget), quiet).unwrap();
        for (job_type, exact) in run.types.iter().zip(exact) {
            agrees(job_type.mean_number, exact, within, &job_type.name);
        }
    }
}

#[test]
fn all_work_is_done_under_every_rule_and_a_seed_has_one_result() {
    let workload = model("section7_phases").scaled(0.625).unwrap();
    let msr = |preemption, backfill| {
        let mut policy = section_seven(preemption, "sequential-eager".parse().unwrap(), 0.2);
        policy.backfill = backfill;
        Contender::from(Family::Msr(policy))
    };
    let contenders = [
        rule("first-fit"),
        msr(Preemption::Full, Backfill::FirstFit),
        msr(Preemption::None, Backfill::None),
        msr(Preemption::Setup, Backfill::None),
    ];
    for contender in contenders {
        let run = || {
            contender
                .simulate(&workload, &events(3_000_000), quiet)
                .unwrap()
        };
        let (run, again) = (run(), run());
        assert_eq!(run.health, Health::Settled, "{contender:?}");
        for (job_type, t) in run.types.iter().zip(workload.types()) {
            let load = t.offered_load();
            agrees(job_type.mean_in_service, load, 0.05, &job_type.name);
        }
        let [run, again] = [run, again].map(|run| serde_json::to_string(&run).unwrap());
        assert_eq!(run, again);
    }
}

#[test]
fn instability_is_distinguished_from_variability() {
    let law = "{law: hyperexponential, mean: 1, scv: 50}";
    for (rate, health) in [(0.8, Health::Settled), (1.1, Health::Unstable)] {
        let workload = workload(1, &[(rate, law)]);
        let run = simulate(&workload, FCFS, &events(6_000_000), quiet).unwrap();
        assert_eq!(run.health, health, "{rate}");
    }
}
