//! What is said of a replay: what was read, how it was measured, and the answer, in sentences for people who do not queue.

use super::results::{AtPace, Played, RECORDED, Ratio, Replays};
use crate::multiresource::replay::{Interval, OfGroup, Window};
use crate::report::{TableUnit, counted, list, number, percent, span, wrap};
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

/// Returns the policy with the least mean wait, and the one that it is held against: the first that was typed, else the next.
pub fn two(at: &AtPace) -> Option<[Named<'_>; 2]> {
    let mut rules = played(at);
    rules.retain(|own| own.0 != RECORDED);
    let first = *rules.first()?;
    rules.sort_by(|a, b| a.1.measured.mean_wait.total_cmp(&b.1.measured.mean_wait));
    let best = *rules.first()?;
    let is_first = best.0 == first.0;
    Some([best, if is_first { *rules.get(1)? } else { first }])
}

pub fn length(seconds: f64) -> String {
    span((seconds, 0.0), "s")
}

fn wait(own: &Played) -> String {
    length(own.measured.mean_wait)
}

fn longest(own: &Played) -> String {
    length(own.measured.longest_wait)
}

/// What people know a rule by.
fn gloss(name: &str) -> String {
    let known = match name {
        "easy" => " (about what Slurm does)",
        "fcfs" => " (first come, first served)",
        _ => "",
    };
    format!("{name}{known}")
}

/// Says who wins at a pace, by how much and how surely.
pub fn sentence(at: &AtPace) -> Option<String> {
    let [(best, own), (other, with)] = two(at)?;
    let means = format!(
        "With {} jobs waited {} on average, and with {} {}",
        gloss(best),
        wait(own),
        gloss(other),
        wait(with)
    );
    // Ratios are over the first, which has none.
    let ratio = own.wait_ratio.or(with.wait_ratio.map(Ratio::inverse));
    let Some(ratio) = ratio.filter(|ratio| ratio.value.is_finite()) else {
        return Some(means + ".");
    };
    let change = |ratio: f64| match 100.0 * (ratio - 1.0) {
        less if less < 0.0 => format!("{:.0} % less", -less),
        more => format!("{more:.0} % more"),
    };
    let surely = match ratio.interval {
        None => ", and how surely is not known: the trace is too short".to_owned(),
        Some(within) if within.high < 1.0 => format!(
            ", and chance alone would not do that (95 %: {:.0} to {:.0} % less)",
            100.0 * (1.0 - within.high),
            100.0 * (1.0 - within.low)
        ),
        Some(within) => format!(
            ", which may be chance (95 %: from {} to {})",
            change(within.low),
            change(within.high)
        ),
    };
    Some(format!("{means}: {}{surely}.", change(ratio.value)))
}

/// Returns the group that loses most with the best policy beside the other, if one does: with both.
pub fn loses(at: &AtPace) -> Option<[&OfGroup; 2]> {
    let [(_, own), (_, with)] = two(at)?;
    let least = 0.01 * with.measured.mean_wait;
    let pairs = own.groups.iter().zip(&with.groups);
    let more = |a: &OfGroup, b: &OfGroup| a.mean_wait - b.mean_wait;
    let losing = pairs.filter(|(a, b)| more(a, b) > least);
    let worst = losing.max_by(|(a, b), (c, d)| more(a, b).total_cmp(&more(c, d)));
    worst.map(|(a, b)| [a, b])
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
    if let Some([(best, own), (other, with)]) = two(at) {
        let text = loses(at).map_or("No group of jobs that is shown here.".into(), |[a, b]| {
            format!(
                "Jobs of {} ({} of them, {} of the work) waited {} with {best} instead of {}.",
                a.name,
                a.jobs,
                percent(a.work),
                length(a.mean_wait),
                length(b.mean_wait)
            )
        });
        answers.push(("Who pays for it".into(), text));
        let [own, with] = [own, with].map(longest);
        let text = format!("{own} with {best}, and {with} with {other}.");
        answers.push(("The longest wait".into(), text));
    }
    if let Some((_, own)) = played(at).into_iter().find(|own| own.0 == RECORDED) {
        let (mean, longest) = (wait(own), longest(own));
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
