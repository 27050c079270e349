//! The least mean response time that any policy can have, of small systems: without preemption, or with full.
//!
//! # Theory
//! For Poisson arrivals and exponential sizes the state is, without preemption, the schedule that runs and the number
//! of waiting jobs of each type, and a policy starts waiting jobs at events; with full preemption it is the number of
//! jobs of each type, and a policy chooses the schedule. The least average cost is
//! that of a dynamic program, which is solved by relative value iteration on a box of waiting jobs
//! where arrivals beyond it are lost.
//!
//! The optimum in the box is a lower bound for the system without one: a policy in the box can serve
//! the jobs that are not lost as a policy without the box serves them, and idle for the others. So is
//! the least change of a sweep. The box grows until that hardly matters.
//!
//! # Practice
//! Memory and time grow as schedules × box, and the box as a power of the number of types: two types on
//! dozens of servers, four on a handful. With preemption schedules are decisions, not states: three or four types
//! on any server. What is too large is refused before anything is computed.

mod preemptive;
mod region;
mod sweep;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use preemptive::Preemptive;
use region::{Dynamic, Region};
use schemars::JsonSchema;
use serde::Serialize;
use sweep::Sweeps;
use synth_multiresource::artifact::{Objective, Preemption};
use synth_multiresource::bound::costs;
use synth_multiresource::schedule::{Packing, enumerate, maximal};
use synth_multiresource::workload::{JobType, Workload};

/// Which policies are compared, and by what.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Problem {
    /// What policies may do.
    pub preemption: Preemption,
    /// γ, where that is with setups \[1/time\].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub setup_rate: Option<f64>,
    /// What is least.
    pub objective: Objective,
}

impl Problem {
    /// Returns the problem of the least mean response time, without setups.
    pub fn mean(preemption: Preemption) -> Self {
        Problem {
            preemption,
            setup_rate: None,
            objective: Objective::Mean,
        }
    }
}

/// Limits on the work.
#[derive(Clone, Debug)]
pub struct OptimumLimits {
    /// Relative distance between the bounds, and of what the last growth of the box changed.
    pub tolerance: f64,
    /// States at most.
    pub states: usize,
    /// Sweeps over one box at most.
    pub sweeps: usize,
    /// States × sweeps at most, all boxes together: a limit on time that is the same on each machine.
    pub updates: u64,
    /// Wall-clock time, all boxes together; past it the bounds are as far apart as they are.
    pub time: Duration,
}

impl Default for OptimumLimits {
    fn default() -> Self {
        OptimumLimits {
            tolerance: 0.005,
            // Below 400 MB.
            states: 20_000_000,
            sweeps: 200_000,
            updates: u64::MAX,
            time: Duration::MAX,
        }
    }
}

impl OptimumLimits {
    /// Returns the same, but no longer than this.
    #[must_use]
    pub fn within(self, time: Duration) -> Self {
        OptimumLimits {
            time: self.time.min(time),
            ..self
        }
    }

    /// For an answer in passing: within half a second or so, and on any machine the same answer.
    pub fn in_passing() -> Self {
        OptimumLimits {
            states: 100_000,
            updates: 60_000_000,
            ..OptimumLimits::default()
        }
    }
}

/// Why there is no optimum, and what to do.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct OptimumError(String);

impl OptimumError {
    /// Of several servers.
    pub fn of_fleet() -> Self {
        OptimumError("it is for one server".into())
    }

    /// Of policies that know more of a job than its type.
    pub fn of_sizes() -> Self {
        OptimumError("it is for policies that know no more of a job than its type".into())
    }
}

fn refused<T>(why: impl Into<String>) -> Result<T, OptimumError> {
    Err(OptimumError(why.into()))
}

/// Memory a state: two doubles, and those of the smaller box while it grows \[bytes\].
const BYTES: f64 = 20.0;

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// The bounds are as close, and the last growth of the box changed as little, as requested.
    Close,
    /// The next box would have more states than the limit.
    Full,
    /// By an interrupt, or at a limit on time, sweeps or updates.
    Cut,
}

/// The optimum of one system.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Optimum {
    /// No policy with this preemption has less \[time\].
    #[serde(rename = "lower_bound_in_box")]
    pub lower: f64,
    /// The least cost in the box is at most this \[time\].
    #[serde(rename = "upper_bound_in_box")]
    pub upper_in_box: f64,
    /// The most jobs of each type in the box: those that wait, or with preemption all.
    #[serde(rename = "most_jobs")]
    pub limits: Vec<usize>,
    /// States of the last box.
    pub states: usize,
    /// Sweeps over all boxes.
    pub sweeps: usize,
    /// What the last growth of the box changed, relatively; not a number before the box has grown.
    #[schemars(with = "Option<f64>")]
    pub growth: f64,
    /// Why it ended.
    pub ended: Ended,
}

/// Progress.
#[derive(Clone, Copy, Debug)]
pub struct OptimumStep {
    /// States of the present box.
    pub states: usize,
    /// Sweeps over it.
    pub sweeps: usize,
    /// Bounds of it \[time\].
    pub bounds: [f64; 2],
}

impl OptimumStep {
    /// Memory that they take \[bytes\].
    pub fn bytes(&self) -> f64 {
        BYTES * self.states as f64
    }
}

/// Returns the least mean response time that a policy with this preemption can have, or that weighted by load.
///
/// # Errors
/// When the laws have memory, when it is too large.
pub fn optimum(
    workload: &Workload,
    problem: Problem,
    limits: &OptimumLimits,
    interrupt: &AtomicBool,
    progress: impl FnMut(OptimumStep),
) -> Result<Optimum, OptimumError> {
    if workload.start_latency().is_some() {
        return refused(
            "the optimum is for jobs that hold their room for an exponential time, and with a start latency they do not: without `start_latency` it can be computed",
        );
    }
    let other = |t: &&JobType| !(t.is_poisson() && t.holding().is_exponential());
    if let Some(job_type) = workload.types().iter().find(other) {
        return refused(format!(
            "the optimum is for Poisson arrivals and exponential sizes, and type `{}` has others",
            job_type.name()
        ));
    }
    let costs = costs(workload, problem.objective);
    let costs = costs.map_err(|_| OptimumError("a percentile is no sum over jobs, as the dynamic program needs it: take --minimize mean or weighted".into()))?;
    let work: f64 = workload.types().iter().map(JobType::offered_load).sum();
    let mean = work / workload.total_arrival_rate();
    let is_far = |rate: &f64| !SETUPS.contains(&(rate * mean));
    if let Some(rate) = problem.setup_rate.filter(is_far) {
        return refused(format!(
            "a setup of mean {} beside jobs of mean {mean}: the dynamic program is for setups up to 1e6 times as long, or as short; slower ones are as --preemption none, faster ones as full",
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

/// Grows the box until that hardly changes the optimum, or a limit is reached; in each box sweeps until the bounds are
/// close or a limit is reached.
fn closed_in(
    mut solver: impl Dynamic,
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
        // The lower bound of each box holds.
        best = best.max(lower);
        all_sweeps += sweeps;
        let growth = before.map_or(f64::INFINITY, |b: f64| (lower - b).abs() / lower);
        // Changes of growing boxes fall at least geometrically: what all further ones would change.
        let rest = match grown {
            Some(earlier) if growth < earlier => growth * growth / (earlier - growth),
            _ => growth,
        };
        let (region, copies) = solver.region();
        let larger = region.grown();
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

/// Rates of setups, times the mean size of jobs.
const SETUPS: std::ops::RangeInclusive<f64> = 1e-6..=1e6;

/// The most schedules that are listed.
const MOST_SCHEDULES: usize = 5_000;

/// The most maximal schedules that are decided among, and the candidates among which they are looked for.
const MOST_MAXIMAL: usize = 2_000;
const VISITS: usize = 2_000_000;

/// Waiting jobs of each type in the first box, beside as many as are in service on average: the most
/// that the states have room for.
const FIRST: [usize; 3] = [8, 6, 4];

fn too_many(most: usize) -> OptimumError {
    OptimumError(format!(
        "the dynamic program is for at most {most} schedules, and here are more: take fewer types, or fewer servers"
    ))
}

/// Returns the first box.
fn first_box(workload: &Workload, schedules: usize, states: usize) -> Result<Region, OptimumError> {
    let in_service = |t: &JobType| t.offered_load().ceil().min(100.0) as usize;
    let (mut least, limit) = (f64::INFINITY, states as f64);
    for more in FIRST {
        let types = workload.types().iter();
        let sides: Vec<usize> = types.map(|t| more + in_service(t)).collect();
        // In floating point: with dozens of types this is beyond any integer.
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
        "the dynamic program would begin with {least:.1e} states ({times}the numbers of jobs of {} types; {:.0} MB), and the limit is {limit:.1e}: take fewer types or a lower load, or give `synth optimum` more --work",
        workload.types().len(),
        least * BYTES / 1e6
    ))
}

#[cfg(test)]
mod tests;
