//! The least mean response time that any non-preemptive policy can have, of small systems.
//!
//! # Theory
//! For Poisson arrivals and exponential sizes the state is the schedule that runs and the number of
//! waiting jobs of each type; a policy starts waiting jobs at events. The least average cost is
//! that of a dynamic program, which is solved by relative value iteration on a box of waiting jobs
//! where arrivals beyond it are lost.
//!
//! The optimum in the box is a lower bound for the system without one: a policy in the box can serve
//! the jobs that are not lost as a policy without the box serves them, and idle for the others. So is
//! the least change of a sweep. The box grows until that hardly matters. The cost of the policy in the
//! system without a box is found by simulation ([`crate::multiresource::policy::Tabled`]).
//!
//! # Practice
//! Memory and time grow as schedules × box, and the box as a power of the number of types: two types on
//! dozens of servers, four on a handful. What is too large is refused before anything is computed.

mod space;
mod sweep;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::multiresource::artifact::Objective;
use crate::multiresource::policy::Tabled;
use crate::multiresource::schedule::{Packing, enumerate};
use crate::multiresource::workload::{JobType, Workload};
use space::Space;
use sweep::Sweeps;

/// Limits on the work.
#[derive(Clone, Debug)]
pub struct Limits {
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

impl Default for Limits {
    fn default() -> Self {
        Limits {
            tolerance: 0.005,
            // Below 500 MB.
            states: 24_000_000,
            sweeps: 200_000,
            updates: u64::MAX,
            time: Duration::from_secs(300),
        }
    }
}

impl Limits {
    /// For an answer in passing: within half a second or so, and on any machine the same answer.
    pub fn in_passing() -> Self {
        Limits {
            states: 100_000,
            updates: 60_000_000,
            ..Limits::default()
        }
    }
}

/// Why there is no optimum.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum OptimumError {
    /// Not Poisson, or not exponential.
    #[error("the optimum is for Poisson arrivals and exponential sizes, and type `{0}` has others")]
    Laws(String),
    /// A percentile.
    #[error(
        "a percentile is no sum over jobs, as the dynamic program needs it: take --objective mean or weighted"
    )]
    Percentile,
    /// More schedules than are listed.
    #[error(
        "the dynamic program is for at most {0} schedules, and here are more: take fewer types, or fewer servers"
    )]
    Schedules(usize),
    /// The smallest box is beyond the limit.
    #[error(
        "the dynamic program would begin with {states:.1e} states ({schedules} schedules × the waiting jobs of {types} types; {:.0} MB), and the limit is {limit:.1e}: take fewer types or a lower load, or give `synth optimum` more --states",
        .states * BYTES / 1e6
    )]
    TooLarge {
        /// Schedules.
        schedules: usize,
        /// Types.
        types: usize,
        /// States of the smallest box.
        states: f64,
        /// States at most.
        limit: f64,
    },
}

/// Memory a state: two doubles, and those of the smaller box while it grows \[bytes\].
const BYTES: f64 = 20.0;

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The bounds are as close, and the last growth of the box changed as little, as asked for.
    Close,
    /// The next box would have more states than the limit.
    Full,
    /// By an interrupt, or at a limit on time, sweeps or updates.
    Cut,
}

/// The optimum of one system.
#[derive(Clone, Debug)]
pub struct Optimum {
    /// No non-preemptive policy has less \[time\].
    pub lower: f64,
    /// The least cost in the box is at most this \[time\].
    pub upper_in_box: f64,
    /// The most waiting jobs of each type in the box.
    pub limits: Vec<usize>,
    /// States of the last box.
    pub states: usize,
    /// Sweeps over all boxes.
    pub sweeps: usize,
    /// What the last growth of the box changed, relatively.
    pub growth: f64,
    /// Why it ended.
    pub ended: Ended,
    /// The policy of the last box.
    pub policy: Tabled,
}

/// Progress.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// States of the present box.
    pub states: usize,
    /// Sweeps over it.
    pub sweeps: usize,
    /// Bounds of it \[time\].
    pub bounds: [f64; 2],
}

impl Step {
    /// Memory that they take \[bytes\].
    pub fn bytes(&self) -> f64 {
        BYTES * self.states as f64
    }
}

/// The least mean response time that a non-preemptive policy can have, or that weighted by load.
///
/// # Errors
/// When the laws have memory, when it is too large.
pub fn optimum(
    workload: &Workload,
    objective: Objective,
    limits: &Limits,
    interrupt: &AtomicBool,
    mut progress: impl FnMut(Step),
) -> Result<Optimum, OptimumError> {
    let other = |t: &&JobType| !(t.is_poisson() && t.size().is_exponential());
    if let Some(job_type) = workload.types().iter().find(other) {
        return Err(OptimumError::Laws(job_type.name().to_owned()));
    }
    let mut effort = Effort {
        interrupt,
        end: Instant::now() + limits.time,
        updates: limits.updates,
    };
    let mut space = first_box(workload, limits.states)?;
    let costs = costs(workload, objective)?;
    let mut values = vec![vec![0.0; space.waiting]; space.near.schedules.len()];
    let (mut best, mut sweeps) = (0.0_f64, 0);
    let (mut before, mut grown) = (None, None);
    loop {
        let mut solver = Sweeps::new(&space, workload, &costs, values);
        let (bounds, here) = close_in(&mut solver, limits, &mut effort, &mut progress);
        let [lower, upper] = bounds;
        // The lower bound of each box holds.
        best = best.max(lower);
        sweeps += here;
        let growth = before.map_or(f64::INFINITY, |b: f64| (lower - b).abs() / lower);
        // Changes of growing boxes fall at least geometrically: what all further ones would change.
        let rest = match grown {
            Some(earlier) if growth < earlier => growth * growth / (earlier - growth),
            _ => growth,
        };
        let larger = space.grown();
        let settled = rest.min(growth) <= limits.tolerance / 2.0;
        let ended = match effort.is_over() || !limits.are_close(bounds) {
            true => Some(Ended::Cut),
            false if settled => Some(Ended::Close),
            false => (larger.states() > limits.states).then_some(Ended::Full),
        };
        if let Some(ended) = ended {
            let decisions = solver.decisions();
            return Ok(Optimum {
                lower: best,
                upper_in_box: upper,
                states: space.states(),
                sweeps,
                growth,
                ended,
                policy: Tabled::new(space.near, &space.limits, decisions),
                limits: space.limits,
            });
        }
        (before, grown) = (Some(lower), Some(growth).filter(|g| g.is_finite()));
        let old = solver.values;
        values = old.iter().map(|v| extended(&space, &larger, v)).collect();
        space = larger;
    }
}

/// What may still be spent.
struct Effort<'a> {
    interrupt: &'a AtomicBool,
    end: Instant,
    updates: u64,
}

impl Effort<'_> {
    fn spend(&mut self, states: usize) {
        self.updates = self.updates.saturating_sub(states as u64);
    }

    fn is_over(&self) -> bool {
        self.updates == 0 || self.interrupt.load(Ordering::Relaxed) || Instant::now() >= self.end
    }
}

impl Limits {
    fn are_close(&self, [low, high]: [f64; 2]) -> bool {
        high - low <= self.tolerance / 2.0 * low
    }
}

/// What a job of each type costs, so that the sum over the mean numbers is the objective (Little).
fn costs(workload: &Workload, objective: Objective) -> Result<Vec<f64>, OptimumError> {
    let types = workload.types().iter();
    Ok(match objective {
        Objective::P99 => return Err(OptimumError::Percentile),
        Objective::Mean => vec![1.0 / workload.total_arrival_rate(); types.len()],
        Objective::Weighted => {
            let shares = workload.load_shares();
            let rates = types.map(JobType::arrival_rate);
            shares.iter().zip(rates).map(|(w, l)| w / l).collect()
        }
    })
}

/// Sweeps over one box until its bounds are close or a limit is reached; returns the bounds and the
/// number of sweeps.
fn close_in(
    solver: &mut Sweeps,
    limits: &Limits,
    effort: &mut Effort<'_>,
    progress: &mut impl FnMut(Step),
) -> ([f64; 2], usize) {
    let (states, mut sweeps) = (solver.space.states(), 0);
    loop {
        let bounds = solver.sweep();
        sweeps += 1;
        effort.spend(states);
        if sweeps % 16 == 0 {
            progress(Step {
                states,
                sweeps,
                bounds,
            });
        }
        if limits.are_close(bounds) || sweeps >= limits.sweeps || effort.is_over() {
            return (bounds, sweeps);
        }
    }
}

/// The most schedules that are listed.
const MOST_SCHEDULES: usize = 5_000;

/// Waiting jobs of each type in the first box, beside as many as are in service on average: the most
/// that the states have room for.
const FIRST: [usize; 3] = [8, 6, 4];

/// The first box.
fn first_box(workload: &Workload, states: usize) -> Result<Space, OptimumError> {
    let found = enumerate(&Packing::new(workload), MOST_SCHEDULES);
    if !found.complete {
        return Err(OptimumError::Schedules(MOST_SCHEDULES));
    }
    let schedules = found.schedules.len();
    let in_service = |t: &JobType| t.offered_load().ceil().min(100.0) as usize;
    let sides = |more: &usize| -> Vec<usize> {
        let types = workload.types().iter();
        types.map(|t| more + in_service(t)).collect()
    };
    // In floating point: with dozens of types this is beyond any integer.
    let size = |sides: &[usize]| -> f64 {
        let waiting: f64 = sides.iter().map(|b| *b as f64 + 1.0).product();
        schedules as f64 * waiting
    };
    let limit = states as f64;
    let mut boxes = FIRST.iter().map(sides);
    match boxes.find(|sides| size(sides) <= limit) {
        Some(sides) => Ok(Space::new(found.schedules, &sides)),
        None => Err(OptimumError::TooLarge {
            schedules,
            types: workload.types().len(),
            states: FIRST
                .iter()
                .map(|more| size(&sides(more)))
                .fold(f64::INFINITY, f64::min),
            limit,
        }),
    }
}

/// The values on a larger box: beyond four fifths of the old one, where the losses at its edge have an
/// effect, as the parabola through three points within, type by type.
fn extended(old: &Space, new: &Space, values: &[f64]) -> Vec<f64> {
    let mut sides: Vec<usize> = old.limits.iter().map(|b| b + 1).collect();
    let mut values = values.to_vec();
    for i in 0..sides.len() {
        let (before, after) = (sides[i], new.limits[i] + 1);
        let inner: usize = sides[i + 1..].iter().product();
        let outer: usize = sides[..i].iter().product();
        let points = [2, 3, 4].map(|fifths| (before - 1) * fifths / 5);
        let mut larger = Vec::with_capacity(outer * after * inner);
        for block in values.chunks_exact(before * inner) {
            for n in 0..after {
                if n <= points[2] {
                    larger.extend_from_slice(&block[n * inner..(n + 1) * inner]);
                    continue;
                }
                let weights = lagrange(points, n);
                larger.extend((0..inner).map(|at| {
                    let pairs = points.iter().zip(weights);
                    pairs.map(|(p, w)| w * block[p * inner + at]).sum::<f64>()
                }));
            }
        }
        sides[i] = after;
        values = larger;
    }
    values
}

/// What the values at three points weigh in those of the parabola through them at n.
fn lagrange(points: [usize; 3], n: usize) -> [f64; 3] {
    let [a, b, c] = points.map(|p| p as f64);
    let x = n as f64;
    let weight = |a: f64, b: f64, c: f64| (x - b) * (x - c) / ((a - b) * (a - c));
    [weight(a, b, c), weight(b, a, c), weight(c, a, b)]
}

#[cfg(test)]
mod tests;
