//! From a workload to a policy, on one screen: program, loop, route, switching rate, claims.

mod choice;
mod claims;
mod log;
mod minimum;
mod msfq;
mod partition;
mod proof;
mod route_and_rate;
mod sweep;
mod upgrades;

pub use choice::{
    Analysed, Basis, ChoiceError, ChoiceOptions, Chosen, Families, SelectionStage, Unkept, choose,
};
pub use log::{
    BUDGET, CLOSE, CandidateLog, ChoiceLog, Floor, LoggedMean, RouteTried, Steadiness,
    SynthesisLog, USUAL,
};
pub use msfq::{MsfqOutlook, MsfqRow, MsfqTable, strict_msfq};
pub use partition::{Partitioned, partition};
pub use route_and_rate::{Outlook, RouteOption};
pub use sweep::{SweepPoint, sweep};
pub use upgrades::{Upgrade, Upgrades, upgrades};

use std::time::{Duration, Instant};

use crate::analysis::AnalysisError;
use crate::modulation::{self, Modulation, ModulationError};
use crate::optimum::Problem;
use crate::program::{
    ExactLoad, LOAD_MARGIN, LoadCertificate, Mix, ProgramError, Solution, SolveLimits,
};
use synth_multiresource::artifact::{
    ArrivalLaw, Artifact, Backfill, Conditions, EmptySlots, HoldsFor, MsrConfig, Objective,
    Preemption, Route, SizeLaw,
};
use synth_multiresource::workload::{JobType, Workload};

/// Phases up to which a chain is built.
pub const PHASE_LIMIT: usize = 20_000;

/// Phases of a chain, times types, up to which a concurrent route is considered.
const PHASES_OF_TYPES: usize = 4_000_000;

/// Switches per mean job size where preemption is free: there more switching only helps,
/// and the MSR paper (§7.1, Figure 2a) finds most of the gain at α = 2 for sizes of mean 1.
const SWITCHES_A_SIZE: f64 = 2.0;

/// Rates that are accepted, per mean job size: beyond, results would have no digit.
const RATES: std::ops::RangeInclusive<f64> = 1e-12..=1e12;

/// What the user decides; the rest is found.
#[derive(Clone, Debug)]
pub struct SynthesisOptions {
    /// The preemption that is allowed.
    pub preemption: Preemption,
    /// γ [1/time], with [`Preemption::Setup`] only.
    pub setup_rate: Option<f64>,
    /// α [1/time]; found if absent.
    pub switching_rate: Option<f64>,
    /// The route; found if absent.
    pub route: Option<Route>,
    /// Whether left-over room is offered to waiting jobs.
    pub backfill: Backfill,
    /// What happens to empty draining slots.
    pub empty_slots: EmptySlots,
    /// What route and switching rate are chosen for, as far as it is [analysed](Objective::analysed), and
    /// what a choice makes least.
    pub objective: Objective,
    /// Whether theorem 8's bounds are claimed of types whose exact means are, too.
    pub bounds: bool,
    /// How much work may go into exact analysis: 1 is some ten seconds, and proportionally.
    pub effort: f64,
    /// Limits on the work of the program.
    pub limits: SolveLimits,
    /// When all of this has to be over, if ever: what is not done by then is left out, and what comes out depends on
    /// the machine.
    pub end: Option<Instant>,
}

impl SynthesisOptions {
    /// The defaults for one kind of preemption: backfilling, slots released, all else found.
    pub fn new(preemption: Preemption) -> Self {
        SynthesisOptions {
            preemption,
            setup_rate: None,
            switching_rate: None,
            route: None,
            backfill: Backfill::FirstFit,
            empty_slots: EmptySlots::Release,
            objective: Objective::Mean,
            bounds: false,
            effort: 1.0,
            limits: SolveLimits::default(),
            end: None,
        }
    }

    /// The time left.
    fn left(&self) -> Duration {
        left(self.end)
    }

    /// The work that may still be done \[ns\], of so much at effort 1.
    fn work(&self, at_one: f64) -> f64 {
        (self.effort * at_one).min(1e9 * self.left().as_secs_f64())
    }

    /// The limits of a program that is solved now.
    fn limits_now(&self) -> SolveLimits {
        SolveLimits {
            time: self.limits.time.min(self.left()),
            ..self.limits.clone()
        }
    }

    /// Returns the problem whose optimum bounds these policies.
    pub fn problem(&self) -> Problem {
        Problem {
            preemption: self.preemption,
            setup_rate: self.setup_rate,
            objective: self.objective,
        }
    }
}

/// The time until then; without an end the longest there is.
pub fn left(end: Option<Instant>) -> Duration {
    end.map_or(Duration::MAX, |end| {
        end.saturating_duration_since(Instant::now())
    })
}

/// The outcome. Both are answers; none is an error.
#[derive(Debug)]
pub enum SynthesisOutcome<T = Synthesis> {
    /// A policy that stabilizes the workload.
    Policy(Box<T>),
    /// No policy is known to stabilize the workload, and why.
    Overloaded(Overload),
}

impl<T> SynthesisOutcome<T> {
    /// Returns the outcome of a further step, which only a policy takes.
    ///
    /// # Errors
    /// The errors of the step.
    pub fn and_then<U, E>(
        self,
        step: impl FnOnce(T) -> Result<U, E>,
    ) -> Result<SynthesisOutcome<U>, E> {
        Ok(match self {
            SynthesisOutcome::Policy(policy) => SynthesisOutcome::Policy(Box::new(step(*policy)?)),
            SynthesisOutcome::Overloaded(overload) => SynthesisOutcome::Overloaded(overload),
        })
    }
}

/// A policy with what was learned on the way.
#[derive(Debug)]
pub struct Synthesis {
    /// The product.
    pub artifact: Artifact,
    /// Its policy.
    pub policy: MsrConfig,
    /// The program's solution, with the mix that the policy takes.
    pub solution: Solution,
    /// The routes that were considered.
    pub routes: Vec<RouteOption>,
    /// Of each type that has bounds in place of an exact mean, why.
    pub out_of_reach: Vec<AnalysisError>,
    /// Completions, or setups, that one round of the loop waits for.
    pub drains: u64,
    /// What its route and switching rate were chosen for.
    pub objective: Objective,
    /// The load of the best schedules, where these are others.
    pub best: Option<f64>,
}

/// A workload at or beyond capacity.
#[derive(Debug)]
pub struct Overload {
    /// Whether it is known that no policy stabilizes it; if not, the limits ended the search before the load was known to
    /// be below or above 1.
    pub decided: bool,
    /// The load, and the prices that prove it.
    pub certificate: LoadCertificate,
    /// The same in fractions, where there are any.
    pub exact: Option<ExactLoad>,
}

/// Options that fit no policy, or a failure of the solver.
#[derive(Debug, thiserror::Error)]
pub enum SynthesisError {
    /// The linear program.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The modulating chain.
    #[error(transparent)]
    Modulation(#[from] ModulationError),
    /// The exact analysis.
    #[error(transparent)]
    Analysis(#[from] AnalysisError),
    /// Options that do not go together or with the workload, a rate that is out of range or unstable, or a workload at
    /// capacity or too near to it to be analysed.
    #[error("{0}")]
    Refused(String),
}

/// Synthesizes an MSR policy for the workload.
///
/// # Errors
/// When options contradict each other or the given switching rate is unstable; when the
/// solver fails.
pub fn synthesize(
    workload: &Workload,
    options: &SynthesisOptions,
) -> Result<SynthesisOutcome, SynthesisError> {
    let solved = proof::solved(&workload.clone().into(), options)?;
    solved.and_then(|solution| of_solution(workload, options, solution))
}

/// Analyses schedules of one's own, with the route and the switching rate of the options, or the best ones. Theorem 8's
/// bounds are claimed, too.
///
/// # Errors
/// As [`synthesize`]; and when these schedules do not carry the load.
pub fn analyse(
    workload: &Workload,
    options: &SynthesisOptions,
    own: &MsrConfig,
) -> Result<SynthesisOutcome, ChoiceError> {
    let solved = proof::solved(&workload.clone().into(), options)?;
    solved.and_then(|solution| of_own(workload, options, own, solution))
}

/// Returns the policy of one's own schedules, for a solved program.
fn of_own(
    workload: &Workload,
    options: &SynthesisOptions,
    own: &MsrConfig,
    mut solution: Solution,
) -> Result<Synthesis, ChoiceError> {
    let mix = Mix {
        schedules: own.schedules.clone(),
        weights: own.weights.clone(),
    };
    let loads = mix.loads(workload).into_iter().zip(workload.types());
    let above = loads.filter(|(load, _)| *load >= 1.0 - LOAD_MARGIN);
    if let Some((load, kind)) = above.max_by(|a, b| a.0.total_cmp(&b.0)) {
        return Err(ChoiceError::Broken(format!(
            "these schedules do not carry the load: type `{}` has load {load} while they work, and must have less than 1; other schedules do: leave them out, or change their weights",
            kind.name()
        )));
    }
    let best = std::mem::replace(&mut solution.certificate.load, mix.load(workload));
    solution.exact = None;
    solution.mixes = vec![mix];
    let of_chain = own.rates.as_ref().map(|_| own.switching_rate);
    let options = SynthesisOptions {
        switching_rate: of_chain.or(options.switching_rate),
        bounds: true,
        ..options.clone()
    };
    let draft = MsrConfig {
        order: own.order.clone(),
        rates: own.rates.clone(),
        ..first_draft(workload, &options, &solution)
    };
    let mut synthesis = of_draft(workload, &options, solution, draft)?;
    synthesis.best = Some(best).filter(|_| !synthesis.artifact.evidence.proven);
    Ok(synthesis)
}

/// Returns the policy for a solved program of load below 1.
fn of_solution(
    workload: &Workload,
    options: &SynthesisOptions,
    solution: Solution,
) -> Result<Synthesis, SynthesisError> {
    let draft = first_draft(workload, options, &solution);
    of_draft(workload, options, solution, draft)
}

/// Returns the policy whose schedules are those of the draft and of the solution.
fn of_draft(
    workload: &Workload,
    options: &SynthesisOptions,
    solution: Solution,
    draft: MsrConfig,
) -> Result<Synthesis, SynthesisError> {
    let (policy, routes) = route_and_rate::with_best_route(workload, options, draft)?;
    let modulation = Modulation::new(workload, &policy, PHASE_LIMIT)?;
    let (claims, out_of_reach) =
        claims::claims(workload, options, &policy, &modulation, &solution)?;
    let evidence = proof::evidence(&solution);
    Ok(Synthesis {
        artifact: Artifact::new(workload.record(), policy.clone().into(), claims, evidence),
        drains: modulation::drains(&policy.schedules, &policy.order),
        objective: options.objective.analysed(),
        best: None,
        policy,
        solution,
        routes,
        out_of_reach,
    })
}

/// What is assumed where the queues of these types are analysed. The analysis follows sizes of phase
/// type; but without preemption, where a type's service depends on the completions of the others, it takes
/// all sizes as exponential. Arrivals are taken as Poisson.
pub fn queue_assumptions(preemption: Preemption, types: &[JobType]) -> HoldsFor {
    let staged = |kind: &JobType| {
        let size = kind.holding();
        !size.is_exponential() && size.phases().is_some()
    };
    let is_followed = preemption != Preemption::None && types.iter().any(staged);
    HoldsFor {
        sizes: Some(if is_followed {
            SizeLaw::PhaseType
        } else {
            SizeLaw::Exponential
        }),
        arrivals: Some(ArrivalLaw::Poisson),
        own: Conditions::analysed(),
    }
}

fn check_options(workload: &Workload, options: &SynthesisOptions) -> Result<(), SynthesisError> {
    let mean = mean_size(workload);
    let check = |name: &str, rate: f64| {
        if RATES.contains(&(rate * mean)) {
            return Ok(());
        }
        refused(format!(
            "the {name} is {rate}; together with a mean size of {mean} that is out of range: give between {:e} and {:e}",
            RATES.start() / mean,
            RATES.end() / mean
        ))
    };
    if let Some(rate) = options.switching_rate {
        check("switching rate", rate)?;
    }
    if options.preemption != Preemption::None && workload.start_latency().is_some() {
        return refused(
            "the workload has a start latency, and what a stopped job pays of it when it starts again is not said: give --preemption none; or leave `start_latency` out: setup times (--preemption setup and --setup-rate) say what a stopped job costs",
        );
    }
    if let (Preemption::Full, Some(route)) = (options.preemption, options.route) {
        return refused(format!(
            "the route {route} goes with preemption `none` or `setup`; with full preemption there is nothing to wait for on the way: leave --route out"
        ));
    }
    match (options.preemption, options.setup_rate) {
        (Preemption::Setup, None) => refused(
            "preemption `setup` needs the setup rate γ: give `--setup-rate γ`, one over the mean setup time of a slot, in the workload's time unit",
        ),
        (Preemption::Setup, Some(rate)) => check("setup rate", rate),
        (_, Some(rate)) => refused(format!(
            "a setup rate ({rate}) goes with `--preemption setup` only; leave it out, or ask for setups"
        )),
        _ => Ok(()),
    }
}

fn refused<T>(why: impl Into<String>) -> Result<T, SynthesisError> {
    Err(SynthesisError::Refused(why.into()))
}

/// The policy but for route and switching rate, which stand at 1 per mean size.
fn first_draft(workload: &Workload, options: &SynthesisOptions, solution: &Solution) -> MsrConfig {
    MsrConfig {
        preemption: options.preemption,
        order: modulation::least_drain_order(&solution.mixes[0].schedules),
        schedules: solution.mixes[0].schedules.clone(),
        weights: solution.mixes[0].weights.clone(),
        switching_rate: 1.0 / mean_size(workload),
        rates: None,
        setup_rate: options.setup_rate,
        route: options.route.unwrap_or(Route::ALL[0]),
        backfill: options.backfill,
        empty_slots: options.empty_slots,
    }
}

/// Mean size over all arrivals.
fn mean_size(workload: &Workload) -> f64 {
    let work: f64 = workload.types().iter().map(|t| t.offered_load()).sum();
    work / workload.total_arrival_rate()
}

#[cfg(test)]
mod tests;
