use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use itertools::Itertools as _;
use schemars::JsonSchema;
use serde::Serialize;

use super::calibration::{Calibration, HORIZON, LEVELS, Quantiles};
use super::course::{Course, LogReplay, Record, as_submitted, has_starts};
use super::draw::{Draws, ForecastSite, PresentJob};
use super::map::{HypotheticalJobs, Map};
use synth_multiresource::policy::Policy;
use synth_slurm::rule::SlurmRule;
use synth_traces::replay::{Log, LogError, ReplayError, ReplayJob, Walk};
use synth_traces::trace::Observed;

/// A forecast and its outcome. All times are in seconds.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ScoredForecast {
    /// The line of the log that contains the job.
    pub line: u32,
    /// The time between the first submission and the submission of this job.
    pub submitted: f64,
    /// The number of jobs that were waiting at that time, including this job.
    pub waiting: usize,
    /// The 10 %, 50 % and 90 % quantiles of the wait in the forecast.
    pub said: Quantiles,
    /// The wait if all jobs run until their limits and no jobs arrive (infinite without limits).
    pub by_limits: f64,
    /// The actual wait of the job.
    pub wait: f64,
    #[serde(skip)]
    draws: Vec<f64>,
    #[serde(skip)]
    place: usize,
}

/// The parameters that are used to evaluate the forecasts for a log.
pub struct Scoring<'a> {
    /// The log that contains the jobs.
    pub log: &'a Log,
    /// The rule, if it is that of Slurm, which has a state such as the usage of each account.
    pub slurm: Option<&'a SlurmRule>,
    /// The parameters of the simulation.
    pub draws: Draws,
    /// If this is `n`, a forecast is made for every `n`-th job that waits. It must be at least 1.
    pub every: usize,
    /// If this is set, the evaluation is stopped.
    pub interrupt: &'a AtomicBool,
}

/// The forecasts for a log, and how accurate they are.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Scored {
    /// The forecasts that are evaluated. The first tenth is only used for calibration.
    pub forecasts: Vec<ScoredForecast>,
    /// The number of jobs that had to wait, and the number of all jobs.
    pub waited: [usize; 2],
    /// The number of jobs that did not fit on the servers at their recorded start, or `None` if the
    /// forecasts are compared with a replay, because the log does not contain all starts.
    pub misfits: Option<usize>,
    /// The accuracy of the forecasts, or `None` if no job had to wait.
    pub record: Option<ForecastRecord>,
    /// The waits for each width and limit if this was requested.
    pub map: Option<Map>,
    /// The mean and the maximum time for a forecast in seconds, and the waiting jobs at the
    /// maximum.
    #[serde(skip)]
    pub took: (f64, f64, usize),
    /// The state of the calibration at the end of the log.
    #[serde(skip)]
    pub calibration: Calibration,
}

/// The accuracy of a set of forecasts. All times are in seconds.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ForecastRecord {
    /// The number of forecasts.
    pub forecasts: usize,
    /// The fraction of the jobs that have started at the 10 %, 50 % and 90 % quantiles.
    pub started: [f64; 3],
    /// The same values without calibration.
    pub uncalibrated: [f64; 3],
    /// The same fractions for the quarter of the forecasts, by time, that is the furthest from
    /// them.
    pub worst_quarter: [f64; 3],
    /// The median of the time between the 10 % and the 90 % quantile.
    pub width: f64,
    /// The median of the actual waits.
    pub wait: f64,
    /// The median of the absolute error of the 50 % quantile.
    pub error: f64,
    /// The median of the absolute error if the limits are used instead of the run times.
    pub error_by_limits: f64,
    /// The fraction of the jobs that started before the time that is computed from the limits.
    pub before_limits: f64,
}

/// The fraction of the forecasts at the start that are not evaluated.
const LEARNING: f64 = 0.1;

/// The number of parts of the forecasts of which the worst is reported.
const QUARTERS: usize = 4;

/// A job waits if it has not started after this number of seconds, because a scheduler needs some
/// time even if there are free servers.
const AT_ONCE: f64 = 60.0;

impl Scoring<'_> {
    /// Computes a forecast for each job that has to wait under the rule of `make`, and the map if
    /// `mapped`. The `listener` is called with the number of jobs that have arrived. Returns an
    /// error if the rule cannot be used for the jobs, or if there is an interrupt.
    pub fn run(
        &self,
        make: impl FnOnce(&ForecastSite) -> Result<Box<dyn Policy>, String>,
        mapped: bool,
        listener: &mut dyn FnMut(usize),
    ) -> Result<Scored, LogError> {
        let log = self.log;
        let site = ForecastSite::of_log(log)?;
        let own = make(&site).map_err(LogError::Refused)?;
        let is_recorded = has_starts(log);
        let submitted = is_recorded.then(|| as_submitted(log));
        let jobs = submitted.as_ref().unwrap_or(&log.jobs);
        let scene = site.scene(jobs);
        let course = match (is_recorded, self.slurm) {
            (false, _) => Course::Replay(Box::new(Walk::new(&scene, own.clone_rule()))),
            (true, rule) => {
                let plain = SlurmRule::default();
                let record = Record::new(jobs, &site, rule.unwrap_or(&plain));
                Course::Record(Box::new(record))
            }
        };
        let mut course = LogReplay::new(jobs, &site, course);
        let rule_of = |course: &LogReplay<'_>| match is_recorded && self.slurm.is_none() {
            true => own.clone_rule(),
            false => course.policy(),
        };
        let mut probes = mapped.then(|| HypotheticalJobs::of(log));
        let (mut forecasts, mut waited) = (Vec::<ScoredForecast>::new(), 0);
        let (mut spent, mut slowest) = (0.0, (0.0, 0));
        while let Some(come) = course.step()? {
            if self.interrupt.load(Ordering::Relaxed) {
                return Err(ReplayError::Interrupted.into());
            }
            listener(come.end);
            let draws = Draws {
                seed: self.draws.seed.wrapping_add(come.start as u64),
                ..self.draws
            };
            if let Some(probes) = &mut probes
                && probes.is_due(come.end)
            {
                let (moment, policy) = (course.snapshot(), rule_of(&course));
                probes.look(&site, &moment, &course.past, &*policy, draws)?;
            }
            let moment = course.snapshot();
            let waits = |place: &usize| moment.jobs[*place].started.is_none();
            let is_late = |job: &ReplayJob| job.waited > AT_ONCE * site.per_second;
            let is_new = |n: usize| {
                let job = &log.jobs[n];
                let is_seen = !job.seen.is_early() && job.seen != Observed::Pending;
                let is_arrival = n >= come.start && is_seen;
                is_arrival && (!is_recorded || is_late(job))
            };
            let places = 0..moment.jobs.len();
            let new = places
                .clone()
                .filter(|place| is_new(moment.jobs[*place].number));
            let is_chosen = |_: &usize| {
                waited += 1;
                waited % self.every == 0
            };
            let chosen: Vec<usize> = new.filter(waits).filter(is_chosen).collect();
            if chosen.is_empty() {
                continue;
            }
            let begun = Instant::now();
            let policy = rule_of(&course);
            let drawn = site.forecast(&moment, &course.past, &*policy, &chosen, draws)?;
            let time = begun.elapsed().as_secs_f64();
            let waiting = places.filter(waits).count();
            spent += time;
            if time > slowest.0 {
                slowest = (time, waiting);
            }
            for (place, (draws, by_limits)) in chosen.into_iter().zip(drawn) {
                let PresentJob { job, number, .. } = moment.jobs[place];
                forecasts.push(ScoredForecast {
                    line: job.line,
                    submitted: site.seconds(site.clock.submit(job.submit)),
                    waiting,
                    said: Quantiles([f64::NAN; 3]),
                    by_limits,
                    wait: f64::NAN,
                    draws,
                    place: number,
                });
            }
        }
        let (waits, misfits) = course.into_waits()?;
        for own in &mut forecasts {
            own.wait = site.seconds(waits[own.place]);
        }
        let mean = spent / forecasts.len().max(1) as f64;
        let calibration = calibrate(&mut forecasts);
        let first = (LEARNING * forecasts.len() as f64) as usize;
        let forecasts = forecasts.split_off(first);
        Ok(Scored {
            record: (!forecasts.is_empty()).then(|| ForecastRecord::of(&forecasts, log.has_limits)),
            forecasts,
            waited: [waited, log.arrivals().len()],
            misfits,
            map: probes.map(|probes| probes.map(&calibration)),
            took: (mean, slowest.0, slowest.1),
            calibration,
        })
    }
}

fn calibrate(forecasts: &mut [ScoredForecast]) -> Calibration {
    let mut calibration = Calibration::default();
    for own in forecasts {
        calibration.learn(own.submitted);
        own.said = calibration.quantiles(&own.draws);
        calibration.record(own.submitted, &own.draws, own.said, own.wait);
    }
    calibration.learn(f64::INFINITY);
    calibration
}

/// Returns the fraction of the jobs that have started at each quantile.
fn started(forecasts: &[ScoredForecast], said: &dyn Fn(&ScoredForecast) -> Quantiles) -> [f64; 3] {
    let by = |n: usize| {
        forecasts
            .iter()
            .filter(|own| own.wait <= said(own).0[n])
            .count()
    };
    [0, 1, 2].map(|n| by(n) as f64 / forecasts.len() as f64)
}

impl ForecastRecord {
    fn of(forecasts: &[ScoredForecast], has_limits: bool) -> Self {
        let raw = Calibration::default();
        let count = forecasts.len() as f64;
        let share = |is: &dyn Fn(&ScoredForecast) -> bool| {
            forecasts.iter().filter(|own| is(own)).count() as f64 / count
        };
        let median = |of: &dyn Fn(&ScoredForecast) -> f64| {
            let values = forecasts.iter().map(of);
            let values = values.sorted_unstable_by(f64::total_cmp).collect_vec();
            values[values.len() / 2]
        };
        let error = |of: &dyn Fn(&ScoredForecast) -> f64| {
            median(&|own| (of(own).min(HORIZON) - own.wait).abs())
        };
        let said = |own: &ScoredForecast| own.said;
        let quarters = forecasts.chunks(forecasts.len().div_ceil(QUARTERS));
        let quarters = quarters.map(|quarter| started(quarter, &said));
        let off = |of: &[f64; 3]| -> f64 {
            of.iter()
                .zip(LEVELS)
                .map(|(own, level)| (own - level).abs())
                .sum()
        };
        let worst = quarters.max_by(|a, b| off(a).total_cmp(&off(b)));
        let limits = |value: f64| if has_limits { value } else { f64::NAN };
        ForecastRecord {
            forecasts: forecasts.len(),
            started: started(forecasts, &said),
            uncalibrated: started(forecasts, &|own| raw.quantiles(&own.draws)),
            worst_quarter: worst.unwrap_or(LEVELS),
            width: median(&|own| own.said.0[2] - own.said.0[0]),
            wait: median(&|own| own.wait),
            error: error(&|own| own.said.0[1]),
            error_by_limits: limits(error(&|own| own.by_limits)),
            before_limits: limits(share(&|own| own.wait < own.by_limits)),
        }
    }
}
