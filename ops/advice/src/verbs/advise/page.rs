//! Advice as a page for those who decide.

use super::words::{COLUMNS, PARTS, copied, headline, part_rows, rows};
use crate::slurm::{Advice, Gain};
use synth_verb::report::plot::{self, Axis, Curve, Drawn, Panel, Point, Scale, curves};
use synth_verb::report::{Page, Section};

/// Renders the page.
///
/// # Errors
/// When a picture cannot be drawn.
pub fn page(advice: &Advice, command: String) -> Drawn<String> {
    let changes = advice.chosen.iter().filter(|_| advice.sure().is_some());
    let answers = changes.map(|own| (own.what.clone(), own.besides.clone().unwrap_or_default()));
    let lines = copied(advice)
        .into_iter()
        .filter(|_| advice.sure().is_some());
    let lines = lines.map(|(head, lines)| (head, lines.join("\n")));
    let names = rows(advice).into_iter().map(|(name, _)| name);
    let mut sections = Vec::new();
    if advice.is_near() {
        sections.push(Section {
        title: "What does a short mean wait cost those who wait longest?".into(),
        text:
            "Each mark is a setting: the longest wait over the mean wait. Left and below is better."
                .into(),
        panels: vec![front(advice)?],
        ..Section::default()
        });
    }
    if let Some(gain) = advice.sure() {
        sections.push(Section {
            title: "Who gains, and who waits longer?".into(),
            text: people(advice),
            panels: vec![classes(gain)?],
            ..Section::default()
        });
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
        ..Page::new("What this site should change in slurm.conf".into(), names)?
    }
    .text()
}

/// Classes and users with their waits, in one paragraph: those who lose most first.
fn people(advice: &Advice) -> String {
    let said = part_rows(advice).into_iter().map(|(name, cells)| {
        let cells = cells.iter().zip(PARTS);
        let cells = cells.map(|(cell, head)| format!("{head} {}", cell.text));
        format!("{name}: {}.", cells.collect::<Vec<_>>().join(", "))
    });
    let said: Vec<String> = said.collect();
    format!(
        "Mean waits, those who lose most first; the marks are the classes in this order, over today's wait. {}",
        said.join(" ")
    )
}

/// The longest wait over the mean wait, in the order of the rows.
fn front(advice: &Advice) -> Drawn<Panel> {
    let gains = advice
        .sure()
        .into_iter()
        .chain(&advice.tried)
        .chain(&advice.purchases);
    let waits = std::iter::once(&advice.today).chain(gains.map(|gain| &gain.waits));
    let times = waits.enumerate().map(|(n, own)| (n, own.mean, own.longest));
    plot::front(["mean wait", "longest wait"], "s", &Vec::from_iter(times))
}

/// The mean wait of each class over today's.
fn classes(gain: &Gain) -> Drawn<Panel> {
    let waited = gain
        .classes
        .iter()
        .zip(1_u32..)
        .filter(|(own, _)| own.today > 0.0);
    let points = waited.map(|(own, n)| Point::exact(f64::from(n), own.changed / own.today));
    let points: Vec<Point> = points.collect();
    let end = gain.classes.len() as f64 + 0.5;
    let x = Axis::new("class", Scale::Linear, 0.5, end);
    let values = points.iter().map(|point| point.value).chain([0.0, 1.0]);
    let y = Axis::around("mean wait over today's", Scale::Linear, values);
    let line = [0.5, end].map(|at| Point::exact(at, 1.0));
    let all = [Curve::new(0, line.to_vec()), Curve::new(1, points)];
    Ok(Panel::new(
        "mean wait over today's, by class".into(),
        "Mean wait with what is advised over that of today, by class of jobs".into(),
        curves(&x, &y, &all)?,
    ))
}
