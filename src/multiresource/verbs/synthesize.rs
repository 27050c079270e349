//! From a workload to a policy that passed the checker.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::{Doing, VerbError, refuse};
use crate::kind;
use crate::multiresource::artifact::{Artifact, Family, Guard, Preemption, Promise, check_within};
use crate::multiresource::optimum::{self, Ended};
use crate::multiresource::policy::time_of_turns;
use crate::multiresource::program::Solution;
use crate::multiresource::schedule::{Packing, Schedule, enumerate};
use crate::multiresource::synthesis::{
    self, ChoiceError, ChoiceOptions, Chosen, Families, Log, Options, Outcome, Overload, Pooling,
    Synthesis, Upgrades,
};
use crate::multiresource::workload::{Fleet, JobType, Workload};

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Request {
    /// Of the MSR policy, from which every choice begins.
    pub options: Options,
    /// Among which families.
    pub wanted: Wanted,
    /// The work that may be done to tune and to choose, in events of First-Fit with few types.
    pub budget: u64,
    /// When all has to be over, if ever.
    pub end: Option<Instant>,
    /// Seed of the simulations.
    pub seed: u64,
    /// What is promised of types.
    pub promises: Vec<Promise>,
    /// Once it is set, a choice ends with the best so far.
    pub interrupt: Arc<AtomicBool>,
}

/// Families that a policy is made of.
#[derive(Clone, Debug, PartialEq)]
pub enum Wanted {
    /// Markovian Service Rate, by analysis alone.
    Msr,
    /// Slots for each type on the servers of a fleet, by analysis alone.
    Partition,
    /// Those chosen by simulation.
    Simulated(Families),
}

/// What came of it. All of these are answers; none is an error.
#[derive(Debug)]
pub enum Answer {
    /// A policy that passed the checker.
    Policy(Box<Synthesized>),
    /// There is none, or none was found.
    Refused(Box<Refusal>),
    /// None was found that keeps what was promised, and what the nearest does.
    Broken(String),
}

/// A policy with what was learned on the way.
#[derive(Debug)]
pub struct Synthesized {
    /// The policy, which passed the checker.
    pub artifact: Artifact,
    /// How it was found.
    pub how: How,
    /// What is known of its stability.
    pub stability: Stability,
    /// What was tried.
    pub log: Log,
}

/// How a policy was found.
#[derive(Debug)]
pub enum How {
    /// By analysis.
    Analysed(Box<Synthesis>),
    /// By simulation.
    Chosen(Box<Chosen>, Knowledge),
    /// Over all servers of a fleet.
    Pooled(Box<Chosen>),
}

/// What is known of a policy that was chosen by simulation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Knowledge {
    /// What no policy with that preemption can beat \[time\], where it is known in passing.
    pub optimum: Option<f64>,
    /// What policies were allowed.
    pub preemption: Preemption,
}

impl How {
    /// The policy, unchecked.
    fn artifact(&self) -> &Artifact {
        match self {
            How::Analysed(synthesis) => &synthesis.artifact,
            How::Chosen(chosen, _) | How::Pooled(chosen) => &chosen.artifact,
        }
    }
}

/// What is known of a policy's stability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stability {
    /// Proved, by the loads `ρ_i < 1`.
    Loads,
    /// Proved, since `Σ λ_i/(μ_i c_i)` is this, below 1.
    Turns(f64),
    /// Proved, since a policy with loads `ρ_i < 1` takes over from so many jobs in the system on.
    Guard(u64),
    /// Proved, since each of so many jobs weighs the more of them there are.
    Weights,
    /// Proved, since all servers work while there is work for them.
    Fills,
    /// Proved, since slots for each type take over from so many jobs in the system on.
    Partition(u64),
    /// Seen in simulation.
    Seen,
}

/// How many schedules there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedules {
    /// These are all.
    All {
        /// How many fit the server.
        fit: usize,
        /// Those to which no job can be added.
        maximal: usize,
    },
    /// More than were counted.
    MoreThan(usize),
}

/// Why there is no policy.
#[derive(Debug)]
pub struct Refusal {
    /// The load, and the prices that prove it.
    pub overload: Overload,
    /// What one running job of each type (K) is worth.
    pub prices: Vec<f64>,
    /// What could be bought, and the load then.
    pub upgrades: Upgrades,
}

/// Makes a policy, and has it checked: of one server or over all servers of a fleet, whose jobs wait in one place.
/// `progress` is notified of progress.
///
/// # Errors
/// When what is asked for does not go together, when the solver fails, and when the checker finds
/// fault with the policy.
pub fn synthesize(
    fleet: &Fleet,
    request: &Request,
    mut progress: impl FnMut(Doing),
) -> Result<Answer, VerbError> {
    let options = &request.options;
    progress(Doing::Program);
    let outcome = match fleet.one_server() {
        Some(workload) => of_server(workload, request, &mut progress),
        None => over_fleet(fleet, request, &mut progress),
    };
    let (how, log) = match outcome {
        Ok(Outcome::Policy(found)) => *found,
        Ok(Outcome::Overloaded(overload)) => {
            return Ok(Answer::Refused(Box::new(Refusal {
                upgrades: synthesis::upgrades(fleet, options, &[]),
                prices: prices(fleet.types(), &overload.certificate.prices),
                overload,
            })));
        }
        Err(error) => match error.downcast_ref() {
            Some(ChoiceError::Broken(why)) => return Ok(Answer::Broken(why.clone())),
            _ => return Err(error),
        },
    };
    let artifact = checked(how.artifact().clone(), request)?;
    Ok(Answer::Policy(Box::new(Synthesized {
        stability: stability(fleet.envelope(), &artifact.policy),
        how,
        log,
        artifact,
    })))
}

/// The policy of one server: its MSR policy, or what is chosen by simulation.
fn of_server(
    workload: &Workload,
    request: &Request,
    progress: &mut dyn FnMut(Doing),
) -> Result<Outcome<(How, Log)>, VerbError> {
    let options = &request.options;
    let families = match &request.wanted {
        Wanted::Partition => {
            return refuse("a partition is a rule over a fleet: take another --family");
        }
        Wanted::Simulated(Families::Only(names)) if names.contains(&"pooled") => {
            return refuse("these are rules over a fleet: take another --family");
        }
        Wanted::Msr => None,
        Wanted::Simulated(families) => Some(families.clone()),
    };
    let msr = match synthesis::synthesize(workload, options)? {
        Outcome::Policy(msr) => msr,
        Outcome::Overloaded(overload) => return Ok(Outcome::Overloaded(overload)),
    };
    // Before the choice, which takes all the time that there is.
    let known = [msr.policy.schedules.clone()];
    let mut log = Log {
        upgrades: synthesis::upgrades(&workload.clone().into(), options, &known),
        ..Log::of(&msr)
    };
    let Some(families) = families else {
        return Ok(Outcome::Policy(Box::new((How::Analysed(msr), log))));
    };
    progress(Doing::Candidates(None));
    let report = |stage| progress(Doing::Candidates(Some(stage)));
    let chosen = synthesis::choose(workload, options, &request.choice(families), msr, report)?;
    log.choice = chosen.choice.clone();
    let known = Knowledge {
        preemption: options.preemption,
        optimum: in_passing(workload, request),
    };
    let how = How::Chosen(Box::new(chosen), known);
    Ok(Outcome::Policy(Box::new((how, log))))
}

/// A rule over all servers of a fleet: slots for each type where the family is that, else the best by simulation.
fn over_fleet(
    fleet: &Fleet,
    request: &Request,
    progress: &mut dyn FnMut(Doing),
) -> Result<Outcome<(How, Log)>, VerbError> {
    let choice = request.choice(match &request.wanted {
        Wanted::Simulated(families) => families.clone(),
        _ => Families::All,
    });
    let wanted = match request.wanted {
        Wanted::Partition => Pooling::Partition,
        _ => Pooling::Chosen(&choice),
    };
    let report = |stage| progress(Doing::Candidates(Some(stage)));
    let (chosen, solution) = match synthesis::pool(fleet, &request.options, wanted, report)? {
        Outcome::Policy(policy) => *policy,
        Outcome::Overloaded(overload) => return Ok(Outcome::Overloaded(overload)),
    };
    let known = known_schedules(fleet, &solution);
    let log = Log {
        rounds: solution.rounds,
        columns: solution.columns,
        choice: chosen.choice.clone(),
        upgrades: synthesis::upgrades(fleet, &request.options, &known),
        ..Log::default()
    };
    let how = How::Pooled(Box::new(chosen));
    Ok(Outcome::Policy(Box::new((how, log))))
}

/// The schedules of the mixes of each shape (H), over all types.
fn known_schedules(fleet: &Fleet, solution: &Solution) -> Vec<Vec<Schedule>> {
    let shapes = fleet.shapes().iter().zip(&solution.mixes);
    let of_shape = shapes.map(|(shape, mix)| {
        let wide = |own: &Schedule| {
            let mut all = vec![0; fleet.types().len()];
            let places = shape.types().iter().zip(own);
            places.for_each(|(&i, jobs)| all[i] = *jobs);
            all
        };
        mix.schedules.iter().map(wide).collect()
    });
    of_shape.collect()
}

impl Request {
    /// A choice among these families.
    fn choice(&self, families: Families) -> ChoiceOptions {
        ChoiceOptions {
            families,
            budget: self.budget,
            end: self.end,
            seed: self.seed,
            promises: self.promises.clone(),
            interrupt: Arc::clone(&self.interrupt),
        }
    }
}

/// Work that goes into what the checker solves anew even where no time is left, roughly in nanoseconds.
const LEAST_CHECK: f64 = 5e8;

/// The artifact, once it has passed the checker, as far as that gets in the time that is left.
fn checked(artifact: Artifact, request: &Request) -> Result<Artifact, VerbError> {
    let work = LEAST_CHECK.max(1e9 * synthesis::left(request.end).as_secs_f64());
    match check_within(&artifact, work) {
        Ok(()) => Ok(artifact),
        Err(findings) => Err(kind::unchecked(&findings)),
    }
}

/// What no policy without preemption can beat, where that costs little beside a choice.
fn in_passing(workload: &Workload, request: &Request) -> Option<f64> {
    if workload.known().is_some() {
        return None;
    }
    let sought = request.options.sought();
    let limits = optimum::Limits::in_passing().within(synthesis::left(request.end));
    let found = optimum::optimum(workload, sought, &limits, &request.interrupt, |_| ());
    let found = found.ok().filter(|found| found.ended == Ended::Close);
    found.map(|found| found.lower)
}

pub(super) fn stability(workload: &Workload, policy: &Family) -> Stability {
    match policy {
        _ if !policy.is_proved_stable(workload) => Stability::Seen,
        Family::Guarded(policy) => match &policy.guard {
            Guard::Partition(_) => Stability::Partition(policy.from),
            _ => Stability::Guard(policy.from),
        },
        Family::MaxWeight(_) => Stability::Weights,
        Family::ServerFilling(_) => Stability::Fills,
        Family::StaticQuickswap(_) => Stability::Turns(time_of_turns(workload)),
        _ => Stability::Loads,
    }
}

impl Schedules {
    /// Schedules are counted up to this many.
    const COUNTED: usize = 100_000;

    /// And while they are kept, no more than so many numbers in all.
    const NUMBERS: usize = 4_000_000;

    /// Those of a workload.
    pub fn of(workload: &Workload) -> Self {
        let budget = Self::COUNTED.min(Self::NUMBERS / workload.types().len());
        let all = enumerate(&Packing::new(workload), budget);
        if all.complete {
            Schedules::All {
                fit: all.schedules.len(),
                maximal: all.maximal,
            }
        } else {
            Schedules::MoreThan(budget)
        }
    }
}

/// What one running job of each type is worth.
fn prices(types: &[JobType], worth: &[f64]) -> Vec<f64> {
    let types = types.iter().zip(worth);
    types.map(|(kind, y)| y / kind.offered_load()).collect()
}
