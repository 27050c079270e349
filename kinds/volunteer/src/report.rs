use serde_json::{Value, json};

use super::artifact::{Checked, Quantity};
use super::policy::{Dispatch, UNKNOWN, WorkAhead};
use super::simulator::{Judgement, Run};
use super::synthesis::{COMPETITORS, Competitor, Synthesis, TUNED};
use super::workload::{Campaign, Quality, Shortage};
use synth_core::artifact::{Quantity as _, ViolatedAssumptions};
use synth_verb::report::{
    Cell, Report, Section, counted, estimate, number, percent, policy_report, verdict_table,
};
use synth_verb::table;

pub(crate) fn about(campaign: &Campaign) -> String {
    let hosts = counted(campaign.host_count() as f64, "host");
    let horizon = number(campaign.horizon());
    format!("{hosts} for {horizon} {}", campaign.record.time_unit)
}

fn rule(rule: &Dispatch) -> String {
    let [first, tight] = [rule.first_percentile, rule.tight_percentile].map(knob);
    let quantile = rule.quantile.map_or("of the last result".into(), knob);
    format!("first percentile {first} %, tight percentile {tight} %, quantile {quantile}")
}

fn knob(value: f64) -> String {
    ((value * 1e4).round() / 1e4).to_string()
}

pub(crate) fn show(checked: &Checked) -> Report {
    let (artifact, campaign) = (checked.artifact(), checked.workload());
    let time = &campaign.record.time_unit;
    let what = format!("a volunteer computing server with {}", about(campaign));
    let steps = steps(&artifact.policy.dispatch, time).join("; ");
    let percentile = format!(
        "The percentile of a host with a version is the smaller of two shares of all pairs with results: those with a longer mean turnaround, and those with fewer consecutive valid results (not considered beyond ten). It is computed every {} {time}. A host without a valid result has percentile 0; in a new application, it has its mean percentile in other applications, or {} %.",
        number(artifact.policy.refresh),
        knob(UNKNOWN)
    );
    let does = [format!("When a host asks for work, {steps}."), percentile];
    let source = campaign.record.source.as_deref();
    policy_report(&what, artifact, source, does, |_| {
        ViolatedAssumptions::default()
    })
}

fn steps(rule: &Dispatch, time: &str) -> Vec<String> {
    let behind = match rule.queued {
        WorkAhead::All => "all that it has",
        WorkAhead::Tight => "its jobs with tight deadlines",
    };
    let each = |n: u32| format!(", which gets at most {n} such jobs per processor");
    let each = rule.first_each.map_or(String::new(), each);
    let quantile = |q: f64| format!("the {} quantile", knob(q));
    let of_last = "the expected quantile of the last result".into();
    let quantile = rule.quantile.map_or(of_last, quantile);
    let [first, tight] = [rule.first_percentile, rule.tight_percentile].map(knob);
    let [from, to] = [rule.patience, 2.0 * rule.patience].map(number);
    let mut steps = vec![
        "the jobs are sorted by the due time of their batch, where retries are first, but all jobs that are decided by a percentile are before the others".to_owned(),
        format!(
            "a job of a batch without an estimate goes to a host above the {first} % percentile{each}, with the earliest deadline that the host can meet behind {behind}"
        ),
        format!(
            "any other job goes to a host that will finish it before the expected completion of its batch, which is its deadline: now, plus the time to send the remaining instances, plus {quantile} of the turnaround"
        ),
        format!(
            "it goes to a host that will finish it later only if the host is above the {tight} % percentile, with the earliest deadline that the host can meet"
        ),
        format!(
            "the thresholds are reduced if fewer than three hosts (or 1 %) are above them, and also if a batch has to wait, from {from} {time} until there are none after {to} {time}"
        ),
    ];
    if rule.reserve {
        steps.push("an instance gets half of the time until the deadline, so that a lost one can be sent again".into());
    }
    steps
}

pub(crate) fn simulation(campaign: &Campaign, run: &Run, verdicts: &[Judgement]) -> Report {
    let mark = if run.interrupted { "INTERRUPTED: " } else { "" };
    let (about, count, events) = (about(campaign), run.campaigns.len(), run.events());
    let mut report = Report::from(format!("{mark}{about}: {count} campaigns, {events} events"));
    if count < 2 {
        let why = "A single campaign has no confidence interval: use at least --replications 2.";
        report.warnings.push(why.into());
        return report;
    }
    let table = match verdicts.is_empty() {
        true => attained(campaign, run),
        false => verdict_table(verdicts, |_| false),
    };
    let note = "The values are means over independent campaigns, with 95 % confidence intervals.";
    report.sections = vec![table, batches(campaign, run).note(note)];
    report
}

fn attained(campaign: &Campaign, run: &Run) -> Section {
    let known = Quantity::ALL.iter();
    let known = known.filter_map(|own| Some((own, run.estimate(*own)?)));
    table!("", known, (quantity, mean) => {
        "quantity" => quantity.row().label,
        "mean of campaigns" => estimate(Some(mean)),
        "unit" => quantity.unit(&campaign.record.time_unit),
    })
}

fn batches(campaign: &Campaign, run: &Run) -> Section {
    let time = &campaign.record.time_unit;
    let batches = campaign.dated_batches().take(40);
    table!("", batches, (n, batch) => {
        "batch" => &batch.name,
        format!("makespan [{time}]") => run.makespan(n),
        format!("first estimate [{time}]") => run.mean(n, |own| own.first_estimate),
        "done" => format!("{} of {}", run.finished(n), run.campaigns.len()),
        "instances per job [1]" => run.mean(n, |own| Some(own.sent as f64 / f64::from(own.jobs?))),
    })
}

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

pub(crate) fn synthesized(campaign: &Campaign, synthesized: &Synthesis) -> Report {
    let (others, run) = (&synthesized.competitors, &synthesized.run);
    let (about, rule) = (about(campaign), rule(&synthesized.artifact.policy.dispatch));
    let mut report = Report::from(format!("{about}: {rule}"));
    let ended =
        |before: &str| format!("The event limit was reached before {before}: raise --work.");
    if synthesized.cut {
        report.warnings.push(ended("all parameters were tried"));
    }
    if others.is_empty() {
        report.warnings.push(ended("the competing rules were run"));
    }
    let in_time = [Quantity::ShortJobs, Quantity::LongJobs].map(|own| run.estimate(own));
    if in_time.iter().flatten().any(|own| own.mean == 0.0) {
        let none = "THERE ARE BATCHES WITHOUT ANY JOB THAT WAS DONE IN TIME: use later deadlines, or check the contact, delay and buffer of the hosts.";
        report.warnings.push(none.into());
    }
    let simulated = format!(
        "The values are the result of {} held-out campaigns, with 95 % confidence intervals. The rule is a heuristic, and the optimum is not known.",
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
    let needed: f64 = campaign.batches.iter().map(|b| campaign.work(b)).sum();
    let part = percent(needed / (usual * campaign.horizon()));
    let (usual, unit) = (number(usual), &campaign.record.time_unit);
    compared.notes.push(format!(
        "With their availability and error rates, all hosts can do {usual} of work per {unit}, and the campaign needs {part} of that."
    ));
    report.sections = vec![attained(campaign, run).note(simulated), compared];
    report
}

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

fn better(other: &Competitor) -> Option<String> {
    let excess = other.excess?;
    let why = match other.rule {
        "literal" => "the workload's `policy` requires other parameters",
        _ => "it is not possible to write it to a policy file",
    };
    let (rule, times) = (other.rule, estimate(other.makespan));
    let of_all = estimate(Some(excess));
    (excess.mean + excess.half_width < 0.0).then(|| {
        format!(
            "{rule} is significantly better here, with {times} times the median makespan ({of_all} in relative cost, including missed deadlines). It was not selected because {why}."
        )
    })
}

pub(crate) fn impossible(campaign: &Campaign, shortage: &Shortage) -> String {
    let unit = &campaign.record.time_unit;
    match shortage {
        Shortage::Never { batch, why } => format!("Batch `{batch}` cannot be completed: {why}."),
        Shortage::TooMuch {
            batch,
            work,
            most,
            time,
        } => {
            let (what, how, note) = match batch {
                Some(batch) => (
                    format!("Batch `{batch}` cannot be finished in time: its jobs need"),
                    "with no other work, on for as long as their availability allows and in time to report",
                    "",
                ),
                None => (
                    "The hosts cannot do all of the work: the jobs need".into(),
                    "on average",
                    " (For streams, availability and wrong results are taken into account; for batches, hosts are assumed to be always on.)",
                ),
            };
            let [times, work, most, time] = [work / most, *work, *most, *time].map(number);
            format!(
                "{what} {work} of work (the number of jobs times the quorum times the mean size), but all hosts together, {how}, can do only {most} in {time} {unit}: {times} times too much.{note}"
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
                "on the fastest processors that are needed for its quorum",
                "while the host is off",
                "until its result is reported",
            ];
            let each = parts.iter().zip(whats).filter(|(time, _)| **time > 0.0);
            let each = each.map(|(time, what)| format!("{} {unit} {what}", number(*time)));
            let each = each.collect::<Vec<_>>().join(" + ");
            let [size, least, time] = [*size, parts.iter().sum(), *time].map(number);
            format!(
                "Batch `{batch}` cannot be finished in time: a job has {size} of work, which takes at least {least} {unit} ({each}), but there are only {time} {unit} until its deadline, its bound or the end of the campaign."
            )
        }
    }
}
