//! What runs on the same arrivals say of each other.
//!
//! Replication r of each policy faces the same arrivals, and so the policies' means move together
//! from one replication to the next. Statements are made from the pairs: the ratio of means
//! `r = Σa/Σb` from its residuals `e = a − r·b`, the difference from `a − b`, with Student's t on
//! n−1 degrees of freedom. The statements of one ranking hold together at 95 % (Bonferroni over
//! its pairs), so that its order may be read off without further care.
//!
//! Where one of two has long queues now and then, the interval of the ratio may be as wide as the ratio
//! although each replication says the same. From `E[a] ≥ exp(E[ln a])` (Jensen) follows a second statement,
//! on one side only, that such values do not spoil: the mean of `ln a` is above one bound, and `1/E[b]`
//! above another, whose interval is that of `1/b̄`: few of the long queues of b that are to come may have
//! been seen.

use schemars::JsonSchema;
use serde::Serialize;

use super::Estimate;
use super::statistics::{mean, student};

/// Chances that one of the ratios' intervals does not hold, or one of the bounds by logarithms: all
/// statements of a ranking hold together at 95 %.
const INTERVALS: f64 = 0.04;
const BOUNDS: f64 = 0.01;

/// Returns the ratio `Σa/Σb` of two paired samples, with its 95 % confidence interval; `None` with fewer than
/// two pairs, or where b does not sum to something positive. Further values of the longer sample
/// are ignored.
pub fn paired_ratio(a: &[f64], b: &[f64]) -> Option<Estimate> {
    let pairs: Vec<(f64, f64)> = a.iter().copied().zip(b.iter().copied()).collect();
    let n = pairs.len() as f64;
    let mean_b = pairs.iter().map(|(_, b)| b).sum::<f64>() / n;
    if pairs.len() < 2 || mean_b.is_nan() || mean_b <= 0.0 {
        return None;
    }
    let ratio = pairs.iter().map(|(a, _)| a).sum::<f64>() / n / mean_b;
    let squares: f64 = pairs.iter().map(|(a, b)| (a - ratio * b).powi(2)).sum();
    let error = (squares / (n - 1.0) / n).sqrt() / mean_b;
    Some(Estimate::with_error(ratio, error, n - 1.0))
}

/// Returns the mean difference `a − b` of two paired samples, with its 95 % confidence interval; `None` with
/// fewer than two pairs.
pub fn paired_difference(a: &[f64], b: &[f64]) -> Option<Estimate> {
    let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    if differences.len() < 2 {
        return None;
    }
    let (mean, error) = mean_and_error(&differences);
    let freedom = differences.len() as f64 - 1.0;
    Some(Estimate::with_error(mean, error, freedom))
}

/// Returns the mean of independent values, and its standard error.
fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = mean(values);
    let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
    (mean, (squares / (n - 1.0) / n).sqrt())
}

/// Two policies at one load.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Pair {
    /// The one with the greater mean response time.
    pub slower: String,
    /// The other.
    pub faster: String,
    /// How many times as long the slower one takes, with a 95 % interval of its own.
    pub ratio: Estimate,
    /// How much longer it takes \[time\], with a 95 % interval of its own.
    pub difference: Estimate,
    /// Half the width of the ratio's interval, where those of all pairs hold together at 95 %.
    pub simultaneous_half_width: f64,
    /// What the ratio surely exceeds, likewise: the end of that interval, or what the logarithms say.
    pub least: f64,
    /// Whether the ratio is surely not 1: if not, the two cannot be told apart.
    pub apart: bool,
}

/// A policy in a ranking.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Ranked {
    /// Its name.
    pub policy: String,
    /// First and last place that it may have, 1 is the fastest; both true for all policies
    /// together at 95 %.
    pub places: [usize; 2],
}

/// Policies at one load by their mean response times.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Ranking {
    /// Fastest first.
    pub order: Vec<Ranked>,
    /// Each two of them.
    pub pairs: Vec<Pair>,
}

impl Ranking {
    /// Ranks policies by the mean response times of their replications. Only replications that
    /// all of them have count; with fewer than two of these there is an order, and no pair.
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

    /// Returns what is known of two policies, in either order.
    pub fn pair(&self, one: &str, other: &str) -> Option<&Pair> {
        let are = |p: &&Pair| [(one, other), (other, one)].contains(&(&p.slower, &p.faster));
        self.pairs.iter().find(are)
    }

    /// Returns whether two policies differ significantly.
    #[cfg(test)]
    pub fn apart(&self, one: &str, other: &str) -> bool {
        self.pair(one, other).is_some_and(|pair| pair.apart)
    }
}

type Sample<'a> = (&'a str, Vec<f64>);

/// Returns the values of the replications that all have.
fn common<'a>(policies: &[(&'a str, &[Option<f64>])]) -> Vec<Sample<'a>> {
    let shortest = policies.iter().map(|(_, v)| v.len()).min().unwrap_or(0);
    let complete = |r: &usize| policies.iter().all(|(_, values)| values[*r].is_some());
    let common: Vec<usize> = (0..shortest).filter(complete).collect();
    let values = |all: &[Option<f64>]| common.iter().filter_map(|&r| all[r]).collect();
    policies.iter().map(|(n, all)| (*n, values(all))).collect()
}

/// Compares two policies, of so many pairs.
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
        // Rules that make the same decisions have the same times, but for rounding.
        apart: least > 1.0 + 1e-9,
    })
}

/// Returns what the ratio of means exceeds but for this chance, by logarithms; 0 where a value is not positive.
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

/// Returns one more than those who are surely faster, and as many as are not surely slower.
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

    /// Pairs with a common part: `E a = ratio · E b`.
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

    /// Of 1000 intervals of 95 %, between 926 and 972 cover with probability .999 (binomial).
    #[test]
    fn paired_intervals_cover_as_often_as_they_say() {
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

    /// Three policies, two of them alike: in 95 % of 1000 rankings and more nothing false is
    /// said. Bonferroni errs on the safe side; below 928 the chance is .001.
    #[test]
    fn what_a_ranking_says_holds_together() {
        let holds = |seed: &u64| {
            let (slow, first) = correlated(*seed, 8, 1.5);
            let (second, _) = correlated(seed + 5000, 8, 1.0);
            let some = |v: Vec<f64>| v.into_iter().map(Some).collect::<Vec<_>>();
            let [slow, first, second] = [slow, first, second].map(some);
            let ranking = Ranking::new(&[("slow", &slow), ("a", &first), ("b", &second)]);
            !ranking.apart("a", "b") && ranking.order.iter().all(right)
        };
        let right = (0..1000).filter(holds).count();
        assert!(right >= 928, "{right}");
    }

    /// Of two with the same mean, one of which has rare long queues (lognormal, coefficient of variation
    /// 1.3), at most 5 % are told apart; above 72 of 1000 the chance is .001.
    #[test]
    fn skewed_values_are_not_told_apart_by_chance() {
        let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(7);
        let mut normal = || (0..12).map(|_| random.random::<f64>() - 0.5).sum::<f64>();
        let apart = (0..1000).filter(|_| {
            let mut long = |_| Some((normal() - 0.5_f64).exp());
            let skewed: Vec<Option<f64>> = (0..8).map(&mut long).collect();
            let level: Vec<Option<f64>> = (0..8).map(|_| Some(1.0 + 0.1 * normal())).collect();
            Ranking::new(&[("a", &skewed), ("b", &level)]).apart("a", "b")
        });
        let apart = apart.count();
        assert!(apart <= 72, "{apart}");
    }

    /// One that takes from a hundred to twenty thousand times as long is told apart, although the interval of
    /// the ratio is wider than the ratio.
    #[test]
    fn a_hugely_slower_policy_is_told_apart() {
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
    fn a_clear_order_is_found_and_a_tie_is_left_open() {
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
    fn one_replication_ranks_and_proves_nothing() {
        let (a, b) = ([Some(1.0), None], [Some(2.0), Some(2.0)]);
        let ranking = Ranking::new(&[("b", &b), ("a", &a)]);
        assert_eq!(ranking.order[0].policy, "a");
        assert_eq!(ranking.order[0].places, [1, 2]);
        assert!(ranking.pairs.is_empty());
        assert!(Ranking::new(&[]).order.is_empty());
    }
}
