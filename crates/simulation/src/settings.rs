use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rayon::prelude::*;

use super::watch::Watch;
use synth_queues::distribution::SizeDistribution;

/// A class of jobs in the statistics; there is one for each type of the workload, in its order.
#[derive(Clone, Debug, PartialEq)]
pub struct JobClass {
    /// Its name.
    pub name: String,
    /// The arrival rate of the class `λ` \[1/time\], which must be greater than 0.
    pub arrival_rate: f64,
    /// The mean size of a job `E[S]` \[time\], which must be greater than 0.
    pub mean_size: f64,
    /// The squared coefficient of variation of the sizes, ≥ 0.
    pub scv: f64,
    /// The normalized third and fourth moments of the size, `E[S³]/E[S]³` and `E[S⁴]/E[S]⁴`.
    pub higher: [f64; 2],
    /// The index of dispersion of its arrivals, `lim Var N(t) / E N(t)`, 1 for Poisson arrivals,
    /// with the effects of simultaneous classes and of similar sizes of jobs that arrive together.
    pub dispersion: f64,
    /// The fraction of each bottleneck held by a job in service (> 1 if it cannot run), if known.
    pub demands: Vec<f64>,
    /// The share of the load, which is the weight of the class. The sum over all classes must be 1.
    pub weight: f64,
}

impl JobClass {
    /// Creates a class with Poisson arrivals and the sizes of `law`, scaled to `mean_size`.
    pub fn poisson(
        name: &str,
        rate: f64,
        (mean_size, law): (f64, &SizeDistribution),
        demands: Vec<f64>,
        weight: f64,
    ) -> Self {
        JobClass {
            name: name.into(),
            arrival_rate: rate,
            mean_size,
            scv: law.scv(),
            higher: [3, 4].map(|n| law.moment(n) / law.mean().powi(n)),
            dispersion: 1.0,
            demands,
            weight,
        }
    }

    /// Returns the load `λ E[S]` that is offered by this class.
    pub fn offered_load(&self) -> f64 {
        self.arrival_rate * self.mean_size
    }

    /// Returns `true` if the offered load is below `1e-4`, so that a run may end with few jobs.
    pub fn is_rare(&self) -> bool {
        self.offered_load() < 1e-4
    }

    /// Returns the mean residual size `E[S²]/2E[S]` of a job that is in service \[time\].
    pub(super) fn residual(&self) -> f64 {
        self.mean_size * f64::midpoint(1.0, self.scv)
    }
}

/// Returns the sum of the arrival rates of all classes \[1/time\].
pub fn total_arrival_rate(classes: &[JobClass]) -> f64 {
    classes.iter().map(|class| class.arrival_rate).sum()
}

/// The conditions under which a run stops, and its random seed.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The seed that is used for all random streams.
    pub seed: u64,
    /// The number of independent replications, ≥ 1; results do not depend on the number of cores.
    pub replications: u32,
    /// The run stops at this relative half width of the 95 % interval of the mean response time.
    pub precision: f64,
    /// The run stops after this number of events (arrivals, completions and clocks) in total.
    pub events: u64,
    /// Stop after this wall-clock time; the result then depends on the machine.
    pub time: Option<Duration>,
    /// Whether all sizes are drawn on arrival, so that policies with this seed have the same sizes.
    pub common_sizes: bool,
    /// Whether to record response times for percentiles, which is not needed for means.
    pub percentiles: bool,
    /// Thresholds to watch.
    pub watch: Vec<Watch>,
    /// The run stops if there are more jobs than this in the system of a replication.
    pub crowd: u64,
    /// Whether all replications run on the calling thread, as some rules require.
    pub in_turn: bool,
    /// Set to end the run with the results so far.
    pub interrupt: Arc<AtomicBool>,
}

impl Settings {
    /// Returns whether the run has to end.
    pub fn is_interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }

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
            crowd: 10_000_000,
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
