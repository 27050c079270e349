//! What was chosen by simulation, and why.

use std::fmt::Write as _;

use itertools::chain;

use super::optimum::{allowed, beyond, knowing};
use super::room::Stability;
use super::{Table, below, number, within, wrap};
use crate::multiresource::artifact::{Artifact, Objective};
use crate::multiresource::synthesis::{
    Basis, CLOSE, CandidateLog, ChoiceLog, Chosen, Floor, LoggedMean, Steadiness,
};
use crate::multiresource::workload::Workload;
use crate::report::list;

/// Says what was taken and why, first of all.
pub(super) fn taken(chosen: &Chosen, stability: Stability, width: usize) -> String {
    let name = chosen.artifact.policy.followed().called();
    let record = chosen.choice.as_ref();
    let proved = match stability {
        Stability::Unproved => "",
        Stability::Guard(_) | Stability::Partition(_) => "; stable, which is proved, by its guard",
        _ => "; stable, which is proved",
    };
    let rivals = record.map_or(0, |record| record.candidates.len() - 1);
    let best = match record {
        _ if rivals == 0 => "as the only one that was compared".into(),
        Some(record) if record.decided => {
            format!("none of {rivals} others is better by {} %", 100.0 * CLOSE)
        }
        Some(record) if record.candidates.iter().any(CandidateLog::is_better) => {
            match record.promises.is_empty() {
                true => "the best of the families asked for".into(),
                false => "the surest to keep what is promised".into(),
            }
        }
        Some(record) if record.settled() == 1 => {
            format!("as the only one of {} that were compared", rivals + 1)
        }
        _ => format!("the least of {} that were compared", rivals + 1),
    };
    let why = match &chosen.basis {
        Basis::Settled => format!("it has settled, {best}"),
        Basis::Fairest(other, less) => format!(
            "it has settled, and runs do not show that {other} is better by {} %; its most slowed type is slowed down {:.0} % less",
            100.0 * CLOSE,
            100.0 * less
        ),
        Basis::StaysLeast => "no policy was seen to settle, and with it jobs stayed least".into(),
        Basis::RunsAway => "it was named, and it was seen to run away at this load".into(),
        Basis::Guarded => "all policies were seen to run away; its guard carries the load".into(),
        Basis::Unseen => "no run was long enough to say anything of any policy".into(),
        Basis::Analysis => "by analysis no policy can be better by 1 %".into(),
        Basis::Given => "its family was asked for".into(),
    };
    let cut = if chosen.is_cut {
        " The choice was cut short by the time limit or an interrupt: this is the best so far, and another machine may take another."
    } else {
        ""
    };
    wrap(&format!("{name} is taken: {why}{proved}.{cut}\n"), width)
}

/// Says what was simulated, what follows from it, and what was promised.
pub(super) fn simulated(
    workload: &Workload,
    record: &ChoiceLog,
    artifact: &Artifact,
    floor: Option<Floor>,
    width: usize,
) -> String {
    compared(workload, record, floor, width)
        + &wrap(&verdict(record), width)
        + &promised(record, artifact)
}

/// Says what is not claimed, a sentence each.
pub(super) fn unclaimed(chosen: &Chosen) -> impl Iterator<Item = String> + '_ {
    let impossible = chosen.retracted.iter();
    let impossible = impossible.map(|why| format!("not claimed, since it cannot be: {why}"));
    let unknown = chosen.unclaimed.iter();
    let unknown = unknown.map(|why| format!("No simulated mean of it is claimed: {why}"));
    let notes = impossible.chain(unknown);
    notes.map(|note| note + ". More with --work.")
}

/// Says what is not claimed, and what was not considered.
pub(super) fn left_out(chosen: &Chosen, width: usize) -> String {
    let mut text = String::new();
    for note in unclaimed(chosen) {
        text += &wrap(&format!("{note}\n"), width);
    }
    for why in &chosen.skipped {
        let _ = writeln!(text, "not considered: {why}");
    }
    text
}

/// Says what was simulated, the policy taken first; where a bound is known, with the distance from it.
fn compared(workload: &Workload, record: &ChoiceLog, floor: Option<Floor>, width: usize) -> String {
    let value = format!("{} [{}]", record.objective.label(), workload.time_unit());
    let (other, counts) = match record.objective.other() {
        Objective::Mean => ("E[T]", "in which all jobs count alike"),
        _ => ("weighted", "in which jobs count by the work they bring"),
    };
    let head = floor.as_ref().map(gap_head);
    let header = chain!(
        ["policy", &value, "times"],
        head,
        [other, "slowdowns", "tried", "knobs"]
    );
    let knobs = 6 + head.iter().len();
    let mut rows = Table::new(header).words(knobs).wrapping(knobs);
    let shown = |interval: Option<LoggedMean>| {
        interval.map_or("–".into(), |i| within(i.mean, i.half_width))
    };
    let best = record.candidates.first().and_then(|own| own.value);
    for candidate in &record.candidates {
        let value = match candidate.outcome {
            Steadiness::Steady if candidate.kept == Some(false) => {
                format!("{} breaks", shown(candidate.value))
            }
            Steadiness::Steady => match (candidate.at_least, best) {
                (Some(times), Some(best)) => format!("≥ {}", below(times * best.mean)),
                _ => shown(candidate.value),
            },
            Steadiness::Unsettled => "unsettled".into(),
            Steadiness::Behind => "far behind".into(),
            Steadiness::Unstable => "unstable".into(),
        };
        let times = match candidate.at_least {
            Some(least) => format!("≥ {}", below(least)),
            None => shown(candidate.ratio),
        };
        let is_steady = candidate.outcome == Steadiness::Steady;
        let steady = candidate.value.filter(|_| is_steady);
        let gap = |own: Floor| Some(beyond(steady?.mean / own.least - 1.0));
        let gap = floor.map(|own| gap(own).unwrap_or("–".into()));
        let others = [
            shown(candidate.other_ratio),
            candidate.slowdown_ratio.map_or("–".into(), number),
            candidate.tried.to_string(),
            candidate.knobs.clone().unwrap_or_default(),
        ];
        let first = [candidate.name.clone(), value, times];
        rows.row(chain!(first, gap, others));
    }
    let broken = match record.candidates.iter().any(|own| own.kept == Some(false)) {
        true => " breaks: a promise of --slo.",
        false => "",
    };
    let least = floor.map_or(String::new(), |own| {
        let floor = unbeaten(&own, workload.time_unit());
        let above = match own.is_near_optimum {
            true => ", about",
            false => " at most",
        };
        format!(
            " {}: how far the simulated mean is above the optimum{above}. {floor}",
            gap_head(&own)
        )
    });
    let note = format!(
        "simulated: {:.2e} events, {} replications, seed {}; 95 % intervals. times: the ratio to the mean of the first, on the same arrivals and sizes; means of the others are that of the first, so many times. {other}: the same of the mean {counts}. ≥: left out once it was that much worse at 95 %. slowdowns: the largest E[T_i]/E[S_i] of a type over the smallest, on the same arrivals and sizes.{least}{broken}\n",
        record.events as f64, record.replications, record.seed
    );
    format!("{}\n{}\n", rows.within(width), wrap(&note, width))
}

/// Returns the head of the column of distances from a bound: the optimum is that, about, or at least that.
fn gap_head(floor: &Floor) -> &'static str {
    match floor.is_near_optimum {
        true => "gap",
        false => "gap ≤",
    }
}

/// Says what no policy can beat, and whether one may come near.
pub(super) fn unbeaten(floor: &Floor, unit: &str) -> String {
    let (what, allowed) = (floor.objective.label(), allowed(floor.preemption));
    let knowing = knowing(floor.knows_sizes);
    let near = match floor.is_near_optimum {
        true => "is about that",
        false => "may be well above that",
    };
    let least = below(floor.least);
    format!(
        "No policy {allowed}{knowing} has less {what} than {least} {unit}, which is proved, and the optimum {near} (`synth optimum`)."
    )
}

/// Says what speaks for another choice.
fn verdict(record: &ChoiceLog) -> String {
    let [taken, others @ ..] = record.candidates.as_slice() else {
        return String::new();
    };
    let names = |is: &dyn Fn(&CandidateLog) -> bool| {
        let some = others.iter().filter(|candidate| is(candidate));
        some.map(|own| own.name.as_str()).collect::<Vec<_>>()
    };
    let better = list(&names(&CandidateLog::is_better));
    let open = list(&names(&|own| !record.decided && record.is_open(own)));
    let mut text = String::new();
    if !better.is_empty() {
        text += &format!("Significantly less have {better}.\n");
    }
    text += &parts(record);
    if !open.is_empty() {
        let (name, budget) = (&taken.name, record.budget as f64);
        text += &format!(
            "It is not known whether {name} is better than {open}: raise --work (now {budget:.0e}).\n"
        );
    }
    text
}

/// A relative difference in the other mean that is worth a sentence.
const APART: f64 = 0.05;

/// Says that another policy has surely and much less of the mean that was not looked at, and which the most.
pub(super) fn parts(record: &ChoiceLog) -> String {
    let others = record.candidates.iter().skip(1);
    let ratios = others.filter_map(|c| Some((c, c.other_ratio?)));
    let less = ratios.filter(|(_, r)| r.mean + r.half_width < 1.0 - APART);
    let least = less.min_by(|a, b| a.1.mean.total_cmp(&b.1.mean));
    let Some((other, ratio)) = least else {
        return String::new();
    };
    let (what, which, option) = match record.objective.other() {
        Objective::Mean => ("E[T]", "small", "mean"),
        _ => ("weighted E[T]", "large", "weighted"),
    };
    format!(
        "In {what} {} has {:.0} % less: what is taken here lets {which} jobs wait for the others. `--minimize {option}` chooses by that.\n",
        other.name,
        100.0 * (1.0 - ratio.mean)
    )
}

/// Says what was promised, and what the policy does.
pub(super) fn promised(record: &ChoiceLog, artifact: &Artifact) -> String {
    let unit = &artifact.workload.time_unit;
    let lines = record.promises.iter().map(|own| {
        let promise = own.words(unit);
        let Some(claim) = own.claimed(&artifact.claims) else {
            return format!("promise {promise}: kept, as far as runs could see\n");
        };
        let half_width = claim.half_width.unwrap_or(0.0);
        let doubt = match claim.value + half_width <= own.allowed() {
            true => String::new(),
            false => format!(
                "; that is borderline, and a larger --work (now {:.0e}) narrows it",
                record.budget as f64
            ),
        };
        let share = within(100.0 * (1.0 - claim.value), 100.0 * half_width);
        format!("promise {promise}: kept by {share} % of the jobs{doubt}\n")
    });
    lines.collect()
}
