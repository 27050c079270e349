//! A queue whose number of servers is modulated by a Markov chain.
//!
//! The chain is independent of the queue, but an edge may *be* a completion: one of the state's
//! servers ends, busy or not. (jobs, state) is a QBD that repeats from the largest number of
//! servers on.

use petgraph::graph::DiGraph;

use super::chain::{ChainError, stationary};
use super::qbd::{Level, Qbd};

/// An edge of an environment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// The source state.
    pub from: usize,
    /// The target state.
    pub to: usize,
    /// The rate \[1/time\].
    pub rate: f64,
}

/// A modulating chain with its stationary distribution.
#[derive(Clone, Debug)]
pub struct Environment {
    edges: Vec<Edge>,
    law: Vec<f64>,
    goes_round: bool,
}

impl Environment {
    /// Creates an environment with `states` states.
    ///
    /// # Errors
    /// If it is reducible, or a rate is not positive and finite.
    pub fn new(states: usize, edges: Vec<Edge>) -> Result<Self, ChainError> {
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

    /// Returns the environment with the exit rates of each state s multiplied by `faster(s)`.
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

    /// Returns the number of states n.
    pub fn states(&self) -> usize {
        self.law.len()
    }

    /// Returns the edges.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// Returns θ (n), the stationary distribution.
    pub fn law(&self) -> &[f64] {
        &self.law
    }

    /// Returns whether every edge leads to a later state or back to state 0 (a cyclic environment).
    pub fn goes_round(&self) -> bool {
        self.goes_round
    }
}

/// A queue whose number of servers is modulated by an environment.
///
/// In state s, the oldest `min(q, c_s)` of q jobs are served, each at rate μ. In a state with a
/// completion edge, services end by that edge alone: one of the `c_s` servers ends, and its job, if
/// any, leaves.
#[derive(Clone, Debug)]
pub struct ModulatedQueue<'a> {
    environment: &'a Environment,
    arrival_rate: f64,
    service_rate: f64,
    servers: Vec<u32>,
    /// By edge: whether it is a completion.
    serves: Vec<bool>,
    /// By state: whether it has a completion edge.
    drains: Vec<bool>,
}

impl<'a> ModulatedQueue<'a> {
    /// Creates a queue with arrival rate λ, service rate μ, `servers` by state, and `serves` by
    /// edge. At most one edge per state is a completion, with rate `c_s μ`.
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

    /// Returns the queue with another arrival rate.
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

    /// Returns λ \[1/time\].
    pub fn arrival_rate(&self) -> f64 {
        self.arrival_rate
    }

    /// Returns μ \[1/time\].
    pub fn service_rate(&self) -> f64 {
        self.service_rate
    }

    /// Returns c (n), the number of servers in each state.
    pub fn servers(&self) -> &[u32] {
        &self.servers
    }

    /// Returns whether services in state s end by a completion edge.
    pub fn drains(&self, s: usize) -> bool {
        self.drains[s]
    }

    /// Returns the edges, and whether each is a completion.
    pub fn edges(&self) -> impl Iterator<Item = (&Edge, bool)> {
        let serves = self.serves.iter().copied();
        self.environment.edges.iter().zip(serves)
    }

    /// Returns the rate of services in state s that are not edges, for a never-empty queue
    /// \[1/time\].
    pub fn speed(&self, s: usize) -> f64 {
        if self.drains[s] {
            0.0
        } else {
            f64::from(self.servers[s]) * self.service_rate
        }
    }

    /// Returns β, the largest number of servers.
    pub fn most_servers(&self) -> u32 {
        let most = self.servers.iter().copied().max();
        most.expect("an irreducible environment has a state")
    }

    /// Returns `E[μ c]` \[1/time\], the service rate of a queue that is never empty.
    pub fn capacity(&self) -> f64 {
        let pairs = self.environment.law.iter().zip(&self.servers);
        let speeds = pairs.map(|(p, c)| p * (f64::from(*c) * self.service_rate));
        speeds.sum()
    }

    /// Estimates the work of solving [`ModulatedQueue::qbd`] \[ns\], ∞ without enough memory.
    pub fn matrix_work(&self) -> f64 {
        matrix_work(self.servers.len() as f64, f64::from(self.most_servers()))
    }

    /// Returns the chain on (jobs, state).
    pub fn qbd(&self) -> Qbd {
        let most = self.most_servers().max(1) as usize;
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
            let (served, stays) = if serves {
                (busy(edge.from), idle * self.service_rate)
            } else {
                (0.0, edge.rate)
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

/// Memory limit of a solver, in numbers of 8 bytes (320 MB).
pub const MEMORY: f64 = 4e7;

/// Estimates the work of a solution \[ns\], ∞ without enough memory.
pub fn matrix_work(phases: f64, boundary: f64) -> f64 {
    if matrix_numbers(phases, boundary) <= MEMORY {
        (3.5 + 0.15 * boundary) * phases.powi(3) + 1e3 * (boundary + phases) + 2e4
    } else {
        f64::INFINITY
    }
}

/// Returns the number of values stored: boundary levels, reduction, and powers of R.
pub fn matrix_numbers(phases: f64, boundary: f64) -> f64 {
    (boundary + 44.0) * phases * phases + 30.0 * boundary * phases
}
