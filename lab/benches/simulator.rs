//! This benchmark measures the number of events per second on a single core. In `…/sizes`, the
//! sizes are not exponential or the rule knows the sizes, so a calendar of events is needed.
//! `queue` is the time for one completion and for the arrivals that replace the jobs that are
//! started, if there are 10 000 waiting jobs.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

#[allow(dead_code, reason = "used by another benchmark")]
mod instances;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use synth::multiresource::artifact::{
    AdaptiveMsrConfig, Backfill, BackfillingConfig, EmptySlots, Family, Placement, Preemption,
    Switching,
};
use synth::multiresource::policy::{Backfilling, Estimates, Event, System};
use synth::multiresource::replay::{
    self, Clock, DecisionState, DemandKinds, Log, Speed, replay_workload,
};
use synth::multiresource::simulator::{Contender, Settings};
use synth::multiresource::synthesis::{Analysed, SynthesisOptions, SynthesisOutcome, synthesize};
use synth::multiresource::workload::{Fleet, Workload};
use synth::trace::{Account, Observed, Servers, Tick, TraceFormat};

const EVENTS: u64 = 5_000_000;

fn text(name: &str) -> String {
    let path = format!("{}/../models/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap()
}

fn model(name: &str) -> Workload {
    Workload::parse(&text(name), name).unwrap().workload
}

fn lognormal() -> Workload {
    let line = |line: &str| match line.split_once("mean_size: ") {
        Some((head, mean)) => {
            let mean = mean.trim_end_matches('}');
            format!("{head}size: {{law: lognormal, mean: {mean}, scv: 4}}}}\n")
        }
        None => format!("{line}\n"),
    };
    let text: String = text("borg_cell_b").lines().map(line).collect();
    Workload::parse(&text, "lognormal").unwrap().workload
}

fn msr(workload: &Workload, options: SynthesisOptions) -> Contender {
    match synthesize(workload, &options).unwrap() {
        SynthesisOutcome::Policy(synthesis) => synthesis.artifact.policy.into(),
        _ => panic!("no policy"),
    }
}

/// The prices are scaled so that the value of the best schedule is 1.
fn adaptive_msr(workload: &Workload) -> Contender {
    let options = SynthesisOptions::new(Preemption::None);
    let SynthesisOutcome::Policy(synthesis) = synthesize(workload, &options).unwrap() else {
        panic!("no policy");
    };
    let prices = synthesis.solution.certificate.prices.iter();
    let prices = prices.zip(workload.types());
    let prices: Vec<f64> = prices.map(|(y, t)| y / t.offered_load()).collect();
    let worth = |u: &Vec<u32>| -> f64 {
        let jobs = u.iter().zip(&prices);
        jobs.map(|(count, price)| f64::from(*count) * price).sum()
    };
    let schedules = synthesis.policy.schedules.clone();
    let dearest = schedules.iter().map(worth).fold(0.0, f64::max);
    let policy = AdaptiveMsrConfig {
        limits: false,
        schedules,
        prices: prices.iter().map(|p| p / dearest).collect(),
        switching: Switching {
            waste: 0.5,
            margin: 0.0,
            floor: 2.0,
            patience: 2.0,
            drain: 0.0,
            let_in: 0.0,
        },
    };
    Family::AdaptiveMsr(policy).into()
}

fn analysed(preemption: Preemption) -> SynthesisOptions {
    SynthesisOptions {
        effort: 0.1,
        backfill: Backfill::None,
        empty_slots: EmptySlots::Phantom,
        ..SynthesisOptions::new(preemption)
    }
}

fn group_of(c: &mut Criterion, events: u64) -> (BenchmarkGroup<'_, WallTime>, Settings) {
    let mut group = c.benchmark_group("simulator");
    group.throughput(Throughput::Elements(events));
    group.sample_size(10);
    let settings = Settings {
        events,
        precision: 1e-9,
        replications: 1,
        ..Settings::default()
    };
    (group, settings)
}

fn bench(c: &mut Criterion, name: &str, contender: &Contender, workload: &Workload) {
    let (mut group, settings) = group_of(c, EVENTS);
    group.bench_function(name, |b| {
        b.iter(|| {
            let run = contender.simulate(workload, &settings, |_| {}).unwrap();
            // A run that ends too early would look like a fast run.
            assert!(run.events >= EVENTS, "{name}: {:?}", run.ending);
        });
    });
    group.finish();
}

fn fleets(c: &mut Criterion) {
    let text = instances::large_fleet(1);
    let fleet = Fleet::parse(&text, "fleet").unwrap().workload;
    let options = SynthesisOptions::new(Preemption::None);
    let SynthesisOutcome::Policy(analysed) = Analysed::of_fleet(&fleet, &options).unwrap() else {
        panic!("no policy");
    };
    let synthesis = analysed.partitioned(&fleet).unwrap();
    let best_fit = Backfilling {
        placement: Placement::Best,
        ..Backfilling::FIRST_FIT
    };
    let keeping = BackfillingConfig {
        reserve: 1.0,
        ..BackfillingConfig::new(best_fit, false)
    };
    let named = |name| Contender::named(name, &fleet).unwrap();
    let (mut group, settings) = group_of(c, EVENTS);
    for (name, policy) in [
        ("first-fit", named("first-fit")),
        ("best-fit", named("best-fit")),
        ("easy-by-mean", named("easy-by-mean")),
        ("pooled", Family::from(keeping).into()),
        ("partition", synthesis.artifact.policy.into()),
    ] {
        group.bench_function(format!("{name}/fleet"), |b| {
            b.iter(|| {
                let run = policy.simulate_on(&fleet, &settings, |_| ()).unwrap();
                assert!(run.events >= EVENTS, "{name}: {:?}", run.ending);
            });
        });
    }
    group.finish();
}

fn simulations(c: &mut Criterion) {
    let [section7, one_or_all] = ["section7", "one_or_all"].map(model);
    let rule = |name| Contender::parse(name).unwrap();
    for (name, workload) in [("section7", &section7), ("one_or_all", &one_or_all)] {
        bench(
            c,
            &format!("first-fit/{name}"),
            &rule("first-fit"),
            workload,
        );
        let none = msr(workload, analysed(Preemption::None));
        bench(c, &format!("msr-none/{name}"), &none, workload);
    }
    bench(
        c,
        "msf/one_or_all",
        &rule("most-servers-first"),
        &one_or_all,
    );
    let full = analysed(Preemption::Full);
    let slow = SynthesisOptions {
        switching_rate: Some(2.0),
        ..full
    };
    bench(c, "msr-full/section7", &msr(&section7, slow), &section7);
    let backfilled = || SynthesisOptions {
        effort: 0.1,
        ..SynthesisOptions::new(Preemption::None)
    };
    let filled = msr(&section7, backfilled());
    bench(c, "msr-none-backfill/section7", &filled, &section7);
    for name in ["max-weight", "randomized-timers"] {
        bench(c, &format!("{name}/section7"), &rule(name), &section7);
    }
    let stable = section7.scaled(0.8 / 0.9).unwrap();
    for name in ["easy-backfill", "conservative-backfill"] {
        bench(c, &format!("{name}/section7/sizes"), &rule(name), &stable);
    }
    let phases = model("section7_phases");
    bench(
        c,
        "first-fit/section7_phases/sizes",
        &rule("first-fit"),
        &phases,
    );
    let cell_b = model("borg_cell_b").scaled(0.8).unwrap();
    bench(c, "first-fit/borg_cell_b", &rule("first-fit"), &cell_b);
    let hundred = instances::document("large", 100, 1);
    let hundred = Workload::parse(&hundred, "hundred").unwrap().workload;
    for (name, contender) in [
        ("first-fit", rule("first-fit")),
        ("adaptive-msr", adaptive_msr(&hundred)),
        ("msr-none", msr(&hundred, analysed(Preemption::None))),
        ("msr-none-backfill", msr(&hundred, backfilled())),
    ] {
        bench(c, &format!("{name}/100_types"), &contender, &hundred);
    }
    let lognormal = lognormal().scaled(0.8).unwrap();
    bench(
        c,
        "first-fit/borg_cell_b/sizes",
        &rule("first-fit"),
        &lognormal,
    );
}

fn many_types(c: &mut Criterion) {
    let (mut group, settings) = group_of(c, 200_000);
    let rule = Contender::parse("max-weight").unwrap();
    for class in instances::CLASSES.into_iter().chain(instances::HARD) {
        for types in [20, 100] {
            let text = instances::document(class, types, 1);
            let workload = Workload::parse(&text, class).unwrap().workload;
            group.bench_function(format!("max-weight/{class}_{types}_types"), |b| {
                b.iter(|| rule.simulate(&workload, &settings, |_| ()).unwrap());
            });
        }
    }
    group.finish();
}

fn replays(c: &mut Criterion) {
    const JOBS: u32 = 1_000_000;
    let demands = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut submit = 0.0;
    let between = 300.0 * demands.iter().sum::<f64>() / 8.0 / 128.0 / 0.85;
    let mut job = |line| {
        let mut exponential = |mean: f64| -mean * (1.0 - random.random::<f64>()).ln();
        submit += exponential(between).round();
        let size = exponential(300.0).ceil();
        replay::ReplayJob {
            submit,
            size,
            limit: 2.0 * size,
            promised: f64::INFINITY,
            waited: f64::NAN,
            user: 0,
            class: 0,
            line,
            kind: random.random_range(0..8),
            seen: Observed::Whole,
        }
    };
    let log = Log {
        jobs: (0..JOBS).map(&mut job).collect(),
        vectors: demands.iter().map(|d| vec![*d].into()).collect(),
        nodes: vec![1; demands.len()],
        servers: Servers::shapes("cpu=128").unwrap(),
        tick: Tick::Second,
        format: TraceFormat::Swf,
        account: Account::default(),
        censored: 0,
        has_limits: true,
        rounded: 0,
        begin: 0,
    };
    let (clock, kinds) = (Clock::whole(Speed::ONE), DemandKinds::exact(&log));
    let (mut group, _) = group_of(c, 2 * u64::from(JOBS));
    for name in [
        "first-fit",
        "fcfs",
        "easy",
        "easy+sjf",
        "easy+wfp3",
        "easy+wfp3+history",
    ] {
        let rule = Contender::parse(name).unwrap();
        let (fleet, types) = replay_workload(&log, &log.jobs, &kinds, clock, 0.0, false).unwrap();
        let scene = DecisionState::new(&log.jobs, types, fleet, clock);
        group.bench_function(format!("{name}/replay"), |b| {
            b.iter(|| {
                let replayed = replay::replay(&rule, &scene, &mut |_| true).unwrap();
                assert_eq!(replayed.events, 2 * u64::from(JOBS));
            });
        });
    }
    group.finish();
}

fn long_queues(c: &mut Criterion) {
    const WAITING: u64 = 10_000;
    const TYPES: u32 = 50;
    let job = |i: u32| {
        let cpu = 1 + 2 * i;
        format!("\n  - {{name: t{i}, demand: {{cpu: {cpu}}}, arrival_rate: .0001, mean_size: 100}}")
    };
    let text = format!(
        "kind: multiresource\ntime_unit: s\nknown: {{limit: {{law: uniform, low: 1, high: 3}}}}\nserver: {{capacity: {{cpu: 128}}}}\njobs:{}\n",
        (0..TYPES).map(job).collect::<String>()
    );
    let fleet = Fleet::from(Workload::parse(&text, "queue").unwrap().workload);
    let mut group = c.benchmark_group("queue");
    for name in [
        "easy",
        "easy+sjf",
        "easy+wfp3",
        "easy+wfp3+history",
        "conservative+sjf",
    ] {
        let mut rule = match name {
            "easy" => Backfilling::easy(Estimates::Limits).over(&fleet),
            _ => Contender::parse(name)
                .unwrap()
                .build_policy(&fleet)
                .unwrap(),
        };
        let mut system = System::for_policy(&fleet, &*rule);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        rule.begin(&mut system);
        let mut now = 0.0;
        let mut events = 0_u64;
        let mut round = || {
            now += 1.0;
            let running: Vec<usize> = (0..TYPES as usize)
                .filter(|i| system.running(*i) > 0)
                .collect();
            if !running.is_empty() {
                let i = running[random.random_range(0..running.len())];
                system.complete(i, 0, now).unwrap();
                rule.react(Event::Completion(i), &mut system);
                events += 1;
            }
            while system.jobs() - system.all_running() < WAITING {
                let i = random.random_range(0..TYPES as usize);
                let limit = f64::from(random.random_range(1..100_000));
                let job = system.arrive_limited(i, now, limit);
                system.set_user(job, random.random_range(1..50));
                rule.react(Event::Arrival(i), &mut system);
                events += 1;
            }
            system.clear_actions();
        };
        round();
        let mut rounds = 0_u64;
        group.bench_function(name, |b| {
            b.iter(|| {
                rounds += 1;
                round();
            });
        });
        println!(
            "{name}: {:.2} events per round",
            (events - WAITING) as f64 / rounds as f64
        );
        assert_eq!(system.violation(), None);
    }
    group.finish();
}

criterion_group!(
    benches,
    simulations,
    fleets,
    many_types,
    replays,
    long_queues
);
criterion_main!(benches);
