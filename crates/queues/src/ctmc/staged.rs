//! This module models a queue with phase-type sizes and preemptive service as a QBD. The oldest
//! jobs are served, and a preempted job stays in its stage. The chain contains the state of the
//! environment and the stages of the jobs in the first `β` positions, in order. The first
//! `min c > 0` positions are always served together, so their stages are only counted.

use std::collections::HashMap;

use super::modulated::ModulatedQueue;
use super::qbd::{Level, Qbd};

/// A phase-type distribution with `m ≥ 1` stages, each of which can only be followed by the next.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PhaseType {
    /// The probability that each stage is the first (m), ≥ 0. The sum must be 1 up to rounding.
    pub initial: Vec<f64>,
    /// The rate of each stage \[1/time\] (m), which must be positive and finite.
    pub rates: Vec<f64>,
    /// The probability that each stage is followed by the next (m), in \[0, 1\]. The last is 0.
    pub onward: Vec<f64>,
}

impl PhaseType {
    /// Creates a distribution that starts in the first stage.
    pub fn sequence(rates: Vec<f64>, mut onward: Vec<f64>) -> Self {
        onward.push(0.0);
        PhaseType {
            initial: (0..rates.len()).map(|k| f64::from(k == 0)).collect(),
            rates,
            onward,
        }
    }

    /// Creates a mixture of exponential distributions.
    pub fn branches(initial: Vec<f64>, means: &[f64]) -> Self {
        PhaseType {
            onward: vec![0.0; initial.len()],
            rates: means.iter().map(|m| 1.0 / m).collect(),
            initial,
        }
    }

    /// Returns the `n`-th moment by `E_k^n = n/r_k E_k^(n−1) + q_k E_(k+1)^n` from stage `k` on,
    /// where `r_k` is its rate and `q_k` is the probability that the next stage follows.
    pub fn moment(&self, n: u32) -> f64 {
        let mut ahead = vec![1.0; self.rates.len()];
        for power in 1..=n {
            let mut next = 0.0;
            for k in (0..ahead.len()).rev() {
                next = f64::from(power) * ahead[k] / self.rates[k] + self.onward[k] * next;
                ahead[k] = next;
            }
        }
        let begins = self.initial.iter().zip(ahead);
        begins.map(|(p, moment)| p * moment).sum()
    }

    /// Returns the distribution of the sum of two independent times with the fewest stages.
    pub fn plus(&self, other: &Self) -> Self {
        std::cmp::min_by_key(self.then(other), other.then(self), |sum| sum.rates.len())
    }

    /// All paths are listed if this distribution can end early or the next one can start late.
    fn then(&self, next: &Self) -> Self {
        let ends_late = self.onward.iter().rev().skip(1).all(|q| *q == 1.0);
        let begins_early = next.initial.first() == Some(&1.0);
        let heads = self.parts(ends_late);
        let tails = next.parts(begins_early);
        let mut sum = PhaseType::default();
        for (p, head) in &heads {
            for (q, tail) in &tails {
                sum.initial.extend(head.initial.iter().map(|x| p * q * x));
                sum.initial.extend(tail.rates.iter().map(|_| 0.0));
                sum.rates.extend(head.rates.iter().chain(&tail.rates));
                let (_, within) = head.onward.split_last().unwrap_or((&0.0, &[]));
                sum.onward
                    .extend(within.iter().chain(&[1.0]).chain(&tail.onward));
            }
        }
        sum
    }

    fn parts(&self, whole: bool) -> Vec<(f64, Self)> {
        if whole {
            return vec![(1.0, self.clone())];
        }
        let mut paths = Vec::new();
        for (begin, initial) in self.initial.iter().enumerate() {
            let mut there = *initial;
            for end in begin..self.rates.len() {
                let p = there * (1.0 - self.onward[end]);
                if p > 0.0 {
                    let stages = self.rates[begin..=end].to_vec();
                    paths.push((p, PhaseType::sequence(stages, vec![1.0; end - begin])));
                }
                there *= self.onward[end];
            }
        }
        paths
    }
}

type Stages = Vec<u8>;

/// Returns the chain on (jobs, state, stages). The queue must not have any completion edges, and
/// its own service rate is not used.
pub fn staged_qbd(queue: &ModulatedQueue<'_>, size: &PhaseType) -> Qbd {
    let chain = Chain::new(queue, size);
    Qbd {
        boundary: (0..=chain.most).map(|jobs| chain.level(jobs)).collect(),
        repeating: chain.level(chain.most + 1),
    }
}

fn together(queue: &ModulatedQueue<'_>) -> usize {
    let fewest = queue.servers().iter().filter(|c| **c > 0).min();
    fewest.map_or(0, |c| *c as usize)
}

/// Returns the number of phases of [`staged_qbd`].
pub fn staged_phases(queue: &ModulatedQueue<'_>, size: &PhaseType) -> f64 {
    let (stages, unordered) = (size.rates.len(), together(queue));
    let ordered = queue.max_servers() as usize - unordered;
    let factors = (1..stages).map(|k| (unordered + k) as f64 / k as f64);
    let multisets: f64 = factors.product();
    multisets * (stages as f64).powf(ordered as f64) * queue.servers().len() as f64
}

struct Chain<'a, 'b> {
    queue: &'a ModulatedQueue<'b>,
    size: &'a PhaseType,
    together: usize,
    most: usize,
    /// The vectors of stages by number of jobs. Positions that are served together are sorted.
    vectors: Vec<Vec<Stages>>,
    index: Vec<HashMap<Stages, usize>>,
}

impl<'a, 'b> Chain<'a, 'b> {
    fn new(queue: &'a ModulatedQueue<'b>, size: &'a PhaseType) -> Self {
        let (together, most) = (together(queue), queue.max_servers() as usize);
        let stages = size.rates.len() as u8;
        let mut vectors: Vec<Vec<Stages>> = vec![vec![Vec::new()]];
        for length in 0..most {
            let mut longer = Vec::new();
            for vector in &vectors[length] {
                let ordered = vector.last().filter(|_| length < together);
                let least = ordered.copied().unwrap_or(0);
                longer.extend((least..stages).map(|stage| with(vector, stage)));
            }
            vectors.push(longer);
        }
        let numbered = |all: &Vec<Stages>| all.iter().cloned().zip(0..).collect();
        Chain {
            index: vectors.iter().map(numbered).collect(),
            queue,
            size,
            together,
            most,
            vectors,
        }
    }

    fn phase(&self, s: usize, mut stages: Stages) -> usize {
        let unordered = self.together.min(stages.len());
        stages[..unordered].sort_unstable();
        let vectors = &self.index[stages.len()];
        s * vectors.len() + vectors[&stages]
    }

    fn level(&self, jobs: usize) -> Level {
        let vectors = &self.vectors[jobs.min(self.most)];
        let states = self.queue.servers().len();
        let mut level = Level {
            phases: states * vectors.len(),
            ..Level::default()
        };
        for s in 0..states {
            for stages in vectors {
                self.arrival(&mut level, s, stages);
                self.services(&mut level, s, stages, jobs);
            }
        }
        for (edge, _) in self.queue.edges() {
            for stages in vectors {
                let [from, to] = [edge.from, edge.to].map(|s| self.phase(s, stages.clone()));
                if from != to {
                    level.local.push((from, to, edge.rate));
                }
            }
        }
        level
    }

    fn arrival(&self, level: &mut Level, s: usize, stages: &Stages) {
        let from = self.phase(s, stages.clone());
        let rate = self.queue.arrival_rate();
        if stages.len() == self.most {
            level.up.push((from, from, rate));
            return;
        }
        let started = self.started(s, stages);
        level.up.extend(started.map(|(to, p)| (from, to, rate * p)));
    }

    fn started<'c>(&'c self, s: usize, stages: &'c Stages) -> impl Iterator<Item = (usize, f64)> {
        let starts = self.size.initial.iter().enumerate();
        let starts = starts.filter(|(_, p)| **p > 0.0);
        starts.map(move |(k, p)| (self.phase(s, with(stages, k as u8)), *p))
    }

    fn services(&self, level: &mut Level, s: usize, stages: &Stages, jobs: usize) {
        let from = self.phase(s, stages.clone());
        let running = stages.len().min(self.queue.servers()[s] as usize);
        for position in 0..running {
            let stage = stages[position] as usize;
            let (rate, onward) = (self.size.rates[stage], self.size.onward[stage]);
            if onward > 0.0 {
                let mut after = stages.clone();
                after[position] += 1;
                let to = self.phase(s, after);
                level.local.push((from, to, rate * onward));
            }
            if onward < 1.0 {
                let mut after = stages.clone();
                after.remove(position);
                let rate = rate * (1.0 - onward);
                if jobs <= self.most {
                    level.down.push((from, self.phase(s, after), rate));
                } else {
                    let ends = self.started(s, &after).map(|(to, p)| (from, to, rate * p));
                    level.down.extend(ends);
                }
            }
        }
    }
}

fn with(stages: &Stages, stage: u8) -> Stages {
    [&stages[..], &[stage]].concat()
}
