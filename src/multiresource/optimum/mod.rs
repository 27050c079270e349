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
//! Memory and time grow as schedules × box; systems of two or three types.

mod space;
mod sweep;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::multiresource::artifact::Objective;
use crate::multiresource::policy::Tabled;
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
    /// Wall-clock time, all boxes together; past it the bounds are as far apart as they are.
    pub time: Duration,
}

/// Types at most: the states are the product of the queues.
const MOST_TYPES: usize = 3;

impl Default for Limits {
    fn default() -> Self {
        Limits {
            tolerance: 0.005,
            // Two doubles each, and half as much again while the box grows: below 500 MB.
            states: 24_000_000,
            sweeps: 200_000,
            time: Duration::from_secs(300),
        }
    }
}

/// Why there is no optimum.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum OptimumError {
    /// Not Poisson, or not exponential.
    #[error("the optimum is for Poisson arrivals and exponential sizes, and type `{0}` has others")]
    Laws(String),
    /// More types than it is for.
    #[error("the dynamic program is for two or three types, and here are {0}")]
    Types(usize),
    /// Beyond the limits.
    #[error(
        "the dynamic program has more than {0:.0e} states: it is for two or three types with few schedules"
    )]
    TooLarge(usize),
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
    /// Whether it ended before the bounds were as close as asked for: by an interrupt, or at the time
    /// limit.
    pub interrupted: bool,
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
    /// Memory that the values take: two a state, in doubles.
    pub fn bytes(&self) -> usize {
        16 * self.states
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
    let simple = |t: &&JobType| !(t.is_poisson() && t.size().is_exponential());
    if let Some(job_type) = workload.types().iter().find(simple) {
        return Err(OptimumError::Laws(job_type.name().to_owned()));
    }
    if workload.types().len() > MOST_TYPES {
        return Err(OptimumError::Types(workload.types().len()));
    }
    let until = Deadline {
        interrupt,
        end: Instant::now() + limits.time,
    };
    let sides: Vec<usize> = workload.types().iter().map(first_side).collect();
    let space = Space::new(workload, &sides, MOST_SCHEDULES);
    let mut space = space
        .filter(|space| space.states() <= limits.states)
        .ok_or(OptimumError::TooLarge(limits.states))?;
    let costs = costs(workload, objective);
    let mut values = vec![vec![0.0; space.waiting]; space.near.schedules.len()];
    let (mut best, mut sweeps) = (0.0_f64, 0);
    let (mut before, mut grown) = (None, None);
    loop {
        let mut solver = Sweeps::new(&space, workload, &costs, values);
        let (bounds, here) = close_in(&mut solver, limits, &until, &mut progress);
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
        let interrupted = until.over();
        let close = rest.min(growth) <= limits.tolerance / 2.0;
        if interrupted || close || larger.states() > limits.states {
            let decisions = solver.decisions();
            return Ok(Optimum {
                lower: best,
                upper_in_box: upper,
                states: space.states(),
                sweeps,
                growth,
                interrupted,
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

/// When to end at the latest.
struct Deadline<'a> {
    interrupt: &'a AtomicBool,
    end: Instant,
}

impl Deadline<'_> {
    fn over(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed) || Instant::now() >= self.end
    }
}

/// What a job of each type costs, so that the sum over the mean numbers is the objective (Little).
fn costs(workload: &Workload, objective: Objective) -> Vec<f64> {
    let types = workload.types().iter();
    match objective {
        Objective::Mean => vec![1.0 / workload.total_arrival_rate(); types.len()],
        Objective::Weighted => {
            let shares = workload.load_shares();
            let rates = types.map(JobType::arrival_rate);
            shares.iter().zip(rates).map(|(w, l)| w / l).collect()
        }
    }
}

/// Sweeps over one box until its bounds are close or a limit is reached; returns the bounds and the
/// number of sweeps.
fn close_in(
    solver: &mut Sweeps,
    limits: &Limits,
    until: &Deadline<'_>,
    progress: &mut impl FnMut(Step),
) -> ([f64; 2], usize) {
    let (states, mut sweeps) = (solver.space.states(), 0);
    loop {
        let bounds = solver.sweep();
        sweeps += 1;
        let [low, high] = bounds;
        if sweeps % 16 == 0 {
            progress(Step {
                states,
                sweeps,
                bounds,
            });
        }
        let close = high - low <= limits.tolerance / 2.0 * low;
        if close || sweeps >= limits.sweeps || until.over() {
            return (bounds, sweeps);
        }
    }
}

/// The most schedules that are listed.
const MOST_SCHEDULES: usize = 5_000;

/// The first box: a few more than are in service on average.
fn first_side(job_type: &JobType) -> usize {
    8 + job_type.offered_load().ceil().min(100.0) as usize
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
