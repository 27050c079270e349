mod conclusion;

use super::account::Gap;
use super::duplicates::{Counted, Known, find};
use super::format::{self, Opened, Outcome, RawJob, Reader, Rows};
use super::input::Source;
use super::window::{Activity, Why, Window};
use super::{
    Account, DemandTable, FIRST_DATE, Observed, ReadOptions, Reason, ServerShape, Servers, Tick,
    TraceEdge, TraceError, TraceFormat, TraceJob,
};

/// A trace that can be read.
pub struct Trace {
    /// The resolution of its times.
    pub tick: Tick,
    /// The servers of the log, such as cpu=128,memory=512
    ///
    /// These are the servers that were used to run the jobs.
    pub servers: Servers,
    rows: Rows,
    reader: Box<dyn Reader>,
    per_capacity: Vec<f64>,
    options: ReadOptions,
    /// The demand vectors of the jobs read so far.
    pub demands: DemandTable,
    shares: Vec<f64>,
    /// How the lines read so far were used.
    pub account: Account,
    known: Known,
    /// The jobs that had not ended at the end of the file, with their demands and supposed reasons.
    open: Vec<(RawJob, Vec<f64>, u32)>,
    last: i64,
    is_named: Vec<bool>,
    demand: Vec<f64>,
    before: (i64, u32),
    span: Option<(i64, i64)>,
    activity: Activity,
    window: Option<Window>,
    arrivals: u64,
    gap: Gap,
    /// The largest work of a job that fits on no server: its line, servers, and demand on each.
    largest: Option<(f64, u32, u32, Vec<f64>)>,
}

const JOBS_PER_CALL: usize = 1 << 18;

const NOT_LIVE: &str = "times before now apply to jobs that are read from Slurm, with `slurm` instead of a log: give a date, or a time after the first job";

impl Trace {
    /// Opens a trace, detects its format, and finds the servers.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or if the format or the servers are not known.
    pub fn open(source: &Source, options: &ReadOptions) -> Result<Self, TraceError> {
        Ok(Self::of(format::open(source, options)?, options))
    }

    pub(super) fn of((tick, servers, rows, reader): Opened, options: &ReadOptions) -> Self {
        let per = |total: f64| if total > 0.0 { 1.0 / total } else { 0.0 };
        let per_capacity: Vec<f64> = servers.total().into_iter().map(per).collect();
        Trace {
            demand: vec![0.0; per_capacity.len()],
            tick,
            servers,
            reader,
            options: options.clone(),
            demands: DemandTable::default(),
            shares: Vec::new(),
            account: Account {
                remarks: rows.remarks.clone(),
                ..Account::default()
            },
            known: Known::default(),
            open: Vec::new(),
            last: i64::MIN,
            is_named: vec![false; per_capacity.len()],
            activity: Activity::default(),
            window: None,
            arrivals: 0,
            before: (i64::MIN, 0),
            span: None,
            gap: Gap::default(),
            largest: None,
            per_capacity,
            rows,
        }
    }

    /// Reads all jobs and sorts them by submission, and then by their order in the file. `goes_on`
    /// is called with the number of jobs so far; if it returns `false`, the result is `None`.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, many lines have faults, or no job is used.
    pub fn jobs(
        &mut self,
        mut goes_on: impl FnMut(usize) -> bool,
    ) -> Result<Option<Vec<TraceJob>>, TraceError> {
        let mut jobs: Vec<TraceJob> = Vec::new();
        while let Some(raw) = self.read(&mut jobs)? {
            self.account.noted = 0;
            let (job, work) = self.decide(&raw);
            if let Some(own) = raw.id.and_then(|key| self.known.get_mut(&key)) {
                own.place = job.map(|_| jobs.len());
                (own.reasons, own.work) = (self.account.noted, work);
            }
            jobs.extend(job);
            if jobs.len() % JOBS_PER_CALL == JOBS_PER_CALL - 1 && !goes_on(jobs.len()) {
                return Ok(None);
            }
        }
        // Jobs whose row was replaced have a size of 0.
        jobs.retain(|job| job.size > 0);
        jobs.sort_by_key(|job| (job.submit, job.line));
        let placed = jobs.into_iter().map(|job| self.takes_part(job));
        let jobs = placed.filter_map(Result::transpose);
        let jobs = jobs.collect::<Result<_, _>>()?;
        self.conclude()?;
        Ok(Some(jobs))
    }

    fn read(&mut self, jobs: &mut [TraceJob]) -> Result<Option<RawJob>, TraceError> {
        while self.rows.advance(&mut self.account)? {
            let (rows, account) = (&self.rows, &mut self.account);
            match self.reader.read((rows, &mut self.demand, account)) {
                Ok(None) => {}
                Ok(Some(mut job)) => {
                    if job.seen != Observed::Pending {
                        self.last = self.last.max(job.last());
                    }
                    if !self.is_latest(&mut job, jobs) {
                        continue;
                    }
                    if self.span.is_none() {
                        self.activity.note(&job);
                    }
                    if !job.is_open {
                        return Ok(Some(job));
                    }
                    let supposed = std::mem::take(&mut self.account.supposed);
                    self.open.push((job, self.demand.clone(), supposed));
                }
                Err(fault) => account.fault(rows.number, || fault.reported(rows.number)),
            }
        }
        let Some((job, demand, supposed)) = self.open.pop() else {
            return Ok(self.reader.left(&mut self.demand, &mut self.account));
        };
        (self.demand, self.account.supposed) = (demand, supposed);
        if job.seen == Observed::Pending {
            return Ok(Some(job.waiting_until(self.last)));
        }
        let size = self.last - job.begun();
        let seen = Observed::Censored;
        Ok(Some(RawJob { size, seen, ..job }))
    }

    /// Returns `true` for the last known state of a job, which replaces its earlier row.
    fn is_latest(&mut self, job: &mut RawJob, jobs: &mut [TraceJob]) -> bool {
        let Some(id) = job.id.filter(|_| self.rows.has_ids) else {
            job.id = None;
            return true;
        };
        let (key, before) = find(&self.known, (id, job.start));
        let mut counted = Counted {
            line: job.line,
            start: job.start,
            rank: job.rank(),
            ..Counted::default()
        };
        if let Some(before) = before {
            self.account.note(Reason::Repeated, job.line, 0.0);
            if counted.rank < before.rank {
                self.account.decide(false, job.line, 0.0);
                return false;
            }
            if let Some(place) = before.place {
                jobs[place].size = 0;
            }
            let waiting = self.open.len();
            self.open.retain(|(open, ..)| open.line != before.line);
            if self.open.len() == waiting {
                before.retract(&mut self.account);
            }
            (job.line, counted.line) = (before.line, before.line);
        }
        self.known.insert(key, counted);
        job.id = Some(key);
        true
    }

    /// Returns the format of the file.
    pub fn format(&self) -> TraceFormat {
        self.rows.format
    }

    /// Returns the beginning of the log \[ticks\] if some jobs are [early](Observed::is_early).
    pub fn begin(&self) -> Option<i64> {
        self.window.as_ref().and_then(Window::begin)
    }

    /// Returns the work of a job: its size \[ticks\] times its largest share of a resource.
    fn work(&self, job: &TraceJob) -> f64 {
        self.shares[job.demand as usize] * job.size as f64
    }

    /// Returns the largest share of all servers that is needed by a demand (R) on `nodes` servers.
    pub fn share(&self, demand: &[f64], nodes: u32) -> f64 {
        let pairs = demand.iter().zip(&self.per_capacity);
        f64::from(nodes) * pairs.map(|(demand, per)| demand * per).fold(0.0, f64::max)
    }

    /// Returns the number of servers (1 if nodes are a resource), and splits the demand among them.
    fn split_by_server(&mut self, raw: &RawJob) -> u32 {
        let is_one = matches!(self.servers.shapes[..], [ServerShape { count: 1, .. }]);
        let counts = |name: &String| matches!(name.as_str(), "node" | "nodes");
        let mut nodes = raw.nodes.max(1);
        if raw.nodes == 1 || is_one || self.servers.resources.iter().any(counts) {
            let times = if raw.is_each { nodes } else { 1 };
            let names = self.servers.resources.iter().zip(&mut self.demand);
            let amounts = names.filter(|(name, _)| !counts(name));
            amounts.for_each(|(_, amount)| *amount *= f64::from(times));
            return 1;
        }
        if raw.is_each {
            return nodes;
        }
        let mut part = self.demand.clone();
        self.servers.part(&mut part, nodes);
        if !self.servers.hold(&part, nodes)
            && let Some(spread) = self.servers.spread(&self.demand, raw.nodes)
        {
            (nodes, part) = spread;
            self.account.note_if_used(Reason::Spread);
        }
        self.demand = part;
        nodes
    }

    fn decide(&mut self, raw: &RawJob) -> (Option<TraceJob>, f64) {
        self.account.lines += 1;
        let nodes = self.split_by_server(raw);
        let share = self.share(&self.demand, nodes);
        let work = share * raw.size.max(0) as f64;
        let reason = self.left_out(raw, nodes);
        for (is_named, demand) in self.is_named.iter_mut().zip(&self.demand) {
            *is_named |= *demand > 0.0;
        }
        self.account.decide(reason.is_none(), raw.line, work);
        if let Some(reason) = reason {
            self.account.note(reason, raw.line, work);
            let is_largest = self.largest.as_ref().is_none_or(|(most, ..)| work > *most);
            if reason == Reason::TooLarge && is_largest {
                self.largest = Some((work, raw.line, nodes, self.demand.clone()));
            }
            return (None, work);
        }
        if let Some(limit) = raw.limit.filter(|limit| (1..raw.size).contains(limit)) {
            let passed = &mut self.account.passed_limits;
            passed.insert(raw.line, limit.unsigned_abs());
        }
        let mut note = |reason| self.account.note(reason, raw.line, work);
        let mut size = raw.size.unsigned_abs();
        if size == 0 {
            note(Reason::LessThanATick);
            size = 1;
        }
        let mut limit = raw.limit.map_or(0, |limit| limit.max(0).unsigned_abs());
        if limit == 0 {
            note(Reason::NoLimit);
        } else if limit < size && self.options.kill {
            note(Reason::Killed);
            size = limit;
        } else if limit < size {
            note(Reason::PastLimit);
            limit = size;
        }
        // Jobs reported at the end of the file do not count as unsorted.
        let is_late = raw.line < self.before.1;
        if raw.submit < self.before.0 && !is_late {
            note(Reason::Unsorted);
        }
        self.before = (raw.submit, raw.line);
        let fits = |demand: &[f64]| self.servers.hold(demand, nodes);
        let demand = self.demands.number(&self.demand, nodes, fits);
        if demand as usize == self.shares.len() {
            let share = self.share(&self.demands.vectors[demand as usize], nodes);
            self.shares.push(share);
        }
        let waited = raw.start.map(|start| start.saturating_sub(raw.submit));
        let job = TraceJob {
            line: raw.line,
            submit: raw.submit,
            size,
            limit,
            demand,
            user: raw.user,
            class: raw.class,
            batch: raw.batch,
            waited: waited.map(|waited| waited.max(0).unsigned_abs()),
            end: match raw.end {
                Some(end) if size == raw.size.unsigned_abs() && raw.seen == Observed::Whole => end,
                _ => raw.begun().saturating_add_unsigned(size),
            },
            seen: raw.seen,
        };
        (Some(job), work)
    }

    fn left_out(&self, raw: &RawJob, nodes: u32) -> Option<Reason> {
        let broken = raw.fate == Outcome::Broken;
        Some(match raw.fate {
            _ if !self.is_selected(raw) => Reason::Others,
            Outcome::Part => Reason::Partial,
            _ if raw.size < 0 || raw.size == 0 && broken => Reason::NeverRan,
            Outcome::Broken if self.options.completed_only => Reason::NotCompleted,
            Outcome::OtherType => Reason::OtherType,
            _ if self.demand.iter().all(|demand| *demand == 0.0) => Reason::NoDemand,
            _ if !self.servers.hold(&self.demand, nodes) => Reason::TooLarge,
            _ => return None,
        })
    }

    fn is_selected(&self, raw: &RawJob) -> bool {
        let ReadOptions {
            partitions, users, ..
        } = &self.options;
        let is_in = |names: &[String], own: &str| names.iter().any(|name| name == own);
        let class = self.account.classes.get(raw.class as usize);
        let mut own = class.iter().flat_map(|own| own.partition.split(','));
        let user = self.account.users.get(&raw.user);
        (partitions.is_empty() || own.any(|own| is_in(partitions, own)))
            && (users.is_empty() || user.is_some_and(|own| is_in(users, own)))
    }

    fn takes_part(&mut self, job: TraceJob) -> Result<Option<TraceJob>, TraceError> {
        if self.span.is_none() {
            self.window = self.window(job.submit)?;
        }
        let (first, _) = self.span.unwrap_or((job.submit, job.submit));
        self.span = Some((first, job.submit));
        let work = self.work(&job);
        let to = self.instant(self.options.to, first)?;
        let placed = match &mut self.window {
            _ if to.is_some_and(|to| job.submit as f64 > to) => None,
            Some(window) => window.place(job, work),
            None => Some(job),
        };
        let Some(mut job) = placed else {
            self.account.note(Reason::OutsideSpan, job.line, work);
            return Ok(None);
        };
        let work = self.work(&job);
        if job.seen.is_early() {
            self.account.note(Reason::Initial, job.line, work);
        } else {
            self.gap.note(self.arrivals, job.submit, job.line);
            self.arrivals += 1;
        }
        if job.seen == Observed::Pending {
            self.account.note(Reason::Pending, job.line, work);
        }
        if job.seen == Observed::Censored {
            self.account.note(Reason::Censored, job.line, work);
            if self.options.censored_end {
                job.seen = Observed::Whole;
            }
        }
        self.account.jobs += 1;
        self.account.work += work;
        Ok(Some(job))
    }

    fn instant(&self, edge: Option<TraceEdge>, first: i64) -> Result<Option<f64>, TraceError> {
        let per_second = self.tick.per_second() as f64;
        let first = first as f64 / per_second;
        let why = "its times are not dates: give --from and --to as durations after the first job, such as 120d";
        let at = |edge: TraceEdge| match edge {
            TraceEdge::After(time) => Ok((first + time) * per_second),
            TraceEdge::At(at) if first > FIRST_DATE => Ok(at * per_second),
            TraceEdge::At(_) => Err(self.rows.wrong(why)),
            TraceEdge::Ago(_) => Err(self.rows.wrong(NOT_LIVE)),
        };
        edge.map(at).transpose()
    }

    fn window(&mut self, first: i64) -> Result<Option<Window>, TraceError> {
        let from = self.instant(self.options.from, first)?;
        let from = from.map(|from| (from.ceil() as i64).max(first));
        let activity = std::mem::take(&mut self.activity);
        let found = activity.first_end(from.unwrap_or(i64::MIN), self.rows.format);
        let evident = found.filter(|(_, is_evident)| *is_evident);
        let why = match evident {
            _ if from.is_some() => Why::Given(evident.map(|(end, _)| end)),
            Some(_) => Why::Activity,
            None => Why::Possible,
        };
        let begin = from.or(found.map(|(end, _)| end));
        Ok(begin.map(|begin| Window::new(begin, why)))
    }
}
