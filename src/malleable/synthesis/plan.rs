//! Plans for jobs that are all there.

use super::search::search;
use crate::malleable::analysis::{MOST, ascend, over_orders, power_ends};
use crate::malleable::artifact::{Plan, Rent, cost};
use crate::malleable::policy::{Phase, Rule, Sharing, makespan, power_prices, prices};
use crate::malleable::simulator::{Course, Dividing, execute};
use crate::malleable::workload::{Curve, Objective, Pool};

/// Of more jobs than this an artifact has no table of stages.
const TABLED: usize = 64;

/// A plan, and what is known of it.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The plan.
    pub plan: Plan,
    /// When each job ends \[time\].
    pub ends: Vec<f64>,
    /// No plan costs less.
    pub least: f64,
    /// Why.
    pub proof: Proof,
    /// Why it is not known to be the best, where it is not.
    pub open: Option<Open>,
}

/// What proves that no plan costs less.
#[derive(Clone, Debug)]
pub enum Proof {
    /// Prices of work, from the largest job on.
    Prices(Vec<f64>),
    /// Rents of servers over time.
    Rents(Vec<Rent>),
    /// Prices of each order in which few jobs may end.
    Orders,
    /// That all jobs end at once, with all servers.
    Servers,
}

/// Why the best plan is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Open {
    /// A heavier job is larger than a lighter one.
    FavoursLarge,
    /// Jobs have different speedups or caps.
    SpeedupsDiffer,
}

/// The best plan that is known.
#[must_use]
pub fn best_plan(pool: &Pool) -> Planned {
    match pool.objective() {
        Objective::Makespan => {
            let (time, rule) = makespan(pool);
            let ends = ends(pool, &rule);
            finished(pool, rule, ends, time, Proof::Servers, None)
        }
        _ => sums(pool),
    }
}

fn finished(
    pool: &Pool,
    rule: Rule,
    ends: Vec<f64>,
    least: f64,
    proof: Proof,
    open: Option<Open>,
) -> Planned {
    let stages = stages(pool, &rule, &ends);
    Planned {
        plan: Plan { rule, stages },
        ends,
        least,
        proof,
        open,
    }
}

/// When jobs end under a rule.
pub(super) fn ends(pool: &Pool, rule: &Rule) -> Vec<f64> {
    let power = match pool.curves() {
        [curve] => curve.smooth_power(pool.servers()),
        _ => None,
    };
    match (power, rule) {
        (Some(p), Rule::Prices(prices)) => power_ends(pool, prices, p),
        _ => execute(pool, Dividing::Plan(rule), false).ends,
    }
}

/// The objectives that are sums over jobs.
fn sums(pool: &Pool) -> Planned {
    let order = pool.by_size();
    let mut weights: Vec<f64> = order.iter().map(|i| pool.jobs()[*i].weight).collect();
    let favours_large = !weights.is_sorted();
    weights.sort_by(f64::total_cmp);
    let open = match pool.curves() {
        [_] if !favours_large => None,
        [_] => Some(Open::FavoursLarge),
        _ => Some(Open::SpeedupsDiffer),
    };
    let by_prices = match pool.curves() {
        [curve] => Some(ascending(one_speedup(curve, &weights, pool.servers()))),
        _ => None,
    };
    let worth = |prices: &Vec<f64>| -> f64 {
        let sizes = order.iter().map(|i| pool.jobs()[*i].size);
        sizes.zip(prices).map(|(size, price)| size * price).sum()
    };
    match (open, by_prices) {
        (None, Some(prices)) => {
            let mut of_job = vec![0.0; order.len()];
            for (&i, price) in order.iter().zip(&prices) {
                of_job[i] = *price;
            }
            let rule = Rule::Prices(of_job);
            let (ends, least) = (ends(pool, &rule), worth(&prices));
            finished(pool, rule, ends, least, Proof::Prices(prices), None)
        }
        (open, by_prices) => {
            let (rule, ends) = or_simpler(pool, search(pool));
            if pool.jobs().len() <= MOST {
                let found = cost(pool, pool.objective().quantity(), &ends);
                let least = over_orders(pool, found);
                // Rounding, in prices that are found by steps.
                let least = least.min(found) * (1.0 - 1e-11);
                return finished(pool, rule, ends, least, Proof::Orders, open);
            }
            let dual = ascend(pool, &rents(pool, &rule));
            let by_prices = by_prices.map(|prices| (worth(&prices), prices));
            let (least, proof) = match by_prices {
                Some((least, prices)) if least >= dual.least => (least, Proof::Prices(prices)),
                _ => {
                    let rent = |(until, rent)| Rent { until, rent };
                    let rents = dual.rents.into_iter().map(rent).collect();
                    // Rounding, in so many sums of it.
                    (dual.least * (1.0 - 1e-11), Proof::Rents(rents))
                }
            };
            finished(pool, rule, ends, least, proof, open)
        }
    }
}

/// Of more jobs than this no rule is tried beside a plan.
const COMPARED: usize = 2000;

/// Rules that are tried beside a plan.
pub const BESIDE: [Sharing; 3] = [Sharing::Equi, Sharing::Srpt, Sharing::HeLrpt];

/// A plan, or what a rule beside it does where that costs less: a search among many jobs may end above it. A division
/// that needs parts of servers is no plan of whole ones.
pub(super) fn or_simpler(pool: &Pool, found: (Rule, Vec<f64>)) -> (Rule, Vec<f64>) {
    let cost = |ends: &[f64]| cost(pool, pool.objective().quantity(), ends);
    let mut best = found;
    let rules = BESIDE.into_iter().map(Dividing::Sharing);
    for dividing in rules.filter(|_| pool.jobs().len() <= COMPARED) {
        if cost(&execute(pool, dividing, false).ends) >= cost(&best.1) {
            continue;
        }
        let stages = execute(pool, dividing, true).stages;
        let phases = stages.iter().filter(|stage| stage.to > stage.from);
        let phases = phases.map(|stage| {
            let mut servers = vec![0.0; pool.jobs().len()];
            stage.jobs.iter().for_each(|(i, k)| servers[*i] = *k);
            let until = stage.to;
            Phase { until, servers }
        });
        let phases: Vec<Phase> = phases.collect();
        let mut servers = phases.iter().flat_map(|phase| &phase.servers);
        let parts = pool.record().whole_servers && servers.any(|k| k.fract() != 0.0);
        let rule = Rule::Phases(phases);
        let own = ends(pool, &rule);
        if !parts && cost(&own) < cost(&best.1) {
            best = (rule, own);
        }
    }
    best
}

fn one_speedup(curve: &Curve, weights: &[f64], servers: f64) -> Vec<f64> {
    match curve.smooth_power(servers) {
        Some(p) => power_prices(p, weights, servers),
        None => prices(&vec![curve; weights.len()], weights, servers),
    }
}

/// Prices ascend but for their last digits.
fn ascending(mut prices: Vec<f64>) -> Vec<f64> {
    let mut most = 0.0;
    for price in &mut prices {
        *price = f64::max(*price, most);
        most = *price;
    }
    prices
}

/// Intervals in which rents do not change, at least and at most about.
const INTERVALS: usize = 32;

/// What a server is worth in the stages of a plan: where to begin.
fn rents(pool: &Pool, rule: &Rule) -> Vec<(f64, f64)> {
    let Course { stages, .. } = execute(pool, Dividing::Plan(rule), true);
    let total: f64 = pool.jobs().iter().map(|job| job.weight).sum();
    let of_stage = |stage: &crate::malleable::simulator::Stage| {
        let due: f64 = stage.jobs.iter().map(|own| pool.jobs()[own.0].weight).sum();
        0.5 * due.max(1e-3 * total) / pool.servers()
    };
    let stages: Vec<_> = stages
        .iter()
        .filter(|stage| stage.to > stage.from)
        .collect();
    let parts = (INTERVALS / stages.len().max(1)).max(1);
    let kept = stages.len().div_ceil(INTERVALS).max(1);
    let mut rents: Vec<(f64, f64)> = Vec::new();
    for (n, stage) in stages.iter().enumerate() {
        if (n + 1) % kept != 0 && n + 1 < stages.len() {
            continue;
        }
        let from = rents.last().map_or(0.0, |last| last.0);
        for part in 1..=parts {
            let until = from + (stage.to - from) * part as f64 / parts as f64;
            if until > rents.last().map_or(0.0, |last| last.0) {
                rents.push((until, of_stage(stage)));
            }
        }
    }
    rents
}

/// Of few jobs, what each has after 0, 1, 2, … have ended.
fn stages(pool: &Pool, rule: &Rule, ends: &[f64]) -> Vec<Vec<f64>> {
    let mut order: Vec<usize> = (0..ends.len()).collect();
    order.sort_by(|&i, &j| ends[i].total_cmp(&ends[j]));
    let together = order
        .windows(2)
        .any(|two| ends[two[1]] - ends[two[0]] <= 1e-9 * ends[two[1]]);
    if order.len() > TABLED || together || matches!(rule, Rule::Phases(_)) {
        return Vec::new();
    }
    let row = |ended: usize| {
        let mut remaining = order[ended..].to_vec();
        remaining.sort_unstable();
        let now = ended.checked_sub(1).map_or(0.0, |n| ends[order[n]]);
        let mut row = vec![0.0; order.len()];
        for (&i, k) in remaining.iter().zip(rule.servers(pool, &remaining, now)) {
            row[i] = k;
        }
        row
    };
    (0..order.len()).map(row).collect()
}
