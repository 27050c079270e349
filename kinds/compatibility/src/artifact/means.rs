//! Computes the means under balanced fairness again, with the formulas of the literature. If both
//! recursions are possible, it uses the one that was not used before.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use crate::workload::Cluster;

/// `E[x_i]` for each class, or for all jobs if the servers are drawn, and the utilizations.
pub(super) struct Means {
    pub numbers: Vec<f64>,
    pub busy: Vec<f64>,
}

/// The maximum number of set members, which is smaller for the more expensive recursion.
const MOST: usize = 22;
const MOST_OF_DEARER: usize = 14;

pub(super) fn means(cluster: &Cluster) -> Option<Means> {
    let (rates, arriving) = (cluster.service_rates(), cluster.arrival_rates());
    if let Some(assignment) = cluster.assignment() {
        return Some(Means {
            numbers: vec![drawn(&rates, assignment.random.degree, arriving[0])],
            busy: vec![arriving[0] / rates.iter().sum::<f64>(); rates.len()],
        });
    }
    let mut means = Means {
        numbers: vec![0.0; arriving.len()],
        busy: vec![0.0; rates.len()],
    };
    let own = cluster.classes().iter().map(|class| &*class.servers);
    let own: Vec<&[usize]> = own.collect();
    for part in parts(&own) {
        Part::new(&part, &own, &arriving, &rates)?.fill(&mut means)?;
    }
    Some(means)
}

/// Returns `E[x] = λ D/G` if each job uses `degree` random servers. The recursion over the number
/// of servers, `D(n)/G(n) = share/free + D(n−1)/G(n−1)`, avoids `G`, which would overflow.
fn drawn(rates: &[f64], degree: u32, arriving: f64) -> f64 {
    let count = rates.len() as u32;
    let share = |n: u32| -> f64 {
        let factors = (0..degree).map(f64::from);
        let factors = factors.map(|k| (f64::from(n) - k) / (f64::from(count) - k));
        factors.product()
    };
    (degree..=count)
        .map(|n| arriving * share(n) / (f64::from(n) * rates[0] - arriving * share(n)))
        .sum()
}

fn parts(own: &[&[usize]]) -> Vec<Vec<usize>> {
    let mut left: Vec<usize> = (0..own.len()).collect();
    let mut parts = Vec::new();
    while let Some(first) = left.pop() {
        let mut part = vec![first];
        let mut next = 0;
        while let Some(&i) = part.get(next) {
            let (near, far): (Vec<usize>, Vec<usize>) = left
                .iter()
                .partition(|j| own[**j].iter().any(|s| own[i].contains(s)));
            part.extend(near);
            left = far;
            next += 1;
        }
        part.sort_unstable();
        parts.push(part);
    }
    parts
}

struct Part {
    classes: Vec<Vec<(usize, f64)>>,
    arriving: Vec<f64>,
    servers: Vec<Vec<usize>>,
    serving: Vec<f64>,
    users: Vec<usize>,
}

impl Part {
    fn new(part: &[usize], own: &[&[usize]], arriving: &[f64], rates: &[f64]) -> Option<Self> {
        let mut groups: BTreeMap<&[usize], Vec<usize>> = BTreeMap::new();
        for &i in part {
            groups.entry(own[i]).or_default().push(i);
        }
        if groups.len() >= usize::BITS as usize {
            return None;
        }
        let total = |members: &Vec<usize>| members.iter().map(|i| arriving[*i]).sum::<f64>();
        let share = |all: f64| move |i: &usize| (*i, arriving[*i] / all);
        let shares = |own: &Vec<usize>| own.iter().map(share(total(own))).collect();
        let mut places: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for s in 0..rates.len() {
            let uses = groups.keys().enumerate();
            let uses = uses.filter(|(_, own)| own.contains(&s));
            let users = uses.fold(0, |set, (k, _)| set | 1 << k);
            places.entry(users).or_default().push(s);
        }
        places.remove(&0);
        let rate = |own: &Vec<usize>| own.iter().map(|s| rates[*s]).sum();
        Some(Part {
            classes: groups.values().map(shares).collect(),
            arriving: groups.values().map(total).collect(),
            serving: places.values().map(rate).collect(),
            users: places.keys().copied().collect(),
            servers: places.into_values().collect(),
        })
    }

    fn fill(&self, means: &mut Means) -> Option<()> {
        let (servers, classes) = (self.servers.len(), self.classes.len());
        if servers.min(classes) > MOST {
            return None;
        }
        let dearer = servers.max(classes) <= MOST_OF_DEARER;
        let (numbers, idle) = match classes.cmp(&servers) {
            Ordering::Greater if dearer => self.by_classes(),
            Ordering::Less if !dearer => self.by_classes(),
            _ => self.by_servers(),
        };
        for (members, number) in self.classes.iter().zip(numbers) {
            for (i, share) in members {
                means.numbers[*i] = share * number;
            }
        }
        for (members, idle) in self.servers.iter().zip(idle) {
            members.iter().for_each(|s| means.busy[*s] = 1.0 - idle);
        }
        Some(())
    }

    /// Computes `E[x_i] = λ_i D_i/G` for the set of all servers, where
    /// `D_i(T) = [G(T) 1{S_i ⊆ T} + Σ_s μ_s D_i(T∖s)] / (μ(T) − λ(T))`.
    fn by_servers(&self) -> (Vec<f64>, Vec<f64>) {
        let (serving, count) = (&self.serving, self.servers.len());
        let own = |k: usize| {
            let uses = (0..count).filter(|s| self.users[*s] & 1 << k != 0);
            uses.fold(0, |set, s| set | 1 << s)
        };
        let sets: Vec<usize> = (0..self.classes.len()).map(own).collect();
        let all = (1usize << count) - 1;
        let free = |set: usize| {
            let within = sets.iter().zip(&self.arriving);
            let within = within.filter(|(own, _)| **own & !set == 0);
            let busy = members(set).map(|s| serving[s]).sum::<f64>();
            busy - within.map(|(_, rate)| rate).sum::<f64>()
        };
        let free: Vec<f64> = (0..=all).map(free).collect();
        let sums = recur(serving, &free, 1.0, |_| Some(0.0));
        let number = |k: usize| {
            let own = |set: usize| Some(if sets[k] & !set == 0 { sums[set] } else { 0.0 });
            let moments = recur(serving, &free, 0.0, own);
            self.arriving[k] * moments[all] / sums[all]
        };
        let idle = (0..count).map(|s| sums[all & !(1 << s)] / sums[all]);
        ((0..sets.len()).map(number).collect(), idle.collect())
    }

    /// Computes `L_i(A) = [λ_i (π(A) + π(A∖i)) + Σ_{j≠i} λ_j L_i(A∖j)] / (μ(A) − λ(A))`. Then
    /// `E[x_i] = Σ_A L_i(A) / Σ_A π(A)`.
    fn by_classes(&self) -> (Vec<f64>, Vec<f64>) {
        let (arriving, count) = (&self.arriving, self.classes.len());
        let free = |set: usize| {
            let used = self.users.iter().zip(&self.serving);
            let used = used.filter(|(users, _)| **users & set != 0);
            let busy = used.map(|(_, rate)| rate).sum::<f64>();
            busy - members(set).map(|k| arriving[k]).sum::<f64>()
        };
        let free: Vec<f64> = (0..1usize << count).map(free).collect();
        let masses = recur(arriving, &free, 1.0, |_| Some(0.0));
        let sum: f64 = masses.iter().sum();
        let number = |i: usize| {
            let own = |set: usize| {
                let with = set & 1 << i != 0;
                with.then(|| arriving[i] * (masses[set] + masses[set & !(1 << i)]))
            };
            recur(arriving, &free, 0.0, own).iter().sum::<f64>() / sum
        };
        let idle = self.users.iter().map(|users| {
            let without = (0..masses.len()).filter(|set| set & users == 0);
            without.map(|set| masses[set]).sum::<f64>() / sum
        });
        ((0..count).map(number).collect(), idle.collect())
    }
}

/// Computes `x(A) = [own(A) + Σ_{i∈A} r_i x(A∖i)] / free(A)` from `x(∅)`, or 0 without `own(A)`.
fn recur(rates: &[f64], free: &[f64], first: f64, own: impl Fn(usize) -> Option<f64>) -> Vec<f64> {
    let mut values = vec![0.0; free.len()];
    values[0] = first;
    for set in 1..values.len() {
        if let Some(own) = own(set) {
            let smaller = members(set).map(|i| rates[i] * values[set & !(1 << i)]);
            values[set] = (own + smaller.sum::<f64>()) / free[set];
        }
    }
    values
}

fn members(set: usize) -> impl Iterator<Item = usize> {
    let rest = std::iter::successors(Some(set), |left| Some(left & left.wrapping_sub(1)));
    let rest = rest.take_while(|left| *left != 0);
    rest.map(|left| left.trailing_zeros() as usize)
}
