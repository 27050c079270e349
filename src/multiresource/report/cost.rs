//! What a policy costs.

use std::fmt::Write as _;

use super::{Table, claim, number, percent, unmet_by};
use crate::multiresource::analysis::{AnalysisError, PaperBounds};
use crate::multiresource::artifact::{
    Artifact, Backfill, Claim, EmptySlots, Method, Preemption, Quantity, unmet,
};
use crate::multiresource::synthesis::{Log, Synthesis};
use crate::multiresource::workload::{JobType, Workload};

/// Load and cost of each type.
pub(super) fn cost_table(workload: &Workload, made: &Synthesis, width: usize) -> String {
    let artifact = &made.artifact;
    let unit = workload.time_unit();
    let mean = format!("E[T] [{unit}]");
    let missing = made.out_of_reach.len();
    let (some, all) = (missing < workload.types().len(), missing == 0);
    let of_all = [
        ("served", Quantity::MeanSchedule),
        ("load ρ_i", Quantity::Load),
    ];
    let exact = [
        (mean.as_str(), Quantity::MeanResponse),
        ("E[N]", Quantity::MeanNumber),
        ("P50", Quantity::ResponseP50),
        ("P95", Quantity::ResponseP95),
        ("P99", Quantity::ResponseP99),
    ];
    let bounds = [
        ("E[N] at least", Quantity::MeanNumberAtLeast),
        ("approx.", Quantity::MeanNumber),
        ("at most", Quantity::MeanNumberAtMost),
    ];
    let mut columns = of_all.to_vec();
    columns.extend(exact.iter().filter(|_| some));
    // Where some are exact, approximations stand among them.
    let is_shown = |(_, quantity): &&(&str, Quantity)| !some || *quantity != Quantity::MeanNumber;
    columns.extend(bounds.iter().filter(|_| !all).filter(is_shown));
    let heads = columns.iter().map(|(head, _)| *head);
    let mut table = Table::new(["type", "arrivals", "mean size"].into_iter().chain(heads));
    table = table.wrapping(1);
    for kind in workload.types() {
        let value = |(_, quantity): &(&str, Quantity)| {
            let found = claim(artifact, *quantity, Some(kind.name()));
            let approximate = |c: &Claim| c.method == Method::ApproximationQueueLength;
            let sign = |c: &Claim| if some && approximate(c) { "≈ " } else { "" };
            found.map_or("–".into(), |c| format!("{}{}", sign(c), number(c.value)))
        };
        let row = [
            kind.name().into(),
            arrivals(kind, unit),
            format!("{} {unit}", number(kind.size().mean())),
        ];
        table.row(row.into_iter().chain(columns.iter().map(value)));
    }
    if all {
        let total =
            |quantity| claim(artifact, quantity, None).map_or("–".into(), |c| number(c.value));
        let row = ["all", "", "", "", ""].map(String::from).into_iter();
        let totals = [Quantity::MeanResponse, Quantity::MeanNumber].map(total);
        table.row(row.chain(totals));
    }
    table.within(width)
}

/// The mean rate, and the process where it is not Poisson by itself.
fn arrivals(kind: &JobType, unit: &str) -> String {
    let rate = format!("{} /{unit}", number(kind.arrival_rate()));
    let process = kind.arrivals();
    if !process.is_poisson() {
        return format!("{rate}, {}", process.process());
    }
    if kind.is_poisson() {
        return rate;
    }
    format!("{rate}, modulated")
}

/// Under what conditions the costs hold, and whether the policy runs under them.
pub(super) fn conditions(workload: &Workload, made: &Synthesis) -> String {
    let artifact = &made.artifact;
    let unit = workload.time_unit();
    let mut text = String::new();
    let Some(mean) = claim(artifact, Quantity::MeanResponse, None) else {
        for why in &made.out_of_reach {
            let _ = writeln!(text, "no mean is claimed: {why}{}", more(why));
        }
        return text;
    };
    let weighted = claim(artifact, Quantity::WeightedResponse, None);
    let weighted = weighted.map_or(String::new(), |weighted| {
        format!(", weighted by load {} {unit}", number(weighted.value))
    });
    let policy = &made.policy;
    let drains = policy.preemption == Preemption::None;
    let phantom = !drains || policy.empty_slots == EmptySlots::Phantom;
    let without = if policy.backfill != Backfill::None || !phantom {
        ", without the backfilling and the release of empty slots with which it runs: `synth simulate` measures those"
    } else {
        ""
    };
    let _ = writeln!(
        text,
        "E[T] = {} {unit} over all jobs{weighted}, {}{without}",
        number(mean.value),
        how(workload, mean, policy.preemption)
    );
    for why in made.out_of_reach.iter().take(REASONS) {
        let _ = writeln!(text, "{why}{}", more(why));
    }
    if let Some(others) = made.out_of_reach.len().checked_sub(REASONS + 1) {
        let _ = writeln!(text, "and so on, {} types more", others + 1);
    }
    text
}

/// Of so many types it is said why something is not known; of the others that it is not.
const REASONS: usize = 3;

/// What was computed, and what to do where it was computed for simpler laws.
fn how(workload: &Workload, mean: &Claim, preemption: Preemption) -> String {
    if mean.method == Method::ApproximationQueueLength {
        return "approximately (bounds are exact)".into();
    }
    let preempts = preemption != Preemption::None;
    let unmet = unmet(&mean.holds_for, None, workload, preempts);
    let Some(taken) = unmet.words() else {
        return "exactly".into();
    };
    // Only a chain that waits for completions depends on the law of sizes.
    if (unmet.sizes || unmet.independence) && !preempts {
        format!("as if {taken}; with these sizes even its stability is not proved: simulate it")
    } else {
        format!("as if {taken} (loads and stability are exact; simulate it for the means)")
    }
}

/// What to do about it.
fn more(why: &AnalysisError) -> &'static str {
    match why {
        AnalysisError::TooLarge(_) => "; more with --effort",
        _ => "",
    }
}

/// The MSR paper's own quantities beside the exact means.
pub fn explain(
    workload: &Workload,
    (artifact, log): (&Artifact, &Log),
    bounds: &[PaperBounds],
    width: usize,
) -> String {
    let mut table = Table::new([
        "type",
        "load ρ_i",
        "E[Δ]",
        "min Δ",
        "max Δ",
        "at least",
        "approx.",
        "exact",
        "at most",
    ]);
    for (kind, paper) in workload.types().iter().zip(bounds) {
        let exact = claim(artifact, Quantity::MeanNumber, Some(kind.name()));
        let exact = exact.filter(|claim| {
            claim.method == Method::ExactQbd && !unmet_by(claim, artifact, workload).any()
        });
        table.row([
            kind.name().into(),
            percent(paper.load),
            number(paper.mean_ahead),
            number(paper.range_ahead.0),
            number(paper.range_ahead.1),
            number(paper.lower),
            number(paper.approximation),
            exact.map_or("–".into(), |c| number(c.value)),
            number(paper.upper),
        ]);
    }
    let mut text = format!(
        "mean number of jobs as the MSR paper has it (theorem 8 with the law after the completion,\n§6.4 clamped to it), beside the exact value:\n\n{}\n",
        table.within(width)
    );
    for tried in &log.routes {
        let _ = writeln!(
            text,
            "{}: α* = {}",
            tried.route,
            number(tried.switching_rate)
        );
    }
    text
}
