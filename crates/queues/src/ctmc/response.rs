//! This module computes response times in a modulated queue by following a tagged job. A job that
//! finds `q` other jobs starts at position `q + 1`, and is served if its position is at most the
//! number of servers. Its position only changes if a job ahead of it is completed. The pair
//! (position, state) is an absorbing chain that starts in the stationary distribution (PASTA). With
//! uniformization, `P(T > t) = Σ_k Pois(k; Λt) s_k`, where `s_k` is the probability that the job is
//! present after `k` jumps.

use statrs::function::gamma::ln_gamma;

use super::bisection::bisected;
use super::modulated::ModulatedQueue;

/// The probability that a job is still in the system after each jump of the uniformized chain.
#[derive(Clone, Debug)]
pub struct ResponseTimes {
    rate: f64,
    after: Vec<f64>,
}

/// The last positions are removed if their total probability is less than this.
const NEGLIGIBLE: f64 = 1e-14;

/// More work than this multiple of the budget is not started. Removed positions may reduce it.
const HOPELESS: f64 = 4.0;

fn shorten(law: &mut [Vec<f64>], mass: f64) {
    let mut dropped = 0.0;
    let mut length = law[0].len();
    while length > 1 {
        dropped += law.iter().map(|of_state| of_state[length - 1]).sum::<f64>();
        if dropped >= mass {
            break;
        }
        length -= 1;
    }
    truncate(law, length);
}

fn truncate(law: &mut [Vec<f64>], length: usize) {
    let states = law.iter_mut();
    states.for_each(|of_state| of_state.truncate(length));
}

/// The minimum probability for which a time can be computed.
const LEAST: f64 = 0.0099;

impl ResponseTimes {
    /// Follows the jobs that arrive to a queue until less than 1 % of them are left. `law[s][q]` is
    /// the stationary distribution. Returns `None` if this takes more than `budget` operations.
    pub fn new(queue: &ModulatedQueue<'_>, law: Vec<Vec<f64>>, budget: f64) -> Option<Self> {
        let walk = Walk::new(queue);
        let mut now = law;
        shorten(&mut now, NEGLIGIBLE);
        let jobs = |of_state: &Vec<f64>| -> f64 {
            let numbered = of_state.iter().enumerate();
            numbered.map(|(q, p)| q as f64 * p).sum()
        };
        let stay = now.iter().map(jobs).sum::<f64>() / queue.arrival_rate();
        let jumps = (walk.rate * stay).max(1.0);
        if (now[0].len() * walk.work) as f64 * jumps > HOPELESS * budget {
            return None;
        }
        let mut next = now.clone();
        let mut left: f64 = now.iter().flatten().sum();
        let (mut after, mut spent) = (Vec::new(), 0.0);
        let mut last = usize::MAX;
        while after.len() <= last {
            after.push(left);
            if left <= LEAST && last == usize::MAX {
                let k = after.len() as f64;
                // At the times that are used, all later Poisson weights are less than `1e-30`.
                last = (k + 12.0 * k.sqrt() + 120.0) as usize;
            }
            spent += (now[0].len() * walk.work) as f64;
            if spent > budget {
                return None;
            }
            left -= walk.jump(&now, &mut next);
            std::mem::swap(&mut now, &mut next);
            if after.len() % 16 == 0 {
                shorten(&mut now, NEGLIGIBLE);
                truncate(&mut next, now[0].len());
            }
        }
        Some(ResponseTimes {
            rate: walk.rate,
            after,
        })
    }

    /// Returns `P(T > t)` for probabilities of at least 1 %.
    pub fn tail(&self, time: f64) -> f64 {
        let mean = self.rate * time;
        if mean == 0.0 {
            return 1.0;
        }
        let spread = 9.0 * mean.sqrt() + 40.0;
        let first = (mean - spread).max(0.0) as usize;
        let last = ((mean + spread) as usize + 1).min(self.after.len());
        let mut weight = (first as f64 * mean.ln() - mean - ln_gamma(first as f64 + 1.0)).exp();
        let mut sum = 0.0;
        for k in first..last {
            sum += weight * self.after[k];
            weight *= mean / (k + 1) as f64;
        }
        sum
    }

    #[cfg(test)]
    pub(super) fn mean(&self) -> f64 {
        let [until @ .., before, last] = &self.after[..] else {
            return f64::NAN;
        };
        let rest = match *last > 1e-12 {
            true => last / (1.0 - last / before),
            false => 0.0,
        };
        (until.iter().sum::<f64>() + before + rest) / self.rate
    }

    /// Returns the time until a fraction `p ≤ 0.99` of the jobs have left.
    pub fn percentile(&self, p: f64) -> f64 {
        let end = self.after.len() as f64 / self.rate;
        let [low, high] = bisected(0.0, [0.0, end], |time| self.tail(time) > 1.0 - p);
        0.5 * (low + high)
    }
}

struct Walk<'a, 'b> {
    queue: &'a ModulatedQueue<'b>,
    rate: f64,
    leaving: Vec<f64>,
    work: usize,
}

impl<'a, 'b> Walk<'a, 'b> {
    fn new(queue: &'a ModulatedQueue<'b>) -> Self {
        let states = 0..queue.servers().len();
        let mut leaving: Vec<f64> = states.map(|s| queue.independent_service_rate(s)).collect();
        for (edge, _) in queue.edges() {
            leaving[edge.from] += edge.rate;
        }
        Walk {
            rate: leaving.iter().copied().fold(0.0, f64::max),
            work: 2 * leaving.len() + queue.environment().edges().len(),
            leaving,
            queue,
        }
    }

    /// Makes one jump, and returns the probability that it is the completion of the tagged job.
    fn jump(&self, now: &[Vec<f64>], next: &mut [Vec<f64>]) -> f64 {
        let mut gone = 0.0;
        for (s, (new, old)) in next.iter_mut().zip(now).enumerate() {
            let stay = 1.0 - self.leaving[s] / self.rate;
            if self.queue.drains(s) {
                new.iter_mut().zip(old).for_each(|(n, o)| *n = stay * o);
                continue;
            }
            let all = f64::from(self.queue.servers()[s]) * self.service();
            let last = old.len() - 1;
            for ((n, o), behind) in new.iter_mut().zip(&old[..last]).zip(&old[1..]) {
                *n = stay * o + all * behind;
            }
            new[last] = stay * old[last];
            gone += self.correct(s, old, new);
        }
        for (edge, serves) in self.queue.edges() {
            let (old, new) = (&now[edge.from], &mut next[edge.to]);
            let rate = edge.rate / self.rate;
            let from = if serves { &old[1..] } else { &old[..] };
            new.iter_mut().zip(from).for_each(|(n, o)| *n += rate * o);
            if serves {
                gone += self.correct(edge.from, old, new);
            }
        }
        gone
    }

    fn service(&self) -> f64 {
        self.queue.service_rate() / self.rate
    }

    /// Corrects the positions `p < c`, where the tagged job is being served: only `p` of the `c`
    /// services are of jobs ahead, as they have been counted. One is of the job itself, and the
    /// others are of jobs behind it or of no job. Returns the probability of its own service.
    fn correct(&self, s: usize, old: &[f64], new: &mut [f64]) -> f64 {
        let servers = self.queue.servers()[s] as usize;
        let mut gone = 0.0;
        for (p, o) in old.iter().enumerate().take(servers) {
            let others = (servers - p) as f64 * self.service() * o;
            gone += self.service() * o;
            new[p] += others - self.service() * o;
            if p > 0 {
                new[p - 1] -= others;
            }
        }
        gone
    }
}
