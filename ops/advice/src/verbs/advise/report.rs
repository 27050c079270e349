use itertools::chain;

use crate::slurm::{Advice, Effect};
use crate::verbs::{account_of, ends};
use synth_slurm::what_is_missing;
use synth_traces::replay::Log;
use synth_verb::report::plot::waits;
use synth_verb::report::{Report, Section, counted, length};
use synth_verb::table;

pub(super) fn report(advice: &Advice, log: &Log, command: String) -> Report {
    let missing = what_is_missing(&advice.not_modeled);
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
    sections.push(account_of(&log.account, log.censored));
    let intervals = format!(
        "These are 95 % intervals for a following period that is as long as the second half. Their variance combines twice the variance of the paired moving-block bootstrap (with the seed {} and three offsets of the clock), the squared difference between the ratios of both halves, and a prior for the drift from period to period.",
        advice.seed
    );
    Report {
        title: "Advice on slurm.conf".into(),
        summary: chain!(missing, verdict(advice)).collect(),
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
const TRIED: &str = "The table shows the waits in the second half of the log, where each row is for a single change. The values after the ratio of the mean waits are a 95 % interval for the ratio in a following period that is as long as the second half, so it includes the change of the load and of the users from period to period. A change can be advised if it makes the waits shorter with a probability of at least 95 %, even if 1 is just inside the interval. The bounded slowdown is the mean of max(1, (wait + run time) / max(run time, 10 s)). A change can only be advised if it was selected using the first half, because some of the rows look good in the second half by chance. If the other weights are reduced, they are so small that fair share and the other factors hardly matter.";

fn copied(title: impl Into<String>, lines: &[String]) -> Section {
    Section {
        title: title.into(),
        lines: lines.to_vec(),
        ..Section::default()
    }
}

/// Describes how close the replay is to the log, and the effect of the changes if it is close.
fn verdict(advice: &Advice) -> Vec<String> {
    let gain = advice.gain.as_ref();
    let helped = gain.map(|own| format!("{} ({} times the mean wait)", own.what, over(own)));
    let helped = helped.unwrap_or("no change".into());
    let Some(near) = &advice.likeness else {
        return vec![format!(
            "There is no advice, because there are no start times in the log (sacct: Start), so the replay cannot be checked. To get advice, also export the field Start. In the replay alone, the best change is: {helped}."
        )];
    };
    let checked = near.describe(true);
    if !near.is_near() {
        return vec![checked];
    }
    let effect = match gain {
        _ if near.is_quiet() => {
            "Nobody waits, so the configuration should not be changed.".to_owned()
        }
        None => "None of the changes helps, so the configuration should not be changed.".to_owned(),
        Some(gain) if !gain.is_sure() => format!(
            "There is no advice, because it is not certain that the changes with the largest effect in the first half also help in a following period: {helped}."
        ),
        Some(gain) => format!(
            "With {}, the mean wait is {} ({} times), and the longest wait is {} instead of {}.",
            counted(advice.chosen.len() as f64, "change"),
            length(gain.waits.mean),
            over(gain),
            length(gain.waits.longest),
            length(advice.today.longest)
        ),
    };
    vec![checked, effect]
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
    let mut section = table!("Winners and losers", parts, part => {
        "mean wait of" => &part.name,
        "jobs [#]" => part.jobs,
        "recorded [s]" => part.recorded,
        "current [s]" => part.today,
        "as advised [s]" => part.changed,
    });
    section.has_bars = true;
    section
}
