//! Rankings in words.

use super::{AtLoad, Comparison};
use crate::report::estimate;
use crate::simulator::{Estimate, Health, Pair};

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

/// How many times as long, with the interval that holds together with the others of the load.
pub fn times(pair: &Pair) -> String {
    estimate(Some(Estimate {
        half_width: pair.simultaneous_half_width,
        ..pair.ratio
    }))
}

/// All policies with a mean, fastest first: `a ≈ b < c`, with `≈` between neighbours that cannot
/// be told apart. None where no policy has one.
pub fn chain(comparison: &Comparison, at: &AtLoad) -> Option<String> {
    let order = &at.ranking.order;
    let mut chain = comparison.label(&order.first()?.policy).to_string();
    for two in order.windows(2) {
        let apart = at.ranking.apart(&two[0].policy, &two[1].policy);
        chain.push_str(if apart { " < " } else { " ≈ " });
        chain.push_str(comparison.label(&two[1].policy));
    }
    Some(chain)
}

/// The policies from which nobody is surely faster, the fastest first: names as typed.
pub fn leaders(at: &AtLoad) -> Vec<&str> {
    let leading = at.ranking.order.iter().filter(|r| r.places[0] == 1);
    leading.map(|r| r.policy.as_str()).collect()
}

/// What is known at a load, in one or two sentences.
pub fn sentences(comparison: &Comparison, at: &AtLoad) -> String {
    let mut parts = Vec::new();
    let order: Vec<&str> = at.ranking.order.iter().map(|r| r.policy.as_str()).collect();
    if let [first, rest @ ..] = order.as_slice() {
        parts.push(beginning(comparison, at, first, rest));
        parts.extend(slower(comparison, at, first, rest));
    }
    parts.extend(without_mean(comparison, at.load));
    match parts.is_empty() {
        true => "Nothing ran here.".into(),
        false => format!("{}.", capital(&parts.join("; "))),
    }
}

fn capital(text: &str) -> String {
    // A policy's name stays as it is.
    ["no ", "only "]
        .iter()
        .find(|word| text.starts_with(**word))
        .map_or_else(|| text.into(), |word| word[..1].to_uppercase() + &text[1..])
}

/// Who leads, and who may.
fn beginning(comparison: &Comparison, at: &AtLoad, first: &str, rest: &[&str]) -> String {
    let label = comparison.label(first);
    if rest.is_empty() {
        return format!("only {label} has a mean");
    }
    if at.ranking.pairs.is_empty() {
        return format!(
            "{label} has the least mean response time, but nothing can be said of how surely"
        );
    }
    let tied = rest.iter().filter(|other| !at.ranking.apart(first, other));
    let tied: Vec<String> = tied
        .filter_map(|other| {
            let pair = at.ranking.pair(first, other)?;
            Some(format!(
                "{} ({} times)",
                comparison.label(other),
                times(pair)
            ))
        })
        .collect();
    match tied.is_empty() {
        true => format!("{label} has the least mean response time"),
        false => format!(
            "{label} has the least mean response time, from which {} cannot be told apart",
            list(&tied)
        ),
    }
}

/// By how much the others are slower than the first.
fn slower(comparison: &Comparison, at: &AtLoad, first: &str, rest: &[&str]) -> Option<String> {
    let apart = rest.iter().filter_map(|other| {
        let pair = at.ranking.pair(first, other).filter(|p| p.apart)?;
        Some((comparison.label(other), times(pair)))
    });
    let told: Vec<String> = apart
        .enumerate()
        .map(|(n, (label, times))| match n {
            0 => format!("{label} takes {times} times as long"),
            _ => format!("{label} {times} times"),
        })
        .collect();
    (!told.is_empty()).then(|| list(&told))
}

/// Who has no mean, and why.
fn without_mean(comparison: &Comparison, load: f64) -> Vec<String> {
    let of_health = |health: Health| -> Vec<&str> {
        let ill = |name: &&str| {
            comparison
                .run(name, load)
                .is_some_and(|r| r.health == health)
        };
        comparison
            .names()
            .filter(ill)
            .map(|name| comparison.label(name))
            .collect()
    };
    let missing = |name: &&str| comparison.run(name, load).is_none();
    let absent: Vec<&str> = comparison
        .names()
        .filter(missing)
        .map(|n| comparison.label(n))
        .collect();
    let groups = [
        (of_health(Health::Unstable), "unstable"),
        (of_health(Health::Unsettled), "unsettled: too short a run"),
        (absent, "not measured"),
    ];
    let told = groups.iter().filter(|(names, _)| !names.is_empty());
    told.map(|(names, what)| format!("{} {} {what}", list(names), are(names.len())))
        .collect()
}

fn are(count: usize) -> &'static str {
    if count == 1 { "is" } else { "are" }
}

/// The whole comparison in a sentence or two: who leads at which loads.
pub fn headline(comparison: &Comparison) -> String {
    let mut groups: Vec<(Vec<&str>, Vec<String>)> = Vec::new();
    for at in &comparison.rankings {
        let leaders = leaders(at);
        match groups.iter_mut().find(|(names, _)| *names == leaders) {
            Some((_, loads)) => loads.push(at.load.to_string()),
            None => groups.push((leaders, vec![at.load.to_string()])),
        }
    }
    groups.sort_by_key(|(_, loads)| std::cmp::Reverse(loads.len()));
    let everywhere = groups.len() == 1 && comparison.rankings.len() > 1;
    let told: Vec<String> = groups
        .iter()
        .map(|(leaders, loads)| {
            let place = match everywhere {
                true => "at every load compared".into(),
                false => format!("at ρ = {}", list(loads)),
            };
            led(comparison, leaders, &place)
        })
        .collect();
    told.join(" ")
}

fn led(comparison: &Comparison, leaders: &[&str], place: &str) -> String {
    let labels: Vec<&str> = leaders.iter().map(|name| comparison.label(name)).collect();
    match labels.as_slice() {
        [] => format!("No policy has a mean {place}."),
        [one] => format!("{one} has the least mean response time {place}."),
        some => format!(
            "Any of {} may have the least mean response time {place}.",
            list(some)
        ),
    }
}
