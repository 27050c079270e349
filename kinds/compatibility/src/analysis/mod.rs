//! The exact mean numbers of jobs under balanced fairness, for any law of sizes; and of first come, first served where
//! sizes are exponential.
//!
//! The aggregate state x has the stationary measure `Φ(x) Π λ_i^{x_i}` (paper, equation 3). Its sum G over all x is a sum
//! over sets: of servers that are idle, or of classes that have jobs ([`Recursion`]). Each recursion has a step for each set;
//! `E[x_i] = λ_i ∂ ln G/∂λ_i` is had for all classes at once, by going back over the same steps.

mod graph;
mod margin;
#[cfg(test)]
mod tests;

pub use graph::{Fair, Graph, Recursion, fair};
pub use margin::{Margin, margin};

use crate::artifact::Method;
use crate::workload::Cluster;

/// The load, with what proves it.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// ρ: stable iff it is less than 1, under every rule that lets no server idle while a job waits for it.
    pub load: f64,
    /// The proof; none where servers are drawn for each job, and all of them are needed alike.
    pub margin: Option<Margin>,
}

/// Means under balanced fairness.
#[derive(Clone, Debug, PartialEq)]
pub struct Means {
    /// `E[x_i]` (K), or of all jobs where servers are drawn.
    pub numbers: Vec<f64>,
    /// Part of the time that each server works (S).
    pub busy: Vec<f64>,
    /// How it is known.
    pub by: Method,
}

/// The graph of a cluster with classes; of one where servers are drawn, none.
fn graph(cluster: &Cluster) -> Option<Graph<f64>> {
    let servers = cluster.classes().iter().map(|class| class.servers.clone());
    let graph = Graph {
        service_rates: cluster.service_rates(),
        arrival_rates: cluster.arrival_rates(),
        servers: servers.collect(),
    };
    cluster.assignment().is_none().then_some(graph)
}

/// Returns the load of a cluster.
pub fn load(cluster: &Cluster) -> Load {
    let margin = graph(cluster).map(|graph| margin(&graph));
    // λ C(n, d)/C(S, d) < n μ is hardest for n = S.
    let all = || cluster.arrival_rate() / cluster.service_rates().iter().sum::<f64>();
    let load = margin.as_ref().map_or_else(all, |own| 1.0 / own.factor);
    Load { load, margin }
}

/// Returns the means of a cluster with a load below 1.
///
/// # Errors
/// When no method is known that is not too long, or its numbers leave the range of doubles.
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
    Err("the load is so near to 1 that the sums leave the range of numbers".into())
}

impl Means {
    /// `E[T]` of all jobs.
    pub fn response(&self, cluster: &Cluster) -> f64 {
        self.numbers.iter().sum::<f64>() / cluster.arrival_rate()
    }
}

/// Returns `E[T]` where each job may run on `degree` of `servers` servers, drawn at random, each of which ends `service_rate`
/// jobs a time unit, and `arrival_rate` jobs arrive in all \[time\]; infinite where that is unstable.
///
/// Of the C(S, d) classes only how many servers are taken counts: S − d + 1 terms (K. Gardner, M. Harchol-Balter, A.
/// Scheller-Wolf, M. Velednitsky, S. Zbarsky: Redundancy-d, Operations Research 65(4), 2017, theorem 1).
pub fn random_assignment(servers: u32, service_rate: f64, degree: u32, arrival_rate: f64) -> f64 {
    let term = |n: u32| {
        // What arrives for n servers alone: λ C(n, d)/C(S, d).
        let factors = (0..degree).map(|k| f64::from(n - k) / f64::from(servers - k));
        let part: f64 = factors.product();
        let free = f64::from(n) * service_rate - arrival_rate * part;
        part / free.max(0.0)
    };
    (degree..=servers).map(term).sum()
}
