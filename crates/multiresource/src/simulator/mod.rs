//! A simulator with confidence intervals, which is also used to check the claims of an artifact.
//!
//! The invariants are checked for each event, even in release builds. An unstable run has no means.

mod contender;
mod ends;
mod engine;
mod judge;
mod laws;
mod measures;
mod record;
mod server;
mod stepping;

pub use server::Due;
pub use stepping::Stepping;
pub use {ends::Ends, server::Server};

pub use crate::policy::{NamedRule, Parameter};
pub use contender::{Contender, Failure, OtherRule, with_rules};
pub use judge::{Judgement, as_analysed, judge, watches};
pub use measures::{Measures, Offered, Run, TypeResult, classes};
pub use record::recorded;

pub use synth_simulation::{
    Ending, Estimate, Health, Pair, Progress, Ranked, Ranking, Settings, Threshold, Verdict, Watch,
    Watched, paired_difference, paired_ratio,
};

use crate::policy::{Knows, Policy, System, Violation};
use crate::workload::{Fleet, JobType, Workload};
use engine::{Engine, counters};
use synth_simulation::{FromAbove, JobClass, Streams, go_on, results};

/// Simulates a policy on one server, with calls of `progress` from time to time.
///
/// # Errors
/// If the policy makes an infeasible decision.
pub fn simulate<P: Policy>(
    workload: &Workload,
    policy: P,
    settings: &Settings,
    mut progress: impl FnMut(Progress),
) -> Result<Run, Violation> {
    let fleet = workload.clone().into();
    Simulation::new(&fleet, &policy, settings).run(settings, &mut progress)
}

/// A simulation that can be run in several steps.
pub struct Simulation<'w> {
    fleet: &'w Fleet,
    classes: Vec<JobClass>,
    engines: Vec<Engine>,
    above: FromAbove<Engine>,
}

impl<'w> Simulation<'w> {
    /// Starts a policy on the empty servers of a fleet.
    ///
    /// Uses the seed, the replications and the recording options of the settings. The dominant
    /// share of a job is computed with the [envelope](Fleet::envelope).
    pub fn new(fleet: &'w Fleet, policy: &dyn Policy, settings: &Settings) -> Self {
        let system = || System::for_policy(fleet, policy);
        Self::on(fleet, &system, policy, settings)
    }

    fn on(
        fleet: &'w Fleet,
        system: &dyn Fn() -> System,
        policy: &dyn Policy,
        settings: &Settings,
    ) -> Self {
        let workload = fleet.envelope();
        let classes = measures::classes_of_fleet(fleet);
        let memoryless = workload.types().iter().all(JobType::is_memoryless);
        let needs = policy.knows() != Knows::Means;
        let tells = laws::arrivals(workload, Streams::new(settings.seed, 0).arrivals).tells_sizes();
        let has_ends = !memoryless || tells || settings.common_sizes || needs;
        let engine = |r: u32| {
            let ends = has_ends.then(|| Ends::new(workload));
            let server =
                |service: &mut _| Server::new(system(), policy.clone_rule(), ends, service);
            Engine::new(&classes, workload, server, settings, r)
        };
        let count = settings.replications.max(1);
        let spares = count..count + FromAbove::<Engine>::SPARES as u32;
        Simulation {
            fleet,
            engines: (0..count).map(engine).collect(),
            above: FromAbove::new(spares.map(engine).collect()),
            classes,
        }
    }

    /// Continues until a stopping condition holds, and returns the measurements since the start.
    pub fn run(
        &mut self,
        settings: &Settings,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Run, Violation> {
        let (engines, classes) = (&mut self.engines, &self.classes);
        let ending = go_on(engines, &mut self.above, classes, settings, progress)?;
        let results = results(engines, classes, settings, ending, &self.above);
        let mut run = measures::run(self.fleet.envelope(), &results, counters(engines));
        if !self.fleet.is_one_server() {
            measures::of_all_servers(&mut run, self.fleet);
        }
        Ok(run)
    }
}

#[cfg(test)]
mod tests;
