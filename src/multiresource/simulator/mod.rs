//! The validating simulator: one server or a fleet, arrivals and sizes of any law of the workload, any
//! [`Policy`]; intervals that mean what they say, and verdicts on an artifact's claims.
//!
//! The server's invariants (capacity, no preemption where there is none, jobs in = jobs out +
//! jobs inside, time) are asserted at each event, in release builds too. A run that grows
//! without end is called unstable, and has no means.

mod arrivals;
mod calendar;
mod comparison;
mod contender;
mod engine;
mod fleet;
mod quantiles;
mod random;
mod replication;
mod rules;
mod run;
mod sample;
mod series;
mod sizes;
mod statistics;
mod verdict;
mod watch;

pub use comparison::{Pair, Ranked, Ranking, paired_difference, paired_ratio};
pub use contender::{Contender, Failure, NameError};
pub use fleet::simulate_fleet;
pub use rules::{Parameter, Rule};
pub use run::{Ending, Health, Run, TypeResult};
pub use statistics::Estimate;
pub use verdict::{Judgement, Verdict, judge, judge_fleet, watches};
pub use watch::{Threshold, Watch, Watched};

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rayon::prelude::*;

use crate::multiresource::policy::{Policy, Violation};
use crate::multiresource::workload::Workload;
use calendar::{Calendar, Memoryless};
use engine::Engine;
use replication::Replication;

/// When a run ends, and what it draws from.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Seed of all random streams.
    pub seed: u64,
    /// Independent replications, ≥ 1, which run side by side on the cores there are. What comes
    /// out does not depend on how many these are.
    pub replications: u32,
    /// Stop when the 95 % interval of the mean response time is within this of it, relatively.
    pub precision: f64,
    /// Stop after this many events (arrivals, completions and clocks) in all replications.
    pub events: u64,
    /// Stop after this wall-clock time; the result then depends on the machine.
    pub time: Option<Duration>,
    /// Give each job its size as it arrives, even where sizes have no memory and it could be done
    /// without. Then policies under one seed face the same sizes too, and what they differ by is
    /// known better.
    pub common_sizes: bool,
    /// Thresholds to watch; see [`watches`] for those that an artifact's claims are about.
    pub watch: Vec<Watch>,
    /// Once it is set, the run ends with what it has.
    pub interrupt: Arc<AtomicBool>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            seed: 1,
            replications: 8,
            precision: 0.01,
            events: 200_000_000,
            time: None,
            common_sizes: false,
            watch: Vec::new(),
            interrupt: Arc::default(),
        }
    }
}

/// How far a run is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Events so far, in all replications.
    pub events: u64,
    /// Relative precision so far; none while nothing can be said.
    pub precision: Option<f64>,
}

/// Simulates a policy on a workload. `progress` hears now and then how far it is.
///
/// # Errors
/// When the policy makes a decision that no server could carry out.
pub fn simulate<P: Policy + Clone + Send>(
    workload: &Workload,
    policy: P,
    settings: &Settings,
    progress: impl FnMut(Progress),
) -> Result<Run, Violation> {
    let exponential = workload.types().iter().all(|t| t.size().is_exponential());
    if exponential && !policy.needs_sizes() && !settings.common_sizes {
        let engine = |r| Engine::new(workload, policy.clone(), Memoryless, settings, r);
        replicate(workload, engine, settings, progress)
    } else {
        let ends = || Calendar::new(workload);
        let engine = |r| Engine::new(workload, policy.clone(), ends(), settings, r);
        replicate(workload, engine, settings, progress)
    }
}

/// Runs independent replications side by side until there is a reason to end.
fn replicate<R: Replication>(
    workload: &Workload,
    replication: impl Fn(u32) -> R,
    settings: &Settings,
    mut progress: impl FnMut(Progress),
) -> Result<Run, Violation> {
    let started = Instant::now();
    let late = || settings.time.is_some_and(|t| started.elapsed() >= t);
    let interrupted = || settings.interrupt.load(Ordering::Relaxed);
    let replications = settings.replications.max(1);
    let mut engines: Vec<R> = (0..replications).map(replication).collect();
    let share = |events: u64| events.div_ceil(u64::from(replications));
    let (mut checkpoint, mut was_precise) = (FIRST_LOOK, false);
    let ending = loop {
        let goal = share(checkpoint.min(settings.events));
        engines
            .par_iter_mut()
            .for_each(|engine| engine.run(goal, || late() || interrupted()));
        for engine in &mut engines {
            if let Some(violation) = engine.audit() {
                return Err(violation.clone());
            }
        }
        let precision = sample::precision(workload, &engines);
        let precise = precision.is_some_and(|p| p <= settings.precision);
        let events = engines.iter().map(Replication::events).sum();
        progress(Progress { events, precision });
        if sample::runs_away(workload, &engines) {
            break Ending::RunsAway;
        } else if precise && (was_precise || events >= settings.events) {
            break Ending::Precision;
        } else if events >= settings.events {
            break Ending::Events;
        } else if interrupted() {
            break Ending::Interrupted;
        } else if late() {
            break Ending::Time;
        }
        was_precise = precise;
        checkpoint += checkpoint / 4;
    };
    Ok(run::summarize(workload, &engines, settings, ending))
}

/// Events before the first look at the precision; then after each quarter more. A run ends at the
/// second of two looks that find it: at the first, 95 % intervals would cover some 92 %, since
/// those end early that happen to be narrow.
const FIRST_LOOK: u64 = 1_000_000;

#[cfg(test)]
mod tests;
