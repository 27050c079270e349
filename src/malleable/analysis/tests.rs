use super::{completions, makespan, power_prices, prices};
use crate::malleable::policy::{Asks, Rule, divide};
use crate::malleable::workload::{Curve, Pool, Speedup};

fn curve(speedup: Speedup) -> Curve {
    Curve {
        speedup,
        cap: f64::INFINITY,
        whole: false,
    }
}

fn shares(curve: &Curve, prices: &[f64], servers: f64) -> Vec<f64> {
    let asks: Vec<_> = prices.iter().map(|&price| Asks { price, curve }).collect();
    divide(&asks, servers)
}

fn close(a: f64, b: f64, within: f64) {
    assert!((a - b).abs() <= within * b.abs(), "{a} is not {b}");
}

/// Theorem 7 of the heSRPT paper.
#[test]
fn shares_of_powers_are_those_of_theorem_7() {
    for (p, servers) in [(0.05, 3.0), (0.3, 1e6), (0.5, 500.0), (0.9, 7.0)] {
        let curve = curve(Speedup::Power(p));
        let m = 9;
        let found = shares(&curve, &prices(&curve, &vec![1.0; m], servers), servers);
        let c = 1.0 / (1.0 - p);
        let up_to = |i: usize| (i as f64 / m as f64).powf(c);
        for (i, servers_of) in found.iter().enumerate() {
            close(servers_of / servers, up_to(i + 1) - up_to(i), 1e-12);
        }
    }
}

/// Theorem 8, as the paper writes it.
#[test]
fn prices_of_powers_are_those_of_theorem_8() {
    for (p, servers) in [(0.05f64, 3.0f64), (0.3, 1e6), (0.5, 500.0), (0.9, 7.0)] {
        let s = |k: f64| k.powf(p);
        let curve = curve(Speedup::Power(p));
        let general = prices(&curve, &[1.0; 12], servers);
        for (i, price) in power_prices(p, &[1.0; 12], servers).iter().enumerate() {
            let k = i as f64 + 1.0;
            let omega = match i {
                0 => 0.0,
                _ => 1.0 / ((k / (k - 1.0)).powf(1.0 / (1.0 - p)) - 1.0),
            };
            let theorem = (k * s(1.0 + omega) - (k - 1.0) * s(omega)) / s(servers);
            close(*price, theorem, 1e-12);
            close(general[i], theorem, 1e-12);
        }
    }
}

/// Slowdown of sizes 3, 2 and 1.2: figures that another program found by search.
#[test]
fn weights_move_the_shares() {
    let sizes = [3.0, 2.0, 1.2];
    let weights = sizes.map(|x| 1.0 / x);
    let curve = curve(Speedup::Power(0.5));
    let prices = prices(&curve, &weights, 1.0);
    let found = shares(&curve, &prices, 1.0);
    for (share, expected) in found.iter().zip([0.04, 0.21, 0.75]) {
        close(*share, expected, 1e-12);
    }
    let cost: f64 = prices.iter().zip(sizes).map(|(a, x)| a * x).sum();
    close(cost, 4.259_576_039, 1e-9);
}

#[test]
fn two_equal_jobs_under_amdahl() {
    let curve = curve(Speedup::Amdahl(0.9));
    let found = shares(&curve, &prices(&curve, &[1.0, 1.0], 10.0), 10.0);
    close(found[1] / 10.0, 0.710_726_716, 1e-8);
}

/// The cost of a plan for two jobs that gives the smaller one `k` servers until it has left.
fn cost(curve: &Curve, [large, small]: [f64; 2], servers: f64, k: f64) -> f64 {
    let first = small / curve.at(k);
    let rest = (large - first * curve.at(servers - k)).max(0.0);
    2.0 * first + rest / curve.at(servers)
}

/// Two jobs need one number, found here by looking at all.
#[test]
fn no_division_between_two_jobs_costs_less() {
    let table = vec![(0.0, 0.0), (1.0, 1.0), (4.0, 3.1), (8.0, 4.5), (20.0, 6.0)];
    let speedups = [
        Speedup::Power(0.37),
        Speedup::Amdahl(0.8),
        Speedup::Logarithm(0.7),
        Speedup::Table(table),
    ];
    let (sizes, servers) = ([5.0, 4.0], 16.0);
    for speedup in speedups {
        for (cap, whole) in [(f64::INFINITY, false), (11.0, false), (f64::INFINITY, true)] {
            let curve = Curve {
                speedup: speedup.clone(),
                cap,
                whole,
            };
            let prices = prices(&curve, &[1.0, 1.0], servers);
            let optimum = prices[0] * sizes[0] + prices[1] * sizes[1];
            let steps = 160_000;
            let tried = (steps / 2..=steps).map(|n| servers * f64::from(n) / f64::from(steps));
            let best = tried
                .map(|k| cost(&curve, sizes, servers, k))
                .fold(f64::INFINITY, f64::min);
            assert!(
                best >= optimum * (1.0 - 1e-12),
                "{curve:?}: {best} < {optimum}"
            );
            close(best, optimum, 1e-8);
        }
    }
}

#[test]
fn perfect_speedup_serves_the_smallest_alone() {
    let curve = curve(Speedup::Power(1.0));
    let found = shares(&curve, &prices(&curve, &[1.0, 1.0, 2.0], 8.0), 8.0);
    assert_eq!(found, [0.0, 0.0, 8.0]);
}

fn pool(speedup: &str, sizes: &[f64], servers: f64) -> Pool {
    let jobs = sizes.iter().enumerate();
    let jobs: String = jobs
        .map(|(i, x)| format!("  - {{name: j{i}, size: {x}}}\n"))
        .collect();
    let text = format!("kind: malleable\nservers: {servers}\nspeedup: {speedup}\njobs:\n{jobs}");
    Pool::parse(&text, "here").unwrap().workload
}

/// Integrating the flow gives what the prices say: `Σ T_i = Σ a_i x_i`.
#[test]
fn plans_cost_what_their_prices_say() {
    let sizes = [9.0, 7.5, 7.5, 4.0, 2.0, 1.0, 0.25];
    for speedup in [
        "{power: {p: .3}}",
        "{power: {p: 1}}",
        "{amdahl: {parallel_fraction: .93}}",
        "{logarithm: {scale: .5}}",
        "{table: [[1, 1], [2, 1.9], [4, 3.3], [8, 4.6], [16, 5]]}",
    ] {
        let pool = pool(speedup, &sizes, 20.0);
        let prices = prices(&pool.curves()[0], &[1.0; 7], pool.servers());
        let cost: f64 = prices.iter().zip(sizes).map(|(a, x)| a * x).sum();
        let ends = completions(&pool, &Rule::Prices(prices));
        close(ends.iter().sum(), cost, 1e-11);
    }
}

/// Theorem 2 with the factor it leaves out, and that nobody is done before the end.
#[test]
fn all_jobs_end_together_where_the_last_one_counts() {
    let sizes = [3.0, 2.0, 1.2];
    for p in [0.3, 0.5, 0.9] {
        let pool = pool(&format!("{{power: {{p: {p}}}}}"), &sizes, 50.0);
        let (time, servers) = makespan(&pool);
        let norm = sizes
            .iter()
            .map(|x: &f64| x.powf(1.0 / p))
            .sum::<f64>()
            .powf(p);
        close(time, norm / 50f64.powf(p), 1e-12);
        for end in completions(&pool, &Rule::Servers(servers)) {
            close(end, time, 1e-12);
        }
    }
}
