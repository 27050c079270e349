//! This module generates random workloads, which only depend on the class, the number of types and
//! the seed. The load is 0.7 of the fluid bound, and the mean size of each type is 1 s. In the
//! classes `cloud` and `hosts`, the other demands of a job are multiples of the number of vCPUs.

use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

pub(crate) const CLASSES: [&str; 3] = ["large", "cloud", "small"];

/// A search with one set of prices has bad bounds for these classes, or finds few good schedules.
pub(crate) const HARD: [&str; 3] = ["hosts", "mixed", "coprime"];

pub(crate) fn document(class: &str, types: usize, seed: u64) -> String {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed * 1000 + types as u64);
    let capacity: &[f64] = match class {
        "large" => &[20.0, 15.0, 50.0],
        "cloud" => &[96.0, 384.0, 25.0, 3600.0],
        "hosts" => &[126.0, 1008.0, 3800.0, 80000.0, 50.0],
        "mixed" => &[1.0, 1.0, 1.0],
        "coprime" => &[1e6, 1e6, 1e6],
        _ => &[1.0, 1.0],
    };
    let demands: Vec<Vec<f64>> = (0..types).map(|_| demand(class, &mut random)).collect();
    let weights: Vec<f64> = (0..types)
        .map(|_| 1e-3 - random.random::<f64>().ln())
        .collect();
    let utilization = |j: usize| -> f64 {
        let jobs = demands.iter().zip(&weights);
        jobs.map(|(d, w)| d[j] * w / capacity[j]).sum()
    };
    let fluid = (0..capacity.len()).map(utilization).fold(0.0, f64::max);
    let jobs = demands.iter().zip(&weights).enumerate().map(|(i, (d, w))| {
        let rate = 0.7 * w / fluid;
        format!(
            "  - {{name: t{i}, demand: {{{}}}, arrival_rate: {rate:.6}, mean_size: 1}}\n",
            amounts(d)
        )
    });
    format!(
        "kind: multiresource\nsource: benches/instances, {class}, {types} types, seed {seed}\ntime_unit: s\nserver:\n  capacity: {{{}}}\njobs:\n{}",
        amounts(capacity),
        jobs.collect::<String>()
    )
}

/// Returns a fleet with 10 000 servers of five shapes and 50 types. The load is about 0.95.
#[allow(dead_code, reason = "some benchmarks have no fleets")]
pub(crate) fn large_fleet(seed: u64) -> String {
    let shapes = [
        ("general", 4000.0, [96.0, 384.0, 0.0]),
        ("memory", 2000.0, [64.0, 512.0, 0.0]),
        ("compute", 2500.0, [128.0, 256.0, 0.0]),
        ("gpu8", 500.0, [96.0, 768.0, 8.0]),
        ("gpu4", 1000.0, [48.0, 384.0, 4.0]),
    ];
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut pick = |of: &[f64]| of[random.random_range(0..of.len())];
    let mut jobs: Vec<([f64; 3], f64, f64)> = Vec::new();
    for i in 0..50 {
        let gpus = if i < 40 {
            0.0
        } else {
            pick(&[1.0, 1.0, 2.0, 4.0, 8.0])
        };
        let cpus = match gpus > 0.0 {
            true => gpus * pick(&[4.0, 8.0]),
            false => pick(&[1.0, 2.0, 4.0, 8.0, 16.0, 24.0, 32.0, 48.0]),
        };
        let memory = match gpus > 0.0 {
            true => 32.0 * gpus,
            false => (cpus * pick(&[2.0, 4.0, 8.0])).min(256.0),
        };
        let (mean, weight) = (
            pick(&[0.1, 0.3, 1.0, 2.0, 5.0, 12.0]),
            pick(&[0.5, 1.0, 1.5]),
        );
        jobs.push(([cpus, memory, gpus], mean, weight));
    }
    let has = |j: usize| -> f64 { shapes.iter().map(|(_, n, amounts)| n * amounts[j]).sum() };
    let share = |d: &[f64; 3]| (0..3).map(|j| d[j] / has(j)).fold(0.0, f64::max);
    let used = |j: usize| -> f64 {
        jobs.iter()
            .map(|(d, _, weight)| weight * d[j] / share(d))
            .sum::<f64>()
            / has(j)
    };
    let most = (0..3).map(used).fold(0.0, f64::max);
    let named = |d: &[f64; 3]| format!("cpu: {}, memory: {}, gpu: {}", d[0], d[1], d[2]);
    let servers = shapes.iter().map(|(name, count, amounts)| {
        format!(
            "  - {{name: {name}, count: {count}, capacity: {{{}}}}}\n",
            named(amounts)
        )
    });
    let types = jobs.iter().enumerate().map(|(i, (d, mean, weight))| {
        let rate = 0.93 * weight / share(d) / most / mean;
        format!(
            "  - {{name: t{i}, demand: {{{}}}, arrival_rate: {rate:.4}, mean_size: {mean}}}\n",
            named(d)
        )
    });
    format!(
        "kind: multiresource\nsource: benches/instances, large fleet, seed {seed}\ntime_unit: h\nservers:\n{}jobs:\n{}",
        servers.collect::<String>(),
        types.collect::<String>()
    )
}

fn demand(class: &str, random: &mut impl Rng) -> Vec<f64> {
    match class {
        "large" => vec![
            f64::from(random.random_range(2..=12)),
            f64::from(random.random_range(1..=8)),
            f64::from(random.random_range(1..=30)),
        ],
        "cloud" => {
            let cpus = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 48.0][random.random_range(0..7)];
            let memory = [2.0, 4.0, 8.0][random.random_range(0..3)];
            let disk = f64::from(random.random_range(5..60));
            vec![
                cpus,
                cpus * memory,
                (cpus * 20.0).round() / 100.0,
                (cpus * disk).min(3600.0),
            ]
        }
        "hosts" => host(random),
        "mixed" => {
            let (least, most): (f64, f64) = [(0.003, 0.05), (0.1, 0.7)][random.random_range(0..2)];
            let of = |part: f64| (1e4 * least * (most / least).powf(part)).round() / 1e4;
            (0..3).map(|_| of(random.random())).collect()
        }
        "coprime" => {
            let of = |part: f64| 2.0 * (1.5e3 * 133_f64.powf(part)).round() + 1.0;
            (0..3).map(|_| of(random.random())).collect()
        }
        _ => (0..2)
            .map(|_| f64::from(random.random_range(40..1000)) / 10_000.0)
            .collect(),
    }
}

const FAMILIES: [[f64; 4]; 7] = [
    [2.0, 0.0, 0.0, 0.5],
    [4.0, 19.0, 500.0, 0.5],
    [8.0, 0.0, 0.0, 0.4],
    [8.0, 37.5, 600.0, 0.25],
    [10.0, 75.0, 1500.0, 0.25],
    [12.0, 0.0, 0.0, 0.2],
    [28.5, 14.0, 800.0, 0.31],
];

fn host(random: &mut impl Rng) -> Vec<f64> {
    loop {
        let cpus = [1.0, 2.0, 4.0, 8.0, 16.0, 20.0, 32.0, 48.0, 64.0][random.random_range(0..9)];
        let family = FAMILIES[random.random_range(0..FAMILIES.len())];
        let [memory, disk, transfers, network] = family.map(|a| (a * cpus * 100.0).round() / 100.0);
        if memory <= 1008.0 && disk <= 3800.0 {
            return vec![cpus, memory, disk, transfers, network];
        }
    }
}

fn amounts(values: &[f64]) -> String {
    let named = values.iter().zip(["a", "b", "c", "d", "e"]);
    let written: Vec<String> = named
        .map(|(value, name)| format!("{name}: {value}"))
        .collect();
    written.join(", ")
}
