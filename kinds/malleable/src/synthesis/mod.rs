//! Computes a plan, or a rule for jobs that arrive over time.

mod knob;
mod plan;
mod search;
#[cfg(test)]
mod tests;
mod tuning;

pub use knob::{Tunable, tuned};
pub use plan::Planned;
pub(crate) use plan::{Open, best_plan};
pub use tuning::Tuned;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::analysis::relaxation;
use super::artifact::{Artifact, Claim, Evidence, Method, Policy, Quantity, cost};
use super::policy::Online;
use super::workload::{Pool, Stream};
use synth_core::artifact::{HoldsFor, Subject};
use synth_simulation::{Estimate, Progress};

/// The options that can be set by the user.
#[derive(Clone, Debug)]
pub struct Options {
    /// The maximum number of events in all simulations.
    pub events: u64,
    /// The seed of the simulations.
    pub seed: u64,
    /// The parameters of the rule, or `None` to tune them.
    pub parameters: Option<Online>,
    /// If this flag is set, the synthesis is stopped and does not return a policy.
    pub interrupt: Arc<AtomicBool>,
}

fn claim(quantity: Quantity, value: f64, time_unit: &str, method: Method) -> Claim {
    let (value, always) = ((value, time_unit), HoldsFor::default());
    Claim::new(quantity, Subject::ALL, value, method, always)
}

/// Returns the best known plan for a pool, with a bound on the difference from the optimum.
pub fn plan(pool: &Pool) -> (Artifact, Planned) {
    let (planned, time) = (best_plan(pool), &pool.record.time_unit);
    let costs = pool.objective().quantities().into_iter().map(|quantity| {
        let value = cost(pool, quantity, &planned.evidence.ends);
        claim(quantity, value, time, Method::ExactFlow)
    });
    let gap = claim(Quantity::Gap, planned.gap(pool), time, planned.method);
    let claims = costs.chain([gap]).collect();
    let (policy, evidence) = (Policy::Plan(planned.plan.clone()), planned.evidence.clone());
    let artifact = Artifact::new(pool.record.clone(), policy, claims, evidence);
    (artifact, planned)
}

/// Returns the optimal cost with one more server, or `None` if there is no formula for it.
pub(crate) fn with_one_more_server(pool: &Pool, planned: &Planned) -> Option<f64> {
    let larger = pool.with_one_more_server();
    let larger = larger.filter(|_| planned.open.is_none())?;
    let ends = best_plan(&larger).evidence.ends;
    Some(cost(&larger, larger.objective().quantity(), &ends))
}

/// The result of the synthesis for jobs that arrive over time.
#[derive(Clone, Debug)]
pub struct OnlineSynthesis {
    /// The policy.
    pub artifact: Artifact,
    /// The result of the tuning.
    pub tuned: Tuned,
    /// A lower bound on the mean response time of any policy \[time\].
    pub least: f64,
}

/// The outcome of the synthesis for jobs that arrive over time.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// The synthesis was successful.
    Made(Box<OnlineSynthesis>),
    /// The amount of work that arrives is too large. This is its ratio to the maximum.
    Overload(f64),
    /// The synthesis was interrupted.
    Interrupted,
}

/// Computes a heSRPT rule for jobs that arrive over time.
///
/// # Errors
/// Returns an error if an invariant does not hold, which is a bug in this program.
pub fn online(
    stream: &Stream,
    options: &Options,
    listener: impl FnMut(&str, Progress),
) -> Result<Outcome, String> {
    let work = stream.arrival_rate() * stream.size().mean();
    if work >= stream.most_work() {
        return Ok(Outcome::Overload(work / stream.most_work()));
    }
    let tuned = tuning::tune(stream, options, listener)?;
    if options.interrupt.load(Ordering::Relaxed) {
        return Ok(Outcome::Interrupted);
    }
    let (least, time) = (relaxation(stream), &stream.record.time_unit);
    let simulated = |quantity, measured: Option<Estimate>| {
        measured.map(|measured| Claim {
            half_width: Some(measured.half_width),
            ..claim(quantity, measured.mean, time, Method::Simulated)
        })
    };
    // The bound is reduced a little because of rounding errors.
    let bound = least * (1.0 - 1e-12);
    let bound = claim(Quantity::LeastResponse, bound, time, Method::BoundRent);
    let claims = [
        simulated(Quantity::MeanResponse, tuned.run.mean_response),
        simulated(Quantity::MeanNumber, tuned.run.mean_number),
        Some(bound),
    ];
    let claims = claims.into_iter().flatten().collect();
    let (policy, evidence) = (Policy::Online(tuned.online), Evidence::default());
    let artifact = Artifact::new(stream.record.clone(), policy, claims, evidence);
    Ok(Outcome::Made(Box::new(OnlineSynthesis {
        artifact,
        tuned,
        least,
    })))
}
