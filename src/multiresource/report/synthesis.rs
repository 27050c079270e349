use itertools::Itertools as _;

use super::selection::{candidates, lower_bound_note, selected};
use super::stability::{Stability, bottlenecks, growth, load_of, upgrades};
use super::{guarantees, schedules, unmet_by};
use crate::multiresource::artifact::{
    Artifact, Backfill, EmptySlots, Method, Preemption, Quantity, Subject, unmet,
};
use crate::multiresource::synthesis::{Chosen, MsfqAnalysis, Synthesis, SynthesisLog};
use crate::multiresource::workload::{Fleet, Workload};
use crate::report::{Report, Section, claims, classes, number};
use synth_verb::table;

/// A policy and the way in which it was found.
#[derive(Debug)]
pub enum Synthesized {
    /// The policy is the result of an analysis.
    Analysed(Box<Synthesis>),
    /// The policy was selected by simulation, or it is for a fleet.
    Selected(Box<Chosen>),
}

impl Synthesized {
    /// Returns the policy.
    pub fn artifact(&self) -> &Artifact {
        match self {
            Synthesized::Analysed(synthesis) => &synthesis.artifact,
            Synthesized::Selected(chosen) => &chosen.artifact,
        }
    }

    fn analysis(&self) -> Option<&Synthesis> {
        match self {
            Synthesized::Analysed(synthesis) => Some(synthesis),
            Synthesized::Selected(chosen) => chosen.synthesis.as_deref(),
        }
    }
}

/// If `in_full` is `true`, the report shows how the policy was found.
pub(crate) fn synthesis(
    fleet: &Fleet,
    found: &Synthesized,
    log: &SynthesisLog,
    in_full: bool,
) -> Report {
    let (workload, artifact, unit) = (fleet.envelope(), found.artifact(), fleet.time_unit());
    let known = Stability::of(workload, &artifact.policy);
    let (chosen, best) = match found {
        Synthesized::Selected(chosen) => (Some(&**chosen), None),
        Synthesized::Analysed(own) => (None, own.best_load),
    };
    let record = chosen.and_then(|own| own.choice.as_ref());
    let run = chosen.and_then(|own| own.run.as_ref());
    let seen = record.map(|_| run.is_some() && chosen.is_some_and(|own| own.unclaimed.is_none()));
    let words = artifact.policy.followed().describe(workload);
    let words = words.replace('\n', " ");
    let end = words.find(". ").map_or(words.len(), |end| end + 1);
    let stability = known.describe(!fleet.is_one_server(), seen);
    let mut report = Report::default();
    let simulated = chosen.filter(|_| record.is_some());
    let why = simulated.map(|own| selected(own, known));
    report.summary.extend(why);
    report.summary.push(words[..end].to_owned());
    report.summary.push(load_of(fleet, artifact, best));
    report.summary.push(format!("Stability: {stability}."));
    if let Some(own) = found.analysis().filter(|_| run.is_none()) {
        report.summary.push(conditions(workload, own));
    }
    report.warnings = chosen.map_or(Vec::new(), unclaimed);
    report.sections = match run {
        Some(run) => vec![classes(unit, run)],
        None => {
            let shown = artifact.claims.iter();
            let shown = shown.filter(|own| SHOWN_CLAIMS.contains(&own.quantity));
            claims(shown, |own| unmet_by(own, artifact, workload))
        }
    };
    let floor = log.lower_bound.as_ref();
    if let Some(record) = record {
        let candidates = candidates(record, unit, floor, in_full);
        report.sections.push(candidates);
        for own in &record.promises {
            let claim = own.claimed(&artifact.claims);
            let most = claim.map(|own| own.value + own.half_width.unwrap_or(0.0));
            if most.is_some_and(|most| most > own.allowed()) {
                let budget = record.budget as f64;
                report.warnings.push(format!("It is not certain that the guarantee {} is met. To find out, use a value for `--work` that is larger than {budget:.0e}.", own.describe(unit)));
            }
        }
    }
    report.sections.push(guarantees(artifact));
    report.sections.push(bottlenecks(fleet, artifact));
    let load = best.unwrap_or(artifact.evidence.load);
    report.sections.push(upgrades(fleet, &log.upgrades, load));
    if in_full {
        report.sections.push(growth(fleet, artifact));
        let note = floor.map(|own| lower_bound_note(own, unit));
        report.summary.extend(note);
        if let Some(own) = found.analysis() {
            report.summary.push(movement(workload, own));
            report.sections.push(schedules(artifact, workload));
            report.sections.push(routes(workload, log));
        }
        let skipped = chosen.map_or(&[][..], |own| &own.skipped);
        let skipped = skipped.iter().map(|why| format!("Not considered: {why}."));
        report.warnings.extend(skipped);
    } else {
        let more = "Use `--verbose` to see how the policy was found, and `synth show FILE` to see all of its claims.";
        report.summary.push(more.into());
    }
    report
}

const SHOWN_CLAIMS: [Quantity; 9] = [
    Quantity::MeanSchedule,
    Quantity::Load,
    Quantity::MeanResponse,
    Quantity::MeanNumber,
    Quantity::ResponseP50,
    Quantity::ResponseP95,
    Quantity::ResponseP99,
    Quantity::MeanNumberAtLeast,
    Quantity::MeanNumberAtMost,
];

fn unclaimed(chosen: &Chosen) -> Vec<String> {
    let impossible = "A simulated value is not claimed because it is impossible";
    let impossible = chosen.retracted.iter().map(|why| (impossible, why));
    let unknown = "The simulated mean is not claimed";
    let notes = impossible.chain(chosen.unclaimed.iter().map(|why| (unknown, why)));
    notes
        .map(|(what, why)| {
            format!("{what}: {why}. Use a larger value for `--work` to get more claims.")
        })
        .collect()
}

fn conditions(workload: &Workload, synthesized: &Synthesis) -> String {
    let (artifact, unit) = (&synthesized.artifact, workload.time_unit());
    let reasons = synthesized.out_of_reach.iter().take(MAX_REASONS).join("; ");
    let Some(mean) = artifact.find(Quantity::MeanResponse, Subject::of_type(None)) else {
        return format!("There is no claim about the mean: {reasons}.");
    };
    let policy = &synthesized.policy;
    let preempts = policy.preemption != Preemption::None;
    let is_phantom = preempts || policy.empty_slots == EmptySlots::Phantom;
    let is_whole = policy.backfill == Backfill::None && is_phantom;
    let without = match (is_whole, policy.backfill) {
        (true, _) => String::new(),
        (false, Backfill::None) => format!("{AS_ANALYZED} releases empty slots{MEASURED}"),
        (false, _) => format!("{AS_ANALYZED} backfills and releases empty slots{MEASURED}"),
    };
    let unmet = unmet(&mean.holds_for, None, workload, preempts);
    let how = match unmet.describe() {
        _ if mean.method == Method::ApproximationQueueLength => {
            "as an approximation (the bounds are exact)".into()
        }
        None => "exactly".into(),
        // The size distribution is only relevant if the chain waits for jobs to complete.
        Some(assumed) if (unmet.sizes || unmet.independence) && !preempts => {
            format!(
                "as if {assumed}; there is no proof that it is stable with these sizes, so you should simulate it"
            )
        }
        Some(assumed) => {
            format!(
                "as if {assumed} (the loads and the stability are exact, simulate it to get the means)"
            )
        }
    };
    let more = match reasons.is_empty() {
        true => String::new(),
        false => format!(" {reasons}; use a larger value for `--work` to get more results."),
    };
    format!(
        "The mean response time of all jobs is E[T] = {} {unit}, {how}{without}.{more}",
        number(mean.value)
    )
}

const MAX_REASONS: usize = 3;

const AS_ANALYZED: &str = " for the policy as it is analyzed. The policy in the file also";
const MEASURED: &str = ", which usually makes it faster; use `synth simulate` to measure it";

fn movement(workload: &Workload, synthesis: &Synthesis) -> String {
    let (policy, unit) = (&synthesis.policy, workload.time_unit());
    if policy.order.len() == 1 {
        return "There is a single schedule for all types, so the policy does not need to switch."
            .into();
    }
    let (quantity, of_all) = (Quantity::LargestStableSwitchingRate, Subject::of_type(None));
    let largest = synthesis.artifact.find(quantity, of_all);
    let stable = largest.map_or("at any rate".into(), |own| {
        format!("below {}", number(own.value))
    });
    let (route, drains) = (policy.route, synthesis.drains);
    let how = match policy.preemption {
        Preemption::Full => "and jobs are preempted at each switch".into(),
        _ if policy.rates.is_some() => format!("and the route is {route}"),
        Preemption::None => {
            format!("and the route is {route}, with {drains} completions to wait for in each cycle")
        }
        Preemption::Setup => {
            format!("and the route is {route}, with {drains} setups in each cycle")
        }
    };
    format!(
        "The switching rate is α = {} /{unit} (the policy is stable {stable}), {how}.",
        number(policy.switching_rate)
    )
}

fn routes(workload: &Workload, log: &SynthesisLog) -> Section {
    let unit = workload.time_unit();
    table!("Compared routes", &log.routes, own => {
        "route" => own.route.to_string(),
        format!("switching rate [1/{unit}]") => own.switching_rate,
        format!("objective [{unit}]") => own.value,
        "" => own.value.is_none().then_some("unstable at this rate"),
    })
}

fn seven_digits(value: f64) -> String {
    if !(1e-5..1e9).contains(&value) {
        return format!("{value:.6e}");
    }
    let decimals = (6 - value.abs().log10().floor() as i64).clamp(0, 12) as usize;
    format!("{value:.decimals$}")
}

pub(crate) fn thresholds(workload: &Workload, outlook: &MsfqAnalysis, own: Option<u32>) -> Section {
    let unit = workload.time_unit();
    let table = outlook.table(own.map(|l| l as usize));
    let [light, heavy] =
        [outlook.system.light, outlook.system.heavy].map(|i| workload.types()[i].name());
    let title = format!("Mean response times of strict MSFQ(ℓ) [{unit}]");
    let mut section = table!(title, &table.rows, row => {
        "ℓ [#]" => row.threshold,
        "objective, exact" => row.response.map(|own| seven_digits(outlook.value(own))),
        light => row.response.map(|own| seven_digits(own[0])),
        heavy => row.response.map(|own| seven_digits(own[1])),
        "" => row.is_best.then_some("ℓ*"),
        "objective, the paper's approximation [1]" => row.approximation,
    });
    let msf = "If ℓ = 0, this is the policy Most Servers First.";
    section.notes.push(msf.into());
    let unknown = table.unknown.iter();
    let unknown = unknown.map(|why| format!("–: this value is not known, because {why}."));
    section.notes.extend(unknown);
    if !table.is_complete {
        let note = "ℓ* is the best of the thresholds that were tested and whose means are certain.";
        section.notes.push(note.into());
    }
    section
}
