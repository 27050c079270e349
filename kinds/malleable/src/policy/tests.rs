use super::{
    ActiveJob, Asks, Known, Online, Phase, Rule, Sharing, divide, makespan, power_prices, prices,
};
use crate::workload::tests::close;
use crate::workload::{Curve, Pool, Speedup};

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

#[test]
fn power_shares_match_theorem_7() {
    for (p, servers) in [(0.05, 3.0), (0.3, 1e6), (0.5, 500.0), (0.9, 7.0)] {
        let curve = curve(Speedup::Power(p));
        let m = 9;
        let found = shares(
            &curve,
            &prices(&vec![&curve; m], &vec![1.0; m], servers),
            servers,
        );
        let c = 1.0 / (1.0 - p);
        let up_to = |i: usize| (i as f64 / m as f64).powf(c);
        for (i, servers_of) in found.iter().enumerate() {
            close(servers_of / servers, up_to(i + 1) - up_to(i), 1e-12);
        }
    }
}

#[test]
fn power_prices_match_theorem_8() {
    for (p, servers) in [(0.05f64, 3.0f64), (0.3, 1e6), (0.5, 500.0), (0.9, 7.0)] {
        let s = |k: f64| k.powf(p);
        let curve = curve(Speedup::Power(p));
        let general = prices(&[&curve; 12], &[1.0; 12], servers);
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

#[test]
fn weights_move_the_shares() {
    let sizes = [3.0, 2.0, 1.2];
    let weights = sizes.map(|x| 1.0 / x);
    let curve = curve(Speedup::Power(0.5));
    let prices = prices(&[&curve; 3], &weights, 1.0);
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
    let found = shares(&curve, &prices(&[&curve; 2], &[1.0, 1.0], 10.0), 10.0);
    close(found[1] / 10.0, 0.710_726_716, 1e-8);
}

fn cost(curve: &Curve, [large, small]: [f64; 2], servers: f64, k: f64) -> f64 {
    let first = small / curve.at(k);
    let rest = (large - first * curve.at(servers - k)).max(0.0);
    2.0 * first + rest / curve.at(servers)
}

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
            let prices = prices(&[&curve; 2], &[1.0, 1.0], servers);
            let optimum = prices[0] * sizes[0] + prices[1] * sizes[1];
            let steps = 160_000;
            let tried = (steps / 2..=steps).map(|n| servers * f64::from(n) / f64::from(steps));
            let best = tried.map(|k| cost(&curve, sizes, servers, k));
            let best = best.fold(f64::INFINITY, f64::min);
            let is_above = best >= optimum * (1.0 - 1e-12);
            assert!(is_above, "{curve:?}: {best} < {optimum}");
            close(best, optimum, 1e-8);
        }
    }
}

#[test]
fn perfect_speedup_serves_the_smallest_alone() {
    let curve = curve(Speedup::Power(1.0));
    let found = shares(&curve, &prices(&[&curve; 3], &[1.0, 1.0, 2.0], 8.0), 8.0);
    assert_eq!(found, [0.0, 0.0, 8.0]);
}

#[test]
fn minimum_makespan_matches_theorem_2() {
    let sizes = [3.0, 2.0, 1.2];
    for p in [0.3, 0.5, 0.9] {
        let pool = Pool::of_sizes(&format!("{{power: {{p: {p}}}}}"), &sizes, 50.0);
        let (time, Rule::Phases(phases)) = makespan(&pool) else {
            panic!("the plan for the makespan should have phases")
        };
        let [Phase { servers, .. }] = &phases[..] else {
            panic!("there should be only one phase")
        };
        let norm = sizes.iter().map(|x: &f64| x.powf(1.0 / p));
        let norm = norm.sum::<f64>().powf(p);
        close(time, norm / 50f64.powf(p), 1e-12);
        for (x, k) in sizes.iter().zip(servers) {
            close(x / k.powf(p), time, 1e-12);
        }
    }
}

#[test]
fn whole_servers_are_exchanged_in_turns() {
    let text = "kind: malleable
servers: 5
whole_servers: true
objective: makespan
speedup: {amdahl: {parallel_fraction: .9}}
jobs: [{name: a, size: 3}, {name: b, size: 2.5}, {name: c, size: 1.2}]
";
    let pool = Pool::sample(text);
    let (time, Rule::Phases(phases)) = makespan(&pool) else {
        panic!("a plan with whole servers has phases")
    };
    let (mut done, mut before) = ([0.0; 3], 0.0);
    for phase in &phases {
        assert!(phase.servers.iter().sum::<f64>() <= 5.0, "{phases:?}");
        for (done, k) in done.iter_mut().zip(&phase.servers) {
            assert_eq!(k.fract(), 0.0);
            *done += (phase.until - before) * pool.curves()[0].at(*k);
        }
        before = phase.until;
    }
    close(before, time, 1e-14);
    for (done, job) in done.iter().zip(pool.jobs()) {
        close(*done, job.size, 1e-12);
    }
}

fn divided(sharing: Sharing, curve: &Curve, sizes: &[f64], servers: f64) -> Vec<f64> {
    let underway = |left: &f64| ActiveJob {
        left: *left,
        weight: 1.0,
        curve,
    };
    let jobs: Vec<ActiveJob<'_>> = sizes.iter().map(underway).collect();
    sharing.servers(&jobs, servers, &mut Known::default())
}

#[test]
fn hell_equalizes_ratios() {
    let sizes = [3.0, 2.0, 1.2];
    let p = 0.3;
    let found = divided(Sharing::Hell, &curve(Speedup::Power(p)), &sizes, 100.0);
    let parts = sizes.map(|x: f64| x.powf(-1.0 / (1.0 - 2.0 * p)));
    let all: f64 = parts.iter().sum();
    for (k, part) in found.iter().zip(parts) {
        close(*k, 100.0 * part / all, 1e-12);
    }
    for p in [0.5, 0.9] {
        let found = divided(Sharing::Hell, &curve(Speedup::Power(p)), &sizes, 100.0);
        assert_eq!(found, [0.0, 0.0, 100.0]);
    }
    let found = divided(Sharing::Hell, &curve(Speedup::Amdahl(0.9)), &sizes, 20.0);
    assert!(found[2] >= 9.0 - 1e-9 && found[0] < 9.0, "{found:?}");
    close(found.iter().sum(), 20.0, 1e-12);
}

#[test]
fn knee_matches_its_closed_forms() {
    let sizes = [3.0, 2.0, 1.2];
    let sharing = Sharing::Knee(0.1);
    let found = divided(sharing, &curve(Speedup::Power(0.5)), &sizes, 100.0);
    for (k, x) in found.iter().zip(sizes) {
        close(*k, (0.5 * x / 0.1f64).powf(1.0 / 1.5), 1e-12);
    }
    let sharing = Sharing::Knee(0.1);
    let found = divided(sharing, &curve(Speedup::Amdahl(0.9)), &sizes, 8.0);
    let knees = sizes.map(|x: f64| (x * 0.9 / 0.1).sqrt());
    close(found[2], knees[2], 1e-12);
    close(found[1], knees[1], 1e-12);
    close(found[0], 8.0 - knees[1] - knees[2], 1e-9);
}

#[test]
fn handles_jobs_with_negligible_remaining_work() {
    let curve = curve(Speedup::Amdahl(0.9));
    for rule in [
        Sharing::HeLrpt,
        Sharing::Hell,
        Sharing::Knee(0.1),
        Sharing::Srpt,
    ] {
        let found = divided(rule, &curve, &[3.0, f64::MIN_POSITIVE], 10.0);
        assert!(found.iter().all(|k| *k >= 0.0), "{rule:?}: {found:?}");
        let is_within = found.iter().sum::<f64>() <= 10.0 * (1.0 + 1e-12);
        assert!(is_within, "{rule:?}: {found:?}");
    }
}

#[test]
fn equal_prices_favour_the_smaller_job() {
    let curve = Curve {
        speedup: Speedup::Power(1.0),
        cap: 2.0,
        whole: false,
    };
    let rule = Sharing::HeSrpt(Online::PLAIN);
    let found = divided(rule, &curve, &[5.0, 3.0, 1.0], 4.0);
    assert_eq!(found, [0.0, 2.0, 2.0]);
}
