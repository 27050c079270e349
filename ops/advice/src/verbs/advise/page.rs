//! Advice as a page for those who decide.

use itertools::Itertools as _;

use super::words::{COLUMNS, PARTS, copied, gains, headline, part_rows, rows};
use crate::slurm::{Advice, Gain};
use crate::verbs::by_class;
use synth_verb::report::plot::{self, Drawn, Panel};
use synth_verb::report::{Page, Section};

/// Renders the page.
///
/// # Errors
/// When a picture cannot be drawn.
pub fn page(advice: &Advice, command: String) -> Drawn<String> {
    let changes = advice.chosen.iter().filter(|_| advice.sure().is_some());
    let answers = changes.map(|own| (own.what.clone(), own.besides.clone().unwrap_or_default()));
    let lines = copied(advice).into_iter();
    let lines = lines.map(|(head, lines)| (head, lines.join("\n")));
    let names = rows(advice).into_iter().map(|(name, _)| name);
    let mut sections = Vec::new();
    if advice.is_near() {
        sections.push(Section::new(
            "What does a short mean wait cost those who wait longest?",
            "Each mark is a setting: the longest wait over the mean wait. Left and below is better.",
            [front(advice)?],
        ));
    }
    if let Some(gain) = advice.sure() {
        let question = "Who gains, and who waits longer?";
        sections.push(Section::new(question, people(advice), [classes(gain)?]));
    }
    Page {
        headline: headline(advice),
        warnings: advice.remarks.clone(),
        answers: answers.collect(),
        lines: lines.collect(),
        what: "Today's rule and each change alone, on the second half of the log".into(),
        columns: COLUMNS.map(str::to_owned).into(),
        rows: if advice.is_near() { rows(advice) } else { Vec::new() },
        sections,
        method: vec![
            ("The way back", "Put today's lines, which are above, in place of the new ones. `scontrol reconfigure` is enough but for PriorityType, which needs a restart of slurmctld and may stay. The folder that `synth export slurm-priority` writes has the steps for its script and for jobs that wait.".into()),
            ("Replay", "The jobs of the log come again as they came, on the nodes of the site, and are scheduled as Slurm does: the main scheduler and backfilling with its reservations, priorities, fair share, limits of quality of service and accounts. Preemption, reservations by hand, licenses, constraints and dependencies are left out.".into()),
            ("Choice", "Changes are chosen on the first half of the log by the mean wait, one after the other as long as one more lowers it by 2 %. What is shown is the second half.".into()),
            ("Intervals", format!("95 %, by moving blocks of time in pairs, from seed {}; each setting is replayed with the clock at three different seconds, and a draw takes one of them.", advice.seed)),
        ],
        command,
        ..Page::new("What this site should change in slurm.conf".into(), names)
    }
    .text()
}

/// Classes and users with their waits, in one paragraph: those who lose most first.
fn people(advice: &Advice) -> String {
    let said = part_rows(advice).into_iter().map(|(name, cells)| {
        let cells = cells.iter().zip(PARTS);
        let cells = cells.map(|(cell, head)| format!("{head} {}", cell.text));
        format!("{name}: {}.", cells.format(", "))
    });
    format!(
        "Mean waits, those who lose most first; the marks are the classes in this order, over today's wait. {}",
        said.format(" ")
    )
}

/// The longest wait over the mean wait, in the order of the rows.
fn front(advice: &Advice) -> Drawn<Panel> {
    let gains = gains(advice).map(|gain| &gain.waits);
    let waits = std::iter::once(&advice.today).chain(gains);
    let times = waits.enumerate().map(|(n, own)| (n, own.mean, own.longest));
    Ok(plot::front(
        ["mean wait", "longest wait"],
        "s",
        &Vec::from_iter(times),
    ))
}

/// The mean wait of each class over today's.
fn classes(gain: &Gain) -> Drawn<Panel> {
    let waits = gain.classes.iter().map(|own| (own.today, own.changed));
    by_class(
        "Mean wait with what is advised over that of today, by class of jobs",
        &Vec::from_iter(waits),
    )
}
