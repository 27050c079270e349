use num_bigint::BigInt;
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{One, Zero};

use super::Document;
use super::knapsack::{self, Region, Verdict};
use crate::artifact::{ExactRecord, Fraction, MAX_DIGITS, Proven};
use crate::schedule::{Packing, price};
use synth_core::artifact::Findings;

/// The most nodes of the knapsack, and the length in bits beyond which they cost more.
const NODES: u64 = 20_000_000;
const LONG: u64 = 512;

/// The cost of the server in the search, which is large enough to distinguish the types.
const SERVER: f64 = (1_u64 << 60) as f64;

pub(super) fn shape(found: &ExactRecord, schedules: usize, types: usize, findings: &mut Findings) {
    let digits = found.digits();
    if digits > MAX_DIGITS {
        let expected = format!("at most {MAX_DIGITS}");
        return findings.differs("", format!("{digits} digits"), expected);
    }
    findings.length("weights", found.weights.len(), schedules, "schedule");
    for (s, weight) in found.weights.iter().enumerate() {
        if weight.exact().is_zero() {
            findings.differs(format!("weights[{s}]"), 0, "a fraction > 0");
        }
    }
    sums_to_one("weights", &found.weights, findings);
    match (found.proven, &found.prices) {
        (Proven::Optimum, Some(prices)) => {
            findings.length("prices", prices.len(), types, "job type");
            sums_to_one("prices", prices, findings);
        }
        (Proven::Mix, None) => {}
        (Proven::Optimum, None) => {
            findings.differs("", "no prices", "the prices that prove the optimum");
        }
        (Proven::Mix, Some(_)) => {
            findings.add("", "expected no prices since the optimum is not proven");
        }
    }
}

fn sums_to_one(path: &str, shares: &[Fraction], findings: &mut Findings) {
    let sum: BigRational = shares.iter().map(Fraction::exact).sum();
    if !sum.is_one() {
        findings.add(path, "the sum is not exactly 1");
    }
}

pub(super) fn check(
    document: &Document<'_>,
    found: &ExactRecord,
    mix: (&[Vec<u32>], &[f64]),
    findings: &mut Findings,
) {
    let types = document.workload.types();
    let offered: Option<Vec<BigRational>> = types.iter().map(|t| t.exact_load()).collect();
    let Some(offered) = offered else {
        let message = "expected none: an offered load of the workload is not a fraction";
        return findings.add("evidence.exact", message);
    };
    let has_load = load(document, found, mix, &offered, findings);
    if let Some(prices) = &found.prices {
        let bound = document.evidence.bound;
        nearest("evidence.bound", bound, &found.load, findings);
        if has_load && let Some(message) = beaten(document, found, prices, &offered) {
            findings.add("evidence.exact.prices", message);
        }
    }
}

/// Checks that `ρ = max_i b_i / (πW)_i`, and the doubles. Returns whether all fractions are right.
fn load(
    document: &Document<'_>,
    found: &ExactRecord,
    (schedules, weights): (&[Vec<u32>], &[f64]),
    offered: &[BigRational],
    findings: &mut Findings,
) -> bool {
    let path = "evidence.exact.load";
    let served = |i: usize| -> BigRational {
        let pairs = schedules.iter().zip(&found.weights);
        pairs.map(|(u, p)| p.exact() * BigInt::from(u[i])).sum()
    };
    let served: Vec<BigRational> = (0..offered.len()).map(served).collect();
    if served.iter().any(Zero::is_zero) {
        findings.add(path, "no schedule serves one of the types");
        return false;
    }
    let loads = offered.iter().zip(served).map(|(b, served)| b / served);
    if loads.max().as_ref() != Some(found.load.exact()) {
        let message = format!("{}, which is not the load of these weights", found.load);
        findings.add(path, message);
    } else if *found.load.exact() >= BigRational::one() {
        findings.differs(path, &found.load, "< 1");
    }
    nearest(
        "evidence.load",
        document.evidence.load,
        &found.load,
        findings,
    );
    let mix = document
        .rule
        .msr()
        .map_or("evidence.servers[0].mix", |_| "policy.msr");
    for (s, (weight, exact)) in weights.iter().zip(&found.weights).enumerate() {
        nearest(&format!("{mix}.weights[{s}]"), *weight, exact, findings);
    }
    findings.is_clear("evidence.exact")
}

fn nearest(path: &str, found: f64, exact: &Fraction, findings: &mut Findings) {
    let expected = exact.nearest();
    if found != expected {
        let expected = format!("{expected}, the double nearest to the exact value");
        findings.differs(path, found, expected);
    }
}

/// Returns why it is not proved that no schedule is worth more than `1/ρ` at the values `y_i/b_i`.
fn beaten(
    document: &Document<'_>,
    found: &ExactRecord,
    prices: &[Fraction],
    offered: &[BigRational],
) -> Option<String> {
    let worth = |(y, b): (&Fraction, &BigRational)| y.exact() / b * found.load.exact();
    let worths: Vec<BigRational> = prices.iter().zip(offered).map(worth).collect();
    let denominators = worths.iter().map(BigRational::denom);
    let one = denominators.fold(BigInt::one(), |unit, denominator| unit.lcm(denominator));
    let values = worths.iter().map(|v| v.numer() * (&one / v.denom()));
    let values: Vec<BigInt> = values.collect();
    let packing = Packing::new(document.workload);
    if (0..packing.capacity().len()).any(|j| is_covered(&packing, j, &values, &one)) {
        return None;
    }
    let prices = &document.evidence.servers[0].resource_prices;
    let nodes = NODES / (1 + one.bits() / LONG);
    match search(&packing, &values, one, prices, nodes) {
        Verdict::Bounded => None,
        Verdict::Exceeded(schedule, _) => Some(format!(
            "schedule {schedule:?} is worth more than 1/ρ at these prices"
        )),
        Verdict::Undecided => Some(format!("could not be verified within {nodes} nodes")),
    }
}

fn search(
    packing: &Packing,
    values: &[BigInt],
    one: BigInt,
    prices: &[f64],
    mut nodes: u64,
) -> Verdict<BigInt> {
    let (costs, capacity) = costs(packing, prices);
    let all = Region::all(packing, capacity);
    knapsack::exceeds(packing, (values, &costs), all, one, &mut nodes)
}

/// Returns whether a search over at most `nodes` nodes shows that no schedule is worth more than
/// `one` at values (K) ≥ 0. The resource prices (R) only affect the time it takes.
pub fn is_bounded(
    packing: &Packing,
    values: &[BigInt],
    one: &BigInt,
    prices: &[f64],
    nodes: u64,
) -> bool {
    search(packing, values, one.clone(), prices, nodes) == Verdict::Bounded
}

/// Returns whether every value is at most its share of resource j, if the resource is worth `one`.
fn is_covered(packing: &Packing, j: usize, values: &[BigInt], one: &BigInt) -> bool {
    let capacity = packing.capacity()[j];
    let holds = |(i, v): (usize, &BigInt)| v * capacity <= one * packing.demand(i)[j];
    capacity > 0 && values.iter().enumerate().all(holds)
}

fn costs(packing: &Packing, prices: &[f64]) -> (Vec<BigInt>, BigInt) {
    let total = price(packing.capacity(), prices);
    let whole = |w: &f64| 1 + (w / total * SERVER) as u64;
    let prices: Vec<u64> = prices.iter().map(whole).collect();
    let cost = |units: &[u64]| {
        let pairs = units.iter().zip(&prices);
        pairs.map(|(d, w)| BigInt::from(*d) * w).sum()
    };
    let types = (0..packing.types()).map(|i| cost(packing.demand(i)));
    (types.collect(), cost(packing.capacity()))
}
