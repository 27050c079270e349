use itertools::Itertools as _;

use super::optimum::{allowed, information_clause};
use super::stability::Stability;
use crate::multiresource::artifact::{Guarantee, Objective};
use crate::multiresource::synthesis::{
    Basis, COMMON_RULES, CandidateLog, ChoiceLog, Chosen, LowerBoundLog, RELEVANT_DIFFERENCE,
    Steadiness, Unkept,
};
use crate::report::{Cell, Column, Report, Section, below, list};
use synth_verb::{cells, table};

pub(super) fn selected(chosen: &Chosen, stability: Stability) -> String {
    let name = chosen.artifact.policy.followed().called();
    let proved = match stability {
        Stability::Unproved => "",
        Stability::Guard(_) | Stability::Partition(_) => "; its guard proves that it is stable",
        _ => "; it is proved to be stable",
    };
    let why = match &chosen.basis {
        Basis::BestConverged => match &chosen.choice {
            Some(record) if record.decided => {
                match record.candidates.len() - 1 {
                    0 => "it is the only candidate".into(),
                    others => format!(
                        "none of the other {others} candidates is better by {} %",
                        100.0 * RELEVANT_DIFFERENCE
                    ),
                }
            }
            Some(record) if !record.promises.is_empty() => {
                "it meets the guarantees with the highest confidence or with the lowest cost".into()
            }
            record => {
                let count = record.as_ref().map_or(1, |record| record.candidates.len());
                format!("it has the smallest value of all {count} candidates")
            }
        },
        Basis::Fairest(other, less) => format!(
            "it is within {} % of the best candidate ({other}), and the largest slowdown of a job type is {:.0} % lower",
            100.0 * RELEVANT_DIFFERENCE,
            100.0 * less
        ),
        Basis::StaysLeast => "none of the policies has converged, and this policy had the lowest response times".into(),
        Basis::Unstable => "it was selected by name, although it was unstable in the simulation at this load".into(),
        Basis::Guarded => "all policies were unstable in the simulation, but the guard of this one can sustain the load".into(),
        Basis::Inconclusive => "no run was long enough to be conclusive".into(),
        Basis::Analysis => "it is proved by analysis that no policy can be better by 1 %".into(),
        Basis::Given => "its family was specified".into(),
    };
    let cut = if chosen.is_cut { CUT } else { "" };
    format!("Selected: {name}; {why}{proved}.{cut}")
}

const CUT: &str = " The selection was cut short by the time limit or by an interrupt. This is the best policy that was found so far, and the result of another run may be different.";

const SHOWN: usize = 6;

pub(super) fn candidates(
    record: &ChoiceLog,
    unit: &str,
    floor: Option<&LowerBoundLog>,
    in_full: bool,
) -> Section {
    let other = match record.objective.other() {
        Objective::Mean => "E[T], times [1]",
        _ => "weighted E[T], times [1]",
    };
    let best = record.candidates.first().and_then(|own| own.value);
    let value = |own: &CandidateLog| match (own.outcome, own.at_least, best) {
        (Steadiness::Unsettled, ..) => "not converged".into(),
        (Steadiness::Behind, ..) => "far behind".into(),
        (Steadiness::Unstable, ..) => "unstable".into(),
        (_, Some(times), Some(best)) => format!("≥ {}", below(times * best.mean)).into(),
        _ => Cell::from(own.value.map(|own| (own.mean, own.half_width))),
    };
    let gap = |own: &CandidateLog| {
        let steady = own.value.filter(|_| own.outcome == Steadiness::Steady)?;
        Some(steady.mean / floor?.least - 1.0)
    };
    let candidates = record.candidates.iter();
    let candidates = candidates.take(if in_full { usize::MAX } else { SHOWN });
    let mut section = table!("Candidates", candidates, own => {
        "policy" => &own.name,
        format!("{} [{unit}]", record.objective.label()) => value(own),
        "times [1]" => match own.at_least {
            Some(least) => format!("≥ {}", below(least)).into(),
            None => Cell::from(own.ratio.map(|own| (own.mean, own.half_width))),
        },
        "above the bound [%]" => gap(own),
        other => own.other_ratio.map(|own| (own.mean, own.half_width)),
        "slowdowns [1]" => own.slowdown_ratio,
        "tried [#]" => own.tried,
        "guarantees" => own.kept.map(|kept| if kept { "kept" } else { "not kept" }),
        "parameters" => own.knobs.as_ref().filter(|_| in_full),
    });
    let (events, count) = (record.events as f64, record.replications);
    section.notes.push(format!("The result of a simulation with {events:.2e} events, {count} replications and the seed {}. All intervals are 95 % confidence intervals. The column \"times\" is the ratio to the first candidate, using the same arrival times and job sizes. If it starts with ≥, the candidate was removed once it was worse by this factor at 95 %. The column \"slowdowns\" is the largest `E[T_i]/E[S_i]` of a type divided by the smallest.", record.seed));
    section.notes.extend(remark(record));
    section
}

/// Reports that no policy meets the guarantees, and how many jobs meet them under each policy.
pub(crate) fn missed(unkept: &Unkept, promises: &[Guarantee]) -> Report {
    let mut section = Section::new("Share of the jobs that meet the target", ["policy"]);
    let targets = promises.iter().map(|own| Column::of(&own.job_type, "%"));
    section.columns.extend(targets);
    for (name, shares) in &unkept.shares {
        let shares = shares.iter().map(|own| Cell::from(*own));
        section.rows.push(cells![name; shares]);
    }
    Report {
        sections: vec![section],
        ..Report::from(unkept.why.clone())
    }
}

fn remark(record: &ChoiceLog) -> Option<String> {
    let [own, others @ ..] = record.candidates.as_slice() else {
        return None;
    };
    let names = |is: &dyn Fn(&CandidateLog) -> bool| {
        let some = others.iter().filter(|own| is(own));
        some.map(|own| own.name.as_str()).collect_vec()
    };
    let (name, budget) = (&own.name, record.budget as f64);
    let raise = format!("use a value for `--work` that is larger than {budget:.0e}");
    let is_unsettled = |own: &CandidateLog| own.outcome == Steadiness::Unsettled;
    let better = names(&CandidateLog::is_better);
    let open = names(&|own| !record.decided && record.is_open(own));
    let level = names(&|own| own.is_equally_good() && COMMON_RULES.contains(&&*own.name));
    if others.is_empty() {
        return None;
    }
    Some(if others.iter().all(is_unsettled) {
        format!(
            "The runs of the other policies were too short, so this selection is not reliable. For a better result, {raise}."
        )
    } else if !better.is_empty() {
        let better_ones = others.iter().filter(|own| own.is_better());
        let mut ratios = better_ones.filter_map(|own| own.ratio);
        let by = match ratios.all(|own| own.mean > 1.0 - RELEVANT_DIFFERENCE) {
            true => ", but by less than 1 %",
            false => "",
        };
        format!("Significantly better{by}: {}.", list(&better))
    } else if COMMON_RULES.contains(&&**name) {
        format!(
            "If your scheduler already uses {name}, there is no need to change it, because none of the other policies is significantly better."
        )
    } else if !level.is_empty() && !name.ends_with("priority") {
        format!(
            "If you already use {}, there is no need to change it, because the difference is less than 1 % or not significant.",
            level.join(" or ")
        )
    } else if !open.is_empty() {
        format!(
            "It is not known whether {name} is better than {}. To find out, {raise}.",
            list(&open)
        )
    } else {
        return None;
    })
}

pub(super) fn lower_bound_note(floor: &LowerBoundLog, unit: &str) -> String {
    let (what, allowed) = (floor.objective.label(), allowed(floor.preemption));
    let (knowing, least) = (information_clause(floor.knows_sizes), below(floor.least));
    let near = match floor.is_near_optimum {
        true => "is close to this bound",
        false => "may be much larger",
    };
    format!(
        "Proved for every policy {allowed}{knowing}: {what} ≥ {least} {unit}. The optimum {near} (see `synth optimum`)."
    )
}
