//! Both sides of the certificate: the load from the mix, the bound from the prices.

use super::knapsack::{self, Verdict};
use super::{Report, is_close, mean_schedule, mix};
use crate::artifact::{Artifact, CertificateRecord};
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
    let packing = Packing::new(workload);
    let types = workload.types();
    let values: Vec<f64> = types
        .iter()
        .zip(&found.prices)
        .map(|(kind, y)| y / kind.offered_load())
        .collect();
    let cost = |units: &[u64]| -> f64 {
        units
            .iter()
            .zip(&found.resource_prices)
            .map(|(d, w)| *d as f64 * w)
            .sum()
    };
    let costs: Vec<f64> = (0..types.len()).map(|i| cost(packing.demand(i))).collect();
    let relaxed = cost(packing.capacity());
    if !relaxed.is_finite() {
        report.add(
            "certificate.resource_prices",
            "the server's price is out of the range of numbers",
        );
        return;
    }
    for ((kind, value), cost) in types.iter().zip(&values).zip(&costs) {
        let covered = *cost >= value * (1.0 - ROUNDING);
        if !covered {
            let name = kind.name();
            let message = format!(
                "a job of type `{name}` costs {cost} at these prices, expected at least its value {value}"
            );
            report.add("certificate.resource_prices", message);
        }
    }
    let worth = (1.0 + ROUNDING) / found.bound;
    // Without integrality already: the knapsack is worth at most P·w.
    if report.is_clear("certificate.resource_prices") && relaxed > worth {
        let verdict = knapsack::exceeds(&packing, &values, &costs, relaxed, worth, NODES);
        judge(&verdict, found, report);
    }
}

fn judge(verdict: &Verdict<f64>, found: &CertificateRecord, report: &mut Report) {
    let message = match verdict {
        Verdict::Bounded => return,
        Verdict::Beaten(schedule, value) => format!(
            "{}: schedule {schedule:?} is worth {value} at these prices, expected at most {}",
            found.bound,
            1.0 / found.bound
        ),
        Verdict::Undecided => {
            format!(
                "{}: could not be verified within {NODES} nodes",
                found.bound
            )
        }
    };
    report.add("certificate.bound", message);
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
