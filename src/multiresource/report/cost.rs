//! What a policy costs.

use std::fmt::Write as _;

use itertools::{Itertools as _, chain};

use super::{Table, claim, number};
use crate::multiresource::analysis::AnalysisError;
use crate::multiresource::artifact::{
    Backfill, Claim, EmptySlots, Method, Preemption, Quantity, unmet,
};
use crate::multiresource::synthesis::{MsfqOutlook, Synthesis};
use crate::multiresource::workload::{JobType, Workload};

/// Load and cost of each type.
pub(super) fn cost_table(workload: &Workload, synthesized: &Synthesis, width: usize) -> String {
    let artifact = &synthesized.artifact;
    let unit = workload.time_unit();
    let mean = format!("E[T] [{unit}]");
    let missing = synthesized.out_of_reach.len();
    let (some, all) = (missing < workload.types().len(), missing == 0);
    let columns = [
        (true, "served", Quantity::MeanSchedule),
        (true, "load ρ_i", Quantity::Load),
        (some, mean.as_str(), Quantity::MeanResponse),
        (some, "E[N]", Quantity::MeanNumber),
        (some, "P50", Quantity::ResponseP50),
        (some, "P95", Quantity::ResponseP95),
        (some, "P99", Quantity::ResponseP99),
        (!all, "E[N] at least", Quantity::MeanNumberAtLeast),
        // Where some are exact, approximations stand among them.
        (!some, "approx.", Quantity::MeanNumber),
        (!all, "at most", Quantity::MeanNumberAtMost),
    ];
    let columns = || columns.iter().filter(|(is_shown, ..)| *is_shown);
    let heads = columns().map(|(_, head, _)| *head);
    let mut table = Table::new(chain!(["type", "arrivals", "mean size"], heads)).wrapping(1);
    for kind in workload.types() {
        let value = |(_, _, quantity): &(bool, &str, Quantity)| {
            let Some(claim) = claim(artifact, *quantity, Some(kind.name())) else {
                return "–".into();
            };
            let approximates = claim.method == Method::ApproximationQueueLength;
            let sign = if some && approximates { "≈ " } else { "" };
            format!("{sign}{}", number(claim.value))
        };
        let size = format!("{} {unit}", number(kind.size().mean()));
        let row = [kind.name().into(), arrivals(kind, unit), size];
        table.row(chain!(row, columns().map(value)));
    }
    if all {
        let total = |quantity| claim(artifact, quantity, None).map(|own| number(own.value));
        let totals = [Quantity::MeanResponse, Quantity::MeanNumber].map(total);
        let totals = totals.map(|own| own.unwrap_or("–".into()));
        table.row(chain!(["all", "", "", "", ""].map(String::from), totals));
    }
    table.within(width)
}

/// Returns the mean rate, and the process where it is not Poisson by itself.
fn arrivals(kind: &JobType, unit: &str) -> String {
    let rate = format!("{} /{unit}", number(kind.arrival_rate()));
    let process = kind.arrivals();
    if !process.is_poisson() {
        format!("{rate}, {}", process.process())
    } else if kind.is_poisson() {
        rate
    } else {
        format!("{rate}, modulated")
    }
}

/// Under what conditions the costs hold, and whether the policy runs under them.
pub(super) fn conditions(workload: &Workload, synthesized: &Synthesis) -> String {
    let artifact = &synthesized.artifact;
    let unit = workload.time_unit();
    let Some(mean) = claim(artifact, Quantity::MeanResponse, None) else {
        let reasons = synthesized.out_of_reach.iter().map(reason);
        let reasons = reasons.map(|why| format!("no mean is claimed: {why}"));
        return reasons.collect();
    };
    let weighted = claim(artifact, Quantity::WeightedResponse, None);
    let weighted = weighted.map_or(String::new(), |own| {
        format!(", weighted by load {} {unit}", number(own.value))
    });
    let policy = &synthesized.policy;
    let drains = policy.preemption == Preemption::None;
    let phantom = !drains || policy.empty_slots == EmptySlots::Phantom;
    let without = if policy.backfill != Backfill::None || !phantom {
        ", without the backfilling and the release of empty slots with which it runs: `synth simulate` measures those"
    } else {
        ""
    };
    let (mean, how) = (number(mean.value), how(workload, mean, policy.preemption));
    let mut text = format!("E[T] = {mean} {unit} over all jobs{weighted}, {how}{without}\n");
    text.extend(synthesized.out_of_reach.iter().take(REASONS).map(reason));
    if let Some(others) = synthesized.out_of_reach.len().checked_sub(REASONS + 1) {
        let _ = writeln!(text, "and so on, {} types more", others + 1);
    }
    text
}

/// Of so many types it is said why something is not known; of the others that it is not.
const REASONS: usize = 3;

/// Says what was computed, and what to do where it was computed for simpler laws.
fn how(workload: &Workload, mean: &Claim, preemption: Preemption) -> String {
    if mean.method == Method::ApproximationQueueLength {
        return "approximately (bounds are exact)".into();
    }
    let preempts = preemption != Preemption::None;
    let unmet = unmet(&mean.holds_for, None, workload, preempts);
    match unmet.words() {
        None => "exactly".into(),
        // Only a chain that waits for completions depends on the law of sizes.
        Some(assumed) if (unmet.sizes || unmet.independence) && !preempts => {
            format!(
                "as if {assumed}; with these sizes even its stability is not proved: simulate it"
            )
        }
        Some(assumed) => {
            format!("as if {assumed} (loads and stability are exact; simulate it for the means)")
        }
    }
}

/// Says why something is not known, and what to do about it.
fn reason(why: &AnalysisError) -> String {
    match why {
        AnalysisError::TooLarge(_) => format!("{why}; more with --work\n"),
        why => format!("{why}\n"),
    }
}

/// Returns seven significant digits: what is exact may be compared with other exact numbers.
fn digits(value: f64) -> String {
    if !(1e-5..1e9).contains(&value) {
        return format!("{value:.6e}");
    }
    let decimals = (6 - value.abs().log10().floor() as i64).clamp(0, 12) as usize;
    format!("{value:.decimals$}")
}

/// Exact means of MSFQ by its threshold; that of the policy among them.
pub fn thresholds(
    workload: &Workload,
    outlook: &MsfqOutlook,
    own: Option<u32>,
    width: usize,
) -> String {
    let unit = workload.time_unit();
    let table = outlook.table(own.map(|l| l as usize));
    let reasons = table.unknown.iter().join("; ");
    let names = [outlook.system.light, outlook.system.heavy].map(|i| workload.types()[i].name());
    let header = ["ℓ", "objective", names[0], names[1], "", "approximation"];
    let mut rows = Table::new(header);
    for row in &table.rows {
        let values = row.response.map(|r| [outlook.value(r), r[0], r[1]]);
        let [value, light, heavy] =
            [0, 1, 2].map(|n| values.map_or("–".into(), |own| digits(own[n])));
        rows.row([
            row.threshold.to_string(),
            value,
            light,
            heavy,
            if row.is_best { "ℓ*" } else { "" }.into(),
            row.approximation.map_or("not valid".into(), number),
        ]);
    }
    let mut text = format!(
        "\nMSFQ(ℓ), strict, mean response times [{unit}]: exactly, and the objective by the paper's approximation;\nℓ = 0 is Most Servers First:\n\n{}\n",
        rows.within(width)
    );
    if !reasons.is_empty() {
        text += &format!("–: not known, since {reasons}\n");
    }
    if !table.is_complete {
        text +=
            "ℓ* is the best of the thresholds that were looked at and whose means are certain\n";
    }
    text
}
