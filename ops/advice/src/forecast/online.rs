use std::collections::HashMap;

use super::calibration::{Calibration, Quantiles};
use super::draw::{Draws, ForecastSite, PresentJob, Snapshot};
use super::past::Past;
use synth_core::number::seconds_in;
use synth_operator::protocol::StartPredictor;
use synth_operator::{JobHistory, Scheduler};
use synth_traces::replay::{Clock, ReplayJob, Speed};

/// The forecasts for a scheduler that is running, and the record of how accurate they were.
pub struct OnlineForecasts {
    draws: Draws,
    calibration: Calibration,
    open: HashMap<String, (f64, Vec<f64>, Quantiles)>,
    outcomes: (usize, [usize; 3]),
    second: f64,
    now: f64,
}

/// The number of ticks in one second. The time of a cluster may be in milliseconds.
const TICKS: f64 = 1000.0;

const FEWEST: usize = 10;

impl OnlineForecasts {
    /// Creates a new set of forecasts with an empty record.
    pub fn new(seed: u64) -> Self {
        OnlineForecasts {
            draws: Draws::new(seed),
            calibration: Calibration::default(),
            open: HashMap::new(),
            outcomes: (0, [0; 3]),
            second: 1.0,
            now: f64::NEG_INFINITY,
        }
    }

    /// Returns the number of forecast jobs that have started, and the fraction for each quantile.
    pub fn record(&self) -> (usize, [f64; 3]) {
        let (count, by) = self.outcomes;
        let share = |started| started as f64 / count.max(1) as f64;
        (count, by.map(share))
    }

    fn at(&mut self, now: f64) {
        if now < self.now {
            self.open.clear();
        }
        self.now = now;
    }

    fn waits(&self, scheduler: &Scheduler, job: &str) -> Result<Vec<f64>, String> {
        let rule = scheduler.rule();
        if rule.preempts() {
            return Err("the policy preempts jobs, which is not supported for forecasts".into());
        }
        if scheduler.runs(job) {
            return Err("the job has already started".into());
        }
        let present = scheduler.present();
        let place = present.iter().position(|(id, _)| **id == *job);
        let place = place.ok_or(
            "the resources that are needed by the job are used by others, or the servers are down",
        )?;
        let past = self.past(scheduler, &present);
        let known = past.known();
        if known < FEWEST {
            return Err(format!(
                "only {known} jobs have ended so far, but at least {FEWEST} jobs are needed to estimate the run times"
            ));
        }
        let there = |(_, seen): &(_, JobHistory)| PresentJob {
            job: self.job(seen),
            started: seen.started,
            servers: seen.servers.clone(),
            number: 0,
        };
        let moment = Snapshot {
            at: scheduler.now() * self.per_unit(),
            jobs: present.iter().map(there).collect(),
            occupied: scheduler.occupied(),
        };
        let fleet = scheduler.places().fleet().clone();
        let site = ForecastSite {
            types: (0..fleet.types().len() as u32).collect(),
            fleet,
            clock: Clock::in_units(Speed::ONE, self.per_unit()),
            per_second: TICKS,
        };
        let drawn = site.forecast(&moment, &past, &*rule, &[place], self.draws);
        let drawn = drawn.map_err(|why| why.to_string())?;
        Ok(drawn.into_iter().flat_map(|(draws, _)| draws).collect())
    }

    fn per_unit(&self) -> f64 {
        TICKS * self.second
    }

    fn job(&self, seen: &JobHistory) -> ReplayJob {
        let limit = seen.limit * self.per_unit();
        let ran = seen.ended.zip(seen.started).map(|(end, start)| end - start);
        let size = ran.map_or(f64::NAN, |ran| (ran * self.per_unit()).max(1.0));
        ReplayJob {
            limit,
            promised: limit,
            user: seen.user,
            ..ReplayJob::new(seen.job_type as u32, seen.since * self.per_unit(), size)
        }
    }

    /// Returns the past of the scheduler. If a job could not run now, it is not used for arrivals.
    fn past<T>(&self, scheduler: &Scheduler, present: &[(T, JobHistory)]) -> Past {
        let mut past = Past::default();
        let ended = scheduler.ended();
        ended.for_each(|seen| past.learn(&self.job(seen)));
        let all = scheduler.ended().chain(present.iter().map(|own| &own.1));
        let all = all.filter(|seen| scheduler.is_open(seen.job_type));
        let mut came: Vec<ReplayJob> = all.map(|seen| self.job(seen)).collect();
        came.sort_by(|a, b| a.submit.total_cmp(&b.submit));
        came.into_iter().for_each(|job| past.arrive(job));
        past
    }
}

impl StartPredictor for OnlineForecasts {
    fn forecast(&mut self, scheduler: &Scheduler, job: &str) -> Result<[f64; 3], String> {
        let now = scheduler.now();
        self.second = seconds_in(scheduler.places().fleet().time_unit()).unwrap_or(1.0);
        self.at(now);
        let draws = self.waits(scheduler, job)?;
        let said = self.calibration.quantiles(&draws);
        self.open.retain(|job, _| scheduler.knows(job));
        let first = (now * self.second, draws, said);
        self.open.entry(job.to_owned()).or_insert(first);
        Ok(said.0.map(|wait| now + wait / self.second))
    }

    fn started(&mut self, job: &str, t: f64) {
        self.at(t);
        if let Some((then, draws, said)) = self.open.remove(job) {
            let wait = t * self.second - then;
            let (count, by) = &mut self.outcomes;
            *count += 1;
            for (started, said) in by.iter_mut().zip(said.0) {
                *started += usize::from(wait <= said);
            }
            self.calibration.record(then, &draws, said, wait);
            self.calibration.learn(f64::INFINITY);
        }
    }
}
