//! What is known of a cluster: its load, proved, and means under balanced fairness.

use super::{Graph, Margin, Recursion, TooLarge, fair, margin};
use crate::compatibility::workload::{Cluster, Jobs};

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
    pub by: Sum,
}

/// Over what was summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sum {
    /// Sets of idle servers.
    Servers,
    /// Sets of classes with jobs.
    Classes,
    /// Numbers of servers that are all alike.
    Counts,
}

/// Why there are no exact means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unknown {
    /// The graph is too large.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
    /// Not all of the sums are numbers.
    #[error("the load is so near to 1 that the sums leave the range of numbers")]
    Range,
}

/// The graph of a cluster with classes; of one where servers are drawn, none.
pub fn graph(cluster: &Cluster) -> Option<Graph<f64>> {
    match cluster.jobs() {
        Jobs::Classes(classes) => Some(Graph {
            service_rates: cluster.service_rates(),
            arrival_rates: cluster.arrival_rates(),
            servers: classes.iter().map(|class| class.servers.clone()).collect(),
        }),
        Jobs::Random(_) => None,
    }
}

/// The load of a cluster.
pub fn load(cluster: &Cluster) -> Load {
    match graph(cluster) {
        Some(graph) => {
            let margin = margin(&graph);
            Load {
                load: 1.0 / margin.factor,
                margin: Some(margin),
            }
        }
        // λ C(n, d)/C(S, d) < n μ is hardest for n = S.
        None => Load {
            load: cluster.arrival_rate() / cluster.service_rates().iter().sum::<f64>(),
            margin: None,
        },
    }
}

/// The means of a cluster with a load below 1.
///
/// # Errors
/// When no method is known that is not too long, or its numbers leave the range of doubles.
pub fn means(cluster: &Cluster) -> Result<Means, Unknown> {
    let rates = cluster.service_rates();
    let means = match (graph(cluster), cluster.jobs()) {
        (Some(graph), _) => {
            let found = fair(&graph, None)?;
            let by_classes = found.by.iter().all(|by| *by == Recursion::Classes);
            Means {
                numbers: found.numbers,
                busy: found.idle.iter().map(|idle| 1.0 - idle).collect(),
                by: if by_classes {
                    Sum::Classes
                } else {
                    Sum::Servers
                },
            }
        }
        (None, Jobs::Random(random)) => {
            let arriving = random.arrival_rate.value();
            let servers = rates.len() as u32;
            let response = random_assignment(servers, rates[0], random.degree, arriving);
            let all: f64 = rates.iter().sum();
            Means {
                numbers: vec![arriving * response],
                busy: vec![arriving / all; rates.len()],
                by: Sum::Counts,
            }
        }
        (None, Jobs::Classes(_)) => unreachable!("classes have a graph"),
    };
    let sound = |x: &f64| x.is_finite() && *x > 0.0;
    if means.numbers.iter().all(sound) {
        Ok(means)
    } else {
        Err(Unknown::Range)
    }
}

impl Means {
    /// `E[T]` of all jobs.
    pub fn response(&self, cluster: &Cluster) -> f64 {
        self.numbers.iter().sum::<f64>() / cluster.arrival_rate()
    }
}

/// `E[T]` where each job may run on `degree` of `servers` servers, drawn at random, each of which ends `service_rate` jobs a
/// time unit, and `arrival_rate` jobs arrive in all \[time\]; infinite where that is unstable.
///
/// Of the C(S, d) classes only how many servers are taken counts: S − d + 1 terms (K. Gardner, M. Harchol-Balter, A.
/// Scheller-Wolf, M. Velednitsky, S. Zbarsky: Redundancy-d, Operations Research 65(4), 2017, theorem 1).
pub fn random_assignment(servers: u32, service_rate: f64, degree: u32, arrival_rate: f64) -> f64 {
    // What arrives for n servers alone: λ C(n, d)/C(S, d).
    let part = |n: u32| -> f64 {
        let factors = (0..degree).map(|k| f64::from(n - k) / f64::from(servers - k));
        factors.product()
    };
    let term = |n: u32| {
        let part = part(n);
        let free = f64::from(n) * service_rate - arrival_rate * part;
        if free > 0.0 {
            part / free
        } else {
            f64::INFINITY
        }
    };
    (degree..=servers).map(term).sum()
}
