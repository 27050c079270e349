use itertools::chain;

use crate::slurm::{Advice, Gain};
use crate::verbs::{account_of, ends};
use synth_traces::replay::Log;
use synth_verb::report::plot::front;
use synth_verb::report::{Report, Section, counted, length};
use synth_verb::table;

pub(super) fn report(advice: &Advice, log: &Log, command: String) -> Report {
    let mut sections = Vec::new();
    if let Some(gain) = advice.sure() {
        for (n, change) in advice.chosen.iter().enumerate() {
            let title = format!("{}. {}", n + 1, change.what);
            sections.push(copied(title, change.besides.as_slice()));
        }
        for (title, lines) in [(LINES, &advice.lines), (BACK, &advice.back)] {
            sections.extend((!lines.is_empty()).then(|| copied(title, lines)));
        }
        sections.push(people(gain));
    }
    if advice.is_near() {
        sections.push(tried(advice));
    }
    let mut lines = account_of(&log.account, log.censored);
    let remarks = chain!(&log.account.window, &advice.remarks);
    lines.notes = remarks.cloned().collect();
    sections.push(lines);
    let intervals = format!(
        "95 %, by the paired moving-block bootstrap, from seed {}; each configuration is replayed with three clock offsets, and each draw uses one of them.",
        advice.seed
    );
    Report {
        title: "Advice on slurm.conf".into(),
        summary: vec![verdict(advice)],
        warnings: advice.assumed.iter().map(|own| format!("{own}.")).collect(),
        sections,
        method: vec![
            ("Reverting", BACK_AGAIN.into()),
            ("Replay", REPLAY.into()),
            ("Selection", SELECTION.into()),
            ("Intervals", intervals),
        ],
        command,
        ..Report::default()
    }
}

const LINES: &str = "Replace the lines with these names in slurm.conf (of several lines with one name, Slurm uses only the last):";
const BACK: &str = "To undo this, replace them with:";
const BACK_AGAIN: &str = "Replace the new lines with the current lines given above and run `scontrol reconfigure`. Only PriorityType needs a restart of slurmctld; it may stay. The folder written by `synth export slurm-priority` has the steps for its script and for waiting jobs.";
const REPLAY: &str = "The jobs of the log arrive as recorded on the nodes of the site and are scheduled as by Slurm: main scheduler, backfilling with its reservations, priorities, fair share, and the limits of QOS and accounts. Preemption, advance reservations, licenses, constraints and dependencies are not modelled.";
const SELECTION: &str = "Changes are selected on the first half of the log by mean wait, one at a time while another change lowers it by at least 2 %. All results are from the second half.";
const TRIED: &str = "Waits in the second half of the log; each row is one change alone. Ratios of mean waits have 95 % intervals by the paired moving-block bootstrap over three clock offsets; an interval that contains 1 shows no difference. Bounded slowdown: the mean of max(1, (wait + run time) / max(run time, 10 s)). Only changes selected on the first half can be advised: among so many rows, some do well in the second half by chance. Points per week: the amount that a week of waiting adds to a job's priority (PriorityWeightAge, PriorityMaxAge). Before other factors: the weights of fair share and the other factors are so small that the order decides.";

fn copied(title: impl Into<String>, lines: &[String]) -> Section {
    Section {
        title: title.into(),
        lines: lines.to_vec(),
        ..Section::default()
    }
}

fn verdict(advice: &Advice) -> String {
    let gain = advice.gain.as_ref();
    let helped = gain.map(|own| format!("{} ({} times the mean wait)", own.what, over(own)));
    let helped = helped.unwrap_or("no change".into());
    let Some(near) = &advice.likeness else {
        return format!(
            "Nothing is advised: the log has no start times (sacct: Start), so the replay cannot be compared with what happened. Export the field Start as well. By the replay alone, the best change is: {helped}."
        );
    };
    let (recorded, replayed) = (length(near.recorded), length(near.replayed));
    let checked = format!(
        "In the second half of the log, jobs waited {recorded} on average, and {replayed} in a replay of the current configuration."
    );
    let why = match near.replayed < near.recorded {
        _ if near.is_near() => None,
        true => Some(
            "jobs waited for reasons that are not replayed (dependencies, reservations, constraints, nodes that were down, limits that are not in these files)",
        ),
        false => Some(
            "the site has more nodes or other limits than these files say, or some jobs did not start as recorded",
        ),
    };
    if let Some(why) = why {
        return format!(
            "{checked} The difference is too large to give advice. Possible cause: {why}."
        );
    }
    match gain {
        None => {
            format!("{checked} No change that was tried helps: keep the configuration.")
        }
        Some(gain) if !gain.is_sure() => format!(
            "{checked} Nothing is advised: the changes that helped most in the first half do not significantly help in the second: {helped}."
        ),
        Some(gain) => format!(
            "{checked} With {} the mean wait is {} ({} times), and the longest wait is {} instead of {}.",
            counted(advice.chosen.len() as f64, "change"),
            length(gain.waits.mean),
            over(gain),
            length(gain.waits.longest),
            length(advice.today.longest)
        ),
    }
}

fn over(gain: &Gain) -> String {
    let interval = gain.interval;
    let interval = interval.map(|own| format!(" [{:.2}, {:.2}]", own.low, own.high));
    format!("{:.2}{}", gain.ratio, interval.unwrap_or_default())
}

fn tried(advice: &Advice) -> Section {
    let current = ("current", &advice.today, None);
    let advised = advice.sure().map(|gain| ("as advised", gain));
    let alone = chain!(&advice.tried, &advice.purchases);
    let gains = chain!(advised, alone.map(|gain| (&*gain.what, gain)));
    let gains = gains.map(|(name, own)| (name, &own.waits, Some((own.ratio, ends(own.interval)))));
    let rows: Vec<_> = chain!([current], gains).collect();
    let mut section = table!("Changes tried", &rows, (name, waits, ratio) => {
        "configuration" => *name,
        "mean wait [s]" => waits.mean,
        "ratio [1]" => *ratio,
        "bounded slowdown [1]" => waits.slowdown,
        "longest wait [s]" => waits.longest,
    });
    let points = rows.iter();
    let points = points.map(|own| (own.0.into(), own.1.mean, own.1.longest));
    let points: Vec<_> = points.collect();
    let names = ["mean wait", "longest wait"];
    section.figures.extend(front(names, "s", &points));
    section.note(TRIED)
}

fn people(gain: &Gain) -> Section {
    let parts = chain!(&gain.classes, &gain.users);
    table!("Winners and losers", parts, part => {
        "mean wait of" => &part.name,
        "jobs [#]" => part.jobs,
        "recorded [s]" => part.recorded,
        "current [s]" => part.today,
        "as advised [s]" => part.changed,
    })
}
