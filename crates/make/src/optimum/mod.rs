//! This module computes the minimum mean response time over all policies, for small systems.
//!
//! The arrivals must be Poisson and the sizes must be exponential. Without preemption, the state is
//! the running schedule and the number of waiting jobs of each type. With full preemption, the
//! state is the number of jobs of each type, and the schedule is a decision. The minimum of the
//! average cost is computed by relative value iteration on a box, where a job that arrives at the
//! edge is lost. The optimum in the box is a lower bound for the unbounded system, because a policy
//! in the box can do the same as any policy, and be idle when that serves a job that is lost. The
//! minimum change of a sweep is a lower bound, too. The box grows until this hardly matters.
//!
//! Memory and time grow with the number of schedules (1 with full preemption) multiplied by the
//! size of the box, which is exponential in the number of types. It is possible to solve two types
//! on dozens of servers, four types on a few servers or, with full preemption, three or four types
//! on any server. If a system is too large, there is an error before anything is computed.

mod preemptive;
mod region;
mod sweep;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use preemptive::Preemptive;
use region::{Region, ValueIteration};
use schemars::JsonSchema;
use serde::Serialize;
use sweep::Sweeps;
use synth_multiresource::artifact::{Objective, Preemption};
use synth_multiresource::bound::costs;
use synth_multiresource::schedule::{Packing, enumerate, maximal};
use synth_multiresource::workload::{JobType, Workload};

/// The class of policies, and the metric to minimize.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Problem {
    /// Whether the policies are allowed to preempt jobs.
    pub preemption: Preemption,
    /// The setup rate γ, if there is preemption with setups \[1/time\].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub setup_rate: Option<f64>,
    /// The metric that is minimized.
    pub objective: Objective,
}

impl Problem {
    /// Returns the problem of minimizing the mean response time without setups.
    pub fn mean(preemption: Preemption) -> Self {
        Problem {
            preemption,
            setup_rate: None,
            objective: Objective::Mean,
        }
    }
}

/// The limits on the work.
#[derive(Clone, Debug)]
pub struct OptimumLimits {
    /// The relative tolerance for the gap of the bounds and for the effect of growing the box.
    pub tolerance: f64,
    /// The maximum number of states.
    pub states: usize,
    /// The maximum number of sweeps over one box.
    pub sweeps: usize,
    /// The maximum number of states × sweeps over all boxes, for the same result on every machine.
    pub updates: u64,
    /// The wall-clock limit, at which the search ends with the present bounds.
    pub time: Duration,
}

impl Default for OptimumLimits {
    fn default() -> Self {
        OptimumLimits {
            tolerance: 0.005,
            // These need less than 400 MB.
            states: 20_000_000,
            sweeps: 200_000,
            updates: u64::MAX,
            time: Duration::MAX,
        }
    }
}

impl OptimumLimits {
    /// Returns limits that give the same result on every machine, in about half a second.
    pub fn quick() -> Self {
        OptimumLimits {
            states: 100_000,
            updates: 60_000_000,
            ..OptimumLimits::default()
        }
    }
}

/// The reason why the optimum cannot be computed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct OptimumError(String);

impl OptimumError {
    /// Returns the error for fleets of several servers.
    pub fn of_fleet() -> Self {
        OptimumError("the dynamic program only supports a single server".into())
    }

    /// Returns the error for policies that know more about a job than its type.
    pub fn of_sizes() -> Self {
        OptimumError("the dynamic program does not support policies that know job sizes".into())
    }
}

fn refused<T>(why: impl Into<String>) -> Result<T, OptimumError> {
    Err(OptimumError(why.into()))
}

/// The memory per state for two doubles, and for the values of the smaller box \[bytes\].
const BYTES: f64 = 20.0;

/// The reason why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// The bounds and the last growth of the box are within the tolerance.
    Close,
    /// The next box would exceed the limit on states.
    Full,
    /// Interrupted, or stopped by a limit on time, sweeps or updates.
    Cut,
}

/// The result of the search for the optimum of one system.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Optimum {
    /// A lower bound on the objective of every policy in this class \[time\].
    #[serde(rename = "lower_bound_in_box")]
    pub lower: f64,
    /// An upper bound on the optimum in the box \[time\].
    #[serde(rename = "upper_bound_in_box")]
    pub upper_in_box: f64,
    /// The maximum number of jobs of each type in the box. With preemption, this is the number of
    /// all jobs, and without preemption, it is the number of waiting jobs.
    #[serde(rename = "most_jobs")]
    pub limits: Vec<usize>,
    /// The number of states of the last box.
    pub states: usize,
    /// The number of sweeps over all boxes.
    pub sweeps: usize,
    /// The relative effect of the last growth of the box. It is infinite (`null` in JSON) if the
    /// box has not grown.
    #[schemars(with = "Option<f64>")]
    pub growth: f64,
    /// The reason why the search ended.
    pub ended: Ended,
}

/// Progress of the search.
#[derive(Clone, Copy, Debug)]
pub struct OptimumStep {
    /// The number of states of the current box.
    pub states: usize,
    /// The number of sweeps over the current box.
    pub sweeps: usize,
    /// Lower and upper bound of the optimum in it \[time\].
    pub bounds: [f64; 2],
}

impl OptimumStep {
    /// Returns the memory that the states need \[bytes\].
    pub fn bytes(&self) -> f64 {
        BYTES * self.states as f64
    }
}

/// Returns the minimum value of the objective over all policies with this kind of preemption.
///
/// # Errors
/// Returns an error if the arrivals or sizes are not memoryless, there is a start latency, the
/// objective is a percentile, setups are too short or too long, or the state space is too large.
pub fn optimum(
    workload: &Workload,
    problem: Problem,
    limits: &OptimumLimits,
    interrupt: &AtomicBool,
    progress: impl FnMut(OptimumStep),
) -> Result<Optimum, OptimumError> {
    if workload.start_latency().is_some() {
        return refused(
            "the dynamic program requires exponential holding times, but the workload has a start latency. Remove `start_latency`",
        );
    }
    let other = |t: &&JobType| !(t.is_poisson() && t.holding_time().is_exponential());
    if let Some(job_type) = workload.types().iter().find(other) {
        return refused(format!(
            "the dynamic program only supports Poisson arrivals and exponential sizes, but type `{}` has a different distribution",
            job_type.name()
        ));
    }
    let costs = costs(workload, problem.objective);
    let costs = costs.map_err(|_| OptimumError("the dynamic program cannot minimize a percentile because it is not a sum over all jobs. Use --minimize mean or --minimize weighted".into()))?;
    let work: f64 = workload.types().iter().map(JobType::offered_load).sum();
    let mean = work / workload.total_arrival_rate();
    let is_far = |rate: &f64| !SETUPS.contains(&(rate * mean));
    if let Some(rate) = problem.setup_rate.filter(is_far) {
        return refused(format!(
            "the mean setup time is {} and the mean job size {mean}; the dynamic program requires a ratio between 1e-6 and 1e6. If the setups are longer, use --preemption none. If they are shorter, use --preemption full",
            1.0 / rate
        ));
    }
    let packing = Packing::new(workload);
    Ok(match problem.preemption {
        Preemption::None | Preemption::Setup => {
            let found = enumerate(&packing, MOST_SCHEDULES);
            let schedules = found.complete.then_some(found.schedules);
            let mut schedules = schedules.ok_or_else(|| too_many(MOST_SCHEDULES))?;
            let is_setup = problem.preemption == Preemption::Setup;
            let setup_rate = problem.setup_rate.filter(|_| is_setup);
            if setup_rate.is_some() {
                schedules = sweep::in_setup(&schedules);
            }
            let waiting = first_box(workload, schedules.len(), limits.states)?;
            let sweeps = Sweeps::new(schedules, waiting, setup_rate, workload, &costs);
            closed_in(sweeps, limits, interrupt, progress)
        }
        Preemption::Full => {
            let schedules = maximal(&packing, MOST_MAXIMAL, VISITS);
            let schedules = schedules.ok_or_else(|| too_many(MOST_MAXIMAL))?;
            let present = first_box(workload, 1, limits.states)?;
            let sweeps = Preemptive::new(present, schedules, workload, &costs);
            closed_in(sweeps, limits, interrupt, progress)
        }
    })
}

/// Grows the box until that hardly changes the optimum or a limit is reached.
fn closed_in(
    mut solver: impl ValueIteration,
    limits: &OptimumLimits,
    interrupt: &AtomicBool,
    mut progress: impl FnMut(OptimumStep),
) -> Optimum {
    let (end, mut updates) = (Instant::now().checked_add(limits.time), limits.updates);
    let is_cut =
        || interrupt.load(Ordering::Relaxed) || end.is_some_and(|end| Instant::now() >= end);
    let (mut best, mut all_sweeps) = (0.0_f64, 0);
    let (mut before, mut grown) = (None, None);
    loop {
        let (region, copies) = solver.region();
        let states = copies * region.states;
        let (mut sweeps, mut reported) = (0, 0);
        let (bounds, are_close, is_over) = loop {
            let (bounds, count) = solver.sweep();
            sweeps += count;
            updates = updates.saturating_sub((count * states) as u64);
            if sweeps >= reported + 16 {
                reported = sweeps;
                progress(OptimumStep {
                    states,
                    sweeps,
                    bounds,
                });
            }
            let are_close = bounds[1] - bounds[0] <= limits.tolerance / 2.0 * bounds[0];
            let is_over = updates == 0 || is_cut();
            if are_close || sweeps >= limits.sweeps || is_over {
                break (bounds, are_close, is_over);
            }
        };
        let [lower, upper] = bounds;
        // The lower bound of each box is valid.
        best = best.max(lower);
        all_sweeps += sweeps;
        let growth = before.map_or(f64::INFINITY, |b: f64| (lower - b).abs() / lower);
        // The effect of growth decreases at least geometrically, and this is the sum of the rest.
        let rest = match grown {
            Some(earlier) if growth < earlier => growth * growth / (earlier - growth),
            _ => growth,
        };
        let (region, copies) = solver.region();
        let larger = Region::new(region.limits.iter().map(|b| b + b.div_ceil(2)).collect());
        let ended = if is_over || !are_close {
            Some(Ended::Cut)
        } else if rest.min(growth) <= limits.tolerance / 2.0 {
            Some(Ended::Close)
        } else {
            (copies * larger.states > limits.states).then_some(Ended::Full)
        };
        if let Some(ended) = ended {
            return Optimum {
                lower: best,
                upper_in_box: upper,
                states,
                sweeps: all_sweeps,
                growth,
                ended,
                limits: region.limits.clone(),
            };
        }
        (before, grown) = (Some(lower), Some(growth).filter(|g| g.is_finite()));
        solver.grow(larger);
    }
}

/// The supported setup rates, multiplied by the mean size of the jobs.
const SETUPS: std::ops::RangeInclusive<f64> = 1e-6..=1e6;

const MOST_SCHEDULES: usize = 5_000;

/// The maximum number of maximal schedules, and of candidates to find them.
const MOST_MAXIMAL: usize = 2_000;
const VISITS: usize = 2_000_000;

/// The sizes of the first box beyond the mean number in service. The largest possible is used.
const FIRST: [usize; 3] = [8, 6, 4];

fn too_many(most: usize) -> OptimumError {
    OptimumError(format!(
        "the dynamic program supports at most {most} schedules, and this workload has more. Reduce the number of types or the number of servers"
    ))
}

fn first_box(workload: &Workload, schedules: usize, states: usize) -> Result<Region, OptimumError> {
    let in_service = |t: &JobType| t.offered_load().ceil().min(100.0) as usize;
    let (mut least, limit) = (f64::INFINITY, states as f64);
    for more in FIRST {
        let types = workload.types().iter();
        let sides: Vec<usize> = types.map(|t| more + in_service(t)).collect();
        let waiting: f64 = sides.iter().map(|b| *b as f64 + 1.0).product();
        least = least.min(schedules as f64 * waiting);
        if least <= limit {
            return Ok(Region::new(sides));
        }
    }
    let times = match schedules {
        1 => String::new(),
        several => format!("{several} schedules × "),
    };
    refused(format!(
        "the dynamic program would start with {least:.1e} states ({times}job counts of {} types; {:.0} MB), which is more than the limit of {limit:.1e}. Reduce the number of types or the load, or increase --work of `synth optimum`",
        workload.types().len(),
        least * BYTES / 1e6
    ))
}

#[cfg(test)]
mod tests;
