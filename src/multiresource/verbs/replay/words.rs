//! What is said of a replay: what was read, how it was measured, and the answer, in sentences for people who do not queue.

use super::results::{AtPace, Outcome, Played, RECORDED, Ratio, Replays};
use crate::multiresource::replay::{Interval, OfGroup, Window};
use crate::report::{Answer, Answering, TableUnit, counted, list, number, percent, span, wrap};
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

/// A policy by its name, and what was measured of it.
pub type Named<'a> = (&'a str, &'a Played);

/// Returns the pace that the answer is about: the one of the highest load.
pub fn busiest(replays: &Replays) -> Option<&AtPace> {
    let paces = replays.paces.iter();
    paces.max_by(|a, b| a.load.total_cmp(&b.load))
}

/// Returns all that was replayed at a pace, with what was recorded.
pub fn played(at: &AtPace) -> Vec<Named<'_>> {
    let named = at.policies.iter();
    let played = named.filter_map(|own| Some((&*own.policy, own.replayed.as_deref()?)));
    played.collect()
}

pub fn length(seconds: f64) -> String {
    span((seconds, 0.0), "s")
}

/// Returns what is known of the policies at a pace, and of what was recorded; none where nothing was replayed.
pub fn answer(at: &AtPace) -> Option<Answer<'static>> {
    let first = at.policies.iter().find_map(|own| own.replayed.as_deref())?;
    let about = |own: &OfGroup| {
        (
            own.name.clone(),
            vec![own.jobs.to_string(), percent(own.work)],
        )
    };
    let policies = at.policies.iter().enumerate();
    Some(Answer {
        place: pace(at),
        unit: "s",
        jobs: "Jobs".into(),
        verb: ["waited", ""],
        title: "Mean wait",
        classes: first.groups.iter().map(about).collect(),
        loss: |a, b| a - b,
        least_loss: 0.01 * first.measured.mean_wait,
        policies: policies.filter_map(|(n, own)| answering(n, own)).collect(),
    })
}

fn answering(place: usize, own: &Outcome) -> Option<Answering> {
    let (name, played) = (&own.policy, own.replayed.as_deref()?);
    // What people know a rule by.
    let known = match name.as_str() {
        "easy" => " (about what Slurm does)",
        "fcfs" => " (first come, first served)",
        _ => "",
    };
    let (measured, groups) = (&played.measured, played.groups.iter());
    let half = played.wait.map_or(0.0, |i| (i.high - i.low) / 2.0);
    Some(Answering {
        place,
        names: [name.clone(), format!("{name}{known}")],
        competes: name != RECORDED,
        mean: [measured.mean_wait, half],
        waits: [measured.mean_wait, measured.wait_percentiles[1]].map(Some),
        longest: Some(measured.longest_wait),
        classes: groups
            .map(|own| {
                (
                    Some([own.mean_wait, 0.0]),
                    [own.mean_wait, own.wait_p95].map(Some),
                )
            })
            .collect(),
    })
}

/// Says who wins at a pace, by how much and how surely.
pub fn sentence(at: &AtPace) -> Option<String> {
    let answer = answer(at)?;
    let two = answer
        .two()?
        .map(|own| at.policies[own.place].replayed.as_deref());
    let [own, with] = [two[0]?, two[1]?];
    // Ratios are over the first, which has none.
    let ratio = own.wait_ratio.or(with.wait_ratio.map(Ratio::inverse));
    let ratio = ratio.filter(|ratio| ratio.value.is_finite());
    let within = ratio.and_then(|own| own.interval);
    answer.headline(
        ratio.map(|own| own.value),
        within.map(|own| [own.low, own.high]),
        within.map(|own| own.high < 1.0),
    )
}

/// Says who pays and who waits longest, what was recorded, and what is known of other paces.
pub fn answers(replays: &Replays) -> Vec<(String, String)> {
    let Some(at) = busiest(replays) else {
        return Vec::new();
    };
    let trace = &replays.trace;
    let compared = format!(
        "{} that came in {} to {}, with what they held and how long they ran as the log has it; the load is {:.2}.",
        counted(trace.jobs as f64, "job"),
        length(at.span),
        list(&trace.capacities()),
        at.load
    );
    let mut answers = vec![("Compared on".to_owned(), compared)];
    let answer = answer(at);
    let longest = |own: &Played| length(own.measured.longest_wait);
    answers.extend(answer.as_ref().and_then(Answer::who_pays));
    if let Some([best, other]) = answer.as_ref().and_then(Answer::two) {
        let words = [best, other].map(|own| {
            let longest = length(own.longest.unwrap_or(f64::NAN));
            format!("{longest} with {}", own.names[0])
        });
        answers.push(("The longest wait".into(), words.join(", and ") + "."));
    }
    if let Some((_, own)) = played(at).into_iter().find(|own| own.0 == RECORDED) {
        let (mean, longest) = (length(own.measured.mean_wait), longest(own));
        let text = format!("{mean} on average; the longest wait was {longest}.");
        answers.push(("As the log has it jobs waited".into(), text));
    }
    let others = replays.paces.iter().filter(|own| own.load < at.load);
    answers.extend(others.filter_map(|own| Some((format!("At {}", pace(own)), sentence(own)?))));
    answers
}

impl Ratio {
    fn inverse(self) -> Self {
        let turned = |own: Interval| Interval {
            low: 1.0 / own.high,
            high: 1.0 / own.low,
        };
        Ratio {
            value: 1.0 / self.value,
            interval: self.interval.map(turned),
        }
    }
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
