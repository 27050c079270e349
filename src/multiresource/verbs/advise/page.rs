//! Advice as a page for those who decide.

use super::words::{COLUMNS, PARTS, headline, is_given, part_rows, rows};
use crate::report::plot::Drawn;
use crate::report::{Page, Section};
use synth_slurm::advice::Advice;

/// Renders the page.
///
/// # Errors
/// When a picture cannot be drawn.
pub fn page(advice: &Advice, file: &str) -> Drawn<String> {
    let changes = advice.advised.iter().filter(|_| is_given(advice));
    let answers = changes.map(|change| {
        let besides = change.besides.as_ref().map(|own| format!("; {own}"));
        let how = change.lines.join(", ") + &besides.unwrap_or_default();
        (change.what.clone(), how)
    });
    let people = part_rows(advice).into_iter().map(|(name, cells)| {
        let cells = cells
            .iter()
            .zip(PARTS)
            .map(|(cell, head)| format!("{head} {}", cell.text));
        format!("{name}: {}", cells.collect::<Vec<_>>().join(", "))
    });
    let people: Vec<String> = people.collect();
    Page {
        headline: headline(advice),
        warnings: advice.remarks.clone(),
        answers: answers.collect(),
        what: "Today's rule and each change alone, on the second half of the log".into(),
        columns: COLUMNS.map(str::to_owned).into(),
        rows: rows(advice),
        sections: vec![Section {
            title: "Who gains, and who waits longer?".into(),
            text: people.join(". "),
            panels: Vec::new(),
        }],
        method: vec![
            ("Replay", "The jobs of the log come again as they came, on the nodes of the site, and are scheduled as Slurm does: the main scheduler and backfilling with its reservations, priorities, fair share, limits of quality of service and accounts. Preemption, reservations by hand, licenses, constraints and dependencies are left out.".into()),
            ("Choice", "Changes are chosen on the first half of the log by the mean wait, one after the other as long as one more lowers it by 2 %. What is shown is the second half.".into()),
            ("Intervals", format!("95 %, by moving blocks of time in pairs, from seed {}.", advice.seed)),
            ("The way back", "Take the lines out of slurm.conf again and run `scontrol reconfigure`; the folder that `synth export slurm-priority` writes has a script for jobs that wait.".into()),
        ],
        command: format!("synth advise slurm {file} --slurm SITE --seed {}", advice.seed),
        ..Page::new(format!("Advice for {file}"), std::iter::empty())?
    }
    .text()
}
