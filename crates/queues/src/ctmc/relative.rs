use std::collections::{BTreeMap, BTreeSet};

use super::modulated::{Edge, ModulatedQueue};

/// The relative completions of a queue in an environment. See the MSR paper (§6.2, lemma 9 and
/// remark 7), which only considers a single server whose speed is modulated.
///
/// Consider a queue that is never empty and starts in state `s`. `Δ(s)` is the expected number of
/// completions in excess of the mean, and it is the solution of `A Δ = E[μ c] − μ c` and `θ Δ = 0`.
/// This gives an expression for the mean number of jobs that is accurate in heavy traffic. From
/// `d/dt E[Q²] = 0` and the balance of `E[Q; s]`, it follows for any number of servers that
///
/// ```text
/// E[Q] = (ρ + E[Δ(v)]) / (1 − ρ) + E_U[Q − Δ]
/// ```
///
/// where `v` is the state *after* a completion of the queue that is never empty, and `E_U` is the
/// average over all times at which a service is not used (`Q` and the state just after that time).
/// At these times, `0 ≤ Q ≤ β − 1`, and this implies the bounds of theorem 8. The paper uses the
/// state before the completion, which is not correct if a completion can change the state.
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
        let capacity = queue.capacity();
        let n = environment.states();
        let speed = |s: usize| f64::from(queue.servers()[s]) * queue.service_rate();
        let gain: Vec<f64> = (0..n).map(|s| speed(s) - capacity).collect();
        let mut ahead = if environment.goes_round() {
            going_round(environment.edges(), gain)
        } else {
            eliminated(environment.edges(), gain)
        };
        let pairs = environment.stationary_distribution().iter().zip(&ahead);
        let mean: f64 = pairs.map(|(p, a)| p * a).sum();
        ahead.iter_mut().for_each(|a| *a -= mean);
        let mut after = 0.0;
        for (edge, _) in queue.edges().filter(|(_, serves)| *serves) {
            after += environment.stationary_distribution()[edge.from] * edge.rate * ahead[edge.to];
        }
        for (s, ahead) in ahead.iter().enumerate() {
            after += environment.stationary_distribution()[s]
                * queue.independent_service_rate(s)
                * ahead;
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
    // A round ends in state 0, so this state is processed last and its entry is 0 until then.
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
