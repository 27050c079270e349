//! The page of a comparison on a trace.

use itertools::Itertools as _;

use super::results::{AtPace, Outcome, Played, RECORDED, Replays};
use super::words::{interrupted, intervals, pace, remarks, window, with_interval};
use crate::multiresource::replay::Step;
use crate::report::plot::{Axis, Curve, Drawn, Panel, Point, Scale, curves, lines};
use crate::report::{Page, Section, Shown, TableUnit, list, number, quoted};

/// Renders a comparison on a trace as a page for people.
///
/// # Errors
/// When a picture cannot be drawn.
pub fn replay_page(replays: &Replays) -> Drawn<String> {
    let first = replays.paces.iter().take(1).flat_map(|at| &at.policies);
    let names: Vec<&str> = first.map(|own| own.policy.as_str()).collect();
    let title = format!("{} on {}", list(&names), replays.trace.file);
    let failures = replays.failures();
    let failures = failures.map(|(at, name, why)| format!("{name} at {}: {why}", pace(at)));
    let warnings = interrupted(replays).into_iter().chain(intervals(replays));
    let page = Page {
        headline: headline(replays),
        warnings: warnings.chain(failures).collect(),
        what: "Mean response time [s], with 95 % intervals".into(),
        columns: replays.paces.iter().map(pace).collect(),
        rows: names.iter().map(|name| row(replays, name)).collect(),
        note: window(replays),
        sections: sections(replays, &names)?,
        method: vec![
            ("Trace", remarks(replays).join(" ")),
            ("Replay", "Every policy gets the same jobs: each is submitted when the trace says, divided by the speed, and holds what it held for as long as it did. At one instant all ends come first, then all arrivals in the order of the file, then a decision. Times are whole parts of a tick, and nothing is drawn at random but the clocks of policies that have some.".into()),
            ("Intervals", format!("95 %, by moving blocks of time (Künsch, 1989): as many blocks as the span has room for are drawn with replacement, 1000 times, from seed {}; a block is a day and 10 mean waits at least. Ratios are of the same blocks.", replays.seed)),
        ],
        command: command(replays, &names),
        ..Page::new(title, names.iter().map(|name| (*name).to_owned()))?
    };
    page.text()
}

/// Returns the policy with the least mean at each pace.
fn headline(replays: &Replays) -> String {
    let sentences = replays.paces.iter().filter_map(|at| {
        let rules = || at.policies.iter().filter(|own| own.policy != RECORDED);
        let played = rules().filter_map(Outcome::played);
        let least = played.map(mean_response).min_by(f64::total_cmp)?;
        let is_least = |own: &&Outcome| own.played().map(mean_response) == Some(least);
        let best = rules().find(is_least)?;
        Some(format!(
            "At {} {} has the least mean response time, {} s.",
            pace(at),
            best.policy,
            with_interval(least, best.played()?.response, &TableUnit::kept("s"))
        ))
    });
    sentences.collect_vec().join(" ")
}

fn mean_response(played: &Played) -> f64 {
    played.measured.mean_response
}

fn row(replays: &Replays, name: &str) -> (String, Vec<Shown>) {
    let cells = replays.paces.iter().map(|at| {
        let own = at.policies.iter().find(|own| own.policy == name);
        let played = own.and_then(Outcome::played);
        let text = played
            .map(|own| with_interval(mean_response(own), own.response, &TableUnit::kept("s")));
        let missing = if name == RECORDED { "–" } else { "failed" };
        Shown::plain(text.unwrap_or(missing.into()))
    });
    (name.to_owned(), cells.collect())
}

fn sections(replays: &Replays, names: &[&str]) -> Drawn<Vec<Section>> {
    let paces = &replays.paces;
    let waiting = |at| over_time(at, "jobs that wait", |step| step.waiting);
    let used = replays.trace.resources.iter().enumerate();
    let used = used.flat_map(|(j, name)| {
        let in_use = move |at| over_time(at, &format!("{name} in use"), |step| step.used[j]);
        paces.iter().map(in_use)
    });
    let mut sections = vec![
        Section {
            title: "When do jobs wait?".into(),
            text: "Jobs that wait, averaged over steps of time. A policy without a line stops jobs, so that it is not known when they wait.".into(),
            panels: paces.iter().map(waiting).collect::<Drawn<_>>()?,
        },
        Section {
            title: "What is in use?".into(),
            text: "What jobs hold of each resource, over all that there is.".into(),
            panels: used.collect::<Drawn<_>>()?,
        },
    ];
    if paces.len() > 1 {
        let section = Section {
            title: "How does it grow with the load?".into(),
            text: "Mean response time over the load, with its interval (drawn symmetrically, as wide as it is).".into(),
            panels: vec![over_loads(replays, names)?],
        };
        sections.insert(0, section);
    }
    Ok(sections)
}

fn over_loads(replays: &Replays, names: &[&str]) -> Drawn<Panel> {
    let curve = |(n, name): (usize, &&str)| {
        let own = replays.played().filter(|(_, own, _)| own.policy == *name);
        let points = own.map(|(at, _, played)| Point {
            at: at.load,
            value: mean_response(played),
            half_width: played.response.map_or(0.0, |i| (i.high - i.low) / 2.0),
        });
        let mut points: Vec<Point> = points.collect();
        points.sort_by(|a, b| a.at.total_cmp(&b.at));
        Curve::new(n, points)
    };
    let all: Vec<Curve> = names.iter().enumerate().map(curve).collect();
    let points = || all.iter().flat_map(|curve| &curve.points);
    let x = Axis::around("load", Scale::Linear, points().map(|p| p.at));
    let ends = points().flat_map(|p| [p.value - p.half_width, p.value + p.half_width]);
    let y = Axis::around("s", Scale::Linear, ends);
    Ok(Panel::new(
        "mean response time".into(),
        "Mean response time of each policy over the load".into(),
        curves(&x, &y, &all)?,
    ))
}

/// Draws a quantity over time, one line a policy.
fn over_time(at: &AtPace, what: &str, of: impl Fn(&Step) -> f64) -> Drawn<Panel> {
    const DAY: f64 = 86_400.0;
    let curve = |(n, own): (usize, &Outcome)| {
        let steps = own.played().into_iter().flat_map(|played| &played.series);
        let points = steps.map(|step| Point::exact(step.time / DAY, of(step)));
        Curve::new(n, points.collect())
    };
    let all: Vec<Curve> = at.policies.iter().enumerate().map(curve).collect();
    let values = all.iter().flat_map(|curve| &curve.points).map(|p| p.value);
    let highest = values.fold(0.0, f64::max);
    let x = Axis::new("days", Scale::Linear, 0.0, at.span / DAY);
    let top = if highest > 0.0 { 1.05 * highest } else { 1.0 };
    let y = Axis::new("", Scale::Linear, 0.0, top);
    Ok(Panel::new(
        format!("{what} ({})", pace(at)),
        format!("{what} over time, one line a policy"),
        lines(&x, &y, &all)?,
    ))
}

/// Returns the command, as far as the results say it.
fn command(replays: &Replays, names: &[&str]) -> String {
    let names = names.iter().filter(|name| **name != RECORDED).join(",");
    let loads = || replays.paces.iter().map(|at| number(at.load)).join(",");
    let pace = match &replays.paces[..] {
        [at] => format!("--speed {}", at.speed),
        _ => format!("--loads {}", loads()),
    };
    format!(
        "synth compare --trace {} --policies {} {pace} --seed {} …",
        quoted(&replays.trace.file),
        quoted(&names),
        replays.seed
    )
}
