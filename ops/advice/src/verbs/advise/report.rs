//! The report of advice.

use itertools::chain;

use crate::slurm::{Advice, Gain};
use crate::verbs::{account_of, ends};
use synth_traces::replay::Log;
use synth_verb::report::plot::front;
use synth_verb::report::{Report, Section, counted, length};
use synth_verb::table;

/// Returns the advice, what was tried, and who gains and loses; `command` makes it again.
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
    // The remarks of the log are among those of the advice.
    let remarks = chain!(&log.account.window, &advice.remarks);
    lines.notes = remarks.cloned().collect();
    sections.push(lines);
    let intervals = format!(
        "95 %, by moving blocks of time in pairs, from seed {}; each setting is replayed with the clock at three different seconds, and a draw uses one of them.",
        advice.seed
    );
    Report {
        title: "Advice on slurm.conf".into(),
        summary: vec![verdict(advice)],
        warnings: advice.assumed.iter().map(|own| format!("{own}.")).collect(),
        sections,
        method: vec![
            ("Way back", BACK_AGAIN.into()),
            ("Replay", REPLAY.into()),
            ("Selection", SELECTION.into()),
            ("Intervals", intervals),
        ],
        command,
        ..Report::default()
    }
}

const LINES: &str = "Replace the lines with these names in slurm.conf (of two such lines Slurm follows only the last):";
const BACK: &str = "To undo this, replace them with:";
const BACK_AGAIN: &str = "Replace the new lines with today's lines, which are above. `scontrol reconfigure` is enough except for PriorityType, which needs a restart of slurmctld and may stay. The folder that `synth export slurm-priority` writes has the steps for its script and for waiting jobs.";
const REPLAY: &str = "The jobs of the log arrive as they did, on the nodes of the site, and are scheduled as Slurm does: the main scheduler and backfilling with its reservations, priorities, fair share, limits of quality of service and accounts. Preemption, reservations by hand, licenses, constraints and dependencies are left out.";
const SELECTION: &str = "Changes are selected on the first half of the log by the mean wait, one after the other while one more lowers it by 2 %. The results are those of the second half.";
const TRIED: &str = "Waits in the second half of the log; each row is one change alone. Ratios of mean waits have 95 % intervals, by blocks of time in pairs and over three seconds at which the clock may stand; an interval that contains 1 shows no difference. Bounded slowdown: the mean of max(1, (wait + run time) / max(run time, 10 s)). Only changes that were selected on the first half can be advised: among so many rows, some do well in the second half by chance. Points a week: what a week of waiting adds to a job's priority (PriorityWeightAge, PriorityMaxAge). Before other factors: with weights of fair share and the like so small that the order decides.";

/// Returns lines to be copied, under this title.
fn copied(title: impl Into<String>, lines: &[String]) -> Section {
    Section {
        title: title.into(),
        lines: lines.to_vec(),
        ..Section::default()
    }
}

/// Describes how near the replay is to the log, and what follows.
fn verdict(advice: &Advice) -> String {
    let gain = advice.gain.as_ref();
    let helped = gain.map(|own| format!("{} ({} times the mean wait)", own.what, over(own)));
    let helped = helped.unwrap_or("no change".into());
    let Some(near) = &advice.likeness else {
        return format!(
            "Nothing is advised: the log has no start times (sacct: Start), so the replay cannot be checked against what happened. Export Start, too. In the replay alone, what helps is {helped}."
        );
    };
    let (recorded, replayed) = (length(near.recorded), length(near.replayed));
    let checked = format!(
        "In the second half of the log jobs waited {recorded} on average, and {replayed} in a replay of the current configuration."
    );
    let why = match near.replayed < near.recorded {
        _ if near.is_near() => None,
        true => Some(
            "something makes jobs wait that is not in the replay (dependencies, reservations, constraints, nodes that were down, limits that are not in these files)",
        ),
        false => Some(
            "the site has more nodes or other limits than these files say, or not all of its jobs started as this log has them",
        ),
    };
    if let Some(why) = why {
        return format!("{checked} That is too far apart for advice: {why}.");
    }
    match gain {
        None => {
            format!("{checked} No change that was tried helps: leave the configuration as it is.")
        }
        Some(gain) if !gain.is_sure() => format!(
            "{checked} Nothing is advised: what helped most in the first half does not significantly help in the second: {helped}."
        ),
        Some(gain) => format!(
            "{checked} With {} the mean wait is {} ({} times), and the longest {} instead of {}.",
            counted(advice.chosen.len() as f64, "change"),
            length(gain.waits.mean),
            over(gain),
            length(gain.waits.longest),
            length(advice.today.longest)
        ),
    }
}

/// `0.63 [0.52, 0.76]`.
fn over(gain: &Gain) -> String {
    let interval = gain.interval;
    let interval = interval.map(|own| format!(" [{:.2}, {:.2}]", own.low, own.high));
    format!("{:.2}{}", gain.ratio, interval.unwrap_or_default())
}

/// Returns a row for the current configuration, for what is advised, and for each change alone.
fn tried(advice: &Advice) -> Section {
    let current = ("current", &advice.today, None);
    let advised = advice.sure().map(|gain| ("as advised", gain));
    let alone = chain!(&advice.tried, &advice.purchases);
    let gains = chain!(advised, alone.map(|gain| (&*gain.what, gain)));
    let gains = gains.map(|(name, own)| (name, &own.waits, Some((own.ratio, ends(own.interval)))));
    let rows: Vec<_> = chain!([current], gains).collect();
    let mut section = table!("What was tried", &rows, (name, waits, ratio) => {
        "setting" => *name,
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

/// Returns the mean waits of classes and of the users with the largest changes.
fn people(gain: &Gain) -> Section {
    let parts = chain!(&gain.classes, &gain.users);
    table!("Who gains, and who waits longer", parts, part => {
        "mean wait of" => &part.name,
        "jobs [#]" => part.jobs,
        "recorded [s]" => part.recorded,
        "current [s]" => part.today,
        "as advised [s]" => part.changed,
    })
}
