//! Evaluation of forecasts on a log.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use itertools::Itertools as _;
use schemars::JsonSchema;
use serde::Serialize;

use super::calibration::{Calibration, Quantiles};
use super::course::Course;
use super::draw::{Draws, ForecastSite};
use super::map::{Map, Probes};
use synth_multiresource::policy::Policy;
use synth_traces::replay::{Log, NoResult, Stopped, Walk};

/// A forecast and its outcome. Times are in seconds.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ScoredForecast {
    /// The line of the job in the log.
    pub line: u32,
    /// The submission time after the first submission.
    pub submitted: f64,
    /// The number of waiting jobs at that time, including this one.
    pub waiting: usize,
    /// The 10 %, 50 % and 90 % quantiles of its wait.
    pub said: Quantiles,
    /// Its wait if all jobs ran up to their limits and no more arrived; infinite without limits.
    pub by_limits: f64,
    /// Its actual wait.
    pub wait: f64,
    #[serde(skip)]
    draws: Vec<f64>,
    #[serde(skip)]
    place: usize,
}

/// An evaluation of forecasts on a log.
pub struct Scoring<'a> {
    /// The log.
    pub log: &'a Log,
    /// The parameters of the simulation.
    pub draws: Draws,
    /// Every n-th waiting job is forecast, n ≥ 1.
    pub every: usize,
    /// Ends the evaluation once set.
    pub interrupt: &'a AtomicBool,
}

/// The forecasts of a log and their accuracy.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Scored {
    /// The evaluated forecasts; the first tenth only calibrates.
    pub forecasts: Vec<ScoredForecast>,
    /// The number of jobs that waited, and of all jobs.
    pub waited: [usize; 2],
    /// The accuracy, if any job waited.
    pub record: Option<ForecastRecord>,
    /// The waits by width and limit, if requested.
    pub map: Option<Map>,
    /// The mean and maximum computing time \[s\], and the number of waiting jobs at the maximum.
    #[serde(skip)]
    pub took: (f64, f64, usize),
    /// The final calibration.
    #[serde(skip)]
    pub calibration: Calibration,
}

/// The accuracy of forecasts. Times are in seconds.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ForecastRecord {
    /// The number of forecasts.
    pub forecasts: usize,
    /// The shares of jobs that started by the 10 %, 50 % and 90 % quantiles.
    pub started: [f64; 3],
    /// The same without calibration.
    pub uncalibrated: [f64; 3],
    /// The median absolute error of the median forecast.
    pub error: f64,
    /// The median absolute error if limits are used as run times.
    pub error_by_limits: f64,
    /// The share of jobs that started before the time that limits give.
    pub before_limits: f64,
}

/// The share of the first forecasts that is not evaluated.
const LEARNING: f64 = 0.1;

/// Longer waits count as this long \[s\].
const ENDLESS: f64 = 60.0 * 86_400.0;

impl Scoring<'_> {
    /// Forecasts jobs that wait at their submission under the rule that `make` builds; `mapped`
    /// adds the map. `listener` gets the number of arrived jobs. Errors if the rule cannot serve
    /// the jobs.
    pub fn run(
        &self,
        make: impl FnOnce(&ForecastSite) -> Result<Box<dyn Policy>, String>,
        mapped: bool,
        listener: &mut dyn FnMut(usize),
    ) -> Result<Scored, NoResult> {
        let log = self.log;
        let site = ForecastSite::of_log(log)?;
        let scene = site.scene(&log.jobs);
        let policy = make(&site).map_err(NoResult::Refused)?;
        let mut course = Course::new(log, &site, Walk::new(&scene, policy));
        let mut probes = mapped.then(|| Probes::of(log));
        let (mut forecasts, mut waited) = (Vec::<ScoredForecast>::new(), 0);
        let (mut spent, mut slowest) = (0.0, (0.0, 0));
        while let Some(come) = course.step()? {
            if self.interrupt.load(Ordering::Relaxed) {
                return Err(Stopped::Interrupted.into());
            }
            listener(come.end);
            let draws = Draws {
                seed: self.draws.seed.wrapping_add(come.start as u64),
                ..self.draws
            };
            if let Some(probes) = &mut probes
                && probes.is_due(come.end)
            {
                let (moment, policy) = (course.moment().0, course.policy());
                probes.look(&site, &moment, &course.past, &*policy, draws)?;
            }
            let (moment, places) = course.moment();
            let waits = |place: &usize| moment.jobs[*place].started.is_none();
            let is_new = |n: usize| n >= come.start && !log.jobs[n].seen.is_early();
            let new = (0..places.len()).filter(|place| is_new(places[*place]));
            let mut chosen: Vec<usize> = new.filter(waits).collect();
            chosen.retain(|_| {
                waited += 1;
                waited % self.every == 0
            });
            if chosen.is_empty() {
                continue;
            }
            let begun = Instant::now();
            let policy = course.policy();
            let drawn = site.forecast(&moment, &course.past, &*policy, &chosen, draws)?;
            let time = begun.elapsed().as_secs_f64();
            let waiting = (0..places.len()).filter(waits).count();
            spent += time;
            if time > slowest.0 {
                slowest = (time, waiting);
            }
            for (place, (draws, by_limits)) in chosen.into_iter().zip(drawn) {
                let job = &log.jobs[places[place]];
                forecasts.push(ScoredForecast {
                    line: job.line,
                    submitted: site.seconds(site.clock.submit(job.submit)),
                    waiting,
                    said: Quantiles([f64::NAN; 3]),
                    by_limits,
                    wait: f64::NAN,
                    draws,
                    place: places[place],
                });
            }
        }
        let waits = course.waits()?;
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
            map: probes.map(|probes| probes.map(&calibration)),
            took: (mean, slowest.0, slowest.1),
            calibration,
        })
    }
}

fn calibrate(forecasts: &mut [ScoredForecast]) -> Calibration {
    let mut calibration = Calibration::default();
    for own in forecasts {
        calibration.look(own.submitted);
        own.said = calibration.quantiles(&own.draws);
        calibration.said(own.submitted, own.said, own.wait);
    }
    calibration.look(f64::INFINITY);
    calibration
}

impl ForecastRecord {
    fn of(forecasts: &[ScoredForecast], has_limits: bool) -> Self {
        let raw = Calibration::default();
        let count = forecasts.len() as f64;
        let share = |is: &dyn Fn(&ScoredForecast) -> bool| {
            forecasts.iter().filter(|own| is(own)).count() as f64 / count
        };
        let by = |said: &dyn Fn(&ScoredForecast) -> Quantiles| {
            [0, 1, 2].map(|n| share(&|own| own.wait <= said(own).0[n]))
        };
        let error = |of: &dyn Fn(&ScoredForecast) -> f64| {
            let errors = forecasts.iter();
            let errors = errors.map(|own| (of(own).min(ENDLESS) - own.wait).abs());
            let errors = errors.sorted_unstable_by(f64::total_cmp).collect_vec();
            errors[errors.len() / 2]
        };
        let limits = |value: f64| if has_limits { value } else { f64::NAN };
        ForecastRecord {
            forecasts: forecasts.len(),
            started: by(&|own| own.said),
            uncalibrated: by(&|own| raw.quantiles(&own.draws)),
            error: error(&|own| own.said.0[1]),
            error_by_limits: limits(error(&|own| own.by_limits)),
            before_limits: limits(share(&|own| own.wait < own.by_limits)),
        }
    }
}
