use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use rayon::prelude::*;

use super::watch::Watch;
use synth_queues::law::Size;

/// A class of jobs as seen by statistics; one for each type of the workload, in its order.
#[derive(Clone, Debug, PartialEq)]
pub struct JobClass {
    /// Its name.
    pub name: String,
    /// The arrival rate λ \[1/time\], > 0.
    pub arrival_rate: f64,
    /// The mean size E\[S\] \[time\], > 0.
    pub mean_size: f64,
    /// The squared coefficient of variation of the sizes, ≥ 0.
    pub scv: f64,
    /// E\[S³\]/E\[S\]³ and E\[S⁴\]/E\[S\]⁴.
    pub higher: [f64; 2],
    /// The index of dispersion of arrivals, `lim Var N(t) / E N(t)`, including that of classes that
    /// arrive together and of correlated sizes.
    pub dispersion: f64,
    /// The fraction of each bottleneck that a job holds, if known; above 1 if it never fits.
    pub demands: Vec<f64>,
    /// The share of the load, used as weight in weighted means; the shares of all classes sum to 1.
    pub weight: f64,
}

impl JobClass {
    /// Creates a class with Poisson arrivals and sizes distributed as `law`, scaled to `mean_size`.
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

    /// Sets the fractions of bottlenecks that a job holds.
    #[must_use]
    pub fn demanding(self, demands: Vec<f64>) -> Self {
        JobClass { demands, ..self }
    }

    /// Returns the offered load λ E\[S\].
    pub fn offered_load(&self) -> f64 {
        self.arrival_rate * self.mean_size
    }

    /// Returns whether the offered load is below 10⁻⁴; runs may report nothing about such classes.
    pub fn is_rare(&self) -> bool {
        self.offered_load() < 1e-4
    }

    /// Returns the mean residual size E\[S²\]/2E\[S\] \[time\] of a job in service.
    pub fn residual(&self) -> f64 {
        self.mean_size * f64::midpoint(1.0, self.scv)
    }
}

/// Returns Σ λ_i \[1/time\].
pub fn total_arrival_rate(classes: &[JobClass]) -> f64 {
    classes.iter().map(|class| class.arrival_rate).sum()
}

/// Stop conditions and random seed of a run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The seed of all random streams.
    pub seed: u64,
    /// The number of independent replications, ≥ 1; results do not depend on the number of cores.
    pub replications: u32,
    /// Stop when the relative half width of the mean response time's 95 % interval is at most this.
    pub precision: f64,
    /// Stop after this many events (arrivals, completions and clocks) in all replications.
    pub events: u64,
    /// Stop after this wall-clock time; the result then depends on the machine.
    pub time: Option<Duration>,
    /// Draw sizes on arrival, so that policies with the same seed have the same sizes.
    pub common_sizes: bool,
    /// Whether to record response times for percentiles, which is not needed for means.
    pub percentiles: bool,
    /// Thresholds to watch.
    pub watch: Vec<Watch>,
    /// Stop a run as unstable if more jobs than this are in the system.
    pub crowd: u64,
    /// Run replications sequentially on the calling thread, for rules limited to one thread.
    pub in_turn: bool,
    /// Set to end the run with the results so far.
    pub interrupt: Arc<AtomicBool>,
}

impl Settings {
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

/// The progress of a run.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// The number of events so far in all replications.
    pub events: u64,
    /// The relative precision so far; `None` if not yet known.
    pub precision: Option<f64>,
}

const CROWDED: u64 = 10_000_000;
