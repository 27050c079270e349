use schemars::JsonSchema;
use serde::Serialize;

use super::calibration::{Calibration, Quantiles};
use super::draw::{Draws, ForecastSite, PresentJob, Snapshot};
use super::past::Past;
use synth_multiresource::policy::Policy;
use synth_traces::replay::{DemandKinds, Log, ReplayError, ReplayJob};

/// The waits of hypothetical jobs for each width and limit. All times are in seconds.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Map {
    /// The number of moments at which the jobs are simulated.
    pub moments: usize,
    /// The demands of the jobs, in ascending order.
    pub widths: Vec<String>,
    /// The limits of the jobs, in ascending order.
    pub limits: Vec<f64>,
    /// The results for each width and each limit.
    pub cells: Vec<Vec<MapCell>>,
}

/// The waits of the jobs with a given width and limit.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MapCell {
    /// The fraction of these jobs that can be started immediately.
    pub at_once: f64,
    /// The quantiles of the waits.
    pub waits: Quantiles,
}

pub(super) struct HypotheticalJobs {
    per_second: f64,
    names: Vec<String>,
    /// Each job, and the number of a job in the log with the same demand.
    jobs: Vec<Vec<(ReplayJob, usize)>>,
    draws: Vec<Vec<Vec<f64>>>,
    first: usize,
    every: usize,
    moments: usize,
}

const SIDES: usize = 5;

const MOMENTS: usize = 40;

/// The quantiles of the widths and of the limits.
const PLACES: [f64; SIDES] = [0.1, 0.35, 0.6, 0.85, 0.99];

fn picked<T: Copy>(all: &[T], of: impl Fn(T) -> f64) -> Vec<T> {
    let at = |place: f64| all[(place * (all.len() - 1) as f64) as usize];
    let mut values = PLACES.map(at).to_vec();
    values.dedup_by(|next, before| of(*next) < APART * of(*before));
    values
}

/// The minimum ratio between two neighbouring widths or limits.
const APART: f64 = 1.3;

impl HypotheticalJobs {
    pub(super) fn of(log: &Log) -> Self {
        let kinds = DemandKinds::exact(log);
        let share = |kind: u32| kinds.most_held(kind);
        let mut widths: Vec<u32> = log.jobs.iter().map(|job| job.kind).collect();
        widths.sort_by(|a, b| share(*a).total_cmp(&share(*b)).then(a.cmp(b)));
        let widths = picked(&widths, share);
        let limits = log.jobs.iter().map(|job| job.promised);
        let mut limits: Vec<f64> = limits.filter(|limit| limit.is_finite()).collect();
        limits.sort_unstable_by(f64::total_cmp);
        if limits.is_empty() {
            limits.push(f64::INFINITY);
        }
        let limits = picked(&limits, |limit| limit);
        let job = |kind: &u32, limit: &f64| {
            let alike = log.jobs.iter().position(|job| job.kind == *kind);
            let job = ReplayJob {
                limit: *limit,
                promised: *limit,
                ..ReplayJob::new(*kind, 0.0, f64::NAN)
            };
            (job, alike.unwrap_or(0))
        };
        let name = |kind: &u32| kinds.demands[*kind as usize].0.clone();
        let row = |kind: &u32| limits.iter().map(|limit| job(kind, limit)).collect();
        let first = log.jobs.len() / 2;
        HypotheticalJobs {
            per_second: log.tick.per_second() as f64,
            names: widths.iter().map(name).collect(),
            jobs: widths.iter().map(row).collect(),
            draws: vec![vec![Vec::new(); limits.len()]; widths.len()],
            first,
            every: ((log.jobs.len() - first) / MOMENTS).max(1),
            moments: 0,
        }
    }

    pub(super) fn is_due(&self, come: usize) -> bool {
        come >= self.first + self.moments * self.every
    }

    pub(super) fn look(
        &mut self,
        site: &ForecastSite,
        moment: &Snapshot,
        past: &Past,
        policy: &dyn Policy,
        draws: Draws,
    ) -> Result<(), ReplayError> {
        self.moments += 1;
        let draws = Draws { runs: 10, ..draws };
        let last = moment.jobs.len();
        let jobs = self.jobs.iter().flatten();
        for ((job, number), found) in jobs.zip(self.draws.iter_mut().flatten()) {
            let mut moment = moment.clone();
            let submit = moment.at;
            moment.jobs.push(PresentJob {
                job: ReplayJob { submit, ..*job },
                started: None,
                servers: Vec::new(),
                number: *number,
            });
            let drawn = site.forecast(&moment, past, policy, &[last], draws)?;
            found.extend(drawn.into_iter().flat_map(|(draws, _)| draws));
        }
        Ok(())
    }

    pub(super) fn map(self, calibration: &Calibration) -> Map {
        let cell = |mut draws: Vec<f64>| {
            draws.sort_unstable_by(f64::total_cmp);
            let at_once = draws.iter().filter(|wait| **wait <= 0.0).count();
            MapCell {
                at_once: at_once as f64 / draws.len().max(1) as f64,
                waits: calibration.quantiles(&draws),
            }
        };
        let limits = self.jobs[0].iter().map(|(job, _)| job.promised);
        let row = |row: Vec<Vec<f64>>| row.into_iter().map(cell).collect();
        Map {
            moments: self.moments,
            widths: self.names,
            limits: limits.map(|limit| limit / self.per_second).collect(),
            cells: self.draws.into_iter().map(row).collect(),
        }
    }
}
