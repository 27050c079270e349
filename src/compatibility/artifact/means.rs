//! Means under balanced fairness, derived once more for the checker: class by class, forward through the sets, as the
//! formulas stand in the literature; and where the maker could take either recursion, by the other one than it would.

use std::collections::BTreeMap;

use crate::compatibility::workload::{Cluster, Jobs};

/// What was derived.
pub(super) struct Means {
    /// `E[x_i]` (K), or of all jobs where servers are drawn.
    pub numbers: Vec<f64>,
    /// Part of the time that each server works (S).
    pub busy: Vec<f64>,
}

/// Sets of more than so many are not gone through; of the dearer recursion so many.
const MOST: usize = 22;
const MOST_OF_DEARER: usize = 14;

/// The means of a stable cluster; `None` where that is too much.
pub(super) fn means(cluster: &Cluster) -> Option<Means> {
    let rates = cluster.service_rates();
    match cluster.jobs() {
        Jobs::Random(random) => {
            let number = drawn(&rates, random.degree, random.arrival_rate.value());
            let load = random.arrival_rate.value() / rates.iter().sum::<f64>();
            Some(Means {
                numbers: vec![number],
                busy: vec![load; rates.len()],
            })
        }
        Jobs::Classes(classes) => {
            let mut means = Means {
                numbers: vec![0.0; classes.len()],
                busy: vec![0.0; rates.len()],
            };
            let own: Vec<&[usize]> = classes.iter().map(|c| c.servers.as_slice()).collect();
            let arriving = cluster.arrival_rates();
            for part in parts(&own) {
                let part = Part::new(&part, &own, &arriving, &rates);
                part.fill(&mut means)?;
            }
            Some(means)
        }
    }
}

/// `E[x]` where each job has so many of the servers, all alike. With n servers left G and λ D/G go as over sets; only
/// their number counts.
fn drawn(rates: &[f64], degree: u32, arriving: f64) -> f64 {
    let (count, degree) = (rates.len() as u32, u64::from(degree));
    let share = |n: u32| -> f64 {
        (0..degree)
            .map(|k| (f64::from(n) - k as f64) / (f64::from(count) - k as f64))
            .product()
    };
    // D/G alone, as G leaves the range of numbers: D(n)/G(n) = share/free + D(n−1)/G(n−1).
    (degree as u32..=count)
        .map(|n| arriving * share(n) / (f64::from(n) * rates[0] - arriving * share(n)))
        .sum()
}

/// Classes that share servers, directly or by way of others.
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

/// A part of the graph; classes of the same servers are one in it, and servers of the same classes.
struct Part {
    /// Members and arrival rate of each class.
    classes: Vec<(Vec<(usize, f64)>, f64)>,
    /// Members and rate of each server, and its classes as a set of bits.
    servers: Vec<(Vec<usize>, f64, u64)>,
}

impl Part {
    fn new(part: &[usize], own: &[&[usize]], arriving: &[f64], rates: &[f64]) -> Self {
        let mut groups: BTreeMap<&[usize], Vec<usize>> = BTreeMap::new();
        for &i in part {
            groups.entry(own[i]).or_default().push(i);
        }
        let total = |members: &[usize]| members.iter().map(|i| arriving[*i]).sum::<f64>();
        let classes = groups.values().map(|members| {
            let all = total(members);
            let shares = members.iter().map(|i| (*i, arriving[*i] / all));
            (shares.collect(), all)
        });
        let classes: Vec<(Vec<(usize, f64)>, f64)> = classes.collect();
        // Sets of bits: whoever has more than 64 groups is not gone through anyway.
        let users = |s: usize| {
            let uses = groups
                .keys()
                .enumerate()
                .filter(|(_, own)| own.contains(&s));
            uses.fold(0u64, |set, (k, _)| {
                set | 1u64.checked_shl(k as u32).unwrap_or(0)
            })
        };
        let mut places: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        if classes.len() <= 64 {
            for s in 0..rates.len() {
                places.entry(users(s)).or_default().push(s);
            }
        }
        places.remove(&0);
        let server = |(set, members): (u64, Vec<usize>)| {
            let rate = members.iter().map(|s| rates[*s]).sum();
            (members, rate, set)
        };
        Part {
            servers: places.into_iter().map(server).collect(),
            classes,
        }
    }

    fn fill(&self, means: &mut Means) -> Option<()> {
        let (servers, classes) = (self.servers.len(), self.classes.len());
        if servers == 0 {
            return None;
        }
        let dearer = servers.max(classes);
        let by_classes = if dearer <= MOST_OF_DEARER {
            classes > servers
        } else {
            classes < servers
        };
        if servers.min(classes) > MOST {
            return None;
        }
        let (numbers, idle) = if by_classes {
            self.by_classes()
        } else {
            self.by_servers()
        };
        for ((members, _), number) in self.classes.iter().zip(numbers) {
            members
                .iter()
                .for_each(|(i, share)| means.numbers[*i] = share * number);
        }
        for ((members, ..), idle) in self.servers.iter().zip(idle) {
            members.iter().for_each(|s| means.busy[*s] = 1.0 - idle);
        }
        Some(())
    }

    /// `D_i(T) = [G(T) 1{S_i ⊆ T} + Σ_s μ_s D_i(T∖s)] / (μ(T) − λ(T))`, and `E[x_i] = λ_i D_i/G` of all servers.
    fn by_servers(&self) -> (Vec<f64>, Vec<f64>) {
        let count = self.servers.len();
        let own = |k: usize| {
            let uses = self.servers.iter().enumerate();
            let uses = uses.filter(|(_, server)| server.2 & 1 << k != 0);
            uses.fold(0usize, |set, (s, _)| set | 1 << s)
        };
        let sets: Vec<usize> = (0..self.classes.len()).map(own).collect();
        let all = (1usize << count) - 1;
        let mut free = vec![0.0; all + 1];
        for (set, free) in free.iter_mut().enumerate() {
            let serving = members(set).map(|s| self.servers[s].1).sum::<f64>();
            let within = sets
                .iter()
                .zip(&self.classes)
                .filter(|(own, _)| **own & !set == 0);
            *free = serving - within.map(|(_, class)| class.1).sum::<f64>();
        }
        let step = |values: &[f64], set: usize, own: f64| {
            let smaller = members(set).map(|s| self.servers[s].1 * values[set & !(1 << s)]);
            (own + smaller.sum::<f64>()) / free[set]
        };
        let mut sums = vec![1.0; all + 1];
        for set in 1..=all {
            sums[set] = step(&sums, set, 0.0);
        }
        let number = |k: usize| {
            let mut moments = vec![0.0; all + 1];
            for set in 1..=all {
                let own = if sets[k] & !set == 0 { sums[set] } else { 0.0 };
                moments[set] = step(&moments, set, own);
            }
            self.classes[k].1 * moments[all] / sums[all]
        };
        let idle = (0..count).map(|s| sums[all & !(1 << s)] / sums[all]);
        ((0..sets.len()).map(number).collect(), idle.collect())
    }

    /// `L_i(A) = [λ_i (π(A) + π(A∖i)) + Σ_{j≠i} λ_j L_i(A∖j)] / (μ(A) − λ(A))`, and `E[x_i] = Σ_A L_i(A) / Σ_A π(A)`.
    fn by_classes(&self) -> (Vec<f64>, Vec<f64>) {
        let count = self.classes.len();
        let rate = |k: usize| self.classes[k].1;
        let all = (1usize << count) - 1;
        let mut free = vec![0.0; all + 1];
        for (set, free) in free.iter_mut().enumerate() {
            let used = self
                .servers
                .iter()
                .filter(|server| server.2 & set as u64 != 0);
            *free = used.map(|server| server.1).sum::<f64>() - members(set).map(rate).sum::<f64>();
        }
        let mut masses = vec![1.0; all + 1];
        for set in 1..=all {
            let smaller = members(set).map(|k| rate(k) * masses[set & !(1 << k)]);
            masses[set] = smaller.sum::<f64>() / free[set];
        }
        let sum: f64 = masses.iter().sum();
        let number = |i: usize| {
            let mut moments = vec![0.0; all + 1];
            for set in (1..=all).filter(|set| set & 1 << i != 0) {
                let others = members(set).filter(|j| *j != i);
                let smaller: f64 = others.map(|j| rate(j) * moments[set & !(1 << j)]).sum();
                let own = rate(i) * (masses[set] + masses[set & !(1 << i)]);
                moments[set] = (own + smaller) / free[set];
            }
            moments.iter().sum::<f64>() / sum
        };
        let idle = self.servers.iter().map(|server| {
            let without = masses.iter().enumerate();
            let without = without.filter(|(set, _)| *set as u64 & server.2 == 0);
            without.map(|(_, mass)| mass).sum::<f64>() / sum
        });
        let idle: Vec<f64> = idle.collect();
        ((0..count).map(number).collect(), idle)
    }
}

/// The members of a set of bits.
fn members(set: usize) -> impl Iterator<Item = usize> {
    let mut left = set;
    std::iter::from_fn(move || {
        let member = left.trailing_zeros() as usize;
        let found = (left != 0).then_some(member);
        left &= left.wrapping_sub(1);
        found
    })
}
