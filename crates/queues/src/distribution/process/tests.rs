#![allow(clippy::unwrap_used)]

use super::*;
use num_traits::Zero;

fn decimals(texts: &[&str]) -> Vec<Decimal> {
    texts.iter().map(|t| Decimal::parse(t).unwrap()).collect()
}

fn modulated(rates: &[&str], switching: &[&[&str]]) -> ArrivalProcess {
    ArrivalProcess::MarkovModulated {
        rates: decimals(rates),
        switching: switching.iter().map(|row| decimals(row)).collect(),
    }
}

fn processes() -> Vec<ArrivalProcess> {
    let lines = include_str!("tests/processes.jsonl").lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn mean_rates_and_dispersions_have_their_closed_forms() {
    // For two states with the rates `a` and `b` that are left at the rates `r` and `s`, the result
    // is `1 + 2 (a−b)² r s / ((r+s)² (a s + b r))`. Here, they are (1, 10) and (0.1, 0.2).
    let two_states = 1.0 + 2.0 * 81.0 * 0.02 / (0.09 * 1.2);
    let known = [
        (4.0, 1.0),
        (4.0, 0.25),
        (4.0, two_states),
        (2.8, 3.4 / 1.4),
        (80.0, 20.0 * 0.25),
    ];
    for (process, (rate, dispersion)) in processes().iter().zip(known) {
        assert!((process.rate() - rate).abs() < 1e-14, "{process:?}");
        let is_near = (process.dispersion() / dispersion - 1.0).abs() < 1e-13;
        assert!(is_near, "{process:?}: {}", process.dispersion());
        assert!(process.in_range());
    }
}

#[test]
fn dispersions_of_larger_and_of_stiff_chains() {
    let half = ["0", "0", ".05", ".05"];
    let back = [".1", ".1", "0", "0"];
    let lumped = modulated(&["1", "1", "10", "10"], &[&half, &half, &back, &back]);
    let [_, _, two_states, ..] = &processes()[..] else {
        unreachable!()
    };
    assert!((lumped.rate() - 4.0).abs() < 1e-14);
    assert!((lumped.dispersion() / two_states.dispersion() - 1.0).abs() < 1e-12);
    let (r, s) = (1e-9, 1e6);
    let stiff = modulated(&["1", "1e6"], &[&["0", "1e-9"], &["1e6", "0"]]);
    let (a, b) = (1.0, 1e6);
    let exact = 1.0 + 2.0 * f64::powi(a - b, 2) * r * s / (f64::powi(r + s, 2) * (a * s + b * r));
    assert!((stiff.dispersion() / exact - 1.0).abs() < 1e-9);
}

#[test]
fn recognizes_poisson_processes_in_other_forms() {
    let exponential = ArrivalProcess::Renewal {
        interarrival: SizeDistribution::Exponential {
            mean: Decimal::parse(".5").unwrap(),
        },
        batch: 1,
    };
    let same = modulated(&["2", "2"], &[&["0", "3"], &["1", "0"]]);
    let single = ArrivalProcess::Batches {
        rate: Decimal::parse("2").unwrap(),
        sizes: vec![1],
        probabilities: None,
        alike: Decimal::ONE,
    };
    assert_eq!(single.equal_size_fraction(), 0.0);
    for process in [exponential, same, single] {
        assert!(process.is_poisson(), "{process:?}");
        assert!((process.rate() - 2.0).abs() < 1e-15);
        assert!((process.dispersion() - 1.0).abs() < 1e-14);
    }
    let poisson: Vec<bool> = processes().iter().map(ArrivalProcess::is_poisson).collect();
    assert_eq!(poisson, [true, false, false, false, false]);
}

#[test]
fn scaling_multiplies_the_rate_and_keeps_the_environment() {
    for process in processes() {
        let scaled = process.scaled(0.5).unwrap();
        assert!((scaled.rate() / (0.5 * process.rate()) - 1.0).abs() < 1e-15);
        assert_eq!(scaled.scaled(2.0).unwrap(), process);
        let beyond = [1e308, 1e-320].map(|factor| process.scaled(factor));
        assert!(beyond.contains(&None), "{process:?}");
    }
    let slower = processes()[2].scaled(0.5).unwrap();
    let excess = [processes()[2].dispersion(), slower.dispersion()].map(|d| d - 1.0);
    assert!((excess[1] / excess[0] - 0.5).abs() < 1e-13);
}

#[test]
fn every_process_reads_back() {
    let processes = processes();
    let names: Vec<_> = processes.iter().map(ArrivalProcess::name).collect();
    assert_eq!(
        names.join(" "),
        "poisson renewal markov-modulated batches renewal"
    );
    for process in processes {
        let json = serde_json::to_string(&process).unwrap();
        assert!(json.contains(&format!("\"process\":\"{}\"", process.name())));
        let found = serde_json::from_str::<ArrivalProcess>(&json).unwrap();
        assert_eq!(found, process);
    }
}

#[test]
fn stationary_distributions_balance() {
    let rate = |s: i64, t: i64| {
        if s == t {
            0.0
        } else {
            ((3 * s + 5 * t + s * t) % 7) as f64 / 10.0
        }
    };
    let row = |s| (0..4).map(|t| Decimal::new(rate(s, t)).unwrap()).collect();
    let switching: Vec<Vec<Decimal>> = (0..4).map(row).collect();
    let law = exact_stationary(&switching);
    for t in 0..4 {
        let enters = (0..4).map(|s: usize| &law[s] * switching[s][t].exact());
        let enters: BigRational = enters.sum();
        let leaves: BigRational = switching[t].iter().map(|x| &law[t] * x.exact()).sum();
        assert_eq!(enters, leaves, "state {t}");
        assert!(law[t] > BigRational::zero());
    }
}
