//! From a workload to a policy that passed the checker.

use super::VerbError;
use crate::kind;
use crate::multiresource::artifact::{Artifact, Family, Guard, Preemption, check_within};
use crate::multiresource::optimum::{self, Ended};
use crate::multiresource::policy::time_of_turns;
use crate::multiresource::program::Solution;
use crate::multiresource::schedule::Schedule;
use crate::multiresource::synthesis::{
    self, ChoiceError, ChoiceOptions, Chosen, Log, Options, Outcome, Overload, Pooling, Stage,
    Synthesis, Upgrades,
};
use crate::multiresource::workload::{Fleet, Workload};

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Request {
    /// Of the MSR policy, from which every choice begins.
    pub options: Options,
    /// Whether it is made by analysis alone: Markovian Service Rate on one server, over a fleet slots for each type. Else
    /// it is chosen by simulation.
    pub by_analysis: bool,
    /// How it is chosen, and when all has to be over.
    pub choice: ChoiceOptions,
}

/// What came of it. All of these are answers; none is an error.
#[derive(Debug)]
pub enum Answer {
    /// A policy that passed the checker.
    Policy(Box<Synthesized>),
    /// There is none, or none was found: the load, and the prices that prove it; what could be bought, and the load then.
    Refused(Box<Overload>, Upgrades),
    /// None was found that keeps what was promised, and what the nearest does.
    Broken(String),
}

/// A policy that passed the checker, with what was learned on the way.
#[derive(Debug)]
pub struct Synthesized {
    /// The policy, and how it was found.
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
    /// By simulation; with what no policy with the preemption that was asked for can beat \[time\], where it is known in
    /// passing.
    Chosen(Box<Chosen>, Option<(f64, Preemption)>),
    /// Over all servers of a fleet.
    Pooled(Box<Chosen>),
}

impl Synthesized {
    /// The policy.
    pub fn artifact(&self) -> &Artifact {
        match &self.how {
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

/// Makes a policy, and has it checked: of one server or over all servers of a fleet, whose jobs wait in one place.
/// `listener` is notified of progress.
///
/// # Errors
/// When what is asked for does not go together, when the solver fails, and when the checker finds
/// fault with the policy.
pub fn synthesize(
    fleet: &Fleet,
    request: &Request,
    listener: &mut dyn FnMut(&str),
) -> Result<Answer, VerbError> {
    listener("solving the program");
    let outcome = match fleet.one_server() {
        Some(workload) => of_server(workload, request, listener),
        None => over_fleet(fleet, request, listener),
    };
    let (how, log) = match outcome {
        Ok(Outcome::Policy(found)) => *found,
        Ok(Outcome::Overloaded(overload)) => {
            let upgrades = synthesis::upgrades(fleet, &request.options, &[]);
            return Ok(Answer::Refused(Box::new(overload), upgrades));
        }
        Err(error) => match error.downcast_ref() {
            Some(ChoiceError::Broken(why)) => return Ok(Answer::Broken(why.clone())),
            _ => return Err(error),
        },
    };
    let mut synthesized = Synthesized {
        how,
        stability: Stability::Seen,
        log,
    };
    let artifact = synthesized.artifact();
    // As far as the checker gets in the time that is left.
    let work = LEAST_CHECK.max(1e9 * synthesis::left(request.choice.end).as_secs_f64());
    check_within(artifact, work).map_err(|findings| kind::unchecked(&findings))?;
    synthesized.stability = stability(fleet.envelope(), &artifact.policy);
    Ok(Answer::Policy(Box::new(synthesized)))
}

/// Work that goes into what the checker solves anew even where no time is left, roughly in nanoseconds.
const LEAST_CHECK: f64 = 5e8;

/// Describes a stage of a choice.
fn describe(stage: &Stage) -> String {
    let spent = 100.0 * stage.spent;
    format!("{} ({spent:.0} % of the budget)", stage.what)
}

/// The policy of one server: its MSR policy, or what is chosen by simulation.
fn of_server(
    workload: &Workload,
    request: &Request,
    listener: &mut dyn FnMut(&str),
) -> Result<Outcome<(How, Log)>, VerbError> {
    let options = &request.options;
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
    if request.by_analysis {
        return Ok(Outcome::Policy(Box::new((How::Analysed(msr), log))));
    }
    listener("simulating candidates");
    let report = |stage| listener(&describe(&stage));
    let chosen = synthesis::choose(workload, options, &request.choice, msr, report)?;
    log.choice = chosen.choice.clone();
    let optimum = in_passing(workload, request).map(|least| (least, options.preemption));
    let how = How::Chosen(Box::new(chosen), optimum);
    Ok(Outcome::Policy(Box::new((how, log))))
}

/// A rule over all servers of a fleet: slots for each type by analysis, else the best by simulation.
fn over_fleet(
    fleet: &Fleet,
    request: &Request,
    listener: &mut dyn FnMut(&str),
) -> Result<Outcome<(How, Log)>, VerbError> {
    let pooling = if request.by_analysis {
        Pooling::Partition
    } else {
        Pooling::Chosen(&request.choice)
    };
    let report = |stage| listener(&describe(&stage));
    let (chosen, solution) = match synthesis::pool(fleet, &request.options, pooling, report)? {
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

/// What no policy without preemption can beat, where that costs little beside a choice.
fn in_passing(workload: &Workload, request: &Request) -> Option<f64> {
    if workload.known().is_some() {
        return None;
    }
    let (sought, choice) = (request.options.problem(), &request.choice);
    let limits = optimum::Limits::in_passing().within(synthesis::left(choice.end));
    let found = optimum::optimum(workload, sought, &limits, &choice.interrupt, |_| ());
    let found = found.ok().filter(|found| found.ended == Ended::Close);
    found.map(|found| found.lower)
}

/// What is known of a policy's stability.
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
