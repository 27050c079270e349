//! The reports of this kind of workload.

use serde_json::{Value, json};

use super::artifact::{Checked, Quantity};
use super::policy::{Dispatch, Queued, UNKNOWN};
use super::simulator::{Judgement, Run};
use super::synthesis::{COMPETITORS, Competitor, Made, TUNED};
use super::workload::{Campaign, Quality, Shortage};
use synth_core::artifact::{Quantity as _, Unmet};
use synth_verb::report::{
    Cell, Report, Section, counted, estimate, number, percent, policy_report, verdict_table,
};
use synth_verb::table;

/// Says what it is for, in a few words: `400 hosts for 1440 h`.
pub(crate) fn about(campaign: &Campaign) -> String {
    let hosts = counted(campaign.host_count() as f64, "host");
    let horizon = number(campaign.horizon());
    format!("{hosts} for {horizon} {}", campaign.time_unit())
}

/// Returns the parameters in a few words.
fn rule(rule: &Dispatch) -> String {
    let [first, tight] = [rule.first_percentile, rule.tight_percentile].map(knob);
    let quantile = rule.quantile.map_or("of the last".into(), knob);
    format!("first above {first} %, tight above {tight} %, quantile {quantile}")
}

/// Returns a percentile or a quantile as it was chosen, to four decimals.
fn knob(value: f64) -> String {
    ((value * 1e4).round() / 1e4).to_string()
}

/// Describes what a policy is for, what it does, and what it promises.
pub(crate) fn show(checked: &Checked) -> Report {
    let (artifact, campaign) = (checked.artifact(), checked.workload());
    let time = campaign.time_unit();
    let what = format!("a server of volunteers, {}", about(campaign));
    let steps = steps(&artifact.policy.dispatch, time).join("; ");
    let percentile = format!(
        "The percentile of a host and a version is the lesser of two shares of all that have returned something: those with a larger mean turnaround, and those with fewer valid results in a row (no matter beyond ten). It is computed every {} {time}; a host without a valid result has 0, and where an application is new, its percentile with others, or {} %.",
        number(artifact.policy.refresh),
        knob(UNKNOWN)
    );
    let does = [format!("When a host asks for work, {steps}."), percentile];
    let source = campaign.record().source.as_deref();
    policy_report(&what, artifact, source, does, |_| Unmet::default())
}

/// Returns the rule, a test a line.
fn steps(rule: &Dispatch, time: &str) -> Vec<String> {
    let behind = match rule.queued {
        Queued::All => "all that it has",
        Queued::Tight => "its jobs with tight deadlines",
    };
    let each = |n: u32| format!(", at most {n} for each of its processors");
    let each = rule.first_each.map_or(String::new(), each);
    let quantile = |q: f64| format!("the {} quantile", knob(q));
    let quantile = rule
        .quantile
        .map_or("the quantile of the last one".into(), quantile);
    let [first, tight] = [rule.first_percentile, rule.tight_percentile].map(knob);
    let [from, to] = [rule.patience, 2.0 * rule.patience].map(number);
    let mut steps = vec![
        "jobs are looked at by the time at which their batch has to end, retries first; those whose test is a percentile before all others".to_owned(),
        format!(
            "a job of a batch that nothing is known of goes to a host above the {first} % percentile{each}, with the deadline by which the host can have done it, behind {behind}"
        ),
        format!(
            "any other job goes to a host that will have done it before its batch is expected to end, with that end for a deadline: now, plus the time to send what is left, plus {quantile} of what its results take"
        ),
        format!(
            "to a host that will not, only if it is above the {tight} % percentile, with the earliest deadline that it can meet"
        ),
        format!(
            "thresholds fall where fewer than three hosts (or a hundredth) are above them, and to nothing if a batch waits for {from} to {to} {time}"
        ),
    ];
    if rule.reserve {
        steps.push("of the time until a deadline an instance has half, so that what is lost can be sent once more".into());
    }
    steps
}

/// Returns what simulated campaigns found, with the verdicts on the claims, if any were judged.
pub(crate) fn simulation(campaign: &Campaign, run: &Run, verdicts: &[Judgement]) -> Report {
    let mark = if run.interrupted { "INTERRUPTED: " } else { "" };
    let (about, count, events) = (about(campaign), run.campaigns.len(), run.events());
    let mut report = Report::from(format!("{mark}{about}: {count} campaigns, {events} events"));
    if count < 2 {
        let why = "One campaign has no interval: allow two at least with --replications.";
        report.warnings.push(why.into());
        return report;
    }
    let table = match verdicts.is_empty() {
        true => attained(campaign, run),
        false => verdict_table(verdicts, |_| false),
    };
    let note = "Means over independent campaigns, with 95 % confidence intervals.";
    report.sections = vec![table, batches(campaign, run).note(note)];
    report
}

/// Returns the mean of each quantity that the campaigns have.
fn attained(campaign: &Campaign, run: &Run) -> Section {
    let known = Quantity::ALL.iter();
    let known = known.filter_map(|own| Some((own, run.estimate(*own)?)));
    table!("", known, (quantity, mean) => {
        "quantity" => quantity.row().label,
        "mean of campaigns" => estimate(Some(mean)),
        "unit" => quantity.unit(campaign.time_unit()),
    })
}

/// Batches in the table.
const SHOWN: usize = 40;

/// Returns what came of each batch.
fn batches(campaign: &Campaign, run: &Run) -> Section {
    let time = campaign.time_unit();
    let batches = campaign.dated_batches().take(SHOWN);
    table!("", batches, (n, batch) => {
        "batch" => &batch.name,
        format!("makespan [{time}]") => run.makespan(n),
        format!("first estimate [{time}]") => run.of_batch(n, |own| own.first_estimate),
        "done" => format!("{} of {}", run.finished(n), run.campaigns.len()),
        "instances a job [1]" => run.of_batch(n, |own| {
            Some(own.sent as f64 / f64::from(batch.jobs.unwrap_or(1)))
        }),
    })
}

/// Returns what was measured, for programs.
pub(crate) fn of_run(campaign: &Campaign, run: &Run) -> Value {
    let quantities = Quantity::ALL.iter().filter_map(|quantity| {
        let found = run.estimate(*quantity)?;
        let (mean, half_width) = (found.mean, found.half_width);
        Some(json!({ "quantity": quantity, "mean": mean, "half_width": half_width }))
    });
    let batches = campaign.dated_batches().map(|(n, batch)| {
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

/// Describes a policy: what it attains, what others do, and what it was selected from.
pub(crate) fn synthesized(campaign: &Campaign, synthesized: &Made) -> Report {
    let (others, run) = (&synthesized.competitors, &synthesized.run);
    let (about, rule) = (about(campaign), rule(&synthesized.artifact.policy.dispatch));
    let mut report = Report::from(format!("{about}: {rule}"));
    let ended = |before: &str| format!("The budget ended before {before}: give a larger --work.");
    if synthesized.cut {
        report.warnings.push(ended("all parameters were tried"));
    }
    if others.is_empty() {
        report.warnings.push(ended("other rules were run, too"));
    }
    let in_time = [Quantity::ShortJobs, Quantity::LongJobs].map(|own| run.estimate(own));
    if in_time.iter().flatten().any(|own| own.mean == 0.0) {
        let none = "NO JOB OF SOME BATCHES WAS DONE IN TIME: set later deadlines, or look at contact, delay and buffer of the hosts.";
        report.warnings.push(none.into());
    }
    let simulated = format!(
        "Simulated in {} campaigns that decided nothing, with 95 % intervals; a heuristic: no optimum is known.",
        run.campaigns.len()
    );
    let mut compared = competitors(campaign, others);
    let is_compared = |name: &str| others.iter().any(|other| other.rule == name);
    let selected = COMPETITORS.into_iter().find(|name| !is_compared(name));
    compared.notes.extend(selected.filter(|_| is_compared(TUNED)).map(|name| {
        format!("{name} is selected: in other campaigns it was significantly better than the result of tuning ({TUNED}).")
    }));
    compared.notes.extend(others.iter().filter_map(better));
    let usual = campaign.capacity(&campaign.applications()).usual;
    let needed: f64 = campaign.batches().iter().map(|b| campaign.work(b)).sum();
    let part = percent(needed / (usual * campaign.horizon()));
    let (usual, unit) = (number(usual), campaign.time_unit());
    compared.notes.push(format!(
        "All hosts, on as often as they are and as right as they are, do {usual} of work a {unit}, and the work of the campaign is {part} of that."
    ));
    report.sections = vec![attained(campaign, run).note(simulated), compared];
    report
}

/// Returns the results of others on the same campaigns.
fn competitors(campaign: &Campaign, others: &[Competitor]) -> Section {
    let has_makespan = campaign.has(&[Quality::Afap]);
    table!("Other rules on the same campaigns", others, other => {
        "rule" => other.rule,
        "median makespan, times [1]" => match other.makespan {
            None if has_makespan => Cell::from("not all done"),
            found => found.into(),
        },
        "instances, times [1]" => other.instances,
    })
}

/// Returns why a rule that is surely better was not taken.
fn better(other: &Competitor) -> Option<String> {
    let excess = other.excess?;
    let why = match other.rule {
        "literal" => "the workload's `policy` asks for other parameters",
        _ => "no policy file can say it",
    };
    let (rule, times) = (other.rule, estimate(other.makespan));
    let of_all = estimate(Some(excess));
    (excess.mean + excess.half_width < 0.0).then(|| {
        format!(
            "{rule} is significantly better here, {times} times the median makespan ({of_all} of it and of deadlines in all): {why}."
        )
    })
}

/// Returns why no rule can do the work.
pub(crate) fn impossible(campaign: &Campaign, shortage: &Shortage) -> String {
    let unit = campaign.time_unit();
    match shortage {
        Shortage::Never { batch, why } => format!("Batch `{batch}` can never be done: {why}."),
        Shortage::TooMuch {
            batch,
            work,
            most,
            time,
        } => {
            let (what, how, note) = match batch {
                Some(batch) => (
                    format!("Batch `{batch}` can never be done in time: its jobs need"),
                    "with nothing else to do, on as long as their availability allows and in time to report",
                    "",
                ),
                None => (
                    "The hosts can never do all this: all jobs need".into(),
                    "in the mean",
                    " (For streams hosts are on as often as they are, and wrong results do not count; for batches hosts are on at all times.)",
                ),
            };
            let [times, work, most, time] = [work / most, *work, *most, *time].map(number);
            format!(
                "{what} {work} of work (jobs times quorum times mean size), and all hosts together, {how}, do {most} in {time} {unit}: {times} times too much.{note}"
            )
        }
        Shortage::TooLong {
            batch,
            size,
            parts,
            time,
        } => {
            let whats = [
                "until its version is released",
                "on the fastest processors that its quorum needs",
                "while the host is off",
                "until its result is reported",
            ];
            let each = parts.iter().zip(whats).filter(|(time, _)| **time > 0.0);
            let each = each.map(|(time, what)| format!("{} {unit} {what}", number(*time)));
            let each = each.collect::<Vec<_>>().join(" + ");
            let [size, least, time] = [*size, parts.iter().sum(), *time].map(number);
            format!(
                "Batch `{batch}` can never be done in time: a job has {size} of work, which takes {least} {unit} at least ({each}), and there are {time} {unit} until its deadline, its bound or the end of the campaign."
            )
        }
    }
}
