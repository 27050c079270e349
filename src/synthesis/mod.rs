//! From a workload to a policy, on one screen: program, loop, route, switching rate, claims.

use crate::analysis::Prediction;
use crate::artifact::{
    Artifact, Backfill, CertificateRecord, Claim, Conditions, Drain, EmptySlots, Format, Kind,
    Method, MsrPolicy, Preemption, Provenance, Quantity, Route, SizeLaw, VERSION,
};
use crate::modulation::{self, Modulation, ModulationError, TooManyPhases};
use crate::program::{self, Certificate, LOAD_MARGIN, Limits, ProgramError, Solution};
use crate::schedule::Fluid;
use crate::workload::Workload;

/// Phases up to which a chain is built; a concurrent route beyond is not considered.
pub const PHASE_LIMIT: usize = 50_000;

/// Switches per mean job size where preemption is free: there more switching only helps,
/// and the MSR paper (§7.1, Figure 2a) finds most of the gain at α = 2 for sizes of mean 1.
const SWITCHES_A_SIZE: f64 = 2.0;

/// Rates that are taken, per mean job size: beyond, nothing that is said would have a digit.
const RATES: std::ops::RangeInclusive<f64> = 1e-12..=1e12;

/// What the user decides; the rest is found.
#[derive(Clone, Debug)]
pub struct Options {
    /// The preemption that the owner can afford.
    pub preemption: Preemption,
    /// γ [1/time], with [`Preemption::Setup`] only.
    pub setup_rate: Option<f64>,
    /// α [1/time]; found if absent.
    pub switching_rate: Option<f64>,
    /// The route; found if absent.
    pub route: Option<Route>,
    /// Whether left-over room is offered to waiting jobs.
    pub backfill: Backfill,
    /// What becomes of empty draining slots.
    pub empty_slots: EmptySlots,
    /// Limits on the work.
    pub limits: Limits,
}

impl Options {
    /// The defaults for one kind of preemption: backfilling, slots released, all else found.
    pub fn new(preemption: Preemption) -> Self {
        Options {
            preemption,
            setup_rate: None,
            switching_rate: None,
            route: None,
            backfill: Backfill::FirstFit,
            empty_slots: EmptySlots::Release,
            limits: Limits::default(),
        }
    }
}

/// What came of it. All of these are answers; none is an error.
#[derive(Debug)]
pub enum Outcome {
    /// A policy that stabilizes the workload.
    Policy(Box<Synthesis>),
    /// No policy can stabilize the workload, and why.
    Overloaded(Overload),
    /// The limits ended the search before the load was known to be below or above 1.
    Undecided(Overload),
}

/// A policy with what was learned on the way.
#[derive(Debug)]
pub struct Synthesis {
    /// The product.
    pub artifact: Artifact,
    /// The program's solution.
    pub solution: Solution,
    /// The fluid bound.
    pub fluid: Fluid,
    /// The routes that were considered.
    pub routes: Vec<RouteOption>,
}

/// A workload at or beyond capacity.
#[derive(Debug)]
pub struct Overload {
    /// The load, and the prices that prove it.
    pub certificate: Certificate,
    /// The fluid bound, which names a single over-committed resource if there is one.
    pub fluid: Fluid,
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
    /// Setup rate missing, superfluous, or no rate.
    #[error("{0}")]
    SetupRate(String),
    /// A route where there is none to take.
    #[error(
        "the route {0} goes with preemption `none` or `setup`; with full preemption there is nothing to wait for on the way: leave --route out"
    )]
    Route(Route),
    /// A switching rate that is no rate, or under which the policy is unstable.
    #[error("{0}")]
    SwitchingRate(String),
}

/// Synthesizes an MSR policy for the workload.
///
/// # Errors
/// When options contradict each other or the given switching rate is unstable; when the
/// solver fails.
pub fn synthesize(workload: &Workload, options: &Options) -> Result<Outcome, SynthesisError> {
    check_options(workload, options)?;
    let solution = program::solve(workload, &options.limits)?;
    let fluid = Fluid::new(workload);
    let certificate = &solution.certificate;
    if certificate.load >= 1.0 - LOAD_MARGIN {
        let overload = Overload {
            certificate: certificate.clone(),
            fluid,
        };
        let decided = overload.certificate.bound >= 1.0 - 2.0 * LOAD_MARGIN;
        return Ok(if decided {
            Outcome::Overloaded(overload)
        } else {
            Outcome::Undecided(overload)
        });
    }
    let draft = first_draft(workload, options, &solution);
    let (policy, routes) = with_best_route(workload, options, draft)?;
    let modulation = Modulation::new(workload, &policy, PHASE_LIMIT)?;
    let artifact = Artifact {
        format: Format::SynthPolicy,
        version: VERSION,
        kind: Kind::Msr,
        workload: workload.record(),
        claims: claims(workload, &policy, &modulation, &solution),
        certificate: record(certificate),
        provenance: provenance(options, &policy, &solution, &modulation),
        policy,
    };
    Ok(Outcome::Policy(Box::new(Synthesis {
        artifact,
        solution,
        fluid,
        routes,
    })))
}

fn check_options(workload: &Workload, options: &Options) -> Result<(), SynthesisError> {
    let range = |name: &str, rate: f64| {
        let relative = rate * mean_size(workload);
        (!(RATES.contains(&relative))).then(|| {
            format!(
                "the {name} is {rate}; together with a mean size of {} that is out of range: give between {:e} and {:e}",
                mean_size(workload), RATES.start() / mean_size(workload), RATES.end() / mean_size(workload)
            )
        })
    };
    if let Some(why) = options
        .switching_rate
        .and_then(|rate| range("switching rate", rate))
    {
        return Err(SynthesisError::SwitchingRate(why));
    }
    if let (Preemption::Full, Some(route)) = (options.preemption, options.route) {
        return Err(SynthesisError::Route(route));
    }
    let refuse = |why: String| Err(SynthesisError::SetupRate(why));
    match (options.preemption, options.setup_rate) {
        (Preemption::Setup, None) => refuse(
            "preemption `setup` needs the setup rate γ: give `--setup-rate γ`, one over the mean setup time of a slot, in the workload's time unit".into(),
        ),
        (Preemption::Setup, Some(rate)) => range("setup rate", rate).map_or(Ok(()), refuse),
        (Preemption::None | Preemption::Full, Some(rate)) => refuse(format!(
            "a setup rate ({rate}) goes with `--preemption setup` only; leave it out, or ask for setups"
        )),
        _ => Ok(()),
    }
}

/// The policy but for route and switching rate, which stand at 1 per mean size.
fn first_draft(workload: &Workload, options: &Options, solution: &Solution) -> MsrPolicy {
    MsrPolicy {
        preemption: options.preemption,
        order: modulation::least_drain_order(&solution.mix.schedules),
        schedules: solution.mix.schedules.clone(),
        weights: solution.mix.weights.clone(),
        switching_rate: 1.0 / mean_size(workload),
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

/// A route that was considered.
#[derive(Clone, Debug)]
pub struct RouteOption {
    /// The route.
    pub route: Route,
    /// The largest stable switching rate and the rate chosen, with its yardstick; `None` where
    /// the chain would be too large.
    pub outlook: Option<Outlook>,
}

/// What is expected of a route.
#[derive(Clone, Copy, Debug)]
pub struct Outlook {
    /// Supremum of the stable switching rates [1/time].
    pub largest: f64,
    /// The switching rate, as given or else the one with the least primary term.
    pub rate: f64,
    /// The yardstick at that rate; see [`Prediction::primary_term`].
    pub primary_term: f64,
}

/// The routes that the options leave, in the order in which equals are preferred.
fn candidates(options: &Options) -> Vec<Route> {
    let mut routes = options
        .route
        .map_or(Route::ALL.to_vec(), |route| vec![route]);
    if options.preemption == Preemption::Setup {
        // Concurrent setups take less time.
        routes.sort_by_key(|route| route.drain == Drain::Sequential);
    }
    if options.preemption == Preemption::Full {
        // Without routes they are all the same.
        routes.truncate(1);
    }
    routes
}

/// The switching rate of a route, and what to expect of it.
fn outlook(
    workload: &Workload,
    options: &Options,
    policy: &MsrPolicy,
) -> Result<Outlook, ModulationError> {
    let modulation = Modulation::new(workload, policy, PHASE_LIMIT)?;
    let largest = modulation.largest_stable_rate(workload);
    let prediction = Prediction::new(workload, policy, &modulation);
    let brisk = SWITCHES_A_SIZE / mean_size(workload);
    let free = options.preemption == Preemption::Full || policy.order.len() == 1;
    let (rate, primary_term) = match options.switching_rate {
        Some(rate) => (rate, prediction.primary_term(rate)),
        None if free => (brisk, prediction.primary_term(brisk)),
        None => prediction.best_rate(brisk.min(largest)),
    };
    Ok(Outlook {
        largest,
        rate,
        primary_term,
    })
}

/// The policy with the route and the switching rate of the least primary term.
fn with_best_route(
    workload: &Workload,
    options: &Options,
    draft: MsrPolicy,
) -> Result<(MsrPolicy, Vec<RouteOption>), SynthesisError> {
    let mut routes = Vec::new();
    for route in candidates(options) {
        let policy = MsrPolicy {
            route,
            ..draft.clone()
        };
        let outlook = match outlook(workload, options, &policy) {
            Ok(outlook) => Some(outlook),
            Err(ModulationError::TooLarge(_)) if options.route.is_none() => None,
            Err(error) => return Err(error.into()),
        };
        routes.push(RouteOption { route, outlook });
    }
    let known = routes.iter().filter_map(|r| Some((r.route, r.outlook?)));
    let best = known.min_by(|a, b| a.1.primary_term.total_cmp(&b.1.primary_term));
    // Sequential routes are always listed, or the error has been returned.
    let (route, outlook) = best
        .ok_or(TooManyPhases { limit: PHASE_LIMIT })
        .map_err(ModulationError::from)?;
    if outlook.rate >= outlook.largest {
        return Err(SynthesisError::SwitchingRate(format!(
            "at switching rate {} too much time goes into routes and the policy is unstable; it is stable below {:.6} (route {route}): leave --switching-rate out, or give less",
            outlook.rate, outlook.largest
        )));
    }
    Ok((
        MsrPolicy {
            route,
            switching_rate: outlook.rate,
            ..draft
        },
        routes,
    ))
}

fn record(certificate: &Certificate) -> CertificateRecord {
    CertificateRecord {
        load: certificate.load,
        prices: certificate.prices.clone(),
        resource_prices: certificate.resource_prices.clone(),
        bound: certificate.bound,
        gap: certificate.gap(),
        proven: certificate.proven(),
    }
}

/// What is known exactly of this policy, with the conditions it is known under.
fn claims(
    workload: &Workload,
    policy: &MsrPolicy,
    modulation: &Modulation,
    solution: &Solution,
) -> Vec<Claim> {
    let analysed = Conditions {
        empty_slots: Some(EmptySlots::Phantom),
        backfill: Some(Backfill::None),
        // Only where routes are made of completions does the chain depend on sizes.
        sizes: (policy.preemption == Preemption::None).then_some(SizeLaw::Exponential),
    };
    let rate = format!("1/{}", workload.time_unit());
    let claim = |quantity, value: f64, unit: &str, method| Claim {
        quantity,
        job_type: None,
        value,
        unit: unit.into(),
        method,
        holds_for: analysed.clone(),
    };
    let mut claims = Vec::new();
    if solution.certificate.proven() {
        let load = claim(
            Quantity::Load,
            solution.certificate.load,
            "1",
            Method::ExactProgram,
        );
        claims.push(Claim {
            holds_for: Conditions::default(),
            ..load
        });
    }
    let law = Method::ExactStationaryLaw;
    claims.push(claim(
        Quantity::WorkingTime,
        modulation.working_time(),
        "1",
        law,
    ));
    claims.push(claim(
        Quantity::SwitchingFrequency,
        modulation.switching_frequency(),
        &rate,
        law,
    ));
    let largest = modulation.largest_stable_rate(workload);
    if largest.is_finite() {
        let method = Method::ExactRenewalReward;
        claims.push(claim(
            Quantity::LargestStableSwitchingRate,
            largest,
            &rate,
            method,
        ));
    }
    let loads = modulation.loads(workload);
    for (i, kind) in workload.types().iter().enumerate() {
        let of_type = |c: Claim| Claim {
            job_type: Some(kind.name().into()),
            ..c
        };
        let slots = modulation.mean_schedule()[i];
        claims.push(of_type(claim(Quantity::MeanSchedule, slots, "jobs", law)));
        claims.push(of_type(claim(Quantity::Load, loads[i], "1", law)));
    }
    claims
}

fn provenance(
    options: &Options,
    policy: &MsrPolicy,
    solution: &Solution,
    modulation: &Modulation,
) -> Provenance {
    let found = |given: bool| if given { "given" } else { "found" };
    Provenance {
        tool: format!("synth {}", env!("CARGO_PKG_VERSION")),
        options: vec![
            format!("preemption: {:?}", policy.preemption).to_lowercase(),
            format!("route: {}", found(options.route.is_some())),
            format!(
                "switching-rate: {}",
                found(options.switching_rate.is_some())
            ),
        ],
        solver: "HiGHS simplex in column generation".into(),
        rounds: solution.rounds,
        columns: solution.columns,
        drains: modulation::drains(&policy.schedules, &policy.order),
        phases: modulation.chain.node_count(),
    }
}
