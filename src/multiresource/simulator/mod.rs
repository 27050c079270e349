//! The validating simulator: one server or a fleet, arrivals and sizes of any law of the workload, any
//! [`Policy`]; intervals that mean what they say, and verdicts on an artifact's claims.
//!
//! The server's invariants (capacity, no preemption where there is none, jobs in = jobs out +
//! jobs inside, time) are asserted at each event, in release builds too. A run that grows
//! without end is called unstable, and has no means.

mod contender;
mod ends;
mod engine;
mod judge;
mod laws;
mod measures;
mod pooled;
mod rules;
mod server;

pub(in crate::multiresource) use ends::Known;
pub(in crate::multiresource) use server::Server;
#[cfg(feature = "cli")]
pub(in crate::multiresource) use {
    contender::With, engine::Servers, pooled::made_over, server::Due,
};

pub use contender::{Contender, Failure, NameError};
pub use judge::{Judgement, as_analysed, judge, watches};
pub use measures::{Measures, Offered, Run, TypeResult, classes};
pub use pooled::{PooledRule, knows_over, simulate_over, simulate_pooled};
pub use rules::{Parameter, Rule};

pub use crate::simulation::{
    Ending, Estimate, Health, Pair, Progress, Ranked, Ranking, Settings, Threshold, Verdict, Watch,
    Watched, paired_difference, paired_ratio,
};

use crate::multiresource::policy::{Policy, System, Violation};
use crate::multiresource::workload::{JobType, Workload};
use crate::simulation::{Streams, replicate};
use ends::{Ends, Memoryless};
use engine::{Engine, counters};

/// Simulates a policy on a workload. `progress` hears now and then how far it is.
///
/// # Errors
/// When the policy makes a decision that no server could carry out.
pub fn simulate<P: Policy + Clone + Send>(
    workload: &Workload,
    policy: P,
    settings: &Settings,
    progress: impl FnMut(Progress),
) -> Result<Run, Violation> {
    let system = |policy: &P| System::new(workload, policy.clocks(), policy.preempts());
    on(workload, system, policy, settings, progress)
}

/// Simulates a policy on what `system` makes, with the jobs of this workload.
fn on<P: Policy + Clone + Send>(
    workload: &Workload,
    system: impl Fn(&P) -> System,
    policy: P,
    settings: &Settings,
    progress: impl FnMut(Progress),
) -> Result<Run, Violation> {
    let memoryless = workload.types().iter().all(JobType::is_memoryless);
    let asked = policy.needs_sizes() || policy.needs_limits();
    let told = laws::arrivals(workload, Streams::new(settings.seed, 0).arrivals).tells_sizes();
    if memoryless && !(told || settings.common_sizes || asked) {
        run(workload, system, policy, || Memoryless, settings, progress)
    } else {
        let ends = || Known::new(workload);
        run(workload, system, policy, ends, settings, progress)
    }
}

fn run<P: Policy + Clone + Send, E: Ends + Send>(
    workload: &Workload,
    system: impl Fn(&P) -> System,
    policy: P,
    ends: impl Fn() -> E,
    settings: &Settings,
    progress: impl FnMut(Progress),
) -> Result<Run, Violation> {
    let classes = classes(workload);
    let engine = |r: u32| {
        let server =
            |service: &mut _, _| Server::of(system(&policy), policy.clone(), ends(), service);
        Engine::new(&classes, workload, server, settings, r)
    };
    let replicated = replicate(&classes, engine, settings, progress)?;
    let counters = counters(&replicated.engines);
    Ok(measures::run(workload, &replicated.results(), counters))
}

#[cfg(test)]
mod tests;
