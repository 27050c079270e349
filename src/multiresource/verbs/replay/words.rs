//! What is said of a replay.

use super::results::{AtPace, Replays};
use crate::multiresource::replay::{Interval, Window};
use crate::report::{TableUnit, counted, number, percent, wrap};
use synth_advice::verbs::lines;

/// `3411 [2300, 4500]`, of times \[s\] in this unit.
pub fn with_interval(value: f64, interval: Option<Interval>, unit: &TableUnit) -> String {
    let within = interval.map(|i| {
        let ends = [i.low, i.high].map(|end| unit.number(end));
        format!(" [{}]", ends.join(", "))
    });
    unit.number(value) + &within.unwrap_or_default()
}

/// The unit of all tables of a replay: one in which mean response and waiting times are easily read.
pub fn unit(replays: &Replays) -> TableUnit {
    let times = replays.played().flat_map(|(.., own)| {
        let own = &own.measured;
        [own.mean_response, own.mean_wait, own.longest_wait]
    });
    TableUnit::of("s", times)
}

/// `speed 5/4, load 0.817`.
pub fn pace(at: &AtPace) -> String {
    format!("speed {}, load {:.3}", at.speed, at.load)
}

/// Of which jobs measures are.
pub fn window(replays: &Replays) -> String {
    if replays.window == Window::ALL {
        return "all jobs are measured".into();
    }
    format!(
        "measured are jobs submitted from {} to {} of the span: without the first, which find empty servers, and the last, after which nothing comes",
        percent(replays.window.from),
        percent(replays.window.to)
    )
}

/// Says that it was interrupted, if it was.
pub fn interrupted(replays: &Replays) -> Option<String> {
    let note = "INTERRUPTED: not all of it was replayed.";
    replays.interrupted.then(|| note.into())
}

/// Says why policies are without an interval; none where each has one.
pub fn intervals(replays: &Replays) -> Option<String> {
    let has_interval = || replays.played().map(|(.., own)| own.response.is_some());
    let which = if has_interval().any(|has| has) {
        "where no interval stands"
    } else {
        "no interval"
    };
    let why = "the trace is too short (an interval is made of ten blocks at least, each of a day and of 10 mean waits at least)";
    has_interval()
        .any(|has| !has)
        .then(|| format!("{which}: {why}"))
}

/// Returns what was read, what became of it, and how it was replayed, with a table of faulty lines.
pub fn notes(replays: &Replays, width: usize) -> Vec<String> {
    let (trace, remarks) = (&replays.trace, remarks(replays));
    let mut notes: Vec<String> = remarks.iter().map(|note| wrap(note, width)).collect();
    if !trace.account.rows.is_empty() {
        let mut table = lines(&trace.account, trace.censored, width);
        for fault in &trace.account.faults {
            table += &format!("\n  {fault}");
        }
        notes.insert(1 + trace.assumed.len(), table);
    }
    notes
}

/// Says in sentences what was read and what became of it.
pub fn remarks(replays: &Replays) -> Vec<String> {
    let trace = &replays.trace;
    let servers = counted(trace.servers as f64, "server");
    let assumed = trace.assumed.iter().map(|own| format!("{own}."));
    let mut remarks: Vec<String> = assumed.collect();
    remarks.push(format!(
        "{} ({}): {} with {} came in {} days to {servers} ({}): load {:.3}.",
        trace.file,
        trace.format,
        counted(trace.jobs as f64, "job"),
        counted(trace.vectors as f64, "different demand"),
        number(trace.span / 86_400.0),
        trace.capacities().join(", "),
        trace.load
    ));
    let of_account = trace.account.remarks.iter();
    remarks.extend(of_account.map(|remark| format!("{remark}.")));
    if trace.rounded > 0 {
        remarks.push(format!(
            "{} times a demand was rounded up to three digits, for the trace has more than 2000 different ones.",
            trace.rounded
        ));
    }
    if trace.censored > 0 {
        remarks.push(format!(
            "Not replayed: {} still running when the trace ended, so that sizes are not known (--censored end: as if they had ended then).",
            counted(trace.censored as f64, "job")
        ));
    }
    if (1..trace.jobs).contains(&trace.starts) {
        remarks.push(format!(
            "The trace tells when {} of {} jobs started: without the others there is no row as recorded.",
            trace.starts, trace.jobs
        ));
    }
    if !trace.has_limits {
        remarks.push("The trace tells no limits: sizes are taken for them, so that backfilling by limits knows sizes.".into());
    }
    if let Some(typed) = &trace.types {
        remarks.push(format!(
            "As {} jobs hold {:.2} % more than they asked for.",
            counted(typed.types as f64, "type"),
            100.0 * (typed.rounding - 1.0)
        ));
        if typed.untyped > 0 {
            remarks.push(format!(
                "Left out, for every policy: {}, {} of the work, of a demand above that of every type.",
                counted(typed.untyped as f64, "job"),
                percent(typed.untyped_work)
            ));
        }
    }
    for at in replays.paces.iter().filter(|at| at.load >= 1.0) {
        remarks.push(format!(
            "At speed {} the load is {:.3}: at 1 and more queues grow for as long as jobs come. The trace is finite, so it ends; its waits depend on how long it is.",
            at.speed, at.load
        ));
    }
    remarks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_stands_with_its_interval_where_there_is_one() {
        let interval = Interval {
            low: 9701.0,
            high: 13_200.0,
        };
        assert_eq!(
            with_interval(11_620.0, Some(interval), &TableUnit::kept("s")),
            "11620 [9701, 13200]"
        );
        let hours = TableUnit::of("s", [11_620.0]);
        assert_eq!(
            with_interval(11_620.0, Some(interval), &hours),
            "3.228 [2.695, 3.667]"
        );
        assert_eq!(with_interval(0.0, None, &hours), "0");
    }
}
