//! The synthesis of a policy: schedules, their order, the route, the switching rate, the claims.

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
    BUDGET, COMMON_RULES, CandidateLog, ChoiceLog, LoggedMean, LowerBoundLog, RELEVANT_DIFFERENCE,
    RouteTried, Steadiness, SynthesisLog,
};
pub use msfq::{MsfqAnalysis, MsfqRow, MsfqTable, strict_msfq};
pub use partition::Partitioned;
pub use route_and_rate::Outlook;
pub use sweep::{SweepPoint, sweep_switching_rates};
pub use upgrades::{Upgrade, Upgrades, upgrades};

use std::time::{Duration, Instant};

use crate::analysis::AnalysisError;
use crate::modulation::{self, Modulation, ModulationError};
use crate::optimum::Problem;
use crate::program::{
    ExactLoad, LOAD_MARGIN, LoadCertificate, Mix, ProgramError, Solution, SolveLimits,
};
use synth_multiresource::artifact::{
    Artifact, Backfill, EmptySlots, MsrConfig, Objective, Preemption, Route,
};
use synth_multiresource::workload::Workload;

/// The maximum number of phases of a chain.
pub const PHASE_LIMIT: usize = 20_000;

/// The maximum number of phases of a concurrent route, multiplied by the number of types.
const PHASES_OF_TYPES: usize = 4_000_000;

/// The number of switches per mean job size if preemption is free. More are never worse, but most
/// of the gain is reached here (the MSR paper, §7.1, Figure 2a).
const SWITCHES_A_SIZE: f64 = 2.0;

/// The range of rates times the mean job size, beyond which results have no correct digits.
const RATES: std::ops::RangeInclusive<f64> = 1e-12..=1e12;

/// The options of a synthesis; everything else is determined automatically.
#[derive(Clone, Debug)]
pub struct SynthesisOptions {
    /// The kind of preemption that is allowed.
    pub preemption: Preemption,
    /// The setup rate γ, which can only be used with [`Preemption::Setup`] \[1/time\].
    pub setup_rate: Option<f64>,
    /// The switching rate α, or `None` if it should be tuned \[1/time\].
    pub switching_rate: Option<f64>,
    /// The route, or `None` if the best one should be selected.
    pub route: Option<Route>,
    /// Whether the free capacity can be used by waiting jobs.
    pub backfill: Backfill,
    /// Determines what happens to a draining slot that is empty.
    pub empty_slots: EmptySlots,
    /// The metric to minimize (for the route and the rate: [analysed](Objective::analysed)).
    pub objective: Objective,
    /// Whether the bounds of theorem 8 should also be included for types with an exact mean.
    pub bounds: bool,
    /// The effort of the exact analysis. A value of 1 takes about ten seconds.
    pub effort: f64,
    /// The limits on the work to solve program (7).
    pub limits: SolveLimits,
    /// The deadline, if any. Unfinished work is left out, so the results depend on the machine.
    pub end: Option<Instant>,
}

impl SynthesisOptions {
    /// Returns the defaults: jobs are backfilled, empty slots are released, and the rest is tuned.
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

    fn left(&self) -> Duration {
        left(self.end)
    }

    /// Returns the work that is left \[ns\], which is at most `at_one` for an effort of 1.
    fn work(&self, at_one: f64) -> f64 {
        (self.effort * at_one).min(1e9 * self.left().as_secs_f64())
    }

    fn limits_now(&self) -> SolveLimits {
        SolveLimits {
            time: self.limits.time.min(self.left()),
            ..self.limits.clone()
        }
    }

    /// Returns the problem whose optimum is a bound for these policies.
    pub fn problem(&self) -> Problem {
        Problem {
            preemption: self.preemption,
            setup_rate: self.setup_rate,
            objective: self.objective,
        }
    }
}

/// Returns the remaining time, or the maximum without a deadline.
pub fn left(end: Option<Instant>) -> Duration {
    let until = |end: Instant| end.saturating_duration_since(Instant::now());
    end.map_or(Duration::MAX, until)
}

/// The outcome of a synthesis; neither is an error.
#[derive(Debug)]
pub enum SynthesisOutcome<T = Synthesis> {
    /// A policy that stabilizes the workload.
    Policy(Box<T>),
    /// No policy is known to stabilize the workload.
    Overloaded(Overload),
}

impl<T> SynthesisOutcome<T> {
    /// Calls the next step with the policy, if there is one.
    ///
    /// # Errors
    /// Returns the error of `step`.
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

/// A policy and how it was found.
#[derive(Debug)]
pub struct Synthesis {
    /// The policy file.
    pub artifact: Artifact,
    /// Its policy.
    pub policy: MsrConfig,
    /// The solution of program (7), with the mix of the policy.
    pub solution: Solution,
    /// The routes that have been considered, if their chains are small enough.
    pub routes: Vec<Outlook>,
    /// Why some types have bounds instead of an exact mean.
    pub out_of_reach: Vec<AnalysisError>,
    /// The number of completions or setups that one round of the loop waits for.
    pub drains: u64,
    /// The objective that was used to select the route and the switching rate.
    pub objective: Objective,
    /// The load of the best schedules, if the policy uses other ones.
    pub best_load: Option<f64>,
}

/// A workload whose load is at least 1.
#[derive(Debug)]
pub struct Overload {
    /// Whether it is proved that no policy stabilizes the workload. Otherwise, a limit was reached
    /// before it was known whether the load is less than 1.
    pub is_proven: bool,
    /// The load and the proof of its value.
    pub certificate: LoadCertificate,
    /// The load as an exact fraction, if known.
    pub exact: Option<ExactLoad>,
}

/// Invalid options, or a failure of a solver.
#[derive(Debug, thiserror::Error)]
pub enum SynthesisError {
    /// The linear program could not be solved.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The modulating chain failed.
    #[error(transparent)]
    Modulation(#[from] ModulationError),
    /// The exact analysis returned an error.
    #[error(transparent)]
    Analysis(#[from] AnalysisError),
    /// The options are in conflict, a rate is not valid, or the load is too close to 1.
    #[error("{0}")]
    InvalidOptions(String),
}

/// Returns an MSR policy for the workload.
///
/// # Errors
/// Returns an error if options conflict, the given switching rate is unstable, or a solver fails.
pub fn synthesize(
    workload: &Workload,
    options: &SynthesisOptions,
) -> Result<SynthesisOutcome, SynthesisError> {
    let solved = proof::solved(&workload.clone().into(), options)?;
    solved.and_then(|solution| of_solution(workload, options, solution, None))
}

/// Analyses the given schedules with the route and the switching rate of the options, or the best
/// ones. The claims include the bounds of theorem 8.
///
/// # Errors
/// Same as [`synthesize`]. An error is also returned if these schedules cannot carry the load.
pub fn analyse(
    workload: &Workload,
    options: &SynthesisOptions,
    own: &MsrConfig,
) -> Result<SynthesisOutcome, ChoiceError> {
    let solved = proof::solved(&workload.clone().into(), options)?;
    solved.and_then(|solution| of_own(workload, options, own, solution))
}

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
            "these schedules do not carry the load: type `{}` has load {load}, but it must be less than 1. It is possible to carry the load with other schedules. Remove these schedules, or change their weights",
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
    let mut synthesis = of_solution(workload, &options, solution, Some(own))?;
    synthesis.best_load = Some(best).filter(|_| !synthesis.artifact.evidence.proven);
    Ok(synthesis)
}

/// Synthesizes a policy with the order and the rates of `own`, if it is given.
fn of_solution(
    workload: &Workload,
    options: &SynthesisOptions,
    solution: Solution,
    own: Option<&MsrConfig>,
) -> Result<Synthesis, SynthesisError> {
    let mut draft = first_draft(workload, options, &solution);
    if let Some(own) = own {
        (draft.order, draft.rates) = (own.order.clone(), own.rates.clone());
    }
    let (policy, routes) = route_and_rate::with_best_route(workload, options, draft)?;
    let modulation = Modulation::new(workload, &policy, PHASE_LIMIT)?;
    let (claims, out_of_reach) =
        claims::claims(workload, options, &policy, &modulation, &solution)?;
    let evidence = proof::evidence(&solution);
    Ok(Synthesis {
        artifact: Artifact::new(workload.record(), policy.clone().into(), claims, evidence),
        drains: modulation::drains(&policy.schedules, &policy.order),
        objective: options.objective.analysed(),
        best_load: None,
        policy,
        solution,
        routes,
        out_of_reach,
    })
}

fn check_options(workload: &Workload, options: &SynthesisOptions) -> Result<(), SynthesisError> {
    let mean = mean_size(workload);
    let check = |name: &str, rate: f64| {
        let (least, most) = (RATES.start() / mean, RATES.end() / mean);
        match RATES.contains(&(rate * mean)) {
            true => Ok(()),
            false => refused(format!(
                "the {name} {rate} is out of range for a mean job size of {mean}: expected a value between {least:e} and {most:e}"
            )),
        }
    };
    if let Some(rate) = options.switching_rate {
        check("switching rate", rate)?;
    }
    if options.preemption != Preemption::None && workload.start_latency().is_some() {
        return refused(
            "the workload has a start latency, but its cost is not defined for jobs that are preempted. Use --preemption none, or remove `start_latency` and use setup times instead (--preemption setup and --setup-rate)",
        );
    }
    if let (Preemption::Full, Some(route)) = (options.preemption, options.route) {
        return refused(format!(
            "the route {route} can only be used with preemption `none` or `setup`, because full preemption works without a route. Remove --route"
        ));
    }
    match (options.preemption, options.setup_rate) {
        (Preemption::Setup, None) => refused(
            "preemption `setup` needs the setup rate γ. Use `--setup-rate γ`, where γ is 1 divided by the mean setup time of a slot in the time unit of the workload",
        ),
        (Preemption::Setup, Some(rate)) => check("setup rate", rate),
        (_, Some(rate)) => refused(format!(
            "the setup rate ({rate}) can only be used with `--preemption setup`. Either remove the setup rate or use this option"
        )),
        _ => Ok(()),
    }
}

fn refused<T>(why: impl Into<String>) -> Result<T, SynthesisError> {
    Err(SynthesisError::InvalidOptions(why.into()))
}

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

fn mean_size(workload: &Workload) -> f64 {
    let work: f64 = workload.types().iter().map(|t| t.offered_load()).sum();
    work / workload.total_arrival_rate()
}

#[cfg(test)]
mod tests;
