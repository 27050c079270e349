//! Rankings in words.

use std::cmp::Reverse;

use crate::report::{below, entry, within};
use synth_simulation::sweep::{AtLoad, CellOutcome, Comparison};
use synth_simulation::{Health, Pair};

/// `a, b and c`.
pub fn list<T: AsRef<str>>(items: &[T]) -> String {
    match items {
        [] => String::new(),
        [one] => one.as_ref().into(),
        [first @ .., last] => {
            let first: Vec<&str> = first.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", first.join(", "), last.as_ref())
        }
    }
}

/// Returns how many times as long, with the interval that holds together with the others of the load.
pub fn times(pair: &Pair) -> String {
    let ratio = within(pair.ratio.mean, pair.simultaneous_half_width);
    if pair.apart && pair.simultaneous_half_width >= pair.ratio.mean - 1.0 {
        return format!("{ratio} (surely {} and more)", below(pair.least));
    }
    ratio
}

/// A ratio from which on two that cannot be told apart are not called alike.
const ALIKE: f64 = 1.1;

/// Returns the load, and the policies with a mean there.
pub fn ranked<M, C>(comparison: &Comparison<M, C>, at: &AtLoad) -> String {
    let chain = chain(comparison, at).map_or(String::new(), |chain| format!(": {chain}"));
    comparison.header.place(at.load) + &chain
}

/// Returns all policies with a mean, fastest first: `a ≈ b < c`, with `≈` between neighbours that cannot
/// be told apart, and `≲` where the second takes a tenth longer, but not surely. None where no policy has
/// one.
fn chain<M, C>(comparison: &Comparison<M, C>, at: &AtLoad) -> Option<String> {
    let order = &at.ranking.order;
    let mut chain = comparison.label(&order.first()?.policy).to_string();
    for two in order.windows(2) {
        let pair = at.ranking.pair(&two[0].policy, &two[1].policy);
        chain.push_str(match pair {
            Some(pair) if pair.apart => " < ",
            Some(pair) if pair.ratio.mean >= ALIKE => " ≲ ",
            _ => " ≈ ",
        });
        chain.push_str(comparison.label(&two[1].policy));
    }
    Some(chain)
}

/// Returns the policies that no other is surely faster than, the fastest first: names as given.
pub fn leaders(at: &AtLoad) -> Vec<&str> {
    let leading = at.ranking.order.iter().filter(|r| r.places[0] == 1);
    leading.map(|r| r.policy.as_str()).collect()
}

/// Says what is known at a load, in one or two sentences.
pub fn sentences<M, C>(comparison: &Comparison<M, C>, at: &AtLoad) -> String {
    let mut parts = Vec::new();
    if let [first, rest @ ..] = at.ranking.order.as_slice() {
        let leader = comparison.label(&first.policy);
        let pairs = rest.iter().filter_map(|other| {
            let pair = at.ranking.pair(&first.policy, &other.policy)?;
            Some((comparison.label(&other.policy), pair))
        });
        let (apart, tied): (Vec<_>, Vec<_>) = pairs.partition(|(_, pair)| pair.apart);
        let least = format!("{leader} has the least mean response time");
        let tied = tied.into_iter();
        let tied = tied.map(|(label, pair)| format!("{label} ({} times as long)", times(pair)));
        let tied = list(&tied.collect::<Vec<_>>());
        parts.push(if rest.is_empty() {
            format!("only {leader} has a mean")
        } else if at.ranking.pairs.is_empty() {
            format!("{least}, but nothing can be said of how surely")
        } else if tied.is_empty() {
            least
        } else {
            format!("{least} as measured, but {tied} may have as little")
        });
        let slower = apart.iter().enumerate().map(|(n, (label, pair))| match n {
            0 => format!("{label} takes {} times as long as {leader}", times(pair)),
            _ => format!("{label} {} times", times(pair)),
        });
        let slower = list(&slower.collect::<Vec<_>>());
        parts.extend(Some(slower).filter(|own| !own.is_empty()));
    }
    parts.extend(without_mean(comparison, at.load));
    let text = parts.join("; ");
    // A policy's name stays as it is.
    let is_sentence = ["no ", "only "].iter().any(|word| text.starts_with(word));
    match text.get(..1) {
        None if text.is_empty() => "Nothing ran here.".into(),
        Some(first) if is_sentence => format!("{}{}.", first.to_uppercase(), &text[1..]),
        _ => text + ".",
    }
}

/// Policies without a mean, and why.
fn without_mean<M, C>(comparison: &Comparison<M, C>, load: f64) -> Vec<String> {
    let of_health = |health: Option<Health>| -> Vec<String> {
        let own = |name: &str| {
            let run = comparison.run(name, load);
            if run.map(|run| run.health) != health {
                return None;
            }
            let why = run.and_then(|run| run.unsettled.as_ref());
            let why = why.map_or(String::new(), |why| format!(" ({why})"));
            Some(format!("{}{why}", comparison.label(name)))
        };
        comparison.names().filter_map(own).collect()
    };
    let groups = [
        (Some(Health::Unstable), "unstable"),
        (Some(Health::Unsettled), "not settled: too short a run"),
        (None, "not measured"),
    ];
    let groups = groups.into_iter().filter_map(|(health, what)| {
        let names = of_health(health);
        let are = if names.len() == 1 { "is" } else { "are" };
        (!names.is_empty()).then(|| format!("{} {are} {what}", list(&names)))
    });
    groups.collect()
}

/// Returns the whole comparison in a few sentences: which policy leads at which loads.
pub fn lead_over_loads<M, C>(comparison: &Comparison<M, C>) -> String {
    let mut leads: Vec<((bool, String), Vec<String>)> = Vec::new();
    for at in &comparison.rankings {
        entry(&mut leads, lead(comparison, at)).push(comparison.header.place(at.load));
    }
    // First the policies that lead alone, and at the most loads.
    leads.sort_by_key(|((is_clear, _), loads)| (!is_clear, Reverse(loads.len())));
    let everywhere = leads.len() == 1 && comparison.rankings.len() > 1;
    let sentences = leads.iter().map(|((_, lead), loads)| {
        if everywhere {
            format!("{lead} at every load compared.")
        } else {
            format!("{lead} at {}.", list(loads))
        }
    });
    sentences.collect::<Vec<_>>().join(" ")
}

/// Says which policies lead at a load, in words without the load; and whether one leads that has rivals there.
fn lead<M, C>(comparison: &Comparison<M, C>, at: &AtLoad) -> (bool, String) {
    let leaders = leaders(at);
    let names = comparison.names().filter(|name| leaders.contains(name));
    let labels: Vec<&str> = names.map(|name| comparison.label(name)).collect();
    let is_alone = at.ranking.order.len() == 1 && comparison.header.policies.len() > 1;
    let words = match labels.as_slice() {
        [] => "No policy has a mean".into(),
        [one] if is_alone => format!("Only {one} has a mean"),
        [one] => format!("{one} has the least mean response time"),
        some => format!("{} may each have the least", list(some)),
    };
    (labels.len() == 1 && !is_alone, words)
}

/// Says what is missing, and why.
pub fn warnings<M, C>(comparison: &Comparison<M, C>) -> Vec<String> {
    let mut warnings = Vec::new();
    let (begun, all) = (comparison.cells.len(), comparison.header.cells().count());
    if comparison.interrupted {
        warnings.push(format!(
            "INTERRUPTED: {begun} of {all} cells were begun, the last of them not finished"
        ));
    }
    // The reasons why cells of a policy have no run, each with its loads.
    for name in comparison.names() {
        let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
        for cell in comparison.cells.iter().filter(|c| c.policy == name) {
            if let CellOutcome::Failure(why) = &cell.outcome {
                entry(&mut reasons, why).push(comparison.header.place(cell.load));
            }
        }
        let label = comparison.label(name);
        let each = reasons.into_iter();
        warnings.extend(each.map(|(why, loads)| format!("{label} at {}: {why}", list(&loads))));
    }
    warnings
}
