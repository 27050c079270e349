use std::ops::Range;
use std::sync::Arc;

use super::draw::{ForecastSite, PresentJob, Snapshot};
use super::past::Past;
use synth_traces::replay::{Log, ReplayError, ReplayJob, Walk};

/// The recorded start of each job, in the time of the policy. The servers are not recorded, so the
/// walk of a [`LogReplay`] chooses them, and starts a job later if it does not fit.
pub(super) type Starts = Arc<[f64]>;

/// Returns the jobs with the limits that they were submitted with, and their recorded starts, or
/// `None` if these are not known for all jobs or if no job waited.
pub(super) fn recorded(log: &Log, site: &ForecastSite) -> Option<(Vec<ReplayJob>, Starts)> {
    let start = |job: &ReplayJob| {
        let start = site.clock.submit(job.submit + job.waited);
        (!start.is_nan()).then_some(start)
    };
    let starts: Starts = log.jobs.iter().map(start).collect::<Option<_>>()?;
    let jobs = log.jobs.iter().map(|job| {
        let passed = log.account.passed_limits.get(&job.line);
        let limit = passed.map_or(job.promised, |limit| *limit as f64);
        let own = if limit.is_finite() { limit } else { job.limit };
        ReplayJob {
            limit: own,
            promised: limit,
            ..*job
        }
    });
    let jobs: Vec<ReplayJob> = jobs.collect();
    jobs.iter()
        .any(|job| job.waited > 0.0)
        .then_some((jobs, starts))
}

/// A course of a log that stops at each submission: a replay, or the recorded one.
pub(super) struct LogReplay<'a> {
    jobs: &'a [ReplayJob],
    site: &'a ForecastSite,
    pub walk: Walk<'a>,
    recorded: Option<Starts>,
    pub past: Past,
    not_ended: Vec<usize>,
    next_arrival: usize,
}

impl<'a> LogReplay<'a> {
    pub(super) fn new(
        jobs: &'a [ReplayJob],
        site: &'a ForecastSite,
        walk: Walk<'a>,
        recorded: Option<Starts>,
    ) -> Self {
        LogReplay {
            jobs,
            site,
            walk,
            recorded,
            past: Past::default(),
            not_ended: Vec::new(),
            next_arrival: 0,
        }
    }

    /// Runs all events up to and at the next time when jobs arrive. Returns their indices, if any.
    pub(super) fn step(&mut self) -> Result<Option<Range<usize>>, ReplayError> {
        // The jobs of a step are forecast, so they join the past in the next step.
        for job in &self.jobs[self.past.jobs().len()..self.next_arrival] {
            let size = f64::NAN;
            self.past.arrive(ReplayJob { size, ..*job });
        }
        let Some(first) = self.jobs.get(self.next_arrival) else {
            return Ok(None);
        };
        let now = self.site.clock.submit(first.submit);
        self.walk.until(now.next_up())?;
        let mut not_ended = std::mem::take(&mut self.not_ended);
        let ended = not_ended.extract_if(.., |n| self.end(*n) <= now);
        for n in ended.collect::<Vec<usize>>() {
            self.past.ended(n, self.jobs[n].size);
        }
        let later = self.jobs[self.next_arrival..].iter();
        let count = later.take_while(|job| job.submit == first.submit).count();
        let arrivals = self.next_arrival..self.next_arrival + count;
        not_ended.extend(arrivals.clone());
        self.not_ended = not_ended;
        self.next_arrival = arrivals.end;
        Ok(Some(arrivals))
    }

    /// Returns the time when a job ends, or NaN if it is not known yet.
    fn end(&self, n: usize) -> f64 {
        let recorded = self.recorded.as_ref();
        recorded.map_or(self.walk.ends()[n], |starts| {
            starts[n] + self.site.clock.size(self.jobs[n].size)
        })
    }

    /// Returns the present jobs. A job that runs according to the record, but does not fit in the
    /// walk, is left out.
    pub(super) fn snapshot(&self) -> Snapshot {
        let at = self.jobs[self.next_arrival - 1].submit;
        let now = self.site.clock.submit(at);
        let present = self.walk.present().into_iter();
        let jobs = present.filter_map(|(number, started, servers)| {
            let started = match &self.recorded {
                Some(starts) if starts[number] > now => None,
                Some(_) if started.is_none() || self.end(number) <= now => return None,
                _ => started,
            };
            Some(PresentJob {
                job: self.jobs[number],
                started,
                servers,
                number,
            })
        });
        Snapshot {
            at,
            jobs: jobs.collect(),
            occupied: Vec::new(),
        }
    }

    /// Returns the wait of each job, and the number of jobs that did not fit at their start.
    pub(super) fn into_waits(mut self) -> Result<(Vec<f64>, usize), ReplayError> {
        match self.recorded {
            Some(_) => self.walk.until(f64::INFINITY)?,
            None => self.walk.finish()?,
        }
        let clock = self.site.clock;
        let wait = |n: usize| {
            self.end(n) - clock.size(self.jobs[n].size) - clock.submit(self.jobs[n].submit)
        };
        let ends = self.walk.ends().iter().enumerate();
        let misfits = ends.filter(|(n, end)| **end != self.end(*n)).count();
        Ok(((0..self.jobs.len()).map(wait).collect(), misfits))
    }
}
