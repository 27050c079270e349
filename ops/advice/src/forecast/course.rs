use std::ops::Range;

use super::draw::{ForecastSite, PresentJob, Snapshot};
use super::past::Past;
use synth_traces::replay::{Log, ReplayError, ReplayJob, Walk};

/// A replay of a log that stops at each submission.
pub(super) struct LogReplay<'a> {
    log: &'a Log,
    site: &'a ForecastSite,
    pub walk: Walk<'a>,
    pub past: Past,
    not_ended: Vec<usize>,
    next_arrival: usize,
}

impl<'a> LogReplay<'a> {
    pub(super) fn new(log: &'a Log, site: &'a ForecastSite, walk: Walk<'a>) -> Self {
        LogReplay {
            log,
            site,
            walk,
            past: Past::default(),
            not_ended: Vec::new(),
            next_arrival: 0,
        }
    }

    /// Runs all events up to and at the next time when jobs arrive. Returns their indices, if any.
    pub(super) fn step(&mut self) -> Result<Option<Range<usize>>, ReplayError> {
        // The jobs of a step are forecast, so they join the past in the next step.
        for job in &self.log.jobs[self.past.jobs().len()..self.next_arrival] {
            let size = f64::NAN;
            self.past.arrive(ReplayJob { size, ..*job });
        }
        let Some(first) = self.log.jobs.get(self.next_arrival) else {
            return Ok(None);
        };
        let now = self.site.clock.submit(first.submit);
        self.walk.until(now.next_up())?;
        let (past, ends) = (&mut self.past, self.walk.ends());
        for n in self.not_ended.extract_if(.., |n| ends[*n] <= now) {
            past.ended(n, self.log.jobs[n].size);
        }
        let later = self.log.jobs[self.next_arrival..].iter();
        let count = later.take_while(|job| job.submit == first.submit).count();
        let arrivals = self.next_arrival..self.next_arrival + count;
        self.not_ended.extend(arrivals.clone());
        self.next_arrival = arrivals.end;
        Ok(Some(arrivals))
    }

    pub(super) fn snapshot(&self) -> (Snapshot, Vec<usize>) {
        let present = self.walk.present();
        let log_indices = present.iter().map(|(n, ..)| *n).collect();
        let jobs = present.into_iter().map(|(n, started, servers)| PresentJob {
            job: self.log.jobs[n],
            started,
            servers,
        });
        let snapshot = Snapshot {
            at: self.log.jobs[self.next_arrival - 1].submit,
            jobs: jobs.collect(),
            occupied: Vec::new(),
        };
        (snapshot, log_indices)
    }

    pub(super) fn into_waits(mut self) -> Result<Vec<f64>, ReplayError> {
        self.walk.finish()?;
        let clock = self.site.clock;
        let jobs = self.log.jobs.iter().zip(self.walk.ends());
        let waits = jobs.map(|(job, end)| end - clock.size(job.size) - clock.submit(job.submit));
        Ok(waits.collect())
    }
}
