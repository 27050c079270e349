//! The results are compared with closed forms and other programs, with a stated confidence.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::artifact::{Backfill, Family, Preemption, Route, section_seven};
use crate::policy::{Event, FCFS, FIRST_FIT, System};
use std::sync::{Arc, Mutex};
use synth_simulation::NotConverged;

mod arrivals;
mod chains;
mod coverage;
mod dependence;
mod devices;
mod health;
mod priorities;
mod references;
mod rules;
mod sizes;
mod start_latency;
mod toy;

fn model(name: &str) -> Workload {
    let path = format!("{}/../../models/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
    Workload::read(path.as_ref()).unwrap().workload
}

fn one_server<S: AsRef<str>>(before: &str, cpu: u32, jobs: &[S]) -> Workload {
    let head = "kind: multiresource\ntime_unit: s\n";
    let mut text = format!("{head}{before}server: {{capacity: {{cpu: {cpu}}}}}\njobs:\n");
    for (i, job) in jobs.iter().map(AsRef::as_ref).enumerate() {
        let name = if job.contains("name: ") {
            String::new()
        } else {
            format!("name: t{i}, ")
        };
        let demand = if job.contains("demand: ") {
            ""
        } else {
            "demand: {cpu: 1}, "
        };
        text += &format!("  - {{{name}{demand}{job}}}\n");
    }
    Workload::parse(&text, "one").unwrap().workload
}

fn one_type(servers: u32, rate: f64) -> Workload {
    one_server(
        "",
        servers,
        &[format!("arrival_rate: {rate}, mean_size: 1")],
    )
}

fn events(events: u64) -> Settings {
    Settings {
        events,
        precision: 1e-9,
        ..Settings::default()
    }
}

fn one_run(count: u64) -> Settings {
    Settings {
        replications: 1,
        ..events(count)
    }
}

fn quiet(_: Progress) {}

fn rule(name: &str) -> Contender {
    Contender::parse(name).unwrap()
}

/// Checks that the value is in the 99.9 % interval, and that the interval is narrow enough.
fn agrees(estimate: Option<Estimate>, value: f64, within: f64, what: &str) {
    let estimate = estimate.unwrap();
    let is_covered = estimate.covers(value, 0.999);
    assert!(is_covered, "{what}: {value} against {estimate:?}");
    let is_narrow = estimate.relative() < within;
    assert!(is_narrow, "{what}: {estimate:?} is too wide");
}

/// M/M/1: E[T] = 1/(μ−λ), T is exponential, P(W > t) = ρ P(T > t), and P(Q > x) = ρ^(x+1).
#[test]
fn single_server_queue() {
    let watch = [
        (Threshold::Number(0), 0.8),
        (Threshold::Number(9), 0.8_f64.powi(10)),
        (Threshold::Response(5.0), (-1.0_f64).exp()),
        (Threshold::Response(15.0), (-3.0_f64).exp()),
        (Threshold::Waiting(5.0), 0.8 * (-1.0_f64).exp()),
    ];
    let mut settings = events(8_000_000);
    settings.watch = watch
        .map(|(threshold, _)| Watch {
            job_type: 0,
            threshold,
        })
        .to_vec();
    let run = simulate(&one_type(1, 0.8), FCFS, &settings, quiet).unwrap();
    for ((threshold, exact), watched) in watch.iter().zip(&run.watched) {
        assert_eq!(watched.watch.threshold, *threshold);
        agrees(watched.above, *exact, 0.06, "what is above");
    }
    agrees(run.mean_response, 5.0, 0.02, "E[T]");
    agrees(run.mean_number, 4.0, 0.02, "E[N]");
    let percentiles = run.types[0].percentiles.unwrap();
    for (found, probability) in percentiles.into_iter().zip([0.5_f64, 0.95, 0.99]) {
        let exact = -(1.0 - probability).ln() * 5.0;
        let is_near = (found / exact - 1.0).abs() < 0.04;
        assert!(is_near, "P{probability}: {found} for {exact}");
    }
    let waits = run.types[0].waiting_percentiles.unwrap();
    for (found, probability) in waits.into_iter().zip([0.5_f64, 0.95, 0.99]) {
        let exact = (0.8 / (1.0 - probability)).ln() * 5.0;
        let is_near = (found / exact - 1.0).abs() < 0.04;
        assert!(is_near, "P{probability} of waits: {found} for {exact}");
    }
    assert!((run.own.utilization[0] - 0.8).abs() < 0.005);
    let warm_up = run.warm_up / (run.simulated_time / 8.0);
    assert!((0.09..0.11).contains(&warm_up), "{warm_up}");
}

/// Returns the value of Erlang's C, by using the recursion B ← aB/(k + aB) for Erlang's B.
fn erlang_c(servers: u32, offered: f64) -> f64 {
    let blocking = (1..=servers).fold(1.0, |b, k| offered * b / (f64::from(k) + offered * b));
    blocking / (1.0 - offered / f64::from(servers) * (1.0 - blocking))
}

/// M/M/∞ with E\[N_i\] = λ_i/μ_i. The rates are similar, so the job that ends is drawn with a
/// bound.
#[test]
fn types_of_similar_rates_keep_their_own() {
    let jobs = [
        "arrival_rate: 10, mean_size: 1",
        "arrival_rate: 16, mean_size: .625",
    ];
    let workload = one_server("", 100_000, &jobs);
    let run = simulate(&workload, FIRST_FIT, &events(4_000_000), quiet).unwrap();
    for (job_type, mean_response) in run.types.iter().zip([1.0, 0.625]) {
        agrees(job_type.mean_number, 10.0, 0.01, &job_type.name);
        agrees(job_type.mean_response, mean_response, 0.01, &job_type.name);
    }
}

/// The exact means are from a quasi-birth-death process, checked against a truncated chain.
#[test]
fn preemptive_section_seven_has_its_exact_means() {
    let family = Family::Msr(section_seven(Preemption::Full, Route::ALL[0], 2.0));
    let policy = Contender::from(family);
    for (load, exact, budget, within) in [
        (0.5, [1.125, 2.5742, 1.5603], 5_000_000, 0.02),
        (0.9, [10.125, 15.0038, 11.6819], 20_000_000, 0.06),
    ] {
        let workload = model("section7").scaled(load / 0.9).unwrap();
        let run = policy.simulate(&workload, &events(budget), quiet).unwrap();
        for (job_type, exact) in run.types.iter().zip(exact) {
            let what = format!("E[N] of {} at {load}", job_type.name);
            agrees(job_type.mean_number, exact, within, &what);
        }
    }
}

#[test]
fn non_preemptive_section_seven_has_its_exact_means() {
    let preemption = Preemption::None;
    let policy = section_seven(preemption, "sequential-eager".parse().unwrap(), 0.17308);
    let policy = Contender::from(Family::Msr(policy));
    let run = policy.simulate(&model("section7"), &events(40_000_000), quiet);
    let run = run.unwrap();
    for (job_type, exact) in run.types.iter().zip([29.088, 50.874, 88.509]) {
        agrees(job_type.mean_number, exact, 0.15, &job_type.name);
    }
}

#[test]
fn fcfs_and_first_fit_match_another_simulator() {
    let half = model("section7").scaled(0.5 / 0.9).unwrap();
    let run = simulate(&half, FCFS, &events(5_000_000), quiet).unwrap();
    let number = run.mean_number.unwrap();
    let is_near = (number.mean - 2.452).abs() < 0.032 + number.half_width;
    assert!(is_near, "{number:?}");
    let run = simulate(&model("four_types"), FIRST_FIT, &events(20_000_000), quiet).unwrap();
    let response = run.mean_response.unwrap();
    let is_near = (response.mean - 12.6).abs() < 0.05 + 2.0 * response.half_width;
    assert!(is_near, "{response:?}");
}

#[test]
fn an_unstable_run_has_no_mean() {
    let run = simulate(&model("section7"), FCFS, &events(10_000_000), quiet).unwrap();
    assert_eq!(run.health, Health::Unstable);
    assert_eq!(run.ending, Ending::RunsAway);
    assert!(run.mean_response.is_none() && run.types.iter().all(|t| t.mean_number.is_none()));
}

#[test]
fn runs_are_deterministic_and_arrivals_common() {
    let workload = model("section7");
    let run = |policy: &Contender| policy.simulate(&workload, &events(300_000), quiet).unwrap();
    let text = |run: &Run| serde_json::to_string(run).unwrap();
    let found = text(&run(&rule("first-fit")));
    assert_eq!(found, text(&run(&rule("first-fit"))));
    let arrival = |event, system: &System| match event {
        Event::Arrival(i) => Some((system.now(), i)),
        _ => None,
    };
    let seen = [
        witnessed(&workload, Box::new(FIRST_FIT), 100_000, arrival),
        witnessed(&workload, Box::new(FCFS), 100_000, arrival),
    ];
    assert_eq!(seen[0][..1000], seen[1][..1000]);
}

/// Returns what `observe` returns for the events of a run, each before the policy reacts to it.
fn witnessed<T: Clone + Send + 'static>(
    workload: &Workload,
    policy: Box<dyn Policy>,
    events: u64,
    observe: fn(Event, &System) -> Option<T>,
) -> Vec<T> {
    #[derive(Clone)]
    struct Witness<T>(
        Box<dyn Policy>,
        fn(Event, &System) -> Option<T>,
        Arc<Mutex<Vec<T>>>,
    );
    impl<T: Clone + Send + 'static> Policy for Witness<T> {
        fn clocks(&self) -> usize {
            self.0.clocks()
        }

        fn preempts(&self) -> bool {
            self.0.preempts()
        }

        fn information(&self) -> Information {
            self.0.information()
        }

        fn begin(&mut self, system: &mut System) {
            self.0.begin(system);
        }

        fn react(&mut self, event: Event, system: &mut System) {
            self.2.lock().unwrap().extend((self.1)(event, system));
            self.0.react(event, system);
        }
    }
    let seen = Arc::default();
    let witness = Witness(policy, observe, Arc::clone(&seen));
    simulate(workload, witness, &one_run(events), quiet).unwrap();
    std::mem::take(&mut *seen.lock().unwrap())
}

#[test]
fn a_policy_that_overfills_the_server_is_caught() {
    #[derive(Clone)]
    struct Greedy;
    impl Policy for Greedy {
        fn react(&mut self, event: Event, system: &mut System) {
            if let Event::Arrival(i) = event {
                system.start(i);
            }
        }
    }
    let outcome = simulate(&one_type(1, 0.5), Greedy, &events(1_000_000), quiet);
    assert_eq!(outcome.unwrap_err(), Violation::Capacity(0));
}
