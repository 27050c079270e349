//! What the policy's mix is best for, where it is not the load: the value from the mix, the bound from
//! the prices.

use super::certificate::{NODES, Priced};
use super::shape::search;
use super::{OneServer, mean_schedule};
use crate::artifact::{Findings, is_close, length, nonnegative, positive};
use crate::multiresource::artifact::{Balance, BalanceRecord};
use crate::multiresource::workload::Workload;

/// Relative rounding allowed in value and bound.
const ROUNDING: f64 = 1e-9;

/// Relative rounding of a sum of some hundred products. The headroom `x − b` is a difference: it has
/// x/(x − b) times this, and so have the values that are made of it.
const SUMMED: f64 = 1e-13;

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
    bound(found, workload, findings);
    let Some(policy) = server.rule.msr() else {
        return findings.add(PATH, "expected none, since the policy is no mix");
    };
    if findings.is_clear("policy.schedules") && findings.is_clear("policy.weights") {
        let served = mean_schedule(&policy.schedules, &policy.weights);
        sides(found, workload, &served, findings);
    }
    gap(found, findings);
}

/// The value is that of the mix, and on its side of the bound.
fn sides(found: &BalanceRecord, workload: &Workload, served: &[f64], findings: &mut Findings) {
    let at = |sign: f64| {
        let rounded = served.iter().map(|x| x * (1.0 + sign * SUMMED));
        value(found, workload, &rounded.collect::<Vec<f64>>())
    };
    // More service improves the value: it lies between those of a little less and a little more.
    let (worst, best) = (at(-1.0), at(1.0));
    let least = worst.min(best) * (1.0 - ROUNDING);
    let most = worst.max(best) * (1.0 + ROUNDING);
    let path = format!("{PATH}.value");
    if !(least..=most).contains(&found.value) {
        findings.add(path, format!("{}, expected {}", found.value, at(0.0)));
        return;
    }
    let crossed = match found.aim {
        Balance::Headroom => least > found.bound,
        Balance::TotalResponse | Balance::WorstResponse => most < found.bound,
    };
    if crossed {
        let message = format!("{}, better than what no mix improves on", found.value);
        findings.add(path, message);
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
    if let Some(tree) = &found.search {
        let path = format!("{PATH}.search");
        search(&path, tree, (types, resources), findings);
    }
    positive(format!("{PATH}.value"), found.value, findings);
    positive(format!("{PATH}.bound"), found.bound, findings);
    nonnegative(format!("{PATH}.gap"), found.gap, findings);
}

/// From the jobs of each type that the mix serves on average, x (K).
fn value(found: &BalanceRecord, workload: &Workload, served: &[f64]) -> f64 {
    let types = workload.types().iter().zip(served).zip(&found.weights);
    // x_i, b_i and w_i.
    let types = types.map(|((kind, x), w)| (*x, kind.offered_load(), *w));
    let response = |(x, b, w): (f64, f64, f64)| w * x / (x - b).max(0.0);
    match found.aim {
        Balance::Headroom => types
            .map(|(x, b, w)| (x - b) / (b * w))
            .fold(f64::INFINITY, f64::min),
        Balance::TotalResponse => types.map(response).sum(),
        Balance::WorstResponse => types.map(response).fold(0.0, f64::max),
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
        rounding: SUMMED,
        search: found.search.as_ref(),
        nodes: NODES,
        prices_path: &format!("{PATH}.resource_prices"),
        bound_path: &format!("{PATH}.bound"),
    };
    at.check(found.bound, workload, findings);
}

/// What a schedule may be worth at most if nothing is to improve on the bound; `works` (K) is
/// what each type's offered load is worth. Rounding is allowed in the bound: of what stands above the
/// least that a response can be, hardly a digit may be left, but the bound itself has all.
fn allowed(found: &BalanceRecord, works: &[f64]) -> f64 {
    let bound = match found.aim {
        Balance::Headroom => found.bound * (1.0 + ROUNDING),
        Balance::TotalResponse | Balance::WorstResponse => found.bound * (1.0 - ROUNDING),
    };
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

/// The larger of value and bound over the smaller, less 1; and whether that is a proof.
fn gap(found: &BalanceRecord, findings: &mut Findings) {
    let ratio = found.value / found.bound;
    let gap = ratio.max(1.0 / ratio) - 1.0;
    if !((found.gap - gap).abs() <= 1e-12 || is_close(found.gap, gap, 1e-6)) {
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
