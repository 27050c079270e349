//! The reports for multiresource jobs.

mod fit;
mod optimum;
mod refusal;
mod selection;
mod show;
mod simulation;
mod size;
mod stability;
mod synthesis;

pub(crate) use fit::fit;
pub(crate) use optimum::{LowerBounds, SimulatedPolicy, optimum, proved};
pub(crate) use refusal::refusal;
pub(crate) use selection::missed;
pub use show::about;
pub(crate) use show::show;
pub use simulation::simulation;
pub(crate) use simulation::{as_analysed, besides, rules, start_latency, start_latency_of};
pub(crate) use size::{ExaminedSize, SizeVerdict, Sizing};
pub use synthesis::Synthesized;
pub(crate) use synthesis::{synthesis, thresholds};

use itertools::Itertools as _;

use crate::multiresource::artifact::{Artifact, Claim, Quantity, ViolatedAssumptions, mix, unmet};
use crate::multiresource::workload::Workload;
use crate::report::Section;
use synth_verb::table;

fn unmet_by(claim: &Claim, artifact: &Artifact, workload: &Workload) -> ViolatedAssumptions {
    let (of, preempts) = (claim.job_type.as_deref(), artifact.policy.preempts());
    unmet(&claim.holds_for, of, workload, preempts)
}

fn guarantees(artifact: &Artifact) -> Section {
    let unit = &artifact.workload.time_unit;
    let claims = artifact.claims.iter().filter_map(|own| {
        let what = match own.quantity {
            Quantity::WaitingAbove => "wait",
            Quantity::ResponseAbove => "response time",
            _ => return None,
        };
        Some((own, what, own.longer_than?))
    });
    table!("Guarantees", claims, (claim, what, time) => {
        "type" => &claim.job_type,
        "guarantee" => format!("{what} below"),
        format!("[{unit}]") => time,
        "kept by [%]" => (1.0 - claim.value, claim.half_width.unwrap_or(0.0)),
    })
}

/// Shows the schedules of the mix that proves the load, in loop order if the policy uses them.
fn schedules(artifact: &Artifact, workload: &Workload) -> Section {
    let rule = &artifact.policy;
    let title = match rule.msr() {
        Some(_) => "Schedules of the policy",
        None => "The mix of schedules that proves the load (the policy does not follow it)",
    };
    let (schedules, weights) = mix(artifact).unwrap_or((&[], &[]));
    let in_order = || (0..schedules.len()).collect();
    let order: Vec<usize> = rule.msr().map_or_else(in_order, |msr| msr.order.clone());
    let names = workload.types().iter().map(|kind| kind.name());
    table!(title, order.iter().enumerate(), (n, s) => {
        "schedule" => (n + 1).to_string(),
        "share of the time [%]" => weights[*s],
        "running jobs" => {
            let running = names.clone().zip(&schedules[*s]).filter(|own| *own.1 > 0);
            running.map(|(name, count)| format!("{count} {name}")).join(", ")
        },
    })
}
