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
pub(in crate::multiresource) use {contender::With, engine::Servers, server::Due};

pub use contender::{Contender, Failure, NameError};
pub use judge::{Judgement, as_analysed, judge, watches};
pub use measures::{Measures, Offered, Run, TypeResult, classes};
pub use pooled::PooledRule;
pub use rules::{Parameter, Rule};

pub use crate::simulation::{
    Ending, Estimate, Health, Pair, Progress, Ranked, Ranking, Settings, Threshold, Verdict, Watch,
    Watched, paired_difference, paired_ratio,
};

use crate::multiresource::policy::{Counters, Policy, System, Violation};
use crate::multiresource::workload::{Fleet, JobType, Workload};
use crate::simulation::{Class, Results, Streams, go_on, results};
use ends::{Ends, Memoryless};
use engine::{Engine, counters};

/// Simulates a policy on a workload. `progress` hears now and then how far it is.
///
/// # Errors
/// When the policy makes a decision that no server could carry out.
pub fn simulate<P: Policy + Clone + Send + 'static>(
    workload: &Workload,
    policy: P,
    settings: &Settings,
    mut progress: impl FnMut(Progress),
) -> Result<Run, Violation> {
    Simulation::on_server(workload, &policy, settings).run(settings, &mut progress)
}

/// A simulation that can go on from where it is.
pub struct Simulation<'w> {
    workload: &'w Workload,
    /// The fleet of which that is the envelope, where the policy decides over all of its servers.
    fleet: Option<&'w Fleet>,
    classes: Vec<Class>,
    engines: Box<dyn Engines>,
}

impl<'w> Simulation<'w> {
    /// A policy on an empty server; of the settings count the seed, the replications and what is recorded.
    pub fn on_server<P: Policy + Clone + Send + 'static>(
        workload: &'w Workload,
        policy: &P,
        settings: &Settings,
    ) -> Self {
        let system = || System::new(workload, policy.clocks(), policy.preempts());
        Self::new((workload, None), policy, &system, settings)
    }

    /// The same on the one server of a fleet, or over all of its servers, whose jobs wait in one place. Types and
    /// resources of the run are the fleet's; a job's dominant share is that of its
    /// [envelope](Fleet::envelope).
    pub fn on_fleet<P: Policy + Clone + Send + 'static>(
        fleet: &'w Fleet,
        policy: &P,
        settings: &Settings,
    ) -> Self {
        if let Some(workload) = fleet.one_server() {
            return Self::on_server(workload, policy, settings);
        }
        Self::over_all(fleet, policy, settings)
    }

    fn over_all<P: Policy + Clone + Send + 'static>(
        fleet: &'w Fleet,
        policy: &P,
        settings: &Settings,
    ) -> Self {
        let system = || System::of_fleet(fleet, policy.clocks(), policy.preempts());
        Self::new((fleet.envelope(), Some(fleet)), policy, &system, settings)
    }

    fn new<P: Policy + Clone + Send + 'static>(
        (workload, fleet): (&'w Workload, Option<&'w Fleet>),
        policy: &P,
        system: &dyn Fn() -> System,
        settings: &Settings,
    ) -> Self {
        let classes = classes(workload);
        let memoryless = workload.types().iter().all(JobType::is_memoryless);
        let needs = policy.needs_sizes() || policy.needs_limits();
        let tells = laws::arrivals(workload, Streams::new(settings.seed, 0).arrivals).tells_sizes();
        let engines: Box<dyn Engines> = if memoryless && !(tells || settings.common_sizes || needs)
        {
            let ends = || Memoryless;
            Box::new(engines(
                workload,
                &classes,
                policy,
                (system, ends),
                settings,
            ))
        } else {
            let ends = || Known::new(workload);
            Box::new(engines(
                workload,
                &classes,
                policy,
                (system, ends),
                settings,
            ))
        };
        Simulation {
            workload,
            fleet,
            classes,
            engines,
        }
    }

    /// Goes on until there is a reason to end, and says what was measured from the start on. The events of the settings
    /// count from the start, too.
    ///
    /// # Errors
    /// When the policy makes a decision that no server could carry out.
    pub fn run(
        &mut self,
        settings: &Settings,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Run, Violation> {
        let ending = self.engines.go_on(&self.classes, settings, progress)?;
        let (results, counters) = self.engines.results(&self.classes, settings, ending);
        let mut run = measures::run(self.workload, &results, counters);
        if let Some(fleet) = self.fleet {
            pooled::of_all_servers(&mut run, fleet);
        }
        Ok(run)
    }
}

/// The replications of a simulation, whatever the rule: only these are compiled once for each.
trait Engines {
    fn go_on(
        &mut self,
        classes: &[Class],
        settings: &Settings,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Ending, Violation>;

    fn results<'a>(
        &'a self,
        classes: &'a [Class],
        settings: &'a Settings,
        ending: Ending,
    ) -> (Results<'a>, Counters);
}

impl<S: engine::Servers> Engines for Vec<Engine<S>> {
    fn go_on(
        &mut self,
        classes: &[Class],
        settings: &Settings,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Ending, Violation> {
        go_on(self, classes, settings, progress)
    }

    fn results<'a>(
        &'a self,
        classes: &'a [Class],
        settings: &'a Settings,
        ending: Ending,
    ) -> (Results<'a>, Counters) {
        let measured = results(self, classes, settings, ending);
        (measured, counters(self))
    }
}

fn engines<P: Policy + Clone + Send, E: Ends + Send>(
    workload: &Workload,
    classes: &[Class],
    policy: &P,
    (system, ends): (&dyn Fn() -> System, impl Fn() -> E),
    settings: &Settings,
) -> Vec<Engine<Server<P, E>>> {
    let engine = |r: u32| {
        let server = |service: &mut _, _| Server::of(system(), policy.clone(), ends(), service);
        Engine::new(classes, workload, server, settings, r)
    };
    (0..settings.replications.max(1)).map(engine).collect()
}

#[cfg(test)]
mod tests;
