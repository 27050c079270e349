//! Laws of sizes of few parameters, fitted with the mean held.
//!
//! The load must not move: each law has the mean that was measured, and what is left is found by likelihood. Of all
//! the one that is least far from the measured law (Kolmogorov and Smirnov's D) is taken, if it is near enough; of those that
//! chance does not tell apart the one of fewest parameters.

use statrs::distribution::{ContinuousCDF, LogNormal, Weibull};
use statrs::function::gamma::gamma;

use super::short;
use super::sizes::{Atom, Law};
use crate::law::Size;
use crate::number::Decimal;

/// The nearest law, with D; `None` where none is near: `D > max(.05, 1.36/√n)`. In units of so many ticks.
pub fn nearest(law: &Law, ticks: f64) -> Option<(Size, f64)> {
    let atoms: Vec<Atom> = law
        .atoms
        .iter()
        .map(|(x, weight)| (x / ticks, *weight))
        .collect();
    let mean: f64 = atoms.iter().map(|(x, weight)| x * weight).sum();
    // Of few parameters first.
    let fits = [
        Some(exponential(mean)),
        lognormal(&atoms, mean),
        weibull(&atoms, mean),
        pareto(&atoms, mean),
        hyperexponential(&atoms, mean),
    ];
    let told = fits.into_iter().flatten().map(|(size, below)| {
        let distance = distance(&atoms, below);
        (size, distance)
    });
    let told: Vec<(Size, f64)> = told.collect();
    let least = told
        .iter()
        .map(|(_, distance)| *distance)
        .fold(f64::INFINITY, f64::min);
    // What is nearer by less than chance is no nearer.
    let chance = 0.5 / law.effective.sqrt();
    let nearest = told
        .into_iter()
        .find(|(_, distance)| *distance <= least + chance);
    let far = 0.05_f64.max(1.36 / law.effective.sqrt());
    nearest.filter(|(_, distance)| *distance <= far)
}

/// A law, and its distribution function.
type Fitted = (Size, Box<dyn Fn(f64) -> f64>);

/// `sup |F_n − F|`.
fn distance(atoms: &[Atom], below: impl Fn(f64) -> f64) -> f64 {
    let mut share = 0.0;
    let gaps = atoms.iter().map(|(x, weight)| {
        let fitted = below(*x);
        let before = (fitted - share).abs();
        share += weight;
        before.max((fitted - share).abs())
    });
    gaps.fold(0.0, f64::max)
}

fn exponential(mean: f64) -> Fitted {
    let size = Size::Exponential { mean: short(mean) };
    (size, Box::new(move |x| -(-x / mean).exp_m1()))
}

/// With `s = σ²` and D the mean of `(ln x − ln mean)²` the likelihood is greatest where `s²/8 + s/2 = D/2`.
fn lognormal(atoms: &[Atom], mean: f64) -> Option<Fitted> {
    let squares: f64 = atoms
        .iter()
        .map(|(x, weight)| weight * (x / mean).ln().powi(2))
        .sum();
    let s = 2.0 * ((1.0 + squares).sqrt() - 1.0);
    let law = LogNormal::new(mean.ln() - s / 2.0, s.sqrt()).ok()?;
    let scv = within(s.exp_m1())?;
    let size = Size::Lognormal {
        mean: short(mean),
        scv,
    };
    Some((size, Box::new(move |x| law.cdf(x))))
}

fn weibull(atoms: &[Atom], mean: f64) -> Option<Fitted> {
    let likelihood = |k: f64| {
        let scale = mean / gamma(1.0 + 1.0 / k);
        let terms = atoms.iter().map(|(x, weight)| {
            let z = x / scale;
            weight * (k.ln() - scale.ln() + (k - 1.0) * z.ln() - z.powf(k))
        });
        terms.sum::<f64>()
    };
    let k = greatest(likelihood, 0.12, 12.0);
    let scale = mean / gamma(1.0 + 1.0 / k);
    let law = Weibull::new(k, scale).ok()?;
    let scv = gamma(1.0 + 2.0 / k) / gamma(1.0 + 1.0 / k).powi(2) - 1.0;
    let size = Size::Weibull {
        mean: short(mean),
        scv: within(scv)?,
    };
    Some((size, Box::new(move |x| law.cdf(x))))
}

/// What a document takes for a squared coefficient of variation.
fn within(scv: f64) -> Option<Decimal> {
    (1e-6..1e6).contains(&scv).then(|| short(scv))
}

/// The steps of expectation and maximization.
const STEPS: usize = 500;

/// Two exponential branches, by expectation and maximization: each step keeps the mean (Dempster, Laird, Rubin 1977).
fn hyperexponential(atoms: &[Atom], mean: f64) -> Option<Fitted> {
    let (mut p, mut means) = (0.7, [0.3 * mean, 2.6 * mean]);
    for _ in 0..STEPS {
        let mut sums = [[0.0; 2]; 2];
        for (x, weight) in atoms {
            let density = |share: f64, mean: f64| share / mean * (-x / mean).exp();
            let [a, b] = [density(p, means[0]), density(1.0 - p, means[1])];
            let first = if a + b > 0.0 { a / (a + b) } else { 0.0 };
            for (n, share) in [first, 1.0 - first].into_iter().enumerate() {
                sums[n][0] += weight * share;
                sums[n][1] += weight * share * x;
            }
        }
        p = sums[0][0];
        means = [0, 1].map(|n| sums[n][1] / sums[n][0]);
    }
    let millionths = (1e6 * p).round();
    if !(1.0..=999_999.0).contains(&millionths)
        || means.iter().any(|m| !(*m > 0.0 && m.is_finite()))
    {
        return None;
    }
    let shares = [millionths / 1e6, 1.0 - millionths / 1e6];
    let scale = mean / (shares[0] * means[0] + shares[1] * means[1]);
    let means = means.map(|m| m * scale);
    let decimal = |n: f64| Decimal::parse(&format!("{n}e-6")).ok();
    let size = Size::Hyperexponential {
        probabilities: vec![decimal(millionths)?, decimal(1e6 - millionths)?],
        means: means.map(short).to_vec(),
    };
    let below = move |x: f64| -> f64 {
        [0, 1]
            .map(|n| -shares[n] * (-x / means[n]).exp_m1())
            .iter()
            .sum()
    };
    Some((size, Box::new(below)))
}

/// Between the least size and the greatest, of the shape that has the mean.
fn pareto(atoms: &[Atom], mean: f64) -> Option<Fitted> {
    let (low, high) = (short(atoms.first()?.0), short(atoms.last()?.0));
    let of = |shape: f64| Size::Pareto {
        shape: short(shape),
        low,
        high,
    };
    let (mut few, mut many) = (1e-3, 50.0);
    if low >= high || of(few).mean() < mean || of(many).mean() > mean {
        return None;
    }
    for _ in 0..100 {
        let middle = f64::midpoint(few, many);
        if of(middle).mean() > mean {
            few = middle
        } else {
            many = middle
        }
    }
    let (shape, low, high) = (f64::midpoint(few, many), low.value(), high.value());
    let [least, greatest] = [low, high].map(|x| x.powf(-shape));
    let below = move |x: f64| ((least - x.powf(-shape)) / (least - greatest)).clamp(0.0, 1.0);
    Some((of(shape), Box::new(below)))
}

/// Where a function with one top is greatest, on a logarithmic scale (golden section).
fn greatest(of: impl Fn(f64) -> f64, from: f64, to: f64) -> f64 {
    const GOLDEN: f64 = 0.618_033_988_749_895;
    let at = |u: f64| of(u.exp());
    let (mut low, mut high) = (from.ln(), to.ln());
    for _ in 0..60 {
        let [a, b] = [high - GOLDEN * (high - low), low + GOLDEN * (high - low)];
        if at(a) < at(b) { low = a } else { high = b }
    }
    f64::midpoint(low, high).exp()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::multiresource::fit::sizes::{Sizes, Weighing};
    use crate::simulation::{Sampler, Streams};

    fn drawn(size: &Size) -> Law {
        let sampler = Sampler::of(size);
        let mut stream = Streams::new(3, 0).sizes;
        let mut sizes = Sizes::default();
        (0..20_000).for_each(|_| sizes.add((1e4 * sampler.draw(&mut stream)).ceil() as u64, 1.0));
        Law::of(&[&sizes], &[], Weighing::Jobs)
    }

    fn decimal(value: f64) -> Decimal {
        Decimal::new(value).unwrap()
    }

    #[test]
    fn each_law_is_found_with_its_mean() {
        let (mean, scv) = (decimal(5.0), decimal(4.0));
        let laws = [
            Size::Exponential { mean },
            Size::Lognormal { mean, scv },
            Size::Weibull { mean, scv },
            Size::Hyperexponential {
                probabilities: vec![decimal(0.9), decimal(0.1)],
                means: vec![decimal(1.0), decimal(40.0)],
            },
            Size::Pareto {
                shape: decimal(1.2),
                low: decimal(1.0),
                high: decimal(500.0),
            },
        ];
        for expected in laws {
            let law = drawn(&expected);
            let (found, distance) = nearest(&law, 1e4).unwrap();
            assert_eq!(found.law(), expected.law(), "{found:?}");
            assert!(
                (found.mean() * 1e4 / law.mean() - 1.0).abs() < 1e-6,
                "{found:?}"
            );
            // Sizes in bins 1.6 % apart make steps of up to .02 where the Pareto law is steep.
            assert!(distance < 0.03, "{found:?} {distance}");
            assert!(
                (found.scv() / expected.scv() - 1.0).abs() < 0.25,
                "{found:?}"
            );
        }
    }

    #[test]
    fn what_is_like_no_law_is_refused() {
        let mut sizes = Sizes::default();
        (0..500).for_each(|n| sizes.add(if n % 2 == 0 { 10 } else { 5000 }, 1.0));
        assert!(nearest(&Law::of(&[&sizes], &[], Weighing::Jobs), 1.0).is_none());
    }
}
