//! How much more could arrive: `θ* = min over sets A of classes of μ(A)/λ(A)`, proved from both sides.
//!
//! Arrivals times θ can be served iff a flow takes them from their classes to servers that these may use, none of which gets
//! more than it can do. Where the greatest flow leaves something behind, the classes that it comes from, and all that compete
//! with them, need more than their servers have: their ratio is the next θ (W. Dinkelbach: On nonlinear fractional
//! programming. Management Science 13(7), 1967), and after a few such sets the flow takes all.

use std::collections::BTreeSet;

use petgraph::algo::dinics;
use petgraph::graph::{DiGraph, NodeIndex};

use super::Graph;

/// The margin, with what proves it.
#[derive(Clone, Debug, PartialEq)]
pub struct Margin {
    /// θ*: arrivals times θ are stable iff θ < θ*.
    pub factor: f64,
    /// Classes A, ascending, with `μ(A) = θ* λ(A)`: nobody can serve more of them.
    pub tight: Vec<usize>,
    /// By class (K): servers, each with the fraction of the class's arrivals that is sent there; then no server has more
    /// than 1/θ* of what it can do.
    pub routing: Vec<Vec<(usize, f64)>>,
}

/// A class is served where the flow takes all of it but this part.
const ROUNDING: f64 = 1e-12;

/// Sets of classes, each with a smaller ratio than the one before it; ten are many.
const MOST_SETS: usize = 1000;

/// Returns the margin of a graph with at least one class.
pub fn margin(graph: &Graph<f64>) -> Margin {
    let flow = Flow::new(graph);
    let mut tight: Vec<usize> = (0..graph.arrival_rates.len()).collect();
    let mut factor = flow.ratio(&tight);
    let mut sent = flow.greatest(factor);
    for _ in 0..MOST_SETS {
        let Some(behind) = flow.behind(&sent, factor) else {
            break;
        };
        let ratio = flow.ratio(&behind);
        // What is left of rounding alone is no smaller ratio.
        if ratio >= factor {
            break;
        }
        (tight, factor) = (behind, ratio);
        sent = flow.greatest(factor);
    }
    Margin {
        factor,
        routing: flow.routing(&sent),
        tight,
    }
}

/// Source → class → server → sink.
struct Flow<'a> {
    graph: &'a Graph<f64>,
    /// Each class with each of its servers.
    edges: Vec<(usize, usize)>,
}

impl<'a> Flow<'a> {
    fn new(graph: &'a Graph<f64>) -> Self {
        let classes = graph.servers.iter().enumerate();
        let edges = classes.flat_map(|(i, own)| own.iter().map(move |s| (i, *s)));
        let edges = edges.collect();
        Flow { graph, edges }
    }

    /// Returns `μ(A)/λ(A)`.
    fn ratio(&self, classes: &[usize]) -> f64 {
        let graph = self.graph;
        let used = classes.iter().flat_map(|i| &graph.servers[*i]);
        let used: BTreeSet<&usize> = used.collect();
        let served: f64 = used.into_iter().map(|s| graph.service_rates[*s]).sum();
        let arriving: f64 = classes.iter().map(|i| graph.arrival_rates[*i]).sum();
        served / arriving
    }

    /// Returns what each edge carries of the greatest flow, if arrivals are times θ: edges from the source to classes, from classes
    /// to servers, from servers to the sink.
    fn greatest(&self, factor: f64) -> Vec<f64> {
        let (service_rates, arrival_rates) = (&self.graph.service_rates, &self.graph.arrival_rates);
        let mut network: DiGraph<(), f64> = DiGraph::new();
        let [source, sink] = [(); 2].map(|()| network.add_node(()));
        let classes: Vec<NodeIndex> = arrival_rates.iter().map(|_| network.add_node(())).collect();
        let places: Vec<NodeIndex> = service_rates.iter().map(|_| network.add_node(())).collect();
        for (class, rate) in classes.iter().zip(arrival_rates) {
            network.add_edge(source, *class, factor * rate);
        }
        for (i, s) in &self.edges {
            network.add_edge(classes[*i], places[*s], factor * arrival_rates[*i]);
        }
        for (place, rate) in places.iter().zip(service_rates) {
            network.add_edge(*place, sink, *rate);
        }
        dinics(&network, source, sink).1
    }

    /// Returns classes, each with one of its servers, and what is sent there.
    fn carried(&self, sent: &[f64]) -> impl Iterator<Item = (usize, usize, f64)> {
        let sent = &sent[self.graph.servers.len()..];
        let edges = self.edges.iter().zip(sent);
        edges.map(|(&(i, s), sent)| (i, s, *sent))
    }

    /// Returns classes of which the flow leaves something behind, and those that compete with them for servers; none where it takes
    /// all.
    fn behind(&self, sent: &[f64], factor: f64) -> Option<Vec<usize>> {
        let (servers, rates) = (&self.graph.servers, &self.graph.arrival_rates);
        let count = servers.len();
        let mut reached: Vec<bool> = (0..count)
            .map(|i| sent[i] < factor * rates[i] * (1.0 - ROUNDING))
            .collect();
        let mut queue: Vec<usize> = (0..count).filter(|i| reached[*i]).collect();
        if queue.is_empty() {
            return None;
        }
        // A server that is reached can give way to others what it gets from a class.
        let mut users: Vec<Vec<usize>> = vec![Vec::new(); self.graph.service_rates.len()];
        for (i, s, sent) in self.carried(sent) {
            if sent > ROUNDING * factor * rates[i] {
                users[s].push(i);
            }
        }
        while let Some(i) = queue.pop() {
            for s in &servers[i] {
                for user in std::mem::take(&mut users[*s]) {
                    if !std::mem::replace(&mut reached[user], true) {
                        queue.push(user);
                    }
                }
            }
        }
        Some((0..count).filter(|i| reached[*i]).collect())
    }

    /// Returns what is sent where, as fractions of each class.
    fn routing(&self, sent: &[f64]) -> Vec<Vec<(usize, f64)>> {
        let mut routing = vec![Vec::new(); self.graph.servers.len()];
        for (i, s, sent) in self.carried(sent).filter(|own| own.2 > 0.0) {
            routing[i].push((s, sent));
        }
        for parts in &mut routing {
            let all: f64 = parts.iter().map(|own| own.1).sum();
            parts.iter_mut().for_each(|own| own.1 /= all);
        }
        routing
    }
}
