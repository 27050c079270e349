use num_traits::Num;

/// The type of the sets that the recursion uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recursion {
    /// All sets of servers, which requires 2^S steps.
    Servers,
    /// All sets of classes, which requires 2^K steps (V. Shah, G. de Veciana, IEEE/ACM Transactions
    /// on Networking 23(5), 2015, theorem 4).
    Classes,
}

/// The maximum size of the full set, which takes seconds and a few hundred megabytes.
const MOST: usize = 22;

/// The mean values under balanced fairness.
#[derive(Clone, Debug, PartialEq)]
pub struct FairMeans<N> {
    /// `E[x_i]` (K).
    pub numbers: Vec<N>,
    /// The fraction of time for which each server is idle (S).
    pub idle: Vec<N>,
    /// The recursion that is used for each connected component.
    pub by: Vec<Recursion>,
}

/// Computes the means for a stable graph. In each of its independent connected components,
/// identical servers and identical classes are merged, and `recursion` or the one with fewer sets
/// is used.
///
/// # Errors
/// Returns an error if the number of sets is too large for both recursions, or for the given one.
pub fn fair<N: Num + Clone>(
    graph: &Graph<N>,
    recursion: Option<Recursion>,
) -> Result<FairMeans<N>, String> {
    let mut means = FairMeans {
        numbers: vec![N::zero(); graph.arrival_rates.len()],
        idle: vec![N::one(); graph.service_rates.len()],
        by: Vec::new(),
    };
    for classes in parts(&graph.servers) {
        let (part, group_of_class, place_of_server) = graph.reduced(&classes);
        let (servers, groups) = (part.service_rates.len(), part.arrival_rates.len());
        let recursion = recursion.unwrap_or(match servers <= groups {
            true => Recursion::Servers,
            false => Recursion::Classes,
        });
        let (numbers, idle) = match recursion {
            Recursion::Servers if servers <= MOST => by_servers(&part),
            Recursion::Classes if groups <= MOST => by_classes(&part),
            _ => {
                return Err(format!(
                    "there is no exact method for {servers} distinct servers and {groups} distinct classes in one connected part of the graph: at most {MOST} of either are supported"
                ));
            }
        };
        for (i, group) in classes.into_iter().zip(group_of_class) {
            let share = graph.arrival_rates[i].clone() / part.arrival_rates[group].clone();
            means.numbers[i] = numbers[group].clone() * share;
        }
        for (s, place) in place_of_server {
            means.idle[s] = idle[place].clone();
        }
        means.by.push(recursion);
    }
    Ok(means)
}

impl<N: Num + Clone> Graph<N> {
    /// Returns a connected component, in which identical classes and identical servers are merged,
    /// the index in it of each of the `classes`, and each of their servers with its index.
    fn reduced(&self, classes: &[usize]) -> (Graph<N>, Vec<usize>, Vec<(usize, usize)>) {
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
        let (users, service_rates, places) = grouped(used.clone().map(of_server));
        let servers_of = |k: usize| {
            let own = (0..users.len()).filter(|s| users[*s].contains(&k));
            own.collect()
        };
        let graph = Graph {
            servers: (0..kinds.len()).map(servers_of).collect(),
            service_rates,
            arrival_rates,
        };
        (graph, groups, used.zip(places).collect())
    }
}

/// Merges members with the same key, and returns the keys, the sum of the rates for each key, and
/// the index of the key of each member.
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

fn parts(servers: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let most = servers.iter().flatten().max().map_or(0, |s| s + 1);
    let mut sets = petgraph::unionfind::UnionFind::new(most);
    for pair in servers.iter().flat_map(|own| own.windows(2)) {
        sets.union(pair[0], pair[1]);
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

/// A compatibility graph, with the rate of each class and of each server.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph<N> {
    /// The service rates `μ_s` (S) \[jobs/time\], which must be positive.
    pub service_rates: Vec<N>,
    /// The arrival rates `λ_i` (K) \[jobs/time\], which must be positive.
    pub arrival_rates: Vec<N>,
    /// The servers `S_i` of each class (K), which must be distinct. There must be at least one.
    pub servers: Vec<Vec<usize>>,
}

/// Returns, for each set, the sum of all its subsets or supersets, including itself.
fn summed<N: Num + Clone>(mut values: Vec<N>, supersets: bool) -> Vec<N> {
    for bit in (0..values.len().trailing_zeros()).map(|k| 1 << k) {
        for set in (0..values.len()).filter(|set| (set & bit == 0) == supersets) {
            values[set] = values[set].clone() + values[set ^ bit].clone();
        }
    }
    values
}

fn sums_of<N: Num + Clone>(n: usize, sets: impl Iterator<Item = usize>, values: &[N]) -> Vec<N> {
    let mut at = vec![N::zero(); 1 << n];
    for (set, value) in sets.zip(values) {
        at[set] = at[set].clone() + value.clone();
    }
    summed(at, false)
}

/// Computes `G(∅) = 1`, `G(T) = Σ_{s∈T} r_s G(T∖s) / free(T)`.
fn forward<N: Num + Clone>(rates: &[N], free: &[N]) -> Vec<N> {
    let mut sums = vec![N::one(); free.len()];
    for set in 1..sums.len() {
        let members = (0..rates.len()).filter(|s| set & 1 << s != 0);
        let parts = members.map(|s| rates[s].clone() * sums[set ^ 1 << s].clone());
        sums[set] = total(parts) / free[set].clone();
    }
    sums
}

/// Computes the derivative of the weighted sum of `G` over all sets with respect to each `G(T)`.
fn backward<N: Num + Clone>(rates: &[N], free: &[N], weight: impl Fn(usize) -> N) -> Vec<N> {
    let mut changes: Vec<N> = (0..free.len()).map(weight).collect();
    for set in (0..free.len()).rev() {
        let larger = (0..rates.len()).filter(|s| set & 1 << s == 0);
        let parts = larger.map(|s| {
            let larger = set | 1 << s;
            changes[larger].clone() * rates[s].clone() / free[larger].clone()
        });
        changes[set] = changes[set].clone() + total(parts);
    }
    changes
}

/// Computes `E[x_i]` and the fraction of time for which each server is idle, in time `O(2^S S)`:
/// `G(T) = Σ_{s∈T} μ_s G(T∖s) / (μ(T) − λ(T))`, where `T` is a set of servers, and `λ(T)` is the
/// arrival rate of the classes that can only use `T`.
fn by_servers<N: Num + Clone>(graph: &Graph<N>) -> (Vec<N>, Vec<N>) {
    let (rates, count) = (&graph.service_rates, graph.service_rates.len());
    let set_of = |servers: &Vec<usize>| servers.iter().fold(0, |set, s| set | 1 << s);
    let classes = graph.servers.iter().map(set_of);
    let arriving = sums_of(count, classes.clone(), &graph.arrival_rates);
    let serving = sums_of(count, (0..count).map(|s| 1 << s), rates);
    let free = differences(serving, arriving);
    let sums = forward(rates, &free);
    let all = sums.len() - 1;
    let is_all = |set| if set == all { N::one() } else { N::zero() };
    let weights = backward(rates, &free, is_all);
    let own = |set: usize| match set {
        0 => N::zero(),
        _ => weights[set].clone() * sums[set].clone() / free[set].clone(),
    };
    let changes = summed((0..sums.len()).map(own).collect(), true);
    let pairs = classes.zip(&graph.arrival_rates);
    let numbers = pairs.map(|(set, rate)| rate.clone() * changes[set].clone() / sums[all].clone());
    let idle = (0..count).map(|s| sums[all ^ 1 << s].clone() / sums[all].clone());
    (numbers.collect(), idle.collect())
}

/// Computes the same as [`by_servers`] over the sets of active classes, in time `O(2^K K)`:
/// `π(A) = Σ_{i∈A} λ_i π(A∖i) / (μ(A) − λ(A))`.
fn by_classes<N: Num + Clone>(graph: &Graph<N>) -> (Vec<N>, Vec<N>) {
    let (rates, count) = (&graph.arrival_rates, graph.arrival_rates.len());
    let all = (1 << count) - 1;
    // A server that `A` cannot use has only users that are not in `A`.
    let users = |s: usize| {
        let users = (0..count).filter(|i| graph.servers[*i].contains(&s));
        users.fold(0, |set, i| set | 1 << i)
    };
    let servers = 0..graph.service_rates.len();
    let unused = sums_of(count, servers.clone().map(users), &graph.service_rates);
    let used = |set: usize| unused[all].clone() - unused[all ^ set].clone();
    let arriving = sums_of(count, (0..count).map(|i| 1 << i), rates);
    let free = differences((0..=all).map(used).collect(), arriving);
    let masses = forward(rates, &free);
    let weights = backward(rates, &free, |_| N::one());
    let sum = total(masses.iter().cloned());
    let number = |i: usize| {
        let with = (1..masses.len()).filter(|set| set & 1 << i != 0);
        let changes = with.map(|set| {
            let both = masses[set].clone() + masses[set ^ 1 << i].clone();
            weights[set].clone() * both / free[set].clone()
        });
        rates[i].clone() * total(changes) / sum.clone()
    };
    let idle = servers.map(|s| {
        let own = users(s);
        let without = (0..=all).filter(|set| set & own == 0);
        total(without.map(|set| masses[set].clone())) / sum.clone()
    });
    ((0..count).map(number).collect(), idle.collect())
}

fn total<N: Num + Clone>(parts: impl Iterator<Item = N>) -> N {
    parts.fold(N::zero(), |sum, part| sum + part)
}

fn differences<N: Num + Clone>(a: Vec<N>, b: Vec<N>) -> Vec<N> {
    a.into_iter().zip(b).map(|(a, b)| a - b).collect()
}
