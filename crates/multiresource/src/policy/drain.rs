use super::System;
use crate::workload::Workload;

/// The minimum price of a job per dominant share: one with a price of 0 uses capacity, too.
const LEAST_PRICE: f64 = 0.3;

pub(super) fn prices(policy: &[f64], workload: &Workload) -> Vec<f64> {
    let pairs = policy.iter().zip(workload.dominant_shares());
    pairs.map(|(p, share)| p.max(LEAST_PRICE * share)).collect()
}

#[derive(Clone, Debug)]
pub(super) struct DrainEstimator {
    pub means: Vec<f64>,
    /// The types in descending order of mean size.
    pub longest: Vec<usize>,
    rates: Vec<f64>,
    /// The number, the units of the required resource, and the rate of the jobs that leave.
    leaving: Vec<[f64; 3]>,
}

impl DrainEstimator {
    pub(super) fn new(workload: &Workload) -> Self {
        let means: Vec<f64> = workload.types().iter().map(|t| t.mean_size()).collect();
        let mut longest: Vec<usize> = (0..means.len()).collect();
        longest.sort_by(|a, b| means[*b].total_cmp(&means[*a]));
        DrainEstimator {
            longest,
            rates: means.iter().map(|mean| 1.0 / mean).collect(),
            leaving: Vec::with_capacity(means.len()),
            means,
        }
    }

    /// Returns the expected time \[time\] until one more job of type `i` fits if all running jobs
    /// except `staying` leave. Jobs with a mean size of at most `than` count as gone, because a job
    /// must not extend the time that allows it to start.
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
                    self.leaving.push([count, holds, *rate]);
                }
            }
            if need > 0.0 {
                longest = longest.max(wait_for(need, &self.leaving));
            }
        }
        longest
    }

    /// Returns the mean time for which a departing job of type `i` still works within `time`.
    #[inline]
    pub(super) fn works(&self, i: usize, time: f64) -> f64 {
        self.means[i] * (1.0 - decay(time * self.rates[i]))
    }
}

/// The maximum number of steps of Newton's method, which approaches the root from below.
const STEPS: usize = 12;

const SMALL: f64 = 1e-3;

/// Returns the expected time \[time\] until `need` units have been freed by jobs that leave at
/// these rates, or infinity if the jobs have fewer units.
/// This is the root `t` of `(1 + 1/2n) Σ d_i x_i (1 − e^{−t μ_i}) = need`, where `n = Σ x_i`. For
/// `k` of `n` identical jobs, the first factor results in `E[S] ln((n + ½)/(n − k + ½))`, which is
/// within 10 % of the mean `E[S] (H_n − H_{n−k})` and is finite for the last job.
#[inline]
fn wait_for(need: f64, leaving: &[[f64; 3]]) -> f64 {
    let (mut jobs, mut held) = (0.0, 0.0);
    for [count, holds, _] in leaving {
        jobs += count;
        held += count * holds;
    }
    if need > held {
        return f64::INFINITY;
    }
    let need = need / (1.0 + 0.5 / jobs);
    let mut t = 0.0;
    for _ in 0..STEPS {
        let (mut left, mut slope) = (need, 0.0);
        for [count, holds, rate] in leaving {
            let holds = count * holds;
            let stays = holds * decay(t * rate);
            left -= holds - stays;
            slope += stays * rate;
        }
        if left <= SMALL * need {
            break;
        }
        t += left / slope;
    }
    t
}

/// Returns an approximation of `e^{−y}` for `y ≥ 0` with an error of less than 1e-3.
#[inline]
fn decay(y: f64) -> f64 {
    let z = y * (1.0 / 16.0);
    let once = 1.0 / (1.0 + z * (1.0 + z * (0.5 + z * (1.0 / 6.0))));
    let twice = once * once;
    let fourth = twice * twice;
    let eighth = fourth * fourth;
    eighth * eighth
}
