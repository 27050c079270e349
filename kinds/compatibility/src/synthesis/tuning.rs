//! The least number of interruptions with which simulated mean response times come near to those of balanced fairness.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::analysis::{Load, Means};
use crate::simulator::{Rule, Run, simulate};
use crate::workload::{Cluster, Trial};
use synth_queues::law::Size;
use synth_simulation::{Progress, Settings};

/// What the user decides.
#[derive(Clone, Debug)]
pub struct Options {
    /// m; tuned if absent.
    pub interruptions: Option<f64>,
    /// How near to balanced fairness the mean response time is to come, as a fraction.
    pub tolerance: f64,
    /// Events of all simulations together, about.
    pub events: u64,
    /// Their seed.
    pub seed: u64,
    /// Once it is set, nothing more is simulated.
    pub interrupt: Arc<AtomicBool>,
}

/// What was tuned, and measured on the way.
#[derive(Clone, Debug)]
pub(super) struct Tuned {
    /// m.
    pub interruptions: f64,
    /// How; none where it was requested.
    pub tuning: Option<Tuning>,
    /// A run of balanced fairness, where it was simulated: of m = 0 with exponential sizes, which has its means.
    pub fair: Option<Run>,
    /// A run of the policy under the workload's own law, where that is not exponential and it settled.
    pub own: Option<Run>,
}

/// How the number of interruptions was chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuning {
    /// How near the mean response time is to come, as a fraction.
    pub tolerance: f64,
    /// The law of sizes of the simulations: the workload's, or a widely spread one where it says the mean alone.
    pub size: Size,
    /// How far the mean response time of the one that was taken is above that of balanced fairness, as a fraction; none
    /// where no run settled.
    pub above: Option<f64>,
    /// Whether that is near enough.
    pub reached: bool,
}

/// Numbers of interruptions that are tried, each some 40 % more than the one before.
const LADDER: [f64; 15] = [
    0.0, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 14.0, 20.0, 30.0, 40.0, 60.0, 80.0, 120.0, 160.0,
];

/// A run is as precise as this part of the tolerance.
const PRECISION: f64 = 0.3;

/// Runs that share the events.
const RUNS: u64 = 8;

/// Finds the number of interruptions; after an interruption it means nothing.
pub(super) fn tune(
    cluster: &Cluster,
    load: &Load,
    means: Option<&Means>,
    options: &Options,
    listener: impl FnMut(&str, Progress),
) -> Result<Tuned, String> {
    let exponential = cluster.size().is_exponential();
    // With exponential sizes any number of interruptions has the same means.
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
        // No mean to approach: as many that the law matters little, as far as is known.
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
    /// With the law that it is tried with.
    cluster: &'a Cluster,
    options: &'a Options,
    listener: H,
}

impl<H: FnMut(&str, Progress)> Trials<'_, H> {
    /// Returns the least number of the ladder that is near enough, or its last; how it was found, and its run.
    fn least(&mut self, fair: f64) -> Result<(f64, Option<Tuning>, Option<Run>), String> {
        let most = fair * (1.0 + self.options.tolerance);
        let is_near = |run: &Run| run.mean_response.is_some_and(|e| e.mean <= most);
        let mut tried: Vec<(usize, Run)> = Vec::new();
        let (mut low, mut high) = (0, LADDER.len());
        while low < high {
            // Up the ladder in growing steps, and once one is near enough, by halves.
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
        let doing = format!("simulating {interruptions} interruptions a job");
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
