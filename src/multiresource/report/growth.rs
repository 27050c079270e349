//! Why not more load, and which step to buy.

use std::fmt::Write as _;

use super::cost::plain;
use super::{Table, change, claim, number, percent, wrap};
use crate::multiresource::artifact::{Artifact, Growth, Quantity, Step, unmet};
use crate::multiresource::program::PROOF_GAP;
use crate::multiresource::verbs::{Room, room};
use crate::multiresource::workload::{Fleet, Workload};

/// Relative changes below this are none.
const SAME: f64 = 5e-5;

/// What bounds the load, and what each step that can be bought would bring; `sent` is what arrives at one server of each
/// shape. Nothing where the file does not say.
pub(super) fn growth(
    fleet: &Fleet,
    artifact: &Artifact,
    sent: &[Workload],
    width: usize,
) -> String {
    let Some(growth) = &artifact.provenance.growth else {
        return String::new();
    };
    let Some(room) = room(artifact, fleet, sent) else {
        return String::new();
    };
    let mut text = format!("\n{}", wrap(&why(fleet, artifact, &room), width));
    let mean = claim(artifact, Quantity::MeanResponse, None).map(|c| c.value);
    text += &steps(fleet, growth, (1.0 / room.of_any, mean), width);
    text
}

/// What would help where no policy keeps up; `load` is what it is now.
pub(super) fn of_overloaded(fleet: &Fleet, growth: &Growth, load: f64, width: usize) -> String {
    let mut text = steps(fleet, growth, (load, None), width);
    let best = growth.steps.first();
    if let Some(best) = best.filter(|step| step.proof.load < 1.0) {
        let _ = writeln!(text, "Enough would be: {}.", name(fleet, best));
    }
    text
}

/// Why not more load.
fn why(fleet: &Fleet, artifact: &Artifact, room: &Room) -> String {
    let gangs = fleet.gangs().next().is_some();
    let is_proven = room.of_any >= room.of_none * (1.0 - PROOF_GAP);
    let mut text = String::from("why not more load: ");
    let _ = match (gangs, is_proven) {
        (true, _) => write!(
            text,
            "no policy keeps up with {} times these arrivals, all scaled alike, or with more; with jobs on several servers it may be less",
            number(room.of_none)
        ),
        (false, true) => write!(
            text,
            "up to {} times these arrivals, all scaled alike, some policy keeps up, and with more none, which is proved",
            number(room.of_any)
        ),
        (false, false) => write!(
            text,
            "up to {} times these arrivals, all scaled alike, some policy keeps up, and from {} times on none",
            number(room.of_any),
            number(room.of_none)
        ),
    };
    let binding = room.binding.iter().map(|(shape, resource, share)| {
        let of = if fleet.is_one_server() {
            String::new()
        } else {
            format!(" of {shape}")
        };
        format!("{resource}{of} ({})", percent(*share))
    });
    let _ = write!(
        text,
        ". What binds, by its share of the price of all that there is: {}. ",
        binding.collect::<Vec<_>>().join(", ")
    );
    if room.in_pieces > room.of_none * (1.0 + SAME) {
        let _ = write!(
            text,
            "There is enough of each resource for {} times: the rest is lost since jobs do not pack. ",
            number(room.in_pieces)
        );
    }
    let preempts = artifact.preempts();
    let _ = match room.of_this {
        Some(factor) => {
            let claims = artifact.claims.iter().filter(|claim| {
                matches!(claim.quantity, Quantity::Load | Quantity::LoadUnderGuard)
            });
            let mut assumed = claims.filter_map(|claim| {
                let kind = claim.job_type.as_deref();
                unmet(&claim.holds_for, kind, fleet.envelope(), preempts).words()
            });
            let assumed = match (assumed.next(), room.is_proved) {
                (Some(taken), _) => format!("computed as if {taken}"),
                (None, true) => "which is proved".into(),
                (None, false) => "by its loads".into(),
            };
            writeln!(
                text,
                "This policy is stable up to {} times these arrivals, {assumed}.",
                number(factor)
            )
        }
        None => writeln!(
            text,
            "How far this policy keeps up is not proved: `synth compare --loads` shows it."
        ),
    };
    text
}

/// The steps that bring something as a table, what helps most first; the others in one line. `now` are load and mean
/// response time as they are.
fn steps(fleet: &Fleet, growth: &Growth, now: (f64, Option<f64>), width: usize) -> String {
    let (load, mean) = now;
    let shorter = |step: &Step| Some(step.mean_response? / mean?);
    let carries = |step: &Step| load / step.proof.load;
    let helps = |step: &&Step| {
        carries(step) > 1.0 + SAME || shorter(step).is_some_and(|ratio| ratio < 1.0 - SAME)
    };
    let (helping, idle): (Vec<&Step>, Vec<&Step>) = growth.steps.iter().partition(helps);
    let mut text = String::new();
    if !helping.is_empty() {
        let mean = format!("E[T] [{}]", fleet.time_unit());
        let with_means = helping.iter().any(|step| step.mean_response.is_some());
        let header = ["what to buy first", "load ρ", "carries"].into_iter();
        let mut table = Table::new(header.chain(with_means.then_some(&*mean)));
        for step in &helping {
            let sign = if step.proof.proven { "" } else { "≤ " };
            let response = shorter(step).zip(step.mean_response);
            let response = response.map_or("–".into(), |(ratio, mean)| {
                format!("{} ({})", number(mean), change(ratio))
            });
            let cells = [
                name(fleet, step),
                format!("{sign}{}", number(step.proof.load)),
                format!("{} load", change(carries(step))),
            ];
            table.row(cells.into_iter().chain(with_means.then_some(response)));
        }
        let _ = writeln!(text, "\n{}", table.within(width));
    }
    text + &wrap(&notes(fleet, growth, &helping, &idle), width)
}

fn notes(fleet: &Fleet, growth: &Growth, helping: &[&Step], idle: &[&Step]) -> String {
    let mut text = String::new();
    if !idle.is_empty() {
        let names: Vec<String> = idle.iter().map(|step| name(fleet, step)).collect();
        let _ = writeln!(text, "no more load with: {}", names.join("; "));
    }
    if growth
        .steps
        .iter()
        .any(|s| s.resource.is_some() && s.more != 1.0)
    {
        text += "An amount that is not 1 is the least that changes what can run together.\n";
    }
    if helping.iter().any(|step| !step.proof.proven) {
        text += "≤: perhaps it is less, which the time did not suffice to tell.\n";
    }
    if growth.skipped > 0 {
        let _ = writeln!(
            text,
            "{} more steps were not looked at: there was no time left for them",
            growth.skipped
        );
    }
    text
}

/// What is bought.
fn name(fleet: &Fleet, step: &Step) -> String {
    let Some(resource) = &step.resource else {
        return format!("1 more server {}", step.shape);
    };
    let more = plain(step.more);
    let shape = fleet.shapes().iter().find(|s| s.name() == step.shape);
    match shape.map_or(1, |shape| shape.count()) {
        _ if fleet.is_one_server() => format!("{more} more {resource}"),
        1 => format!("{more} more {resource} on {}", step.shape),
        count => format!("{more} more {resource} on each of {count} {}", step.shape),
    }
}
