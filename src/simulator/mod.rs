//! The validating simulator: one server, Poisson arrivals, sizes of any law of the workload, any
//! [`Policy`]; intervals that mean what they say, and verdicts on an artifact's claims.
//!
//! The server's invariants (capacity, no preemption where there is none, jobs in = jobs out +
//! jobs inside, time) are asserted at each event, in release builds too. A run that grows
//! without end is called unstable, and has no means.

#[cfg_attr(not(test), expect(dead_code))]
mod arrivals;
mod calendar;
mod engine;
mod quantiles;
mod random;
mod run;
mod series;
mod sizes;
mod statistics;
mod verdict;
mod watch;

pub use run::{Ending, Health, Run, TypeResult};
pub use statistics::Estimate;
pub use verdict::{Judgement, Verdict, judge, watches};
pub use watch::{Threshold, Watch, Watched};

use std::time::{Duration, Instant};

use crate::artifact::{MsrPolicy, Preemption};
use crate::policy::{Fcfs, FirstFit, Msr, Policy, Violation};
use crate::workload::Workload;
use calendar::{Calendar, Ends, Memoryless};
use engine::Engine;

/// When a run ends, and what it draws from.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Seed of all random streams.
    pub seed: u64,
    /// Stop when the 95 % interval of the mean response time is within this of it, relatively.
    pub precision: f64,
    /// Stop after this many events (arrivals, completions and clocks).
    pub events: u64,
    /// Stop after this wall-clock time; the result then depends on the machine.
    pub time: Option<Duration>,
    /// Thresholds to watch; see [`watches`] for those that an artifact's claims are about.
    pub watch: Vec<Watch>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            seed: 1,
            precision: 0.01,
            events: 200_000_000,
            time: None,
            watch: Vec::new(),
        }
    }
}

/// Simulates a policy on a workload. `progress` hears now and then how many events are done
/// and what relative precision is reached.
///
/// # Errors
/// When the policy makes a decision that no server could carry out.
pub fn simulate<P: Policy>(
    workload: &Workload,
    policy: P,
    preemptible: bool,
    settings: &Settings,
    progress: impl FnMut(u64, Option<f64>),
) -> Result<Run, Violation> {
    if workload.types().iter().all(|t| t.size().is_exponential()) {
        run_with(
            workload,
            policy,
            Memoryless,
            preemptible,
            settings,
            progress,
        )
    } else {
        let calendar = Calendar::new(workload);
        run_with(workload, policy, calendar, preemptible, settings, progress)
    }
}

fn run_with<P: Policy, E: Ends>(
    workload: &Workload,
    policy: P,
    ends: E,
    preemptible: bool,
    settings: &Settings,
    progress: impl FnMut(u64, Option<f64>),
) -> Result<Run, Violation> {
    if settings.watch.is_empty() {
        let engine = Engine::<_, _, false>::new(workload, policy, ends, preemptible, settings);
        run_engine(workload, engine, settings, progress)
    } else {
        let engine = Engine::<_, _, true>::new(workload, policy, ends, preemptible, settings);
        run_engine(workload, engine, settings, progress)
    }
}

fn run_engine<P: Policy, E: Ends, const WATCHING: bool>(
    workload: &Workload,
    mut engine: Engine<P, E, WATCHING>,
    settings: &Settings,
    mut progress: impl FnMut(u64, Option<f64>),
) -> Result<Run, Violation> {
    let started = Instant::now();
    let mut checkpoint = FIRST_LOOK;
    let ending = loop {
        while engine.events < checkpoint.min(settings.events) {
            engine.step();
        }
        engine.system.audit();
        if let Some(violation) = engine.system.violation() {
            return Err(violation.clone());
        }
        let reached = run::precision(workload, &engine.series);
        progress(engine.events, reached);
        if run::runs_away(workload, &engine) {
            break Ending::RunsAway;
        } else if reached.is_some_and(|p| p <= settings.precision) {
            break Ending::Precision;
        } else if engine.events >= settings.events {
            break Ending::Events;
        } else if settings.time.is_some_and(|t| started.elapsed() >= t) {
            break Ending::Time;
        }
        checkpoint += checkpoint / 4;
    };
    Ok(run::summarize(workload, &mut engine, settings, ending))
}

/// Events before the first look at the precision; then after each quarter more.
const FIRST_LOOK: u64 = 500_000;

/// Policies that can be simulated by name or from an artifact.
#[derive(Clone, Debug)]
pub enum Contender {
    /// First come, first served.
    Fcfs,
    /// First-Fit.
    FirstFit,
    /// A Markovian Service Rate policy.
    Msr(Box<MsrPolicy>),
}

impl Contender {
    /// The names of the rules that need no artifact.
    pub const NAMES: [&'static str; 2] = ["first-fit", "fcfs"];

    /// The rule of this name.
    pub fn named(name: &str) -> Option<Contender> {
        match name {
            "fcfs" => Some(Contender::Fcfs),
            "first-fit" => Some(Contender::FirstFit),
            _ => None,
        }
    }

    /// Simulates this contender; see [`simulate`].
    ///
    /// # Errors
    /// As [`simulate`].
    pub fn simulate(
        &self,
        workload: &Workload,
        settings: &Settings,
        progress: impl FnMut(u64, Option<f64>),
    ) -> Result<Run, Violation> {
        match self {
            Contender::Fcfs => simulate(workload, Fcfs, false, settings, progress),
            Contender::FirstFit => simulate(workload, FirstFit, false, settings, progress),
            Contender::Msr(policy) => {
                let preemptible = policy.preemption != Preemption::None;
                simulate(
                    workload,
                    Msr::new(policy, workload),
                    preemptible,
                    settings,
                    progress,
                )
            }
        }
    }
}

#[cfg(test)]
mod tests;
