//! What a person reads on the terminal. Only rendered here; every value comes from the makers. Tables are `width` characters wide at most.

mod answer;
mod choice;
mod cost;
mod fit;
mod fleet;
mod optimum;
mod refusal;
mod room;
mod show;
mod simulation;
mod size;
mod synthesis;
mod upgrades;

pub use answer::summary;
pub use cost::thresholds;
pub use fit::{fit, fit_notes};
pub use optimum::{Distance, Least, optimum, proved};
pub use refusal::refusal;
pub use show::{about, show};
pub use simulation::{as_analysed, besides, rules, simulation, start_latency, start_latency_of};
pub use size::{Looked, SizeVerdict, Sizing};
pub use synthesis::Synthesized;

pub use crate::report::WIDTH;

use itertools::Itertools as _;

use crate::multiresource::artifact::{Artifact, Claim, Evidence, Quantity, Subject, Unmet, unmet};
use crate::multiresource::program::PROOF_GAP;
use crate::multiresource::workload::Workload;
use crate::report::{
    RunWords, Table, bar, below, change, estimate, number, percent, run_report, span, within, wrap,
};
use crate::simulation::Estimate;

/// Returns a time with its interval, in a unit that fits; a dash if it is not known.
fn time(own: Option<Estimate>, unit: &str) -> String {
    own.map_or("–".into(), |own| span((own.mean, own.half_width), unit))
}

/// Returns the value of a claim, with its interval if it was simulated.
fn value(claim: &Claim) -> String {
    within(claim.value, claim.half_width.unwrap_or(0.0))
}

/// Returns the claim of a quantity, of one type or of the whole policy.
fn claim<'a>(artifact: &'a Artifact, quantity: Quantity, kind: Option<&str>) -> Option<&'a Claim> {
    artifact.find(quantity, Subject::of_type(kind))
}

/// Returns what a claim assumes and the workload does not meet.
fn unmet_by(claim: &Claim, artifact: &Artifact, workload: &Workload) -> Unmet {
    let (of, preempts) = (claim.job_type.as_deref(), artifact.policy.preempts());
    unmet(&claim.holds_for, of, workload, preempts)
}

/// Says what part of each resource the jobs need.
fn shares(workload: &Workload, demand: &[f64]) -> String {
    let resources = workload.resources().iter().zip(demand);
    let mut parts = resources.map(|(own, share)| format!("{} {}", own.name(), percent(*share)));
    parts.join(", ")
}

/// Returns a load with the digits that a decision near 1 needs; a small one to nine significant digits.
fn load(load: f64) -> String {
    let decimals = match load {
        _ if (load - 1.0).abs() < 1e-3 => 12,
        _ if !(1e-9..1e15).contains(&load) => return format!("{load:.3e}"),
        _ => (9 - load.log10().ceil().min(0.0) as i32) as usize,
    };
    let text = format!("{load:.decimals$}");
    text.trim_end_matches('0').trim_end_matches('.').into()
}

/// Returns whether the load is proven, by double precision.
fn proof(evidence: &Evidence) -> String {
    if evidence.proven {
        return format!("proven best, relative gap below {PROOF_GAP:.0e}");
    }
    let gap = evidence.gap;
    format!("NOT PROVEN best: gap {gap:.2e}; a longer --time searches on")
}

#[cfg(test)]
mod tests {
    use super::load;

    #[test]
    fn a_load_has_the_digits_that_tell_it() {
        for (value, shown) in [
            (0.9, "0.9"),
            (2.0 / 3.0, "0.666666667"),
            (1.0 - 1e-11, "0.99999999999"),
            (1.0, "1"),
            (0.0008, "0.0008"),
            (1.234_567_890_123e-5, "0.0000123456789"),
            (2e-11, "2.000e-11"),
            (1e-300, "1.000e-300"),
            (12_345.5, "12345.5"),
            (4e20, "4.000e20"),
        ] {
            assert_eq!(load(value), shown);
        }
    }
}
