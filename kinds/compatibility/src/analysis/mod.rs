//! Exact means under balanced fairness. They do not depend on the size distribution.
//!
//! The state has the stationary measure `Φ(x) Π λ_i^{x_i}` (paper, equation 3); its sum G reduces
//! to a sum over sets ([`Recursion`]). `E[x_i] = λ_i ∂ ln G/∂λ_i`, by differentiation in reverse.

mod graph;
mod margin;
#[cfg(test)]
mod tests;

pub use graph::{Fair, Graph, Recursion, fair};
pub use margin::{Margin, margin};

use crate::artifact::Method;
use crate::workload::Cluster;

/// The load, together with its proof.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// The load ρ: under every work-conserving rule, the system is stable if and only if ρ < 1.
    pub load: f64,
    /// The proof, or `None` if servers are drawn for each job and have the same load by symmetry.
    pub margin: Option<Margin>,
}

/// Means under balanced fairness.
#[derive(Clone, Debug, PartialEq)]
pub struct Means {
    /// `E[x_i]` (K), or of all jobs if servers are drawn for each job.
    pub numbers: Vec<f64>,
    /// The utilization of each server (S).
    pub busy: Vec<f64>,
    /// The method of computation.
    pub by: Method,
}

fn graph(cluster: &Cluster) -> Option<Graph<f64>> {
    let servers = cluster.classes().iter().map(|class| class.servers.clone());
    let graph = Graph {
        service_rates: cluster.service_rates(),
        arrival_rates: cluster.arrival_rates(),
        servers: servers.collect(),
    };
    cluster.assignment().is_none().then_some(graph)
}

/// Computes the load of a cluster.
pub fn load(cluster: &Cluster) -> Load {
    let margin = graph(cluster).map(|graph| margin(&graph));
    let all = || cluster.arrival_rate() / cluster.service_rates().iter().sum::<f64>();
    let load = margin.as_ref().map_or_else(all, |own| 1.0 / own.factor);
    Load { load, margin }
}

/// Computes the means of a cluster whose load is below 1; fails if no exact method is feasible.
pub fn means(cluster: &Cluster) -> Result<Means, String> {
    let means = if let Some(graph) = graph(cluster) {
        let found = fair(&graph, None)?;
        Means {
            numbers: found.numbers,
            busy: found.idle.iter().map(|idle| 1.0 - idle).collect(),
            by: if found.by.contains(&Recursion::Servers) {
                Method::ExactIdleServers
            } else {
                Method::ExactActiveClasses
            },
        }
    } else {
        let (rates, arriving) = (cluster.service_rates(), cluster.arrival_rate());
        let (servers, degree) = (rates.len() as u32, cluster.degree());
        let response = random_assignment(servers, rates[0], degree, arriving);
        Means {
            numbers: vec![arriving * response],
            busy: vec![arriving / rates.iter().sum::<f64>(); rates.len()],
            by: Method::ExactSymmetry,
        }
    };
    let sound = |x: &f64| x.is_finite() && *x > 0.0;
    if means.numbers.iter().all(sound) {
        return Ok(means);
    }
    Err("the load is so close to 1 that the sums overflow".into())
}

impl Means {
    /// `E[T]` of all jobs.
    pub fn response(&self, cluster: &Cluster) -> f64 {
        self.numbers.iter().sum::<f64>() / cluster.arrival_rate()
    }
}

/// Computes `E[T]` if each job runs on `degree` random servers; ∞ if unstable. A sum of S − d + 1
/// terms (K. Gardner et al., Redundancy-d, Operations Research 65(4), 2017, theorem 1).
pub fn random_assignment(servers: u32, service_rate: f64, degree: u32, arrival_rate: f64) -> f64 {
    let term = |n: u32| {
        // Arrival rate of jobs confined to n given servers: λ C(n, d)/C(S, d).
        let factors = (0..degree).map(|k| f64::from(n - k) / f64::from(servers - k));
        let part: f64 = factors.product();
        let free = f64::from(n) * service_rate - arrival_rate * part;
        part / free.max(0.0)
    };
    (degree..=servers).map(term).sum()
}
