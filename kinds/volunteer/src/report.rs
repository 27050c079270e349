//! What a person reads on the terminal; tables are `width` characters wide at most.

mod synthesized;

pub use synthesized::{impossible, synthesized};

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::artifact::{Checked, Quantity};
use super::policy::{Dispatch, Queued, UNKNOWN};
use super::simulator::{Judgement, Run};
use super::workload::Campaign;
use synth_core::artifact::{Quantity as _, Subject};
use synth_verb::report::{
    Table, TableUnit, counted, estimate, headed, number, policy_report, verdict_table, within, wrap,
};

/// Says what it is for, in a few words: `400 hosts for 1440 h`.
pub fn about(campaign: &Campaign) -> String {
    let hosts = counted(campaign.host_count() as f64, "host");
    format!(
        "{hosts} for {} {}",
        number(campaign.horizon()),
        campaign.time_unit()
    )
}

/// Returns the parameters in a few words.
fn rule(rule: &Dispatch) -> String {
    format!(
        "first above {} %, tight above {} %, quantile {}",
        knob(rule.first_percentile),
        knob(rule.tight_percentile),
        rule.quantile.map_or("of the last".into(), knob)
    )
}

/// Returns a percentile or a quantile as it was chosen, to four decimals.
fn knob(value: f64) -> String {
    ((value * 1e4).round() / 1e4).to_string()
}

/// Describes what a policy is for, what it does, and what it promises.
pub fn show(checked: &Checked, width: usize) -> String {
    let (artifact, campaign) = (checked.artifact(), checked.workload());
    let time = campaign.time_unit();
    let mut text = "\nWhen a host asks for work\n".to_owned();
    for line in steps(&artifact.policy.dispatch, time) {
        let _ = writeln!(text, "{}", wrap(&format!("- {line}"), width));
    }
    let percentile = format!(
        "The percentile of a host and a version is the lesser of two shares of all that have returned something: those with a larger mean turnaround, and those with fewer valid results in a row (no matter beyond ten). It is computed every {} {time}; a host without a valid result has 0, and where an application is new, its percentile with others, or {} %.",
        number(artifact.policy.refresh),
        knob(UNKNOWN)
    );
    let mut table = Table::new(["quantity", "mean of campaigns"]);
    for quantity in Quantity::ALL {
        if let Some(claim) = artifact.find(*quantity, Subject::ALL) {
            let value = within(claim.value, claim.half_width.unwrap_or(0.0));
            table.row([headed(*quantity, time), value]);
        }
    }
    let (percentile, table) = (wrap(&percentile, width), table.within(width));
    let _ = writeln!(text, "\n{percentile}\n\nIt promises\n{table}");
    let what = format!("a server of volunteers, {}", about(campaign));
    let source = campaign.record().source.as_deref();
    policy_report(&what, &artifact.tool, source, &text)
}

/// Returns the rule, a test a line.
fn steps(rule: &Dispatch, time: &str) -> Vec<String> {
    let behind = match rule.queued {
        Queued::All => "all that it has",
        Queued::Tight => "its jobs with tight deadlines",
    };
    let each = match rule.first_each {
        Some(n) => format!(", at most {n} for each of its processors"),
        None => String::new(),
    };
    let quantile = match rule.quantile {
        Some(q) => format!("the {} quantile", knob(q)),
        None => "the quantile of the last one".into(),
    };
    let mut steps = vec![
        "jobs are looked at by the time at which their batch has to end, retries first; those whose test is a percentile before all others".to_owned(),
        format!(
            "a job of a batch that nothing is known of goes to a host above the {} % percentile{each}, with the deadline by which the host can have done it, behind {behind}",
            knob(rule.first_percentile)
        ),
        format!(
            "any other job goes to a host that will have done it before its batch is expected to end, with that end for a deadline: now, plus the time to send what is left, plus {quantile} of what its results take",
        ),
        format!(
            "to a host that will not, only if it is above the {} % percentile, with the earliest deadline that it can meet",
            knob(rule.tight_percentile)
        ),
        format!(
            "thresholds fall where fewer than three hosts (or a hundredth) are above them, and to nothing if a batch waits for {} to {} {time}",
            number(rule.patience),
            number(2.0 * rule.patience)
        ),
    ];
    if rule.reserve {
        steps.push("of the time until a deadline an instance has half, so that what is lost can be sent once more".into());
    }
    steps
}

/// Says what simulated campaigns found, with the verdicts on the claims, if any were judged.
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
    let table = if verdicts.is_empty() {
        attained(campaign, run, width)
    } else {
        let names: Vec<&str> = campaign.batches().iter().map(|b| &*b.name).collect();
        let own = campaign.time_unit();
        let times = verdicts.iter().filter(|one| one.claim.unit == own);
        let unit = TableUnit::of(own, times.map(|one| one.claim.value));
        verdict_table(&names, |_| false, (own, &unit), verdicts).within(width)
    };
    let _ = writeln!(text, "\n{table}");
    let _ = writeln!(text, "\n{}", batches(campaign, run, width));
    let note = "means over independent campaigns, with 95 % confidence intervals; not enough evidence: not refuted, and nearer than 5 % only with more --replications";
    let _ = writeln!(text, "\n{}", wrap(note, width));
    text
}

/// Returns the mean of each quantity that the campaigns have.
fn attained(campaign: &Campaign, run: &Run, width: usize) -> String {
    let mut table = Table::new(["quantity", "mean of campaigns"]);
    for quantity in Quantity::ALL {
        if let Some(found) = run.estimate(*quantity) {
            let head = headed(*quantity, campaign.time_unit());
            table.row([head, estimate(Some(found))]);
        }
    }
    table.within(width)
}

/// Batches in the table.
const SHOWN: usize = 40;

/// Says what came of each batch.
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
    for (n, batch) in all.filter(|(_, batch)| !batch.is_stream()).take(SHOWN) {
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

/// Returns what was measured, for programs.
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
