//! The least number of interruptions with which simulated mean response times come near to those of balanced fairness.

use super::{Doing, Options, SynthesisError, is_set};
use crate::compatibility::analysis::{Load, Means};
use crate::compatibility::artifact::{Tried, Tuning};
use crate::compatibility::simulator::{Rule, Run, simulate};
use crate::compatibility::workload::{Cluster, Trial};
use crate::simulation::{Estimate, Progress, Settings};

/// What was tuned, and measured on the way.
#[derive(Clone, Debug)]
pub(super) struct Tuned {
    /// m.
    pub interruptions: f64,
    /// How; none where it was given.
    pub record: Option<Tuning>,
    /// A run of balanced fairness, where it was simulated: of m = 0 with exponential sizes, which has its means.
    pub fair: Option<Run>,
    /// A run of the policy under the workload's own law, where that is not exponential and it settled.
    pub own: Option<Run>,
}

/// Numbers of interruptions that are tried, each some 40 % more than the one before.
const LADDER: [f64; 15] = [
    0.0, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 14.0, 20.0, 30.0, 40.0, 60.0, 80.0, 120.0, 160.0,
];

/// A run is as precise as this part of the tolerance.
const PRECISION: f64 = 0.3;

/// Runs that share the events.
const RUNS: u64 = 8;

/// Finds the number of interruptions; `None` where an end was wanted.
pub(super) fn tune(
    cluster: &Cluster,
    load: &Load,
    means: Option<&Means>,
    options: &Options,
    hears: &mut impl FnMut(Doing),
) -> Result<Option<Tuned>, SynthesisError> {
    let exponential = cluster.size().is_exponential();
    let mean = cluster.size().mean();
    let trial = match exponential {
        // With exponential sizes any number of interruptions has the same means.
        true => cluster.with_sizes(Trial::Hyperexponential.law(cluster.size())),
        false => cluster.clone(),
    };
    let mut trials = Trials {
        cluster: &trial,
        options,
        mean,
        events: 0,
        hears,
    };
    let mut fair = None;
    if means.is_none() {
        let exponential = cluster.with_sizes(Trial::Exponential.law(cluster.size()));
        fair = Some(trials.simulate(&exponential, 0.0, Doing::Fair)?);
    }
    let response = match means {
        Some(means) => Some(means.response(cluster)),
        None => fair
            .as_ref()
            .and_then(|run| run.mean_response)
            .map(|e| e.mean),
    };
    let (interruptions, record, last) = match (options.interruptions, response) {
        (Some(given), _) => {
            let own = (!exponential).then(|| trials.run(given)).transpose()?;
            (given, None, own)
        }
        (None, Some(response)) => {
            let (tuning, m, run) = trials.least(response)?;
            (m, Some(tuning), Some(run))
        }
        // Nothing to come near to: so many that the law matters little, as far as is known.
        (None, None) => (default_of(load), None, None),
    };
    if is_set(&options.interrupt) {
        return Ok(None);
    }
    Ok(Some(Tuned {
        interruptions,
        record,
        fair,
        own: last.filter(|_| !exponential),
    }))
}

/// What is taken where nothing could be measured.
fn default_of(load: &Load) -> f64 {
    if load.load < 0.5 { 5.0 } else { 20.0 }
}

struct Trials<'a, H> {
    /// With the law that it is tried with.
    cluster: &'a Cluster,
    options: &'a Options,
    /// σ.
    mean: f64,
    events: u64,
    hears: &'a mut H,
}

impl<H: FnMut(Doing)> Trials<'_, H> {
    /// The least of the ladder that is near enough, or its last; with its run.
    fn least(&mut self, fair: f64) -> Result<(Tuning, f64, Run), SynthesisError> {
        let most = fair * (1.0 + self.options.tolerance);
        let mut tried: Vec<(usize, Tried, Run)> = Vec::new();
        let (mut low, mut high) = (0, LADDER.len());
        let mut next = 0;
        while low < high {
            let run = self.run(LADDER[next])?;
            let own = tried_of(LADDER[next], run.mean_response);
            let near = own.near(most);
            tried.push((next, own, run));
            if is_set(&self.options.interrupt) {
                break;
            }
            match near {
                true => high = next,
                false => low = next + 1,
            }
            // Up the ladder in growing steps, and once one is near enough, by halves.
            next = match high < LADDER.len() {
                true => usize::midpoint(low, high),
                false => (2 * low).min(LADDER.len() - 1),
            };
            let known = |step: usize| tried.iter().any(|(place, ..)| *place == step);
            if low < high && known(next) {
                break;
            }
        }
        tried.sort_by_key(|(place, ..)| *place);
        let found = tried.iter().position(|(_, own, _)| own.near(most));
        let settled = tried.iter().rposition(|(_, own, _)| own.response.is_some());
        let place = found.or(settled).unwrap_or(tried.len() / 2);
        let (_, taken, run) = tried[place].clone();
        let tuning = Tuning {
            tolerance: self.options.tolerance,
            size: self.cluster.size().clone(),
            fair,
            tried: tried.into_iter().map(|(_, own, _)| own).collect(),
            reached: found.is_some(),
            seed: self.options.seed,
            events: self.events,
        };
        Ok((tuning, taken.interruptions, run))
    }

    fn run(&mut self, interruptions: f64) -> Result<Run, SynthesisError> {
        let cluster = self.cluster.clone();
        self.simulate(&cluster, interruptions, |at| {
            Doing::Interruptions(interruptions, at)
        })
    }

    fn simulate(
        &mut self,
        cluster: &Cluster,
        interruptions: f64,
        doing: impl Fn(Option<Progress>) -> Doing,
    ) -> Result<Run, SynthesisError> {
        (self.hears)(doing(None));
        let settings = Settings {
            seed: self.options.seed,
            precision: PRECISION * self.options.tolerance,
            events: self.options.events / RUNS,
            interrupt: self.options.interrupt.clone(),
            ..Settings::default()
        };
        let slice = (interruptions > 0.0).then(|| self.mean / interruptions);
        let rule = Rule::Fair { slice };
        let hears = &mut self.hears;
        let run = simulate(cluster, &rule, &settings, |at| hears(doing(Some(at))));
        let run = run.map_err(SynthesisError::Violation)?;
        self.events += run.events;
        Ok(run)
    }
}

fn tried_of(interruptions: f64, response: Option<Estimate>) -> Tried {
    Tried {
        interruptions,
        response: response.map(|e| e.mean),
        half_width: response.map(|e| e.half_width),
    }
}
