use std::fmt::Write as _;

use super::{Table, decimals, estimate, number, percent};
use crate::artifact::Quantity as _;
use crate::multiresource::artifact::Claim;
use crate::multiresource::simulator::{Ending, Health, Judgement, Run, Verdict};
use crate::multiresource::verbs::{Simulated, Unjudged};
use crate::multiresource::workload::Workload;

/// What a simulation found, with the verdicts on the claims, if any were judged.
pub fn simulation(workload: &Workload, run: &Run, verdicts: &[Judgement], width: usize) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "{}", heading(workload, run));
    if run.health == Health::Settled {
        let _ = writeln!(text, "\n{}", type_table(workload, run, width));
        let _ = writeln!(text, "\n{}", overall(workload, run));
    }
    if verdicts.iter().any(|j| j.verdict != Verdict::NotExamined) {
        let _ = writeln!(text, "\n{}", verdict_table(workload, verdicts, width));
        let _ = writeln!(
            text,
            "\nclaims are measured under the conditions that they hold for (see holds_for in the policy), in a run of their own where the policy runs under others"
        );
    } else if !verdicts.is_empty() {
        let _ = writeln!(text, "\n{}", none_examined(verdicts));
    }
    text
}

/// What should be known of the run that claims are judged by, and why they are not.
pub fn notes(simulated: &Simulated) -> Vec<String> {
    let knows = simulated.knows.words();
    let mut notes: Vec<String> = knows
        .map(|knows| format!("The rule {knows}."))
        .into_iter()
        .collect();
    notes.extend(simulated.unjudged.map(|why| match why {
        Unjudged::OtherWorkload => "The workload is not the one that the policy was made for: its claims are not judged.".into(),
        Unjudged::Interrupted => "Interrupted before the claims could be judged.".into(),
    }));
    let Some(run) = &simulated.as_analysed else {
        return notes;
    };
    let how = match run.health {
        Health::Settled => None,
        Health::Unsettled => Some("did not settle"),
        Health::Unstable => Some("is unstable"),
    };
    notes.extend(how.map(|how| {
        format!("Under the conditions that its claims hold for, the policy {how}: of these claims nothing is measured.")
    }));
    if run.ending == Ending::Interrupted {
        notes.push("Interrupted: the claims are judged by what was there.".into());
    }
    notes
}

fn heading(workload: &Workload, run: &Run) -> String {
    let unit = workload.time_unit();
    let ending = match run.ending {
        Ending::Precision => "precision reached",
        Ending::Events => "budget of events spent",
        Ending::Time => "time is over",
        Ending::RunsAway => "given up: the queue runs away",
        Ending::Interrupted => "INTERRUPTED",
        Ending::ArrivalsEnded => "all recorded jobs have left",
    };
    let scale = format!(
        "{} events, {} {unit} simulated in {} replications, seed {}",
        run.events,
        number(run.simulated_time),
        run.replications.len(),
        run.seed
    );
    match run.health {
        Health::Settled => format!(
            "{ending}: {scale}; warm-up of {} {unit} cut off",
            number(run.warm_up)
        ),
        Health::Unsettled => {
            let why = run.unsettled.as_ref().map(|why| format!(" ({why})"));
            format!(
                "UNSETTLED ({ending}: {scale}): the run is too short for means{}; allow more with --events or --time",
                why.unwrap_or_default()
            )
        }
        Health::Unstable => {
            let left: u64 = run.types.iter().map(|t| t.left).sum();
            let growing = run.types.iter().filter(|t| t.grows);
            let growing: Vec<String> = growing
                .map(|t| format!("{} of {}", t.left, t.name))
                .collect();
            let most = match growing.is_empty() {
                true => String::new(),
                false => format!(", more and more of them waiting: {}", growing.join(", ")),
            };
            format!(
                "UNSTABLE ({ending}: {scale}): the number in system grows steadily and stood at {left} at the end{most}; there is no mean"
            )
        }
    }
}

fn type_table(workload: &Workload, run: &Run, width: usize) -> String {
    let unit = workload.time_unit();
    let header = [
        "type".to_string(),
        format!("E[T] [{unit}]"),
        "P50".into(),
        "P95".into(),
        "P99".into(),
        "E[T]/E[S]".into(),
        "E[N]".into(),
        "jobs".into(),
        "left".into(),
    ];
    let mut table = Table::new(header);
    for kind in &run.types {
        let [p50, p95, p99] = percentiles(kind.percentiles);
        table.row([
            kind.name.clone(),
            estimate(kind.mean_response),
            p50,
            p95,
            p99,
            kind.slowdown.map_or("–".into(), |s| number(s.mean)),
            estimate(kind.mean_number),
            kind.completions.to_string(),
            kind.left.to_string(),
        ]);
    }
    let [p50, p95, p99] = percentiles(run.percentiles);
    table.row([
        "all".into(),
        estimate(run.mean_response),
        p50,
        p95,
        p99,
        String::new(),
        estimate(run.mean_number),
    ]);
    table.within(width)
}

fn percentiles(found: Option<[f64; 3]>) -> [String; 3] {
    found.map_or(["–".into(), "–".into(), "–".into()], |p| {
        p.map(number)
    })
}

fn overall(workload: &Workload, run: &Run) -> String {
    let used = workload.resources().iter().zip(&run.own.utilization);
    let used: Vec<String> = used
        .zip(&run.own.wastage)
        .map(|((r, u), w)| format!("{} {} ({})", r.name(), percent(*u), percent(*w)))
        .collect();
    let c = &run.own.counters;
    let guarded = match c.guards {
        0 => String::new(),
        guards => format!(
            ", guard {guards} times, {} of the time",
            percent(run.own.guarded)
        ),
    };
    format!(
        "weighted by load share: E[T] = {}; waiting {}; fairness (Jain) {}\nin use (and free while a job waits): {}; switches {}, preemptions {}, setups {}{guarded}\nmeans with 95 % confidence intervals (batch means of independent replications)",
        estimate(run.weighted_response),
        estimate(run.mean_waiting),
        run.fairness.map_or("–".into(), |f| format!("{f:.3}")),
        used.join(", "),
        c.switches,
        c.preemptions,
        c.setups,
    )
}

/// The claims that were examined: those on the whole policy first, then type by type.
fn verdict_table(workload: &Workload, verdicts: &[Judgement], width: usize) -> String {
    let header = ["of", "claim", "claimed", "measured", "verdict"];
    let mut table = Table::new(header).words(1).wrapping(1).words(4);
    let types = workload.types().iter().map(|t| Some(t.name()));
    for of in std::iter::once(None).chain(types) {
        let examined = verdicts
            .iter()
            .filter(|j| j.verdict != Verdict::NotExamined && j.claim.job_type.as_deref() == of);
        for (n, judgement) in examined.enumerate() {
            let group = if n == 0 { of.unwrap_or("all") } else { "" };
            table.row([
                group.to_string(),
                name(&judgement.claim),
                claimed(judgement),
                measured(judgement),
                verdict(judgement),
            ]);
        }
    }
    table.within(width)
}

/// Why there is nothing to show in a table of verdicts.
fn none_examined(verdicts: &[Judgement]) -> String {
    let mut reasons: Vec<&str> = verdicts.iter().filter_map(|j| j.unexamined).collect();
    reasons.sort_unstable();
    reasons.dedup();
    let reasons = reasons.join("; or ");
    format!(
        "none of the {} claims was examined: {reasons}",
        verdicts.len()
    )
}

fn name(claim: &Claim) -> String {
    let name = claim.quantity.row().label;
    let at = match (claim.at, claim.longer_than) {
        (Some(jobs), _) => format!(" {jobs}"),
        (None, Some(time)) => format!(" {}", number(time)),
        (None, None) => String::new(),
    };
    match claim.unit.as_str() {
        "1" => format!("{name}{at}"),
        unit => format!("{name}{at} [{unit}]"),
    }
}

fn is_percentile(claim: &Claim) -> bool {
    claim.quantity.row().measure.percentile().is_some()
}

/// The claimed number, to the digits of what was measured where the two can be compared.
fn claimed(judgement: &Judgement) -> String {
    let claim = &judgement.claim;
    let comparable = judgement.measured.filter(|_| !is_percentile(claim));
    match comparable.and_then(|m| decimals(m.half_width)) {
        Some(decimals) => format!("{:.decimals$}", claim.value),
        None => number(claim.value),
    }
}

fn measured(judgement: &Judgement) -> String {
    match judgement.measured {
        Some(within) if is_percentile(&judgement.claim) => {
            format!("{} % within", estimate(Some(within.times(100.0))))
        }
        measured => estimate(measured),
    }
}

fn verdict(judgement: &Judgement) -> String {
    match (judgement.verdict, judgement.off) {
        (Verdict::Confirmed, _) => "confirmed".into(),
        (Verdict::Refuted, _) => "REFUTED".into(),
        (Verdict::NotEnoughEvidence, _) => "not enough evidence".into(),
        (Verdict::Approximate, Some(off)) => {
            format!("approximate, off by {:+.1} %", 100.0 * off)
        }
        (Verdict::Approximate, None) => "approximate".into(),
        (Verdict::NotExamined, _) => "not examined".into(),
    }
}
