use super::search::{ends, search};
use crate::analysis::{MOST, ascend, over_orders};
use crate::artifact::{Evidence, Method, Plan, Rent, cost};
use crate::policy::{Rule, Sharing, ascending, by_job, makespan, power_prices, prices};
use crate::simulator::{Dividing, Execution, execute};
use crate::workload::{Objective, Pool};

const MOST_JOBS_WITH_STAGES: usize = 64;

/// A plan, together with a lower bound.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The plan.
    pub plan: Plan,
    /// The end times, and the proof of the lower bound.
    pub evidence: Evidence,
    /// A lower bound on the cost of any plan.
    pub least: f64,
    pub(crate) method: Method,
    /// The reason why there is no formula for the optimal plan, or `None` if this plan is optimal.
    pub(crate) open: Option<Open>,
}

/// The reason why there is no formula for the optimal plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Open {
    /// A job has a larger weight than another job, but is also larger.
    FavoursLarge,
    /// The speedups or the caps of the jobs are different.
    SpeedupsDiffer,
}

impl Planned {
    fn new(pool: &Pool, rule: Rule, ends: Vec<f64>, least: f64, method: Method) -> Self {
        let stages = stages(pool, &rule, &ends);
        Planned {
            plan: Plan { rule, stages },
            evidence: Evidence {
                ends,
                ..Evidence::default()
            },
            least,
            method,
            open: None,
        }
    }

    /// Returns the relative difference between the cost and the lower bound.
    pub fn gap(&self, pool: &Pool) -> f64 {
        let cost = cost(pool, pool.objective().quantity(), &self.evidence.ends);
        (cost / self.least - 1.0).max(0.0)
    }

    /// Returns `true` if the plan is optimal, except for rounding errors.
    pub(crate) fn is_best(&self, pool: &Pool) -> bool {
        self.gap(pool) < 1e-9
    }
}

pub(crate) fn best_plan(pool: &Pool) -> Planned {
    if pool.objective() == Objective::Makespan {
        let (time, rule) = makespan(pool);
        let ends = ends(pool, &rule);
        return Planned::new(pool, rule, ends, time, Method::BoundServers);
    }
    let order = pool.by_size();
    let mut weights: Vec<f64> = order.iter().map(|i| pool.jobs()[*i].weight).collect();
    let favours_large = !weights.is_sorted();
    weights.sort_by(f64::total_cmp);
    let [curve] = pool.curves() else {
        return searched(pool, Open::SpeedupsDiffer, None);
    };
    let mut prices = match curve.smooth_power(pool.servers()) {
        Some(p) => power_prices(p, &weights, pool.servers()),
        None => prices(&vec![curve; weights.len()], &weights, pool.servers()),
    };
    ascending(&mut prices);
    let sizes = order.iter().map(|i| pool.jobs()[*i].size);
    let worth = sizes.zip(&prices).map(|(size, price)| size * price).sum();
    if favours_large {
        return searched(pool, Open::FavoursLarge, Some((worth, prices)));
    }
    let rule = Rule::Prices(by_job(order.len(), &order, &prices));
    let ends = ends(pool, &rule);
    let mut planned = Planned::new(pool, rule, ends, worth, Method::BoundPrices);
    planned.evidence.prices = prices;
    planned
}

fn searched(pool: &Pool, open: Open, by_prices: Option<(f64, Vec<f64>)>) -> Planned {
    let (rule, ends) = or_simple_rule(pool, search(pool));
    // Prices and sums of rents have rounding errors.
    const ROUNDED: f64 = 1.0 - 1e-11;
    let mut planned = Planned::new(pool, rule, ends, 0.0, Method::BoundOrders);
    planned.open = Some(open);
    if pool.jobs().len() <= MOST {
        let cost = cost(pool, pool.objective().quantity(), &planned.evidence.ends);
        planned.least = over_orders(pool, cost).min(cost) * ROUNDED;
        return planned;
    }
    let (least, rents) = ascend(pool, rents(pool, &planned.plan.rule));
    match by_prices {
        Some((worth, prices)) if worth >= least => {
            (planned.least, planned.method) = (worth, Method::BoundPrices);
            planned.evidence.prices = prices;
        }
        _ => {
            (planned.least, planned.method) = (least * ROUNDED, Method::BoundRents);
            planned.evidence.rents = rents;
        }
    }
    planned
}

const MOST_COMPARED: usize = 2000;

pub(super) const SIMPLE_RULES: [Sharing; 3] = [Sharing::Equi, Sharing::Srpt, Sharing::HeLrpt];

/// Returns the given plan, or a simple rule if its cost is lower and it can be used for this pool.
pub(super) fn or_simple_rule(pool: &Pool, mut best: (Rule, Vec<f64>)) -> (Rule, Vec<f64>) {
    let cost = |ends: &[f64]| cost(pool, pool.objective().quantity(), ends);
    let rules = SIMPLE_RULES.into_iter().map(Dividing::Sharing);
    for dividing in rules.filter(|_| pool.jobs().len() <= MOST_COMPARED) {
        if cost(&execute(pool, dividing, false).ends) >= cost(&best.1) {
            continue;
        }
        let phases = execute(pool, dividing, true).phases;
        let mut servers = phases.iter().flat_map(|phase| &phase.servers);
        let parts = pool.record.whole_servers && servers.any(|k| k.fract() != 0.0);
        let rule = Rule::Phases(phases);
        let own = ends(pool, &rule);
        if !parts && cost(&own) < cost(&best.1) {
            best = (rule, own);
        }
    }
    best
}

/// The approximate number of intervals with a constant rent.
const INTERVALS: usize = 32;

/// Returns the initial rents, which are computed from the phases of a plan.
fn rents(pool: &Pool, rule: &Rule) -> Vec<Rent> {
    let weight = |i: usize| pool.jobs()[i].weight;
    let total: f64 = (0..pool.jobs().len()).map(weight).sum();
    let Execution { ends, phases } = execute(pool, Dividing::Plan(rule), true);
    let parts = (INTERVALS / phases.len().max(1)).max(1);
    let joined = phases.len().div_ceil(INTERVALS).max(1);
    let mut rents: Vec<Rent> = Vec::new();
    for (n, phase) in phases.iter().enumerate() {
        if (n + 1) % joined != 0 && n + 1 < phases.len() {
            continue;
        }
        let present = (0..ends.len()).filter(|i| ends[*i] >= phase.until);
        let due: f64 = present.map(weight).sum();
        let rent = 0.5 * due.max(1e-3 * total) / pool.servers();
        let before = |rents: &[Rent]| rents.last().map_or(0.0, |last| last.until);
        let from = before(&rents);
        for part in 1..=parts {
            let until = from + (phase.until - from) * part as f64 / parts as f64;
            if until > before(&rents) {
                rents.push(Rent { until, rent });
            }
        }
    }
    rents
}

fn stages(pool: &Pool, rule: &Rule, ends: &[f64]) -> Vec<Vec<f64>> {
    let mut order: Vec<usize> = (0..ends.len()).collect();
    order.sort_by(|&i, &j| ends[i].total_cmp(&ends[j]));
    let near = |two: &[usize]| ends[two[1]] - ends[two[0]] <= 1e-9 * ends[two[1]];
    let together = order.windows(2).any(near);
    if order.len() > MOST_JOBS_WITH_STAGES || together || matches!(rule, Rule::Phases(_)) {
        return Vec::new();
    }
    // For prices, the division does not depend on the time.
    let row = |ended: usize| {
        let mut remaining = order[ended..].to_vec();
        remaining.sort_unstable();
        let servers = rule.servers(pool, &remaining, 0.0);
        by_job(order.len(), &remaining, &servers)
    };
    (0..order.len()).map(row).collect()
}
