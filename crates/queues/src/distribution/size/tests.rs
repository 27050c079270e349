#![allow(clippy::unwrap_used)]
use super::*;

fn decimals(texts: &[&str]) -> Vec<Decimal> {
    texts.iter().map(|t| Decimal::parse(t).unwrap()).collect()
}

fn laws() -> Vec<SizeDistribution> {
    let lines = include_str!("tests/laws.jsonl").lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn moments(law: &PhaseType) -> (f64, f64) {
    let stages = law.rates.len();
    let (mut first, mut second) = (0.0, 0.0);
    for begin in 0..stages {
        let mut probability = law.initial[begin];
        let (mut mean, mut variance) = (0.0, 0.0);
        for k in begin..stages {
            mean += 1.0 / law.rates[k];
            variance += law.rates[k].powi(-2);
            let ends = probability * (1.0 - law.onward[k]);
            first += ends * mean;
            second += ends * (variance + mean * mean);
            probability *= law.onward[k];
        }
    }
    (first, second)
}

#[test]
fn stages_have_the_mean_and_variation_of_the_distribution() {
    // `0.3·2 + 0.7·0.5 = 0.95`, `E[S²] = 2(0.3·4 + 0.7·0.25) = 2.75`, and `2·0.5·1 + ½·2·1² = 2`.
    let known = [
        (3.0, 1.0),
        (4.0, 1.0 / 3.0),
        (0.95, 2.75 / 0.9025 - 1.0),
        (1.0, 4.0),
        (1.0, 1.0),
    ];
    for (size, (mean, scv)) in laws().iter().zip(known) {
        let phases = size.phases().unwrap();
        let (first, second) = moments(&phases);
        for (found, expected) in [
            (size.mean(), mean),
            (size.scv(), scv),
            (first, mean),
            (second / (first * first) - 1.0, scv),
            (phases.initial.iter().sum(), 1.0),
        ] {
            assert!((found - expected).abs() < 1e-12, "{size:?}: {found}");
        }
        assert_eq!(phases.onward.last(), Some(&0.0));
        assert_eq!(phases.rates.len(), phases.initial.len());
        assert_eq!(size.is_exponential(), size.name() == "exponential");
    }
}

/// They are `12 ln(4/3)` and `12/E[S]² − 1` for Pareto with shape 1 on `[3, 4]`, `5/2` and
/// `(9/12)/(25/4)` for uniform on `[1, 4]`, and 3 and `(1 + 4 + 36)/27 − 1` for 1, 2 and 6.
#[test]
fn distributions_without_stages_have_mean_and_variation() {
    let pareto = 12.0 * (4.0_f64 / 3.0).ln();
    let known = [
        (3.0, 0.0),
        (3.0, 4.0),
        (1.0, 4.0),
        (pareto, 12.0 / (pareto * pareto) - 1.0),
        (2.5, 0.12),
        (3.0, 14.0 / 27.0),
    ];
    for (size, (mean, scv)) in laws()[5..].iter().zip(known) {
        assert!((size.mean() - mean).abs() < 1e-12, "{size:?}");
        assert!((size.scv() - scv).abs() < 1e-12, "{size:?}");
        assert_eq!(size.phases(), None);
        assert!(!size.is_exponential() && size.in_range());
    }
    let weighted = SizeDistribution::Empirical {
        values: decimals(&["1", "6"]),
        probabilities: Some(decimals(&[".8", ".2"])),
    };
    assert!((weighted.mean() - 2.0).abs() < 1e-15);
    assert!((weighted.scv() - 1.0).abs() < 1e-15);
}

#[test]
fn division_divides_the_mean_and_keeps_the_variation() {
    for size in laws() {
        let divided = size.scaled_down(4.0).unwrap();
        assert_eq!(divided.name(), size.name());
        assert!((4.0 * divided.mean() / size.mean() - 1.0).abs() < 1e-14);
        assert!((divided.scv() - size.scv()).abs() < 1e-14);
        assert_eq!(divided.scaled_down(0.25), Some(size));
        assert_eq!(divided.scaled_down(1e-320), None);
    }
}

#[test]
fn balanced_branches_are_accurate_for_extreme_variation() {
    for scv in [1.0 + 1e-9, 4.0, 1e20] {
        let (p, m) = balanced(3.0, scv);
        assert!((p[0] * m[0] - 1.5).abs() < 1e-12 && (p[1] * m[1] - 1.5).abs() < 1e-12);
        let second = 2.0 * (p[0] * m[0] * m[0] + p[1] * m[1] * m[1]);
        assert!((second / 9.0 / (1.0 + scv) - 1.0).abs() < 1e-12, "{scv}");
    }
}

#[test]
fn recognizes_exponential_distributions_in_other_forms() {
    let mean = Decimal::parse("2").unwrap();
    let exponential = SizeDistribution::Exponential { mean }.phases();
    for size in [
        SizeDistribution::Erlang { stages: 1, mean },
        SizeDistribution::Coxian {
            means: vec![mean],
            onward: vec![],
        },
        SizeDistribution::Weibull {
            mean,
            scv: Decimal::parse("1").unwrap(),
        },
    ] {
        assert!(size.is_exponential());
        assert_eq!(size.phases(), exponential);
    }
}

#[test]
fn every_distribution_reads_back() {
    for size in laws() {
        let json = serde_json::to_string(&size).unwrap();
        assert!(json.contains(&format!("\"law\":\"{}\"", size.name())));
        assert_eq!(
            serde_json::from_str::<SizeDistribution>(&json).unwrap(),
            size
        );
    }
}
