use std::collections::{BTreeMap, BTreeSet};

use super::modulated::{Edge, ModulatedQueue};

/// The relative completions of a queue (MSR paper, §6.2, lemma 9 and remark 7, for one server).
///
/// `Δ(s)` is the expected number of completions in excess of the mean if the queue is never empty
/// and starts in state `s`. It is the solution of `A Δ = E[μ c] − μ c` and `θ Δ = 0`. From
/// `d/dt E[Q²] = 0` and the balance of `E[Q; s]`, it follows for any number of servers that
///
/// ```text
/// E[Q] = (ρ + E[Δ(v)]) / (1 − ρ) + E_U[Q − Δ]
/// ```
///
/// where `v` is the state *after* a completion of the queue that is never empty, and `E_U` is the
/// average over all times just after a service that is not used. At these times, `0 ≤ Q ≤ β − 1`,
/// which implies the bounds of theorem 8, also in heavy traffic. The paper uses the state before
/// the completion, which is not correct if a completion can change the state.
#[derive(Clone, Debug)]
pub struct RelativeCompletions {
    /// The load `ρ = λ/E[μ c]`.
    pub load: f64,
    /// The value of `Δ` in each state \[jobs\] (n).
    pub relative: Vec<f64>,
    /// The mean value `E[Δ(v)]` \[jobs\].
    pub mean_relative: f64,
}

impl RelativeCompletions {
    /// Computes `Δ`. If the environment is cyclic, a single backward pass is enough.
    pub fn new(queue: &ModulatedQueue<'_>) -> Self {
        let environment = queue.environment();
        let (capacity, law) = (queue.capacity(), environment.stationary_distribution());
        let gain = |c: &u32| f64::from(*c) * queue.service_rate() - capacity;
        let gain: Vec<f64> = queue.servers().iter().map(gain).collect();
        let mut ahead = match environment.goes_round() {
            true => going_round(environment.edges(), gain),
            false => eliminated(environment.edges(), gain),
        };
        let mean: f64 = law.iter().zip(&ahead).map(|(p, a)| p * a).sum();
        ahead.iter_mut().for_each(|a| *a -= mean);
        let mut after = 0.0;
        for (edge, _) in queue.edges().filter(|(_, serves)| *serves) {
            after += law[edge.from] * edge.rate * ahead[edge.to];
        }
        for (s, ahead) in ahead.iter().enumerate() {
            after += law[s] * queue.independent_service_rate(s) * ahead;
        }
        RelativeCompletions {
            load: queue.arrival_rate() / capacity,
            mean_relative: after / capacity,
            relative: ahead,
        }
    }

    /// Returns `(ρ + E[Δ(v)]) / (1 − ρ)`, the part of the mean number of jobs that is not bounded.
    pub fn primary_term(&self) -> f64 {
        (self.load + self.mean_relative) / (1.0 - self.load)
    }
}

fn going_round(edges: &[Edge], mut gain: Vec<f64>) -> Vec<f64> {
    let mut ahead = vec![0.0; gain.len()];
    let mut edges: Vec<_> = edges.iter().collect();
    edges.sort_by_key(|edge| edge.from);
    for exits in edges.chunk_by(|a, b| a.from == b.from).rev() {
        let s = exits[0].from;
        for edge in exits.iter().rev() {
            gain[s] += edge.rate * ahead[edge.to];
        }
        let leaving: f64 = exits.iter().map(|edge| edge.rate).sum();
        ahead[s] = gain[s] / leaving;
    }
    ahead
}

/// Solves `gain_s + Σ_t r_st (Δ_t − Δ_s) = 0`, `Δ_0 = 0`, in the same way as [`super::stationary`].
fn eliminated(edges: &[Edge], mut gain: Vec<f64>) -> Vec<f64> {
    let n = gain.len();
    let (mut rows, mut into) = (vec![BTreeMap::new(); n], vec![BTreeSet::new(); n]);
    for edge in edges {
        *rows[edge.from].entry(edge.to).or_insert(0.0) += edge.rate;
        into[edge.to].insert(edge.from);
    }
    for last in (1..n).rev() {
        let onward: Vec<(usize, f64)> = rows[last].range(..last).map(|(t, r)| (*t, *r)).collect();
        let total: f64 = onward.iter().map(|(_, r)| r).sum();
        let entering: Vec<usize> = into[last].range(..last).copied().collect();
        for s in entering {
            let part = rows[s][&last] / total;
            gain[s] += part * gain[last];
            for &(t, r) in onward.iter().filter(|(t, _)| *t != s) {
                *rows[s].entry(t).or_insert(0.0) += part * r;
                into[t].insert(s);
            }
        }
    }
    let mut ahead = vec![0.0; n];
    for s in 1..n {
        let onward = || rows[s].range(..s);
        let from: f64 = onward().map(|(t, r)| r * ahead[*t]).sum();
        ahead[s] = (gain[s] + from) / onward().map(|(_, r)| r).sum::<f64>();
    }
    ahead
}
