use std::ops::Range;

use super::draw::{ForecastSite, PresentJob, Snapshot};
use super::past::Past;
use itertools::Itertools as _;
use synth_multiresource::policy::Policy;
use synth_slurm::rule::{RecordedJobs, SlurmRule};
use synth_traces::replay::{Log, ReplayError, ReplayJob, Walk};

/// Returns `true` if the starts of all jobs are recorded, and some of them waited.
pub(super) fn has_starts(log: &Log) -> bool {
    let mut jobs = log.jobs.iter();
    jobs.all(|job| !job.waited.is_nan()) && log.jobs.iter().any(|job| job.waited > 0.0)
}

/// Returns the jobs with the limits that they were submitted with, which some have exceeded.
pub(super) fn as_submitted(log: &Log) -> Vec<ReplayJob> {
    let jobs = log.jobs.iter().map(|job| {
        let passed = log.account.passed_limits.get(&job.line);
        passed.map_or(*job, |limit| ReplayJob {
            limit: *limit as f64,
            promised: *limit as f64,
            ..*job
        })
    });
    jobs.collect()
}

/// The events of a log: those of a replay, or the recorded ones.
pub(super) enum Course<'a> {
    Replay(Box<Walk<'a>>),
    Record(Box<Record>),
}

/// The recorded course of a log.
pub(super) struct Record {
    /// The time of each start (`true`) or end (`false`) and the job, in order.
    events: Vec<(f64, bool, usize)>,
    next: usize,
    running: RecordedJobs,
    /// The number of jobs that did not fit when they started.
    misfits: usize,
}

impl Record {
    pub(super) fn new(jobs: &[ReplayJob], site: &ForecastSite, rule: &SlurmRule) -> Self {
        let events = jobs.iter().enumerate().flat_map(|(n, job)| {
            let start = site.clock.submit(job.submit + job.waited);
            [
                (start, true, n),
                (start + site.clock.size(job.size), false, n),
            ]
        });
        let order = |a: &(f64, bool, usize), b: &(f64, bool, usize)| {
            a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2)))
        };
        Record {
            events: events.sorted_by(order).collect(),
            next: 0,
            running: RecordedJobs::new(rule, &site.fleet),
            misfits: 0,
        }
    }

    /// Runs all events up to this time. Returns the jobs that have ended.
    fn until(&mut self, now: f64, type_of: impl Fn(usize) -> usize) -> Vec<usize> {
        let mut ended = Vec::new();
        while let Some((at, starts, n)) = self
            .events
            .get(self.next)
            .copied()
            .filter(|own| own.0 <= now)
        {
            self.next += 1;
            if starts {
                let fits = self.running.start(n, type_of(n), at);
                self.misfits += usize::from(!fits);
            } else {
                self.running.end(n, at);
                ended.push(n);
            }
        }
        ended
    }
}

/// The course of a log that stops at each submission.
pub(super) struct LogReplay<'a> {
    jobs: &'a [ReplayJob],
    site: &'a ForecastSite,
    course: Course<'a>,
    pub past: Past,
    not_ended: Vec<usize>,
    next_arrival: usize,
}

impl<'a> LogReplay<'a> {
    pub(super) fn new(jobs: &'a [ReplayJob], site: &'a ForecastSite, course: Course<'a>) -> Self {
        LogReplay {
            jobs,
            site,
            course,
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
        let ended = match &mut self.course {
            Course::Replay(walk) => {
                walk.until(now.next_up())?;
                let ended = self.not_ended.iter().copied();
                ended.filter(|n| walk.ends()[*n] <= now).collect()
            }
            Course::Record(record) => {
                let type_of = |n: usize| self.site.types[self.jobs[n].kind as usize] as usize;
                record.until(now, type_of)
            }
        };
        for n in ended {
            self.past.ended(n, self.jobs[n].size);
        }
        let past = &self.past;
        self.not_ended.retain(|n| past.jobs()[*n].size.is_nan());
        let later = self.jobs[self.next_arrival..].iter();
        let count = later.take_while(|job| job.submit == first.submit).count();
        let arrivals = self.next_arrival..self.next_arrival + count;
        self.not_ended.extend(arrivals.clone());
        self.next_arrival = arrivals.end;
        Ok(Some(arrivals))
    }

    /// Returns the present jobs. A job that runs according to the record is left out if it does not
    /// fit.
    pub(super) fn snapshot(&self) -> Snapshot {
        let at = self.jobs[self.next_arrival - 1].submit;
        let present = match &self.course {
            Course::Replay(walk) => walk.present(),
            Course::Record(record) => {
                let of = |n: &usize| {
                    let job = &self.jobs[*n];
                    let start = job.submit + job.waited;
                    if start > at {
                        return Some((*n, None, Vec::new()));
                    }
                    let servers = record.running.servers(*n)?;
                    Some((*n, Some(self.site.clock.submit(start)), servers))
                };
                self.not_ended.iter().filter_map(of).collect()
            }
        };
        let jobs = present
            .into_iter()
            .map(|(number, started, servers)| PresentJob {
                job: self.jobs[number],
                started,
                servers,
                number,
            });
        Snapshot {
            at,
            jobs: jobs.collect(),
            occupied: Vec::new(),
        }
    }

    /// Returns the present state of the rule, if it is that of Slurm or of a replay.
    pub(super) fn policy(&self) -> Box<dyn Policy> {
        match &self.course {
            Course::Replay(walk) => walk.policy(),
            Course::Record(record) => record.running.policy(),
        }
    }

    /// Returns the wait of each job, and the number of jobs that did not fit at their start.
    pub(super) fn into_waits(self) -> Result<(Vec<f64>, Option<usize>), ReplayError> {
        let clock = self.site.clock;
        let jobs = self.jobs.iter();
        let mut walk = match self.course {
            Course::Replay(walk) => walk,
            Course::Record(record) => {
                let waits = jobs.map(|job| clock.size(job.waited)).collect();
                return Ok((waits, Some(record.misfits)));
            }
        };
        walk.finish()?;
        let jobs = jobs.zip(walk.ends());
        let waits = jobs.map(|(job, end)| end - clock.size(job.size) - clock.submit(job.submit));
        Ok((waits.collect(), None))
    }
}
