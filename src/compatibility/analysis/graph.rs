use num_traits::Num;

use super::sets::{by_classes, by_servers};

/// Which classes may run where, with the rates of both.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph<N> {
    /// μ_s (S): positive \[jobs/time\].
    pub service_rates: Vec<N>,
    /// λ_i (K): positive \[jobs/time\].
    pub arrival_rates: Vec<N>,
    /// S_i (K): the servers of each class, none of them twice, at least one.
    pub servers: Vec<Vec<usize>>,
}

/// Over which sets a sum is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recursion {
    /// Of servers: 2^S steps.
    Servers,
    /// Of classes: 2^K steps (V. Shah, G. de Veciana: High-performance centralized content delivery infrastructure.
    /// IEEE/ACM Transactions on Networking 23(5), 2015, theorem 4).
    Classes,
}

/// Why there are no exact means: a part of the graph has too many servers and classes for either recursion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no exact method is known for {servers} servers and {classes} classes that hang together and are all unlike: at most {MOST} of either"
)]
pub struct TooLarge {
    /// Servers of it that differ.
    pub servers: usize,
    /// Classes of it that differ.
    pub classes: usize,
}

/// Sets of so many are gone through: some seconds, and some hundred megabytes.
const MOST: usize = 22;

/// Means under balanced fairness.
#[derive(Clone, Debug, PartialEq)]
pub struct Fair<N> {
    /// `E[x_i]` (K).
    pub numbers: Vec<N>,
    /// Part of the time that each server (S) has no job that it may serve.
    pub idle: Vec<N>,
    /// The recursions that were taken for the parts of the graph.
    pub by: Vec<Recursion>,
}

/// Means under balanced fairness, for a graph that is stable.
///
/// Parts of the graph that do not hang together are apart; servers of the same classes are one, and classes of the same
/// servers. For each part the cheaper recursion is taken, or the one that is given.
///
/// # Errors
/// When both recursions are too large.
pub fn fair<N: Num + Clone>(
    graph: &Graph<N>,
    recursion: Option<Recursion>,
) -> Result<Fair<N>, TooLarge> {
    let mut means = Fair {
        numbers: vec![N::zero(); graph.arrival_rates.len()],
        idle: vec![N::one(); graph.service_rates.len()],
        by: Vec::new(),
    };
    for classes in parts(&graph.servers) {
        let part = graph.reduced(&classes);
        let size = |recursion| match recursion {
            Recursion::Servers => part.graph.service_rates.len(),
            Recursion::Classes => part.graph.arrival_rates.len(),
        };
        let cheaper = if size(Recursion::Servers) <= size(Recursion::Classes) {
            Recursion::Servers
        } else {
            Recursion::Classes
        };
        let recursion = recursion.unwrap_or(cheaper);
        if size(recursion) > MOST {
            return Err(TooLarge {
                servers: size(Recursion::Servers),
                classes: size(Recursion::Classes),
            });
        }
        let (numbers, idle) = match recursion {
            Recursion::Servers => by_servers(&part.graph),
            Recursion::Classes => by_classes(&part.graph),
        };
        for (i, group) in classes.into_iter().zip(part.groups) {
            let share = graph.arrival_rates[i].clone() / part.graph.arrival_rates[group].clone();
            means.numbers[i] = numbers[group].clone() * share;
        }
        for (s, place) in part.places {
            means.idle[s] = idle[place].clone();
        }
        means.by.push(recursion);
    }
    Ok(means)
}

/// A part of a graph in which nothing is alike.
struct Part<N> {
    graph: Graph<N>,
    /// For each class of the part the one that it belongs to.
    groups: Vec<usize>,
    /// For each server of the part the one that it belongs to.
    places: Vec<(usize, usize)>,
}

impl<N: Num + Clone> Graph<N> {
    /// These classes and their servers, with what is alike as one.
    fn reduced(&self, classes: &[usize]) -> Part<N> {
        let mut kinds: Vec<Vec<usize>> = Vec::new();
        let mut arrival_rates: Vec<N> = Vec::new();
        let mut groups = Vec::new();
        for &i in classes {
            let mut own = self.servers[i].clone();
            own.sort_unstable();
            let group = kinds
                .iter()
                .position(|kind| *kind == own)
                .unwrap_or_else(|| {
                    kinds.push(own);
                    arrival_rates.push(N::zero());
                    kinds.len() - 1
                });
            arrival_rates[group] = arrival_rates[group].clone() + self.arrival_rates[i].clone();
            groups.push(group);
        }
        let mut users: Vec<Vec<usize>> = Vec::new();
        let mut service_rates: Vec<N> = Vec::new();
        let mut places = Vec::new();
        for (s, rate) in self.service_rates.iter().enumerate() {
            let own = (0..kinds.len()).filter(|k| kinds[*k].contains(&s));
            let own: Vec<usize> = own.collect();
            if own.is_empty() {
                continue;
            }
            let place = users
                .iter()
                .position(|users| *users == own)
                .unwrap_or_else(|| {
                    users.push(own);
                    service_rates.push(N::zero());
                    users.len() - 1
                });
            service_rates[place] = service_rates[place].clone() + rate.clone();
            places.push((s, place));
        }
        let servers = (0..kinds.len()).map(|k| {
            let own = (0..users.len()).filter(|s| users[*s].contains(&k));
            own.collect()
        });
        Part {
            graph: Graph {
                servers: servers.collect(),
                service_rates,
                arrival_rates,
            },
            groups,
            places,
        }
    }
}

/// Classes that hang together by servers that they share.
fn parts(servers: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let most = servers.iter().flatten().max().map_or(0, |s| s + 1);
    let mut sets = petgraph::unionfind::UnionFind::new(most);
    for own in servers {
        own.windows(2).for_each(|pair| {
            sets.union(pair[0], pair[1]);
        });
    }
    let mut parts: Vec<(usize, Vec<usize>)> = Vec::new();
    for (i, own) in servers.iter().enumerate() {
        let root = sets.find(own[0]);
        match parts.iter_mut().find(|(other, _)| *other == root) {
            Some((_, classes)) => classes.push(i),
            None => parts.push((root, vec![i])),
        }
    }
    parts.into_iter().map(|(_, classes)| classes).collect()
}
