use num_traits::Num;

use super::sets::{Graph, by_classes, by_servers};

/// Over which sets a sum is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recursion {
    /// Of servers: 2^S steps.
    Servers,
    /// Of classes: 2^K steps (V. Shah, G. de Veciana: High-performance centralized content delivery infrastructure.
    /// IEEE/ACM Transactions on Networking 23(5), 2015, theorem 4).
    Classes,
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
) -> Result<Fair<N>, String> {
    let mut means = Fair {
        numbers: vec![N::zero(); graph.arrival_rates.len()],
        idle: vec![N::one(); graph.service_rates.len()],
        by: Vec::new(),
    };
    for classes in parts(&graph.servers) {
        let part = graph.reduced(&classes);
        let servers = part.graph.service_rates.len();
        let groups = part.graph.arrival_rates.len();
        let cheaper = [Recursion::Servers, Recursion::Classes][usize::from(servers > groups)];
        let recursion = recursion.unwrap_or(cheaper);
        let (numbers, idle) = match recursion {
            Recursion::Servers if servers <= MOST => by_servers(&part.graph),
            Recursion::Classes if groups <= MOST => by_classes(&part.graph),
            _ => {
                return Err(format!(
                    "no exact method is known for {servers} servers and {groups} classes that hang together and are all unlike: at most {MOST} of either"
                ));
            }
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
        let of_class = |i: &usize| {
            let mut own = self.servers[*i].clone();
            own.sort_unstable();
            (own, self.arrival_rates[*i].clone())
        };
        let (kinds, arrival_rates, groups) = grouped(classes.iter().map(of_class));
        let of_server = |s: usize| {
            let own = (0..kinds.len()).filter(|k| kinds[*k].contains(&s));
            (own.collect::<Vec<_>>(), self.service_rates[s].clone())
        };
        let used = (0..self.service_rates.len()).filter(|s| kinds.iter().flatten().any(|k| k == s));
        let used: Vec<usize> = used.collect();
        let (users, service_rates, places) = grouped(used.iter().map(|s| of_server(*s)));
        let places = used.into_iter().zip(places).collect();
        let users = &users;
        let users_of = |k: usize| (0..users.len()).filter(move |s| users[*s].contains(&k));
        let graph = Graph {
            servers: (0..kinds.len()).map(|k| users_of(k).collect()).collect(),
            service_rates,
            arrival_rates,
        };
        Part {
            graph,
            groups,
            places,
        }
    }
}

/// Members with the same key as one: the keys, the sum of the rates of each, and the place of each member's key.
fn grouped<N: Num + Clone>(
    members: impl Iterator<Item = (Vec<usize>, N)>,
) -> (Vec<Vec<usize>>, Vec<N>, Vec<usize>) {
    let (mut keys, mut rates, mut places) = (Vec::new(), Vec::<N>::new(), Vec::new());
    for (key, rate) in members {
        let known = keys.iter().position(|known| *known == key);
        let place = known.unwrap_or_else(|| {
            keys.push(key);
            rates.push(N::zero());
            rates.len() - 1
        });
        rates[place] = rates[place].clone() + rate;
        places.push(place);
    }
    (keys, rates, places)
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
    let mut parts: Vec<Vec<usize>> = Vec::new();
    for (i, own) in servers.iter().enumerate() {
        let is_own = |part: &&mut Vec<usize>| sets.equiv(servers[part[0]][0], own[0]);
        match parts.iter_mut().find(is_own) {
            Some(part) => part.push(i),
            None => parts.push(vec![i]),
        }
    }
    parts
}
