//! The report of a replay.

use itertools::{Itertools as _, chain};

use super::recorded::Recorded;
use super::results::{AtPace, Played, RECORDED, Replays};
use crate::multiresource::replay::{SeriesStep, Window};
use crate::multiresource::report::start_latency_of;
use crate::report::plot::{Chart, Curve, Figure, Point, Scale, front};
use crate::report::{
    Column, Numbers, Report, Section, counted, length, list, percent, schedules, span,
};
use synth_advice::verbs::{account_of, ends};
use synth_verb::{numbers, table};

/// Returns the report of a replay; `command` makes it again.
pub(super) fn report(replays: &Replays, command: String) -> Report {
    let trace = &replays.trace;
    let paces = &replays.paces;
    let busiest = paces.iter().max_by(|a, b| a.load.total_cmp(&b.load));
    let mut account = account_of(&trace.account, trace.censored);
    account.notes.extend_from_slice(&trace.account.faults);
    let tables = paces
        .iter()
        .flat_map(|at| [measured(replays, at), groups(at)]);
    let figures = paces.iter().map(|at| over_time(replays, at));
    let schedules = busiest.and_then(ran);
    let sections = chain!(tables, figures, schedules, [account]);
    Report {
        title: format!("{} on {}", list(&names(replays)), trace.file),
        summary: chain!(busiest.and_then(headline), [of_trace(replays)]).collect(),
        warnings: warnings(replays),
        sections: sections.collect(),
        method: vec![("Replay", REPLAY.into()), ("Intervals", intervals(replays))],
        command,
        numbers: numbers(replays),
    }
}

const REPLAY: &str = "Every policy gets the same jobs: each is submitted when the trace says, divided by the speed, and holds what it held for as long as it did. At one instant all ends come first, then all arrivals in the order of the file, then a decision. Times are whole parts of a tick, and nothing is random but the clocks of policies that have some.";

fn intervals(replays: &Replays) -> String {
    format!(
        "95 %, by moving blocks of time (Künsch, 1989): as many blocks as fit in the span are drawn with replacement, 1000 times, from seed {}; a block is at least a day and 10 mean waits. Ratios are of the same blocks.",
        replays.seed
    )
}

fn names(replays: &Replays) -> Vec<&str> {
    let first = replays.paces.iter().take(1).flat_map(|at| &at.policies);
    first.map(|own| own.policy.as_str()).collect()
}

/// Returns all that was replayed at a pace, with what was recorded.
fn played(at: &AtPace) -> impl Iterator<Item = (&str, &Played)> + Clone {
    let named = at.policies.iter();
    named.filter_map(|own| Some((&*own.policy, own.replayed.as_deref()?)))
}

/// `speed 5/4, load 0.817`.
fn pace(at: &AtPace) -> String {
    format!("speed {}, load {:.3}", at.speed, at.load)
}

fn headline(at: &AtPace) -> Option<String> {
    let policies = played(at).filter(|(name, _)| *name != RECORDED);
    let wait = |own: &Played| own.measured.mean_wait;
    let (best, own) = policies.min_by(|a, b| wait(a.1).total_cmp(&wait(b.1)))?;
    Some(format!(
        "At {} jobs waited {} on average under {best}, and no shorter under any other policy.",
        pace(at),
        length(wait(own))
    ))
}

/// Describes the trace.
fn of_trace(replays: &Replays) -> String {
    let trace = &replays.trace;
    let capacities = trace.resources.iter().zip(&trace.capacity);
    let capacities = capacities.map(|(name, own)| format!("{name} {own}"));
    format!(
        "{} ({}): {} with {} in {} on {} ({}), load {:.3}.",
        trace.file,
        trace.format,
        counted(trace.jobs as f64, "job"),
        counted(trace.vectors as f64, "different demand"),
        length(trace.span),
        counted(trace.servers as f64, "server"),
        capacities.format(", "),
        trace.load
    )
}

/// Returns the facts that a reader has to know before using the numbers.
fn warnings(replays: &Replays) -> Vec<String> {
    let trace = &replays.trace;
    let mut notes = Vec::new();
    if replays.interrupted {
        notes.push("INTERRUPTED: not all of it was replayed.".to_owned());
    }
    let failures = replays.failures();
    notes.extend(
        failures.map(|(at, name, why)| format!("{name} is not replayed at {}: {why}.", pace(at))),
    );
    notes.extend(trace.assumed.iter().map(|own| format!("{own}.")));
    if replays.played().any(|(.., own)| own.response.is_none()) {
        notes.push("Without an interval the trace is too short for one: it needs at least ten blocks, each of at least a day and 10 mean waits.".into());
    }
    if trace.rounded > 0 {
        notes.push(format!("{} times a demand was rounded up to three digits, for the trace has more than 2000 different ones.", trace.rounded));
    }
    if trace.censored > 0 {
        let jobs = counted(trace.censored as f64, "job");
        notes.push(format!("Not replayed: {jobs} still running when the trace ended, so that their sizes are not known (--read censored=end: as if they had ended then)."));
    }
    if (1..trace.jobs).contains(&trace.starts) {
        notes.push(format!("The trace has the start of {} of {} jobs: without the others there is no row as recorded.", trace.starts, trace.jobs));
    }
    if !trace.has_limits {
        notes.push("The trace has no limits: sizes are taken for them, so that backfilling by limits knows sizes.".into());
    }
    if let Some(typed) = &trace.types {
        let more = 100.0 * (typed.rounding - 1.0);
        notes.push(format!(
            "As {} jobs hold {more:.2} % more than they asked for.",
            counted(typed.types as f64, "type")
        ));
        if typed.untyped > 0 {
            notes.push(format!(
                "Left out, for every policy: {}, {} of the work, whose demand is above that of every type.",
                counted(typed.untyped as f64, "job"),
                percent(typed.untyped_work)
            ));
        }
    }
    let full = replays.paces.iter().filter(|at| at.load >= 1.0);
    notes.extend(full.map(|at| format!("At {} queues grow while jobs arrive; the trace is finite, so its waits depend on how long it is.", pace(at))));
    notes
}

/// Returns what was measured at a pace, a row for each policy.
fn measured(replays: &Replays, at: &AtPace) -> Section {
    let (from, to) = (percent(replays.window.from), percent(replays.window.to));
    let mut section = table!(format!("At {}", pace(at)), played(at), (name, own) => {
        "policy" => name,
        "mean response [s]" => (own.measured.mean_response, ends(own.response)),
        "times the first [1]" => own.ratio.map(|own| (own.value, ends(own.interval))),
        "mean wait [s]" => (own.measured.mean_wait, ends(own.wait)),
        "times the first [1]" => own.wait_ratio.map(|own| (own.value, ends(own.interval))),
        "p95 wait [s]" => own.measured.wait_percentiles[1],
        "p99 wait [s]" => own.measured.wait_percentiles[2],
        "longest wait [s]" => own.measured.longest_wait,
        "waited [#]" => own.measured.waited,
        "bounded slowdown [1]" => own.measured.mean_bounded_slowdown,
    });
    for (j, name) in replays.trace.resources.iter().enumerate() {
        section
            .columns
            .push(Column::of(&format!("{name} in use"), "%"));
        for (row, (_, own)) in section.rows.iter_mut().zip(played(at)) {
            row.push(own.measured.utilization[j].into());
        }
    }
    let points = played(at).map(|(name, own)| {
        (
            name.to_owned(),
            own.measured.mean_wait,
            own.measured.longest_wait,
        )
    });
    section.figures.extend(front(
        ["mean wait", "longest wait"],
        "s",
        &points.collect_vec(),
    ));
    if !replays.start_latency.is_zero() {
        section.notes.push(format!("Each job holds its room for {} s before it runs (start latency), which counts in its response time and not in its wait.", replays.start_latency));
    }
    section.note(match replays.window == Window::ALL {
        true => "All jobs are measured; brackets are 95 % intervals by moving blocks of time.".into(),
        false => format!("Jobs submitted from {from} to {to} of the span are measured: without the first, which find empty servers, and the last, after which no job arrives. Brackets are 95 % intervals by moving blocks of time."),
    })
}

/// Returns the mean waits of groups of jobs at a pace.
fn groups(at: &AtPace) -> Section {
    let groups = played(at).next().map_or(&[][..], |(_, own)| &own.groups);
    let mut section = table!("Mean wait of groups of jobs", groups, own => {
        "jobs of" => &own.name,
        "jobs [#]" => own.jobs,
        "of work [%]" => own.work,
    });
    for (name, own) in played(at) {
        section.columns.push(Column::of(name, "s"));
        for (row, group) in section.rows.iter_mut().zip(&own.groups) {
            row.push(group.mean_wait.into());
        }
    }
    section
}

/// Draws what waits and what is in use at a pace, over time.
fn over_time(replays: &Replays, at: &AtPace) -> Section {
    const DAY: f64 = 86_400.0;
    let figure = |what: &str, of: &dyn Fn(&SeriesStep) -> f64| -> Option<Figure> {
        let curves = played(at).enumerate().map(|(n, (name, own))| {
            let points = own.series.iter();
            let points = points.map(|step| Point::exact(step.time / DAY, of(step)));
            Curve::line(n, name, points.collect())
        });
        Chart::around(what, ["days", ""], [Scale::Linear; 2], curves.collect()).figure()
    };
    let mut figures = vec![figure("Jobs that wait", &|step| step.waiting)];
    for (j, name) in replays.trace.resources.iter().enumerate() {
        figures.push(figure(&format!("{name} in use, over all"), &|step| {
            step.used[j]
        }));
    }
    let note = "Averages over steps of time. A policy without a line stops jobs, so that it is not known when they wait.";
    Section::of_figures(format!("Over time at {}", pace(at)), note, figures)
}

/// Draws what ran while the largest job waited.
fn ran(at: &AtPace) -> Option<Section> {
    let own = played(at).filter_map(|(name, own)| Some((name.to_owned(), own.stretch.as_ref()?)));
    let own = own.collect_vec();
    let (name, first) = own.first()?;
    let text = format!(
        "{}, from {} after the first job on: mostly before the start of the job that waited longest under {name} of those that hold the most. That is twice the run that splits the work into halves, or less if more than 400 jobs would be shown.",
        length(first.to - first.from),
        length(first.from)
    );
    Some(schedules(&own, "s", &text))
}

/// Returns all numbers of a replay.
fn numbers(replays: &Replays) -> Numbers {
    let mut numbers = Numbers::new(&["speed", "load", "policy"]);
    for (at, own, played) in replays.played() {
        let [speed, load] = [at.speed.to_string(), at.load.to_string()];
        let m = &played.measured;
        let keys = &[&*speed, &load, &own.policy];
        numbers!(numbers, keys => {
            "jobs [1]" => m.jobs,
            "mean_wait [s]" => (m.mean_wait, ends(played.wait)),
            "mean_response [s]" => (m.mean_response, ends(played.response)),
            "mean_bounded_slowdown [1]" => (m.mean_bounded_slowdown, ends(played.bounded_slowdown)),
            "total_wait [s]" => m.total_wait,
            "waited [1]" => m.waited,
            "longest_wait [s]" => m.longest_wait,
            "last_end [s]" => m.last_end,
            "backfilled [1]" => m.backfilled,
            "ratio_to_first [1]" => played.ratio.map(|own| (own.value, ends(own.interval))),
        });
        numbers.percentiles(keys, "wait", "s", Some(m.wait_percentiles));
        numbers.percentiles(keys, "response", "s", Some(m.response_percentiles));
        for (name, used) in replays.trace.resources.iter().zip(&m.utilization) {
            numbers.add(keys, Column::of(&format!("used_{name}"), "1"), *used);
        }
        for of in &played.groups {
            let quantity = format!("mean_wait of {}", of.name);
            numbers.add(keys, Column::of(&quantity, "s"), of.mean_wait);
        }
    }
    numbers
}

/// Returns what happened to recorded jobs.
pub(super) fn recorded(run: &Recorded) -> Report {
    let unit = &run.time_unit;
    let types = run.types.iter().map(|own| (&*own.name, &own.jobs));
    let each = types.chain([("all", &run.all)]);
    let section = table!("", each, (name, own) => {
        "type" => name,
        "jobs [#]" => own.jobs,
        format!("mean response [{unit}]") => own.mean_response,
        format!("mean wait [{unit}]") => own.mean_wait,
        format!("median wait [{unit}]") => own.median_wait,
        format!("longest wait [{unit}]") => own.longest_wait,
    });
    let drawn = match run.seed {
        None => "nothing is random".to_owned(),
        Some(seed) => format!("clocks, start latencies and limits are drawn from seed {seed}"),
    };
    let makespan = span((run.makespan, 0.0), unit);
    let latency = run.start_latency.as_ref();
    Report {
        summary: chain!(
            [format!("{} on {}, run once. The last job left {makespan} after the first arrived; {drawn}.", run.policy, run.file)],
            latency.map(|law| start_latency_of(law, unit))
        )
        .collect(),
        sections: vec![section],
        ..Report::default()
    }
}
