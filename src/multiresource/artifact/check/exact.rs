//! The certificate in fractions, all of it derived anew in whole numbers: the mix has the load, and
//! the prices prove that none is lower.

use num_bigint::BigInt;
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{One, Zero};

use super::Mixed;
use super::knapsack::{self, Region, Verdict};
use crate::artifact::{Findings, length};
use crate::multiresource::artifact::{Evidence, ExactRecord, Fraction, MOST_DIGITS, Proven};
use crate::multiresource::schedule::Packing;
use crate::multiresource::workload::Workload;

/// Nodes that the knapsack may visit where numbers are short, and the bits from which on they are
/// long: what a node costs grows with them.
const NODES: u64 = 20_000_000;
const LONG: u64 = 512;

/// What the server costs in the search, about: resolution enough to tell the types apart.
const SERVER: f64 = (1_u64 << 60) as f64;

/// Lengths, signs and sums.
pub(super) fn shape(found: &ExactRecord, schedules: usize, types: usize, findings: &mut Findings) {
    let path = "evidence.exact";
    let digits = found.digits();
    if digits > MOST_DIGITS {
        findings.add(
            path,
            format!("{digits} digits, expected at most {MOST_DIGITS}"),
        );
        return;
    }
    let weights = format!("{path}.weights");
    length(
        &weights,
        found.weights.len(),
        schedules,
        "schedule",
        findings,
    );
    for (s, weight) in found.weights.iter().enumerate() {
        if weight.exact().is_zero() {
            findings.add(format!("{weights}[{s}]"), "0, expected a fraction > 0");
        }
    }
    sums_to_one(&weights, &found.weights, findings);
    match (found.proven, &found.prices) {
        (Proven::Optimum, Some(prices)) => {
            let path = format!("{path}.prices");
            length(&path, prices.len(), types, "job type", findings);
            sums_to_one(&path, prices, findings);
        }
        (Proven::Mix, None) => {}
        (Proven::Optimum, None) => {
            findings.add(path, "no prices, expected those that prove the optimum")
        }
        (Proven::Mix, Some(_)) => {
            findings.add(path, "expected no prices where the optimum is not proven")
        }
    }
}

fn sums_to_one(path: &str, shares: &[Fraction], findings: &mut Findings) {
    let sum: BigRational = shares.iter().map(Fraction::exact).sum();
    if !sum.is_one() {
        findings.add(path, "they do not sum to 1 exactly");
    }
}

/// Everything that the fractions say.
pub(super) fn check(
    evidence: &Evidence,
    found: &ExactRecord,
    mix: Mixed<'_>,
    workload: &Workload,
    findings: &mut Findings,
) {
    let offered: Option<Vec<BigRational>> =
        workload.types().iter().map(|t| t.exact_load()).collect();
    let Some(offered) = offered else {
        findings.add(
            "evidence.exact",
            "expected none: an offered load of the workload is no fraction",
        );
        return;
    };
    load(evidence, found, mix, &offered, findings);
    if let Some(prices) = &found.prices {
        let exact = findings.is_clear("evidence.exact");
        if evidence.bound != found.load.nearest() {
            let message = format!(
                "{}, expected {}, the exact one",
                evidence.bound,
                found.load.nearest()
            );
            findings.add("evidence.bound", message);
        }
        if exact {
            bound(evidence, found, prices, &offered, workload, findings);
        }
    }
}

/// `ρ = max_i b_i / (πW)_i`, and doubles are the nearest.
fn load(
    evidence: &Evidence,
    found: &ExactRecord,
    mix: Mixed<'_>,
    offered: &[BigRational],
    findings: &mut Findings,
) {
    let path = "evidence.exact.load";
    let served = |i: usize| -> BigRational {
        let pairs = mix.schedules.iter().zip(&found.weights);
        pairs.map(|(u, p)| p.exact() * BigInt::from(u[i])).sum()
    };
    let covered = |(i, b): (usize, &BigRational)| (b.clone(), served(i));
    let pairs: Vec<_> = offered.iter().enumerate().map(covered).collect();
    if pairs.iter().any(|(_, served)| served.is_zero()) {
        return findings.add(path, "a type is served by no schedule");
    }
    let load = pairs.into_iter().map(|(b, served)| b / served).max();
    if load.as_ref() != Some(found.load.exact()) {
        findings.add(
            path,
            format!("{}, which is not the load of these weights", found.load),
        );
    } else if *found.load.exact() >= BigRational::one() {
        findings.add(path, format!("{}, expected < 1", found.load));
    }
    if evidence.load != found.load.nearest() {
        let message = format!(
            "{}, expected {}, the exact one",
            evidence.load,
            found.load.nearest()
        );
        findings.add("evidence.load", message);
    }
    for (s, (weight, exact)) in mix.weights.iter().zip(&found.weights).enumerate() {
        if *weight != exact.nearest() {
            let message = format!("{weight}, expected {}, the exact one", exact.nearest());
            findings.add(format!("{}.weights[{s}]", mix.path), message);
        }
    }
}

/// That no schedule is worth more than `1/ρ` at `y_i/b_i`.
fn bound(
    evidence: &Evidence,
    found: &ExactRecord,
    prices: &[Fraction],
    offered: &[BigRational],
    workload: &Workload,
    findings: &mut Findings,
) {
    let worth = |(y, b): (&Fraction, &BigRational)| y.exact() / b * found.load.exact();
    let worths: Vec<BigRational> = prices.iter().zip(offered).map(worth).collect();
    let one = worths
        .iter()
        .fold(BigInt::one(), |unit, v| unit.lcm(v.denom()));
    let values: Vec<BigInt> = worths
        .iter()
        .map(|v| v.numer() * (&one / v.denom()))
        .collect();
    let packing = Packing::new(workload);
    if (0..packing.capacity().len()).any(|j| is_covered(&packing, j, &values, &one)) {
        return;
    }
    let (costs, capacity) = costs(&packing, &evidence.servers[0].resource_prices);
    let nodes = NODES / (1 + one.bits() / LONG);
    let all = Region::all(&packing, capacity);
    let verdict = knapsack::exceeds(&packing, (&values, &costs), all, one, &mut nodes.clone());
    let message = match verdict {
        Verdict::Bounded => return,
        Verdict::Beaten(schedule, _) => {
            format!("schedule {schedule:?} is worth more than 1/ρ at these prices")
        }
        Verdict::Undecided => format!("could not be verified within {nodes} nodes"),
    };
    findings.add("evidence.exact.prices", message);
}

/// Whether every value is at most the type's share of resource j, where all of the resource is
/// worth `one`: then u·D ≤ P says that no schedule is worth more.
fn is_covered(packing: &Packing, j: usize, values: &[BigInt], one: &BigInt) -> bool {
    let capacity = packing.capacity()[j];
    let holds = |(i, v): (usize, &BigInt)| v * capacity <= one * packing.demand(i)[j];
    capacity > 0 && values.iter().enumerate().all(holds)
}

/// What a job of each type (K) and the server cost, at whole prices in proportion to those given.
/// Whatever they are, they only decide how long the search takes.
fn costs(packing: &Packing, prices: &[f64]) -> (Vec<BigInt>, BigInt) {
    let total: f64 = packing
        .capacity()
        .iter()
        .zip(prices)
        .map(|(p, w)| *p as f64 * w)
        .sum();
    let whole = |w: &f64| 1 + (w / total * SERVER) as u64;
    let prices: Vec<u64> = prices.iter().map(whole).collect();
    let cost = |units: &[u64]| {
        units
            .iter()
            .zip(&prices)
            .map(|(d, w)| BigInt::from(*d) * w)
            .sum()
    };
    let types = (0..packing.types()).map(|i| cost(packing.demand(i)));
    (types.collect(), cost(packing.capacity()))
}
