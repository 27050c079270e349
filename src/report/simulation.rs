use std::fmt::Write as _;

use super::{estimate, number, percent, table};
use crate::simulator::{Ending, Health, Judgement, Run, Verdict};
use crate::workload::Workload;

/// What a simulation found, with the verdicts on the claims, if any were judged.
pub fn simulation(workload: &Workload, run: &Run, verdicts: &[Judgement]) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "{}", heading(workload, run));
    if run.health == Health::Settled {
        let _ = writeln!(text, "\n{}", type_table(workload, run));
        let _ = writeln!(text, "\n{}", overall(workload, run));
    }
    if !verdicts.is_empty() {
        let _ = writeln!(text, "\n{}", verdict_table(verdicts));
        let _ = writeln!(
            text,
            "\nclaims are measured under the conditions that they hold for (see holds_for in the policy), in a run of their own where the policy runs under others"
        );
    }
    text
}

fn heading(workload: &Workload, run: &Run) -> String {
    let unit = workload.time_unit();
    let ending = match run.ending {
        Ending::Precision => "precision reached",
        Ending::Events => "budget of events spent",
        Ending::Time => "time is over",
        Ending::RunsAway => "given up: the queue runs away",
    };
    let scale = format!(
        "{} events, {} {unit} simulated, seed {}",
        run.events,
        number(run.simulated_time),
        run.seed
    );
    match run.health {
        Health::Settled => format!(
            "{ending}: {scale}; {} (MSER-5)",
            match run.warm_up {
                0.0 => "no warm-up needed".to_string(),
                time => format!("warm-up of {} {unit} cut off", number(time)),
            }
        ),
        Health::Unsettled => format!(
            "UNSETTLED ({ending}: {scale}): no steady state was reached, so no mean is given; allow more with --events"
        ),
        Health::Unstable => {
            let left: u64 = run.types.iter().map(|t| t.left).sum();
            format!(
                "UNSTABLE ({ending}: {scale}): the number in system grows steadily and stood at {left} at the end; there is no mean"
            )
        }
    }
}

fn type_table(workload: &Workload, run: &Run) -> String {
    let unit = workload.time_unit();
    let header = [
        "type".to_string(),
        format!("E[T] [{unit}]"),
        "P50".into(),
        "P95".into(),
        "P99".into(),
        "E[N]".into(),
        "jobs".into(),
        "left".into(),
    ];
    let mut table = table(&header.each_ref().map(String::as_str));
    for kind in &run.types {
        let [p50, p95, p99] = kind
            .percentiles
            .map_or(["–".into(), "–".into(), "–".into()], |p| {
                p.map(number)
            });
        table.add_row([
            kind.name.clone(),
            estimate(kind.mean_response),
            p50,
            p95,
            p99,
            estimate(kind.mean_number),
            kind.completions.to_string(),
            kind.left.to_string(),
        ]);
    }
    table.add_row([
        "all".into(),
        estimate(run.mean_response),
        String::new(),
        String::new(),
        String::new(),
        estimate(run.mean_number),
    ]);
    table.trim_fmt()
}

fn overall(workload: &Workload, run: &Run) -> String {
    let used = workload.resources().iter().zip(&run.utilization);
    let used: Vec<String> = used
        .map(|(r, u)| format!("{} {}", r.name(), percent(*u)))
        .collect();
    let c = &run.counters;
    format!(
        "weighted by load share: E[T] = {}; fairness (Jain) {}\nin use: {}; switches {}, preemptions {}, setups {}\nmeans with 95 % confidence intervals (30 batch means)",
        estimate(run.weighted_response),
        run.fairness.map_or("–".into(), |f| format!("{f:.3}")),
        used.join(", "),
        c.switches,
        c.preemptions,
        c.setups,
    )
}

fn verdict_table(verdicts: &[Judgement]) -> String {
    let mut table = table(&["claim", "claimed", "measured", "verdict"]);
    for judgement in verdicts
        .iter()
        .filter(|j| j.verdict != Verdict::NotExamined)
    {
        let claim = &judgement.claim;
        let quantity = serde_json::to_value(claim.quantity).ok();
        let name = quantity
            .as_ref()
            .and_then(|q| q.as_str())
            .unwrap_or_default()
            .replace('_', " ");
        let verdict = match judgement.verdict {
            Verdict::Confirmed => "confirmed",
            Verdict::Refuted => "REFUTED",
            Verdict::NotEnoughEvidence => "not enough evidence",
            Verdict::NotExamined => "not examined",
        };
        table.add_row([
            claim
                .job_type
                .as_ref()
                .map_or(name.clone(), |t| format!("{name} of {t}")),
            format!("{:.6} {}", claim.value, claim.unit)
                .trim_end_matches(" 1")
                .into(),
            estimate(judgement.measured),
            verdict.into(),
        ]);
    }
    table.trim_fmt()
}
