//! This module merges the demand vectors of a trace into a small number of types.
//!
//! The demand of a type is the maximum of its vectors, so a schedule for types is also a schedule
//! for jobs. The cost is the added work multiplied by its price: `Σ_v S_v Σ_r y_r (u_r − v_r)`,
//! where `S_v` is the mean number of jobs with the vector `v` in service, `u` is the demand of its
//! type, and `y` are the prices of the resources. The best groups of one resource are intervals,
//! found by a dynamic program; otherwise, the pair of groups with the lowest cost is merged at each
//! step.

#[derive(Clone, Debug)]
pub(crate) struct Vector {
    /// The demand (R) on each server, optionally followed by the number of servers (default 1).
    pub demand: Vec<f64>,
    /// The mean number of its jobs in service, which is at least 0.
    pub busy: f64,
}

#[derive(Debug)]
pub(crate) struct Merging {
    vectors: Vec<Vector>,
    order: Order,
}

#[derive(Debug)]
enum Order {
    /// `begins[k][n]` is the start of the last of k + 1 groups of the first n sorted vectors.
    Intervals {
        sorted: Vec<usize>,
        begins: Vec<Vec<usize>>,
    },
    /// Mergers (from, into), in order, starting with every vector in a group of its own.
    Pairs(Vec<(usize, usize)>),
}

pub(crate) fn apart(demand: &[f64], resources: usize) -> (&[f64], u32) {
    let nodes = demand.get(resources).map_or(1, |nodes| *nodes as u32);
    (&demand[..resources], nodes)
}

/// If there are more vectors, those with little work are merged first.
const MAX_GROUPS: usize = 400;

impl Merging {
    /// Finds groups for up to `most` types that fit on a server. The prices (R) must be ≥ 0, and
    /// not all 0. Vectors without work are ignored, because they can only increase the demands.
    pub(crate) fn new(
        mut vectors: Vec<Vector>,
        prices: &[f64],
        most: usize,
        fits: impl Fn(&[f64]) -> bool,
    ) -> Self {
        vectors.retain(|own| own.busy > 0.0);
        let is_small = prices.len() == 1 && vectors.len() <= 4 * MAX_GROUPS;
        let order = match is_small && vectors.iter().all(|v| apart(&v.demand, 1).1 == 1) {
            true => intervals(&vectors, most),
            false => Order::Pairs(pairs(&vectors, prices, fits)),
        };
        Merging { vectors, order }
    }

    /// Returns the demands of `types` types, or of more groups if they do not fit on servers.
    pub(crate) fn representatives(&self, types: usize) -> Vec<Vec<f64>> {
        let groups = self.groups(types);
        groups.iter().map(|group| self.largest(group)).collect()
    }

    fn largest(&self, group: &[usize]) -> Vec<f64> {
        let demands = group.iter().map(|v| self.vectors[*v].demand.clone());
        demands.reduce(|a, b| join(&a, &b)).unwrap_or_default()
    }

    fn groups(&self, types: usize) -> Vec<Vec<usize>> {
        match &self.order {
            Order::Intervals { sorted, begins } => {
                let mut end = sorted.len();
                let mut groups = Vec::new();
                for begins in begins[..types.min(begins.len())].iter().rev() {
                    if end == 0 {
                        break;
                    }
                    groups.push(sorted[begins[end]..end].to_vec());
                    end = begins[end];
                }
                groups
            }
            Order::Pairs(pairs) => {
                let alone = (0..self.vectors.len()).map(|v| vec![v]);
                let mut groups: Vec<Vec<usize>> = alone.collect();
                let joined = self.vectors.len().saturating_sub(types.max(1));
                for (from, into) in &pairs[..joined.min(pairs.len())] {
                    let moved = std::mem::take(&mut groups[*from]);
                    groups[*into].extend(moved);
                }
                groups.retain(|group| !group.is_empty());
                groups
            }
        }
    }
}

fn join(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a.max(*b)).collect()
}

/// Minimizes `cost(k, n) = min_m cost(k − 1, m) + Σ_{v=m..n} S_v (u − v)`, `u = max_{m..n} v`.
fn intervals(vectors: &[Vector], most: usize) -> Order {
    let mut sorted: Vec<usize> = (0..vectors.len()).collect();
    sorted.sort_by(|a, b| vectors[*a].demand[0].total_cmp(&vectors[*b].demand[0]));
    let n = sorted.len();
    let mut busy = vec![0.0];
    let mut work = vec![0.0];
    for (i, v) in sorted.iter().enumerate() {
        busy.push(busy[i] + vectors[*v].busy);
        work.push(work[i] + vectors[*v].busy * vectors[*v].demand[0]);
    }
    let added = |from: usize, to: usize| {
        let largest = vectors[sorted[to - 1]].demand[0];
        largest * (busy[to] - busy[from]) - (work[to] - work[from])
    };
    let of_one = (1..=n).map(|to| added(0, to));
    let mut cost: Vec<f64> = std::iter::once(0.0).chain(of_one).collect();
    let mut begins = vec![vec![0; n + 1]];
    for _ in 1..most.min(n) {
        let best = |to: usize| {
            let costs = (0..to).map(|from| cost[from] + added(from, to));
            let best = costs.enumerate().min_by(|a, b| a.1.total_cmp(&b.1));
            best.unwrap_or_default()
        };
        let (begin, next) = (0..=n).map(best).unzip();
        cost = next;
        begins.push(begin);
    }
    Order::Intervals { sorted, begins }
}

fn pairs(vectors: &[Vector], prices: &[f64], fits: impl Fn(&[f64]) -> bool) -> Vec<(usize, usize)> {
    let resources = prices.len();
    // The cost of merging two groups is infinite if the result fits on no server.
    let added = |a: &Vector, b: &Vector| {
        let most = join(&a.demand, &b.demand);
        if !fits(&most) {
            return f64::INFINITY;
        }
        let held = |demand: &[f64], r: usize| demand[r] * f64::from(apart(demand, resources).1);
        let cost = |(r, price): (usize, &f64)| {
            let [x, y] = [a, b].map(|own| (held(&most, r) - held(&own.demand, r)) * own.busy);
            price * (x + y)
        };
        prices.iter().enumerate().map(cost).sum()
    };
    let partner = |g: usize, among: &[usize], groups: &[Vector]| {
        let others = among.iter().filter(|other| **other != g);
        let costs = others.map(|other| (*other, added(&groups[g], &groups[*other])));
        let best = costs.min_by(|a, b| a.1.total_cmp(&b.1));
        best.unwrap_or((usize::MAX, f64::INFINITY))
    };
    let mut groups = vectors.to_vec();
    let mut merged = Vec::new();
    let mut left: Vec<usize> = (0..groups.len()).collect();
    let work = |group: &Vector| {
        let (demand, nodes) = apart(&group.demand, resources);
        let pairs = demand.iter().zip(prices);
        group.busy * f64::from(nodes) * pairs.map(|(demand, price)| demand * price).sum::<f64>()
    };
    // The sort is stable, so groups with the same work stay in their order.
    left.sort_by(|a, b| work(&groups[*b]).total_cmp(&work(&groups[*a])));
    let mut alone = Vec::new();
    while left.len() > MAX_GROUPS {
        let Some(least) = left.pop() else { break };
        let (into, cost) = partner(least, &left, &groups);
        if cost.is_infinite() {
            alone.push(least);
            continue;
        }
        merge(least, into, &mut groups);
        merged.push((least, into));
    }
    left.extend(alone);
    let mut partners = vec![(usize::MAX, f64::INFINITY); groups.len()];
    for g in &left {
        partners[*g] = partner(*g, &left, &groups);
    }
    while left.len() > 1 {
        let cost = |g: &usize| partners[*g].1;
        let cheapest = left.iter();
        let cheapest = cheapest.min_by(|a, b| cost(a).total_cmp(&cost(b)).then(a.cmp(b)));
        let Some(&from) = cheapest.filter(|g| cost(g).is_finite()) else {
            break;
        };
        let into = partners[from].0;
        merge(from, into, &mut groups);
        merged.push((from, into));
        left.retain(|g| *g != from);
        for &g in &left {
            if g == into || [from, into].contains(&partners[g].0) {
                partners[g] = partner(g, &left, &groups);
            } else {
                let with = added(&groups[g], &groups[into]);
                if with < partners[g].1 {
                    partners[g] = (into, with);
                }
            }
        }
    }
    merged
}

fn merge(from: usize, into: usize, groups: &mut [Vector]) {
    groups[into].demand = join(&groups[from].demand, &groups[into].demand);
    groups[into].busy += groups[from].busy;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(demand: &[f64], busy: f64) -> Vector {
        let demand = demand.to_vec();
        Vector { demand, busy }
    }

    fn vectors(of: &[(&[f64], f64)]) -> Vec<Vector> {
        let vectors = of.iter().map(|(demand, busy)| vector(demand, *busy));
        vectors.collect()
    }

    fn cost(vectors: &[Vector], merging: &Merging, types: usize) -> f64 {
        let groups = merging.groups(types);
        let of = |group: &Vec<usize>| -> f64 {
            let largest = merging.largest(group);
            let own = group.iter().map(|v| &vectors[*v]);
            own.map(|v| v.busy * (largest[0] - v.demand[0])).sum()
        };
        groups.iter().map(of).sum()
    }

    #[test]
    fn one_resource_is_partitioned_at_minimum_cost() {
        let demands = [1.0, 2.0, 3.0, 5.0, 8.0, 9.0, 64.0];
        let busy = [3.0, 0.5, 7.0, 2.0, 0.25, 4.0, 1.0];
        let list = demands.iter().zip(busy);
        let list: Vec<Vector> = list.map(|(d, busy)| vector(&[*d], busy)).collect();
        let merging = Merging::new(list.clone(), &[1.0], 7, |_| true);
        for types in 1..=7 {
            let cuts = (0..64_u32).filter(|cuts| cuts.count_ones() as usize == types - 1);
            let of = |cuts: u32| {
                let (mut cost, mut from) = (0.0, 0);
                for to in 1..=7 {
                    if to == 7 || cuts >> (to - 1) & 1 == 1 {
                        let added = |v: usize| busy[v] * (demands[to - 1] - demands[v]);
                        cost += (from..to).map(added).sum::<f64>();
                        from = to;
                    }
                }
                cost
            };
            let least = cuts.map(of).fold(f64::INFINITY, f64::min);
            let found = cost(&list, &merging, types);
            assert!((found - least).abs() < 1e-12, "{types}");
            assert_eq!(merging.representatives(types).len(), types);
        }
    }

    #[test]
    fn merges_similar_vectors_first() {
        let list = vectors(&[
            (&[4.0, 16.0], 1.0),
            (&[4.0, 15.0], 1.0),
            (&[32.0, 1.0], 1.0),
            (&[31.0, 1.0], 0.1),
            (&[1.0, 64.0], 2.0),
        ]);
        let merging = Merging::new(list.clone(), &[1.0, 1.0], 5, |_| true);
        let mut three = merging.representatives(3);
        three.sort_by(|a, b| a[0].total_cmp(&b[0]));
        assert_eq!(three, [vec![1.0, 64.0], vec![4.0, 16.0], vec![32.0, 1.0]]);
        assert_eq!(merging.representatives(1), [vec![32.0, 64.0]]);
    }

    #[test]
    fn forms_no_type_that_fits_on_no_server() {
        let list = vectors(&[
            (&[96.0, 0.0], 1.0),
            (&[90.0, 0.0], 1.0),
            (&[8.0, 8.0], 1.0),
            (&[4.0, 8.0], 2.0),
        ]);
        let fits = |d: &[f64]| d[0] <= 96.0 && d[1] == 0.0 || d[0] <= 48.0 && d[1] <= 8.0;
        let merging = Merging::new(list.clone(), &[1.0, 1.0], 4, fits);
        for types in [1, 2] {
            let mut two = merging.representatives(types);
            two.sort_by(|a, b| a[0].total_cmp(&b[0]));
            assert_eq!(two, [vec![8.0, 8.0], vec![96.0, 0.0]]);
        }
    }

    #[test]
    fn vectors_without_work_do_not_raise_demands() {
        for other in [vec![2.0], vec![2.0, 1.0]] {
            let own = vec![1.0; other.len()];
            let list = vec![vector(&own, 3.0), vector(&other, 0.0)];
            let merging = Merging::new(list, &vec![1.0; own.len()], 2, |_| true);
            assert_eq!(merging.representatives(1), [own]);
        }
    }

    #[test]
    fn merges_thousands_of_vectors() {
        let of = |n: u32| vector(&[n % 61, n % 47].map(f64::from), f64::from(n % 7));
        let list: Vec<Vector> = (0..3000).map(of).collect();
        let merging = Merging::new(list.clone(), &[1.0, 2.0], 32, |_| true);
        for types in [32, 8, 1] {
            let groups = merging.groups(types);
            assert_eq!(groups.len(), types);
            assert_eq!(groups.iter().map(Vec::len).sum::<usize>(), 2571);
        }
    }
}
