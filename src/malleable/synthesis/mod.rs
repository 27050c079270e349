//! From a workload to its policy.

mod choice;
mod knob;
mod plan;
mod search;
#[cfg(test)]
mod tests;

pub use choice::{Tried, Tuned, tune};
pub use knob::{Tunable, tuned};
pub use plan::{BESIDE, Open, Planned, Proof, best_plan};

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::analysis::{Relaxed, relaxation};
use super::artifact::{Artifact, Claim, Evidence, HoldsFor, Method, Policy, Quantity, cost};
use super::policy::Online;
use super::workload::{Pool, Stream};
use crate::artifact::Subject;
use crate::simulation::{Estimate, Progress};

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Options {
    /// Events that may be simulated.
    pub events: u64,
    /// Seed of the simulations.
    pub seed: u64,
    /// Knobs that are given, and not tuned.
    pub knobs: Option<Online>,
    /// Once it is set, an end is wanted.
    pub interrupt: Arc<AtomicBool>,
}

/// The best plan for a pool that is known, and how far it is from the optimum at most.
#[must_use]
pub fn plan(pool: &Pool) -> (Artifact, Planned) {
    let planned = best_plan(pool);
    let objective = pool.objective().quantity();
    let claim = |quantity, value, method| {
        let value = (value, pool.time_unit());
        Claim::new(quantity, Subject::ALL, value, method, HoldsFor::default())
    };
    let mut told = vec![objective];
    for other in [Quantity::MeanResponse, Quantity::Makespan] {
        if !told.contains(&other) {
            told.push(other);
        }
    }
    let exact = |quantity| {
        let value = cost(pool, quantity, &planned.ends);
        claim(quantity, value, Method::ExactFlow)
    };
    let mut claims: Vec<Claim> = told.into_iter().map(exact).collect();
    let (method, prices, rents) = match &planned.proof {
        Proof::Prices(prices) => (Method::BoundPrices, prices.clone(), Vec::new()),
        Proof::Rents(rents) => (Method::BoundRents, Vec::new(), rents.clone()),
        Proof::Orders => (Method::BoundOrders, Vec::new(), Vec::new()),
        Proof::Servers => (Method::BoundServers, Vec::new(), Vec::new()),
    };
    claims.push(claim(Quantity::Gap, planned.gap(pool), method));
    let evidence = Evidence {
        ends: planned.ends.clone(),
        prices,
        rents,
    };
    let artifact = Artifact::new(
        pool.record().clone(),
        Policy::Plan(planned.plan.clone()),
        claims,
        evidence,
    );
    (artifact, planned)
}

/// What the best plan costs with one more server; none where no formula has the best plan.
#[must_use]
pub fn with_one_more_server(pool: &Pool, planned: &Planned) -> Option<f64> {
    let larger = pool
        .with_one_more_server()
        .filter(|_| planned.open.is_none())?;
    let ends = best_plan(&larger).ends;
    Some(cost(&larger, larger.objective().quantity(), &ends))
}

impl Planned {
    /// How far the plan's cost is above the least that any policy can have, at most, of that.
    #[must_use]
    pub fn gap(&self, pool: &Pool) -> f64 {
        let cost = cost(pool, pool.objective().quantity(), &self.ends);
        (cost / self.least - 1.0).max(0.0)
    }

    /// Whether no policy costs less, up to rounding.
    #[must_use]
    pub fn is_best(&self, pool: &Pool) -> bool {
        self.gap(pool) < 1e-9
    }
}

/// What was made for jobs that arrive.
#[derive(Clone, Debug)]
pub struct MadeOnline {
    /// The policy.
    pub artifact: Artifact,
    /// What was simulated.
    pub tuned: Tuned,
    /// What no policy has less than.
    pub relaxed: Relaxed,
}

/// What comes of jobs that arrive.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// A policy.
    Made(Box<MadeOnline>),
    /// More work comes than can ever be done; how much of what can be.
    Overload(f64),
    /// An end was wanted before there was a policy.
    Interrupted,
}

/// heSRPT for jobs that arrive, with its knobs tuned.
///
/// # Errors
/// What did not hold in a simulation that must, in words: a fault of this program.
pub fn online(
    stream: &Stream,
    options: &Options,
    listener: impl FnMut(&str, Progress),
) -> Result<Outcome, String> {
    let work = stream.arrival_rate() * stream.size().mean();
    if work >= stream.most_work() {
        return Ok(Outcome::Overload(work / stream.most_work()));
    }
    let tuned = tune(stream, options, listener)?;
    if options.interrupt.load(Ordering::Relaxed) {
        return Ok(Outcome::Interrupted);
    }
    let relaxed = relaxation(stream);
    let time = stream.time_unit();
    let claim = |quantity, value, method| {
        let holds_for = HoldsFor::default();
        Claim::new(quantity, Subject::ALL, (value, time), method, holds_for)
    };
    let simulated = |quantity, measured: Option<Estimate>| {
        let measured = measured?;
        Some(Claim {
            half_width: Some(measured.half_width),
            ..claim(quantity, measured.mean, Method::Simulated)
        })
    };
    let run = &tuned.run;
    let claims = [
        simulated(Quantity::MeanResponse, run.mean_response),
        simulated(Quantity::MeanNumber, run.mean_number),
        Some(claim(
            Quantity::LeastResponse,
            relaxed.least * (1.0 - 1e-12),
            Method::BoundRent,
        )),
    ];
    let artifact = Artifact::new(
        stream.record().clone(),
        Policy::Online(tuned.online),
        claims.into_iter().flatten().collect(),
        Evidence::default(),
    );
    Ok(Outcome::Made(Box::new(MadeOnline {
        artifact,
        tuned,
        relaxed,
    })))
}
