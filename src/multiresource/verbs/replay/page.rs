//! The page of a comparison on a trace.

use itertools::{Itertools as _, chain};

use super::results::{AtPace, Outcome, Played, RECORDED, Replays};
use super::words::{
    Named, answers, busiest, interrupted, intervals, length, loses, pace, played, remarks,
    sentence, window,
};
use crate::multiresource::replay::{Interval, OfGroup, SeriesStep};
use crate::report::plot::{Axis, Curve, Drawn, Panel, Point, Scale, bars, curves, front, lines};
use crate::report::{Grid, Page, Section, Shown, brief, counted, fitting, list, number, percent};

/// Returns a comparison on a trace as a page for people; `command` makes it again.
///
/// # Errors
/// When a picture cannot be drawn.
pub fn replay_page(replays: &Replays, command: String) -> Drawn<Page> {
    let first = replays.paces.iter().take(1).flat_map(|at| &at.policies);
    let names: Vec<&str> = first.map(|own| own.policy.as_str()).collect();
    let trace = &replays.trace;
    let title = format!("{} on {}", list(&names), trace.file);
    let failures = replays.failures();
    let failures = failures.map(|(at, name, why)| format!("{name} at {}: {why}", pace(at)));
    let warnings = interrupted(replays).into_iter().chain(intervals(replays));
    let main = busiest(replays).map(|at| Main {
        at,
        own: played(at),
    });
    let what = format!(
        "{} in {} at {}",
        counted(trace.jobs as f64, "job"),
        length(trace.span),
        main.as_ref().map_or(String::new(), |main| pace(main.at))
    );
    Ok(Page {
        headline: main.as_ref().and_then(|main| sentence(main.at)).unwrap_or_default(),
        answers: answers(replays),
        legend: "What is said of groups of jobs and of the longest wait is what came of this log, without an interval.",
        first: main.as_ref().map(Main::pictures).transpose()?.unwrap_or_default(),
        warnings: warnings.chain(failures).collect(),
        what,
        columns: main.as_ref().map_or(Vec::new(), Main::columns),
        rows: names.iter().map(|name| (name.to_string(), main.as_ref().map_or(Vec::new(), |main| main.row(name)))).collect(),
        note: window(replays),
        sections: sections(replays, &names, main.as_ref())?,
        method: vec![
            ("Trace", remarks(replays).into_iter().chain(replays.trace.account.window.clone()).join(" ")),
            ("Replay", "Every policy gets the same jobs: each is submitted when the trace says, divided by the speed, and holds what it held for as long as it did. At one instant all ends come first, then all arrivals in the order of the file, then a decision. Times are whole parts of a tick, and nothing is drawn at random but the clocks of policies that have some.".into()),
            ("Intervals", format!("95 %, by moving blocks of time (Künsch, 1989): as many blocks as the span has room for are drawn with replacement, 1000 times, from seed {}; a block is a day and 10 mean waits at least. Ratios are of the same blocks.", replays.seed)),
        ],
        command,
        ..Page::new(title, names.iter().map(|name| (*name).to_owned()))?
    })
}

/// What is shown at the pace that the answer is about.
struct Main<'a> {
    at: &'a AtPace,
    own: Vec<Named<'a>>,
}

impl Main<'_> {
    /// Returns the unit in which waits are shown, and what seconds are multiplied by for it.
    fn unit(&self) -> (&str, f64) {
        let waits = self.own.iter().map(|own| own.1.measured.mean_wait);
        fitting(waits.fold(0.0, f64::max), "s")
    }

    fn columns(&self) -> Vec<String> {
        let (unit, _) = self.unit();
        let header = format!(
            "mean wait [{unit}],95 % interval [{unit}],p95 wait [{unit}],p99 wait [{unit}],longest wait [{unit}],bounded slowdown,in use"
        );
        header.split(',').map(str::to_owned).collect()
    }

    fn row(&self, name: &str) -> Vec<Shown> {
        let (_, factor) = self.unit();
        let Some((_, own)) = self.own.iter().find(|own| own.0 == name) else {
            let missing = if name == RECORDED { "–" } else { "failed" };
            return vec![Shown {
                text: missing.into(),
                class: "none",
            }];
        };
        let time = |seconds: f64| brief(factor * seconds);
        let measured = &own.measured;
        let within = own.wait.map_or("–".into(), |i| {
            format!("{} to {}", time(i.low), time(i.high))
        });
        let [_, p95, p99] = measured.wait_percentiles;
        let mut used = measured.utilization.iter().map(|used| percent(*used));
        let cells = [
            time(measured.mean_wait),
            within,
            time(p95),
            time(p99),
            time(measured.longest_wait),
            number(measured.mean_bounded_slowdown),
            used.join(" · "),
        ];
        cells.map(Shown::plain).into()
    }

    /// Draws mean waits, and those of the group that loses most.
    fn pictures(&self) -> Drawn<Vec<Panel>> {
        let half = |i: Interval| (i.high - i.low) / 2.0;
        let wait = |own: &Played| [own.measured.mean_wait, own.wait.map_or(0.0, half)];
        let all = self.bars("Mean wait", wait)?;
        let worst = loses(self.at).map(|[group, _]| {
            let is_own = |own: &&OfGroup| own.name == group.name;
            let of = |own: &Played| {
                let group = own.groups.iter().find(is_own);
                group.map_or(0.0, |own| own.mean_wait)
            };
            let title = format!("Mean wait of those that lose most, {}", group.name);
            self.bars(&title, |own| [of(own), 0.0])
        });
        Ok([all].into_iter().chain(worst.transpose()?).collect())
    }

    fn bars(&self, title: &str, of: impl Fn(&Played) -> [f64; 2]) -> Drawn<Panel> {
        let own = self.own.iter();
        let times = own.map(|(name, own)| (self.place(name), (*name).to_owned(), of(own)));
        bars(title, "s", &times.collect_vec())
    }

    /// Returns the place of a policy among all, by which it looks.
    fn place(&self, name: &str) -> usize {
        let place = self.at.policies.iter().position(|own| own.policy == name);
        place.unwrap_or(0)
    }

    /// Returns waits of groups of jobs, by policy; none where all jobs are alike.
    fn groups(&self) -> Option<Section> {
        let (_, first) = self.own.first().filter(|own| !own.1.groups.is_empty())?;
        let (unit, factor) = self.unit();
        let row = |(g, group): (usize, &OfGroup)| {
            let about = [group.jobs.to_string(), percent(group.work)];
            let waits = self.own.iter().map(|(_, own)| {
                let own = &own.groups[g];
                let waits = [own.mean_wait, own.wait_p95].map(|wait| brief(factor * wait));
                waits.join(" · ")
            });
            let cells = chain!(about, waits).map(Shown::plain).collect();
            (group.name.clone(), cells)
        };
        let columns = chain!(["jobs", "of work"], self.own.iter().map(|own| own.0));
        let grid = Grid {
            caption: format!("mean · 95th percentile of the wait [{unit}]"),
            head: "jobs of",
            columns: columns.map(str::to_owned).collect(),
            rows: first.groups.iter().enumerate().map(row).collect(),
        };
        Some(Section::tabled(
            "Who waits how long?",
            "By how much jobs hold, how long they run, and whose they are.",
            grid,
        ))
    }

    /// The longest wait over the mean wait.
    fn front(&self) -> Drawn<Section> {
        let times = self.own.iter().map(|(name, own)| {
            let measured = &own.measured;
            (self.place(name), measured.mean_wait, measured.longest_wait)
        });
        let panel = front(["mean wait", "longest wait"], "s", &times.collect_vec())?;
        Ok(Section::front("", panel))
    }

    /// What ran while the largest job waited.
    fn schedules(&self) -> Drawn<Option<Section>> {
        let named = self.own.iter();
        let own = named.filter_map(|(name, own)| Some((name.to_string(), own.stretch.as_ref()?)));
        let own = own.collect_vec();
        let Some((name, first)) = own.first() else {
            return Ok(None);
        };
        let text = format!(
            "{}, from {} after the first job on: mostly before the start of the job that waited longest under {name} of those that hold the most. That is twice the run that splits the work into halves, or less where more than 400 jobs would be seen.",
            length(first.to - first.from),
            length(first.from)
        );
        Section::schedules(&own, "s", &text).map(Some)
    }
}

fn sections(replays: &Replays, names: &[&str], main: Option<&Main<'_>>) -> Drawn<Vec<Section>> {
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
            paces.iter().map(waiting).collect::<Drawn<Vec<_>>>()?,
        ),
        Section::new(
            "What is in use?",
            "What jobs hold of each resource, over all that there is.",
            used.collect::<Drawn<Vec<_>>>()?,
        ),
    ];
    if paces.len() > 1 {
        let section = Section::new(
            "How does it grow with the load?",
            "Mean response time over the load, with its interval (drawn symmetrically, as wide as it is).",
            vec![over_loads(replays, names)?],
        );
        sections.insert(0, section);
    }
    if let Some(main) = main {
        let own = [main.groups(), Some(main.front()?), main.schedules()?];
        sections.splice(0..0, own.into_iter().flatten());
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

/// Draws a quantity over time, one line a policy.
fn over_time(at: &AtPace, what: &str, of: impl Fn(&SeriesStep) -> f64) -> Drawn<Panel> {
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
    Ok(Panel::new(
        format!("{what} ({})", pace(at)),
        format!("{what} over time, one line a policy"),
        lines(&x, &y, &all)?,
    ))
}
