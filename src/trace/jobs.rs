//! The jobs of a trace, one after the other.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::path::{Path, PathBuf};

use super::format::{self, Fate, Opened, Raw, Reader};
use super::{Account, Demands, Format, Job, Options, Reason, Servers, Tick, TraceError};

/// Where a trace is read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A file.
    File(PathBuf),
    /// Standard input.
    Input,
}

impl Source {
    /// Returns the file of this name; `-` is standard input.
    #[must_use]
    pub fn named(path: &Path) -> Self {
        if path.as_os_str() == "-" {
            Source::Input
        } else {
            Source::File(path.into())
        }
    }

    /// How messages name it.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Source::File(path) => path.display().to_string(),
            Source::Input => "standard input".into(),
        }
    }
}

/// A trace that is being read.
pub struct Trace {
    name: String,
    format: Format,
    servers: Servers,
    /// One over the capacity of all servers together (R); 0 where there is none.
    per_capacity: Vec<f64>,
    reader: Box<dyn Reader>,
    options: Options,
    demands: Demands,
    /// By vector, the largest fraction of a resource of all servers together.
    shares: Vec<f64>,
    account: Account,
    buffer: Buffer,
    /// Demand of the line that was read last (R).
    demand: Vec<f64>,
    /// Time of submission on the line before.
    before: i64,
    /// When the first job and the one that was given last were submitted.
    span: Option<(i64, i64)>,
    is_read: bool,
}

impl Trace {
    /// How many lines a job may stand behind one that was submitted later.
    pub const MOST_OUT_OF_ORDER: usize = 1_000_000;

    /// Opens a trace, and finds out its format and what its jobs ran on.
    ///
    /// # Errors
    /// When it cannot be read, has no known format or not the one that is named, or does not tell its servers and
    /// the options do not, either.
    pub fn open(source: &Source, options: &Options) -> Result<Self, TraceError> {
        let opened = format::open(source, options)?;
        Ok(Self::of(source.name(), opened, options))
    }

    /// Returns the jobs of a file that is open.
    pub(super) fn of(name: String, opened: Opened, options: &Options) -> Self {
        let Opened {
            format,
            servers,
            reader,
        } = opened;
        let per = |total: f64| if total > 0.0 { 1.0 / total } else { 0.0 };
        Trace {
            name,
            format,
            per_capacity: servers.total().into_iter().map(per).collect(),
            demand: vec![0.0; servers.resources.len()],
            servers,
            reader,
            options: options.clone(),
            demands: Demands::default(),
            shares: Vec::new(),
            account: Account::default(),
            buffer: Buffer::new(Self::MOST_OUT_OF_ORDER + 1),
            before: i64::MIN,
            span: None,
            is_read: false,
        }
    }

    /// Returns the next job in the order of submission; `None` at the end.
    ///
    /// # Errors
    /// When the file cannot be read further, too many of its lines are faulty or too far out of order, or no job takes
    /// part.
    pub fn next_job(&mut self) -> Result<Option<Job>, TraceError> {
        loop {
            while !self.is_read && self.buffer.len() <= Self::MOST_OUT_OF_ORDER {
                match self.reader.next(&mut self.demand, &mut self.account)? {
                    Some(raw) => {
                        if let Some(job) = self.admit(raw) {
                            self.buffer.push(job);
                        }
                    }
                    None => self.is_read = true,
                }
            }
            let Some(job) = self.buffer.pop() else {
                return self.conclude().map(|()| None);
            };
            if self.takes_part(&job)? {
                return Ok(Some(job));
            }
        }
    }

    /// Returns what the jobs ran on.
    #[must_use]
    pub fn servers(&self) -> &Servers {
        &self.servers
    }

    /// Returns the format that was named or found.
    #[must_use]
    pub fn format(&self) -> Format {
        self.format
    }

    /// Returns the resolution of its times.
    #[must_use]
    pub fn tick(&self) -> Tick {
        self.reader.tick()
    }

    /// Returns the vectors of demands of the jobs read so far.
    #[must_use]
    pub fn demands(&self) -> &Demands {
        &self.demands
    }

    /// Returns what was done with the lines read so far.
    #[must_use]
    pub fn account(&self) -> &Account {
        &self.account
    }

    /// The work of a job that was read here: its size \[ticks\] times the largest fraction of a resource of all servers
    /// together that it holds.
    #[must_use]
    pub fn work(&self, job: &Job) -> f64 {
        self.shares[job.demand as usize] * job.size as f64
    }

    /// Returns the largest fraction of a resource of all servers together that this demand (R) is, ≥ 0.
    #[must_use]
    pub fn share(&self, demand: &[f64]) -> f64 {
        let pairs = demand.iter().zip(&self.per_capacity);
        pairs.map(|(demand, per)| demand * per).fold(0.0, f64::max)
    }

    /// Decides what is done with a line; returns the job, if it takes part.
    fn admit(&mut self, raw: Raw) -> Option<Job> {
        self.account.lines += 1;
        let share = self.share(&self.demand);
        let work = share * raw.size.max(0) as f64;
        if let Some(reason) = self.left_out(&raw) {
            self.account.decide(false, raw.line, work);
            self.account.note(reason, raw.line, work);
            return None;
        }
        self.account.decide(true, raw.line, work);
        let mut note = |reason| self.account.note(reason, raw.line, work);
        let size = raw.size.unsigned_abs().max(1);
        if raw.size == 0 {
            note(Reason::LessThanATick);
        }
        let mut limit = raw
            .limit
            .filter(|limit| *limit > 0)
            .map_or(0, i64::unsigned_abs);
        if limit == 0 {
            note(Reason::NoLimit);
        } else if limit < size {
            note(Reason::PastLimit);
            limit = size;
        }
        if raw.submit < self.before {
            note(Reason::Unsorted);
        }
        if raw.is_censored {
            note(Reason::Censored);
        }
        self.before = raw.submit;
        let servers = &self.servers;
        let demand = self
            .demands
            .number(&self.demand, |demand| servers.hold(demand));
        if demand as usize == self.shares.len() {
            // It may have been rounded.
            let share = self.share(&self.demands.vectors()[demand as usize]);
            self.shares.push(share);
        }
        Some(Job {
            line: raw.line,
            submit: raw.submit,
            size,
            limit,
            demand,
            user: raw.user,
            batch: raw.batch,
            is_censored: raw.is_censored && !self.options.censored_end,
        })
    }

    /// Returns why a line takes no part, if it does not.
    fn left_out(&self, raw: &Raw) -> Option<Reason> {
        let broken = raw.fate == Fate::Broken;
        if raw.fate == Fate::Part {
            Some(Reason::Partial)
        } else if raw.size < 0 || raw.size == 0 && broken {
            Some(Reason::NeverRan)
        } else if self.demand.iter().all(|demand| *demand == 0.0) {
            Some(Reason::NoDemand)
        } else if !self.servers.hold(&self.demand) {
            Some(Reason::TooLarge)
        } else {
            None
        }
    }

    /// Returns whether a job is within the span that was asked for, and counts it.
    fn takes_part(&mut self, job: &Job) -> Result<bool, TraceError> {
        let (first, last) = self.span.unwrap_or((job.submit, job.submit));
        if job.submit < last {
            return Err(TraceError(format!(
                "{}, line {}: submitted before a job of more than {} lines earlier: {}",
                self.name,
                job.line,
                Self::MOST_OUT_OF_ORDER,
                self.format.sort()
            )));
        }
        self.span = Some((first, job.submit));
        let work = self.work(job);
        let since = (job.submit - first) as f64 / self.tick().per_second() as f64;
        let is_early = self.options.from.is_some_and(|from| since < from);
        if is_early || self.options.to.is_some_and(|to| since > to) {
            self.account.note(Reason::OutsideSpan, job.line, work);
            return Ok(false);
        }
        self.account.jobs += 1;
        self.account.work += work;
        Ok(true)
    }

    /// At the end: whether the lines were such that it is worth going on.
    fn conclude(&self) -> Result<(), TraceError> {
        let Account { lines, jobs, .. } = self.account;
        let (name, limit) = (&self.name, self.options.faults);
        let faults = self.account.count(Reason::Fault);
        if faults as f64 > limit * lines as f64 {
            let format = self.format.name();
            return Err(TraceError::faults(name, format, limit, &self.account));
        }
        if jobs == 0 {
            return Err(TraceError::empty(name, &self.account));
        }
        Ok(())
    }
}

/// Jobs that wait until no earlier one is expected.
///
/// Those that come in order stand in a queue; only the others pay for being sorted.
struct Buffer {
    ordered: VecDeque<Job>,
    late: BinaryHeap<Reverse<Job>>,
}

impl Buffer {
    /// Room for so many jobs, of which memory is taken as they come: a queue that grew by copying itself would take it
    /// twice.
    fn new(jobs: usize) -> Self {
        Buffer {
            ordered: VecDeque::with_capacity(jobs),
            late: BinaryHeap::new(),
        }
    }

    fn len(&self) -> usize {
        self.ordered.len() + self.late.len()
    }

    fn push(&mut self, job: Job) {
        match self.ordered.back() {
            Some(last) if job < *last => self.late.push(Reverse(job)),
            _ => self.ordered.push_back(job),
        }
    }

    /// Returns the job that was submitted first; of several at one instant that of the first line.
    fn pop(&mut self) -> Option<Job> {
        let late_first = match (self.late.peek(), self.ordered.front()) {
            (Some(Reverse(late)), Some(ordered)) => late < ordered,
            (late, _) => late.is_some(),
        };
        if late_first {
            self.late.pop().map(|Reverse(job)| job)
        } else {
            self.ordered.pop_front()
        }
    }
}
