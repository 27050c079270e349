//! Both sides of the certificate: the load from the mix, the bound from the prices.

use super::knapsack::{self, Verdict};
use super::table;
use super::{Report, is_close, mean_schedule, mix};
use crate::artifact::{Artifact, CertificateRecord, RelaxedRecord};
use crate::schedule::Packing;
use crate::workload::Workload;

/// Relative rounding allowed in load, prices and bound.
const ROUNDING: f64 = 1e-9;

/// A gap up to this is a proof.
const PROOF_GAP: f64 = 1e-9;

/// Nodes that the knapsack may visit.
const NODES: u64 = 50_000_000;

/// `load = max_i b_i / (πW)_i`, and below 1.
pub(super) fn load(artifact: &Artifact, workload: &Workload, report: &mut Report) {
    let path = "certificate.load";
    let found = artifact.certificate.load;
    let Some(mix) = mix(artifact) else { return };
    let served = mean_schedule(mix.schedules, mix.weights);
    let loads = workload
        .types()
        .iter()
        .zip(served)
        .map(|(kind, u)| kind.offered_load() / u);
    let load = loads.fold(0.0, f64::max);
    if report.is_clear(path) && !is_close(found, load, ROUNDING) {
        report.add(path, format!("{found}, expected {load}"));
    }
    let stabilizes = load < 1.0;
    if !stabilizes {
        report.add(
            path,
            format!("the schedules and weights have load {load}, expected < 1"),
        );
    }
}

/// That no schedule is worth more than `1/bound` at the prices `y_i/b_i`.
pub(super) fn bound(found: &CertificateRecord, workload: &Workload, report: &mut Report) {
    let types = workload.types().iter();
    let values: Vec<f64> = types
        .zip(&found.prices)
        .map(|(kind, y)| y / kind.offered_load())
        .collect();
    let worth = (1.0 + ROUNDING) / found.bound;
    let prices = (values.as_slice(), found.resource_prices.as_slice());
    let path = "certificate.resource_prices";
    let by_table = found.relaxed.as_ref();
    if let Some(why) = dominated(prices, by_table, worth, path, workload, report) {
        report.add("certificate.bound", format!("{}: {why}", found.bound));
    }
}

/// Why some schedule may be worth more than `worth`, where it may; the prices are those of running
/// jobs (K), and those of the resources' units (R) that cover them, found at `path`.
pub(super) fn dominated(
    (values, resource_prices): (&[f64], &[f64]),
    by_table: Option<&RelaxedRecord>,
    worth: f64,
    path: &str,
    workload: &Workload,
    report: &mut Report,
) -> Option<String> {
    let packing = Packing::new(workload);
    let types = workload.types();
    let cost = |units: &[u64]| -> f64 {
        units
            .iter()
            .zip(resource_prices)
            .map(|(d, w)| *d as f64 * w)
            .sum()
    };
    let costs: Vec<f64> = (0..types.len()).map(|i| cost(packing.demand(i))).collect();
    let relaxed = cost(packing.capacity());
    if !relaxed.is_finite() {
        report.add(path, "the server's price is out of the range of numbers");
        return None;
    }
    for ((kind, value), cost) in types.iter().zip(values).zip(&costs) {
        let covered = *cost >= value * (1.0 - ROUNDING);
        if !covered {
            let name = kind.name();
            let message = format!(
                "a job of type `{name}` costs {cost} at these prices, expected at least its value {value}"
            );
            report.add(path, message);
        }
    }
    let by_table = by_table.filter(|_| report.is_clear("certificate.relaxed"));
    let by_table = by_table.and_then(|relaxed| table::bound(&packing, relaxed, values));
    if by_table.is_some_and(|bound| bound <= worth) {
        return None;
    }
    // Without integrality already: the knapsack is worth at most P·w.
    if !report.is_clear(path) || relaxed <= worth {
        return None;
    }
    match knapsack::exceeds(&packing, values, &costs, relaxed, worth, NODES) {
        Verdict::Bounded => None,
        Verdict::Beaten(schedule, value) => Some(format!(
            "schedule {schedule:?} is worth {value} at these prices, expected at most {worth}"
        )),
        Verdict::Undecided => Some(format!("could not be verified within {NODES} nodes")),
    }
}

/// `gap = load/bound − 1`, not below 0; and `proven` says whether it is a proof.
pub(super) fn gap(found: &CertificateRecord, report: &mut Report) {
    let gap = (found.load / found.bound - 1.0).max(0.0);
    if !((found.gap - gap).abs() <= 1e-12 || is_close(found.gap, gap, 1e-6)) {
        report.add("certificate.gap", format!("{}, expected {gap}", found.gap));
    } else if found.proven != (found.gap <= PROOF_GAP) {
        let message = format!(
            "{}, expected {} at gap {}",
            found.proven, !found.proven, found.gap
        );
        report.add("certificate.proven", message);
    }
}
