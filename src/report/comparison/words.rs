//! Rankings in words.

use std::cmp::Reverse;

use crate::report::{below, estimate};
use crate::simulation::sweep::{AtLoad, Comparison, Outcome};
use crate::simulation::{Estimate, Health, Pair};

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
    let ratio = estimate(Some(Estimate {
        half_width: pair.simultaneous_half_width,
        ..pair.ratio
    }));
    if pair.apart && pair.simultaneous_half_width >= pair.ratio.mean - 1.0 {
        return format!("{ratio} (surely {} and more)", below(pair.least));
    }
    ratio
}

/// A ratio from which on two that cannot be told apart are not called alike.
const ALIKE: f64 = 1.1;

/// All policies with a mean, fastest first: `a ≈ b < c`, with `≈` between neighbours that cannot
/// be told apart, and `≲` where one has more by a tenth, which may be chance. None where no policy has
/// one.
pub fn chain<M, C>(comparison: &Comparison<M, C>, at: &AtLoad) -> Option<String> {
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

/// The policies that no other is surely faster than, the fastest first: names as given.
pub fn leaders(at: &AtLoad) -> Vec<&str> {
    let leading = at.ranking.order.iter().filter(|r| r.places[0] == 1);
    leading.map(|r| r.policy.as_str()).collect()
}

/// What is known at a load, in one or two sentences.
pub fn sentences<M, C>(comparison: &Comparison<M, C>, at: &AtLoad) -> String {
    let mut parts = Vec::new();
    let order: Vec<&str> = at.ranking.order.iter().map(|r| r.policy.as_str()).collect();
    if let [first, rest @ ..] = order.as_slice() {
        parts.push(beginning(comparison, at, first, rest));
        parts.extend(slower(comparison, at, first, rest));
    }
    parts.extend(without_mean(comparison, at.load));
    if parts.is_empty() {
        return "Nothing ran here.".into();
    }
    format!("{}.", capital(&parts.join("; ")))
}

fn capital(text: &str) -> String {
    // A policy's name stays as it is.
    ["no ", "only "]
        .iter()
        .find(|word| text.starts_with(**word))
        .map_or_else(|| text.into(), |word| word[..1].to_uppercase() + &text[1..])
}

/// Which policy is fastest, and which may be.
fn beginning<M, C>(
    comparison: &Comparison<M, C>,
    at: &AtLoad,
    first: &str,
    rest: &[&str],
) -> String {
    let label = comparison.label(first);
    if rest.is_empty() {
        return format!("only {label} has a mean");
    }
    if at.ranking.pairs.is_empty() {
        return format!(
            "{label} has the least mean response time, but nothing can be said of how surely"
        );
    }
    let tied = rest.iter().filter_map(|other| {
        let pair = at.ranking.pair(first, other).filter(|pair| !pair.apart)?;
        let label = comparison.label(other);
        Some(format!("{label} ({} times as long)", times(pair)))
    });
    let tied: Vec<String> = tied.collect();
    if tied.is_empty() {
        return format!("{label} has the least mean response time");
    }
    format!(
        "{label} has the least mean response time as measured, but {} may have as little",
        list(&tied)
    )
}

/// By how much the others are slower than the first.
fn slower<M, C>(
    comparison: &Comparison<M, C>,
    at: &AtLoad,
    first: &str,
    rest: &[&str],
) -> Option<String> {
    let leader = comparison.label(first);
    let apart = rest.iter().filter_map(|other| {
        let pair = at.ranking.pair(first, other).filter(|p| p.apart)?;
        Some((comparison.label(other), times(pair)))
    });
    let phrases = apart.enumerate().map(|(n, (label, times))| match n {
        0 => format!("{label} takes {times} times as long as {leader}"),
        _ => format!("{label} {times} times"),
    });
    let phrases: Vec<String> = phrases.collect();
    (!phrases.is_empty()).then(|| list(&phrases))
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
    let groups = groups.map(|(health, what)| (of_health(health), what));
    let some = groups.iter().filter(|(names, _)| !names.is_empty());
    some.map(|(names, what)| {
        let are = if names.len() == 1 { "is" } else { "are" };
        format!("{} {are} {what}", list(names))
    })
    .collect()
}

/// The whole comparison in a few sentences: which policy leads at which loads.
pub fn headline<M, C>(comparison: &Comparison<M, C>) -> String {
    let mut groups: Vec<(Lead, Vec<String>)> = Vec::new();
    for at in &comparison.rankings {
        let lead = Lead::at(comparison, at);
        match groups.iter_mut().find(|(known, _)| *known == lead) {
            Some((_, loads)) => loads.push(at.load.to_string()),
            None => groups.push((lead, vec![at.load.to_string()])),
        }
    }
    // First the policies that lead alone, and at the most loads.
    groups.sort_by_key(|(lead, loads)| (!lead.is_clear(), Reverse(loads.len())));
    let everywhere = groups.len() == 1 && comparison.rankings.len() > 1;
    let sentences = groups.iter().map(|(lead, loads)| {
        let place = if everywhere {
            "at every load compared".into()
        } else {
            format!("at ρ = {}", list(loads))
        };
        lead.sentence(comparison, &place)
    });
    sentences.collect::<Vec<_>>().join(" ")
}

/// Which policies lead at a load.
#[derive(PartialEq)]
struct Lead<'a> {
    /// The policies that no other is surely faster than, in the order they were given.
    leaders: Vec<&'a str>,
    /// Whether no other has a mean.
    alone: bool,
}

impl<'a> Lead<'a> {
    fn at<M, C>(comparison: &'a Comparison<M, C>, at: &AtLoad) -> Self {
        let leading = leaders(at);
        let names = comparison.names();
        Lead {
            leaders: names.filter(|name| leading.contains(name)).collect(),
            alone: at.ranking.order.len() == 1 && comparison.header.policies.len() > 1,
        }
    }

    fn is_clear(&self) -> bool {
        self.leaders.len() == 1 && !self.alone
    }

    fn sentence<M, C>(&self, comparison: &Comparison<M, C>, place: &str) -> String {
        let labels: Vec<&str> = self.leaders.iter().map(|n| comparison.label(n)).collect();
        match labels.as_slice() {
            [] => format!("No policy has a mean {place}."),
            [one] if self.alone => format!("Only {one} has a mean {place}."),
            [one] => format!("{one} has the least mean response time {place}."),
            some => format!("{} may each have the least {place}.", list(some)),
        }
    }
}

/// What is missing, and why.
pub fn warnings<M, C>(comparison: &Comparison<M, C>) -> Vec<String> {
    let mut warnings = Vec::new();
    if comparison.interrupted {
        let header = &comparison.header;
        warnings.push(format!(
            "INTERRUPTED: {} of {} cells were begun, the last of them not finished",
            comparison.cells.len(),
            header.policies.len() * header.loads.len()
        ));
    }
    for name in comparison.names() {
        warnings.extend(failures(comparison, name));
    }
    warnings
}

/// The reasons why cells of a policy have no run, each with its loads.
fn failures<M, C>(comparison: &Comparison<M, C>, name: &str) -> Vec<String> {
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for cell in comparison.cells.iter().filter(|c| c.policy == name) {
        let Outcome::Failure(why) = &cell.outcome else {
            continue;
        };
        match reasons.iter_mut().find(|(reason, _)| reason == why) {
            Some((_, loads)) => loads.push(cell.load.to_string()),
            None => reasons.push((why, vec![cell.load.to_string()])),
        }
    }
    let sentence = |(why, loads): (&str, Vec<String>)| {
        format!("{} at ρ = {}: {why}", comparison.label(name), list(&loads))
    };
    reasons.into_iter().map(sentence).collect()
}
