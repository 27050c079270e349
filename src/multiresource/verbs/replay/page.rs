//! The page of a comparison on a trace.

use itertools::Itertools as _;

use super::results::{AtPace, Outcome, Replays};
use super::table::measured;
use super::words::{
    answer, answers, busiest, interrupted, intervals, length, pace, played, remarks, sentence,
    unit, window,
};
use crate::multiresource::replay::SeriesStep;
use crate::report::plot::{Axis, Curve, Panel, Point, Scale, curves, lines};
use crate::report::{Answer, Page, Section, counted, list};

/// Returns a comparison on a trace as a page for people; `command` makes it again.
pub fn replay_page(replays: &Replays, command: String) -> Page {
    let first = replays.paces.iter().take(1).flat_map(|at| &at.policies);
    let names: Vec<&str> = first.map(|own| own.policy.as_str()).collect();
    let trace = &replays.trace;
    let title = format!("{} on {}", list(&names), trace.file);
    let failures = replays.failures();
    let failures = failures.map(|(at, name, why)| format!("{name} at {}: {why}", pace(at)));
    let warnings = interrupted(replays).into_iter().chain(intervals(replays));
    let main = busiest(replays);
    let answer = main.and_then(answer);
    let what = format!(
        "{} in {} at {}",
        counted(trace.jobs as f64, "job"),
        length(trace.span),
        main.map_or(String::new(), pace)
    );
    let table = main.map(|at| measured(at, &unit(replays), true));
    let (columns, rows) = table.unwrap_or_default();
    Page {
        headline: main.and_then(sentence).unwrap_or_default(),
        answers: answers(replays),
        legend: "What is said of groups of jobs and of the longest wait is what came of this log, without an interval.",
        first: answer.as_ref().map(Answer::pictures).unwrap_or_default(),
        warnings: warnings.chain(failures).collect(),
        what,
        columns,
        rows,
        note: window(replays),
        sections: sections(replays, &names, main.zip(answer)),
        method: vec![
            ("Trace", remarks(replays).into_iter().chain(replays.trace.account.window.clone()).join(" ")),
            ("Replay", "Every policy gets the same jobs: each is submitted when the trace says, divided by the speed, and holds what it held for as long as it did. At one instant all ends come first, then all arrivals in the order of the file, then a decision. Times are whole parts of a tick, and nothing is drawn at random but the clocks of policies that have some.".into()),
            ("Intervals", format!("95 %, by moving blocks of time (Künsch, 1989): as many blocks as the span has room for are drawn with replacement, 1000 times, from seed {}; a block is a day and 10 mean waits at least. Ratios are of the same blocks.", replays.seed)),
        ],
        command,
        ..Page::new(title, names.iter().map(|name| (*name).to_owned()))
    }
}

/// What ran while the largest job waited.
fn schedules(at: &AtPace) -> Option<Section> {
    let named = played(at).into_iter();
    let own = named.filter_map(|(name, own)| Some((name.to_string(), own.stretch.as_ref()?)));
    let own = own.collect_vec();
    let (name, first) = own.first()?;
    let text = format!(
        "{}, from {} after the first job on: mostly before the start of the job that waited longest under {name} of those that hold the most. That is twice the run that splits the work into halves, or less where more than 400 jobs would be seen.",
        length(first.to - first.from),
        length(first.from)
    );
    Some(Section::schedules(&own, "s", &text))
}

fn sections(
    replays: &Replays,
    names: &[&str],
    main: Option<(&AtPace, Answer<'_>)>,
) -> Vec<Section> {
    let paces = &replays.paces;
    let waiting = |at| over_time(at, "jobs that wait", |step| step.waiting);
    let used = replays.trace.resources.iter().enumerate();
    let used = used.flat_map(|(j, name)| {
        let in_use = move |at| over_time(at, &format!("{name} in use"), |step| step.used[j]);
        paces.iter().map(in_use)
    });
    let mut sections = vec![
        Section::new(
            "When do jobs wait?",
            "Jobs that wait, averaged over steps of time. A policy without a line stops jobs, so that it is not known when they wait.",
            paces.iter().map(waiting),
        ),
        Section::new(
            "What is in use?",
            "What jobs hold of each resource, over all that there is.",
            used,
        ),
    ];
    if paces.len() > 1 {
        let section = Section::new(
            "How does it grow with the load?",
            "Mean response time over the load, with its interval (drawn symmetrically, as wide as it is).",
            [over_loads(replays, names)],
        );
        sections.insert(0, section);
    }
    if let Some((at, answer)) = main {
        let groups = "By how much jobs hold, how long they run, and whose they are.";
        let of_answer = [
            answer.waits(groups, &["jobs", "of work"]),
            answer.front(["mean wait", "longest wait"]),
        ];
        sections.splice(0..0, of_answer.into_iter().chain(schedules(at)));
    }
    sections
}

fn over_loads(replays: &Replays, names: &[&str]) -> Panel {
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
    Panel::new(
        "mean response time".into(),
        "Mean response time of each policy over the load".into(),
        curves(&x, &y, &all),
    )
}

/// Draws a quantity over time, one line a policy.
fn over_time(at: &AtPace, what: &str, of: impl Fn(&SeriesStep) -> f64) -> Panel {
    const DAY: f64 = 86_400.0;
    let curve = |(n, own): (usize, &Outcome)| {
        let steps = own.replayed.iter().flat_map(|played| &played.series);
        let points = steps.map(|step| Point::exact(step.time / DAY, of(step)));
        Curve::new(n, points.collect())
    };
    let all: Vec<Curve> = at.policies.iter().enumerate().map(curve).collect();
    let values = all.iter().flat_map(|curve| &curve.points).map(|p| p.value);
    let highest = values.fold(0.0, f64::max);
    let x = Axis::new("days", Scale::Linear, 0.0, at.span / DAY);
    let top = if highest > 0.0 { 1.05 * highest } else { 1.0 };
    let y = Axis::new("", Scale::Linear, 0.0, top);
    Panel::new(
        format!("{what} ({})", pace(at)),
        format!("{what} over time, one line a policy"),
        lines(&x, &y, &all),
    )
}
