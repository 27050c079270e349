//! What a person reads on the terminal; tables are `width` characters wide at most.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::artifact::{Checked, Quantity};
use super::policy::{Dispatch, Queued, UNKNOWN};
use super::simulator::{Judgement, Run};
use super::synthesis::{COMPETITORS, Competitor, Made, TUNED};
use super::workload::{Campaign, Quality, Shortage};
use synth_core::artifact::{Quantity as _, Subject};
use synth_verb::report::{
    Table, TableUnit, counted, estimate, headed, number, percent, policy_report, verdict_table,
    within, wrap,
};

/// Says what it is for, in a few words: `400 hosts for 1440 h`.
pub fn about(campaign: &Campaign) -> String {
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
    let table = means(campaign, width, |quantity| {
        let claim = artifact.find(quantity, Subject::ALL)?;
        Some(within(claim.value, claim.half_width.unwrap_or(0.0)))
    });
    let percentile = wrap(&percentile, width);
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

/// Says what simulated campaigns found, with the verdicts on the claims, if any were judged.
pub fn simulation(campaign: &Campaign, run: &Run, verdicts: &[Judgement], width: usize) -> String {
    let mark = if run.interrupted { "INTERRUPTED: " } else { "" };
    let (about, count, events) = (about(campaign), run.campaigns.len(), run.events());
    let mut text = format!("{mark}{about}: {count} campaigns, {events} events\n");
    if count < 2 {
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
    means(campaign, width, |own| {
        Some(estimate(Some(run.estimate(own)?)))
    })
}

/// Tabulates the quantities that have a value.
fn means(campaign: &Campaign, width: usize, value: impl Fn(Quantity) -> Option<String>) -> String {
    let mut table = Table::new(["quantity", "mean of campaigns"]);
    for quantity in Quantity::ALL {
        if let Some(value) = value(*quantity) {
            table.row([headed(*quantity, campaign.time_unit()), value]);
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
    for (n, batch) in campaign.dated_batches().take(SHOWN) {
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

/// Describes a policy: what it attains, what others do, and what it was chosen from.
pub fn synthesized(campaign: &Campaign, synthesized: &Made, width: usize) -> String {
    let (others, run) = (&synthesized.competitors, &synthesized.run);
    let (about, rule) = (about(campaign), rule(&synthesized.artifact.policy.dispatch));
    let simulated = format!(
        "simulated in {} campaigns that decided nothing, 95 % intervals; a heuristic: no optimum is known",
        run.campaigns.len()
    );
    let (attained, simulated) = (attained(campaign, run, width), wrap(&simulated, width));
    let mut text = format!("{about}: {rule}\n\n{attained}\n{simulated}\n");
    let mut notes = Vec::new();
    let ended = |before: &str| format!("the work ended before {before}: give more --work");
    if synthesized.cut {
        notes.push(ended("all parameters were tried"));
    }
    if others.is_empty() {
        notes.push(ended("other rules were run beside it"));
    } else {
        text += &format!("\n{}\n", competitors(campaign, others, width));
    }
    let stands = |name: &str| others.iter().any(|other| other.rule == name);
    let taken = COMPETITORS.into_iter().find(|name| !stands(name));
    notes.extend(taken.filter(|_| stands(TUNED)).map(|name| {
        format!("taken is {name}: in other campaigns it was surely better than what tuning found ({TUNED})")
    }));
    notes.extend(others.iter().filter_map(better));
    let in_time = [Quantity::ShortJobs, Quantity::LongJobs].map(|own| run.estimate(own));
    if in_time.iter().flatten().any(|own| own.mean == 0.0) {
        let none = "NO JOB OF SOME BATCHES WAS DONE IN TIME: set later deadlines, or look at contact, delay and buffer of the hosts.";
        notes.push(none.into());
    }
    let usual = campaign.capacity(&campaign.applications()).usual;
    let needed: f64 = campaign.batches().iter().map(|b| campaign.work(b)).sum();
    let part = percent(needed / (usual * campaign.horizon()));
    let (usual, unit) = (number(usual), campaign.time_unit());
    notes.push(format!(
        "\nall hosts, on as often as they are and as right as they are, do {usual} of work a {unit}, and what there is to do is {part} of that\n"
    ));
    text + &wrap(&notes.join("\n"), width)
}

/// Shows what others do on the same campaigns.
fn competitors(campaign: &Campaign, others: &[Competitor], width: usize) -> String {
    let mut table = Table::new(["beside it", "median makespan, times", "instances, times"]);
    let has_makespan = campaign.has(&[Quality::Afap]);
    for other in others {
        let makespan = match other.makespan {
            None if has_makespan => "not all done".into(),
            found => estimate(found),
        };
        table.row([other.rule.into(), makespan, estimate(other.instances)]);
    }
    table.within(width)
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
            "{rule} is surely better here, {times} times the median makespan ({of_all} of it and of deadlines in all): {why}"
        )
    })
}

/// Returns why no rule can do the work.
pub fn impossible(campaign: &Campaign, shortage: &Shortage, width: usize) -> String {
    let unit = campaign.time_unit();
    let words = match shortage {
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
    };
    wrap(&words, width)
}
