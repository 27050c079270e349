//! This module implements an M/M/c queue whose number of servers is modulated by a Markov chain.
//!
//! The pair (jobs, state) is a QBD that repeats from the largest number of servers on.

use petgraph::graph::DiGraph;

use super::chain::{SolverError, stationary};
use super::qbd::{Level, Qbd};

/// An edge of an environment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// The state that the edge leaves.
    pub from: usize,
    /// The state that the edge enters.
    pub to: usize,
    /// The rate of the edge \[1/time\].
    pub rate: f64,
}

/// A modulating chain and its stationary distribution.
#[derive(Clone, Debug)]
pub struct Environment {
    edges: Vec<Edge>,
    law: Vec<f64>,
    goes_round: bool,
}

impl Environment {
    /// Creates an environment with this number of states.
    ///
    /// # Errors
    /// Returns an error if the environment is reducible, or if a rate is not positive and finite.
    pub fn new(states: usize, edges: Vec<Edge>) -> Result<Self, SolverError> {
        let mut chain = DiGraph::<(), f64>::with_capacity(states, edges.len());
        let nodes: Vec<_> = (0..states).map(|_| chain.add_node(())).collect();
        for edge in &edges {
            chain.add_edge(nodes[edge.from], nodes[edge.to], edge.rate);
        }
        Ok(Environment {
            law: stationary(&chain)?,
            goes_round: edges.iter().all(|e| e.to > e.from || e.to == 0),
            edges,
        })
    }

    /// Multiplies the exit rates of each state by `faster(s)`.
    pub fn with_exits_scaled(&self, faster: impl Fn(usize) -> f64) -> Self {
        let rate = |edge: &Edge| Edge {
            rate: edge.rate * faster(edge.from),
            ..*edge
        };
        let law = self.law.iter().enumerate().map(|(s, p)| p / faster(s));
        let law: Vec<f64> = law.collect();
        let total: f64 = law.iter().sum();
        Environment {
            edges: self.edges.iter().map(rate).collect(),
            law: law.iter().map(|p| p / total).collect(),
            goes_round: self.goes_round,
        }
    }

    /// Returns the edges.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// Returns the stationary distribution `θ` (n).
    pub fn stationary_distribution(&self) -> &[f64] {
        &self.law
    }

    /// Returns `true` if every edge leads to a later state or back to state 0.
    pub fn goes_round(&self) -> bool {
        self.goes_round
    }
}

/// A queue in which the number of servers is modulated by an environment.
///
/// If there are `q` jobs in state `s`, the oldest `min(q, c_s)` jobs are served, each at rate `μ`.
/// The states do not depend on the queue, but an edge can *be* a completion. A service in its state
/// can then end only by this edge: one of the `c_s` servers ends, and if it has a job, it leaves.
#[derive(Clone, Debug)]
pub struct ModulatedQueue<'a> {
    environment: &'a Environment,
    arrival_rate: f64,
    service_rate: f64,
    servers: Vec<u32>,
    serves: Vec<bool>,
    drains: Vec<bool>,
}

impl<'a> ModulatedQueue<'a> {
    /// Creates a queue with the arrival rate `λ`, the service rate `μ`, and the number of servers
    /// in each state. `serves` is `true` for each edge that is a completion. Each state can have at
    /// most one such edge, and its rate must be `c_s μ`.
    pub fn new(
        environment: &'a Environment,
        arrival_rate: f64,
        service_rate: f64,
        servers: Vec<u32>,
        serves: Vec<bool>,
    ) -> Self {
        let mut drains = vec![false; servers.len()];
        for (edge, _) in environment.edges.iter().zip(&serves).filter(|(_, s)| **s) {
            drains[edge.from] = true;
        }
        ModulatedQueue {
            environment,
            arrival_rate,
            service_rate,
            servers,
            serves,
            drains,
        }
    }

    /// Returns the same queue with a different arrival rate.
    pub fn with_arrival_rate(&self, arrival_rate: f64) -> Self {
        ModulatedQueue {
            arrival_rate,
            ..self.clone()
        }
    }

    /// Returns the environment.
    pub fn environment(&self) -> &'a Environment {
        self.environment
    }

    /// Returns the arrival rate `λ` \[1/time\].
    pub fn arrival_rate(&self) -> f64 {
        self.arrival_rate
    }

    /// Returns the service rate `μ` of each server \[1/time\].
    pub fn service_rate(&self) -> f64 {
        self.service_rate
    }

    /// Returns the number of servers `c` in each state (n).
    pub fn servers(&self) -> &[u32] {
        &self.servers
    }

    /// Returns `true` if a service in state `s` can only end by a completion edge.
    pub fn drains(&self, s: usize) -> bool {
        self.drains[s]
    }

    /// Returns each edge, and `true` if it is a completion.
    pub fn edges(&self) -> impl Iterator<Item = (&Edge, bool)> {
        let serves = self.serves.iter().copied();
        self.environment.edges.iter().zip(serves)
    }

    /// Returns the rate \[1/time\] at which a server completes jobs without a change of state `s`.
    pub fn independent_rate_of_server(&self, s: usize) -> f64 {
        match self.drains[s] {
            true => 0.0,
            false => self.service_rate,
        }
    }

    /// Returns the rate \[1/time\] of these services if no server is idle.
    pub fn independent_service_rate(&self, s: usize) -> f64 {
        f64::from(self.servers[s]) * self.independent_rate_of_server(s)
    }

    /// Returns `β`, the largest number of servers.
    pub fn max_servers(&self) -> u32 {
        let most = self.servers.iter().copied().max();
        most.expect("an irreducible environment has a state")
    }

    /// Returns the service rate `E[μ c]` \[1/time\] of a queue that is never empty.
    pub fn capacity(&self) -> f64 {
        let pairs = self.environment.law.iter().zip(&self.servers);
        let speeds = pairs.map(|(p, c)| p * (f64::from(*c) * self.service_rate));
        speeds.sum()
    }

    /// Estimates the time of [`ModulatedQueue::qbd`] by [`matrix_work`].
    pub fn matrix_work(&self) -> f64 {
        matrix_work(self.servers.len() as f64, f64::from(self.max_servers()))
    }

    /// Returns the chain on (jobs, state).
    pub fn qbd(&self) -> Qbd {
        let most = self.max_servers().max(1) as usize;
        Qbd {
            boundary: (0..most).map(|q| self.level(q)).collect(),
            repeating: self.level(most),
        }
    }

    fn level(&self, jobs: usize) -> Level {
        let n = self.servers.len();
        let busy = |s: usize| f64::from(self.servers[s]).min(jobs as f64) * self.service_rate;
        let mut level = Level {
            phases: n,
            up: (0..n).map(|s| (s, s, self.arrival_rate)).collect(),
            ..Level::default()
        };
        for (edge, serves) in self.edges() {
            let idle = (f64::from(self.servers[edge.from]) - jobs as f64).max(0.0);
            let (served, stays) = match serves {
                true => (busy(edge.from), idle * self.service_rate),
                false => (0.0, edge.rate),
            };
            level.down.push((edge.from, edge.to, served));
            level.local.push((edge.from, edge.to, stays));
        }
        let alone = (0..n).filter(|s| !self.drains[*s]);
        level.down.extend(alone.map(|s| (s, s, busy(s))));
        level.down.retain(|(.., rate)| *rate > 0.0);
        let moves = |(from, to, rate): &(usize, usize, f64)| *rate > 0.0 && from != to;
        level.local.retain(moves);
        level
    }
}

/// The maximum number of values that a solver can store: 320 MB with 8 bytes each.
pub const MEMORY_LIMIT: f64 = 4e7;

/// Estimates the time \[ns\] of a solution, which is infinite if there is not enough memory.
pub fn matrix_work(phases: f64, boundary: f64) -> f64 {
    if matrix_numbers(phases, boundary) <= MEMORY_LIMIT {
        (3.5 + 0.15 * boundary) * phases.powi(3) + 1e3 * (boundary + phases) + 2e4
    } else {
        f64::INFINITY
    }
}

/// Returns the number of values that are stored for this number of phases and of boundary levels.
pub fn matrix_numbers(phases: f64, boundary: f64) -> f64 {
    (boundary + 44.0) * phases * phases + 30.0 * boundary * phases
}
