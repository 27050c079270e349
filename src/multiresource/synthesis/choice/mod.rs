//! The choice among families, by simulation: several policies of each race, the knobs of the best are
//! turned, then the best of each family are compared on arrivals and sizes that none was tuned on. What is
//! claimed of the first comes from one more run, under guard where nothing is proved of its stability, on
//! arrivals and sizes that decided nothing; where it is too short, nothing is claimed.
//!
//! # Method
//! All runs of one stage have the same seed and length, so that policies face the same arrivals and
//! sizes and their ratio is known better than their means ([`crate::multiresource::simulator::paired_ratio`]). Runs
//! of the race grow until the best has a mean to tune by; what costs clearly more than the best falls out, and comes back
//! where longer runs make the best worse. Knobs are tuned one at a time over grids, in steps up or down as long as the objective falls; a step
//! that is surely worse after a quarter of a run is not run to its end. The final comparison has fresh
//! seeds: the best of many is partly the best by chance, which must not enter the claims. Those that
//! are surely slower than the first after a short run (95 % together, Bonferroni) are left out; the
//! others go on until one is surely the first, or the budget of events is spent.

mod budget;
mod course;
mod finals;
mod pooled;
mod preemptive;
mod record;
mod robust;
mod search;
mod starts;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::{Options, Outcome, Synthesis, SynthesisError, again, synthesize};
use crate::multiresource::artifact::{
    self, Artifact, Backfill, EmptySlots, Family, FirstFitPolicy, MostServersFirstPolicy,
    MsrPolicy, Preemption, Promise, Quantity, Server,
};
use crate::multiresource::policy::{KnobRange, is_proved_stable};
use crate::multiresource::simulator::{Failure, Run};
use crate::multiresource::workload::Workload;
pub use budget::Budget;
use budget::worked;
use course::{Course, Guard};
use finals::{Entrant, Standing};
pub use pooled::{PooledChosen, choose_pooled};
pub use record::told;
use robust::Around;
use starts::starts;

/// Families that a choice is made among.
#[derive(Clone, Debug, PartialEq)]
pub enum Families {
    /// This policy as it is.
    Given(Box<Family>),
    /// Those of these names.
    Only(&'static [&'static str]),
    /// All of them.
    All,
}

impl Families {
    fn have(&self, name: &str) -> bool {
        match self {
            Families::Given(_) => false,
            Families::Only(names) => names.contains(&name),
            Families::All => true,
        }
    }
}

/// The user's part of a choice.
#[derive(Clone, Debug)]
pub struct ChoiceOptions {
    /// Among which families.
    pub families: Families,
    /// How much may be simulated.
    pub budget: Budget,
    /// Seed of the runs that decide; those that tune have the next one, and the run of the claims the one
    /// after that.
    pub seed: u64,
    /// The largest mean slowdown `E[T_i]/E[S_i]` of a type over the smallest that is wanted, ≥ 1.
    pub max_slowdown_ratio: Option<f64>,
    /// What is promised of types.
    pub promises: Vec<Promise>,
    /// By how much the arrival rates may be more or less, relatively, in (0, 1): the least worst case is chosen.
    pub robust: Option<f64>,
    /// A relative difference between policies that is not worth longer runs, in (0, 1), if not 1 %.
    pub good_enough: Option<f64>,
    /// Once it is set, the choice ends without an answer.
    pub interrupt: Arc<AtomicBool>,
}

impl ChoiceOptions {
    /// Among these families, with nothing else asked for.
    pub fn new(families: Families, budget: Budget, seed: u64) -> Self {
        ChoiceOptions {
            families,
            budget,
            seed,
            max_slowdown_ratio: None,
            promises: Vec::new(),
            robust: None,
            good_enough: None,
            interrupt: Arc::default(),
        }
    }
}

/// The policy that was chosen.
#[derive(Debug)]
pub struct Chosen {
    /// The product.
    pub artifact: Artifact,
    /// Its measurements; `None` where no candidate was seen to settle.
    pub run: Option<Run>,
    /// Why nothing that was simulated is claimed of it.
    pub unclaimed: Option<String>,
    /// What was synthesized of its family, if that is Markovian Service Rate.
    pub made: Option<Box<Synthesis>>,
    /// What was not considered, and why.
    pub skipped: Vec<String>,
    /// What no policy with the same preemption can beat \[time\], where it was computed on the way.
    pub least: Option<f64>,
}

impl Chosen {
    /// What the artifact says of the server.
    pub fn server(&self) -> Server<'_> {
        self.artifact.the_server()
    }
}

/// Why there is no choice.
#[derive(Debug, thiserror::Error)]
pub enum ChoiceError {
    /// A policy with other knobs.
    #[error(transparent)]
    Synthesis(#[from] SynthesisError),
    /// A rule that cannot run.
    #[error(transparent)]
    Failure(#[from] Failure),
    /// Ctrl-C.
    #[error("interrupted before a policy was chosen")]
    Interrupted,
    /// None of the policies was seen to settle.
    #[error(
        "within a budget of {0} none of the policies was seen to settle: give more with --budget, or, on one server and without promises, take `--family msr`, whose stability is proved"
    )]
    NoneSettles(Budget),
    /// Arrival rates that may be too much for any policy.
    #[error(
        "with all arrival rates {:.1} % higher the load is {load:.4}, which no policy carries; take --robust below {:.3}%, add resources or take fewer jobs",
        100.0 * .by, 100.0 * .most
    )]
    BeyondRates {
        /// How much higher, relatively.
        by: f64,
        /// The load then.
        load: f64,
        /// How much higher it may be.
        most: f64,
    },
    /// None of the policies was seen to keep what is promised.
    #[error("{0}")]
    Broken(String),
}

/// Progress of a choice.
#[derive(Clone, Debug)]
pub struct Stage {
    /// The present stage.
    pub what: String,
    /// Fraction of the budget that is spent.
    pub spent: f64,
}

/// A relative difference between policies that is not worth longer runs.
const CLOSE: f64 = 1e-2;

/// Part of the budget that goes into tuning.
const TUNING: f64 = 0.5;

/// Part of the budget that goes into finding the best for the rates as they are given, where another is wanted that
/// is robust.
const AS_GIVEN: f64 = 0.3;

/// The part of what is left for the last comparison that is kept for the claims of the first; where it is to be
/// robust, half of that goes into its worst case.
const CLAIMS: f64 = 0.25;

/// Chooses a policy with the preemption of the options. `made` is the MSR policy for these options.
///
/// # Errors
/// When a policy makes a decision that no server could carry out, none of them settles, or it is
/// interrupted.
pub fn choose(
    workload: &Workload,
    options: &Options,
    choice: &ChoiceOptions,
    made: Box<Synthesis>,
    mut progress: impl FnMut(Stage),
) -> Result<Chosen, ChoiceError> {
    let (mut starts, mut skipped, least) = match options.preemption {
        Preemption::Full => {
            let (starts, least) = preemptive::full(workload, options, choice, &made);
            (starts, Vec::new(), least)
        }
        Preemption::None => {
            let (starts, skipped) = starts(workload, options, choice, &made);
            (starts, skipped, None)
        }
        Preemption::Setup => {
            let (mut starts, skipped) = starts(workload, options, choice, &made);
            let (more, least) = preemptive::with_setups(workload, options, choice, &made);
            starts.extend(more);
            (starts, skipped, least)
        }
    };
    let around = choice
        .robust
        .map(|by| Around::new(workload, &made, by, choice.seed))
        .transpose()?;
    let mut course = Course {
        workload,
        fleet: None,
        is_stressed: around.is_some(),
        close: choice.good_enough.unwrap_or(CLOSE),
        objective: options.objective,
        promises: &choice.promises,
        most_uneven: choice.max_slowdown_ratio.unwrap_or(f64::INFINITY),
        seed: choice.seed,
        guards: guards(workload, options, choice, &made, around.as_ref()),
        interrupt: Arc::clone(&choice.interrupt),
        budget: choice.budget.units(),
        spent: 0,
        begun: worked(),
        most: choice.budget.most(),
        pace: choice.budget.pace(),
        charges: HashMap::new(),
        events: 0,
    };
    let plain = match &around {
        Some(around) => {
            let plain = best_as_given(&mut course, choice, &starts, &made, &mut progress)?;
            starts.extend(plain.clone().filter(|policy| !starts.contains(policy)));
            course.workload = &around.up;
            plain
        }
        None => None,
    };
    let (mut entrants, behind) = race(&mut course, choice, starts, &made, &mut progress)?;
    skipped.extend(behind);
    let kept = (course.left() as f64 * CLAIMS) as u64;
    course.budget -= kept;
    let mut first = finals::rounds(&mut course, &mut entrants, &mut progress)?;
    course.budget += kept;
    let mut robust = None;
    if let (Some(n), Some(around)) = (first, &around) {
        let events = course.left() / 2;
        let (least, worst) = around.least_worst(&mut course, &entrants, n, events)?;
        (first, robust) = (Some(least), Some(worst));
        course.workload = workload;
    }
    if course.interrupted() {
        return Err(ChoiceError::Interrupted);
    }
    let price = match first {
        Some(first) => finals::measure(&mut course, &mut entrants[first], plain.as_ref())?,
        None => None,
    };
    if course.interrupted() {
        return Err(ChoiceError::Interrupted);
    }
    let Some(End {
        standing,
        run,
        unclaimed,
    }) = End::of(&course, choice, entrants, first)?
    else {
        let none = ChoiceError::NoneSettles(choice.budget);
        return by_proof(workload, choice, made, skipped).ok_or(none);
    };
    let robust = around.as_ref().zip(robust);
    let robust = robust.map(|(around, worst)| around.record(worst, price));
    skipped.extend(course.told_late());
    let record = record::choice(&course, choice, &standing, robust);
    let policy = standing.order[0].policy.clone();
    let made = remade(workload, options, made, &policy)?;
    let claimed = run.as_ref().filter(|_| unclaimed.is_none());
    let artifact = record::artifact(&made, &policy, claimed, record, workload);
    Ok(Chosen {
        artifact,
        run,
        unclaimed,
        made: policy.msr().is_some().then_some(made),
        skipped,
        least,
    })
}

/// How the last comparison ended.
struct End {
    standing: Standing,
    /// The run of the first by which it is told; none where it is taken at a guess.
    run: Option<Run>,
    /// Why nothing that was simulated is claimed of it.
    unclaimed: Option<String>,
}

impl End {
    /// `None` where nothing was told.
    fn of(
        course: &Course<'_>,
        choice: &ChoiceOptions,
        entrants: Vec<Entrant>,
        first: Option<usize>,
    ) -> Result<Option<Self>, ChoiceError> {
        let entrants = match Standing::new(course, entrants, first) {
            Err(entrants) => entrants,
            Ok(standing) => {
                let winner = &standing.order[0];
                if let Some(why) = record::broken(course, winner) {
                    return Err(ChoiceError::Broken(why));
                }
                let unclaimed = winner.unclaimed(course);
                return Ok(Some(End {
                    unclaimed: unclaimed.map(|why| format!("its own run was too short ({why})")),
                    run: winner.measured(course).cloned(),
                    standing,
                }));
            }
        };
        if !choice.promises.is_empty() {
            return Err(ChoiceError::NoneSettles(choice.budget));
        }
        let why = format!(
            "within a budget of {} none of the policies was seen to settle; with this one jobs stayed least in the longest runs",
            choice.budget
        );
        let guess = Standing::at_a_guess(course, entrants);
        Ok(guess.map(|standing| End {
            standing,
            run: None,
            unclaimed: Some(why),
        }))
    }
}

/// The best for the rates as they are given, in a part of the budget: what another one is compared with that is
/// robust.
fn best_as_given(
    course: &mut Course<'_>,
    choice: &ChoiceOptions,
    starts: &[Family],
    made: &Synthesis,
    progress: &mut impl FnMut(Stage),
) -> Result<Option<Family>, ChoiceError> {
    let all = course.budget;
    course.budget = (AS_GIVEN * all as f64) as u64;
    let (mut entrants, _) = race(course, choice, starts.to_vec(), made, progress)?;
    let first = finals::rounds(course, &mut entrants, progress)?;
    course.budget = all;
    Ok(first.map(|first| entrants.swap_remove(first).policy))
}

/// The best of each family, and rules in common use beside them; and who was left behind.
fn race(
    course: &mut Course<'_>,
    choice: &ChoiceOptions,
    starts: Vec<Family>,
    made: &Synthesis,
    progress: &mut impl FnMut(Stage),
) -> Result<(Vec<Entrant>, Vec<String>), ChoiceError> {
    course.seed = choice.seed.wrapping_add(1);
    let mut entrants = match &choice.families {
        Families::Given(policy) => vec![Entrant::new((**policy).clone(), 1)],
        _ => tuned(course, starts, made, progress)?,
    };
    course.seed = choice.seed;
    let behind = finals::too_many(course, &mut entrants);
    let rivals: Vec<Family> = match made.policy.preemption {
        Preemption::Full => vec![preemptive::max_weight(course.workload).into()],
        _ => vec![FirstFitPolicy {}.into(), MostServersFirstPolicy {}.into()],
    };
    let behind = behind
        .iter()
        .filter(|e| rivals.iter().all(|r| r.name() != e.name));
    let skipped = behind.map(|entrant| {
        let name = entrant.name;
        format!("{name}: behind in short runs, and not enough events are left for longer ones; more with --budget")
    });
    let skipped = skipped.collect();
    for rule in rivals {
        if entrants.iter().all(|e| e.name != rule.name()) {
            entrants.push(Entrant::rival(rule));
        }
    }
    Ok((entrants, skipped))
}

/// The best of each family, on arrivals and sizes of its own seed.
fn tuned(
    course: &mut Course<'_>,
    starts: Vec<Family>,
    made: &Synthesis,
    progress: &mut impl FnMut(Stage),
) -> Result<Vec<Entrant>, ChoiceError> {
    let taken = made.routes.iter().find(|r| r.route == made.policy.route);
    let outlook = taken.and_then(|r| r.outlook.as_ref());
    let outlook = outlook.expect("the route taken has an outlook");
    let knobs = KnobRange::new(course.workload, outlook.largest);
    let share = (TUNING * course.left() as f64) as u64;
    let found = search::tune(course, &knobs, starts, share, progress)?;
    let policies: Vec<Family> = found.iter().map(|t| t.policy.clone()).collect();
    let entrants = found.into_iter().map(|t| {
        let policy = preemptive::going_on(t.policy, &policies);
        Entrant::new(policy, t.tried)
    });
    Ok(entrants.collect())
}

/// The policy of the program, as it is analysed: without backfilling, and with slots that keep their clocks. Its
/// stability is proved with exponential sizes and Poisson arrivals, in the whole box where rates may be
/// more. With setups also one without preemption, for rules that have none.
fn guards(
    workload: &Workload,
    options: &Options,
    choice: &ChoiceOptions,
    made: &Synthesis,
    around: Option<&Around>,
) -> Vec<Guard> {
    let of = |options: &Options, made: &Synthesis| guard(workload, options, choice, made, around);
    let mut guards: Vec<Guard> = of(options, made).into_iter().collect();
    if options.preemption == Preemption::Setup {
        let draining = Options {
            preemption: Preemption::None,
            setup_rate: None,
            switching_rate: None,
            route: None,
            ..options.clone()
        };
        if let Ok(Outcome::Policy(made)) = synthesize(workload, &draining) {
            guards.extend(of(&draining, &made));
        }
    }
    guards
}

fn guard(
    workload: &Workload,
    options: &Options,
    choice: &ChoiceOptions,
    made: &Synthesis,
    around: Option<&Around>,
) -> Option<Guard> {
    if matches!(choice.families, Families::Given(_)) || !workload.is_poisson() {
        return None;
    }
    let policy = match around {
        Some(around) => around.guard(made, options)?,
        None => made.policy.clone(),
    };
    let policy = MsrPolicy {
        backfill: Backfill::None,
        empty_slots: EmptySlots::Phantom,
        ..policy
    };
    let proved = is_proved_stable(&policy.clone().into(), workload);
    proved.then(|| Guard {
        mean_number: mean_number(made),
        policy: artifact::Guard::Msr(policy),
    })
}

/// What is claimed of the mean number of jobs under the policy of the program, or of the types' bounds; 0 where
/// nothing is.
fn mean_number(made: &Synthesis) -> f64 {
    let claims = || made.artifact.claims.iter();
    let all = claims().find(|c| c.quantity == Quantity::MeanNumber && c.job_type.is_none());
    let most = claims().filter(|c| c.quantity == Quantity::MeanNumberAtMost);
    all.map_or_else(|| most.map(|c| c.value).sum(), |claim| claim.value)
}

/// Where none is seen to settle, nor tells anything: the policy of the program, if it may be taken and is proved to be
/// stable.
fn by_proof(
    workload: &Workload,
    choice: &ChoiceOptions,
    made: Box<Synthesis>,
    mut skipped: Vec<String>,
) -> Option<Chosen> {
    let proved = is_proved_stable(&made.server().policy.rule, workload);
    (choice.families == Families::All && proved).then(|| {
        skipped.push(format!(
            "all but msr: within a budget of {} none was seen to settle, and of this one stability is proved; more with --budget",
            choice.budget
        ));
        Chosen {
            artifact: made.artifact.clone(),
            run: None,
            unclaimed: None,
            made: Some(made),
            skipped,
            least: None,
        }
    })
}

/// The synthesis with the switching rate that was chosen, of the same schedules.
fn remade(
    workload: &Workload,
    options: &Options,
    made: Box<Synthesis>,
    policy: &Family,
) -> Result<Box<Synthesis>, ChoiceError> {
    match policy.msr() {
        Some(msr) if *msr != made.policy => {
            let options = Options {
                switching_rate: Some(msr.switching_rate),
                route: Some(msr.route),
                ..options.clone()
            };
            Ok(Box::new(again(workload, &options, *made)?))
        }
        _ => Ok(made),
    }
}
