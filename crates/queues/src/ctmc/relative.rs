use super::modulated::ModulatedQueue;

/// Relative completions of a queue in an environment that goes round (the MSR paper, §6.2,
/// lemma 9 and remark 7; there the queue has one server whose speed is modulated).
///
/// `Δ(s)` is how many completions a queue that is never empty is ahead of the mean when the
/// environment starts in s: `A Δ = E[μ c] − μ c`, `θ Δ = 0`. With it the mean number of jobs has
/// a form that keeps its digits in heavy traffic: from `d/dt E[Q²] = 0` and the balance of
/// `E[Q; s]`, for any number of servers,
///
/// ```text
/// E[Q] = (ρ + E[Δ(v)]) / (1 − ρ) + E_U[Q − Δ]
/// ```
///
/// Here v is the state *after* a completion of the never-empty queue, and `E_U` averages over the
/// moments when service goes unused (Q and state just after). Since `0 ≤ Q ≤ β − 1` at these,
/// theorem 8's bounds follow. The paper takes v before the completion, which is wrong where
/// completions move the environment.
#[derive(Clone, Debug)]
pub struct RelativeCompletions {
    /// `ρ = λ/E[μ c]`.
    pub load: f64,
    /// `Δ` (n) \[jobs\].
    pub ahead: Vec<f64>,
    /// `E[Δ(v)]` \[jobs\].
    pub mean_ahead: f64,
}

impl RelativeCompletions {
    /// Solves for Δ, one backward pass over the states.
    pub fn new(queue: &ModulatedQueue<'_>) -> Self {
        let environment = queue.environment();
        let capacity = queue.capacity();
        let n = environment.states();
        let speed = |s: usize| f64::from(queue.servers()[s]) * queue.service_rate();
        // Up to a constant: relative to state 0.
        let mut gain: Vec<f64> = (0..n).map(|s| speed(s) - capacity).collect();
        let mut leaving = vec![0.0; n];
        for edge in environment.edges() {
            leaving[edge.from] += edge.rate;
        }
        let mut ahead = vec![0.0; n];
        let mut edges: Vec<_> = environment.edges().iter().collect();
        // Where it goes round they are in this order already.
        edges.sort_by_key(|edge| edge.from);
        let mut edges = edges.into_iter().rev().peekable();
        for s in (0..n).rev() {
            while let Some(edge) = edges.next_if(|edge| edge.from == s) {
                let onward = if edge.to == 0 { 0.0 } else { ahead[edge.to] };
                gain[s] += edge.rate * onward;
            }
            // A single state is never left, and its gain is 0.
            if leaving[s] > 0.0 {
                ahead[s] = gain[s] / leaving[s];
            }
        }
        let pairs = environment.law().iter().zip(&ahead);
        let mean: f64 = pairs.map(|(p, a)| p * a).sum();
        ahead.iter_mut().for_each(|a| *a -= mean);
        let mut after = 0.0;
        for (edge, _) in queue.edges().filter(|(_, serves)| *serves) {
            after += environment.law()[edge.from] * edge.rate * ahead[edge.to];
        }
        for (s, ahead) in ahead.iter().enumerate() {
            after += environment.law()[s] * queue.speed(s) * ahead;
        }
        RelativeCompletions {
            load: queue.arrival_rate() / capacity,
            mean_ahead: after / capacity,
            ahead,
        }
    }

    /// `(ρ + E[Δ(v)]) / (1 − ρ)`: the part of the mean number that grows without bound.
    pub fn primary_term(&self) -> f64 {
        (self.load + self.mean_ahead) / (1.0 - self.load)
    }
}
