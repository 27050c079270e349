use itertools::chain;

use crate::slurm::{Advice, Effect};
use crate::verbs::{account_of, ends};
use synth_traces::replay::Log;
use synth_verb::report::plot::waits;
use synth_verb::report::{Report, Section, counted, length};
use synth_verb::table;

pub(super) fn report(advice: &Advice, log: &Log, command: String) -> Report {
    let mut sections = Vec::new();
    if let Some(gain) = advice.significant_effect() {
        for (n, change) in advice.chosen.iter().enumerate() {
            let title = format!("{}. {}", n + 1, change.what);
            let mut section = copied(title, change.besides.as_slice());
            section.notes.extend(change.note.clone());
            sections.push(section);
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
        "These are 95 % confidence intervals, which are computed using the paired moving-block bootstrap with the seed {}. Each configuration is replayed with three different offsets of the clock, and each draw uses one of them.",
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

const LINES: &str = "Replace the lines with the same names in the slurm.conf (if there are multiple lines with the same name, Slurm only uses the last one):";
const BACK: &str = "To undo this, replace them with the following lines:";
const BACK_AGAIN: &str = "Replace the new lines with the current lines that are shown above and run `scontrol reconfigure`. Only a change of PriorityType requires a restart of slurmctld, but it does not have to be undone. If you have used `synth export slurm-priority`, its directory contains the steps for the script and for waiting jobs.";
const REPLAY: &str = "The jobs arrive at the same time as in the log, and they are scheduled on the nodes of the site in the same way as by Slurm. This includes the main scheduler, backfilling with reservations, priorities, fair share, and the limits of each QOS and account. Preemption, advance reservations, licenses, constraints and dependencies are not supported.";
const SELECTION: &str = "The changes are selected using the mean wait in the first half of the log. They are added one at a time, as long as the mean wait is reduced by at least 2 %. All results are for the second half.";
const TRIED: &str = "The table shows the waits in the second half of the log, where each row is for a single change. The values after the ratio of the mean waits are a 95 % confidence interval, which is computed using the paired moving-block bootstrap over three offsets of the clock. If the interval contains 1, the difference is not significant. The bounded slowdown is the mean of max(1, (wait + run time) / max(run time, 10 s)). A change can only be advised if it was selected using the first half, because some of the rows look good in the second half by chance. The points per week are added to the priority of a job for each week of waiting (PriorityWeightAge, PriorityMaxAge). If an order is before other factors, the weights of fair share and of the other factors are so small that only this order is relevant.";

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
            "There is no advice, because there are no start times in the log (sacct: Start), so the replay cannot be checked. To get advice, also export the field Start. In the replay alone, the best change is: {helped}."
        );
    };
    let (recorded, replayed) = (length(near.recorded), length(near.replayed));
    let checked = format!(
        "In the second half of the log, the mean wait was {recorded}. In a replay of the current configuration, it was {replayed}."
    );
    let why = match near.replayed < near.recorded {
        _ if near.is_near() => None,
        true => Some(
            "some jobs had to wait for a reason that is not included in the replay (such as dependencies, reservations, constraints, nodes that were down, or limits that are not in these files)",
        ),
        false => Some(
            "the number of nodes or the limits of the site are not the same as in these files, or some of the start times in the log are wrong",
        ),
    };
    if let Some(why) = why {
        return format!(
            "{checked} The difference is too large to give advice. A possible reason is that {why}."
        );
    }
    match gain {
        None => {
            format!(
                "{checked} None of the changes helps, so the configuration should not be changed."
            )
        }
        Some(gain) if !gain.is_sure() => format!(
            "{checked} There is no advice, because the changes with the largest effect in the first half do not have a significant effect in the second half: {helped}."
        ),
        Some(gain) => format!(
            "{checked} With {}, the mean wait is {} ({} times), and the longest wait is {} instead of {}.",
            counted(advice.chosen.len() as f64, "change"),
            length(gain.waits.mean),
            over(gain),
            length(gain.waits.longest),
            length(advice.today.longest)
        ),
    }
}

fn over(gain: &Effect) -> String {
    let interval = gain.interval;
    let interval = interval.map(|own| format!(" [{:.2}, {:.2}]", own.low, own.high));
    format!("{:.2}{}", gain.ratio, interval.unwrap_or_default())
}

fn tried(advice: &Advice) -> Section {
    let current = ("current", &advice.today, None);
    let advised = advice.significant_effect().map(|gain| ("as advised", gain));
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
    let shown = rows.iter();
    let shown = shown.map(|own| (own.0.to_owned(), [own.1.mean, own.1.longest]));
    section.figures = waits(&shown.collect::<Vec<_>>());
    section.note(TRIED)
}

fn people(gain: &Effect) -> Section {
    let parts = chain!(&gain.classes, &gain.users);
    table!("Winners and losers", parts, part => {
        "mean wait of" => &part.name,
        "jobs [#]" => part.jobs,
        "recorded [s]" => part.recorded,
        "current [s]" => part.today,
        "as advised [s]" => part.changed,
    })
}
