//! How long a drain takes: the expected wait until running jobs have left room for one more.

use super::System;
use crate::workload::Workload;

/// The least price of a job, in dominant shares: one that the program gives away takes room all the
/// same.
const LEAST_PRICE: f64 = 0.3;

/// The prices by which drains are weighed, from those of a policy.
pub(super) fn prices(policy: &[f64], workload: &Workload) -> Vec<f64> {
    let least = workload.dominant_shares().into_iter();
    let least = least.map(|share| LEAST_PRICE * share);
    let pairs = policy.iter().zip(least);
    pairs.map(|(p, least)| p.max(least)).collect()
}

/// The types' mean sizes, and what is counted of a drain.
#[derive(Clone, Debug)]
pub(super) struct Drains {
    /// `E[S_i]`.
    pub means: Vec<f64>,
    /// The types, those of long jobs first.
    pub longest: Vec<usize>,
    /// `1/E[S_i]`.
    rates: Vec<f64>,
    leaving: Vec<Leaving>,
}

impl Drains {
    pub(super) fn new(workload: &Workload) -> Self {
        let means: Vec<f64> = workload.types().iter().map(|t| t.mean_size()).collect();
        let mut longest: Vec<usize> = (0..means.len()).collect();
        longest.sort_by(|a, b| means[*b].total_cmp(&means[*a]));
        Drains {
            longest,
            rates: means.iter().map(|mean| 1.0 / mean).collect(),
            leaving: Vec::with_capacity(means.len()),
            means,
        }
    }

    /// The expected wait \[time\] until one more job of type i fits, where all running jobs leave but
    /// these. Those that are no longer than `than` count as gone: what may start for a while must not
    /// keep the wait up itself.
    pub(super) fn wait(&mut self, i: usize, staying: &[u32], than: f64, system: &System) -> f64 {
        let mut longest: f64 = 0.0;
        for (j, demand) in system.demand(i).iter().enumerate() {
            let free = system.free(j);
            if free >= *demand {
                continue;
            }
            let mut need = (demand - free) as f64;
            self.leaving.clear();
            for (k, (mean, rate)) in self.means.iter().zip(&self.rates).enumerate() {
                let count = f64::from(system.running(k).saturating_sub(staying[k]));
                let holds = system.demand(k)[j] as f64;
                if *mean <= than {
                    need -= count * holds;
                } else if count * holds > 0.0 {
                    let rate = *rate;
                    self.leaving.push(Leaving { count, holds, rate });
                }
            }
            if need > 0.0 {
                longest = longest.max(wait_for(need, &self.leaving));
            }
        }
        longest
    }

    /// How long a job of type i that leaves works during a time, in the mean.
    #[inline]
    pub(super) fn works(&self, i: usize, time: f64) -> f64 {
        self.means[i] * (1.0 - decay(time * self.rates[i]))
    }
}

/// Steps of Newton's method, from 0 and below the root; a drain takes few mean sizes.
const STEPS: usize = 12;

/// A relative step that is none.
const SMALL: f64 = 1e-3;

/// Jobs of one type that are to leave.
#[derive(Clone, Copy, Debug)]
struct Leaving {
    count: f64,
    /// What each of them holds of the resource that is waited for, in its units.
    holds: f64,
    /// 1/E\[S\] \[1/time\].
    rate: f64,
}

/// The expected wait \[time\] until jobs that leave at these rates have left this much room: infinite
/// where they do not hold it.
///
/// The root t of `(1 + 1/2n) Σ d_i x_i (1 − e^{−t μ_i}) = need`, with n = Σ x_i. The factor makes it
/// `E[S] ln((n + ½)/(n − k + ½))` for k of n that are alike, within 10 % of the mean `E[S] (H_n − H_{n−k})`;
/// without it the last job would take for ever.
#[inline]
fn wait_for(need: f64, leaving: &[Leaving]) -> f64 {
    let (mut jobs, mut held) = (0.0, 0.0);
    for own in leaving {
        jobs += own.count;
        held += own.count * own.holds;
    }
    if need > held {
        return f64::INFINITY;
    }
    let need = need / (1.0 + 0.5 / jobs);
    let mut t = 0.0;
    for _ in 0..STEPS {
        let (mut left, mut slope) = (need, 0.0);
        for own in leaving {
            let holds = own.count * own.holds;
            let stays = holds * decay(t * own.rate);
            left -= holds - stays;
            slope += stays * own.rate;
        }
        if left <= SMALL * need {
            break;
        }
        t += left / slope;
    }
    t
}

/// e^{−y} for y ≥ 0, off by less than 1e-3, by multiplications and one division: many of them make a
/// decision.
#[inline]
fn decay(y: f64) -> f64 {
    let z = y * (1.0 / 16.0);
    let once = 1.0 / (1.0 + z * (1.0 + z * (0.5 + z * (1.0 / 6.0))));
    let twice = once * once;
    let fourth = twice * twice;
    let eighth = fourth * fourth;
    eighth * eighth
}
