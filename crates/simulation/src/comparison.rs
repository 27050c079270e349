//! This module compares policies that were simulated with the same arrivals in each replication.
//!
//! Estimates are computed from pairs: the ratio of the means `r = Σa/Σb` with the residuals
//! `e = a − r·b`, and the difference `a − b`, both with Student's t distribution with `n − 1`
//! degrees of freedom. All statements in a ranking hold simultaneously with a probability of 95 %
//! (Bonferroni).
//!
//! If a policy has long queues from time to time, the interval of the ratio may be as wide as the
//! ratio itself. Jensen's inequality `E[a] ≥ exp(E[ln a])` gives a more robust lower bound, from
//! the mean of `ln a` and the interval of `1/b̄`, which allows for long queues of b not seen yet.

use schemars::JsonSchema;
use serde::Serialize;

use super::Estimate;
use super::statistics::{mean, student};

/// The error probabilities of the intervals of ratios and of the logarithmic bounds, in total 5 %.
const INTERVALS: f64 = 0.04;
const BOUNDS: f64 = 0.01;

/// Returns the ratio `Σa/Σb` of the paired samples; `None` with fewer than two pairs, or if the sum
/// of `b` is not positive. The other values of a longer sample are ignored.
pub fn paired_ratio(a: &[f64], b: &[f64]) -> Option<Estimate> {
    let count = a.len().min(b.len());
    let (a, b, n) = (&a[..count], &b[..count], count as f64);
    let mean_b = mean(b);
    if count < 2 || mean_b.is_nan() || mean_b <= 0.0 {
        return None;
    }
    let ratio = mean(a) / mean_b;
    let squares: f64 = a.iter().zip(b).map(|(a, b)| (a - ratio * b).powi(2)).sum();
    let error = (squares / (n - 1.0) / n).sqrt() / mean_b;
    Some(Estimate::with_error(ratio, error, n - 1.0))
}

/// Returns the mean of `a − b` with its 95 % confidence interval; `None` with fewer than two pairs.
pub fn paired_difference(a: &[f64], b: &[f64]) -> Option<Estimate> {
    let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    if differences.len() < 2 {
        return None;
    }
    let (mean, error) = mean_and_error(&differences);
    let freedom = differences.len() as f64 - 1.0;
    Some(Estimate::with_error(mean, error, freedom))
}

fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = mean(values);
    let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
    (mean, (squares / (n - 1.0) / n).sqrt())
}

/// The result of the comparison between two policies at the same load.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Pair {
    /// The name of the policy that has the longer mean response time.
    pub slower: String,
    /// The name of the policy that has the shorter mean response time.
    pub faster: String,
    /// The ratio of the mean response times (at least 1), with its own 95 % confidence interval.
    pub ratio: Estimate,
    /// The difference of the mean response times \[time\], with its own 95 % confidence interval.
    pub difference: Estimate,
    /// The half width of the interval of the ratio if the intervals of all pairs must hold
    /// simultaneously with a probability of 95 %.
    pub simultaneous_half_width: f64,
    /// The lower bound of the ratio that holds for all pairs simultaneously. It is the larger of
    /// the bound from that interval and the bound from the logarithms.
    pub least: f64,
    /// Whether the policies are significantly different, so that this lower bound is greater than
    /// 1.
    pub apart: bool,
}

/// A policy in a ranking.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Ranked {
    /// Its name.
    pub policy: String,
    /// The best and the worst rank that are possible, starting at 1. They hold for all policies
    /// simultaneously with a probability of 95 %.
    pub places: [usize; 2],
}

/// A list of the policies, sorted by the mean response time at a load.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Ranking {
    /// The policies, starting with the one that has the shortest mean response time.
    pub order: Vec<Ranked>,
    /// The comparisons of all pairs of policies.
    pub pairs: Vec<Pair>,
}

impl Ranking {
    /// Ranks the policies by their mean response time, using only the replications that all of them
    /// completed. If there are fewer than two, the policies are ordered, but there are no pairs.
    pub fn new(policies: &[(&str, &[Option<f64>])]) -> Self {
        let mut samples = common(policies);
        let sum = |values: &[f64]| values.iter().sum::<f64>();
        samples.sort_by(|(_, a), (_, b)| sum(a).total_cmp(&sum(b)));
        let count = samples.len() * samples.len().saturating_sub(1) / 2;
        let mut pairs = Vec::with_capacity(count);
        for (n, slower) in samples.iter().enumerate() {
            let of = |faster| pair(slower, faster, count);
            pairs.extend(samples[..n].iter().filter_map(of));
        }
        let order = samples.iter().map(|(name, _)| Ranked {
            policy: (*name).into(),
            places: places(name, samples.len(), &pairs),
        });
        Ranking {
            order: order.collect(),
            pairs,
        }
    }

    /// Returns the comparison of two policies, in either order.
    pub fn pair(&self, one: &str, other: &str) -> Option<&Pair> {
        let are = |p: &&Pair| [(one, other), (other, one)].contains(&(&p.slower, &p.faster));
        self.pairs.iter().find(are)
    }
}

type Sample<'a> = (&'a str, Vec<f64>);

fn common<'a>(policies: &[(&'a str, &[Option<f64>])]) -> Vec<Sample<'a>> {
    let shortest = policies.iter().map(|(_, v)| v.len()).min().unwrap_or(0);
    let complete = |r: &usize| policies.iter().all(|(_, values)| values[*r].is_some());
    let common: Vec<usize> = (0..shortest).filter(complete).collect();
    let values = |all: &[Option<f64>]| common.iter().filter_map(|&r| all[r]).collect();
    policies.iter().map(|(n, all)| (*n, values(all))).collect()
}

fn pair((slower, a): &Sample<'_>, (faster, b): &Sample<'_>, count: usize) -> Option<Pair> {
    let ratio = paired_ratio(a, b)?;
    let interval = student(1.0 - INTERVALS / 2.0 / count as f64, ratio.freedom);
    let half_width = ratio.standard_error * interval;
    let least = surely_above(a, b, BOUNDS / count as f64);
    let least = (ratio.mean - half_width).max(least);
    Some(Pair {
        slower: (*slower).into(),
        faster: (*faster).into(),
        difference: paired_difference(a, b)?,
        ratio,
        simultaneous_half_width: half_width,
        least,
        // If two rules make the same decisions, their times differ only by rounding errors.
        apart: least > 1.0 + 1e-9,
    })
}

/// Returns the lower bound from the logarithms, which fails with `chance`; 0 for values ≤ 0.
fn surely_above(a: &[f64], b: &[f64], chance: f64) -> f64 {
    let logarithms: Vec<f64> = a.iter().map(|a| a.ln()).collect();
    let [(log_a, width_a), (mean_b, width_b)] = [&logarithms, b].map(|values| {
        let (mean, error) = mean_and_error(values);
        let quantile = student(1.0 - chance / 2.0, values.len() as f64 - 1.0);
        (mean, quantile * error)
    });
    let inverse = (1.0 - width_b / mean_b).max(0.0) / mean_b;
    let bound = (log_a - width_a).exp() * inverse;
    if bound.is_finite() { bound } else { 0.0 }
}

/// Returns the best rank, which is the number of significantly faster policies plus 1, and the
/// worst, which is the number of policies, with this one, that are not significantly slower.
fn places(name: &str, count: usize, pairs: &[Pair]) -> [usize; 2] {
    let surely = |end: fn(&Pair) -> &str| pairs.iter().filter(move |p| p.apart && end(p) == name);
    let faster = surely(|p| &p.slower).count();
    let slower = surely(|p| &p.faster).count();
    [1 + faster, count - slower]
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use rand::{RngExt, SeedableRng};

    use super::*;

    fn correlated(seed: u64, n: usize, ratio: f64) -> (Vec<f64>, Vec<f64>) {
        let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut noise = || (0..12).map(|_| random.random::<f64>() - 0.5).sum::<f64>();
        (0..n)
            .map(|_| {
                let common = 5.0 + noise();
                (ratio * common + 0.5 * noise(), common + 0.2 * noise())
            })
            .unzip()
    }

    /// With a probability of 0.999 (binomial), 926 to 972 of the intervals contain the true value.
    #[test]
    fn paired_intervals_have_nominal_coverage() {
        let samples = || (0..1000).map(|seed| correlated(seed, 8, 3.0));
        let ratios = samples()
            .filter(|(a, b)| paired_ratio(a, b).unwrap().covers(3.0, 0.95))
            .count();
        assert!((926..=972).contains(&ratios), "{ratios}");
        let differences = samples()
            .filter(|(a, b)| paired_difference(a, b).unwrap().covers(10.0, 0.95))
            .count();
        assert!((926..=972).contains(&differences), "{differences}");
    }

    /// The probability of fewer than 928 correct rankings is 0.001.
    #[test]
    fn ranking_statements_hold_simultaneously() {
        let holds = |seed: &u64| {
            let (slow, first) = correlated(*seed, 8, 1.5);
            let (second, _) = correlated(seed + 5000, 8, 1.0);
            let some = |v: Vec<f64>| v.into_iter().map(Some).collect::<Vec<_>>();
            let [slow, first, second] = [slow, first, second].map(some);
            let ranking = Ranking::new(&[("slow", &slow), ("a", &first), ("b", &second)]);
            !ranking.pair("a", "b").unwrap().apart && ranking.order.iter().all(right)
        };
        let right = (0..1000).filter(holds).count();
        assert!(right >= 928, "{right}");
    }

    /// A coefficient of variation of 1.3 gives more than 72 rejections with a probability of 0.001.
    #[test]
    fn skewed_samples_with_equal_means_do_not_differ_significantly() {
        let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(7);
        let mut normal = || (0..12).map(|_| random.random::<f64>() - 0.5).sum::<f64>();
        let apart = (0..1000).filter(|_| {
            let mut long = |_| Some((normal() - 0.5_f64).exp());
            let skewed: Vec<Option<f64>> = (0..8).map(&mut long).collect();
            let level: Vec<Option<f64>> = (0..8).map(|_| Some(1.0 + 0.1 * normal())).collect();
            let ranking = Ranking::new(&[("a", &skewed), ("b", &level)]);
            ranking.pair("a", "b").unwrap().apart
        });
        let apart = apart.count();
        assert!(apart <= 72, "{apart}");
    }

    #[test]
    fn a_much_slower_policy_differs_significantly() {
        let few = [1.0, 1.1, 0.9, 1.0, 1.05, 0.95, 1.0, 1.0].map(Some);
        let many = [100.0, 20000.0, 300.0, 150.0, 900.0, 120.0, 400.0, 200.0].map(Some);
        let ranking = Ranking::new(&[("few", &few), ("many", &many)]);
        let pair = ranking.pair("few", "many").unwrap();
        assert!(pair.ratio.mean - pair.simultaneous_half_width < 1.0);
        assert!(pair.apart && pair.least > 5.0, "{pair:?}");
        assert_eq!(ranking.order[0].places, [1, 1]);
    }

    fn right(ranked: &Ranked) -> bool {
        let [first, last] = ranked.places;
        match ranked.policy.as_str() {
            "slow" => last == 3,
            _ => first == 1 && last >= 2,
        }
    }

    #[test]
    fn ranks_clear_differences_and_leaves_ties_open() {
        let values = |factor: f64| -> Vec<Option<f64>> {
            (0..8)
                .map(|r| Some(factor * (1.0 + 0.01 * f64::from(r % 3))))
                .collect()
        };
        let mut wavering = values(2.0);
        wavering[0] = Some(2.5);
        wavering[1] = Some(1.7);
        let ranking = Ranking::new(&[
            ("c", &values(4.0)),
            ("b", &wavering),
            ("a", &values(1.99)),
            ("d", &values(4.0)),
        ]);
        let order: Vec<_> = ranking
            .order
            .iter()
            .map(|r| (&*r.policy, r.places))
            .collect();
        assert_eq!(
            order,
            [("a", [1, 2]), ("b", [1, 2]), ("c", [3, 4]), ("d", [3, 4])]
        );
        let pair = ranking.pair("c", "a").unwrap();
        assert_eq!((&*pair.slower, &*pair.faster, pair.apart), ("c", "a", true));
        assert!((pair.ratio.mean - 4.0 / 1.99).abs() < 1e-12);
    }

    #[test]
    fn one_replication_gives_an_order_without_significance() {
        let (a, b) = ([Some(1.0), None], [Some(2.0), Some(2.0)]);
        let ranking = Ranking::new(&[("b", &b), ("a", &a)]);
        assert_eq!(ranking.order[0].policy, "a");
        assert_eq!(ranking.order[0].places, [1, 2]);
        assert!(ranking.pairs.is_empty());
        assert!(Ranking::new(&[]).order.is_empty());
    }
}
