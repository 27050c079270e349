//! The stability margin `θ*` is the minimum of `μ(A)/λ(A)` over all sets `A` of classes.
//!
//! Arrival rates multiplied by θ can be sustained if and only if a flow sends all jobs to
//! compatible servers. Otherwise, a smaller θ is computed from the classes that are not fully
//! served and their competitors (W. Dinkelbach, Management Science 13(7), 1967).

use std::collections::BTreeSet;

use petgraph::algo::dinics;
use petgraph::graph::{DiGraph, NodeIndex};

use super::Graph;

/// The stability margin, together with a proof.
#[derive(Clone, Debug, PartialEq)]
pub struct Margin {
    /// The system is stable if and only if the arrival rates are multiplied by less than this `θ*`.
    pub factor: f64,
    /// A set `A` of classes, in ascending order, for which `μ(A) = θ* λ(A)`.
    pub tight: Vec<usize>,
    /// For each class (K), the fraction of its jobs for each server. No load is above `1/θ*`.
    pub routing: Vec<Vec<(usize, f64)>>,
}

/// A class is fully served if the flow sends all but this fraction of its jobs.
const ROUNDING: f64 = 1e-12;

/// The maximum number of sets, each with a smaller ratio. Even ten are rarely needed.
const MOST_SETS: usize = 1000;

/// Computes the stability margin of a graph. The graph must have at least one class.
pub fn margin(graph: &Graph<f64>) -> Margin {
    let classes = graph.servers.iter().enumerate();
    let edges = classes.flat_map(|(i, own)| own.iter().map(move |s| (i, *s)));
    let edges = edges.collect();
    let flow = Flow { graph, edges };
    let mut tight: Vec<usize> = (0..graph.arrival_rates.len()).collect();
    let mut factor = flow.ratio(&tight);
    let mut sent = flow.maximum(factor);
    for _ in 0..MOST_SETS {
        let Some(behind) = flow.unserved_classes(&sent, factor) else {
            break;
        };
        let ratio = flow.ratio(&behind);
        // If only a rounding error is not served, the ratio is not smaller.
        if ratio >= factor {
            break;
        }
        (tight, factor) = (behind, ratio);
        sent = flow.maximum(factor);
    }
    Margin {
        factor,
        routing: flow.routing(&sent),
        tight,
    }
}

struct Flow<'a> {
    graph: &'a Graph<f64>,
    edges: Vec<(usize, usize)>,
}

impl Flow<'_> {
    fn ratio(&self, classes: &[usize]) -> f64 {
        let graph = self.graph;
        let used = classes.iter().flat_map(|i| &graph.servers[*i]);
        let used: BTreeSet<&usize> = used.collect();
        let served: f64 = used.into_iter().map(|s| graph.service_rates[*s]).sum();
        let arriving: f64 = classes.iter().map(|i| graph.arrival_rates[*i]).sum();
        served / arriving
    }

    /// Returns the maximum flow if the arrival rates are multiplied by `factor`: on the edges from
    /// the source to the classes, then to the servers, and then to the sink.
    fn maximum(&self, factor: f64) -> Vec<f64> {
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

    fn carried(&self, sent: &[f64]) -> impl Iterator<Item = (usize, usize, f64)> {
        let sent = &sent[self.graph.servers.len()..];
        let edges = self.edges.iter().zip(sent);
        edges.map(|(&(i, s), sent)| (i, s, *sent))
    }

    /// Returns the classes that are not fully served and their competitors, or `None`.
    fn unserved_classes(&self, sent: &[f64], factor: f64) -> Option<Vec<usize>> {
        let (servers, rates) = (&self.graph.servers, &self.graph.arrival_rates);
        let count = servers.len();
        let is_behind = |i: usize| sent[i] < factor * rates[i] * (1.0 - ROUNDING);
        let mut reached: Vec<bool> = (0..count).map(is_behind).collect();
        let mut queue: Vec<usize> = (0..count).filter(|i| reached[*i]).collect();
        if queue.is_empty() {
            return None;
        }
        // If a server is reached, the flow of its other classes can be moved to different servers.
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
