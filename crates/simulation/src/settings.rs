//! What a run is about, and when it ends.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use rayon::prelude::*;

use super::watch::Watch;
use synth_queues::law::Size;

/// A class of jobs, as far as statistics look at it: the types of a workload, in its order.
#[derive(Clone, Debug, PartialEq)]
pub struct JobClass {
    /// Its name.
    pub name: String,
    /// Arrival rate λ \[1/time\], > 0.
    pub arrival_rate: f64,
    /// Mean size E\[S\] \[time\], > 0.
    pub mean_size: f64,
    /// Squared coefficient of variation of its sizes, ≥ 0.
    pub scv: f64,
    /// E\[S³\]/E\[S\]³ and E\[S⁴\]/E\[S\]⁴.
    pub higher: [f64; 2],
    /// Index of dispersion of its arrivals, `lim Var N(t) / E N(t)`: 1 for Poisson arrivals. Where
    /// other classes arrive more often at the same times, or sizes that arrive together are alike,
    /// it counts that in.
    pub dispersion: f64,
    /// By bottleneck: the part of it that a job holds while it is in service, above 1 only where none ever fits.
    /// None where nothing is known.
    pub demands: Vec<f64>,
    /// Its share of the load, the weight of its mean in a weighted mean; of sum 1 over all classes.
    pub weight: f64,
}

impl JobClass {
    /// Returns a class of Poisson arrivals of this rate, with sizes of this law times what makes their mean `mean_size`.
    pub fn poisson(name: &str, rate: f64, (mean_size, law): (f64, &Size), weight: f64) -> Self {
        JobClass {
            name: name.into(),
            arrival_rate: rate,
            mean_size,
            scv: law.scv(),
            higher: [3, 4].map(|n| law.moment(n) / law.mean().powi(n)),
            dispersion: 1.0,
            demands: Vec::new(),
            weight,
        }
    }

    /// Returns the class with these parts of bottlenecks that a job holds.
    #[must_use]
    pub fn demanding(self, demands: Vec<f64>) -> Self {
        JobClass { demands, ..self }
    }

    /// Returns the offered load λ E\[S\].
    pub fn offered_load(&self) -> f64 {
        self.arrival_rate * self.mean_size
    }

    /// Returns whether its jobs are in service for less than one time in ten thousand: runs end that saw next to
    /// none of them, and say nothing about the class itself.
    pub fn is_rare(&self) -> bool {
        self.offered_load() < 1e-4
    }

    /// Returns E\[S²\]/2E\[S\] \[time\]: what is left on average of a job in service that is looked at.
    pub fn residual(&self) -> f64 {
        self.mean_size * f64::midpoint(1.0, self.scv)
    }
}

/// Returns Σ λ_i \[1/time\].
pub fn total_arrival_rate(classes: &[JobClass]) -> f64 {
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
    /// Run replications one after the other on the calling thread, for rules that only one thread at a time can run.
    pub in_turn: bool,
    /// Once it is set, the run ends with what it has.
    pub interrupt: Arc<AtomicBool>,
}

impl Settings {
    /// Does this with each: side by side, or one after the other.
    pub(super) fn each<T: Send>(&self, all: &mut [T], run: impl Fn(&mut T) + Send + Sync) {
        if self.in_turn {
            all.iter_mut().for_each(run);
        } else {
            all.par_iter_mut().for_each(run);
        }
    }
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
            in_turn: false,
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

/// More jobs than this in the system end a run.
const CROWDED: u64 = 10_000_000;
