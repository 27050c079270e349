//! A simulator for one server or a fleet, which also checks the claims of an artifact.
//!
//! The invariants of the server are checked for each event, even in release builds: the capacity is
//! not exceeded, a job is only preempted if this is allowed, no job is lost, and the time does not
//! decrease. If the number of jobs grows without limit, the run is unstable and has no mean.

mod contender;
mod ends;
mod engine;
mod judge;
mod laws;
mod measures;
mod record;
mod server;
mod stepping;

pub use crate::policy::{NamedRule, Parameter};
pub use contender::{Contender, ExternalRule, Failure, with_rules};
pub use ends::CompletionTimes;
pub use judge::{Judgement, as_analysed, judge, thresholds_to_record};
pub use measures::{Measures, Run, TypeMeasures, TypeResult, classes};
pub use record::recorded;
pub use server::{PendingEvent, Server};
pub use stepping::SteppedRun;

pub use synth_simulation::{
    Ending, Estimate, Health, Pair, Progress, Ranked, Ranking, Settings, Threshold, Verdict, Watch,
    Watched, paired_difference, paired_ratio,
};

use crate::policy::{Information, Policy, System, Violation};
use crate::workload::{Fleet, JobType, Workload};
use engine::{Engine, counters};
use synth_simulation::{FromAbove, JobClass, Streams, go_on, results};

/// Simulates a policy on one server, and calls `progress` from time to time. It is an error if the
/// policy makes a decision that is not possible.
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
    /// Starts a policy on the empty servers of a fleet, with the seed, the number of replications
    /// and the recording options of the settings.
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
        let needs = policy.information() != Information::Means;
        let tells = laws::arrivals(workload, Streams::new(settings.seed, 0).arrivals).draws_sizes();
        let has_ends = !memoryless || tells || settings.common_sizes || needs;
        let engine = |r: u32| {
            let ends = has_ends.then(|| CompletionTimes::new(workload));
            let server =
                |service: &mut _| Server::new(system(), policy.clone_rule(), ends, service);
            let run = SteppedRun::with_server(workload, settings.seed, r, server);
            Engine::new(&classes, workload, run, settings)
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

    /// Continues until there is a reason to stop. The events and results are counted from the
    /// start.
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
