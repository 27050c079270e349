//! The page of a comparison on a trace.

use super::super::{number, percent};
use super::{TOO_SHORT, lacks_intervals, notes, pace, window, with_interval};
use crate::multiresource::replay::Step;
use crate::multiresource::verbs::replay::{AtPace, Played, Replays, Told};
use crate::report::plot::{Axis, Curve, Look, Panel, Point, Scale, courses, curves};
use crate::report::{Page, Section, list};

type Drawn<T> = Result<T, Box<dyn std::error::Error>>;

/// A comparison on a trace as a page for people.
///
/// # Errors
/// When a picture cannot be drawn.
pub fn replay_page(replays: &Replays) -> Drawn<String> {
    let names = names(replays);
    let page = Page {
        headline: headline(replays),
        warnings: warnings(replays),
        what: "mean response time \u{5b}s\u{5d}, with 95 % intervals".into(),
        columns: replays.paces.iter().map(pace).collect(),
        rows: cells(replays, &names),
        note: window(replays),
        sections: sections(replays, &names)?,
        method: method(replays),
        command: command(replays, &names),
        ..Page::new(
            format!("{} on {}", list(&names), replays.trace.file),
            names.len(),
        )
    };
    page.text()
}

fn names(replays: &Replays) -> Vec<&str> {
    let first = replays.paces.iter().take(1).flat_map(|at| &at.policies);
    first.map(|told| told.policy.as_str()).collect()
}

/// Which policy has the least mean at each pace, and whether that is more than chance.
fn headline(replays: &Replays) -> String {
    let told = replays.paces.iter().filter_map(|at| {
        let played = at
            .policies
            .iter()
            .filter_map(|told| Some((told, told.played()?)));
        let mean = |played: &Played| played.measured.mean_response;
        let (told, played) = played.min_by(|a, b| mean(a.1).total_cmp(&mean(b.1)))?;
        Some(format!(
            "At {} {} has the least mean response time, {} s.",
            pace(at),
            told.policy,
            with_interval(mean(played), played.response)
        ))
    });
    told.collect::<Vec<_>>().join(" ")
}

fn warnings(replays: &Replays) -> Vec<String> {
    let mut warnings = Vec::new();
    if replays.interrupted {
        warnings.push("INTERRUPTED: not all of it was replayed.".to_owned());
    }
    warnings.extend(lacks_intervals(replays).map(|all| {
        if all {
            format!("No interval: {TOO_SHORT}.")
        } else {
            format!("Where no interval stands, {TOO_SHORT}.")
        }
    }));
    let failures = replays.paces.iter().flat_map(|at| {
        let failed = at
            .policies
            .iter()
            .filter_map(|told| Some((told, told.failure()?)));
        failed.map(|(told, why)| format!("{} at {}: {why}", told.policy, pace(at)))
    });
    warnings.extend(failures);
    warnings
}

fn cells(replays: &Replays, names: &[&str]) -> Vec<(String, Vec<String>)> {
    let row = |(n, name): (usize, &&str)| {
        let cells =
            replays
                .paces
                .iter()
                .map(|at| match at.policies.get(n).and_then(Told::played) {
                    Some(played) => with_interval(played.measured.mean_response, played.response),
                    None => "failed".into(),
                });
        ((*name).to_owned(), cells.collect())
    };
    names.iter().enumerate().map(row).collect()
}

fn sections(replays: &Replays, names: &[&str]) -> Drawn<Vec<Section>> {
    let mut sections = Vec::new();
    let section = |title: &str, text: &str, panels: Vec<Panel>| {
        Ok::<_, Box<dyn std::error::Error>>(Section {
            title: title.into(),
            text: text.into(),
            keys: Section::keys(names.iter().copied())?,
            panels,
        })
    };
    if replays.paces.len() > 1 {
        let text = "Mean response time over the load, with its interval (drawn symmetrically, as wide as it is).";
        sections.push(section(
            "How does it grow with the load?",
            text,
            vec![over_loads(replays)?],
        )?);
    }
    let waiting = |at| panel(at, "jobs that wait", |step| step.waiting);
    let text = "Jobs that wait, averaged over steps of time. A policy without a line stops jobs, so that it is not known when they wait.";
    let panels = replays.paces.iter().map(waiting).collect::<Drawn<_>>()?;
    sections.push(section("When do jobs wait?", text, panels)?);
    let mut panels = Vec::new();
    for (j, name) in replays.trace.resources.iter().enumerate() {
        for at in &replays.paces {
            panels.push(panel(at, &format!("{name} in use"), |step| step.used[j])?);
        }
    }
    let text = "What jobs hold of each resource, over all that there is.";
    sections.push(section("What is in use?", text, panels)?);
    Ok(sections)
}

fn over_loads(replays: &Replays) -> Drawn<Panel> {
    let count = names(replays).len();
    let of_policy = |n: usize| {
        let points = replays.paces.iter().filter_map(|at| {
            let played = at.policies.get(n)?.played()?;
            let half = played.response.map_or(0.0, |i| (i.high - i.low) / 2.0);
            Some(Point {
                at: at.load,
                value: played.measured.mean_response,
                half_width: half,
            })
        });
        let mut points: Vec<Point> = points.collect();
        points.sort_by(|a, b| a.at.total_cmp(&b.at));
        Curve {
            look: Look::new(n),
            points,
            unstable: Vec::new(),
        }
    };
    let all: Vec<Curve> = (0..count).map(of_policy).collect();
    let points = || all.iter().flat_map(|curve| &curve.points);
    let x = Axis::around("load", Scale::Linear, points().map(|p| p.at));
    let ends = points().flat_map(|p| [p.value - p.half_width, p.value + p.half_width]);
    let y = Axis::around("s", Scale::Linear, ends);
    Ok(Panel {
        id: String::new(),
        title: "mean response time".into(),
        description: "Mean response time of each policy over the load".into(),
        picture: curves(&x, &y, &all)?,
    })
}

/// A course over time, one line a policy.
fn panel(at: &AtPace, what: &str, of: impl Fn(&Step) -> f64) -> Drawn<Panel> {
    const DAY: f64 = 86_400.0;
    let course = |(n, told): (usize, &Told)| {
        let steps = told.played().map_or(&[][..], |played| &played.course.steps);
        let points = steps.iter().map(|step| Point {
            at: step.time / DAY,
            value: of(step),
            half_width: 0.0,
        });
        Curve {
            look: Look::new(n),
            points: points.collect(),
            unstable: Vec::new(),
        }
    };
    let all: Vec<Curve> = at.policies.iter().enumerate().map(course).collect();
    let values = all
        .iter()
        .flat_map(|curve| curve.points.iter().map(|p| p.value));
    let highest = values.fold(0.0, f64::max);
    let x = Axis::new("days", Scale::Linear, 0.0, at.span / DAY);
    let y = Axis::new(
        "",
        Scale::Linear,
        0.0,
        if highest > 0.0 { 1.05 * highest } else { 1.0 },
    );
    Ok(Panel {
        id: String::new(),
        title: format!("{what} ({})", pace(at)),
        description: format!("{what} over time, one line a policy"),
        picture: courses(&x, &y, &all)?,
    })
}

fn method(replays: &Replays) -> Vec<(&'static str, String)> {
    let trace = &replays.trace;
    vec![
        ("Trace", notes(replays, usize::MAX)[0].clone()),
        ("Replay", "Every policy gets the same jobs: each is submitted when the trace says, divided by the speed, and holds what it held for as long as it did. At one instant all ends come first, then all arrivals in the order of the file, then a decision. Times are whole parts of a tick, and nothing is drawn at random but the clocks of policies that have some.".into()),
        ("Intervals", format!("95 %, by moving blocks of time (Künsch, 1989): as many blocks as the span has room for are drawn with replacement, 1000 times, from seed {}; a block is a day and 10 mean waits at least. Ratios are of the same blocks.", replays.seed)),
        ("Left out", format!("{} jobs that still ran at the end; {} of {} lines have a reason to be told.", trace.censored, trace.account.rows.iter().map(|row| row.lines).sum::<u64>(), trace.account.lines)),
        ("In use", used(replays)),
    ]
}

fn used(replays: &Replays) -> String {
    let told = replays.paces.iter().flat_map(|at| {
        at.policies.iter().filter_map(move |told| {
            let used = &told.played()?.measured.utilization;
            let used: Vec<String> = used.iter().map(|used| percent(*used)).collect();
            (!used.is_empty())
                .then(|| format!("{} at {}: {}", told.policy, pace(at), used.join(" · ")))
        })
    });
    told.collect::<Vec<_>>().join("; ")
}

/// The command, as far as the answer tells it.
fn command(replays: &Replays, names: &[&str]) -> String {
    let speeds: Vec<String> = replays.paces.iter().map(|at| number(at.load)).collect();
    let pace = match &replays.paces[..] {
        [at] => format!("--speed {}", at.speed),
        _ => format!("--loads {}", speeds.join(",")),
    };
    let quoted: Vec<String> = [replays.trace.file.clone(), names.join(",")]
        .iter()
        .map(|text| crate::report::quoted(text))
        .collect();
    format!(
        "synth compare --trace {} --policies {} {pace} --seed {} …",
        quoted[0], quoted[1], replays.seed
    )
}
