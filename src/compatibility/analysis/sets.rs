//! Sums over sets, and the two recursions over them.

use num_traits::Num;

use super::Graph;

/// By set: the sum of what its subsets have, itself included.
pub(super) fn over_subsets<N: Num + Clone>(mut values: Vec<N>) -> Vec<N> {
    for bit in bits(values.len()) {
        for set in 0..values.len() {
            if set & bit != 0 {
                values[set] = values[set].clone() + values[set ^ bit].clone();
            }
        }
    }
    values
}

/// By set: the sum of what its supersets have, itself included.
pub(super) fn over_supersets<N: Num + Clone>(mut values: Vec<N>) -> Vec<N> {
    for bit in bits(values.len()) {
        for set in 0..values.len() {
            if set & bit == 0 {
                values[set] = values[set].clone() + values[set | bit].clone();
            }
        }
    }
    values
}

fn bits(sets: usize) -> impl Iterator<Item = usize> {
    (0..sets.trailing_zeros()).map(|k| 1 << k)
}

fn set_of(members: &[usize]) -> usize {
    members.iter().fold(0, |set, k| set | 1 << k)
}

/// What a set holds at each of these places.
fn at_sets<N: Num + Clone>(count: usize, pairs: impl Iterator<Item = (usize, N)>) -> Vec<N> {
    let mut values = vec![N::zero(); 1 << count];
    for (set, value) in pairs {
        values[set] = values[set].clone() + value;
    }
    values
}

/// `E[x_i]` (K), and how long each server (S) is idle, by the sets T of servers beside which all are idle: `G(T) = Σ_{s∈T} μ_s G(T∖s) / (μ(T) − λ(T))`, λ(T) of
/// the classes that T alone may serve. O(2^S S), for any number of classes.
pub(super) fn by_servers<N: Num + Clone>(graph: &Graph<N>) -> (Vec<N>, Vec<N>) {
    let (rates, count) = (&graph.service_rates, graph.service_rates.len());
    let classes = graph.servers.iter().map(|servers| set_of(servers));
    let arrivals = classes.clone().zip(graph.arrival_rates.iter().cloned());
    let arriving = over_subsets(at_sets(count, arrivals));
    let serving = at_sets(
        count,
        rates
            .iter()
            .enumerate()
            .map(|(s, rate)| (1 << s, rate.clone())),
    );
    let free = differences(over_subsets(serving), arriving);
    let mut sums = vec![N::one(); 1 << count];
    for set in 1..sums.len() {
        let parts = (0..count).filter(|s| set & 1 << s != 0);
        let parts = parts.map(|s| rates[s].clone() * sums[set ^ 1 << s].clone());
        sums[set] = total(parts) / free[set].clone();
    }
    // How G(all) changes with each G(T).
    let all = sums.len() - 1;
    let mut weights = vec![N::zero(); sums.len()];
    weights[all] = N::one();
    for set in (0..all).rev() {
        let larger = (0..count).filter(|s| set & 1 << s == 0);
        let parts = larger.map(|s| {
            let larger = set | 1 << s;
            weights[larger].clone() * rates[s].clone() / free[larger].clone()
        });
        weights[set] = total(parts);
    }
    let own = |set: usize| match set {
        0 => N::zero(),
        _ => weights[set].clone() * sums[set].clone() / free[set].clone(),
    };
    let changes = over_supersets((0..sums.len()).map(own).collect());
    let pairs = classes.zip(&graph.arrival_rates);
    let numbers = pairs.map(|(set, rate)| rate.clone() * changes[set].clone() / sums[all].clone());
    let idle = (0..count).map(|s| sums[all ^ 1 << s].clone() / sums[all].clone());
    (numbers.collect(), idle.collect())
}

/// `E[x_i]` (K), and how long each server (S) is idle, by the sets A of classes that have jobs: `π(A) = Σ_{i∈A} λ_i π(A∖i) / (μ(A) − λ(A))`. O(2^K K), for any
/// number of servers.
pub(super) fn by_classes<N: Num + Clone>(graph: &Graph<N>) -> (Vec<N>, Vec<N>) {
    let (rates, count) = (&graph.arrival_rates, graph.arrival_rates.len());
    let all = (1 << count) - 1;
    // What A may not use serves only classes outside of it.
    let users = |s: usize| {
        let users = graph.servers.iter().enumerate();
        let users = users.filter(|(_, servers)| servers.contains(&s));
        users.fold(0, |set, (i, _)| set | 1 << i)
    };
    let serving = graph.service_rates.iter().enumerate();
    let unused = over_subsets(at_sets(
        count,
        serving.map(|(s, rate)| (users(s), rate.clone())),
    ));
    let used = |set: usize| unused[all].clone() - unused[all ^ set].clone();
    let arrivals = rates
        .iter()
        .enumerate()
        .map(|(i, rate)| (1 << i, rate.clone()));
    let arriving = over_subsets(at_sets(count, arrivals));
    let free = differences((0..=all).map(used).collect(), arriving);
    let mut masses = vec![N::one(); 1 << count];
    for set in 1..masses.len() {
        let parts = (0..count).filter(|i| set & 1 << i != 0);
        let parts = parts.map(|i| rates[i].clone() * masses[set ^ 1 << i].clone());
        masses[set] = total(parts) / free[set].clone();
    }
    // How their sum changes with each of them.
    let mut weights = vec![N::one(); masses.len()];
    for set in (0..all).rev() {
        let larger = (0..count).filter(|i| set & 1 << i == 0);
        let parts = larger.map(|i| {
            let larger = set | 1 << i;
            weights[larger].clone() * rates[i].clone() / free[larger].clone()
        });
        weights[set] = N::one() + total(parts);
    }
    let sum = total(masses.iter().cloned());
    let number = |i: usize| {
        let with = (1..masses.len()).filter(|set| set & 1 << i != 0);
        let changes = with.map(|set| {
            let both = masses[set].clone() + masses[set ^ 1 << i].clone();
            weights[set].clone() * both / free[set].clone()
        });
        rates[i].clone() * total(changes) / sum.clone()
    };
    let idle = (0..graph.service_rates.len()).map(|s| {
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
