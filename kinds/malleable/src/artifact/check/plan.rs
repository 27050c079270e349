use super::bound::{least_cost, least_makespan, least_with_rents};
use super::orders::no_order_costs_less;
use super::{NEAR, derived_as};
use crate::artifact::{Artifact, Claim, Evidence, Method, Plan, Quantity};
use crate::policy::Rule;
use crate::workload::{Objective, Pool};
use synth_core::artifact::{Findings, Grounds, is_close, nonnegative, positive};

/// The fraction of the servers that may be used twice because of rounding errors.
const ROUNDING: f64 = 1e-9;

/// With more jobs than this and a power as the speedup, the end times are only verified.
const EXECUTED: usize = 64;

const FLOW: Grounds = Grounds::Derived("the plan is executed from one job completion to the next");
const WORK: Grounds = Grounds::Derived("the work done on each job until its end is its size");
const BOUND: Grounds =
    Grounds::Derived("weak duality: no policy does work that is worth more than its time costs");

const ORDERS: Grounds = Grounds::Derived("weak duality, for each order in which jobs can end");

pub(super) fn check(pool: &Pool, plan: &Plan, artifact: &Artifact, findings: &mut Findings) {
    let evidence = &artifact.evidence;
    findings.within("policy.plan.rule", |f| rule(&plan.rule, pool, f));
    let jobs = pool.jobs().len();
    findings.length("evidence.ends", evidence.ends.len(), jobs, "job");
    if !findings.is_clear("policy") || !findings.is_clear("evidence") {
        return;
    }
    let ends = if jobs > EXECUTED
        && plan.stages.is_empty()
        && let Rule::Prices(prices) = &plan.rule
        && verified(pool, prices, &evidence.ends, findings)
    {
        evidence.ends.clone()
    } else {
        executed(plan, pool, findings)
    };
    findings.within("evidence", |f| proof(evidence, pool, &ends, f));
    let sound = findings.is_clear("evidence");
    for (n, claim) in artifact.claims.iter().enumerate() {
        findings.within(format!("claims[{n}]"), |f| match claim.quantity {
            Quantity::Gap => {
                derived_as(claim, claim.method, f);
                let orders = claim.method == Method::BoundOrders;
                f.stands("", if orders { ORDERS } else { BOUND });
                if sound && let Err(message) = gap(evidence, claim, pool, &ends) {
                    f.add("value", message);
                }
            }
            Quantity::MeanNumber | Quantity::LeastResponse => {
                f.add("", "it requires that the jobs arrive over time");
            }
            quantity => {
                derived_as(claim, Method::ExactFlow, f);
                let expected = cost(pool, quantity, &ends);
                if !is_close(claim.value, expected, NEAR) {
                    f.differs("value", claim.value, expected);
                }
                f.stands("", FLOW);
            }
        });
    }
}

fn rule(rule: &Rule, pool: &Pool, findings: &mut Findings) {
    let jobs = pool.jobs().len();
    match rule {
        Rule::Prices(prices) => {
            findings.length("prices", prices.len(), jobs, "job");
            for (i, value) in prices.iter().enumerate() {
                positive(format!("prices[{i}]"), *value, findings);
            }
        }
        Rule::Phases(phases) => {
            if phases.is_empty() {
                findings.add("phases", "expected at least one phase");
            }
            ascending("phases", phases.iter().map(|phase| phase.until), findings);
            for (n, phase) in phases.iter().enumerate() {
                let path = format!("phases[{n}].servers");
                findings.all_nonnegative(&path, &phase.servers, jobs, "job");
                let (sum, all) = (phase.servers.iter().sum::<f64>(), pool.servers());
                if sum > all * (1.0 + ROUNDING) {
                    findings.add(&path, format!("{sum} servers, but there are only {all}"));
                }
                let parts = phase.servers.iter().position(|k| k.fract() != 0.0);
                if let Some(i) = parts.filter(|_| pool.record.whole_servers) {
                    findings.add(format!("{path}[{i}]"), "expected whole servers");
                }
            }
        }
    }
}

fn ascending(path: &str, ends: impl Iterator<Item = f64>, findings: &mut Findings) {
    let mut before = 0.0;
    for (n, until) in ends.enumerate() {
        if !(until > before && until.is_finite()) {
            let path = format!("{path}[{n}].until");
            findings.differs(path, until, format!("more than {before}"));
        }
        before = until;
    }
}

/// Verifies the end times, or returns `false` if the jobs do not share a speedup `k^p` with p < 1.
///
/// Let `b_i = a_i^c` with `c = 1/(1 − p)`, and let `B(t)` be its sum over the remaining jobs. The
/// rate of the job `i` is `(N b_i/B)^p`, so its work until its end is `(N b_i)^p Φ(T_i)`, where `Φ`
/// is the integral of `B^−p`. Logarithms are used, as the values have no common scale.
fn verified(pool: &Pool, prices: &[f64], ends: &[f64], findings: &mut Findings) -> bool {
    let curves = pool.curves().iter();
    let powers = curves.map(|curve| curve.smooth_power(pool.servers()));
    let [Some(p)] = powers.collect::<Vec<_>>()[..] else {
        return false;
    };
    let together = |a: f64, b: f64| match (a, b) {
        (f64::NEG_INFINITY, some) | (some, f64::NEG_INFINITY) => some,
        _ => a.max(b) + (-(a - b).abs()).exp().ln_1p(),
    };
    let mut order: Vec<usize> = (0..ends.len()).collect();
    order.sort_by(|&i, &j| ends[i].total_cmp(&ends[j]));
    let share = |i: usize| prices[i].ln() / (1.0 - p);
    let mut sums = vec![f64::NEG_INFINITY; order.len() + 1];
    for (n, &i) in order.iter().enumerate().rev() {
        sums[n] = together(share(i), sums[n + 1]);
    }
    let (mut before, mut integral) = (0.0, f64::NEG_INFINITY);
    for (n, &i) in order.iter().enumerate() {
        let (end, size) = (ends[i], pool.jobs()[i].size);
        integral = together(integral, (end - before).ln() - p * sums[n]);
        before = end;
        let done = (p * (pool.servers().ln() + share(i)) + integral).exp();
        if !is_close(done, size, NEAR) {
            let message =
                format!("{end}, but by then the work done is {done}, and the job's size is {size}");
            findings.add(format!("evidence.ends[{i}]"), message);
        }
    }
    findings.stands("evidence.ends", WORK);
    findings.stands("policy.plan.stages", FLOW);
    true
}

fn executed(plan: &Plan, pool: &Pool, findings: &mut Findings) -> Vec<f64> {
    let mut done: Vec<f64> = vec![0.0; pool.jobs().len()];
    let mut ends = vec![f64::INFINITY; done.len()];
    let mut now = 0.0;
    let mut remaining: Vec<usize> = (0..done.len()).collect();
    let table = &plan.stages;
    while !remaining.is_empty() {
        let servers = plan.rule.servers(pool, &remaining, now);
        let sum: f64 = servers.iter().sum();
        let within = sum <= pool.servers() * (1.0 + ROUNDING);
        if !within || servers.iter().any(|k| *k < 0.0) {
            findings.add("policy.plan.rule", format!("it allocates {sum} servers"));
            return ends;
        }
        let stage = done.len() - remaining.len();
        if let Some(row) = table.get(stage) {
            let path = format!("policy.plan.stages[{stage}]");
            findings.within(path, |f| tabled(row, &remaining, &servers, f));
        }
        let speed = |(i, k): (&usize, &f64)| pool.curve(*i).at(*k);
        let speeds: Vec<f64> = remaining.iter().zip(&servers).map(speed).collect();
        let rest = |i: usize| pool.jobs()[i].size - done[i];
        let steps = remaining.iter().zip(&speeds);
        let steps = steps.map(|(&i, speed)| (i, rest(i) / speed));
        let (first, step) = steps.fold((0, f64::INFINITY), |a, b| if b.1 < a.1 { b } else { a });
        let changes = plan.rule.changes(now);
        if step == f64::INFINITY && changes == f64::INFINITY {
            let name = &pool.jobs()[remaining[0]].name;
            findings.add("policy.plan.rule", format!("job `{name}` never ends"));
            return ends;
        }
        let ending = now + step.max(0.0) <= changes;
        let step = step.max(0.0).min(changes - now);
        now = if ending { now + step } else { changes };
        for (&i, speed) in remaining.iter().zip(&speeds) {
            done[i] += speed * step;
        }
        // Jobs that end at the same time can have rounding errors.
        let is_done = |i: usize| done[i] >= pool.jobs()[i].size * (1.0 - 1e-12);
        for &i in &remaining {
            if ending && i == first || is_done(i) {
                ends[i] = now;
            }
        }
        remaining.retain(|i| ends[*i] == f64::INFINITY);
    }
    const STAGES: &str = "policy.plan.stages";
    if !table.is_empty() {
        findings.length(STAGES, table.len(), ends.len(), "job");
    }
    findings.stands(STAGES, FLOW);
    findings.stands("evidence.ends", FLOW);
    ends
}

fn tabled(row: &[f64], remaining: &[usize], servers: &[f64], findings: &mut Findings) {
    let all: f64 = servers.iter().sum();
    for (i, found) in row.iter().enumerate() {
        let expected = remaining.binary_search(&i).map_or(0.0, |n| servers[n]);
        let near = (found - expected).abs() <= NEAR * all;
        if !near {
            findings.differs(format!("[{i}]"), found, expected);
        }
    }
}

fn proof(evidence: &Evidence, pool: &Pool, ends: &[f64], findings: &mut Findings) {
    for (i, (found, expected)) in evidence.ends.iter().zip(ends).enumerate() {
        if !is_close(*found, *expected, NEAR) {
            findings.differs(format!("ends[{i}]"), found, expected);
        }
    }
    let Evidence { prices, rents, .. } = evidence;
    if !prices.is_empty() {
        findings.length("prices", prices.len(), pool.jobs().len(), "job");
    }
    for (i, price) in prices.iter().enumerate() {
        positive(format!("prices[{i}]"), *price, findings);
    }
    if !prices.is_sorted() {
        findings.differs("prices", "not sorted", "ascending, largest job first");
    }
    for (n, rent) in rents.iter().enumerate() {
        nonnegative(format!("rents[{n}].rent"), rent.rent, findings);
    }
    ascending("rents", rents.iter().map(|rent| rent.until), findings);
    findings.stands("prices", BOUND);
    findings.stands("rents", BOUND);
}

/// Returns the value of this quantity for the given end times, or NaN if they do not determine it.
pub fn cost(pool: &Pool, quantity: Quantity, ends: &[f64]) -> f64 {
    let each = || pool.jobs().iter().zip(ends);
    match quantity {
        Quantity::FlowTime => ends.iter().sum(),
        Quantity::MeanResponse => ends.iter().sum::<f64>() / ends.len() as f64,
        Quantity::WeightedFlowTime => each().map(|(job, end)| job.weight * end).sum(),
        Quantity::Slowdown => each().map(|(job, end)| end / job.size).sum(),
        Quantity::Makespan => ends.iter().copied().fold(0.0, f64::max),
        Quantity::Gap | Quantity::MeanNumber | Quantity::LeastResponse => f64::NAN,
    }
}

fn gap(evidence: &Evidence, claim: &Claim, pool: &Pool, ends: &[f64]) -> Result<(), String> {
    let (value, Evidence { prices, rents, .. }) = (claim.value, evidence);
    let cost = cost(pool, pool.objective().quantity(), ends);
    let mut least = cost / (1.0 + value);
    match (pool.objective(), claim.method) {
        (Objective::Makespan, Method::BoundServers) => least_makespan(pool, least, NEAR)?,
        (Objective::Makespan, _) | (_, Method::BoundServers) => {
            return Err("this method does not apply to the objective".into());
        }
        (_, Method::BoundPrices) if !prices.is_empty() => least = least_cost(pool, prices, NEAR)?,
        (_, Method::BoundRents) if !rents.is_empty() => least = least_with_rents(pool, rents),
        (_, Method::BoundOrders) => no_order_costs_less(pool, least, NEAR)?,
        _ => return Err("the evidence contains no data for this method".into()),
    }
    if value >= 0.0 && cost <= least * (1.0 + value) * (1.0 + NEAR) {
        return Ok(());
    }
    let known = cost / least - 1.0;
    Err(format!(
        "{value}, but only {known} is proved: the cost {cost} over the lower bound {least}"
    ))
}
