//! This module represents a finite continuous-time Markov chain as a graph of rates \[1/time\]. The
//! stationary distribution is computed by the elimination of Grassmann, Taksar and Heyman
//! (Operations Research 33, 1985) without subtractions, so each entry keeps its relative accuracy.
//! If the edges lead only forward or back to the first states, the work is linear in their number.

use std::collections::{BTreeMap, BTreeSet};

use nalgebra::DMatrix;
use petgraph::algo::tarjan_scc;
use petgraph::graph::DiGraph;
use petgraph::visit::EdgeRef;

/// The reason why a chain or a queue has no solution that can be used.
#[derive(Debug, thiserror::Error, PartialEq)]
#[error("{0}")]
pub struct SolverError(pub(super) String);

/// Returns the generator `G` (n × n) in the order of the nodes: `G_st` is the rate from `s` to `t`,
/// and the sum of each row is 0.
pub fn generator(chain: &DiGraph<(), f64>) -> DMatrix<f64> {
    let n = chain.node_count();
    let mut g = DMatrix::<f64>::zeros(n, n);
    for edge in chain.edge_references().filter(|e| e.source() != e.target()) {
        g[(edge.source().index(), edge.target().index())] += edge.weight();
    }
    for s in 0..n {
        g[(s, s)] = -g.row(s).sum();
    }
    g
}

/// Returns the stationary distribution `π G = 0, Σ π = 1` in the order of the nodes.
///
/// # Errors
/// Returns an error if the chain is not irreducible, or if a rate is not positive and finite.
pub fn stationary(chain: &DiGraph<(), f64>) -> Result<Vec<f64>, SolverError> {
    let mut rates = chain.edge_weights();
    if let Some(rate) = rates.find(|rate| !(**rate > 0.0 && rate.is_finite())) {
        let why = format!("the rate {rate} is not a positive finite number");
        return Err(SolverError(why));
    }
    let classes = tarjan_scc(chain).len();
    if classes != 1 {
        let why = format!("the chain splits into {classes} classes, but it must be irreducible");
        return Err(SolverError(why));
    }
    let n = chain.node_count();
    let mut rows: Vec<BTreeMap<usize, f64>> = vec![BTreeMap::new(); n];
    let mut into: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); n];
    for edge in chain.edge_references().filter(|e| e.source() != e.target()) {
        let (s, t) = (edge.source().index(), edge.target().index());
        *rows[s].entry(t).or_insert(0.0) += edge.weight();
        into[t].insert(s);
    }
    let mut exits = vec![0.0; n];
    for last in (1..n).rev() {
        let onward: Vec<(usize, f64)> = rows[last].range(..last).map(|(t, r)| (*t, *r)).collect();
        exits[last] = onward.iter().map(|(_, r)| r).sum();
        let entering: Vec<usize> = into[last].range(..last).copied().collect();
        for s in entering {
            let entry = rows[s][&last];
            for &(t, r) in onward.iter().filter(|(t, _)| *t != s) {
                *rows[s].entry(t).or_insert(0.0) += entry * r / exits[last];
                into[t].insert(s);
            }
        }
    }
    // `π_s = Σ_{r<s} π_r q_rs / exit_s`; the values are normalized below.
    let mut law = vec![1.0; n];
    for s in 1..n {
        let entering = into[s].range(..s);
        let inflow: f64 = entering.map(|r| law[*r] * rows[*r][&s]).sum();
        law[s] = inflow / exits[s];
    }
    let total: f64 = law.iter().sum();
    Ok(law.iter().map(|p| p / total).collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use nalgebra::DVector;
    use rand::RngExt;
    use rand::SeedableRng;

    /// The last digits must be correct even if the values of `π` span 24 orders of magnitude.
    #[test]
    fn birth_and_death_has_its_closed_form() {
        let edges = (0..6_u32).flat_map(|n| [(n, n + 1, 1.0), (n + 1, n, 1e4)]);
        let chain = DiGraph::<(), f64>::from_edges(edges);
        let law = stationary(&chain).unwrap();
        for n in 1..7 {
            assert!((law[n] / law[n - 1] / 1e-4 - 1.0).abs() < 1e-14, "{n}");
        }
        assert!((law.iter().sum::<f64>() - 1.0).abs() < 1e-15);
    }

    #[test]
    fn elimination_and_lu_agree_on_random_chains() {
        let switch = DiGraph::<(), f64>::from_edges([(0, 1, 2.0), (1, 0, 3.0)]);
        let expected = DMatrix::from_row_slice(2, 2, &[-2.0, 2.0, 3.0, -3.0]);
        assert_eq!(generator(&switch), expected);
        let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(7);
        for n in 2..30_u32 {
            let ring = (0..n).map(|s| (s, (s + 1) % n, 0.1 + random.random::<f64>()));
            let mut edges: Vec<_> = ring.collect();
            for _ in 0..2 * n {
                let (s, t) = (random.random_range(0..n), random.random_range(0..n));
                edges.push((s, t, 10.0 * random.random::<f64>()));
            }
            let chain = DiGraph::<(), f64>::from_edges(edges);
            let law = stationary(&chain).unwrap();
            let mut system = generator(&chain).transpose();
            let last = system.nrows() - 1;
            system.row_mut(last).fill(1.0);
            let mut right = DVector::zeros(last + 1);
            right[last] = 1.0;
            let dense = system.lu().solve(&right).unwrap();
            let error = (DVector::from_vec(law) - dense).amax();
            assert!(error < 1e-13, "{n} states: {error}");
        }
    }

    #[test]
    fn rejects_reducible_chains_and_invalid_rates() {
        let absorbing = DiGraph::<(), f64>::from_edges([(0, 1, 1.0)]);
        let why = |chain| stationary(chain).unwrap_err().to_string();
        assert!(why(&absorbing).contains("2 classes"));
        let frozen = DiGraph::<(), f64>::from_edges([(0, 1, 0.0), (1, 0, 1.0)]);
        assert!(why(&frozen).contains("the rate 0 is"));
    }
}
