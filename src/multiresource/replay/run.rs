//! A policy on a scene.

use super::engine::Engine;
use super::scene::Scene;
use crate::multiresource::artifact::Family;
use crate::multiresource::policy::{Policy, System, Violation};
use crate::multiresource::simulator::{Contender, Failure, Run, With, made_over, simulate_over};
use crate::multiresource::workload::Described;
use crate::simulation::{Progress, Settings};

/// What decides.
#[derive(Clone, Debug)]
pub enum Rule {
    /// On one server.
    One(Box<Contender>),
    /// Over all servers of a fleet, whose jobs wait in one place.
    Over(Box<Family>),
}

impl Rule {
    /// Simulates it on a workload, jobs being drawn.
    ///
    /// # Errors
    /// When it cannot serve such jobs, or decides what no server could carry out.
    pub fn simulate(
        &self,
        workload: &Described,
        settings: &Settings,
        progress: impl FnMut(Progress),
    ) -> Result<Run, Stopped> {
        match (self, workload) {
            (Rule::One(rule), Described::Server(workload)) => {
                Ok(rule.simulate(workload, settings, progress)?)
            }
            (Rule::Over(policy), Described::Fleet(fleet)) => {
                let run = simulate_over(fleet, policy, settings, progress);
                Ok(run.map_err(Failure::from)?)
            }
            (Rule::One(_), Described::Fleet(_)) => Err(Stopped::Servers(FOR_A_SERVER)),
            (Rule::Over(_), Described::Server(_)) => Err(Stopped::Servers(FOR_A_FLEET)),
        }
    }
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// When each job left, in the policy's time.
    pub ends: Vec<f64>,
    /// Whether every job ran without a pause at full speed: then it started its size, and its start latency, before it
    /// left.
    pub runs_through: bool,
    /// Whether the policy has clocks, which are drawn.
    pub has_clocks: bool,
    /// Arrivals, completions and clocks.
    pub events: u64,
}

/// Why there is no run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Stopped {
    /// The policy cannot serve such jobs, or made a decision that no server could carry out.
    #[error(transparent)]
    Failure(#[from] Failure),
    /// The policy is for one server and the jobs ran on a fleet, or the other way round.
    #[error("{0}")]
    Servers(&'static str),
    /// Jobs are left that it never starts.
    #[error("the policy starts no more jobs, and {0} of them are left waiting at the end")]
    Stuck(u64),
    /// Told to end before.
    #[error("interrupted before the last job had left")]
    Interrupted,
}

const FOR_A_FLEET: &str =
    "the policy is for a fleet, and the jobs ran on one server: tell its servers with --servers";
const FOR_A_SERVER: &str =
    "the policy is for one server, and the jobs ran on a fleet: give --capacity for one server";

/// Replays jobs under a policy. `goes_on` gets the number of jobs that have come now and then, and says whether to go on.
///
/// # Errors
/// When the policy cannot serve these jobs or leaves some unserved, and when `goes_on` ends it.
pub fn replay(
    rule: &Rule,
    scene: &Scene<'_>,
    goes_on: &mut dyn FnMut(usize) -> bool,
) -> Result<Replayed, Stopped> {
    let on = On { scene, goes_on };
    match (rule, &scene.described) {
        (Rule::One(contender), Described::Server(workload)) => {
            let replayed = contender.made(workload, on);
            replayed.unwrap_or_else(|why| Err(contender.unsuitable(why, workload).into()))
        }
        (Rule::Over(family), Described::Fleet(fleet)) => {
            made_over(fleet, family, on).unwrap_or(Err(Stopped::Servers(FOR_A_SERVER)))
        }
        (Rule::One(_), Described::Fleet(_)) => Err(Stopped::Servers(FOR_A_SERVER)),
        (Rule::Over(_), Described::Server(_)) => Err(Stopped::Servers(FOR_A_FLEET)),
    }
}

/// A scene, to be replayed under whichever rule.
struct On<'a> {
    scene: &'a Scene<'a>,
    goes_on: &'a mut dyn FnMut(usize) -> bool,
}

/// Events between two looks at whether to go on: of a rule that is slow with long queues this may be a second.
const BURST: u64 = 1 << 10;

impl With for On<'_> {
    type Output = Result<Replayed, Stopped>;

    fn with<P: Policy + Clone + Send + 'static>(self, policy: P) -> Self::Output {
        let (clocks, preempts) = (policy.clocks(), policy.preempts());
        let system = match &self.scene.described {
            Described::Server(workload) => System::new(workload, clocks, preempts),
            Described::Fleet(fleet) => System::of_fleet(fleet, clocks, preempts),
        };
        let mut engine = Engine::new(self.scene, system, policy);
        let violated = |violation: Violation| Stopped::Failure(violation.into());
        while engine.go_on(BURST) {
            engine.audit().map_err(violated)?;
            if !(self.goes_on)(engine.come()) {
                return Err(Stopped::Interrupted);
            }
        }
        match engine.audit().map_err(violated)? {
            0 => Ok(Replayed {
                runs_through: engine.runs_through(),
                has_clocks: engine.has_clocks(),
                events: engine.events,
                ends: engine.into_ends(),
            }),
            left => Err(Stopped::Stuck(left)),
        }
    }
}
