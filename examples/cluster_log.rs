//! This example generates five weeks of jobs on a cluster with 256 processors.
//!
//! ```text
//! cargo run --release --example cluster_log > models/traces/cluster.swf
//! ```
//!
//! The arrivals are a Poisson process whose rate is four times as high at noon as at midnight, and
//! a third as high on weekends. The sizes are lognormal, with a squared coefficient of variation of
//! about 7. The limits are often much too long.

use rand::{Rng, RngExt, SeedableRng};
use rand_distr::{Distribution, LogNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

const SEED: u64 = 20;
const DAYS: f64 = 35.0;
/// The arrival rate at noon on a working day \[1/day\].
const RUSH: f64 = 280.0;
/// The number of processors, the probability, and the mean run time \[h\].
const WIDTHS: [(u32, f64, f64); 8] = [
    (1, 0.30, 5.0),
    (2, 0.12, 3.0),
    (4, 0.15, 3.5),
    (8, 0.13, 4.0),
    (16, 0.12, 3.0),
    (32, 0.10, 2.5),
    (64, 0.06, 2.0),
    (128, 0.02, 1.0),
];
/// The limits that can be selected by a user \[h\].
const LIMITS: [f64; 6] = [0.25, 1.0, 4.0, 12.0, 24.0, 72.0];

fn main() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
    println!("; Version: 2.2");
    println!("; Computer: none; drawn by examples/cluster_log.rs from the seed {SEED}");
    println!("; MaxProcs: 256");
    println!("; Note: times in s; fields that nothing is known of are -1");
    let mut hours = 0.0;
    let mut number = 0;
    loop {
        hours += 24.0 / RUSH * exponential(&mut random);
        if hours > 24.0 * DAYS {
            return;
        }
        if random.random::<f64>() < relative_arrival_rate(hours) {
            number += 1;
            println!("{}", job(number, (3600.0 * hours) as u64, &mut random));
        }
    }
}

fn relative_arrival_rate(hours: f64) -> f64 {
    let is_weekend = (hours / 24.0) as u64 % 7 >= 5;
    let day = if is_weekend { 1.0 / 3.0 } else { 1.0 };
    let hour = (hours % 24.0 - 12.0) / 24.0 * std::f64::consts::TAU;
    day * (0.625 + 0.375 * hour.cos())
}

fn job(number: u64, submit: u64, random: &mut Xoshiro256PlusPlus) -> String {
    let (width, hours) = width(random.random());
    let scv: f64 = 7.0;
    let spread = (1.0 + scv).ln();
    let law = LogNormal::new(hours.ln() - spread / 2.0, spread.sqrt())
        .expect("the spread should be a valid number");
    let hours = law.sample(random).min(72.0);
    let requested = hours * (1.2 + 8.0 * random.random::<f64>().powi(2));
    let limit = LIMITS.into_iter().find(|limit| *limit >= requested);
    let limit = limit.unwrap_or(72.0);
    let seconds = |hours: f64| (3600.0 * hours).ceil() as i64;
    // Out of 100 jobs, five fail early, three never start, and two exceed their limit.
    let (run, status) = match random.random_range(0..100) {
        0..5 => (seconds(hours * random.random::<f64>()), 0),
        5..8 => (-1, 5),
        8..10 => (seconds(hours.max(limit * 1.05)), 1),
        _ => (seconds(hours.min(limit)), 1),
    };
    let user = 1 + (12.0 * random.random::<f64>().powi(3)) as u32;
    let (limit, allocated) = (seconds(limit), if run < 0 { -1 } else { i64::from(width) });
    format!(
        "{number} {submit} -1 {run} {allocated} -1 -1 {width} {limit} -1 {status} {user} 1 -1 1 1 -1 -1"
    )
}

fn width(mut point: f64) -> (u32, f64) {
    for (width, share, hours) in WIDTHS {
        point -= share;
        if point < 0.0 {
            return (width, hours);
        }
    }
    (1, 5.0)
}

fn exponential(random: &mut impl Rng) -> f64 {
    -(1.0 - random.random::<f64>()).ln()
}
