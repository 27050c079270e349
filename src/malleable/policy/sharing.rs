//! Rules that look at what is left of each job.
//!
//! Of the heSRPT paper's competitors (section 4.2) HELL and KNEE are not fixed by what it says. HELL: the job with the greatest
//! ratio of efficiency `s(k)/k` to remaining time `x/s(k)` gets the servers at which it is greatest, and so on; where that number
//! is 0, as for `k^p` with p < ½, the next part of a server always goes to the job whose ratio is greatest then. KNEE: a job's
//! knee is where one more server takes less than `a` from its time; jobs get theirs from the smallest knee on, as long as
//! there are servers, and what is left over stays idle (all other readings turn it into EQUI).

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Asks, all_at_once, divide, prices};
use crate::malleable::workload::{Curve, Speedup};

/// A job that is there, as a rule sees it.
#[derive(Clone, Copy, Debug)]
pub struct Underway<'a> {
    /// What is left of it \[work\], > 0.
    pub left: f64,
    /// What a unit of its time costs.
    pub weight: f64,
    /// Its speed on so many servers.
    pub curve: &'a Curve,
}

/// A rule that divides servers by what is left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sharing {
    /// At the prices of the jobs that are there: [`Online`].
    HeSrpt(Online),
    /// By theorem 7 of the heSRPT paper, for `s(k) = k^p` with this p < 1, whatever the speedups are.
    Power(f64),
    /// Such that all end together.
    HeLrpt,
    /// The smallest alone.
    Srpt,
    /// The same number each.
    Equi,
    /// By the ratio of efficiency to remaining time.
    Hell,
    /// Up to the knee of this slope \[time/server\], from the smallest on.
    Knee(f64),
}

/// heSRPT where jobs arrive: the division at the prices of the jobs that are there, with two knobs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Online {
    /// Prices are taken to this power: 0 is the same number of servers for each job (EQUI), 1 the optimum of jobs that are all
    /// there, more is nearer to SRPT.
    pub urgency: f64,
    /// Jobs that are reckoned to stay behind all others: the more, the less differs what a small and a large job get.
    pub background: f64,
}

impl Online {
    /// As if no job would come any more.
    pub const PLAIN: Online = Online {
        urgency: 1.0,
        background: 0.0,
    };
}

/// Divisions of jobs that share a curve and weigh the same depend on how many they are.
#[derive(Clone, Debug, Default)]
pub struct Known(HashMap<usize, Vec<f64>>);

impl Sharing {
    /// Whether jobs that share a curve and weigh the same get servers by their order alone, a smaller one no fewer.
    #[must_use]
    pub fn follows_order(&self) -> bool {
        match self {
            Sharing::HeSrpt(_) | Sharing::Power(_) | Sharing::Srpt | Sharing::Equi => true,
            Sharing::HeLrpt | Sharing::Hell | Sharing::Knee(_) => false,
        }
    }

    /// Servers of each job; `known` remembers what was found for other moments of the same system.
    #[must_use]
    pub fn servers(&self, jobs: &[Underway<'_>], servers: f64, known: &mut Known) -> Vec<f64> {
        match self {
            Sharing::HeSrpt(online) => online.servers(jobs, servers, known),
            Sharing::Power(p) => power(*p, jobs, servers),
            Sharing::HeLrpt => {
                let each: Vec<_> = jobs.iter().map(|job| (job.left, job.curve)).collect();
                all_at_once(&each, servers).1
            }
            Sharing::Srpt => in_turn(jobs, servers, |job| job.curve.cap),
            Sharing::Equi => equal(jobs, servers),
            Sharing::Hell => level(jobs, servers, |job, c| widest(job, c, servers)),
            Sharing::Knee(a) => in_turn(jobs, servers, |job| knee(job, *a)),
        }
    }
}

/// Places of jobs from the largest on.
fn from_largest(jobs: &[Underway<'_>]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..jobs.len()).collect();
    order.sort_by(|&i, &j| {
        let (one, other) = (&jobs[i], &jobs[j]);
        let by_size = other.left.total_cmp(&one.left);
        by_size.then(one.weight.total_cmp(&other.weight))
    });
    order
}

impl Online {
    fn servers(&self, jobs: &[Underway<'_>], servers: f64, known: &mut Known) -> Vec<f64> {
        let order = from_largest(jobs);
        let alike = jobs
            .windows(2)
            .all(|two| std::ptr::eq(two[0].curve, two[1].curve) && two[0].weight == two[1].weight);
        let fresh;
        let in_order = match alike {
            true => {
                let own = known.0.entry(jobs.len());
                &*own.or_insert_with(|| self.in_order(jobs, &order, servers))
            }
            false => {
                fresh = self.in_order(jobs, &order, servers);
                &fresh
            }
        };
        let mut taken = vec![0.0; jobs.len()];
        for (&i, k) in order.iter().zip(in_order) {
            taken[i] = *k;
        }
        taken
    }

    fn in_order(&self, jobs: &[Underway<'_>], order: &[usize], servers: f64) -> Vec<f64> {
        let first = order.first().filter(|_| self.background > 0.0);
        let behind = first.map(|&i| (jobs[i].curve, self.background * jobs[i].weight));
        let own = order.iter().map(|&i| (jobs[i].curve, jobs[i].weight));
        let (curves, weights): (Vec<&Curve>, Vec<f64>) = behind.into_iter().chain(own).unzip();
        let found = prices(&curves, &weights, servers);
        let first = curves.len() - order.len();
        let dearest = found.iter().copied().fold(0.0, f64::max);
        let asks = found[first..].iter().zip(&curves[first..]);
        let asks = asks.map(|(price, curve)| Asks {
            price: (price / dearest).powf(self.urgency),
            curve,
        });
        divide(&asks.collect::<Vec<_>>(), servers)
    }
}

/// The same number each, within caps.
fn equal(jobs: &[Underway<'_>], servers: f64) -> Vec<f64> {
    let each = servers / jobs.len() as f64;
    match jobs.iter().all(|job| job.curve.cap >= each) {
        true => vec![each; jobs.len()],
        false => level(jobs, servers, |_, c| c),
    }
}

/// `(W_i/W_m)^c − (W_{i−1}/W_m)^c` of the servers, c = 1/(1 − p), within caps.
fn power(p: f64, jobs: &[Underway<'_>], servers: f64) -> Vec<f64> {
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

/// From the smallest on, each what it asks for, as long as there are servers.
fn in_turn(jobs: &[Underway<'_>], servers: f64, asks: impl Fn(&Underway<'_>) -> f64) -> Vec<f64> {
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

/// Servers of each at the level at which all are taken: `asks` grows with it. What a jump would take too much goes from
/// the smallest job on.
fn level(
    jobs: &[Underway<'_>],
    servers: f64,
    asks: impl Fn(&Underway<'_>, f64) -> f64,
) -> Vec<f64> {
    let at = |level: f64| -> Vec<f64> {
        let each = jobs.iter().map(|job| asks(job, level).min(job.curve.cap));
        each.map(|k| k.min(servers)).collect()
    };
    let total = |level: f64| at(level).iter().sum::<f64>();
    let (mut low, mut high) = (servers, servers);
    for _ in 0..REACH {
        match total(low) > servers {
            true => low /= 16.0,
            false => break,
        }
    }
    for _ in 0..REACH {
        match total(high) < servers {
            true => high *= 16.0,
            false => break,
        }
    }
    while high / low > 1.0 + 4.0 * f64::EPSILON {
        let middle = (low * high).sqrt();
        if middle <= low || middle >= high {
            break;
        }
        match total(middle) > servers {
            true => high = middle,
            false => low = middle,
        }
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

/// Steps by which a level may be away from its first guess.
const REACH: usize = 120;

/// The most servers, of all, at which the ratio of efficiency to remaining time, `s(k)²/(kx)`, is at least 1/c.
fn widest(job: &Underway<'_>, c: f64, servers: f64) -> f64 {
    let least = job.left / c;
    if let (Speedup::Power(p), false) = (&job.curve.speedup, job.curve.whole)
        && *p < 0.5
    {
        return least.powf(-1.0 / (1.0 - 2.0 * p));
    }
    let ratio = |k: f64| job.curve.at(k).powi(2) / k;
    // From the right: the first of these marks that is high enough, and then between it and the next.
    let marks = job.curve.marks(servers);
    let Some(n) = marks.iter().rposition(|k| ratio(*k) >= least) else {
        return 0.0;
    };
    let Some(next) = marks.get(n + 1) else {
        return marks[n];
    };
    let (mut low, mut high) = (marks[n], *next);
    while high - low > 2.0 * f64::EPSILON * high {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            break;
        }
        match ratio(middle) >= least {
            true => low = middle,
            false => high = middle,
        }
    }
    low
}

/// Where one more server takes less than `a` from a job's time: `x s'(k)/s(k)² = a`.
fn knee(job: &Underway<'_>, a: f64) -> f64 {
    if let (Speedup::Power(p), false) = (&job.curve.speedup, job.curve.whole) {
        return (p * job.left / a).powf(1.0 / (1.0 + p));
    }
    let gain = |k: f64| job.left * job.curve.slope(k) / job.curve.at(k).powi(2);
    let (mut low, mut high) = (1.0, 1.0);
    while gain(high) > a && high < 1e300 {
        high *= 2.0;
    }
    while gain(low) < a && low > 1e-300 {
        low /= 2.0;
    }
    while high - low > 2.0 * f64::EPSILON * high {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            break;
        }
        match gain(middle) > a {
            true => low = middle,
            false => high = middle,
        }
    }
    low
}
