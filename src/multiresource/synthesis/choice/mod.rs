//! The choice among families, by simulation: each tunes its knobs, then the best of each meet on
//! arrivals and sizes that none was tuned on, beside what people run now.
//!
//! # Method
//! All runs of one stage have the same seed and length, so that policies face the same arrivals and
//! sizes and their ratio is known better than their means ([`crate::multiresource::simulator::paired_ratio`]). Knobs
//! are tuned one at a time over grids, in steps up or down as long as the objective falls; a step
//! that is surely worse after a quarter of a run is not run to its end. For the end, fresh seeds: the
//! best of many is the best by luck too, and what is claimed must not be that. Those that are surely
//! slower than the first after a short run (95 % together, Bonferroni) stay behind; the others go on
//! until one is surely the first, or the budget of events is spent.

mod course;
mod finals;
mod knobs;
mod record;
mod search;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::{MsfqOutlook, Options, Outcome, Synthesis, SynthesisError, synthesize};
use crate::multiresource::artifact::{
    AdaptiveMsrPolicy, AdaptiveQuickswapPolicy, Artifact, Family, Objective, Switching,
};
use crate::multiresource::policy::StaticQuickswap;
use crate::multiresource::schedule::Packing;
use crate::multiresource::simulator::{Contender, Failure, Run};
use crate::multiresource::workload::{JobType, Workload};
use course::Course;
use finals::Entrant;
use knobs::Knobs;

/// Families that a choice is made among.
#[derive(Clone, Debug, PartialEq)]
pub enum Families {
    /// This policy as it is.
    Given(Box<Family>),
    /// Static and Adaptive Quickswap.
    Quickswap,
    /// Adaptive MSR, tuned.
    AdaptiveMsr,
    /// These and nMSR.
    All,
}

/// What the user decides of a choice.
#[derive(Clone, Debug)]
pub struct ChoiceOptions {
    /// Among which families.
    pub families: Families,
    /// Events that may be simulated (arrivals, completions, clocks).
    pub budget: u64,
    /// Seed of the runs that decide; those that tune have the next one.
    pub seed: u64,
    /// The largest mean slowdown `E[T_i]/E[S_i]` of a type over the smallest that is wanted, ≥ 1.
    pub max_slowdown_ratio: Option<f64>,
    /// Once it is set, the choice ends without an answer.
    pub interrupt: Arc<AtomicBool>,
}

/// The policy that was chosen.
#[derive(Debug)]
pub struct Chosen {
    /// The product.
    pub artifact: Artifact,
    /// What was measured of it; nothing where no candidate was seen to settle.
    pub run: Option<Run>,
    /// What was synthesized of its family, if that is Markovian Service Rate.
    pub made: Option<Box<Synthesis>>,
    /// What was not considered, and why.
    pub skipped: Vec<String>,
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
        "within {0:e} events none of the policies was seen to settle: give more with --budget, or take `--family msr`, whose stability is proved"
    )]
    NoneSettles(f64),
}

/// How far a choice is.
#[derive(Clone, Debug)]
pub struct Stage {
    /// What goes on.
    pub what: String,
    /// Fraction of the budget that is spent.
    pub spent: f64,
}

/// Part of the budget that goes into tuning.
const TUNING: f64 = 0.5;

/// Runs of which the whole budget would consist while knobs are tuned, if the first were long enough
/// to tell policies apart; where they are not, they grow.
const RUNS: u64 = 400;

/// Servers up to which the best threshold is computed.
const AFFORDABLE: u32 = 128;

/// Chooses a policy without preemption. `made` is the MSR policy for these options.
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
    let (lines, skipped) = lines(workload, options, choice, &made);
    let mut course = Course {
        workload,
        objective: options.objective,
        most_uneven: choice.max_slowdown_ratio.unwrap_or(f64::INFINITY),
        seed: choice.seed.wrapping_add(1),
        interrupt: Arc::clone(&choice.interrupt),
        budget: choice.budget,
        spent: 0,
    };
    let mut entrants = tuned(&mut course, lines, &made, &mut progress)?;
    entrants.extend([Contender::FirstFit, Contender::MostServersFirst].map(Entrant::rule));
    course.seed = choice.seed;
    finals::run(&mut course, &mut entrants, progress)?;
    if course.interrupted() {
        return Err(ChoiceError::Interrupted);
    }
    let none = ChoiceError::NoneSettles(course.spent as f64);
    let Some(standing) = finals::Standing::new(&course, entrants) else {
        return fallback(workload, choice, made, skipped).ok_or(none);
    };
    let winner = &standing.order[0];
    let (Some(policy), Some(run)) = (winner.policy.clone(), winner.last().cloned()) else {
        return Err(none);
    };
    let record = record::choice(&course, choice, &standing);
    let made = remade(workload, options, made, &policy)?;
    let artifact = record::artifact(&made, &policy, &run, record, workload);
    let msr = artifact.policy.msr().is_some();
    Ok(Chosen {
        artifact,
        run: Some(run),
        made: msr.then_some(made),
        skipped,
    })
}

/// The best of each family, on arrivals and sizes of its own seed.
fn tuned(
    course: &mut Course<'_>,
    lines: Vec<Line>,
    made: &Synthesis,
    progress: &mut impl FnMut(Stage),
) -> Result<Vec<Entrant>, ChoiceError> {
    let taken = made.routes.iter().find(|r| r.route == made.policy.route);
    let largest = taken.and_then(|r| r.outlook.as_ref()).map(|o| o.largest);
    let knobs = Knobs::new(course.workload, largest.unwrap_or(f64::INFINITY));
    let budget = course.budget;
    let all: f64 = lines.iter().map(|line| line.weight).sum();
    let mut entrants = Vec::new();
    for line in lines {
        progress(Stage {
            what: format!("tuning {}", line.starts[0].name()),
            spent: course.spent as f64 / budget as f64,
        });
        entrants.push(match line.weight > 0.0 {
            true => {
                let share = TUNING * line.weight / all * budget as f64;
                let found = search::tune(course, &knobs, line.starts, share as u64, budget / RUNS)?;
                Entrant::new(found.policy, found.tried)
            }
            false => Entrant::new(line.starts[0].clone(), 1),
        });
    }
    Ok(entrants)
}

/// Where none is seen to settle: the one that is proved to be stable, if it is among those that may be
/// taken.
fn fallback(
    workload: &Workload,
    choice: &ChoiceOptions,
    made: Box<Synthesis>,
    mut skipped: Vec<String>,
) -> Option<Chosen> {
    let proved = is_proved_stable(&made.artifact.policy, workload);
    (choice.families == Families::All && proved).then(|| {
        skipped.push(format!(
            "all but msr: within {:e} events none was seen to settle, and of this one stability is proved; more with --budget",
            choice.budget as f64
        ));
        Chosen {
            artifact: made.artifact.clone(),
            run: None,
            made: Some(made),
            skipped,
        }
    })
}

/// The synthesis with the switching rate that was chosen.
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
            match synthesize(workload, &options)? {
                Outcome::Policy(again) => Ok(again),
                _ => Ok(made),
            }
        }
        _ => Ok(made),
    }
}

/// A family: where its knobs stand at first, and its share of the work.
struct Line {
    starts: Vec<Family>,
    weight: f64,
}

/// The families that are considered, and what is not.
fn lines(
    workload: &Workload,
    options: &Options,
    choice: &ChoiceOptions,
    made: &Synthesis,
) -> (Vec<Line>, Vec<String>) {
    if let Families::Given(policy) = &choice.families {
        let line = Line {
            starts: vec![(**policy).clone()],
            weight: 0.0,
        };
        return (vec![line], Vec::new());
    }
    let mut lines = Vec::new();
    let mut skipped = Vec::new();
    let mut add = |weight, starts| lines.push(Line { starts, weight });
    if choice.families != Families::Quickswap {
        add(3.0, adaptive_msr(workload, made));
    }
    if choice.families != Families::AdaptiveMsr {
        add(
            0.0,
            vec![Family::AdaptiveQuickswap(AdaptiveQuickswapPolicy {})],
        );
        match time_of_turns(workload) {
            time if time < 1.0 => add(2.0, static_quickswap(workload, options.objective)),
            time => skipped.push(format!(
                "static-quickswap: its turns would take Σ λ_i/(μ_i c_i) = {time:.3} of the time, and only below 1 it is known to be stable"
            )),
        }
    }
    if choice.families == Families::All {
        let rate_is_given = options.switching_rate.is_some() || made.policy.order.len() == 1;
        add(
            if rate_is_given { 0.0 } else { 1.0 },
            vec![Family::Msr(made.policy.clone())],
        );
    }
    (lines, skipped)
}

/// `Σ_i λ_i/(μ_i c_i)`, c_i the number of type i that fits: below 1 Static Quickswap without overlap is
/// stable (Quickswap paper, section 4.3).
pub fn time_of_turns(workload: &Workload) -> f64 {
    let packing = Packing::new(workload);
    let types = workload.types().iter().enumerate();
    let turn = |(i, job_type): (usize, &JobType)| {
        job_type.offered_load() / f64::from(packing.most(i, packing.capacity()))
    };
    types.map(turn).sum()
}

/// Whether a policy that was synthesized for the workload, or chosen, is known to be stable there:
/// nMSR with exponential sizes by its loads ρ_i < 1, Static Quickswap without overlap by the time of
/// its turns. The others have no proof.
pub fn is_proved_stable(policy: &Family, workload: &Workload) -> bool {
    match policy {
        Family::Msr(_) => super::all_exponential(workload),
        Family::StaticQuickswap(turns) => !turns.overlap && time_of_turns(workload) < 1.0,
        Family::AdaptiveQuickswap(_) | Family::AdaptiveMsr(_) | Family::Optimal(_) => false,
    }
}

/// The working schedules of the program, priced so that the dearest is worth 1, with knobs that did
/// well on section 7 of the MSR paper at high and at low load, and on one-or-all for the mean and for
/// the weighted mean.
fn adaptive_msr(workload: &Workload, made: &Synthesis) -> Vec<Family> {
    let prices = made.solution.certificate.prices.iter();
    let prices = prices.zip(workload.types());
    let prices: Vec<f64> = prices
        .map(|(y, job_type)| y / job_type.offered_load())
        .collect();
    let worth =
        |u: &Vec<u32>| -> f64 { u.iter().zip(&prices).map(|(u, p)| f64::from(*u) * p).sum() };
    let dearest = made.policy.schedules.iter().map(worth).fold(0.0, f64::max);
    let most = made.policy.schedules.iter().map(|u| u.iter().sum::<u32>());
    let most = f64::from(most.max().unwrap_or(1));
    let part = |of: f64| (10.0 * of * most).round() / 10.0;
    let with = |[waste, margin, floor, patience]: [f64; 4]| {
        Family::AdaptiveMsr(AdaptiveMsrPolicy {
            schedules: made.policy.schedules.clone(),
            prices: prices.iter().map(|p| p / dearest).collect(),
            switching: Switching {
                waste,
                margin,
                floor,
                patience,
            },
        })
    };
    [
        [0.5, 0.25, part(1.0), 0.5],
        [0.5, 0.0, part(0.4), 2.0],
        [0.2, 0.5, part(1.2), 0.0],
        [0.5, 0.5, 1e3, 0.0],
    ]
    .map(with)
    .into()
}

/// The published one; and on a one-or-all system that with the best threshold of the exact analysis,
/// where it is affordable.
fn static_quickswap(workload: &Workload, objective: Objective) -> Vec<Family> {
    let published = StaticQuickswap::published(workload, false);
    let mut starts = vec![Family::StaticQuickswap(published.clone())];
    let exact = MsfqOutlook::new(workload, objective);
    if let Some(outlook) = exact.filter(|o| o.system.servers <= AFFORDABLE)
        && let Some((threshold, _)) = outlook.best()
    {
        let mut policy = published;
        policy.thresholds[outlook.system.light] = threshold as u32;
        starts.push(Family::StaticQuickswap(policy));
    }
    starts
}
