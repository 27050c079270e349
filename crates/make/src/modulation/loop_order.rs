//! The order of the loop. The step from `u` to `v` drains `Σ_i (u_i − v_i)⁺` slots, so a loop
//! drains half of its length in the L1 norm: a symmetric travelling salesman problem.

use itertools::Itertools;

use synth_multiresource::schedule::Schedule;

const EXACT: usize = 12;

/// Returns the completions that one round of the loop waits for: `Σ_legs Σ_i (u_i − v_i)⁺`.
pub fn drains(schedules: &[Schedule], order: &[usize]) -> u64 {
    let leg = |(s, v): (&usize, &usize)| distance(&schedules[*s], &schedules[*v]);
    let legs = order.iter().circular_tuple_windows().map(leg);
    legs.sum::<u64>() / 2
}

/// Returns the paper's order.
fn lexicographic_order(schedules: &[Schedule]) -> Vec<usize> {
    let all = 0..schedules.len();
    all.sorted_by_key(|&s| &schedules[s]).collect()
}

/// Returns the order that drains the fewest jobs, by 2-opt for more than 12 schedules.
pub fn least_drain_order(schedules: &[Schedule]) -> Vec<usize> {
    let start = lexicographic_order(schedules);
    if schedules.len() <= 3 {
        return start;
    }
    let n = start.len();
    let between = |a: usize, b: usize| distance(&schedules[start[a]], &schedules[start[b]]);
    let rows = (0..n).map(|a| (0..=a).map(|b| between(a, b)).collect());
    let lengths: Vec<Vec<u64>> = rows.collect();
    let length = |a: usize, b: usize| lengths[a.max(b)][a.min(b)];
    let tour = match n {
        0..=EXACT => shortest_tour(n, length),
        _ => two_opt(n, length),
    };
    tour.into_iter().map(|p| start[p]).collect()
}

pub(super) fn distance(u: &[u32], v: &[u32]) -> u64 {
    let pairs = u.iter().zip(v);
    pairs.map(|(u, v)| u64::from(u.abs_diff(*v))).sum()
}

/// Finds the shortest tour by dynamic programming (Held and Karp, J. SIAM 10, 1962).
fn shortest_tour(n: usize, length: impl Fn(usize, usize) -> u64) -> Vec<usize> {
    let stops = n - 1;
    let mut best = vec![vec![(u64::MAX, 0); stops]; 1 << stops];
    for last in 0..stops {
        best[1 << last][last] = (length(0, last + 1), last);
    }
    for set in 1_usize..1 << stops {
        for (last, next) in (0..stops).cartesian_product(0..stops) {
            if set >> last & 1 == 1 && set >> next & 1 == 0 && best[set][last].0 < u64::MAX {
                let way = best[set][last].0 + length(last + 1, next + 1);
                let entry = &mut best[set | 1 << next][next];
                *entry = (*entry).min((way, last));
            }
        }
    }
    let mut set = (1 << stops) - 1;
    let closed = |s: &usize| best[set][*s].0 + length(s + 1, 0);
    let mut last = (0..stops).min_by_key(closed).expect("a tour has stops");
    let mut tour = Vec::with_capacity(n);
    while set != 0 {
        tour.push(last + 1);
        let before = best[set][last].1;
        set &= !(1 << last);
        last = before;
    }
    tour.push(0);
    tour.reverse();
    tour
}

fn two_opt(n: usize, length: impl Fn(usize, usize) -> u64) -> Vec<usize> {
    let mut tour: Vec<usize> = (0..n).collect();
    let mut improved = true;
    while improved {
        improved = false;
        for [a, b] in (0..n).array_combinations().filter(|[a, b]| b - a < n - 1) {
            let (p, q, r, s) = (tour[a], tour[a + 1], tour[b], tour[(b + 1) % n]);
            if length(p, r) + length(q, s) < length(p, q) + length(r, s) {
                tour[a + 1..=b].reverse();
                improved = true;
            }
        }
    }
    tour
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};

    fn random_schedules(n: usize, seed: u64) -> Vec<Schedule> {
        let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(seed);
        (0..n)
            .map(|_| (0..4).map(|_| random.random_range(0..20)).collect())
            .collect()
    }

    #[test]
    fn exact_order_is_the_best_of_all_orders() {
        for seed in 0..20 {
            let schedules = random_schedules(7, seed);
            let best = (0..7)
                .permutations(7)
                .map(|order| drains(&schedules, &order))
                .min();
            assert_eq!(
                Some(drains(&schedules, &least_drain_order(&schedules))),
                best
            );
        }
    }

    #[test]
    fn two_opt_shortens_the_lexicographic_tour_and_keeps_all_stops() {
        for seed in 0..5 {
            let schedules = random_schedules(30, seed);
            let order = least_drain_order(&schedules);
            assert!(
                drains(&schedules, &order) < drains(&schedules, &lexicographic_order(&schedules))
            );
            assert_eq!(
                order.iter().copied().sorted().collect_vec(),
                (0..30).collect_vec()
            );
        }
    }
}
