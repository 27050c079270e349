//! This module finds a policy for a server or for a fleet.

use std::sync::atomic::Ordering;

use super::family::PolicySearch;
use crate::kind::VerbResult;
use crate::multiresource::bound::lower_bound;
use crate::multiresource::optimum::{self, Ended};
use crate::multiresource::program::Solution;
use crate::multiresource::report::Synthesized;
use crate::multiresource::schedule::Schedule;
use crate::multiresource::synthesis::{
    self, Analysed, ChoiceError, ChoiceOptions, Chosen, LowerBoundLog, Overload, SelectionStage,
    SynthesisLog, SynthesisOptions, SynthesisOutcome, Unkept,
};
use crate::multiresource::workload::{Fleet, Workload};

/// The options of a search for a policy.
pub struct SolveRequest {
    /// The options of the synthesis.
    pub options: SynthesisOptions,
    /// The set of policies to consider.
    pub sought: PolicySearch,
    /// The options that are used if a policy is selected by simulation.
    pub choice: ChoiceOptions,
}

/// The result of the search for a policy.
pub enum Solved {
    /// A policy that has not been checked, and the log of its synthesis.
    Policy(Box<(Synthesized, SynthesisLog)>),
    /// The load is at least 1, or it is not known if it is less than 1.
    Overloaded(Box<Overload>),
    /// No policy was found that meets all guarantees.
    GuaranteesMissed(Box<Unkept>),
    /// There is no policy that can be used. The value is the reason.
    NoPolicy(String),
}

/// Finds a policy for the given fleet.
///
/// # Errors
/// Returns an error if the options cannot be used together, or if the solver fails.
pub fn solve(
    fleet: &Fleet,
    request: &SolveRequest,
    listener: &mut dyn FnMut(&str),
) -> VerbResult<Solved> {
    fleet.require_no_devices()?;
    let outcome = match fleet.one_server() {
        Some(workload) => of_server(fleet, workload, request, listener),
        None => over_fleet(fleet, request, listener),
    };
    let error = match outcome {
        Ok(SynthesisOutcome::Policy(found)) => return Ok(Solved::Policy(found)),
        Ok(SynthesisOutcome::Overloaded(overload)) => {
            return Ok(Solved::Overloaded(Box::new(overload)));
        }
        Err(error) => error,
    };
    Ok(match *error.downcast::<ChoiceError>()? {
        ChoiceError::Unkept(nearest) => Solved::GuaranteesMissed(nearest),
        ChoiceError::Broken(why) => Solved::NoPolicy(why),
        other => return Err(other.into()),
    })
}

type Outcome = VerbResult<SynthesisOutcome<(Synthesized, SynthesisLog)>>;

fn telling(listener: &mut dyn FnMut(&str)) -> impl FnMut(SelectionStage) {
    |stage| {
        let spent = 100.0 * stage.spent;
        listener(&format!("{} ({spent:.0} % of the budget)", stage.what));
    }
}

fn of_server(
    fleet: &Fleet,
    workload: &Workload,
    request: &SolveRequest,
    listener: &mut dyn FnMut(&str),
) -> Outcome {
    let options = &request.options;
    let msr = match &request.sought {
        PolicySearch::StrictMsfq(threshold) => {
            let found = synthesis::strict_msfq(workload, options, *threshold)?;
            return found
                .and_then(|(chosen, solution)| Ok(logged(fleet, options, chosen, &solution)));
        }
        PolicySearch::Own(own) => synthesis::analyse(workload, options, own)?,
        PolicySearch::Analysed | PolicySearch::Among(_) => {
            synthesis::synthesize(workload, options)?
        }
    };
    msr.and_then(|msr| {
        // This is done before the selection, which uses all of the time.
        let known = [msr.policy.schedules.clone()];
        let mut log = SynthesisLog {
            upgrades: synthesis::upgrades(fleet, options, &known),
            ..SynthesisLog::of(&msr)
        };
        let msr = Box::new(msr);
        if !matches!(request.sought, PolicySearch::Among(_)) {
            return Ok((Synthesized::Analysed(msr), log));
        }
        listener("simulating candidates");
        let stages = telling(listener);
        let chosen = synthesis::choose(fleet, options, &request.choice, msr, stages)?;
        log.choice = chosen.choice.clone();
        Ok((Synthesized::Selected(Box::new(chosen)), log))
    })
}

fn logged(
    fleet: &Fleet,
    options: &SynthesisOptions,
    chosen: Chosen,
    solution: &Solution,
) -> (Synthesized, SynthesisLog) {
    let mixes = solution.mixes.iter();
    let known: Vec<Vec<Schedule>> = mixes.map(|mix| mix.schedules.clone()).collect();
    let log = SynthesisLog {
        rounds: solution.rounds,
        columns: solution.columns,
        choice: chosen.choice.clone(),
        upgrades: synthesis::upgrades(fleet, options, &known),
        ..SynthesisLog::default()
    };
    (Synthesized::Selected(Box::new(chosen)), log)
}

fn over_fleet(fleet: &Fleet, request: &SolveRequest, listener: &mut dyn FnMut(&str)) -> Outcome {
    let options = &request.options;
    Analysed::of_fleet(fleet, options)?.and_then(|analysed| {
        let solution = analysed.solution().clone();
        let chosen = match request.sought {
            PolicySearch::Among(_) => {
                let stages = telling(listener);
                synthesis::choose(fleet, options, &request.choice, analysed, stages)?
            }
            _ => analysed.partitioned(fleet).map_err(ChoiceError::from)?,
        };
        Ok(logged(fleet, options, chosen, &solution))
    })
}

/// The maximum number of rows. With ten types and hundreds of schedules, this takes a second.
const ROWS: usize = 2000;

/// Returns a lower bound for all policies. It is the bound of the dynamic program if this converges
/// quickly and the sizes are not known, or the best bound of the linear programs in the time left.
pub(crate) fn floor(fleet: &Fleet, request: &SolveRequest) -> Option<LowerBoundLog> {
    let (sought, choice) = (request.options.problem(), &request.choice);
    let left = || synthesis::left(choice.end);
    let limits = optimum::OptimumLimits {
        time: left(),
        ..optimum::OptimumLimits::quick()
    };
    let solve = |server| optimum::optimum(server, sought, &limits, &choice.interrupt, |_| ()).ok();
    let knows_sizes = fleet.envelope().has_limits();
    let server = fleet.one_server().filter(|_| !knows_sizes);
    let solved = server.and_then(solve);
    let ended = solved.as_ref().map(|found| found.ended);
    let is_near_optimum = ended == Some(Ended::Close);
    let is_over = || choice.interrupt.load(Ordering::Relaxed) || left().is_zero();
    let (objective, preemption) = (sought.objective, sought.preemption);
    let mut least = solved.map_or(0.0, |found| found.lower);
    if !is_near_optimum {
        let bound = lower_bound(fleet, objective, preemption, ROWS, &is_over);
        least = bound.map_or(least, |own| own.bound.max(least));
    }
    (least > 0.0).then_some(LowerBoundLog {
        objective,
        preemption,
        least,
        knows_sizes,
        is_near_optimum,
    })
}
