use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::analysis::{Load, Means};
use crate::simulator::{Rule, Run, simulate};
use crate::workload::{Cluster, Trial};
use synth_queues::distribution::SizeDistribution;
use synth_simulation::{Progress, Settings};

/// The options that can be set by the user.
#[derive(Clone, Debug)]
pub struct Options {
    /// The mean number of interruptions per job, or `None` to tune it.
    pub interruptions: Option<f64>,
    /// The maximum relative amount by which the mean response time can exceed balanced fairness.
    pub tolerance: f64,
    /// The approximate number of events that can be used by all simulations together.
    pub events: u64,
    /// The seed of the simulations.
    pub seed: u64,
    /// If this flag is set, the simulations are stopped.
    pub interrupt: Arc<AtomicBool>,
}

#[derive(Clone, Debug)]
pub(super) struct Tuned {
    pub interruptions: f64,
    pub tuning: Option<Tuning>,
    /// A run of balanced fairness, if its means are not known exactly.
    pub fair: Option<Run>,
    /// A run of the policy with the sizes of the workload, if they are not exponential.
    pub own: Option<Run>,
}

/// How the number of interruptions was selected.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuning {
    pub(crate) tolerance: f64,
    /// The simulated size distribution. It has a larger variance if the sizes are exponential.
    pub(crate) size: SizeDistribution,
    /// The relative amount by which the mean response time with the selected number exceeds
    /// balanced fairness, or `None` if no run has converged.
    pub(crate) excess: Option<f64>,
    /// Whether `excess` is not larger than the tolerance.
    pub is_within_tolerance: bool,
}

/// The numbers of interruptions that are tested, in steps of about 40 %.
const LADDER: [f64; 15] = [
    0.0, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 14.0, 20.0, 30.0, 40.0, 60.0, 80.0, 120.0, 160.0,
];

const PRECISION_PER_TOLERANCE: f64 = 0.3;

/// The number of runs among which the events are divided.
const RUNS: u64 = 8;

/// Selects the number of interruptions. If the run was interrupted, the result must not be used.
pub(super) fn tune(
    cluster: &Cluster,
    load: &Load,
    means: Option<&Means>,
    options: &Options,
    listener: impl FnMut(&str, Progress),
) -> Result<Tuned, String> {
    let exponential = cluster.size().is_exponential();
    let tried = |trial: Trial| cluster.with_sizes(trial.distribution(cluster.size()));
    let mut trials = Trials {
        cluster: &tried(if exponential {
            Trial::Hyperexponential
        } else {
            Trial::Own
        }),
        options,
        listener,
    };
    let (mut fair, mut response) = (None, means.map(|means| means.response(cluster)));
    if means.is_none() {
        let doing = "simulating balanced fairness";
        // If the sizes are exponential, the means are the same for any number of interruptions.
        let run = trials.simulate(&tried(Trial::Exponential), 0.0, doing)?;
        response = run.mean_response.map(|e| e.mean);
        fair = Some(run);
    }
    let (interruptions, tuning, last) = match (options.interruptions, response) {
        (Some(requested), _) if exponential => (requested, None, None),
        (Some(requested), _) => (requested, None, Some(trials.run(requested)?)),
        (None, Some(response)) => trials.smallest(response)?,
        // If the mean is not known, use a number for which the size distribution hardly matters.
        (None, None) => (if load.load < 0.5 { 5.0 } else { 20.0 }, None, None),
    };
    Ok(Tuned {
        interruptions,
        tuning,
        fair,
        own: last.filter(|_| !exponential),
    })
}

struct Trials<'a, H> {
    cluster: &'a Cluster,
    options: &'a Options,
    listener: H,
}

impl<H: FnMut(&str, Progress)> Trials<'_, H> {
    /// Returns the smallest number within the tolerance, or the largest whose run has converged, or
    /// a guess.
    fn smallest(&mut self, fair: f64) -> Result<(f64, Option<Tuning>, Option<Run>), String> {
        let most = fair * (1.0 + self.options.tolerance);
        let is_near = |run: &Run| run.mean_response.is_some_and(|e| e.mean <= most);
        let mut tried: Vec<(usize, Run)> = Vec::new();
        let (mut low, mut high) = (0, LADDER.len());
        while low < high {
            // The steps grow until a number is within the tolerance. Then the interval is halved.
            let next = match high < LADDER.len() {
                true => usize::midpoint(low, high),
                false => (2 * low).min(LADDER.len() - 1),
            };
            let run = self.run(LADDER[next])?;
            match is_near(&run) {
                true => high = next,
                false => low = next + 1,
            }
            tried.push((next, run));
            if self.options.interrupt.load(Ordering::Relaxed) {
                break;
            }
        }
        tried.sort_by_key(|(place, _)| *place);
        let found = tried.iter().position(|(_, run)| is_near(run));
        let is_settled = |own: &(usize, Run)| own.1.mean_response.is_some();
        let settled = tried.iter().rposition(is_settled);
        let taken = found.or(settled).unwrap_or(tried.len() / 2);
        let (place, run) = tried.swap_remove(taken);
        let tuning = Tuning {
            tolerance: self.options.tolerance,
            size: self.cluster.size().clone(),
            excess: run.mean_response.map(|e| e.mean / fair - 1.0),
            is_within_tolerance: found.is_some(),
        };
        Ok((LADDER[place], Some(tuning), Some(run)))
    }

    fn run(&mut self, interruptions: f64) -> Result<Run, String> {
        let doing = format!("running a simulation with {interruptions} interruptions per job");
        self.simulate(self.cluster, interruptions, &doing)
    }

    fn simulate(&mut self, cluster: &Cluster, m: f64, doing: &str) -> Result<Run, String> {
        let settings = Settings {
            seed: self.options.seed,
            precision: PRECISION_PER_TOLERANCE * self.options.tolerance,
            events: self.options.events / RUNS,
            interrupt: self.options.interrupt.clone(),
            ..Settings::default()
        };
        let listener = |reached| (self.listener)(doing, reached);
        simulate(cluster, &Rule::Fair(m), &settings, listener)
    }
}
