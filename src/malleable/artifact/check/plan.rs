//! Plans: executed, and bounded.

use super::bound::{least_cost, least_makespan, least_with_rents};
use super::orders::no_order_costs_less;
use super::{NEAR, derived_as, numbered};
use crate::artifact::{Findings, Grounds, is_close, length, nonnegative, positive};
use crate::malleable::artifact::{Claim, Evidence, Method, Plan, Quantity};
use crate::malleable::policy::Rule;
use crate::malleable::workload::{Objective, Pool};

/// Servers that are given out twice, of all.
const ROUNDING: f64 = 1e-9;

/// Of more jobs than this under a power the ends are verified and not found.
const EXECUTED: usize = 64;

const FLOW: Grounds = Grounds::Derived("the plan is executed, from one end of a job to the next");
const WORK: Grounds = Grounds::Derived("the work done of each job until its end is its size");
const BOUND: Grounds =
    Grounds::Derived("weak duality: no policy does work that is worth more than it costs");

const ORDERS: Grounds = Grounds::Derived("weak duality, for each order in which jobs can end");

pub(super) fn check(
    pool: &Pool,
    plan: &Plan,
    evidence: &Evidence,
    claims: &[Claim],
    findings: &mut Findings,
) {
    rule(&plan.rule, pool, findings);
    let jobs = pool.jobs().len();
    length("evidence.ends", evidence.ends.len(), jobs, "job", findings);
    if !findings.is_clear("policy") || !findings.is_clear("evidence") {
        return;
    }
    let ends = match &plan.rule {
        Rule::Prices(prices) if plan.stages.is_empty() && jobs > EXECUTED => {
            if verified(pool, prices, &evidence.ends, findings) {
                evidence.ends.clone()
            } else {
                executed(plan, pool, findings)
            }
        }
        _ => executed(plan, pool, findings),
    };
    proof(evidence, pool, &ends, findings);
    for (path, claim) in numbered(claims) {
        if claim.half_width.is_some() {
            findings.add(&*path, "it is one number: no `half_width` goes with it");
        }
        match claim.quantity {
            Quantity::Gap => gap(evidence, claim, pool, &ends, &path, findings),
            Quantity::MeanNumber | Quantity::LeastResponse => {
                findings.add(&*path, "it is about jobs that arrive");
            }
            quantity => {
                derived_as(claim, &[Method::ExactFlow], &path, findings);
                let expected = cost(pool, quantity, &ends);
                if !is_close(claim.value, expected, NEAR) {
                    let message = format!("{}, expected {expected}", claim.value);
                    findings.add(format!("{path}.value"), message);
                }
                findings.stands(&*path, FLOW);
            }
        }
    }
}

fn rule(rule: &Rule, pool: &Pool, findings: &mut Findings) {
    let servers = |path: &str, list: &[f64], findings: &mut Findings| {
        length(path, list.len(), pool.jobs().len(), "job", findings);
        for (i, value) in list.iter().enumerate() {
            nonnegative(format!("{path}[{i}]"), *value, findings);
            if pool.record().whole_servers && value.fract() != 0.0 {
                findings.add(format!("{path}[{i}]"), "expected whole servers");
            }
        }
        let sum: f64 = list.iter().sum();
        if sum > pool.servers() * (1.0 + ROUNDING) {
            let message = format!("{sum} servers in all, but there are {}", pool.servers());
            findings.add(path, message);
        }
    };
    match rule {
        Rule::Prices(prices) => {
            const PATH: &str = "policy.plan.rule.prices";
            length(PATH, prices.len(), pool.jobs().len(), "job", findings);
            for (i, value) in prices.iter().enumerate() {
                positive(format!("{PATH}[{i}]"), *value, findings);
            }
        }
        Rule::Phases(phases) => {
            let mut before = 0.0;
            for (n, phase) in phases.iter().enumerate() {
                let path = format!("policy.plan.rule.phases[{n}]");
                if !(phase.until > before && phase.until.is_finite()) {
                    let message = format!("{}, expected more than {before}", phase.until);
                    findings.add(format!("{path}.until"), message);
                }
                before = phase.until;
                servers(&format!("{path}.servers"), &phase.servers, findings);
            }
            if phases.is_empty() {
                findings.add("policy.plan.rule.phases", "there is none");
            }
        }
    }
}

/// Whether these are the ends of jobs at these prices, under a power below 1 that all jobs share.
///
/// With `b_i = a_i^c` and `B(t)` its sum over the jobs that remain, job i runs at rate `(N b_i/B)^p`, so that its work until
/// its end is `(N b_i)^p Φ(T_i)`, where Φ is the integral of `B^−p`. All in logarithms: these numbers have no common scale.
fn verified(pool: &Pool, prices: &[f64], ends: &[f64], findings: &mut Findings) -> bool {
    let [curve] = pool.curves() else { return false };
    let Some(p) = curve.smooth_power(pool.servers()) else {
        return false;
    };
    let together = |a: f64, b: f64| a.max(b) + (-(a - b).abs()).exp().ln_1p();
    let mut order: Vec<usize> = (0..ends.len()).collect();
    order.sort_by(|&i, &j| ends[i].total_cmp(&ends[j]));
    let share = |i: usize| prices[i].ln() / (1.0 - p);
    let mut sums = vec![f64::NEG_INFINITY; order.len() + 1];
    for (n, &i) in order.iter().enumerate().rev() {
        sums[n] = match sums[n + 1] {
            f64::NEG_INFINITY => share(i),
            rest => together(share(i), rest),
        };
    }
    let (mut before, mut integral) = (0.0, f64::NEG_INFINITY);
    for (n, &i) in order.iter().enumerate() {
        let more = (ends[i] - before).ln() - p * sums[n];
        before = ends[i];
        integral = match (integral, more) {
            (f64::NEG_INFINITY, more) => more,
            (known, f64::NEG_INFINITY) => known,
            (known, more) => together(known, more),
        };
        let done = (p * (pool.servers().ln() + share(i)) + integral).exp();
        if !is_close(done, pool.jobs()[i].size, NEAR) {
            let message = format!(
                "{}, but {done} is done of the job until then, and its size is {}",
                ends[i],
                pool.jobs()[i].size
            );
            findings.add(format!("evidence.ends[{i}]"), message);
        }
    }
    findings.stands("evidence.ends", WORK);
    findings.stands("policy.plan.stages", FLOW);
    true
}

/// When jobs end: the plan is executed event by event.
fn executed(plan: &Plan, pool: &Pool, findings: &mut Findings) -> Vec<f64> {
    let mut done: Vec<f64> = vec![0.0; pool.jobs().len()];
    let mut ends = vec![f64::INFINITY; done.len()];
    let (mut now, mut stage) = (0.0, 0);
    let mut remaining: Vec<usize> = (0..done.len()).collect();
    let table = &plan.stages;
    while !remaining.is_empty() {
        let servers = plan.rule.servers(pool, &remaining, now);
        let sum: f64 = servers.iter().sum();
        let within = sum <= pool.servers() * (1.0 + ROUNDING);
        if !within || servers.iter().any(|k| *k < 0.0) {
            findings.add("policy.plan.rule", format!("it gives out {sum} servers"));
            return ends;
        }
        if !table.is_empty() {
            tabled(table.get(stage), &remaining, &servers, stage, findings);
        }
        let speed = |(i, k): (&usize, &f64)| pool.curves()[pool.jobs()[*i].curve].at(*k);
        let speeds: Vec<f64> = remaining.iter().zip(&servers).map(speed).collect();
        let rest = |i: usize| pool.jobs()[i].size - done[i];
        let all = remaining.iter().zip(&speeds);
        let (first, step) = all
            .map(|(&i, speed)| (i, rest(i) / speed))
            .fold((0, f64::INFINITY), |a, b| if b.1 < a.1 { b } else { a });
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
        // Those that end together have rounding errors left.
        let ended =
            |i: usize| ending && i == first || done[i] >= pool.jobs()[i].size * (1.0 - 1e-12);
        for &i in remaining.iter().filter(|i| ended(**i)) {
            ends[i] = now;
            stage += 1;
        }
        remaining.retain(|i| ends[*i] == f64::INFINITY);
    }
    if !table.is_empty() {
        length(
            "policy.plan.stages",
            table.len(),
            ends.len(),
            "job",
            findings,
        );
    }
    findings.stands("policy.plan.stages", FLOW);
    findings.stands("evidence.ends", FLOW);
    ends
}

/// That a row of the table says what the rule says.
fn tabled(
    row: Option<&Vec<f64>>,
    remaining: &[usize],
    servers: &[f64],
    stage: usize,
    findings: &mut Findings,
) {
    let Some(row) = row else { return };
    let mut expected = vec![0.0; row.len()];
    for (&i, k) in remaining.iter().zip(servers) {
        if let Some(entry) = expected.get_mut(i) {
            *entry = *k;
        }
    }
    let all: f64 = servers.iter().sum();
    for (i, (found, expected)) in row.iter().zip(&expected).enumerate() {
        let near = (found - expected).abs() <= NEAR * all;
        if !near {
            let path = format!("policy.plan.stages[{stage}][{i}]");
            findings.add(path, format!("{found}, expected {expected}"));
        }
    }
}

fn proof(evidence: &Evidence, pool: &Pool, ends: &[f64], findings: &mut Findings) {
    for (i, (found, expected)) in evidence.ends.iter().zip(ends).enumerate() {
        if !is_close(*found, *expected, NEAR) {
            let message = format!("{found}, expected {expected}");
            findings.add(format!("evidence.ends[{i}]"), message);
        }
    }
    const PRICES: &str = "evidence.prices";
    let prices = &evidence.prices;
    if !prices.is_empty() {
        length(PRICES, prices.len(), pool.jobs().len(), "job", findings);
    }
    for (i, price) in prices.iter().enumerate() {
        positive(format!("{PRICES}[{i}]"), *price, findings);
    }
    if !prices.is_sorted() {
        findings.add(PRICES, "they fall, expected the largest job's first");
    }
    const RENTS: &str = "evidence.rents";
    let mut before = 0.0;
    for (n, rent) in evidence.rents.iter().enumerate() {
        nonnegative(format!("{RENTS}[{n}].rent"), rent.rent, findings);
        if !(rent.until > before && rent.until.is_finite()) {
            let message = format!("{}, expected more than {before}", rent.until);
            findings.add(format!("{RENTS}[{n}].until"), message);
        }
        before = rent.until;
    }
    for path in [PRICES, RENTS] {
        findings.stands(path, BOUND);
    }
}

/// What the ends of jobs cost.
#[must_use]
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

/// That no policy costs so much less.
fn gap(
    evidence: &Evidence,
    claim: &Claim,
    pool: &Pool,
    ends: &[f64],
    path: &str,
    findings: &mut Findings,
) {
    let orders = claim.method == Method::BoundOrders;
    findings.stands(path, if orders { ORDERS } else { BOUND });
    if !findings.is_clear("evidence") {
        return;
    }
    let cost = cost(pool, pool.objective().quantity(), ends);
    let bound = match (pool.objective(), claim.method) {
        (Objective::Makespan, Method::BoundServers) => {
            let least = cost / (1.0 + claim.value);
            least_makespan(pool, least, NEAR).map(|()| least)
        }
        (Objective::Makespan, _) | (_, Method::BoundServers) => {
            Err("it is not how this objective is bounded".into())
        }
        (_, Method::BoundPrices) if !evidence.prices.is_empty() => {
            least_cost(pool, &evidence.prices, NEAR)
        }
        (_, Method::BoundRents) if !evidence.rents.is_empty() => {
            Ok(least_with_rents(pool, &evidence.rents))
        }
        (_, Method::BoundOrders) => {
            let least = cost / (1.0 + claim.value);
            no_order_costs_less(pool, least, NEAR).map(|()| least)
        }
        _ => Err("the evidence has nothing of the kind".into()),
    };
    let told = match bound {
        Err(why) => Some(why),
        Ok(least)
            if !(claim.value >= 0.0 && cost <= least * (1.0 + claim.value) * (1.0 + NEAR)) =>
        {
            Some(format!(
                "{}, but all that is known is {}: {cost} over {least}",
                claim.value,
                cost / least - 1.0
            ))
        }
        Ok(_) => None,
    };
    if let Some(message) = told {
        findings.add(format!("{path}.value"), message);
    }
}
