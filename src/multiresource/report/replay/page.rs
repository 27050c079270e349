//! The page of a comparison on a trace.

use super::super::number;
use super::{intervals, pace, remarks, window, with_interval};
use crate::multiresource::replay::Step;
use crate::multiresource::verbs::replay::{AtPace, Outcome, Replays};
use crate::report::plot::{Axis, Curve, Drawn, Panel, Point, Scale, curves, lines};
use crate::report::{Page, Section, Shown, list, quoted};

/// A comparison on a trace as a page for people.
///
/// # Errors
/// When a picture cannot be drawn.
pub fn replay_page(replays: &Replays) -> Drawn<String> {
    let first = replays.paces.iter().take(1).flat_map(|at| &at.policies);
    let names: Vec<&str> = first.map(|own| own.policy.as_str()).collect();
    let title = format!("{} on {}", list(&names), replays.trace.file);
    let page = Page {
        headline: headline(replays),
        warnings: warnings(replays),
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

/// The policy with the least mean at each pace.
fn headline(replays: &Replays) -> String {
    let sentences = replays.paces.iter().filter_map(|at| {
        let played = at.policies.iter();
        let played = played.filter_map(|own| Some((own, own.replayed.as_deref()?)));
        let means = played.map(|(own, played)| (own, played.measured.mean_response, played));
        let (own, mean, played) = means.min_by(|a, b| a.1.total_cmp(&b.1))?;
        Some(format!(
            "At {} {} has the least mean response time, {} s.",
            pace(at),
            own.policy,
            with_interval(mean, played.response)
        ))
    });
    sentences.collect::<Vec<_>>().join(" ")
}

fn warnings(replays: &Replays) -> Vec<String> {
    let cut = replays.interrupted;
    let cut = cut.then(|| "INTERRUPTED: not all of it was replayed.".to_owned());
    let failures = replays.failures();
    let failures = failures.map(|(at, name, why)| format!("{name} at {}: {why}", pace(at)));
    cut.into_iter()
        .chain(intervals(replays))
        .chain(failures)
        .collect()
}

fn row(replays: &Replays, name: &str) -> (String, Vec<Shown>) {
    let cells = replays.paces.iter().map(|at| {
        let own = at.policies.iter().find(|own| own.policy == name);
        let played = own.and_then(|own| own.replayed.as_deref());
        let text = played.map(|own| with_interval(own.measured.mean_response, own.response));
        Shown::plain(text.unwrap_or("failed".into()))
    });
    (name.to_owned(), cells.collect())
}

fn sections(replays: &Replays, names: &[&str]) -> Drawn<Vec<Section>> {
    let paces = &replays.paces;
    let waiting = |at| over_time(at, "jobs that wait", |step| step.waiting);
    let used = replays.trace.resources.iter().enumerate();
    let used = used.flat_map(|(j, name)| {
        let what = format!("{name} in use");
        paces
            .iter()
            .map(move |at| over_time(at, &what, |step| step.used[j]))
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
            value: played.measured.mean_response,
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

/// A quantity over time, one line a policy.
fn over_time(at: &AtPace, what: &str, of: impl Fn(&Step) -> f64) -> Drawn<Panel> {
    const DAY: f64 = 86_400.0;
    let curve = |(n, own): (usize, &Outcome)| {
        let played = own.replayed.iter();
        let points = played
            .flat_map(|played| &played.course.steps)
            .map(|step| Point {
                at: step.time / DAY,
                value: of(step),
                half_width: 0.0,
            });
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

/// The command, as far as the results tell it.
fn command(replays: &Replays, names: &[&str]) -> String {
    let loads: Vec<String> = replays.paces.iter().map(|at| number(at.load)).collect();
    let pace = match &replays.paces[..] {
        [at] => format!("--speed {}", at.speed),
        _ => format!("--loads {}", loads.join(",")),
    };
    format!(
        "synth compare --trace {} --policies {} {pace} --seed {} …",
        quoted(&replays.trace.file),
        quoted(&names.join(",")),
        replays.seed
    )
}
