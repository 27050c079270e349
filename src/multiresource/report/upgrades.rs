//! Why not more load, and what to buy.

use std::fmt::Write as _;

use itertools::Itertools as _;

use super::room::{Stability, binding, in_pieces, of_this};
use super::{Table, change, number, unmet_by, wrap};
use crate::multiresource::artifact::{Artifact, Quantity};
use crate::multiresource::program::PROOF_GAP;
use crate::multiresource::synthesis::{Upgrade, Upgrades};
use crate::multiresource::workload::Fleet;

/// Relative changes below this are none.
const SAME: f64 = 5e-5;

/// Says what bounds the load.
pub(super) fn bounds(fleet: &Fleet, artifact: &Artifact, width: usize) -> String {
    format!("\n{}", wrap(&why(fleet, artifact), width))
}

/// Says what would help where no policy keeps up; `load` is what it is now.
pub(super) fn of_overloaded(fleet: &Fleet, upgrades: &Upgrades, load: f64, width: usize) -> String {
    let mut text = self::upgrades(fleet, upgrades, load, width);
    let best = upgrades.found.first();
    if let Some(best) = best.filter(|step| step.load < 1.0) {
        let _ = writeln!(text, "Enough would be: {}.", name(fleet, best));
    }
    text
}

/// Says why the load cannot be larger.
fn why(fleet: &Fleet, artifact: &Artifact) -> String {
    // Factors on all arrival rates: below the first some policy keeps up (with gangs it is a bound), from the second on none does.
    let evidence = &artifact.evidence;
    let [of_any, of_none] = [evidence.load, evidence.bound].map(|load| 1.0 / load);
    let [any, none] = [of_any, of_none].map(number);
    let limits = if fleet.gangs().next().is_some() {
        format!(
            "no policy is stable from {none} times these arrivals on, all scaled alike; with jobs on several servers the limit may be less"
        )
    } else {
        let beyond = if of_any >= of_none * (1.0 - PROOF_GAP) {
            "none with more, which is proved".into()
        } else {
            format!("none from {none} times on")
        };
        format!(
            "some policy is stable up to {any} times these arrivals, all scaled alike, and {beyond}"
        )
    };
    let mut text = format!(
        "How far the load can grow: {limits}. What limits it, by share of the shadow prices: {}. ",
        binding(fleet, artifact).join(", ")
    );
    let in_pieces = 1.0 / in_pieces(fleet);
    if in_pieces > of_none * (1.0 + SAME) {
        let _ = write!(
            text,
            "Each resource would suffice for {} times: the rest is lost since jobs do not fill the servers. ",
            number(in_pieces)
        );
    }
    let Some(factor) = of_this(artifact, fleet) else {
        return text
            + "Up to which load this policy is stable is not proved: `synth compare --loads` shows it.\n";
    };
    let claims = artifact.claims.iter();
    let loads =
        claims.filter(|claim| matches!(claim.quantity, Quantity::Load | Quantity::LoadUnderGuard));
    let workload = fleet.envelope();
    let mut assumed = loads.filter_map(|claim| unmet_by(claim, artifact, workload).words());
    let how = match (assumed.next(), Stability::of(workload, &artifact.policy)) {
        (Some(taken), _) => format!("computed as if {taken}"),
        (None, Stability::Unproved) => "by its loads".into(),
        (None, _) => "which is proved".into(),
    };
    let factor = number(factor);
    text + &format!("This policy is stable up to {factor} times these arrivals, {how}.\n")
}

/// Says how much more load the most helpful step carries; if that is more of a resource on servers of a fleet, also the
/// most helpful server, which is easier to buy. `load` is the load of the best policy now. Empty if nothing helps.
pub(super) fn most_worth(fleet: &Fleet, upgrades: &Upgrades, load: f64) -> String {
    let helping = upgrades.found.iter();
    let helping = helping.filter(|step| load / step.load > 1.0 + SAME);
    let server = helping.clone().find(|step| step.resource.is_none());
    let steps = helping.take(1).chain(server).dedup();
    let said = steps.map(|step| {
        let more = number(100.0 * (load / step.load - 1.0));
        format!(" {} would carry {more} % more.", name(fleet, step))
    });
    said.collect()
}

/// Returns the steps that bring something as a table, what helps most first; the others in one line.
pub(super) fn upgrades(fleet: &Fleet, upgrades: &Upgrades, load: f64, width: usize) -> String {
    let helps = |step: &&Upgrade| load / step.load > 1.0 + SAME;
    let (helping, idle): (Vec<&Upgrade>, Vec<&Upgrade>) = upgrades.found.iter().partition(helps);
    let mut text = String::new();
    if !helping.is_empty() {
        let mut table = Table::new(["what to buy first", "load ρ", "carries"]);
        for step in &helping {
            let sign = if step.proven { "" } else { "≤ " };
            table.row([
                name(fleet, step),
                format!("{sign}{}", number(step.load)),
                format!("{} load", change(load / step.load)),
            ]);
        }
        let _ = writeln!(text, "\n{}", table.within(width));
    }
    let mut notes = String::new();
    if !idle.is_empty() {
        let names = idle.iter().map(|step| name(fleet, step)).join("; ");
        let _ = writeln!(notes, "without effect on the load: {names}");
    }
    let mut amounts = upgrades.found.iter().filter(|step| step.resource.is_some());
    if amounts.any(|step| step.more != 1.0) {
        notes += "An amount other than 1 is the least with which other jobs fit together.\n";
    }
    if helping.iter().any(|step| !step.proven) {
        notes += "≤: perhaps it is less, which the time did not suffice to tell.\n";
    }
    if upgrades.skipped > 0 {
        let skipped = upgrades.skipped;
        let _ = writeln!(
            notes,
            "{skipped} more steps were not looked at: there was no time left for them"
        );
    }
    text + &wrap(&notes, width)
}

/// Names what is bought.
fn name(fleet: &Fleet, step: &Upgrade) -> String {
    let Some(resource) = &step.resource else {
        return format!("1 more server {}", step.shape);
    };
    let more = step.more;
    let shape = fleet.shapes().iter().find(|s| s.name() == step.shape);
    match shape.map_or(1, |shape| shape.count()) {
        _ if fleet.is_one_server() => format!("{more} more {resource}"),
        1 => format!("{more} more {resource} on {}", step.shape),
        count => format!("{more} more {resource} on each of {count} {}", step.shape),
    }
}
