//! A lower bound from the rents of the servers over time, which is the Lagrangian relaxation of the
//! constraint that at most N servers are used at any time.
//!
//! Each job pays the rent `ν(t)` for each server that it uses, independently of the other jobs. The
//! cost of all jobs, minus the rent of N servers, is a lower bound for any policy, speedups and
//! weights. The gap decreases with the number of jobs (Shapley–Folkman). The bound is a concave
//! function of the rents, and the excess demand for servers is a supergradient.

use crate::artifact::Rent;
use crate::workload::{Curve, Job, Pool};

/// Improves the rents, but not their times. Returns the best lower bound and its rents.
pub(crate) fn ascend(pool: &Pool, mut rents: Vec<Rent>) -> (f64, Vec<Rent>) {
    let until = rents.last().map_or(1.0, |last| last.until);
    let mut best = (0.0, vec![Rent { until, rent: 0.0 }]);
    for step in 0..160 {
        let (least, used) = evaluate(pool, &rents);
        if least > best.0 {
            best = (least, rents.clone());
        }
        let pace = 0.6 / (1.0 + f64::from(step) / 4.0);
        let mut before = 0.0;
        for (rent, used) in rents.iter_mut().zip(&used) {
            let all = pool.servers() * (rent.until - before);
            before = rent.until;
            rent.rent *= (pace * (used / all - 1.0).clamp(-1.0, 2.0)).exp();
        }
    }
    best
}

/// Returns the lower bound, and the demand in each interval as the number of servers times time.
fn evaluate(pool: &Pool, rents: &[Rent]) -> (f64, Vec<f64>) {
    let mut used = vec![0.0; rents.len()];
    let starts = std::iter::once(0.0).chain(rents.iter().map(|own| own.until));
    let intervals = rents.iter().zip(starts);
    let intervals = intervals.map(|(own, start)| (own.until - start, own.rent));
    let intervals: Vec<(f64, f64)> = intervals.collect();
    let earned = |(length, rent): &(f64, f64)| pool.servers() * rent * length;
    let mut least = -intervals.iter().map(earned).sum::<f64>();
    for (i, job) in pool.jobs().iter().enumerate() {
        let curve = pool.curve(i);
        let alone = IndependentJob {
            job,
            curve,
            most: curve.cap.min(pool.servers()),
            intervals: &intervals,
        };
        least += alone.best(&mut used);
    }
    (least, used)
}

struct IndependentJob<'a> {
    job: &'a Job,
    curve: &'a Curve,
    most: f64,
    /// The length and the rent of each interval.
    intervals: &'a [(f64, f64)],
}

impl IndependentJob<'_> {
    fn servers(&self, price: f64, rent: f64) -> f64 {
        self.curve.demand(rent / price).0.min(self.most)
    }

    fn gain(&self, price: f64, rent: f64) -> f64 {
        let k = self.servers(price, rent);
        price * self.curve.at(k) - rent * k
    }

    fn done(&self, price: f64, intervals: usize) -> f64 {
        let each = self.intervals[..intervals].iter();
        each.map(|(length, rent)| length * self.curve.at(self.servers(price, *rent)))
            .sum()
    }

    /// Returns the price, at most `most`, at which the job ends within the first `intervals`, or ∞.
    fn price_until(&self, intervals: usize, most: f64) -> f64 {
        let (mut low, mut high) = (0.0, most);
        if high == f64::INFINITY {
            let fastest: f64 = self.intervals[..intervals].iter().map(|i| i.0).sum();
            if fastest * self.curve.at(self.most) < self.job.size {
                return f64::INFINITY;
            }
            high = self.job.weight.max(f64::MIN_POSITIVE);
            let mut reach = 0..REACH;
            while self.done(high, intervals) < self.job.size && reach.next().is_some() {
                (low, high) = (high, 4.0 * high);
            }
        }
        let more = |price: f64| self.done(price, intervals) - self.job.size;
        root(low, high, more)
    }

    /// Returns the price at which the gain per unit of time is equal to the weight.
    fn indifferent(&self, rent: f64) -> f64 {
        let worth = |price: f64| self.gain(price, rent) - self.job.weight;
        let mut high = self.job.weight / self.curve.at(self.most);
        let mut reach = 0..REACH;
        while worth(high) < 0.0 && reach.next().is_some() {
            high *= 4.0;
        }
        root(high / 4.0, high, worth)
    }

    /// Returns the minimum cost, and adds the servers that are then used to `used`.
    fn best(&self, used: &mut [f64]) -> f64 {
        let (mut price_before, mut start) = (f64::INFINITY, 0.0);
        let mut best = (f64::INFINITY, 0, 0.0, 0.0);
        for n in 0..=self.intervals.len() {
            let (length, rent) = *self.intervals.get(n).unwrap_or(&(f64::INFINITY, 0.0));
            let (after, indifferent) = if length.is_finite() {
                let until = self.price_until(n + 1, price_before);
                (until, self.indifferent(rent))
            } else {
                (0.0, self.job.weight / self.curve.at(self.most))
            };
            if after < f64::INFINITY {
                let price = indifferent.clamp(after, price_before.max(after));
                let earlier = self.intervals[..n].iter();
                let gains = earlier.map(|(length, rent)| length * self.gain(price, *rent));
                let gained: f64 = gains.sum();
                let over = self.gain(price, rent) - self.job.weight;
                let is_over = over > 0.0 && length.is_finite();
                let rest = if is_over { over * length } else { 0.0 };
                let cost = price * self.job.size + self.job.weight * start - gained - rest;
                if cost < best.0 {
                    let speed = self.curve.at(self.servers(price, rent));
                    let stays = (self.job.size - self.done(price, n)) / speed;
                    best = (cost, n, price, stays.clamp(0.0, length));
                }
            }
            (price_before, start) = (after, start + length);
        }
        let (cost, last, price, stays) = best;
        for (n, used) in used.iter_mut().enumerate().take(last + 1) {
            let (length, rent) = self.intervals[n];
            let time = if n == last { stays } else { length };
            *used += time * self.servers(price, rent);
        }
        cost
    }
}

const REACH: usize = 200;

/// Returns the root of an increasing function, rounded up, by regula falsi (Illinois) and, because
/// the function may jump, by bisection in every third step.
fn root(mut low: f64, mut high: f64, of: impl Fn(f64) -> f64) -> f64 {
    let (mut below, mut above) = (of(low), of(high));
    for turn in 0..60 {
        if high - low <= 1e-12 * high || above <= 0.0 {
            break;
        }
        let part = below / (below - above);
        let chord = turn % 3 != 2 && part > 0.0 && part < 1.0;
        let guess = low + (high - low) * if chord { part } else { 0.5 };
        if guess <= low || guess >= high {
            break;
        }
        let found = of(guess);
        if found >= 0.0 {
            (high, above, below) = (guess, found, 0.5 * below);
        } else {
            (low, below, above) = (guess, found, 0.5 * above);
        }
    }
    high
}
