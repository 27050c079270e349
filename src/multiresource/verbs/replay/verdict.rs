//! The answer of a comparison on a trace, in sentences for people who do not queue.

use super::results::{AtPace, Played, RECORDED, Ratio, Replays};
use super::words::pace;
use crate::multiresource::replay::{Interval, OfGroup};
use crate::report::{counted, list, percent, span};

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
