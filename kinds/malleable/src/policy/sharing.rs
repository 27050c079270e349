//! Rules that depend on the remaining size of each job.
//!
//! Some details of two rules are not specified in the heSRPT paper (section 4.2). For HELL, we
//! select the job with the largest ratio of the efficiency `s(k)/k` to the remaining time `x/s(k)`,
//! with the `k` for which this ratio is maximal, and then the next job. If this `k` is 0, as for
//! `k^p` with p < ½, we add small parts to the job with the largest ratio. For KNEE, each job gets
//! servers, from the smallest job, until one more would reduce its time by less than `a`. The other
//! servers remain idle, since KNEE would be the same as EQUI otherwise.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Asks, all_at_once, ascending, divide, extend_prices, power_prices, prices};
use crate::workload::{Curve, Speedup, bisect};

/// A job in the system, as it is seen by a rule.
#[derive(Clone, Copy, Debug)]
pub struct ActiveJob<'a> {
    /// The remaining size \[work\], which is greater than 0.
    pub left: f64,
    /// The cost per unit of its time.
    pub weight: f64,
    /// Its speedup.
    pub curve: &'a Curve,
}

/// A rule that divides the servers, based on the remaining sizes of the jobs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sharing {
    /// The heSRPT rule for jobs that arrive over time.
    HeSrpt(Online),
    /// The formula of theorem 7 of the heSRPT paper with this p < 1, for any speedup.
    Power(f64),
    /// All jobs end at the same time.
    HeLrpt,
    /// The smallest job is served first.
    Srpt,
    /// All jobs get the same number of servers.
    Equi,
    /// The job with the largest ratio of efficiency to remaining time is served first.
    Hell,
    /// The smallest job is served first, up to the knee with this slope \[time/server\].
    Knee(f64),
}

/// The heSRPT rule for jobs that arrive over time, with its two tuning parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Online {
    /// The exponent of the prices. If it is 0, this is the same as EQUI. If it is 1, it is optimal
    /// if no more jobs arrive. If it is larger, it is closer to SRPT.
    pub urgency: f64,
    /// The number of virtual jobs that remain after all others. With a larger number, the shares of
    /// the jobs are more equal.
    pub background: f64,
}

impl Online {
    /// These values are optimal if there are no more arrivals.
    pub const PLAIN: Online = Online {
        urgency: 1.0,
        background: 0.0,
    };
}

/// Cached values for the same system, if all jobs have the same curve and weight.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// The prices of equal jobs, starting with the background, if any, and then the largest job.
    prices: Vec<f64>,
}

impl Sharing {
    /// Returns `true` if the servers of jobs with the same curve and weight only depend on the
    /// order of their sizes, and a smaller job never gets fewer servers.
    pub(crate) fn follows_order(&self) -> bool {
        match self {
            Sharing::HeSrpt(_) | Sharing::Power(_) | Sharing::Srpt | Sharing::Equi => true,
            Sharing::HeLrpt | Sharing::Hell | Sharing::Knee(_) => false,
        }
    }

    /// Divides the servers among the jobs.
    pub fn servers(&self, jobs: &[ActiveJob<'_>], servers: f64, known: &mut Known) -> Vec<f64> {
        match self {
            Sharing::HeSrpt(online) => online.servers(jobs, servers, known),
            Sharing::Power(p) => power(*p, jobs, servers),
            Sharing::HeLrpt => {
                let each: Vec<_> = jobs.iter().map(|job| (job.left, job.curve)).collect();
                all_at_once(&each, servers).1
            }
            Sharing::Srpt => in_turn(jobs, servers, |job| job.curve.cap),
            Sharing::Equi => equal(jobs, servers),
            Sharing::Hell => hell(jobs, servers),
            Sharing::Knee(a) => in_turn(jobs, servers, |job| knee(job, *a)),
        }
    }
}

pub(crate) fn by_job(count: usize, places: &[usize], values: &[f64]) -> Vec<f64> {
    let mut by_job = vec![0.0; count];
    for (&i, value) in places.iter().zip(values) {
        by_job[i] = *value;
    }
    by_job
}

fn from_largest(jobs: &[ActiveJob<'_>]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..jobs.len()).collect();
    order.sort_by(|&i, &j| {
        let (one, other) = (&jobs[i], &jobs[j]);
        let by_size = other.left.total_cmp(&one.left);
        by_size.then(one.weight.total_cmp(&other.weight))
    });
    order
}

impl Online {
    fn servers(&self, jobs: &[ActiveJob<'_>], servers: f64, known: &mut Known) -> Vec<f64> {
        let order = from_largest(jobs);
        let alike = jobs
            .windows(2)
            .all(|two| std::ptr::eq(two[0].curve, two[1].curve) && two[0].weight == two[1].weight);
        let in_order = match alike {
            true => self.alike(jobs, servers, known),
            false => self.different(jobs, &order, servers),
        };
        by_job(jobs.len(), &order, &in_order)
    }

    fn alike(&self, jobs: &[ActiveJob<'_>], servers: f64, known: &mut Known) -> Vec<f64> {
        let Some(job) = jobs.first() else {
            return Vec::new();
        };
        let behind = (self.background > 0.0).then_some(self.background);
        let first = usize::from(behind.is_some());
        let own = std::iter::repeat_n(1.0, jobs.len());
        let weights: Vec<f64> = behind.into_iter().chain(own).collect();
        let mut prices = match job.curve.smooth_power(servers) {
            Some(p) => power_prices(p, &weights, servers),
            None => {
                extend_prices(&mut known.prices, job.curve, &weights, servers);
                known.prices[..weights.len()].to_vec()
            }
        };
        ascending(&mut prices[first..]);
        self.divide(&prices[first..], |_| job.curve, servers)
    }

    fn different(&self, jobs: &[ActiveJob<'_>], order: &[usize], servers: f64) -> Vec<f64> {
        let first = order.first().filter(|_| self.background > 0.0);
        let behind = first.map(|&i| (jobs[i].curve, self.background * jobs[i].weight));
        let own = order.iter().map(|&i| (jobs[i].curve, jobs[i].weight));
        let (curves, weights): (Vec<&Curve>, Vec<f64>) = behind.into_iter().chain(own).unzip();
        let found = prices(&curves, &weights, servers);
        let first = curves.len() - order.len();
        self.divide(&found[first..], |n| curves[first + n], servers)
    }

    fn divide<'a>(&self, prices: &[f64], curve: impl Fn(usize) -> &'a Curve, all: f64) -> Vec<f64> {
        let dearest = prices.iter().copied().fold(0.0, f64::max);
        let asks = prices.iter().enumerate().map(|(n, price)| Asks {
            price: (price / dearest).powf(self.urgency),
            curve: curve(n),
        });
        divide(&asks.collect::<Vec<_>>(), all)
    }
}

fn equal(jobs: &[ActiveJob<'_>], servers: f64) -> Vec<f64> {
    let each = servers / jobs.len() as f64;
    if jobs.iter().all(|job| job.curve.cap >= each) {
        return vec![each; jobs.len()];
    }
    level(jobs, servers, |_, level| level)
}

/// Returns the fractions `(W_i/W_m)^c − (W_{i−1}/W_m)^c` with `c = 1/(1 − p)`, up to the caps.
fn power(p: f64, jobs: &[ActiveJob<'_>], servers: f64) -> Vec<f64> {
    let c = 1.0 / (1.0 - p);
    let all: f64 = jobs.iter().map(|job| job.weight).sum();
    let mut taken = vec![0.0; jobs.len()];
    let (mut sum, mut before) = (0.0, 0.0);
    for i in from_largest(jobs) {
        sum += jobs[i].weight;
        let up_to = f64::powf(sum / all, c);
        taken[i] = (servers * (up_to - before)).min(jobs[i].curve.cap);
        before = up_to;
    }
    taken
}

/// Serves the jobs from the smallest one, up to the number that each asks for.
fn in_turn(jobs: &[ActiveJob<'_>], servers: f64, asks: impl Fn(&ActiveJob<'_>) -> f64) -> Vec<f64> {
    let mut taken = vec![0.0; jobs.len()];
    let mut left = servers;
    for i in from_largest(jobs).into_iter().rev() {
        taken[i] = asks(&jobs[i]).min(left).min(jobs[i].curve.cap);
        left -= taken[i];
        if left <= 0.0 {
            break;
        }
    }
    taken
}

/// Returns the servers of each job at the level where all servers are used. If the demand jumps at
/// this level, the remaining servers are used for the smallest jobs.
fn level(jobs: &[ActiveJob<'_>], servers: f64, asks: impl Fn(usize, f64) -> f64) -> Vec<f64> {
    let ask = |i: usize, level: f64| asks(i, level).min(jobs[i].curve.cap).min(servers);
    let at = |level: f64| -> Vec<f64> { (0..jobs.len()).map(|i| ask(i, level)).collect() };
    let total = |level: f64| (0..jobs.len()).map(|i| ask(i, level)).sum::<f64>();
    let (mut low, mut high) = (servers, servers);
    let mut reach = 0..REACH;
    while total(low) > servers && reach.next().is_some() {
        low /= 16.0;
    }
    let mut reach = 0..REACH;
    while total(high) < servers && reach.next().is_some() {
        high *= 16.0;
    }
    while high / low > 1.0 + 4.0 * f64::EPSILON {
        let middle = (low * high).sqrt();
        if middle <= low || middle >= high {
            break;
        }
        let is_above = total(middle) > servers;
        let end = if is_above { &mut high } else { &mut low };
        *end = middle;
    }
    let (mut taken, most) = (at(low), at(high));
    let mut left = servers - taken.iter().sum::<f64>();
    for i in from_largest(jobs).into_iter().rev() {
        let more = (most[i] - taken[i]).clamp(0.0, left.max(0.0));
        taken[i] += more;
        left -= more;
    }
    taken
}

const REACH: usize = 120;

/// Divides the servers so that `s(k)²/(kx)` is the same for all jobs that get servers.
fn hell(jobs: &[ActiveJob<'_>], servers: f64) -> Vec<f64> {
    let falls = |job: &ActiveJob<'_>| ratio_power(job).is_none_or(|power| power < 0.0);
    if !jobs.iter().any(falls) {
        return in_turn(jobs, servers, |job| job.curve.cap);
    }
    let mut marks: Vec<(&Curve, Vec<f64>)> = Vec::new();
    let place = |marks: &[(&Curve, Vec<f64>)], curve: &Curve| {
        let mut known = marks.iter();
        known.position(|(known, _)| std::ptr::eq(*known, curve))
    };
    for job in jobs {
        if place(&marks, job.curve).is_none() {
            marks.push((job.curve, job.curve.marks(servers)));
        }
    }
    // Each job gets none or at least its first mark, so only a few of the smallest jobs get any.
    let order = from_largest(jobs);
    let few = match &marks[..] {
        [(_, marks)] if jobs.iter().all(|job| ratio_power(job).is_none()) => {
            (servers / marks[0]) as usize + 2
        }
        _ => jobs.len(),
    };
    let places = &order[order.len().saturating_sub(few)..];
    let smallest: Vec<ActiveJob<'_>> = places.iter().map(|i| jobs[*i]).collect();
    let found = level(&smallest, servers, |n, level| {
        let job = &smallest[n];
        let least = job.left / level;
        match ratio_power(job) {
            Some(power) if power < 0.0 => least.powf(1.0 / power),
            _ => place(&marks, job.curve)
                .map_or(0.0, |n| job.curve.largest_with_ratio(least, &marks[n].1)),
        }
    });
    by_job(jobs.len(), places, &found)
}

/// Returns the exponent of `s(k)²/k` if it is a power of k. The ratio decreases if it is negative.
fn ratio_power(job: &ActiveJob<'_>) -> Option<f64> {
    match job.curve.speedup {
        Speedup::Power(p) if !job.curve.whole => Some(2.0 * p - 1.0),
        _ => None,
    }
}

/// Returns the number of servers at which `x s'(k)/s(k)² = a`.
fn knee(job: &ActiveJob<'_>, a: f64) -> f64 {
    match (&job.curve.speedup, job.curve.whole) {
        (Speedup::Power(p), false) => return (p * job.left / a).powf(1.0 / (1.0 + p)),
        (Speedup::Amdahl(f), false) => return (f * job.left / a).sqrt(),
        _ => {}
    }
    let gain = |k: f64| job.left * job.curve.slope(k) / job.curve.at(k).powi(2);
    let (mut low, mut high) = (1.0, 1.0);
    while gain(high) > a && high < 1e300 {
        high *= 2.0;
    }
    while gain(low) < a && low > 1e-300 {
        low /= 2.0;
    }
    bisect(low, high, |k| gain(k) > a)
}
