//! This module computes the probability that a job is still present after time `t`. Jobs are served
//! in order of arrival, so a job is not affected by the jobs behind it. With uniformization, the
//! probability that it is still present after `k` events is computed backwards from `k − 1`, and
//! the number of events until `t` has a Poisson distribution.

use statrs::distribution::{Discrete, Poisson};

use crate::ctmc::modulated::{MEMORY_LIMIT, ModulatedQueue};

/// Returns this probability by time, state and jobs ahead, if it fits in `budget` and memory.
pub(super) fn staying(
    queue: &ModulatedQueue<'_>,
    times: &[f64],
    ahead: f64,
    budget: f64,
) -> Option<Vec<Vec<Vec<f64>>>> {
    let states = queue.servers().len();
    let (rate, leaving) = rates(queue);
    let counts = times.iter().map(|time| Poisson::new(rate * time).ok());
    let counts: Vec<Poisson> = counts.collect::<Option<_>>()?;
    let kept = ahead * states as f64 * (times.len() + 2) as f64;
    if !(work(queue, times, ahead) <= budget && kept <= MEMORY_LIMIT) {
        return None;
    }
    let events = events(rate, times);
    let mut now = vec![vec![1.0; ahead as usize]; states];
    let mut next = now.clone();
    let mut found = vec![vec![vec![0.0; ahead as usize]; states]; times.len()];
    for k in 0..events as u64 {
        for (count, found) in counts.iter().zip(&mut found) {
            let weight = count.pmf(k);
            if weight > 1e-40 {
                for (sum, values) in found.iter_mut().zip(&now) {
                    let pairs = sum.iter_mut().zip(values);
                    pairs.for_each(|(s, v)| *s += weight * v);
                }
            }
        }
        before(queue, (rate, &leaving), &now, &mut next);
        std::mem::swap(&mut now, &mut next);
    }
    Some(found)
}

pub(super) fn work(queue: &ModulatedQueue<'_>, times: &[f64], ahead: f64) -> f64 {
    let states = queue.servers().len() as f64;
    let each = 2.0 * states + queue.environment().edges().len() as f64;
    events(rates(queue).0, times) * ahead * each
}

/// Returns the rate of the uniformized events, and the exit rate of each state \[1/time\].
fn rates(queue: &ModulatedQueue<'_>) -> (f64, Vec<f64>) {
    let states = queue.servers().len();
    let own = (0..states).map(|s| queue.independent_service_rate(s));
    let mut leaving: Vec<f64> = own.collect();
    for (edge, _) in queue.edges() {
        leaving[edge.from] += edge.rate;
    }
    (leaving.iter().copied().fold(0.0, f64::max), leaving)
}

/// Returns a number of events that is almost never exceeded until the last of these times.
fn events(rate: f64, times: &[f64]) -> f64 {
    let last = |time: &f64| rate * time + 10.0 * (rate * time).sqrt() + 60.0;
    times.iter().map(last).fold(0.0, f64::max)
}

fn before(
    queue: &ModulatedQueue<'_>,
    (rate, leaving): (f64, &[f64]),
    now: &[Vec<f64>],
    next: &mut [Vec<f64>],
) {
    for (s, next) in next.iter_mut().enumerate() {
        let nothing = (rate - leaving[s]) / rate;
        let pairs = next.iter_mut().zip(&now[s]);
        pairs.for_each(|(n, v)| *n = nothing * v);
        if !queue.drains(s) {
            served(queue, (s, rate), &now[s], next);
        }
    }
    for (edge, serves) in queue.edges() {
        let (into, from) = (&mut next[edge.from], &now[edge.to]);
        if serves {
            served(queue, (edge.from, rate), from, into);
        } else {
            let share = edge.rate / rate;
            into.iter_mut().zip(from).for_each(|(n, v)| *n += share * v);
        }
    }
}

/// A service is of a job ahead, of the job itself (which then leaves), of a job behind, or of none.
fn served(queue: &ModulatedQueue<'_>, (s, rate): (usize, f64), after: &[f64], into: &mut [f64]) {
    let (servers, one) = (queue.servers()[s] as usize, queue.service_rate() / rate);
    for p in 0..servers.min(into.len()) {
        into[p] += (servers - p - 1) as f64 * one * after[p];
        if p > 0 {
            into[p] += p as f64 * one * after[p - 1];
        }
    }
    let all = servers as f64 * one;
    let from = servers.max(1);
    if let Some(far) = into.get_mut(from..) {
        let pairs = far.iter_mut().zip(&after[from - 1..]);
        pairs.for_each(|(n, v)| *n += all * v);
    }
}
