//! What the policy's mix is best for, where it is not the load: the value from the mix, the bound from
//! the prices.

use super::certificate::Priced;
use super::{OneServer, mean_schedule};
use crate::artifact::{Findings, is_close, length, nonnegative, positive};
use crate::multiresource::artifact::{Balance, BalanceRecord};
use crate::multiresource::workload::Workload;

/// Relative rounding allowed in value and bound.
const ROUNDING: f64 = 1e-9;

/// A gap up to this is a proof.
const PROOF_GAP: f64 = 1e-6;

const PATH: &str = "certificate.balance";

/// Signs and shapes first: what is derived from them must have numbers to go by.
pub(super) fn check(server: &OneServer<'_>, found: &BalanceRecord, findings: &mut Findings) {
    let workload = server.workload;
    shape(found, workload, findings);
    if !findings.is_clear(PATH) {
        return;
    }
    gap(found, findings);
    bound(found, workload, findings);
    let Some(policy) = server.rule.msr() else {
        return findings.add(PATH, "expected none, since the policy is no mix");
    };
    if findings.is_clear("policy.schedules") && findings.is_clear("policy.weights") {
        let served = mean_schedule(&policy.schedules, &policy.weights);
        let value = value(found, workload, &served);
        if !is_close(found.value, value, ROUNDING) {
            let message = format!("{}, expected {value}", found.value);
            findings.add(format!("{PATH}.value"), message);
        }
    }
}

fn shape(found: &BalanceRecord, workload: &Workload, findings: &mut Findings) {
    let (types, resources) = (workload.types().len(), workload.resources().len());
    let fields = [
        ("weights", &found.weights, types, "job type"),
        ("prices", &found.prices, types, "job type"),
        (
            "resource_prices",
            &found.resource_prices,
            resources,
            "resource",
        ),
    ];
    for (field, numbers, count, each) in fields {
        let path = format!("{PATH}.{field}");
        length(&path, numbers.len(), count, each, findings);
        for (n, number) in numbers.iter().enumerate() {
            match field {
                "weights" => positive(format!("{path}[{n}]"), *number, findings),
                _ => nonnegative(format!("{path}[{n}]"), *number, findings),
            }
        }
    }
    positive(format!("{PATH}.value"), found.value, findings);
    positive(format!("{PATH}.bound"), found.bound, findings);
    nonnegative(format!("{PATH}.gap"), found.gap, findings);
}

/// From the jobs of each type that the mix serves on average, x (K).
fn value(found: &BalanceRecord, workload: &Workload, served: &[f64]) -> f64 {
    let types = workload.types().iter().zip(served).zip(&found.weights);
    // x_i − b_i, and w_i over the fraction of it that is idle.
    let spare = types.map(|((kind, x), w)| (x - kind.offered_load(), *x, *w));
    let response = |(spare, x, w): (f64, f64, f64)| w * x / spare.max(0.0);
    match found.aim {
        Balance::Headroom => spare
            .map(|(spare, x, w)| spare / ((x - spare) * w))
            .fold(f64::INFINITY, f64::min),
        Balance::TotalResponse => spare.map(response).sum(),
        Balance::WorstResponse => spare.map(response).fold(0.0, f64::max),
    }
}

/// That no schedule is worth more at these prices than the bound leaves.
fn bound(found: &BalanceRecord, workload: &Workload, findings: &mut Findings) {
    let loads = workload.types().iter().map(|kind| kind.offered_load());
    let works: Vec<f64> = found.prices.iter().zip(loads).map(|(v, b)| v * b).collect();
    let total: f64 = works.iter().sum();
    let scaled = (total - 1.0).abs() <= ROUNDING;
    if !scaled {
        let message = format!("the offered load is worth {total} at these prices, expected 1");
        return findings.add(format!("{PATH}.prices"), message);
    }
    let at = Priced {
        values: &found.prices,
        resource_prices: &found.resource_prices,
        worth: allowed(found, &works),
        by_table: None,
        prices_path: &format!("{PATH}.resource_prices"),
        bound_path: &format!("{PATH}.bound"),
    };
    at.check(found.bound, workload, findings);
}

/// What a schedule may be worth at most if nothing is to improve on the bound; `works` (K) is
/// what each type's offered load is worth.
fn allowed(found: &BalanceRecord, works: &[f64]) -> f64 {
    let bound = found.bound;
    let each = || works.iter().zip(&found.weights);
    match found.aim {
        Balance::Headroom => each().map(|(y, w)| y + y * w * bound).sum(),
        // Every response is above its weight, whatever schedules are worth.
        Balance::WorstResponse => each()
            .filter(|(y, _)| **y > 0.0)
            .map(|(y, w)| match w < &bound {
                true => y * bound / (bound - w),
                false => f64::INFINITY,
            })
            .sum(),
        Balance::TotalResponse => {
            let above = bound - found.weights.iter().sum::<f64>();
            let root: f64 = each().map(|(y, w)| (y * w).sqrt()).sum();
            match above > 0.0 {
                true => works.iter().sum::<f64>() + root * root / above,
                false => f64::INFINITY,
            }
        }
    }
}

/// The larger of value and bound over the smaller, less 1; and whether that is a proof. The bound
/// lies on its side of the value.
fn gap(found: &BalanceRecord, findings: &mut Findings) {
    let ratio = match found.aim {
        Balance::Headroom => found.bound / found.value,
        Balance::TotalResponse | Balance::WorstResponse => found.value / found.bound,
    };
    let gap = ratio.max(1.0 / ratio) - 1.0;
    if ratio < 1.0 - ROUNDING {
        let message = format!("{}, better than what no mix improves on", found.value);
        findings.add(format!("{PATH}.value"), message);
    } else if !((found.gap - gap).abs() <= 1e-12 || is_close(found.gap, gap, 1e-6)) {
        findings.add(
            format!("{PATH}.gap"),
            format!("{}, expected {gap}", found.gap),
        );
    } else if found.proven != (found.gap <= PROOF_GAP) {
        let (found, gap) = (found.proven, found.gap);
        let message = format!("{found}, expected {} at gap {gap}", !found);
        findings.add(format!("{PATH}.proven"), message);
    }
}
