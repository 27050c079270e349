//! The page: one HTML file without scripts that loads nothing.

use super::answer::answer;
use super::{Besides, columns, figures, rows, words};
use crate::report::plot::short;
use crate::report::{Page, TableUnit, number};
use synth_simulation::sweep::{Cell, Comparison};
use synth_simulation::{Ending, Health, Run, Stretch};

/// Returns a comparison as a page for people: the answer in words, tables, pictures, and its method; `recorded` has what was
/// recorded of policies at the highest load.
pub fn comparison_page<M, C>(
    besides: &Besides<'_, M, C>,
    comparison: &Comparison<M, C>,
    recorded: &[(String, Stretch)],
) -> Page {
    let header = &comparison.header;
    let labels = comparison.names().map(|name| comparison.titled(name));
    let exact = comparison.exact.first().map(|exact| exact.name.clone());
    let names: Vec<&str> = comparison.names().map(|n| comparison.label(n)).collect();
    let source = header.workload.source.as_ref();
    let source = source.unwrap_or(&header.workload.file);
    let title = format!("{} on “{source}”", words::list(&names));
    let at_loads = comparison.rankings.iter().map(|at| {
        let text = firm(&words::sentences(comparison, at));
        (words::ranked(comparison, at), text)
    });
    let about = &besides.about;
    let about = format!("{about}: every policy gets the same arrivals and the same sizes.");
    let compared = ("Compared on".to_owned(), about);
    let found = answer(comparison);
    let pays = found.as_ref().and_then(|(_, own, _)| own.who_pays());
    let first = found.as_ref().map(|(_, own, _)| own.pictures());
    let headline = found.as_ref().and_then(|own| own.2.clone());
    let headline = headline
        .into_iter()
        .chain([words::lead_over_loads(comparison)]);
    Page {
        headline: firm(&headline.collect::<Vec<_>>().join(" ")),
        first: first.unwrap_or_default(),
        warnings: words::warnings(comparison),
        answers: [compared].into_iter().chain(pays).chain(at_loads).collect(),
        legend: "< stands before a greater mean response time, ≈ between neighbours of which neither is surely faster, ≲ where the second takes a tenth longer, but not surely. What is said of a load holds together at 95 % confidence.",
        what: format!("Mean response time [{}]", header.workload.time_unit),
        columns: columns(comparison),
        rows: rows(comparison, &TableUnit::kept(&header.workload.time_unit)),
        note: "With 95 % confidence intervals, over all jobs. Green and bold: nobody is surely faster at that load.".into(),
        sections: figures::sections(besides, comparison, found, recorded),
        method: method(besides, comparison),
        command: header.command(),
        tool: header.tool.clone(),
        ..Page::new(title, labels.chain(exact))
    }
}

/// With no-break spaces between numbers and their intervals.
fn firm(text: &str) -> String {
    text.replace(" ± ", "\u{a0}±\u{a0}")
        .replace("ρ = ", "ρ\u{a0}=\u{a0}")
}

/// Returns how it was done.
fn method<M, C>(
    besides: &Besides<'_, M, C>,
    comparison: &Comparison<M, C>,
) -> Vec<(&'static str, String)> {
    let (h, s) = (&comparison.header, &comparison.header.settings);
    let mut method = vec![
        ("Workload", format!("{}: {}; its own load is ρ = {}, and all arrival rates are scaled alike to reach each load. A load of 1 is the most that any policy can serve.", h.workload.file, besides.about, short(h.workload.load))),
        ("Digest of the workload", h.workload.digest.clone()),
        ("Simulation", format!("{} independent replications from seed {}; at a load every policy faces the same arrivals and the same sizes. A run ends at a relative precision of {} %, at which it is looked after a million events and then each time twice as many, or after {} events{}.", s.replications, s.seed, short(100.0 * s.precision), s.events, s.time_seconds.map_or(String::new(), |t| format!(", or after {t} s (its numbers then depend on the machine)")))),
        ("Warm-up", warm_up(comparison, &h.workload.time_unit)),
        ("Intervals", "95 % confidence, by batch means of independent replications; of queues wider by the factor 1/(1 − d), d the relative half-width, since a run that saw few long queues also saw too small a spread. Ratios are estimated from pairs of replications on the same arrivals and sizes (Student's t); what is said of a load holds together at 95 % (Bonferroni over all pairs of policies there).".into()),
        ("Stability", "A policy is called unstable where the number of jobs in the system, or of jobs of one type, climbs from quarter to quarter of the run, and by more than chance explains; and unsettled where the run was too short to tell: of each type 32 jobs have to be done and to stay for at most a twentieth of a replication, the numbers in system may not change too slowly (their means over sixteenths of a replication are correlated by at most .6) and need a level (MSER-5, White 1997), and 10 mean residual sizes of the longest jobs must be left after the warm-up. Neither has means.".into()),
        ("Runs", endings(comparison)),
    ];
    let files = h
        .policies
        .iter()
        .filter_map(|p| Some((p, p.digest.as_ref()?)));
    let digests = files.map(|(p, digest)| format!("{}: {digest}", comparison.label(&p.name)));
    let digests = digests.collect::<Vec<_>>().join("; ");
    if !digests.is_empty() {
        method.push(("Digests of policy files", digests));
    }
    method
}

fn warm_up<M, C>(comparison: &Comparison<M, C>, unit: &str) -> String {
    let settled = runs(comparison).filter(|run| run.health == Health::Settled);
    let longest = settled.map(|run| run.warm_up).fold(0.0, f64::max);
    format!(
        "a tenth of each run, at least 3 mean residual sizes of the longest jobs, is cut off; the longest was {} {unit} a replication.",
        number(longest)
    )
}

fn endings<M, C>(comparison: &Comparison<M, C>) -> String {
    let kinds = [
        (Ending::Precision, "reached the precision"),
        (Ending::Events, "spent the budget of events"),
        (Ending::Time, "ran out of time"),
        (Ending::RunsAway, "ran away"),
        (Ending::Interrupted, "was interrupted"),
    ];
    let some = kinds.into_iter().filter_map(|(ending, what)| {
        let count = runs(comparison).filter(|run| run.ending == ending).count();
        (count > 0).then(|| format!("{count} {what}"))
    });
    let some = some.collect::<Vec<_>>().join(", ");
    let events: u64 = runs(comparison).map(|run| run.events).sum();
    let millions = number(events as f64 / 1e6);
    format!("{some}; {millions} million events in all.")
}

fn runs<M, C>(comparison: &Comparison<M, C>) -> impl Iterator<Item = &Run<M, C>> {
    comparison.cells.iter().filter_map(Cell::run)
}
