//! The summary of a policy.

use std::fmt::Write as _;

use itertools::{Itertools as _, chain};

use super::choice::{left_out, simulated, taken, unbeaten};
use super::cost::{conditions, cost_table};
use super::refusal::{bottleneck, fraction};
use super::room::Stability;
use super::upgrades::{bounds, upgrades};
use super::{Table, bar, claim, fleet, load, number, percent, proof, wrap};
use crate::multiresource::artifact::{
    Artifact, Evidence, Method, MsrConfig, Preemption, Proven, Quantity, unmet,
};
use crate::multiresource::program::ExactLoad;
use crate::multiresource::schedule::{Fluid, Packing, enumerate};
use crate::multiresource::synthesis::{
    Basis, Chosen, Floor, Synthesis, SynthesisLog, queue_assumptions,
};
use crate::multiresource::workload::{Fleet, Workload};
use crate::report::class_table;

/// A policy, and how it was found.
#[derive(Debug)]
pub enum Synthesized {
    /// By analysis.
    Analysed(Box<Synthesis>),
    /// By simulation, or for a fleet.
    Chosen(Box<Chosen>),
}

impl Synthesized {
    /// Returns the policy.
    pub fn artifact(&self) -> &Artifact {
        match self {
            Synthesized::Analysed(synthesis) => &synthesis.artifact,
            Synthesized::Chosen(chosen) => &chosen.artifact,
        }
    }

    /// Returns the load with the best schedules, if the policy has others.
    pub fn best_load(&self) -> Option<f64> {
        match self {
            Synthesized::Analysed(synthesis) => synthesis.best,
            Synthesized::Chosen(_) => None,
        }
    }
}

/// Renders the summary of a policy, with what was learned on the way.
pub fn synthesis(fleet: &Fleet, found: &Synthesized, log: &SynthesisLog, width: usize) -> String {
    let (workload, artifact) = (fleet.envelope(), found.artifact());
    let summary = match found {
        Synthesized::Analysed(synthesis) => {
            let exact = synthesis.solution.exact.as_ref();
            let mut heading = heading(workload, &artifact.evidence, exact);
            if let (Some(best), Some((_, rest))) = (synthesis.best, heading.split_once('\n')) {
                let [own, best] = [artifact.evidence.load, best].map(load);
                heading =
                    format!("load ρ = {own} with these schedules, {best} with the best\n{rest}");
            }
            heading + &of_loop(workload, synthesis, width)
        }
        Synthesized::Chosen(own) => {
            let mut text = chosen(fleet, own, log.lower_bound, width);
            // Without a table there is no column.
            if let (None, Some(floor)) = (&own.choice, &log.lower_bound) {
                text += &wrap(&(unbeaten(floor, workload.time_unit()) + "\n"), width);
            }
            text
        }
    };
    let load = found.best_load().unwrap_or(artifact.evidence.load);
    let upgrades = upgrades(fleet, &log.upgrades, load, width);
    summary + &bounds(fleet, artifact, width) + &upgrades
}

/// Says what was taken and why, how it compares, and what is claimed.
fn chosen(fleet: &Fleet, own: &Chosen, floor: Option<Floor>, width: usize) -> String {
    let (workload, artifact, record) = (fleet.envelope(), &own.artifact, own.choice.as_ref());
    let known = Stability::of(workload, &artifact.policy);
    let is_fleet = !fleet.is_one_server();
    let is_chosen = match is_fleet {
        true => !matches!(own.basis, Basis::Given),
        false => record.is_some(),
    };
    let mut text = String::new();
    if is_chosen {
        text += &taken(own, known, width);
    }
    if is_fleet {
        text += &fleet::heading(fleet, artifact);
        let _ = writeln!(text, "\n{}", fleet::shapes(fleet, artifact, width));
    } else {
        text += &heading(workload, &artifact.evidence, None);
        if record.is_none() {
            let words = wrap(&artifact.policy.words(workload), width);
            let stability = stability(known, false, None);
            return format!("{text}\n{words}\nstability: {stability}\n");
        }
        text += "\n";
    }
    if let Some(record) = record {
        text += &simulated(workload, record, artifact, floor, width);
    }
    text += &left_out(own, width);
    let _ = writeln!(text, "stability: {}", stability(known, is_fleet, seen(own)));
    text + &match (&own.synthesis, &own.run) {
        _ if is_fleet => fleet::slots_and_costs(fleet, artifact, width),
        (Some(analysed), _) => of_loop(workload, analysed, width),
        (None, Some(run)) => format!("\n{}\n", class_table(workload.time_unit(), run, width)),
        (None, None) => "\n".into(),
    }
}

/// Returns whether a policy was seen to settle, if it was chosen by simulation.
pub(super) fn seen(own: &Chosen) -> Option<bool> {
    own.choice
        .is_some()
        .then(|| own.run.is_some() && own.unclaimed.is_none())
}

/// Says what is known of the stability of a policy, which was [seen](seen) to settle or not, if it was simulated.
pub(super) fn stability(known: Stability, is_fleet: bool, seen: Option<bool>) -> String {
    match known {
        Stability::Unproved if is_fleet && seen.is_none() => "proved for exponential sizes and Poisson arrivals only, since each type has more slots than work".into(),
        Stability::Unproved if seen == Some(false) => {
            "neither proved nor seen, as its runs did not settle".into()
        }
        Stability::Unproved if seen.is_none() => {
            "not proved for these sizes or arrivals, and not simulated: `synth simulate` does that".into()
        }
        Stability::Unproved => "seen in simulation at this load, not proved".into(),
        Stability::Turns(time) => format!("proved, since Σ λ_i/(μ_i c_i) = {} < 1", number(time)),
        Stability::Guard(jobs) => format!("proved, by a guard: from {jobs} jobs in the system on an MSR policy takes over, whose loads ρ_i are below 1"),
        Stability::Partition(jobs) => format!("proved, by a guard: from {jobs} jobs in the system on each type has slots of its own, with loads ρ_i below 1"),
        Stability::Loads if is_fleet => "proved, since each type has more slots than work".into(),
        Stability::Loads => "proved, by the loads ρ_i < 1".into(),
        Stability::Weights => "proved for any load below 1, since a job weighs more the more of its type there are (a Lyapunov function)".into(),
        Stability::Fills => "proved for any load below 1, since all servers work whenever there are jobs for them".into(),
    }
}

/// Its loop, how it moves, and what it costs.
fn of_loop(workload: &Workload, synthesis: &Synthesis, width: usize) -> String {
    format!(
        "\n{}\n\n{}\n\n{}\n{}\n",
        loop_table(workload, &synthesis.policy, width),
        movement(workload, synthesis),
        cost_table(workload, synthesis, width),
        conditions(workload, synthesis)
    )
}

/// Returns the load with its proof, exactly where there are fractions (which may be too long for the
/// artifact), and the number of schedules.
fn heading(workload: &Workload, evidence: &Evidence, exact: Option<&ExactLoad>) -> String {
    let written = evidence.exact.as_ref();
    let exactly = exact.is_some_and(ExactLoad::is_proven)
        || written.is_some_and(|e| e.proven == Proven::Optimum);
    let proof = match exactly && evidence.proven {
        true => "proven best, exactly".into(),
        false => proof(evidence),
    };
    format!(
        "load ρ = {}{}  ({proof})\n{}\n{}\n",
        written.map_or(String::new(), |e| fraction(e.load.exact())),
        load(evidence.load),
        bottleneck(workload, &Fluid::new(workload)),
        schedulable_set(workload)
    )
}

/// Returns how many schedules there are to choose from.
fn schedulable_set(workload: &Workload) -> String {
    let budget = COUNTED.min(NUMBERS / workload.types().len());
    let all = enumerate(&Packing::new(workload), budget);
    let (count, maximal) = (all.schedules.len(), all.maximal);
    match all.complete {
        true => format!("schedules that fit the server: {count}, of them maximal: {maximal}"),
        false => format!("schedules that fit the server: more than {budget}"),
    }
}

/// Schedules are counted up to this many.
const COUNTED: usize = 100_000;

/// And while they are kept, no more than so many numbers in all.
const NUMBERS: usize = 4_000_000;

/// Returns the schedules of the loop: a column for each type, or where these are too many, in words.
fn loop_table(workload: &Workload, policy: &MsrConfig, width: usize) -> String {
    let names: Vec<&str> = workload.types().iter().map(|t| t.name()).collect();
    let header = chain!(["loop"], names.iter().copied(), ["fraction", ""]);
    let mut by_type = Table::new(header).words(names.len() + 2);
    let mut in_words = Table::new(["loop", "fraction", "jobs"]).words(2);
    in_words = in_words.wrapping(2);
    for (position, &s) in policy.order.iter().enumerate() {
        let (position, weight) = ((position + 1).to_string(), policy.weights[s]);
        let schedule = &policy.schedules[s];
        let counts = schedule.iter().map(u32::to_string);
        let share = [percent(weight), bar(weight)];
        by_type.row(chain!([position.clone()], counts, share));
        let running = names.iter().zip(schedule).filter(|(_, jobs)| **jobs > 0);
        let running = running.map(|(name, n)| format!("{n} {name}")).join(", ");
        in_words.row([position, percent(weight), running]);
    }
    let fits = by_type.width() <= width;
    if fits { by_type } else { in_words }.within(width)
}

/// Returns how the policy moves between its schedules.
fn movement(workload: &Workload, synthesis: &Synthesis) -> String {
    let policy = &synthesis.policy;
    let unit = workload.time_unit();
    if policy.order.len() == 1 {
        return "one schedule serves all types: nothing to switch".into();
    }
    let claimed = |quantity| claim(&synthesis.artifact, quantity, None).map(|c| c.value);
    let largest = claimed(Quantity::LargestStableSwitchingRate);
    let stable = largest.map(|most| format!("below {}", number(most)));
    let stable = stable.unwrap_or("at any rate".into());
    let rate = number(policy.switching_rate);
    let mut text = format!("switching rate α = {rate} /{unit} (stable {stable})");
    if let Some(working) = claimed(Quantity::WorkingTime) {
        let working = percent(working);
        let _ = write!(text, ", {working} of the time on working schedules");
    }
    let (route, drains) = (policy.route, synthesis.drains);
    text += &match policy.preemption {
        Preemption::Full => "\npreemption at each switch".into(),
        _ if policy.rates.is_some() => format!("\nroute {route}"),
        Preemption::None => format!("\nroute {route}, {drains} completions to wait for a round"),
        Preemption::Setup => format!("\nroute {route}, {drains} setups a round"),
    };
    let others = synthesis.routes.iter();
    for option in others.filter(|option| option.route != policy.route) {
        let _ = write!(text, "\n  not taken: {}", option.route);
        let _ = match &option.outlook {
            None => write!(text, " (too many phases for the time)"),
            Some(other) if other.value.is_infinite() => write!(text, " (unstable at this rate)"),
            Some(other) => write!(
                text,
                " ({} {} {unit} at α = {}{}; {} phases)",
                synthesis.objective.label(),
                number(other.value),
                number(other.rate),
                assumption(workload, synthesis, other.method),
                other.phases
            ),
        };
    }
    text
}

/// Returns the assumption behind a number that is not exact.
fn assumption(workload: &Workload, synthesis: &Synthesis, method: Method) -> String {
    if method == Method::ApproximationQueueLength {
        return ", approximately".into();
    }
    let preemption = synthesis.policy.preemption;
    let assumed = queue_assumptions(preemption, workload.types());
    let unmet = unmet(&assumed, None, workload, preemption != Preemption::None);
    let words = unmet.words();
    words.map_or(String::new(), |words| format!(", if {words}"))
}
