use itertools::{Itertools as _, chain};

use super::recorded::Recorded;
use super::results::{RECORDED, ReplayResult, Replays, SpeedResults};
use crate::multiresource::replay::{SeriesStep, Window};
use crate::multiresource::report::start_latency_of;
use crate::report::plot::{Chart, Curve, Figure, Point, Scale, waits};
use crate::report::{
    Column, Numbers, Report, Section, counted, file_name, length, list, percent, schedules, span,
};
use synth_advice::verbs::{account_of, ends};
use synth_verb::{numbers, table};

pub(super) fn report(replays: &Replays, command: String) -> Report {
    let trace = &replays.trace;
    let paces = &replays.paces;
    let busiest = paces.iter().max_by(|a, b| a.load.total_cmp(&b.load));
    let mut account = account_of(&trace.account, trace.censored);
    account.notes.extend_from_slice(&trace.account.faults);
    let each = paces.iter();
    let tables = each.flat_map(|at| [measured(replays, at), groups(at)]);
    let figures = paces.iter().map(|at| over_time(replays, at));
    let schedules = busiest.and_then(ran);
    let sections = chain!(tables, figures, schedules, [account]);
    Report {
        title: format!("{} on {}", list(&names(replays)), file_name(&trace.file)),
        summary: chain!(busiest.and_then(headline), [of_trace(replays)]).collect(),
        warnings: warnings(replays),
        sections: sections.collect(),
        method: vec![("Replay", REPLAY.into()), ("Intervals", intervals(replays))],
        command,
        numbers: numbers(replays),
    }
}

const REPLAY: &str = "The jobs are the same for every policy. A job is submitted at the time in the log divided by the speed, and it uses the same resources for the same time as in the log. If there are multiple events at the same time, all jobs that end are processed first, then all jobs that arrive in the order of the file, and then a decision is made. All times are whole multiples of a fraction of a tick. Nothing is random, except for the clocks of policies that have some.";

fn intervals(replays: &Replays) -> String {
    format!(
        "These are 95 % confidence intervals, which are computed using the moving-block bootstrap (Künsch, 1989). As many blocks as fit in the time span are drawn with replacement, 1000 times, using the seed {}. The length of a block is at least one day and at least 10 times the mean wait. The same blocks are used for the ratios.",
        replays.seed
    )
}

fn names(replays: &Replays) -> Vec<&str> {
    let first = replays.paces.iter().take(1).flat_map(|at| &at.policies);
    first.map(|own| own.policy.as_str()).collect()
}

fn played(at: &SpeedResults) -> impl Iterator<Item = (&str, &ReplayResult)> + Clone {
    let named = at.policies.iter();
    named.filter_map(|own| Some((&*own.policy, own.replayed.as_deref()?)))
}

fn pace(at: &SpeedResults) -> String {
    format!("speed {}, load {:.3}", at.speed, at.load)
}

fn headline(at: &SpeedResults) -> Option<String> {
    let policies = played(at).filter(|(name, _)| *name != RECORDED);
    let wait = |own: &ReplayResult| own.measured.mean_wait;
    let least = policies.clone().map(|own| wait(own.1)).reduce(f64::min)?;
    let best = policies.filter(|own| wait(own.1) == least);
    Some(format!(
        "At {}, the shortest mean wait is {}, with {}.",
        pace(at),
        length(least),
        list(&best.map(|own| own.0).collect_vec())
    ))
}

fn of_trace(replays: &Replays) -> String {
    let trace = &replays.trace;
    let capacities = trace.resources.iter().zip(&trace.capacity);
    let capacities = capacities.map(|(name, own)| format!("{name} {own}"));
    format!(
        "{} ({}): {} with {} in {} on {} ({}), load {:.3}.",
        trace.file,
        trace.format,
        counted(trace.jobs as f64, "job"),
        counted(trace.vectors as f64, "distinct demand"),
        length(trace.span),
        counted(trace.servers as f64, "server"),
        capacities.format(", "),
        trace.load
    )
}

fn warnings(replays: &Replays) -> Vec<String> {
    let trace = &replays.trace;
    let mut notes = Vec::new();
    if replays.interrupted {
        notes.push("INTERRUPTED: the replay is not complete.".to_owned());
    }
    let failures = replays.failures();
    let failures = failures.map(|(at, name, why)| (name, pace(at), why));
    let failed = |(name, at, why)| format!("{name} could not be replayed at {at}: {why}.");
    notes.extend(failures.map(failed));
    notes.extend(trace.assumed.iter().map(|own| format!("{own}.")));
    if replays.played().any(|(.., own)| own.response.is_none()) {
        notes.push("The log is too short for some of the intervals. At least ten blocks are required for an interval, and the length of a block must be at least one day and at least 10 times the mean wait.".into());
    }
    if trace.rounded > 0 {
        notes.push(format!("{} demands have been rounded up to three digits, because the log contains more than 2000 distinct demands.", trace.rounded));
    }
    if trace.censored > 0 {
        let jobs = counted(trace.censored as f64, "job");
        notes.push(format!("The replay does not include {jobs} still running at the end of the log, because the size is not known (use `--read censored=end` to assume that they end at this time)."));
    }
    if (1..trace.jobs).contains(&trace.starts) {
        notes.push(format!("The start time is only known for {} of {} jobs, so there is no row for the recorded schedule.", trace.starts, trace.jobs));
    }
    if !trace.has_limits {
        notes.push("There are no time limits in the log, so the run times are used instead, and backfilling knows the exact size of each job.".into());
    }
    if let Some(typed) = &trace.types {
        let more = 100.0 * (typed.rounding - 1.0);
        notes.push(format!(
            "With the demands of {}, the jobs hold {more:.2} % more than they requested.",
            counted(typed.types as f64, "type")
        ));
        if typed.untyped > 0 {
            notes.push(format!(
                "The following jobs are ignored for all policies because they do not fit into any type: {} ({} of the work).",
                counted(typed.untyped as f64, "job"),
                percent(typed.untyped_work)
            ));
        }
    }
    let full = replays.paces.iter().filter(|at| at.load >= 1.0);
    notes.extend(full.map(|at| format!("At {}, the queue is growing for as long as jobs arrive, so the waiting times depend on the length of the log.", pace(at))));
    notes
}

fn measured(replays: &Replays, at: &SpeedResults) -> Section {
    let (from, to) = (percent(replays.window.from), percent(replays.window.to));
    let mut section = table!(format!("At {}", pace(at)), played(at), (name, own) => {
        "policy" => name,
        "mean response [s]" => (own.measured.mean_response, ends(own.response)),
        "ratio to the first [1]" => own.ratio.map(|own| (own.value, ends(own.interval))),
        "mean wait [s]" => (own.measured.mean_wait, ends(own.wait)),
        "ratio to the first [1]" => own.wait_ratio.map(|own| (own.value, ends(own.interval))),
        "p95 wait [s]" => own.measured.wait_percentiles[1],
        "p99 wait [s]" => own.measured.wait_percentiles[2],
        "longest wait [s]" => own.measured.longest_wait,
        "waited [#]" => own.measured.waited,
        "bounded slowdown [1]" => own.measured.mean_bounded_slowdown,
    });
    for (j, name) in replays.trace.resources.iter().enumerate() {
        let column = Column::of(&format!("{name} in use"), "%");
        section.columns.push(column);
        for (row, (_, own)) in section.rows.iter_mut().zip(played(at)) {
            row.push(own.measured.utilization[j].into());
        }
    }
    let shown = played(at).map(|(name, own)| {
        let own = &own.measured;
        (name.to_owned(), [own.mean_wait, own.longest_wait])
    });
    section.figures = waits(&shown.collect_vec());
    if !replays.start_latency.is_zero() {
        section.notes.push(format!("Each job holds its capacity for {} s before it starts to run (start latency). This is included in the response time, but not in the wait.", replays.start_latency));
    }
    section.note(match replays.window == Window::ALL {
        true => "The results include all jobs. The values in brackets are 95 % confidence intervals, which are computed using the moving-block bootstrap.".into(),
        false => format!("The results include all jobs that were submitted between {from} and {to} of the time span, because the servers are empty at the start and there are no new jobs at the end. The values in brackets are 95 % confidence intervals, which are computed using the moving-block bootstrap."),
    })
}

fn groups(at: &SpeedResults) -> Section {
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
    section.has_bars = true;
    section
}

fn over_time(replays: &Replays, at: &SpeedResults) -> Section {
    const DAY: f64 = 86_400.0;
    let figure = |what: &str, of: &dyn Fn(&SeriesStep) -> f64| -> Option<Figure> {
        let curves = played(at).enumerate().map(|(n, (name, own))| {
            let points = own.series.iter();
            let points = points.map(|step| Point::exact(step.time / DAY, of(step)));
            Curve::line(n, name, points.collect())
        });
        Chart::around(what, ["days", ""], [Scale::Linear; 2], curves.collect()).figure()
    };
    let mut figures = vec![figure("Waiting jobs", &|step| step.waiting)];
    for (j, name) in replays.trace.resources.iter().enumerate() {
        let title = format!("{name} in use, as a fraction");
        figures.push(figure(&title, &|step| step.used[j]));
    }
    let note = "Each value is the average over a time step. If a policy preempts jobs, there is no line for it, because the times when a job is waiting are not recorded.";
    Section::of_figures(format!("Over time at {}", pace(at)), note, figures)
}

fn ran(at: &SpeedResults) -> Option<Section> {
    let own = played(at).filter_map(|(name, own)| Some((name.to_owned(), own.stretch.as_ref()?)));
    let own = own.collect_vec();
    let (name, first) = own.first()?;
    let text = format!(
        "The chart shows {}, starting {} after the first job. Most of this is before the start of the job that waited for the longest time under {name}, among the jobs that use the most resources. The length is twice the run time above which there is half of the work, or less if there are more than 400 jobs.",
        length(first.to - first.from),
        length(first.from)
    );
    Some(schedules(&own, "s", &text))
}

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
        None => "there are no random values".to_owned(),
        Some(seed) => format!(
            "the clocks, the start latencies and the limits are random, with the seed {seed}"
        ),
    };
    let makespan = span((run.makespan, 0.0), unit);
    let latency = run.start_latency.as_ref();
    Report {
        summary: chain!(
            [format!("This is the result of a single run of {} on {}. The time between the first arrival and the last departure is {makespan}; {drawn}.", run.policy, run.file)],
            latency.map(|law| start_latency_of(law, unit))
        )
        .collect(),
        sections: vec![section],
        ..Report::default()
    }
}
