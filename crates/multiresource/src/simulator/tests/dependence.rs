use super::arrivals::{groups, samples_agree};
use super::*;
use crate::simulator::laws;
use crate::workload::Fleet;
use synth_queues::ctmc::{Level, Qbd};
use synth_simulation::{Arrival, Arrivals, Sampler, Streams};

fn workload(before: &str, capacity: u32, types: &[[&str; 2]]) -> Workload {
    let jobs = types.iter();
    let jobs = jobs.map(|[arrivals, size]| format!("{arrivals}, size: {size}"));
    one_server(before, capacity, &jobs.collect::<Vec<_>>())
}

fn flow(workload: &Workload) -> Arrivals {
    laws::arrivals(workload, Streams::new(11, 0).arrivals)
}

const ONE: &str = "{law: exponential, mean: 1}";
const COMMON: &str = "modulation: {factors: [.4, 2.2], switching: [[0, .1], [.3, 0]]}\n";

/// Returns the variance of the integral of the factor F over a time t for [`COMMON`], which is
/// `2 π_0 π_1 (F_0 − F_1)² / m (t − (1 − e^−mt)/m)`, where m is the sum of the rates at which its
/// two states are left and F has mean 1.
fn variance_of_factor(t: f64) -> f64 {
    let (r, s): (f64, f64) = (0.1, 0.3);
    let (memory, law) = (r + s, [s / (r + s), r / (r + s)]);
    let mean = law[0] * 0.4 + law[1] * 2.2;
    let lasting = t + (-memory * t).exp_m1() / memory;
    2.0 * law[0] * law[1] * f64::powi(1.8 / mean, 2) / memory * lasting
}

fn counts(workload: &Workload, window: f64, windows: usize) -> Vec<[f64; 2]> {
    let mut flow = flow(workload);
    let mut counts = vec![[0.0; 2]; windows];
    let mut block = [Arrival::default(); 512];
    loop {
        flow.fill(&mut block, &mut []);
        for Arrival { time, class } in block {
            match counts.get_mut((time / window) as usize) {
                Some(count) => count[class as usize] += 1.0,
                None => return counts,
            }
        }
    }
}

/// If V is the variance of the integrated factor, then `Var N(t) = λt + λ² V(t)` for single jobs of
/// rate λ, and `ν t E[B²] + (ν E[B])² V(t)` for batches of rate ν. The covariance of the two is
/// `λ ν E[B] V(t)`, not 0 as for independent types.
#[test]
fn counts_under_a_common_modulation_vary_together() {
    let types = [
        ["arrival_rate: 3", ONE],
        [
            "arrivals: {process: batches, rate: 1, sizes: [1, 3], probabilities: [.75, .25]}",
            ONE,
        ],
    ];
    let workload = workload(COMMON, 1, &types);
    assert_eq!(workload.types()[1].arrival_rate(), 1.5);
    for window in [0.5, 4.0, 40.0] {
        let counts = counts(&workload, window, 200_000);
        let means = [3.0 * window, 1.5 * window];
        let common = variance_of_factor(window);
        let expected = [
            (0, 0, 3.0 * window + 9.0 * common),
            (1, 1, 3.0 * window + 2.25 * common),
            (0, 1, 4.5 * common),
        ];
        for (i, mean) in means.into_iter().enumerate() {
            let counts: Vec<f64> = counts.iter().map(|n| n[i]).collect();
            samples_agree(&groups(&counts), mean, 0.05, "mean");
        }
        for (i, j, exact) in expected {
            let product = |n: &[f64; 2]| (n[i] - means[i]) * (n[j] - means[j]);
            let products: Vec<f64> = counts.iter().map(product).collect();
            let what = format!("{i}, {j} over {window}");
            samples_agree(&groups(&products), exact, 0.12, &what);
        }
    }
}

#[test]
fn dependent_arrivals_do_not_depend_on_the_blocks() {
    let alike = "arrivals: {process: batches, rate: 1, sizes: [1, 3], alike: .5}";
    let types = [["arrival_rate: 3", ONE], [alike, ONE]];
    for before in ["", COMMON] {
        let workload = workload(before, 1, &types);
        let drawn = |size: usize| {
            let mut flow = flow(&workload);
            let (mut arrivals, mut sizes) = (Vec::new(), Vec::new());
            while arrivals.len() < 5000 {
                let mut block = vec![Arrival::default(); size];
                let mut reported = vec![f64::NAN; size];
                flow.fill(&mut block, &mut reported);
                arrivals.extend(block);
                sizes.extend(reported.iter().map(|size| size.to_bits()));
            }
            arrivals.truncate(5000);
            sizes.truncate(5000);
            (arrivals, sizes)
        };
        let whole = drawn(5000);
        for size in [1, 7, 999] {
            assert_eq!(drawn(size), whole, "blocks of {size}");
        }
        assert!(whole.0.windows(2).all(|w| w[0].time <= w[1].time));
        let mut block = vec![Arrival::default(); 5000];
        flow(&workload).fill(&mut block, &mut []);
        assert_eq!(block, whole.0);
    }
}

#[test]
fn sizes_of_a_batch_have_their_correlation() {
    let size = "{law: erlang, stages: 2, mean: 3}";
    let types = [[
        "arrivals: {process: batches, rate: 1, sizes: [2], alike: .3}",
        size,
    ]];
    for before in ["", COMMON] {
        let workload = workload(before, 1, &types);
        let law = Sampler::of(workload.types()[0].size());
        let mut own = Streams::new(11, 0).sizes;
        let mut flow = flow(&workload);
        let mut block = vec![Arrival::default(); 400_000];
        let mut sizes = vec![f64::NAN; block.len()];
        flow.fill(&mut block, &mut sizes);
        for size in &mut sizes {
            if size.is_nan() {
                *size = law.draw(&mut own);
            }
        }
        samples_agree(&sizes, 3.0, 0.01, "mean size");
        // We add 1 so that the interval is narrow compared with the mean.
        let product = |a: f64, b: f64| 1.0 + (a - 3.0) * (b - 3.0) / 4.5;
        let within: Vec<f64> = sizes.chunks(2).map(|w| product(w[0], w[1])).collect();
        samples_agree(&within, 1.3, 0.02, "within a batch");
        let between: Vec<f64> = sizes.chunks(4).map(|w| product(w[1], w[2])).collect();
        samples_agree(&between, 1.0, 0.02, "between batches");
        let same = sizes.chunks(2).filter(|w| w[0] == w[1]).count() as f64;
        let batches = sizes.len() as f64 / 2.0;
        let deviation = (0.3 * 0.7 * batches).sqrt();
        assert!((same - 0.3 * batches).abs() < 3.5 * deviation, "{same}");
    }
}

/// The variance of the work in a window of length t is `λ t E[S]² (I + c²)`, where I is the
/// dispersion that is used to decide whether a run is unstable.
#[test]
fn work_of_alike_batches_has_its_dispersion() {
    let size = "{law: hyperexponential, mean: 1, scv: 3}";
    let arrivals = "arrivals: {process: batches, rate: 1, sizes: [1, 4], alike: .6}";
    let workload = workload("", 1, &[[arrivals, size]]);
    let dispersion = classes(&workload)[0].dispersion;
    // E[B²]/E[B] = 3.4, and 0.6 · 3 · 2.4 is added for the equal sizes.
    assert!((dispersion - 3.4 - 4.32).abs() < 1e-12, "{dispersion}");
    let law = Sampler::of(workload.types()[0].size());
    let mut own = Streams::new(11, 0).sizes;
    let mut flow = flow(&workload);
    let (mut block, mut sizes) = (
        vec![Arrival::default(); 1_000_000],
        vec![f64::NAN; 1_000_000],
    );
    flow.fill(&mut block, &mut sizes);
    let window = 10.0;
    let windows = (block[block.len() - 1].time / window) as usize;
    let mut work = vec![0.0; windows];
    for (arrival, size) in block.iter().zip(sizes) {
        let size = match size.is_nan() {
            true => law.draw(&mut own),
            false => size,
        };
        if let Some(work) = work.get_mut((arrival.time / window) as usize) {
            *work += size;
        }
    }
    let mean = 2.5 * window;
    samples_agree(&work, mean, 0.02, "mean work");
    let squares: Vec<f64> = work.iter().map(|w| (w - mean).powi(2)).collect();
    samples_agree(&squares, mean * (dispersion + 3.0), 0.12, "its variance");
}

/// A batch is served like a single job of size Y, so that its waiting time is `ν E[Y²] / 2(1 − ρ)`
/// (Pollaczek–Khinchine), with `E[Y²] = E[B²] E[S²]` for equal sizes, and
/// `E[B²] E[S]² + E[B] Var S` otherwise. The mean position in a batch is `E[B(B+1)]/2E[B]`.
fn response_of_batches(rate: f64, [b1, b2]: [f64; 2], mean: f64, scv: f64, alike: f64) -> f64 {
    let variance = scv * mean * mean;
    let same = b2 * (mean * mean + variance);
    let independent = b2 * mean * mean + b1 * variance;
    let square = alike * same + (1.0 - alike) * independent;
    let load = rate * b1 * mean;
    let waiting = rate * square / (2.0 * (1.0 - load));
    waiting + (b2 + b1) / (2.0 * b1) * mean
}

#[test]
fn correlated_batches_on_one_slot_in_closed_form() {
    for (size, scv) in [(ONE, 1.0), ("{law: uniform, low: 0, high: 2}", 1.0 / 3.0)] {
        for alike in [0.0, 0.4, 1.0] {
            let arrivals =
                format!("arrivals: {{process: batches, rate: .2, sizes: [1, 5], alike: {alike}}}");
            let workload = workload("", 1, &[[&arrivals, size]]);
            let exact = response_of_batches(0.2, [3.0, 13.0], 1.0, scv, alike);
            let run = rule("fcfs").simulate(&workload, &events(8_000_000), quiet);
            let run = run.unwrap();
            agrees(run.mean_response, exact, 0.03, &format!("{size}, {alike}"));
            agrees(run.mean_number, 0.6 * exact, 0.03, "E[N]");
        }
    }
}

#[test]
fn two_servers_match_one_of_twice_the_size_with_batches() {
    let arrivals = "arrivals: {process: batches, rate: .6, sizes: [2], alike: .8}";
    let whole = workload("", 1, &[[arrivals, ONE]]);
    let fleet = whole.to_yaml().replace(
        "server:\n  capacity:\n    cpu: 1.0\n",
        "servers:\n  - {count: 2, capacity: {cpu: 1}}\n",
    );
    let fleet = Fleet::parse(&fleet, "fleet").unwrap().workload;
    let settings = events(400_000);
    let rule = Contender::named("fcfs", &fleet).unwrap();
    let pooled = rule.simulate_on(&fleet, &settings, quiet).unwrap();
    let two = simulate(&workload("", 2, &[[arrivals, ONE]]), FCFS, &settings, quiet).unwrap();
    let [pooled, two] = [pooled, two].map(|run| run.mean_response.unwrap());
    let is_same = (pooled.mean / two.mean - 1.0).abs() < 1e-9;
    assert!(is_same, "{pooled:?} {two:?}");
}

/// Returns `E[N]` for sizes of mean 1 and two states, which are left at the rates `leave`.
fn modulated_queue(rates: [f64; 2], leave: [f64; 2]) -> f64 {
    let level = Level {
        phases: 2,
        up: vec![(0, 0, rates[0]), (1, 1, rates[1])],
        local: vec![(0, 1, leave[0]), (1, 0, leave[1])],
        down: vec![(0, 0, 1.0), (1, 1, 1.0)],
    };
    let mut first = level.clone();
    first.down = Vec::new();
    let qbd = Qbd {
        boundary: vec![first],
        repeating: level,
    };
    qbd.solve().unwrap().mean()
}

/// With a common modulation, the queue for two types is the same as for one type, or for one type
/// with its own modulation. It is shorter if both types have their own modulation.
#[test]
#[ignore = "takes over five seconds; CI runs it"]
fn common_modulation_lengthens_the_queue() {
    let exact = modulated_queue([0.4 * 0.6 / 0.85, 2.2 * 0.6 / 0.85], [0.1, 0.3]);
    let own = |rate: f64| {
        format!(
            "arrivals: {{process: markov-modulated, rates: [{}, {}], switching: [[0, .1], [.3, 0]]}}",
            0.4 * rate / 0.85,
            2.2 * rate / 0.85
        )
    };
    let settings = events(12_000_000);
    let number = |workload: &Workload| {
        let run = simulate(workload, FCFS, &settings, quiet).unwrap();
        run.mean_number
    };
    let single = ["arrival_rate: .6", ONE];
    agrees(
        number(&workload(COMMON, 1, &[single])),
        exact,
        0.05,
        "one type",
    );
    let two = [["arrival_rate: .2", ONE], ["arrival_rate: .4", ONE]];
    agrees(number(&workload(COMMON, 1, &two)), exact, 0.05, "two types");
    agrees(
        number(&workload("", 1, &[[&own(0.6), ONE]])),
        exact,
        0.05,
        "of its own",
    );
    let apart = [own(0.2), own(0.4)];
    let apart = number(&workload("", 1, &[[&apart[0], ONE], [&apart[1], ONE]])).unwrap();
    let is_less = apart.mean + apart.half_width < 0.9 * exact;
    assert!(is_less, "{apart:?} {exact}");
}

/// The limits are drawn for each job, so that they are different even if the sizes are equal.
#[test]
fn limits_hold_for_batches_that_are_alike() {
    let alike = "arrivals: {process: batches, rate: .3, sizes: [2], alike: .7}";
    let limits = "known: {limit: {law: uniform, low: 1, high: 3}}\n";
    for before in [limits.to_owned(), limits.to_owned() + COMMON] {
        let seen = |capacity: u32| {
            let workload = workload(&before, capacity, &[[alike, ONE]]);
            let mut seen = witnessed(&workload, Box::new(FCFS), 100_000, |event, system| {
                let Event::Arrival(0) = event else {
                    return None;
                };
                let youngest = system.youngest(0).unwrap();
                let [size, limit] = [system.work_left(youngest), system.limit_left(youngest)];
                Some([youngest.arrived, size, limit])
            });
            seen.truncate(40_000);
            seen
        };
        let jobs = seen(1);
        assert_eq!(jobs, seen(2));
        assert!(
            jobs.iter()
                .all(|[_, size, limit]| size <= limit && *limit <= 3.0 * size)
        );
        let same = jobs.chunks_exact(2).filter(|w| w[0][1] == w[1][1]);
        let same: Vec<&[[f64; 3]]> = same.collect();
        assert!(same.len() > 13_000 && same.len() < 15_000, "{}", same.len());
        assert!(
            same.iter()
                .all(|w| w[0][2] != w[1][2] && w[0][0] == w[1][0])
        );
    }
}
