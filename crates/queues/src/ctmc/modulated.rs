//! A queue in a random environment: Poisson arrivals, exponential sizes, and a number of servers
//! that a chain modulates.
//!
//! The environment does not depend on the queue, but an edge of it may *be* a completion: one of
//! the state's servers ends, busy or not, and the environment moves. The pair (jobs, state) is
//! a QBD that repeats from the largest number of servers on ([`ModulatedQueue::qbd`]).

use petgraph::graph::DiGraph;

use super::chain::{ChainError, stationary};
use super::qbd::{Level, Qbd};

/// One edge of an environment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// The state it leaves.
    pub from: usize,
    /// The state it leads to.
    pub to: usize,
    /// Its rate [1/time].
    pub rate: f64,
}

/// The modulating chain, with its stationary law.
#[derive(Clone, Debug)]
pub struct Environment {
    edges: Vec<Edge>,
    law: Vec<f64>,
    goes_round: bool,
}

impl Environment {
    /// Returns an environment of `states` states.
    ///
    /// # Errors
    /// When it is not irreducible, or a rate is not positive and finite.
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

    /// Returns the environment in which each state s is left `faster(s)` times as fast, to the same
    /// states: its law follows from this one's, since the jumps do not change.
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

    /// Number of states n.
    pub fn states(&self) -> usize {
        self.law.len()
    }

    /// Returns its edges.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// θ (n): the fraction of time in each state.
    pub fn law(&self) -> &[f64] {
        &self.law
    }

    /// Returns whether every edge leads to a later state or back to state 0: then every way out of
    /// state 0 goes round and ends there.
    pub fn goes_round(&self) -> bool {
        self.goes_round
    }
}

/// A queue whose servers an environment modulates.
///
/// While the environment is in state s, the oldest `min(q, c_s)` of q jobs are served, each at rate
/// μ. In a state that has a serving edge services end by that edge alone: one of its `c_s` servers
/// ends, and takes a job away if it had one.
#[derive(Clone, Debug)]
pub struct ModulatedQueue<'a> {
    environment: &'a Environment,
    arrival_rate: f64,
    service_rate: f64,
    servers: Vec<u32>,
    /// By edge of the environment.
    serves: Vec<bool>,
    /// By state: whether it has a serving edge.
    drains: Vec<bool>,
}

impl<'a> ModulatedQueue<'a> {
    /// Returns a queue with arrivals at rate λ, services at rate μ, `servers` by state and `serves` by edge. At
    /// most one edge of a state serves, at rate `c_s μ`.
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

    /// Returns the same queue with another arrival rate.
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

    /// λ [1/time].
    pub fn arrival_rate(&self) -> f64 {
        self.arrival_rate
    }

    /// μ [1/time].
    pub fn service_rate(&self) -> f64 {
        self.service_rate
    }

    /// c (n): servers in each state.
    pub fn servers(&self) -> &[u32] {
        &self.servers
    }

    /// Returns whether services in state s end by an edge of the environment.
    pub fn drains(&self, s: usize) -> bool {
        self.drains[s]
    }

    /// Returns the edges, and whether each serves.
    pub fn edges(&self) -> impl Iterator<Item = (&Edge, bool)> {
        let serves = self.serves.iter().copied();
        self.environment.edges.iter().zip(serves)
    }

    /// Services in state s that leave the environment as it is \[1/time\], of a queue that is never
    /// empty.
    pub fn speed(&self, s: usize) -> f64 {
        if self.drains[s] {
            0.0
        } else {
            f64::from(self.servers[s]) * self.service_rate
        }
    }

    /// β: the largest number of servers.
    pub fn most_servers(&self) -> u32 {
        let most = self.servers.iter().copied().max();
        most.expect("an irreducible environment has a state")
    }

    /// `E[μ c]` [1/time]: services of a queue that is never empty.
    pub fn capacity(&self) -> f64 {
        let pairs = self.environment.law.iter().zip(&self.servers);
        let speeds = pairs.map(|(p, c)| p * (f64::from(*c) * self.service_rate));
        speeds.sum()
    }

    /// Returns the work of solving [`ModulatedQueue::qbd`] once, very roughly in nanoseconds: a reduction, and
    /// an elimination for each level of the boundary. Infinite where memory does not suffice.
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
            // Exactly 0 where all servers are busy.
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

/// The most numbers that a solver keeps in memory: 8 bytes each, 320 MB.
pub const MEMORY: f64 = 4e7;

/// Returns the work of a reduction with this many phases and this many levels in the boundary; infinite where
/// memory does not suffice.
pub fn matrix_work(phases: f64, boundary: f64) -> f64 {
    if matrix_numbers(phases, boundary) <= MEMORY {
        (3.5 + 0.15 * boundary) * phases.powi(3) + 1e3 * (boundary + phases) + 2e4
    } else {
        f64::INFINITY
    }
}

/// Numbers that are kept: a matrix and the rates (three numbers each, at most some ten a phase) of
/// each level of the boundary, and what a reduction and the powers of R take.
pub fn matrix_numbers(phases: f64, boundary: f64) -> f64 {
    (boundary + 44.0) * phases * phases + 30.0 * boundary * phases
}
