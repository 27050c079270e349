//! The exact mean numbers of jobs under balanced fairness, which do not depend on the size
//! distribution. For exponential sizes, they are also the means of first come, first served.
//!
//! The stationary measure of a state `x` is `Φ(x) Π λ_i^{x_i}` (equation 3 of the paper), where
//! `x_i` is the number of jobs of class `i`. Its sum `G` over all states is computed as a sum over
//! sets (see [`Recursion`]), and `E[x_i] = λ_i ∂ ln G/∂λ_i` by differentiation in reverse mode.

mod graph;
mod margin;
#[cfg(test)]
mod tests;

pub use graph::{FairMeans, Graph, Recursion, fair};
pub use margin::{Margin, margin};

use crate::artifact::Method;
use crate::workload::Cluster;

/// The load of a workload, together with a proof.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// The load ρ. Under any work-conserving policy, the system is stable if and only if ρ < 1.
    pub load: f64,
    /// The proof. This is `None` if the servers are drawn for each job, which is symmetric.
    pub margin: Option<Margin>,
}

/// The mean values under balanced fairness.
#[derive(Clone, Debug, PartialEq)]
pub struct Means {
    /// `E[x_i]` for each class (K), or a single value if the servers are drawn for each job.
    pub numbers: Vec<f64>,
    /// The utilization of each server (S).
    pub utilizations: Vec<f64>,
    /// The method.
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

/// Computes the load of a workload.
pub fn load(cluster: &Cluster) -> Load {
    let margin = graph(cluster).map(|graph| margin(&graph));
    // `λ C(n, d)/C(S, d) < n μ` is the strictest condition if n = S.
    let all = || cluster.arrival_rate() / cluster.service_rates().iter().sum::<f64>();
    let load = margin.as_ref().map_or_else(all, |own| 1.0 / own.factor);
    Load { load, margin }
}

/// Computes the means of a workload whose load is less than 1.
///
/// # Errors
/// Returns an error if the number of sets is too large, or if the sums overflow.
pub fn means(cluster: &Cluster) -> Result<Means, String> {
    let means = if let Some(graph) = graph(cluster) {
        let found = fair(&graph, None)?;
        Means {
            numbers: found.numbers,
            utilizations: found.idle.iter().map(|idle| 1.0 - idle).collect(),
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
            utilizations: vec![arriving / rates.iter().sum::<f64>(); rates.len()],
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
    /// Returns `E[T]` of all jobs.
    pub fn response(&self, cluster: &Cluster) -> f64 {
        self.numbers.iter().sum::<f64>() / cluster.arrival_rate()
    }
}

/// Returns `E[T]` if each job runs on `degree` random servers, or ∞ if the system is not stable.
/// `λ C(n, d)/C(S, d)` is the arrival rate of the jobs that can only use `n` given servers
/// (K. Gardner et al., Redundancy-d, Operations Research 65(4), 2017, theorem 1).
fn random_assignment(servers: u32, service_rate: f64, degree: u32, arrival_rate: f64) -> f64 {
    let term = |n: u32| {
        let factors = (0..degree).map(|k| f64::from(n - k) / f64::from(servers - k));
        let part: f64 = factors.product();
        let free = f64::from(n) * service_rate - arrival_rate * part;
        part / free.max(0.0)
    };
    (degree..=servers).map(term).sum()
}
