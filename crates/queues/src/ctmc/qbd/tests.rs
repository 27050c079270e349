#![allow(clippy::unwrap_used)]
use super::*;

fn mmk(k: usize, lambda: f64) -> Qbd {
    let level = |q: usize| Level {
        phases: 1,
        up: vec![(0, 0, lambda)],
        local: vec![],
        down: if q == 0 {
            vec![]
        } else {
            vec![(0, 0, q.min(k) as f64)]
        },
    };
    Qbd {
        boundary: (0..k).map(level).collect(),
        repeating: level(k),
    }
}

/// In an M/M/1 queue, `P(Q > q) = ρ^(q+1)` and the mean is `ρ/(1−ρ)`, even for a high load.
#[test]
fn mm1_has_its_closed_form() {
    for spare in [0.5, 0.1, 1e-3, 1e-6, 1e-8] {
        let load = 1.0 - spare;
        let law = mmk(1, load).solve().unwrap();
        let mean = load / (1.0 - load);
        assert!((law.mean() / mean - 1.0).abs() < 100.0 * f64::EPSILON / 2.0 / spare);
        for (q, level) in law.levels().take(20).enumerate() {
            let above = law.above(q);
            let is_near = (level[0] / ((1.0 - load) * load.powi(q as i32)) - 1.0).abs()
                < 1e-15 * 100.0 / spare;
            assert!(is_near, "{q}");
            assert!((above - load.powi(q as i32 + 1)).abs() < 1e-14, "{q}");
        }
    }
}

#[test]
fn mmk_agrees_with_erlang_c() {
    for (k, lambda) in [(2, 1.5), (5, 4.9), (12, 3.0)] {
        let mut blocking = 1.0;
        for n in 1..=k {
            blocking = lambda * blocking / (n as f64 + lambda * blocking);
        }
        let rho = lambda / k as f64;
        let waits = blocking / (1.0 - rho * (1.0 - blocking));
        let mean = lambda + waits * rho / (1.0 - rho);
        let law = mmk(k, lambda).solve().unwrap();
        assert!((law.mean() / mean - 1.0).abs() < 1e-13, "{k}");
    }
}

#[test]
fn rejects_processes_without_drift() {
    for lambda in [1.0, 1.5] {
        let Err(why) = mmk(1, lambda).solve() else {
            panic!("stable at {lambda}");
        };
        assert!(why.to_string().contains("not stable"), "{why}");
    }
}
