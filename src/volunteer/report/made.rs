//! What a person should know of a policy that was made, or why there is none.

use std::fmt::Write as _;

use super::run::attained;
use super::{about, knob, rule};
use crate::report::{Table, estimate, number, percent, wrap};
use crate::volunteer::artifact::Quantity;
use crate::volunteer::synthesis::{BESIDE, Beside, Made, TUNED, Trial};
use crate::volunteer::workload::{Campaign, Quality, Shortage};

/// Parameters on the front that are told.
const TOLD: usize = 10;

/// A policy: what it attains, beside what others do, and what it was chosen from.
pub fn made(campaign: &Campaign, made: &Made, width: usize) -> String {
    let rule = rule(&made.artifact.policy.dispatch);
    let mut text = format!("{}: {rule}\n", about(campaign));
    let _ = writeln!(text, "\n{}", attained(campaign, &made.run, width));
    let campaigns = made.run.campaigns.len();
    let note = format!(
        "simulated in {campaigns} campaigns that decided nothing, 95 % intervals; a heuristic: no optimum is known"
    );
    let _ = writeln!(text, "{}", wrap(&note, width));
    let others = &made.beside;
    if !others.is_empty() {
        let _ = writeln!(text, "\n{}", beside(campaign, others, width));
    }
    if made.trials.len() > 1 {
        let _ = writeln!(text, "\n{}", front(campaign, made, width));
    }
    let not_done = match (made.cut, others.is_empty()) {
        (false, false) => None,
        (true, false) => Some("all parameters were tried"),
        (false, true) => Some("other rules were run beside it"),
        (true, true) => Some("all parameters were tried, and other rules run beside it"),
    };
    if let Some(what) = not_done {
        let told = format!("the budget ended before {what}: give a larger --budget");
        let _ = writeln!(text, "{}", wrap(&told, width));
    }
    for told in losing(others) {
        let _ = writeln!(text, "{}", wrap(&told, width));
    }
    text + &room(campaign, width)
}

/// How much of what hosts can do there is to do; what is endless takes the rest.
fn room(campaign: &Campaign, width: usize) -> String {
    let batches = campaign.batches();
    let applications: Vec<usize> = batches.iter().map(|b| b.application).collect();
    let usual = campaign.capacity(&applications).usual;
    let needed: f64 = batches.iter().map(|b| campaign.work(b)).sum();
    let told = format!(
        "all hosts, on as often as they are and as right as they are, do {} of work a {}, and what there is to do is {} of that",
        number(usual),
        campaign.time_unit(),
        percent(needed / (usual * campaign.horizon()))
    );
    format!("\n{}\n", wrap(&told, width))
}

/// What others do on the same campaigns.
fn beside(campaign: &Campaign, others: &[Beside], width: usize) -> String {
    let mut table = Table::new(["beside it", "median makespan, times", "instances, times"]);
    let afap = campaign
        .batches()
        .iter()
        .any(|b| b.quality == Quality::Afap);
    for other in others {
        let makespan = match other.makespan {
            None if !afap => "–".into(),
            None => "not all done".into(),
            some => estimate(some),
        };
        table.row([other.rule.into(), makespan, estimate(other.instances)]);
    }
    table.within(width)
}

/// A rule that took the place of what tuning found, and rules that are surely better and could not.
fn losing(others: &[Beside]) -> Vec<String> {
    let stands = |name: &str| others.iter().any(|other| other.rule == name);
    let taken = BESIDE
        .into_iter()
        .find(|name| stands(TUNED) && !stands(name));
    let taken = taken.map(|name| {
        format!("taken is {name}: in other campaigns it was surely better than what tuning found ({TUNED})")
    });
    let better = others.iter().filter_map(|other| {
        let excess = other.excess?;
        (excess.mean + excess.half_width < 0.0).then(|| {
            let why = if other.rule == "literal" { "the workload's `policy` asks for other parameters" } else { "no policy file can say it" };
            format!(
                "{} is surely better here, {} times the median makespan ({} of it and of deadlines in all): {why}",
                other.rule,
                estimate(other.makespan),
                estimate(Some(excess))
            )
        })
    });
    taken.into_iter().chain(better).collect()
}

/// The front: what nothing that was tried surely beats.
fn front(campaign: &Campaign, made: &Made, width: usize) -> String {
    let time = campaign.time_unit();
    let on = made.trials.iter().zip(&made.front);
    let mut on: Vec<&Trial> = on.filter(|(_, on)| **on).map(|(trial, _)| trial).collect();
    on.sort_by(|a, b| a.cost().total_cmp(&b.cost()));
    let mut table = Table::new([
        "first %".to_owned(),
        "tight %".into(),
        "q".into(),
        "each".into(),
        format!("makespan [{time}]"),
        "tight a job".into(),
        format!("stopped [1/{time}]"),
    ]);
    for own in on.iter().take(TOLD) {
        let rule = own.rule;
        let taken = rule == made.artifact.policy.dispatch;
        let mark = if taken { " *" } else { "" };
        let of = |quantity| estimate(own.run.estimate(campaign, quantity));
        table.row([
            format!("{}{mark}", knob(rule.first_percentile)),
            knob(rule.tight_percentile),
            rule.quantile.map_or("last".into(), knob),
            rule.first_each.map_or("any".into(), |n| n.to_string()),
            of(Quantity::MedianMakespan),
            of(Quantity::Tight),
            of(Quantity::Stopped),
        ]);
    }
    let told = format!(
        "the best {} on the front of {} that were tried: nothing is surely better in one of these (or in deadlines and validation delay) and not surely worse in another; * is taken",
        on.len().min(TOLD),
        made.trials.len()
    );
    format!("{}\n{}", table.within(width), wrap(&told, width))
}

/// Why no rule can do the work.
pub fn impossible(campaign: &Campaign, shortage: &Shortage, width: usize) -> String {
    let time = campaign.time_unit();
    let told = match shortage {
        Shortage::Never { batch, why } => format!("Batch `{batch}` can never be done: {why}."),
        Shortage::TooMuch {
            batch,
            work,
            rate,
            time: deadline,
        } => format!(
            "Batch `{batch}` can never be done in time: its jobs times its quorum times their mean size are {} of work, and all hosts together, on at all times and with nothing else to do, do {} a {time}, {} in {} {time}: {} times too much.",
            number(*work),
            number(*rate),
            number(rate * deadline),
            number(*deadline),
            number(work / (rate * deadline))
        ),
        Shortage::TooLong {
            batch,
            size,
            speed,
            time: deadline,
        } => format!(
            "Batch `{batch}` can never be done in time: a job has {} of work, which takes {} {time} on the fastest processor (speed {}), and there are {} {time} until its deadline, its bound or the end of the campaign.",
            number(*size),
            number(size / speed),
            number(*speed),
            number(*deadline)
        ),
        Shortage::Campaign {
            work,
            rate,
            time: horizon,
        } => format!(
            "The hosts can never do all this: there are {} of work (jobs times quorum times mean size), and all hosts do {} a {time} in the mean, {} in the whole campaign of {} {time}: {} times too much. (For streams hosts are on as often as they are, and wrong results do not count; for batches hosts are on at all times.)",
            number(*work),
            number(*rate),
            number(rate * horizon),
            number(*horizon),
            number(work / (rate * horizon))
        ),
    };
    wrap(&told, width)
}
