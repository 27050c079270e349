//! The answer of a synthesis on a few lines. The longer summary explains how it was found.

use std::fmt::Write as _;

use itertools::{Itertools as _, chain};

use super::choice::{parts, promised, taken, unclaimed};
use super::cost::conditions;
use super::room::{Stability, binding};
use super::synthesis::{Synthesized, seen, stability, synthesis};
use super::upgrades::most_worth;
use super::{Table, below, claim, percent, span, within, wrap};
use crate::multiresource::artifact::{Artifact, Quantity};
use crate::multiresource::simulator::{Run, TypeResult};
use crate::multiresource::synthesis::{
    CandidateLog, ChoiceLog, Chosen, Steadiness, SynthesisLog, USUAL,
};
use crate::multiresource::workload::{Fleet, JobType};
use crate::report::{counted, list};
use crate::simulation::Histogram;

/// Types that have a row of their own; the others, which bring less load, have one together.
const ROWS: usize = 6;

/// Types in the table of alternatives.
const TYPES: usize = 3;

/// Waits shorter than this many mean sizes of a type are not compared.
const LONG: f64 = 0.05;

/// Rules with this many times the objective or more are not shown as alternatives.
const SHOWN: f64 = 2.0;

/// Renders the answer of a synthesis; in full also how it was found.
pub fn summary(
    fleet: &Fleet,
    found: &Synthesized,
    log: &SynthesisLog,
    in_full: bool,
    width: usize,
) -> String {
    let answer = answer(fleet, found, log, width);
    if in_full {
        return format!("{answer}\n{}", synthesis(fleet, found, log, width));
    }
    answer + HOW_FOUND
}

const HOW_FOUND: &str = "\nHow it was found, and all that was compared: --verbose. What it promises: `synth show FILE`.\n";

/// Says what is taken and what it does, how long jobs wait, what runs now beside it, how sure that is, and what binds.
fn answer(fleet: &Fleet, found: &Synthesized, log: &SynthesisLog, width: usize) -> String {
    let (workload, artifact) = (fleet.envelope(), found.artifact());
    let chosen = match found {
        Synthesized::Chosen(chosen) => Some(&**chosen),
        Synthesized::Analysed(_) => None,
    };
    let record = chosen.and_then(|own| own.choice.as_ref());
    let known = Stability::of(workload, &artifact.policy);
    let mut text = match chosen {
        Some(own) if record.is_some() => taken(own, known, width),
        _ => String::new(),
    };
    text += &wrap(&does(fleet, artifact), width);
    text += "\n\n";
    if let Some(table) = waits(fleet, artifact, chosen, width) {
        let _ = write!(text, "{table}\n\n");
    }
    if let Some(table) = record.and_then(|record| alternatives(fleet, record, width)) {
        let _ = write!(text, "{table}\n\n");
    }
    let mut notes = Vec::new();
    if let Some(record) = record {
        notes.extend([level(record), beside(record)]);
    }
    if let Synthesized::Analysed(analysed) = found {
        notes.push(conditions(workload, analysed));
    }
    let sure = stability(known, !fleet.is_one_server(), chosen.and_then(seen));
    notes.push(format!("stability: {sure}"));
    if let Some(own) = chosen {
        notes.extend(unclaimed(own));
        let analysed = own.synthesis.iter().filter(|_| own.unclaimed.is_some());
        notes.extend(analysed.map(|analysed| conditions(workload, analysed)));
    }
    if let Some(record) = record {
        notes.extend([parts(record), promised(record, artifact)]);
    }
    notes.push(load(fleet, artifact, log, found.best_load()));
    for note in notes.iter().filter(|note| !note.is_empty()) {
        text += &wrap(note.trim_end(), width);
        text += "\n";
    }
    text
}

/// Says what the policy does, in a sentence.
fn does(fleet: &Fleet, artifact: &Artifact) -> String {
    let words = artifact.policy.followed().words(fleet.envelope());
    let end = words.find(". ").map_or(words.len(), |end| end + 1);
    words[..end].replace('\n', " ")
}

/// The name of a type, or of several together, and how long its jobs wait and stay: the mean wait, its 95th percentile, the mean
/// response time, and its 95th percentile, each with the half-width of its interval \[time\]; `None` if it is not known.
type Stay = (String, [Option<(f64, f64)>; 4]);

/// The heads of these times.
const HEADS: [&str; 4] = [
    "mean wait",
    "95 % wait below",
    "mean response time",
    "95 % stay below",
];

/// Returns what is known of a type, or of all.
fn stay(artifact: &Artifact, run: Option<&Run>, kind: Option<&JobType>) -> Stay {
    let name = kind.map(JobType::name);
    let own = |own: &&TypeResult| Some(&*own.name) == name;
    let of_type = run.and_then(|run| run.types.iter().find(own));
    let all = run.filter(|_| kind.is_none());
    let wait = of_type.map_or_else(|| all?.mean_waiting, |own| own.mean_waiting);
    let waits = of_type.map_or_else(|| all?.waiting_percentiles, |own| own.waiting_percentiles);
    let stays = of_type.map_or_else(|| all?.percentiles, |own| own.percentiles);
    let claimed = |quantity| claim(artifact, quantity, name);
    let p95 = |quantity, seen: Option<[f64; 3]>| {
        let value = claimed(quantity).map(|own| own.value);
        let value = value.or(seen.map(|own| own[1]));
        value.map(|own| (own, 0.0))
    };
    let response = claimed(Quantity::MeanResponse);
    let times = [
        wait.map(|own| (own.mean, own.half_width)),
        p95(Quantity::WaitingP95, waits),
        response.map(|own| (own.value, own.half_width.unwrap_or(0.0))),
        p95(Quantity::ResponseP95, stays),
    ];
    (name.unwrap_or("all").to_owned(), times)
}

/// Returns what is known of several types together: means by how often their jobs come, and all waiting times in one.
/// Their intervals are added up, whatever these have to do with each other.
fn together(artifact: &Artifact, run: Option<&Run>, kinds: &[&JobType]) -> Stay {
    let each = kinds.iter().map(|kind| stay(artifact, run, Some(kind)));
    let each = each.collect_vec();
    let rate: f64 = kinds.iter().map(|kind| kind.arrival_rate()).sum();
    let mean = |n: usize| {
        let mut parts = each.iter().zip(kinds).map(|((_, times), kind)| {
            let share = kind.arrival_rate() / rate;
            times[n].map(|(mean, half_width)| (share * mean, share * half_width))
        });
        parts.fold_options((0.0, 0.0), |all, own| (all.0 + own.0, all.1 + own.1))
    };
    let names = kinds.iter().map(|kind| kind.name()).collect_vec();
    let types = run.map_or(&[][..], |run| &run.types);
    let parts = types.iter().filter(|own| names.contains(&&*own.name));
    let parts: Option<Vec<Histogram>> = parts.map(|own| own.waits.clone()).collect();
    let parts = parts.unwrap_or_default().into_iter();
    let merged = parts.reduce(|mut all, own| {
        all.merge(&own);
        all
    });
    let wait_p95 = merged.and_then(|waits| Some((waits.quantile(0.95)?, 0.0)));
    let name = counted(kinds.len() as f64, "other");
    (name, [mean(0), wait_p95, mean(2), None])
}

/// Returns how long jobs of each type wait and stay; none where nothing is known of that.
fn waits(
    fleet: &Fleet,
    artifact: &Artifact,
    chosen: Option<&Chosen>,
    width: usize,
) -> Option<String> {
    let types = fleet.types();
    let run = chosen.and_then(|own| own.run.as_ref());
    let load = |i: &usize| types[*i].offered_load();
    let by_load = |a: &usize, b: &usize| load(b).total_cmp(&load(a));
    let shown = (0..types.len()).sorted_by(by_load).take(ROWS).collect_vec();
    let (shown, others): (Vec<usize>, Vec<usize>) =
        (0..types.len()).partition(|i| shown.contains(i));
    let of_type = |i: &usize| stay(artifact, run, Some(&types[*i]));
    let mut rows = shown.iter().map(of_type).collect_vec();
    if !others.is_empty() {
        let others = others.iter().map(|i| &types[*i]).collect_vec();
        rows.push(together(artifact, run, &others));
    }
    rows.push(stay(artifact, run, None));
    let is_known = |n: &usize| rows.iter().any(|(_, times)| times[*n].is_some());
    let known = (0..HEADS.len()).filter(is_known).collect_vec();
    if known.is_empty() {
        return None;
    }
    let mut table = Table::new(chain!(["type"], known.iter().map(|n| HEADS[*n])));
    for (name, times) in &rows {
        let shown = known.iter().map(|n| times[*n]);
        let shown = shown.map(|time| time.map_or("–".into(), |own| span(own, fleet.time_unit())));
        table.row(chain!([name.clone()], shown));
    }
    Some(table.within(width))
}

/// Returns the mean waits of the types that wait longest for their size under the rules that are not far behind; `None` if no type
/// waits, or there is no such rule.
fn alternatives(fleet: &Fleet, record: &ChoiceLog, width: usize) -> Option<String> {
    let own = record.candidates.first()?;
    let is_shown = |own: &&CandidateLog| own.ratio.is_some_and(|ratio| ratio.mean < SHOWN);
    let others = record.candidates.iter().filter(is_shown);
    let others = others.take(ROWS).collect_vec();
    let types = fleet.types().iter().zip(&own.waits).enumerate();
    let relative = types.map(|(i, (kind, own))| (own.mean / kind.mean_size(), i));
    let long = relative.filter(|(wait, _)| *wait > LONG);
    let long = long.sorted_by(|a, b| b.0.total_cmp(&a.0)).take(TYPES);
    let types = long.map(|(_, i)| i).sorted().collect_vec();
    if types.is_empty() || others.is_empty() {
        return None;
    }
    let heads = types
        .iter()
        .map(|i| format!("wait of {}", fleet.types()[*i].name()));
    let relative = format!("{}, relative", record.objective.label());
    let mut table = Table::new(chain!(["policy".into(), relative], heads));
    for own in chain!([own], others) {
        let breaks = [" (breaks --slo)", ""][usize::from(own.kept != Some(false))];
        let ratio = own.ratio.map(|own| within(own.mean, own.half_width));
        let wait = |i: &usize| {
            let own = own.waits.get(*i)?;
            Some(span((own.mean, own.half_width), fleet.time_unit()))
        };
        let waits = types.iter().map(|i| wait(i).unwrap_or("–".into()));
        let name = own.name.clone() + breaks;
        table.row(chain!([name, ratio.unwrap_or("1".into())], waits));
    }
    Some(table.within(width))
}

/// Says which rules are as good in the mean, and whether a rule in common use is among them.
fn level(record: &ChoiceLog) -> String {
    let [own, others @ ..] = record.candidates.as_slice() else {
        return String::new();
    };
    let (count, is_usual) = (others.len(), |name: &&str| USUAL.contains(name));
    let is_unsettled = |own: &CandidateLog| own.outcome == Steadiness::Unsettled;
    if count > 0 && others.iter().all(is_unsettled) {
        let budget = record.budget as f64;
        return format!(
            "The runs of the {count} alternatives were too short to compare them with it: raise --work (now {budget:.0e}) before you rely on this selection."
        );
    }
    if is_usual(&own.name.as_str()) {
        return format!(
            "If your scheduler already runs {}, change nothing: none of the {count} alternatives is significantly better.",
            own.name
        );
    }
    let kept = |own: &&CandidateLog| own.is_level() && own.kept != Some(false);
    let level = others.iter().filter(kept).map(|own| own.name.as_str());
    let level = level.collect_vec();
    if level.is_empty() {
        return String::new();
    }
    let usual = level.iter().copied().filter(is_usual).join(" or ");
    // Priorities are not asked for because of the mean.
    let keep = if usual.is_empty() || own.name.ends_with("priority") {
        String::new()
    } else {
        format!(" If you run {usual}, change nothing.")
    };
    let (of, level) = (record.objective.label(), list(&level));
    format!("Level with it in {of}, within 1 % or chance: {level}.{keep}")
}

/// Compares the policy with the rules that most schedulers follow.
fn beside(record: &ChoiceLog) -> String {
    let [own, others @ ..] = record.candidates.as_slice() else {
        return String::new();
    };
    let named = |name: &&str| others.iter().find(|own| own.name == *name);
    let usual = USUAL.iter().filter_map(named).take(2);
    let words = usual.map(|own| format!("{} {}", own.name, compared(own)));
    let words = words.collect_vec().join("; ");
    if words.is_empty() || USUAL.contains(&own.name.as_str()) {
        return String::new();
    }
    let of = record.objective.label();
    format!("Compared with it, in {of}: {words}.")
}

fn compared(other: &CandidateLog) -> String {
    match (other.outcome, other.ratio, other.at_least) {
        (Steadiness::Unstable, ..) => "cannot keep up at this load".into(),
        (Steadiness::Behind, ..) => "is far behind".into(),
        (_, Some(ratio), _) => format!(
            "takes {} times as long",
            within(ratio.mean, ratio.half_width)
        ),
        (.., Some(least)) => format!("takes at least {} times as long", below(least)),
        _ => "has not settled".into(),
    }
}

/// Says what part of all that any policy can carry there is, what binds, and what one more brings.
/// `best` is the load with the best schedules, where it is another.
fn load(fleet: &Fleet, artifact: &Artifact, log: &SynthesisLog, best: Option<f64>) -> String {
    let evidence = &artifact.evidence;
    let gangs = fleet.gangs().next().is_some();
    let (bound, proved) = match evidence.proven {
        true if gangs => ("at least ", ", which is proved"),
        true => ("", ", which is proved"),
        false => ("at most ", ""),
    };
    let own = percent(evidence.load);
    let mut text = match best.map(percent) {
        Some(best) => format!(
            "Load: {best} of what any policy can carry; these schedules carry {own} of what they can."
        ),
        None => format!("Load: {bound}{own} of what any policy can carry{proved}."),
    };
    if let Some(first) = binding(fleet, artifact).first() {
        let _ = write!(text, " What binds first: {first}.");
    }
    text + &most_worth(fleet, &log.upgrades, best.unwrap_or(evidence.load))
}
