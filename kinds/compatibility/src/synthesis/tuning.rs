//! Finds the smallest number of interruptions for which the policy is close to balanced fairness.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::analysis::{Load, Means};
use crate::simulator::{Rule, Run, simulate};
use crate::workload::{Cluster, Trial};
use synth_queues::law::Size;
use synth_simulation::{Progress, Settings};

/// User options.
#[derive(Clone, Debug)]
pub struct Options {
    /// The mean number of interruptions per job, m. If it is absent, it is tuned.
    pub interruptions: Option<f64>,
    /// The relative tolerance of the mean response time with respect to balanced fairness.
    pub tolerance: f64,
    /// The approximate number of events that all simulations together may use.
    pub events: u64,
    /// The seed of the simulations.
    pub seed: u64,
    /// If this flag is set, the simulations stop.
    pub interrupt: Arc<AtomicBool>,
}

#[derive(Clone, Debug)]
pub(super) struct Tuned {
    pub interruptions: f64,
    pub tuning: Option<Tuning>,
    pub fair: Option<Run>,
    pub own: Option<Run>,
}

/// How the number of interruptions was selected.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuning {
    /// The relative tolerance of the mean response time.
    pub tolerance: f64,
    /// The simulated size distribution: the workload's, or a variable one if that is exponential.
    pub size: Size,
    /// The relative excess over balanced fairness, or `None` if no run converged.
    pub above: Option<f64>,
    /// Whether the excess is within the tolerance.
    pub reached: bool,
}

const LADDER: [f64; 15] = [
    0.0, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 14.0, 20.0, 30.0, 40.0, 60.0, 80.0, 120.0, 160.0,
];

const PRECISION: f64 = 0.3;

const RUNS: u64 = 8;

/// Selects the number of interruptions; the result is meaningless if the run was interrupted.
pub(super) fn tune(
    cluster: &Cluster,
    load: &Load,
    means: Option<&Means>,
    options: &Options,
    listener: impl FnMut(&str, Progress),
) -> Result<Tuned, String> {
    let exponential = cluster.size().is_exponential();
    let tried = |trial: Trial| cluster.with_sizes(trial.law(cluster.size()));
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
        let run = trials.simulate(&tried(Trial::Exponential), 0.0, doing)?;
        response = run.mean_response.map(|e| e.mean);
        fair = Some(run);
    }
    let (interruptions, tuning, last) = match (options.interruptions, response) {
        (Some(requested), _) if exponential => (requested, None, None),
        (Some(requested), _) => (requested, None, Some(trials.run(requested)?)),
        (None, Some(response)) => trials.least(response)?,
        // Without a known mean, use enough interruptions that the distribution hardly matters.
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
    /// Returns the smallest candidate within the tolerance, or else the largest that converged.
    fn least(&mut self, fair: f64) -> Result<(f64, Option<Tuning>, Option<Run>), String> {
        let most = fair * (1.0 + self.options.tolerance);
        let is_near = |run: &Run| run.mean_response.is_some_and(|e| e.mean <= most);
        let mut tried: Vec<(usize, Run)> = Vec::new();
        let (mut low, mut high) = (0, LADDER.len());
        while low < high {
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
            above: run.mean_response.map(|e| e.mean / fair - 1.0),
            reached: found.is_some(),
        };
        Ok((LADDER[place], Some(tuning), Some(run)))
    }

    fn run(&mut self, interruptions: f64) -> Result<Run, String> {
        let doing = format!("simulating {interruptions} interruptions per job");
        self.simulate(self.cluster, interruptions, &doing)
    }

    fn simulate(&mut self, cluster: &Cluster, m: f64, doing: &str) -> Result<Run, String> {
        let settings = Settings {
            seed: self.options.seed,
            precision: PRECISION * self.options.tolerance,
            events: self.options.events / RUNS,
            interrupt: self.options.interrupt.clone(),
            ..Settings::default()
        };
        let listener = |reached| (self.listener)(doing, reached);
        simulate(cluster, &Rule::Fair(m), &settings, listener)
    }
}
