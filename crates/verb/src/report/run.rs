//! What a run found, and what it says of claims.

use std::fmt::Write as _;

use itertools::Itertools as _;

use super::{Table, TableUnit, decimals, estimate, number, span};
use synth_core::artifact::{Claim, Quantity};
use synth_simulation::{Ending, Estimate, Health, Judgement, Run, Verdict};

/// What a kind of workload adds to the report of a run.
#[derive(Clone, Copy, Debug)]
pub struct RunWords<'a, Q: Quantity> {
    /// The unit of time.
    pub unit: &'a str,
    /// Names of the classes of jobs, in order.
    pub names: &'a [&'a str],
    /// What stands below the table of the classes.
    pub overall: &'a str,
    /// What stands below the verdicts.
    pub conditions: &'a str,
    /// Whether a claim is of a percentile for which the fraction below it was measured.
    pub is_percentile: fn(&Claim<Q>) -> bool,
}

/// Says what a simulation found, with the verdicts on the claims, if any were judged.
pub fn run_report<M, C, Q: Quantity>(
    words: &RunWords<'_, Q>,
    run: &Run<M, C>,
    verdicts: &[Judgement<Q>],
    width: usize,
) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "{}", heading(words.unit, run));
    if run.health == Health::Settled {
        let table = class_table(words.unit, run, width);
        let _ = writeln!(text, "\n{table}\n\n{}", words.overall);
    }
    if verdicts.iter().any(|j| j.verdict != Verdict::NotExamined) {
        let unit = TableUnit::of(words.unit, times(run));
        let units = (words.unit, &unit);
        let table = verdict_table(words.names, words.is_percentile, units, verdicts).within(width);
        let _ = writeln!(text, "\n{table}\n\n{}", words.conditions);
    } else if !verdicts.is_empty() {
        let reasons = verdicts.iter().filter_map(|j| j.unexamined);
        let reasons = reasons.sorted().dedup().join("; or ");
        let count = verdicts.len();
        let _ = writeln!(text, "\nnone of the {count} claims was examined: {reasons}");
    }
    text
}

/// Returns how a run ended, and what may be said of it.
fn heading<M, C>(unit: &str, run: &Run<M, C>) -> String {
    let ending = match run.ending {
        Ending::Precision => "precision reached",
        Ending::Events => "budget of events spent",
        Ending::Time => "time is over",
        Ending::RunsAway => "given up: the queue runs away",
        Ending::Interrupted => "INTERRUPTED",
    };
    let scale = format!(
        "{} events, {} simulated in {} replications, seed {}",
        run.events,
        span((run.simulated_time, 0.0), unit),
        run.replications.len(),
        run.seed
    );
    match run.health {
        Health::Settled => {
            let warm_up = span((run.warm_up, 0.0), unit);
            format!("{ending}: {scale}; warm-up of {warm_up} cut off")
        }
        Health::Unsettled => {
            let why = run.unsettled.as_ref();
            let why = why.map_or(String::new(), |why| format!(" ({why})"));
            format!(
                "UNSETTLED ({ending}: {scale}): the run is too short for means{why}; allow more with --events or --time"
            )
        }
        Health::Unstable => {
            let left: u64 = run.types.iter().map(|t| t.left).sum();
            let growing = run.types.iter().filter(|t| t.grows);
            let growing = growing.map(|t| format!("{} of {}", t.left, t.name));
            let most = match &*growing.collect::<Vec<_>>() {
                [] => String::new(),
                some => format!(", more and more of them waiting: {}", some.join(", ")),
            };
            format!(
                "UNSTABLE ({ending}: {scale}): the number in system grows steadily and stood at {left} at the end{most}; there is no mean"
            )
        }
    }
}

/// Response times, slowdowns and numbers of the classes of jobs, and of all.
pub fn class_table<M, C>(unit: &str, run: &Run<M, C>, width: usize) -> String {
    let unit = TableUnit::of(unit, times(run));
    let mean = format!("E[T] [{}]", unit.name);
    let header = ["type", &mean, "P50", "P95", "P99", "E[T]/E[S]", "E[N]"];
    let mut table = Table::new(header.into_iter().chain(["jobs", "left"]));
    for kind in &run.types {
        let slowdown = kind.slowdown.map_or("–".into(), |s| number(s.mean));
        let jobs = [kind.completions, kind.left].map(|count| count.to_string());
        let measured = (kind.mean_response, kind.percentiles, kind.mean_number);
        table.row(row(&kind.name, &unit, measured, slowdown).chain(jobs));
    }
    let measured = (run.mean_response, run.percentiles, run.mean_number);
    table.row(row("all", &unit, measured, String::new()));
    table.within(width)
}

/// Returns the mean response times of a run, and their percentiles.
fn times<M, C>(run: &Run<M, C>) -> impl Iterator<Item = f64> {
    let types = run.types.iter();
    let types = types.map(|own| (own.mean_response, own.percentiles));
    let each = types.chain([(run.mean_response, run.percentiles)]);
    each.flat_map(|(mean, percentiles)| {
        let mean = mean.map(|own| own.mean).into_iter();
        mean.chain(percentiles.into_iter().flatten())
    })
}

/// Mean response times with their percentiles, slowdown and mean number.
fn row(
    name: &str,
    unit: &TableUnit,
    (response, percentiles, jobs): (Option<Estimate>, Option<[f64; 3]>, Option<Estimate>),
    slowdown: String,
) -> impl Iterator<Item = String> {
    let percentiles = percentiles.unwrap_or([f64::NAN; 3]);
    let percentiles = percentiles.map(|time| unit.number(time));
    let first = [name.to_owned(), unit.estimate(response)].into_iter();
    first.chain(percentiles).chain([slowdown, estimate(jobs)])
}

/// Returns the claims that were examined: those on the whole policy first, then those on each of these subjects, by name;
/// times, which have the first unit, in the second.
pub fn verdict_table<Q: Quantity>(
    names: &[&str],
    is_percentile: fn(&Claim<Q>) -> bool,
    (own, unit): (&str, &TableUnit),
    verdicts: &[Judgement<Q>],
) -> Table {
    let header = ["of", "claim", "claimed", "measured", "verdict"];
    let mut table = Table::new(header).words(1).wrapping(1).words(4);
    let subjects = names.iter().copied().map(Some);
    for of in std::iter::once(None).chain(subjects) {
        let examined = verdicts.iter().filter(|own| {
            let subject = own.claim.job_type.as_ref().or(own.claim.batch.as_ref());
            own.verdict != Verdict::NotExamined && subject.map(String::as_str) == of
        });
        for (n, judgement) in examined.enumerate() {
            let group = if n == 0 { of.unwrap_or("all") } else { "" };
            let is_percentile = is_percentile(&judgement.claim);
            let judgement = &in_unit(judgement, own, unit, is_percentile);
            table.row([
                group.to_string(),
                name(&judgement.claim),
                claimed(judgement, is_percentile),
                measured(judgement, is_percentile),
                verdict(judgement),
            ]);
        }
    }
    table
}

/// Describes a policy file: what it is for, which program made it, where its workload comes from, and what `body` says.
pub fn policy_report(what: &str, tool: &str, source: Option<&str>, body: &str) -> String {
    let source = source.map_or(String::new(), |source| format!("Workload: {source}\n"));
    format!(
        "A scheduling policy for {what}, made by {tool}.\n{source}{body}\n`synth check` tells what it derives anew, `synth simulate` tries to refute what it promises.\n"
    )
}

/// Returns a quantity with its unit, as the head of a row or a column.
pub fn headed<Q: Quantity>(quantity: Q, time: &str) -> String {
    match quantity.unit(time).as_str() {
        "1" => quantity.row().label.to_owned(),
        unit => format!("{} [{unit}]", quantity.row().label),
    }
}

/// Returns a judgement with its times in this unit, where they are in the other.
fn in_unit<Q: Quantity>(
    judgement: &Judgement<Q>,
    own: &str,
    unit: &TableUnit,
    is_percentile: bool,
) -> Judgement<Q> {
    let mut shown = judgement.clone();
    if shown.claim.unit == own {
        shown.claim.unit.clone_from(&unit.name);
        shown.claim.value = unit.time(shown.claim.value);
        if !is_percentile {
            shown.measured = shown.measured.map(|own| unit.of_estimate(own));
        }
    }
    shown
}

fn name<Q: Quantity>(claim: &Claim<Q>) -> String {
    let mut name = claim.quantity.row().label.to_owned();
    if let Some(jobs) = claim.at {
        name += &format!(" {jobs}");
    } else if let Some(time) = claim.longer_than {
        name += &format!(" {}", number(time));
    }
    if let Some(server) = &claim.server {
        name += &format!(" of {server}");
    }
    if claim.unit != "1" {
        name += &format!(" [{}]", claim.unit);
    }
    name
}

/// Returns the claimed number, to the digits of what was measured where the two can be compared.
fn claimed<Q: Quantity>(judgement: &Judgement<Q>, is_percentile: bool) -> String {
    let value = judgement.claim.value;
    let comparable = judgement.measured.filter(|_| !is_percentile);
    match comparable.and_then(|m| decimals(m.half_width)) {
        Some(decimals) => format!("{value:.decimals$}"),
        None => number(value),
    }
}

fn measured<Q: Quantity>(judgement: &Judgement<Q>, is_percentile: bool) -> String {
    let measured = judgement.measured;
    match is_percentile && measured.is_some() {
        true => estimate(measured.map(|own| own.times(100.0))) + " % within",
        false => estimate(measured),
    }
}

fn verdict<Q: Quantity>(judgement: &Judgement<Q>) -> String {
    let verdict = match judgement.verdict {
        Verdict::Confirmed => "confirmed",
        Verdict::Refuted => "REFUTED",
        Verdict::NotEnoughEvidence => "not enough evidence",
        Verdict::Approximate => "approximate",
        Verdict::NotExamined => "not examined",
    };
    // Only approximations are off.
    match judgement.off {
        Some(off) => format!("{verdict}, off by {:+.1} %", 100.0 * off),
        None => verdict.to_owned(),
    }
}
