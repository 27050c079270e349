//! What runs found.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::about;
use crate::artifact::Quantity as _;
use crate::report::{Table, estimate, headed, within, wrap};
use crate::simulation::Verdict;
use crate::volunteer::artifact::Quantity;
use crate::volunteer::simulator::{Judgement, Run};
use crate::volunteer::workload::Campaign;

/// What simulated campaigns found, with the verdicts on the claims, if any were judged.
pub fn simulation(campaign: &Campaign, run: &Run, verdicts: &[Judgement], width: usize) -> String {
    let mut text = format!(
        "{}{}: {} campaigns, {} events\n",
        if run.interrupted { "INTERRUPTED: " } else { "" },
        about(campaign),
        run.campaigns.len(),
        run.events()
    );
    if run.campaigns.len() < 2 {
        let why = "one campaign has no interval: allow two at least with --replications";
        let _ = writeln!(text, "\n{}", wrap(why, width));
        return text;
    }
    let time = campaign.time_unit();
    let table = if verdicts.is_empty() {
        attained(campaign, run, width)
    } else {
        judged(verdicts, time, width)
    };
    let _ = writeln!(text, "\n{table}");
    let _ = writeln!(text, "\n{}", batches(campaign, run, width));
    let note = "means over independent campaigns, with 95 % confidence intervals; too wide: not refuted, and nearer than 5 % only with more --replications";
    let _ = writeln!(text, "\n{}", wrap(note, width));
    text
}

/// The mean of each quantity that the campaigns have.
pub(super) fn attained(campaign: &Campaign, run: &Run, width: usize) -> String {
    let mut table = Table::new(["quantity", "mean of campaigns"]);
    for quantity in Quantity::ALL {
        if let Some(found) = run.estimate(*quantity) {
            let head = headed(*quantity, campaign.time_unit());
            table.row([head, estimate(Some(found))]);
        }
    }
    table.within(width)
}

fn judged(verdicts: &[Judgement], time: &str, width: usize) -> String {
    let mut table = Table::new(["quantity", "claimed", "measured", "verdict"]).words(3);
    for judgement in verdicts {
        let claim = &judgement.claim;
        let verdict = match judgement.verdict {
            Verdict::Confirmed => "confirmed",
            Verdict::Refuted => "REFUTED",
            Verdict::NotEnoughEvidence => "too wide",
            Verdict::Approximate => "approximate",
            Verdict::NotExamined => continue,
        };
        let name = match &claim.batch {
            None => headed(claim.quantity, time),
            Some(batch) => format!("{batch}: {}", headed(claim.quantity, time)),
        };
        let claimed = within(claim.value, claim.half_width.unwrap_or(0.0));
        table.row([name, claimed, estimate(judgement.measured), verdict.into()]);
    }
    table.within(width)
}

/// Batches that are told.
const TOLD: usize = 40;

/// What came of each batch.
fn batches(campaign: &Campaign, run: &Run, width: usize) -> String {
    let time = campaign.time_unit();
    let mut table = Table::new([
        "batch".to_owned(),
        format!("makespan [{time}]"),
        format!("first estimate [{time}]"),
        "done".into(),
        "instances a job".into(),
    ]);
    let all = campaign.batches().iter().enumerate();
    for (n, batch) in all.filter(|(_, batch)| !batch.is_stream()).take(TOLD) {
        let jobs = f64::from(batch.jobs.unwrap_or(1));
        let sent = run.of_batch(n, |own| Some(own.sent as f64 / jobs));
        table.row([
            batch.name.clone(),
            estimate(run.makespan(n)),
            estimate(run.of_batch(n, |own| own.first_estimate)),
            format!("{} of {}", run.finished(n), run.campaigns.len()),
            estimate(sent),
        ]);
    }
    table.within(width)
}

/// What was measured, for programs.
pub fn of_run(campaign: &Campaign, run: &Run) -> Value {
    let quantities = Quantity::ALL.iter().filter_map(|quantity| {
        let found = run.estimate(*quantity)?;
        let (mean, half_width) = (found.mean, found.half_width);
        Some(json!({ "quantity": quantity, "mean": mean, "half_width": half_width }))
    });
    let batches = campaign.batches().iter().enumerate();
    let batches = batches.filter(|(_, batch)| !batch.is_stream());
    let batches = batches.map(|(n, batch)| {
        let (finished, makespan) = (run.finished(n), run.makespan(n));
        json!({ "batch": batch.name, "finished": finished, "makespan": makespan })
    });
    json!({
        "campaigns": run.campaigns.len(),
        "events": run.events(),
        "interrupted": run.interrupted,
        "quantities": quantities.collect::<Vec<_>>(),
        "batches": batches.collect::<Vec<_>>(),
    })
}
