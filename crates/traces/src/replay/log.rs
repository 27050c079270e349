use crate::trace::{
    Account, Observed, ReadOptions, Reason, Servers, Source, Tick, Trace, TraceError, TraceFormat,
    TraceJob,
};

/// A job that is replayed. All times are multiples of a tick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReplayJob {
    /// The time between the beginning of the log and the submission \[ticks\], ≥ 0.
    pub submit: f64,
    /// The time for which the job holds its resources \[ticks\], ≥ 1.
    pub size: f64,
    /// The time limit that is known when the job is submitted \[ticks\], at least the size.
    pub limit: f64,
    /// The recorded limit \[ticks\], or infinity. It may be used to determine the type of the job.
    pub promised: f64,
    /// The wait in the log \[ticks\], or NaN if it is unknown.
    pub waited: f64,
    /// The line of the file.
    pub line: u32,
    /// The index of its demand vector, or of its type.
    pub kind: u32,
    /// The user, which is a key of [`Account::users`], or 0 if the user is not known.
    pub user: u32,
    /// The index in [`Account::classes`].
    pub class: u32,
    /// Whether the job arrives, or was already running or waiting at the beginning of the log.
    pub seen: Observed,
}

impl ReplayJob {
    /// Creates a job of which only the kind, the submission and the size are known.
    pub fn new(kind: u32, submit: f64, size: f64) -> Self {
        ReplayJob {
            submit,
            size,
            limit: size,
            promised: f64::INFINITY,
            waited: f64::NAN,
            line: 0,
            kind,
            user: 0,
            class: 0,
            seen: Observed::Whole,
        }
    }

    /// Returns the wait that could be observed, for a wait in the same unit as the `known` wait in the
    /// log: for a job that was still waiting at the end of the log, its wait up to then.
    pub fn observed_wait(&self, wait: f64, known: f64) -> f64 {
        match self.seen {
            Observed::Pending => wait.min(known),
            _ => wait,
        }
    }

    /// Returns the limit of the job \[ticks\], which is infinite if it was submitted without one.
    pub fn own_limit(&self) -> f64 {
        let has_none = self.promised.is_infinite();
        if has_none { f64::INFINITY } else { self.limit }
    }
}

/// A trace that has been read to its end.
#[derive(Clone, Debug)]
pub struct Log {
    /// The `N ≥ 1` jobs to replay: first the jobs that were running when the log began, then the
    /// jobs that were waiting, and then all others, each in the order of submission and the file.
    pub jobs: Vec<ReplayJob>,
    /// The different demand vectors of the jobs, each of which has `R` values.
    pub vectors: Vec<Box<[f64]>>,
    /// For each vector, the number of servers that are used at the same time.
    pub nodes: Vec<u32>,
    /// The servers of the log, such as cpu=128,memory=512
    ///
    /// These are the servers that were used to run the jobs.
    pub servers: Servers,
    /// The resolution of the times.
    pub tick: Tick,
    /// The beginning of the log by its own clock, usually the first submission \[ticks\].
    pub begin: i64,
    /// Its format.
    pub format: TraceFormat,
    /// How the lines of the file were used.
    pub account: Account,
    /// The number of jobs of which only a part of the size is known. They are not replayed.
    pub censored: u64,
    /// Whether any job has a limit of its own.
    pub has_limits: bool,
    /// The number of demands that were rounded up when read.
    pub rounded: u64,
}

/// Returns the number of jobs, at the front of the list, that were present when the log began.
pub fn early(jobs: &[ReplayJob]) -> usize {
    jobs.partition_point(|job| job.seen.is_early())
}

/// Larger times may not be exact in doubles.
const MAX_EXACT: i64 = 1 << 53;

impl Log {
    /// Reads a log and returns it with its name; `listener` receives progress messages.
    pub fn of_source(
        source: &Source,
        options: &ReadOptions,
        listener: &mut dyn FnMut(&str),
    ) -> Result<(Self, String), TraceError> {
        let name = source.name();
        listener(&format!("reading {name}"));
        let log = Log::read(&mut Trace::open(source, options)?, |jobs| {
            listener(&format!("reading {name}: {jobs} jobs"));
        })?;
        Ok((log, name))
    }

    /// Reads a trace to its end. The `listener` is called with the number of jobs so far.
    ///
    /// # Errors
    /// Returns the errors of [`Trace::jobs`], or an error if a time is too large or no job remains.
    pub fn read(trace: &mut Trace, mut listener: impl FnMut(usize)) -> Result<Self, TraceError> {
        let read = trace.jobs(|jobs| {
            listener(jobs);
            true
        })?;
        let (censored, mut own): (Vec<_>, Vec<_>) =
            (read.into_iter().flatten()).partition(|job: &TraceJob| job.seen == Observed::Censored);
        let Some(first) = own.first().map(|job| job.submit) else {
            let why = "all jobs were still running when the trace ended, so their sizes are unknown: give `--read censored=end` to use the observed parts";
            return Err(TraceError::Refused(why.into()));
        };
        let begin = trace.begin().unwrap_or(first);
        own.sort_by_key(|job| match job.seen {
            Observed::Initial => 0,
            Observed::Waiting => 1,
            _ => 2,
        });
        let jobs = own.iter().map(|job| {
            let submit = job.submit - begin;
            if submit >= MAX_EXACT || job.size.max(job.limit) >= MAX_EXACT as u64 {
                let why = "a time is 2^53 ticks or more, which cannot be counted exactly: omit the job, or write the trace in a coarser time unit";
                return Err(TraceError::Refused(format!("line {}: {why}", job.line)));
            }
            let limit = Some(job.limit as f64).filter(|limit| *limit > 0.0);
            Ok(ReplayJob {
                limit: job.limit.max(job.size) as f64,
                promised: limit.unwrap_or(f64::INFINITY),
                waited: job.waited.map_or(f64::NAN, |waited| waited as f64),
                line: job.line,
                user: job.user,
                class: job.class,
                seen: job.seen,
                ..ReplayJob::new(job.demand, submit as f64, job.size as f64)
            })
        });
        Ok(Log {
            jobs: jobs.collect::<Result<_, _>>()?,
            begin,
            censored: censored.len() as u64,
            has_limits: own.iter().any(|job| job.limit > 0),
            ..Log::without_jobs(trace)
        })
    }

    /// Creates a log without jobs for the given servers.
    pub fn blank(servers: Servers, tick: Tick, format: TraceFormat) -> Self {
        Log {
            jobs: Vec::new(),
            vectors: Vec::new(),
            nodes: Vec::new(),
            servers,
            tick,
            begin: 0,
            format,
            account: Account::default(),
            censored: 0,
            has_limits: false,
            rounded: 0,
        }
    }

    /// Creates a log of a trace without its jobs.
    pub fn without_jobs(trace: &Trace) -> Self {
        let demands = &trace.demands;
        Log {
            vectors: demands.vectors.to_vec(),
            nodes: demands.nodes.to_vec(),
            account: trace.account.clone(),
            rounded: demands.rounded,
            ..Log::blank(trace.servers.clone(), trace.tick, trace.format())
        }
    }

    /// Removes all jobs for which `is_out` returns `true`, and records the reason for their lines.
    pub fn leave_out(&mut self, reason: Reason, is_out: impl Fn(&ReplayJob) -> bool) {
        let total = self.servers.total();
        for job in self.jobs.extract_if(.., |job| is_out(job)) {
            let kind = job.kind as usize;
            let share = largest_share(&self.vectors[kind], &total);
            let work = share * f64::from(self.nodes[kind]) * job.size;
            self.account.leave_out(reason, job.line, work);
        }
    }

    /// Returns the jobs that were not present when the log began.
    pub fn arrivals(&self) -> &[ReplayJob] {
        &self.jobs[early(&self.jobs)..]
    }

    /// Returns T, the time from the beginning to the last submission \[ticks\], at least 1.
    pub fn span(&self) -> f64 {
        self.jobs.last().map_or(1.0, |job| job.submit.max(1.0))
    }

    /// Returns `Σ size · demand` over all arriving jobs that have started, by resource (R)
    /// \[ticks × amount\].
    pub fn work(&self) -> Vec<f64> {
        let mut sizes = vec![0.0; self.vectors.len()];
        let arrivals = self.arrivals().iter();
        for job in arrivals.filter(|job| job.seen != Observed::Pending) {
            sizes[job.kind as usize] += job.size * f64::from(self.nodes[job.kind as usize]);
        }
        let pairs = || self.vectors.iter().zip(&sizes);
        let of = |j: usize| pairs().map(|(demand, size)| demand[j] * size).sum();
        (0..self.servers.resources.len()).map(of).collect()
    }

    /// Returns the fluid bound on the load: `ρ = max_r Σ size · demand_r / (T capacity_r)`.
    pub fn load(&self) -> f64 {
        let capacity = self.servers.total().into_iter();
        let most: Vec<f64> = capacity.map(|own| self.span() * own).collect();
        largest_share(&self.work(), &most)
    }
}

fn largest_share(amounts: &[f64], totals: &[f64]) -> f64 {
    let there = amounts.iter().zip(totals).filter(|own| *own.1 > 0.0);
    there.map(|own| own.0 / own.1).fold(0.0, f64::max)
}
