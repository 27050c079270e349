//! The page of a log that was judged.

use super::results::{Judged, Role};
use super::words::{columns, headline, likeness, rows, stability};
use crate::verbs::by_class;
use synth_verb::report::plot::{self, Drawn, Panel};
use synth_verb::report::{Page, Section};

/// Renders it as a page for people.
///
/// # Errors
/// When a picture cannot be drawn.
pub fn page(judged: &Judged, command: String) -> Drawn<String> {
    let names = judged.rules.iter().map(|row| row.rule.clone());
    let page = Page {
        headline: headline(judged),
        warnings: likeness(judged).into_iter().collect(),
        what: "Rules on the jobs of all windows, with 95 % intervals of ratios".into(),
        columns: columns(judged),
        rows: rows(judged),
        note: format!("The choice: {}.", stability(&judged.windows)),
        sections: vec![
            Section::new("What does a short mean wait cost those who wait longest?", "Each mark is a rule: the longest wait over the mean wait. Left and below is better.", vec![front(judged)?]),
            Section::new("Who gains, and who loses?", "Mean wait of the chosen rules over that of today's, by class: quarters of what jobs hold, from left to right, and in each quarters of how long they run.", vec![classes(judged)?]),
        ],
        method: vec![
            ("Walking forward", format!("The rule of each window is chosen from what was known before it, and begins with the jobs that its predecessor left. The first {:.0} % of the span are the past of the first window.", 100.0 * judged.cut.past)),
            ("Choice", "Candidates are replayed on the past as it was, on weeks of it drawn with replacement, and at a load of 0.85 where it had less. The least mean logarithm of the objective over that of today's rule is taken.".into()),
            ("Intervals", format!("95 %, by moving blocks of time, from seed {}.", judged.seed)),
        ],
        command,
        ..Page::new(format!("Rules for {}", judged.file), names)
    };
    page.text()
}

fn front(judged: &Judged) -> Drawn<Panel> {
    let rules = judged.rules.iter().filter(|row| row.role != Role::Recorded);
    let times = rules.map(|row| &row.outcome).enumerate();
    let times = times.map(|(n, own)| (n, own.mean_wait, own.longest_wait));
    Ok(plot::front(
        ["mean wait", "longest wait"],
        "s",
        &Vec::from_iter(times),
    ))
}

fn classes(judged: &Judged) -> Drawn<Panel> {
    let waits = judged.classes.iter().map(|own| (own.now, own.chosen));
    by_class(
        "Mean wait of the chosen rules over that of today's, by class of jobs",
        &Vec::from_iter(waits),
    )
}
