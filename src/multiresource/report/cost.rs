//! What a policy costs.

use std::fmt::Write as _;

use super::{Table, claim, number, percent};
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
    let mut header = vec!["type", "arrivals", "mean size", "served", "load ρ_i"];
    let mut columns = vec![Quantity::MeanSchedule, Quantity::Load];
    if some {
        header.extend([mean.as_str(), "E[N]"]);
        columns.extend([Quantity::MeanResponse, Quantity::MeanNumber]);
        header.extend(["P50", "P95", "P99"]);
        columns.extend([
            Quantity::ResponseP50,
            Quantity::ResponseP95,
            Quantity::ResponseP99,
        ]);
    }
    if !all {
        header.extend(["E[N] at least", "at most"]);
        columns.extend([Quantity::MeanNumberAtLeast, Quantity::MeanNumberAtMost]);
    }
    if !some {
        header.insert(6, "approx.");
        columns.insert(3, Quantity::MeanNumber);
    }
    let mut table = Table::new(header).wrapping(1);
    for kind in workload.types() {
        let value = |quantity: &Quantity| {
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
    let total =
        |quantity| claim(artifact, quantity, None).map_or("–".into(), |c| number(c.value));
    if all {
        let row = ["all", "", "", "", ""].map(String::from).into_iter();
        let totals = [total(Quantity::MeanResponse), total(Quantity::MeanNumber)];
        table.row(row.chain(totals));
    }
    table.within(width)
}

/// The mean rate, and the process where it is not Poisson by itself.
fn arrivals(kind: &JobType, unit: &str) -> String {
    let rate = format!("{} /{unit}", number(kind.arrival_rate()));
    let process = kind.arrivals();
    match process.is_poisson() {
        true if kind.is_poisson() => rate,
        true => format!("{rate}, modulated"),
        false => format!("{rate}, {}", process.process()),
    }
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
    let how = told(workload, mean, made.policy.preemption);
    let _ = write!(text, "E[T] = {} {unit} over all jobs", number(mean.value));
    if let Some(weighted) = claim(artifact, Quantity::WeightedResponse, None) {
        let _ = write!(text, ", weighted by load {} {unit}", number(weighted.value));
    }
    let _ = write!(text, ", {how}");
    let policy = &made.policy;
    let drains = policy.preemption == Preemption::None;
    let phantom = !drains || policy.empty_slots == EmptySlots::Phantom;
    if policy.backfill != Backfill::None || !phantom {
        let _ = write!(
            text,
            ", without the backfilling and the release of empty slots with which it runs: `synth simulate` measures those"
        );
    }
    let _ = writeln!(text);
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
fn told(workload: &Workload, mean: &Claim, preemption: Preemption) -> String {
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

/// A quantity with all its digits.
pub(super) fn plain(value: f64) -> String {
    format!("{value}")
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
            let unmet = unmet(
                &claim.holds_for,
                Some(kind.name()),
                workload,
                artifact.policy.preempts(),
            );
            claim.method == Method::ExactQbd && !unmet.any()
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
