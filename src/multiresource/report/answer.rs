//! The answer of a synthesis on a few lines. The longer summary explains how it was found.

use std::fmt::Write as _;

use itertools::Itertools as _;

use super::choice::{parts, promised, taken, unclaimed};
use super::cost::conditions;
use super::room::{Stability, room};
use super::synthesis::{Synthesized, seen, stability, synthesis};
use super::upgrades::most_worth;
use super::{Table, below, claim, percent, span, within, wrap};
use crate::multiresource::artifact::{Artifact, Quantity};
use crate::multiresource::simulator::{Run, TypeResult};
use crate::multiresource::synthesis::{Candidate, Choice, Chosen, Log, Steadiness, USUAL};
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
    log: &Log,
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
fn answer(fleet: &Fleet, found: &Synthesized, log: &Log, width: usize) -> String {
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
    let is_fleet = !fleet.is_one_server();
    let sure = format!(
        "stability: {}",
        stability(known, is_fleet, chosen.and_then(seen))
    );
    let mut notes = Vec::new();
    if let Some(record) = record {
        notes.extend([level(record), beside(record)]);
    }
    if let Synthesized::Analysed(analysed) = found {
        notes.push(conditions(workload, analysed));
    }
    notes.push(sure);
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

/// How long jobs of a type, or of several, wait and stay \[time\].
struct Stay {
    name: String,
    /// Mean with half-width.
    wait: Option<(f64, f64)>,
    wait_p95: Option<f64>,
    response: Option<(f64, f64)>,
    response_p95: Option<f64>,
}

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
        value.or(seen.map(|own| own[1]))
    };
    let response = claimed(Quantity::MeanResponse);
    Stay {
        name: name.unwrap_or("all").to_owned(),
        wait: wait.map(|own| (own.mean, own.half_width)),
        wait_p95: p95(Quantity::WaitingP95, waits),
        response: response.map(|own| (own.value, own.half_width.unwrap_or(0.0))),
        response_p95: p95(Quantity::ResponseP95, stays),
    }
}

/// Returns what is known of several types together: means by how often their jobs come, and all waiting times in one.
/// Their intervals are added up, whatever these have to do with each other.
fn together(artifact: &Artifact, run: Option<&Run>, kinds: &[&JobType]) -> Stay {
    let each = kinds.iter().map(|kind| stay(artifact, run, Some(kind)));
    let each = each.collect_vec();
    let rate: f64 = kinds.iter().map(|kind| kind.arrival_rate()).sum();
    let mean = |of: fn(&Stay) -> Option<(f64, f64)>| {
        let mut parts = each.iter().zip(kinds).map(|(own, kind)| {
            let share = kind.arrival_rate() / rate;
            of(own).map(|(mean, half_width)| (share * mean, share * half_width))
        });
        parts.fold_options((0.0, 0.0), |all, own| (all.0 + own.0, all.1 + own.1))
    };
    let names = kinds.iter().map(|kind| kind.name()).collect_vec();
    let types = run.map_or(&[][..], |run| &run.types);
    let parts = types.iter().filter(|own| names.contains(&&*own.name));
    let parts: Option<Vec<Histogram>> = parts.map(|own| own.waits.clone()).collect();
    let merged = parts
        .unwrap_or_default()
        .into_iter()
        .reduce(|mut all, own| {
            all.merge(&own);
            all
        });
    Stay {
        name: counted(kinds.len() as f64, "other"),
        wait: mean(|own| own.wait),
        wait_p95: merged.and_then(|waits| waits.quantile(0.95)),
        response: mean(|own| own.response),
        response_p95: None,
    }
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
    let by_load = |a: &usize, b: &usize| {
        types[*b]
            .offered_load()
            .total_cmp(&types[*a].offered_load())
    };
    let mut shown = (0..types.len()).sorted_by(by_load).take(ROWS).collect_vec();
    shown.sort_unstable();
    let of_type = |i: &usize| stay(artifact, run, Some(&types[*i]));
    let mut rows = shown.iter().map(of_type).collect_vec();
    let others = (0..types.len()).filter(|i| !shown.contains(i));
    let others = others.map(|i| &types[i]).collect_vec();
    if !others.is_empty() {
        rows.push(together(artifact, run, &others));
    }
    rows.push(stay(artifact, run, None));
    let unit = fleet.time_unit();
    let mean = |own: Option<(f64, f64)>| own.map_or("–".into(), |own| span(own, unit));
    let plain = |own: Option<f64>| mean(own.map(|own| (own, 0.0)));
    let cells = rows.iter().map(|own| {
        [
            mean(own.wait),
            plain(own.wait_p95),
            mean(own.response),
            plain(own.response_p95),
        ]
    });
    let cells = cells.collect_vec();
    let header = [
        "mean wait",
        "95 % wait below",
        "mean response time",
        "95 % stay below",
    ];
    let is_known = |column: &usize| cells.iter().any(|row| row[*column] != "–");
    let known = (0..header.len()).filter(is_known).collect_vec();
    if known.is_empty() {
        return None;
    }
    let heads = known.iter().map(|column| header[*column]);
    let mut table = Table::new(["type"].into_iter().chain(heads));
    for (own, row) in rows.iter().zip(&cells) {
        let shown = known.iter().map(|column| row[*column].clone());
        table.row([own.name.clone()].into_iter().chain(shown));
    }
    Some(table.within(width))
}

/// Returns the mean waits of the types that wait longest for their size under the rules that are not far behind; `None` if no type
/// waits, or there is no such rule.
fn alternatives(fleet: &Fleet, record: &Choice, width: usize) -> Option<String> {
    let own = record.candidates.first()?;
    let is_shown = |own: &&Candidate| own.ratio.is_some_and(|ratio| ratio.mean < SHOWN);
    let others = record.candidates.iter().filter(is_shown).take(ROWS);
    let others = others.collect_vec();
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
    let mut table = Table::new(["policy".into(), relative].into_iter().chain(heads));
    for own in [own].into_iter().chain(others) {
        let breaks = [" (breaks --slo)", ""][usize::from(own.kept != Some(false))];
        let ratio = own
            .ratio
            .map_or("1".into(), |own| within(own.mean, own.half_width));
        let waits = types.iter().map(|i| own.waits.get(*i));
        let waits = waits.map(|own| {
            own.map_or("–".into(), |own| {
                span((own.mean, own.half_width), fleet.time_unit())
            })
        });
        table.row([own.name.clone() + breaks, ratio].into_iter().chain(waits));
    }
    Some(table.within(width))
}

/// Says which rules are as good in the mean, and whether a rule in common use is among them.
fn level(record: &Choice) -> String {
    let [own, others @ ..] = record.candidates.as_slice() else {
        return String::new();
    };
    let (count, is_usual) = (others.len(), |name: &&str| USUAL.contains(name));
    let is_unsettled = |own: &Candidate| own.outcome == Steadiness::Unsettled;
    if count > 0 && others.iter().all(is_unsettled) {
        let budget = record.budget as f64;
        return format!(
            "The runs of the {count} alternatives were too short to compare them with it: raise --budget (now {budget:.0e}) before you rely on this selection."
        );
    }
    if is_usual(&own.name.as_str()) {
        return format!(
            "If your scheduler already runs {}, change nothing: none of the {count} alternatives is significantly better.",
            own.name
        );
    }
    let kept = |own: &&Candidate| own.is_level() && own.kept != Some(false);
    let level = others
        .iter()
        .filter(kept)
        .map(|own| own.name.as_str())
        .collect_vec();
    let usual = level.iter().copied().filter(is_usual).collect_vec();
    let keep = match usual.as_slice() {
        // Priorities are not asked for because of the mean.
        _ if own.name.ends_with("priority") => String::new(),
        [] => String::new(),
        some => format!(" If you run {}, change nothing.", some.join(" or ")),
    };
    match level.as_slice() {
        [] => String::new(),
        some => format!(
            "Level with it in {}, within 1 % or chance: {}.{keep}",
            record.objective.label(),
            list(some)
        ),
    }
}

/// Says how what most schedulers do compares.
fn beside(record: &Choice) -> String {
    let [own, others @ ..] = record.candidates.as_slice() else {
        return String::new();
    };
    if USUAL.contains(&own.name.as_str()) {
        return String::new();
    }
    let usual = USUAL
        .iter()
        .filter_map(|name| others.iter().find(|own| own.name == *name));
    let words = usual
        .take(2)
        .map(|own| format!("{} {}", own.name, compared(own)))
        .collect_vec();
    if words.is_empty() {
        return String::new();
    }
    let of = record.objective.label();
    format!("Compared with it, in {of}: {}.", words.join("; "))
}

fn compared(other: &Candidate) -> String {
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
fn load(fleet: &Fleet, artifact: &Artifact, log: &Log, best: Option<f64>) -> String {
    let evidence = &artifact.evidence;
    let gangs = fleet.gangs().next().is_some();
    let (bound, proved) = match evidence.proven {
        true if gangs => ("at least ", ", which is proved"),
        true => ("", ", which is proved"),
        false => ("at most ", ""),
    };
    let mut text = match best {
        Some(best) => format!(
            "Load: {} of what any policy can carry; these schedules carry {} of what they can.",
            percent(best),
            percent(evidence.load)
        ),
        None => format!(
            "Load: {bound}{} of what any policy can carry{proved}.",
            percent(evidence.load)
        ),
    };
    if let Some((shape, resource, share)) = room(artifact, fleet).binding.into_iter().next() {
        let of = if fleet.is_one_server() {
            String::new()
        } else {
            format!(" of {shape}")
        };
        let _ = write!(
            text,
            " What binds first: {resource}{of} ({}).",
            percent(share)
        );
    }
    text + &most_worth(fleet, &log.upgrades, best.unwrap_or(evidence.load))
}
