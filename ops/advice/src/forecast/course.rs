use std::ops::Range;

use super::draw::{ForecastSite, PresentJob, Snapshot};
use super::past::Past;
use synth_traces::replay::{Log, ReplayError, ReplayJob, Walk};

pub(super) struct LogReplay<'a> {
    log: &'a Log,
    site: &'a ForecastSite,
    pub walk: Walk<'a>,
    pub past: Past,
    open: Vec<usize>,
    next: usize,
}

impl<'a> LogReplay<'a> {
    pub(super) fn new(log: &'a Log, site: &'a ForecastSite, walk: Walk<'a>) -> Self {
        LogReplay {
            log,
            site,
            walk,
            past: Past::default(),
            open: Vec::new(),
            next: 0,
        }
    }

    /// Moves to the next time when jobs arrive, and returns these jobs.
    pub(super) fn step(&mut self) -> Result<Option<Range<usize>>, ReplayError> {
        for job in &self.log.jobs[self.past.jobs().len()..self.next] {
            let size = f64::NAN;
            self.past.arrive(ReplayJob { size, ..*job });
        }
        let Some(first) = self.log.jobs.get(self.next) else {
            return Ok(None);
        };
        let now = self.site.clock.submit(first.submit);
        self.walk.until(now.next_up())?;
        let (past, ends) = (&mut self.past, self.walk.ends());
        for n in self.open.extract_if(.., |n| ends[*n] <= now) {
            past.ended(n, self.log.jobs[n].size);
        }
        let come = self.log.jobs[self.next..].iter();
        let come = come.take_while(|job| job.submit == first.submit).count();
        let come = self.next..self.next + come;
        self.open.extend(come.clone());
        self.next = come.end;
        Ok(Some(come))
    }

    pub(super) fn moment(&self) -> (Snapshot, Vec<usize>) {
        let present = self.walk.present();
        let places = present.iter().map(|(n, ..)| *n).collect();
        let jobs = present.into_iter().map(|(n, started, servers)| PresentJob {
            job: self.log.jobs[n],
            started,
            servers,
        });
        let moment = Snapshot {
            at: self.log.jobs[self.next - 1].submit,
            jobs: jobs.collect(),
            occupied: Vec::new(),
        };
        (moment, places)
    }

    pub(super) fn waits(mut self) -> Result<Vec<f64>, ReplayError> {
        self.walk.finish()?;
        let clock = self.site.clock;
        let jobs = self.log.jobs.iter().zip(self.walk.ends());
        let waits = jobs.map(|(job, end)| end - clock.size(job.size) - clock.submit(job.submit));
        Ok(waits.collect())
    }
}
