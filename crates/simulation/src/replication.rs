use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rayon::prelude::*;

use super::{Ending, Recorder, Results, Watch, sample, settling};

/// A class of jobs, as far as statistics look at it: the types of a workload, in its order.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    /// Its name.
    pub name: String,
    /// Arrival rate λ \[1/time\], > 0.
    pub arrival_rate: f64,
    /// Mean size E\[S\] \[time\], > 0.
    pub mean_size: f64,
    /// Squared coefficient of variation of its sizes, ≥ 0.
    pub scv: f64,
    /// Index of dispersion of its arrivals, `lim Var N(t) / E N(t)`: 1 for Poisson arrivals. Where
    /// other classes arrive more often at the same times, or sizes that arrive together are alike,
    /// it counts that in.
    pub dispersion: f64,
    /// Its share of the load, the weight of its mean in a weighted mean; of sum 1 over all classes.
    pub weight: f64,
}

impl Class {
    /// Offered load λ E\[S\].
    pub fn offered_load(&self) -> f64 {
        self.arrival_rate * self.mean_size
    }

    /// Whether its jobs are in service for less than one time in ten thousand: runs end that saw next to
    /// none of them, and tell nothing about the class itself.
    pub fn is_rare(&self) -> bool {
        self.offered_load() < 1e-4
    }

    /// E\[S²\]/2E\[S\] \[time\]: what is left on average of a job in service that is looked at.
    pub fn residual(&self) -> f64 {
        self.mean_size * f64::midpoint(1.0, self.scv)
    }
}

/// Σ λ_i \[1/time\].
pub fn total_arrival_rate(classes: &[Class]) -> f64 {
    classes.iter().map(|class| class.arrival_rate).sum()
}

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
    /// Record response times, for their percentiles; means need no record.
    pub percentiles: bool,
    /// Thresholds to watch.
    pub watch: Vec<Watch>,
    /// More jobs than this in the system at once end a run: it runs away.
    pub crowd: u64,
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
            percentiles: true,
            watch: Vec::new(),
            crowd: CROWDED,
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

/// What a replication has measured so far. Statistics see replications as this, so that they are
/// compiled once and not for each engine.
pub trait Measured {
    /// What was measured.
    fn recorder(&self) -> &Recorder;

    /// Events so far: arrivals, completions and clocks.
    fn events(&self) -> u64;

    /// The time of the last of them.
    fn now(&self) -> f64;

    /// Jobs in the system.
    fn jobs(&self) -> u64;

    /// Those of class i.
    fn present(&self, i: usize) -> u64;
}

/// More jobs than this in the system end a run.
pub const CROWDED: u64 = 10_000_000;

/// One of several independent runs of an engine.
pub trait Replication: Measured + Send {
    /// Why what was simulated means nothing: a decision that cannot be carried out, or an invariant
    /// that does not hold.
    type Violation: Clone;

    /// Goes on to this many events, or until told to stop, or until more jobs than `crowd` are in the system.
    fn run(&mut self, events: u64, crowd: u64, stopped: impl Fn() -> bool);

    /// Checks what must hold; what did not so far.
    fn audit(&mut self) -> Option<&Self::Violation>;
}

/// Events between two looks at whether to stop.
pub const BURST: u64 = 1 << 14;

/// Events before the first look at the precision; each further one is after twice as many. Those runs end
/// early that happen to be narrow, and these see too little of long queues: the more looks there
/// are, the fewer intervals cover.
pub const FIRST_LOOK: u64 = 1_000_000;

/// Times that is seen how far a run is from one look to the next.
const VIEWS: i32 = 3;

fn seen<R: Replication>(engines: &[R]) -> Vec<&dyn Measured> {
    engines.iter().map(|e| e as &dyn Measured).collect()
}

/// What replications measured, to be summarized.
pub fn results<'a, R: Replication>(
    engines: &'a [R],
    classes: &'a [Class],
    settings: &'a Settings,
    ending: Ending,
) -> Results<'a> {
    Results {
        classes,
        settings,
        engines: seen(engines),
        ending,
    }
}

/// Runs independent replications side by side until there is a reason to end, and summarizes them. `engine` makes the
/// one of this number.
///
/// # Errors
/// The first violation of any of them.
pub fn replicate<R: Replication, T>(
    classes: &[Class],
    engine: impl Fn(u32) -> R,
    settings: &Settings,
    mut progress: impl FnMut(Progress),
    summarize: impl FnOnce(&Results<'_>) -> T,
) -> Result<T, R::Violation> {
    let mut engines: Vec<R> = (0..settings.replications.max(1)).map(engine).collect();
    let ending = go_on(&mut engines, classes, settings, &mut progress)?;
    Ok(summarize(&results(&engines, classes, settings, ending)))
}

/// Lets replications go on side by side from where they are until there is a reason to end: the events of the settings
/// are those from the start on. What they measure does not depend on where they were stopped on the way.
///
/// # Errors
/// The first violation of any of them.
pub fn go_on<R: Replication>(
    engines: &mut [R],
    classes: &[Class],
    settings: &Settings,
    progress: &mut dyn FnMut(Progress),
) -> Result<Ending, R::Violation> {
    let started = Instant::now();
    let late = || settings.time.is_some_and(|t| started.elapsed() >= t);
    let interrupted = || settings.interrupt.load(Ordering::Relaxed);
    let replications = engines.len() as u64;
    let mut view = 0;
    loop {
        let checkpoint = FIRST_LOOK as f64 * (f64::from(view) / f64::from(VIEWS)).exp2();
        let goal = (checkpoint as u64).min(settings.events);
        let goal = goal.div_ceil(replications);
        let run = |engine: &mut R| engine.run(goal, settings.crowd, || late() || interrupted());
        engines.par_iter_mut().for_each(run);
        if let Some(violation) = engines.iter_mut().find_map(R::audit) {
            return Err(violation.clone());
        }
        let seen = seen(engines);
        let precision = sample::precision(classes, &seen);
        let events = seen.iter().map(|e| e.events()).sum();
        let precise = precision.is_some_and(|p| p <= settings.precision);
        progress(Progress { events, precision });
        if settling::runs_away(classes, &seen, settings.crowd) {
            return Ok(Ending::RunsAway);
        } else if precise && (view % VIEWS == 0 || events >= settings.events) {
            return Ok(Ending::Precision);
        } else if events >= settings.events {
            return Ok(Ending::Events);
        } else if interrupted() {
            return Ok(Ending::Interrupted);
        } else if late() {
            return Ok(Ending::Time);
        }
        view += 1;
    }
}
