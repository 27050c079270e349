//! A log that comes again under a rule, looked at from moment to moment.

use std::ops::Range;

use super::draw::{ForecastSite, PresentJob, Snapshot};
use super::past::Past;
use synth_multiresource::policy::Policy;
use synth_traces::replay::{Log, Stopped, Walk};

/// A log that comes again under a rule; and of each moment what was known then.
pub(super) struct Course<'a> {
    log: &'a Log,
    site: &'a ForecastSite,
    walk: Walk<'a>,
    /// What is known.
    pub past: Past,
    /// Jobs that have come and not ended.
    open: Vec<usize>,
    next: usize,
}

impl<'a> Course<'a> {
    pub(super) fn new(log: &'a Log, site: &'a ForecastSite, walk: Walk<'a>) -> Self {
        Course {
            log,
            site,
            walk,
            past: Past::default(),
            open: Vec::new(),
            next: 0,
        }
    }

    /// Goes on to the next instant at which jobs come, and returns these; what is known is that of the jobs before them.
    ///
    /// # Errors
    /// When the policy made a decision that no server could carry out.
    pub(super) fn step(&mut self) -> Result<Option<Range<usize>>, Stopped> {
        // Those of the instant before.
        for job in &self.log.jobs[self.past.jobs().len()..self.next] {
            self.past.came(job);
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

    /// Returns what is there now, and of each job its place in the log.
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

    /// Returns the rule as it is now.
    pub(super) fn policy(&self) -> Box<dyn Policy> {
        self.walk.policy()
    }

    /// Goes on until the last job has left; returns how long each waited \[policy time\].
    ///
    /// # Errors
    /// As [`step`](Self::step), and when the policy leaves jobs waiting.
    pub(super) fn waits(mut self) -> Result<Vec<f64>, Stopped> {
        self.walk.finish()?;
        let clock = self.site.clock;
        let jobs = self.log.jobs.iter().zip(self.walk.ends());
        let waits = jobs.map(|(job, end)| end - clock.size(job.size) - clock.submit(job.submit));
        Ok(waits.collect())
    }
}
