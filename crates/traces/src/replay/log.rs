//! The jobs of a trace, in memory.

use crate::trace::{
    Account, Observed, ReadOptions, Reason, Servers, Source, Tick, Trace, TraceError, TraceFormat,
    TraceJob,
};

/// A job that is replayed. Times are whole ticks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReplayJob {
    /// When it comes, after the first \[ticks\], ≥ 0.
    pub submit: f64,
    /// How long it holds its room \[ticks\], ≥ 1.
    pub size: f64,
    /// What is taken for a limit of that when it comes \[ticks\], ≥ its size.
    pub limit: f64,
    /// What was promised of it, which may tell its type \[ticks\], > 0; infinite where nothing was.
    pub promised: f64,
    /// How long it waited as the trace tells \[ticks\]; NaN where it does not.
    pub waited: f64,
    /// Line of the file.
    pub line: u32,
    /// Its vector of demands, or the type that it goes to.
    pub kind: u32,
    /// Who sent it, a number of a name in [`Account::users`]; 0 where that is not known.
    pub user: u32,
    /// What it was sent to, a number in [`Account::classes`].
    pub class: u32,
    /// Whether it arrives, or ran or waited when the log began.
    pub seen: Observed,
}

impl ReplayJob {
    /// Returns a job of this kind of which no more is known than its submission and its size.
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

    /// Returns its limit \[ticks\]; infinity where it came without one.
    pub fn own_limit(&self) -> f64 {
        let has_none = self.promised.is_infinite();
        if has_none { f64::INFINITY } else { self.limit }
    }
}

/// A trace that was read to its end.
#[derive(Clone, Debug)]
pub struct Log {
    /// The N ≥ 1 jobs that are replayed, by submission, those of one instant in the order of the file; before all others
    /// those that ran when the log began, and then those that waited, in the order in which they were submitted.
    pub jobs: Vec<ReplayJob>,
    /// The vectors of demands (R each) that jobs name.
    pub vectors: Vec<Box<[f64]>>,
    /// By vector, on how many servers at once.
    pub nodes: Vec<u32>,
    /// What the jobs ran on.
    pub servers: Servers,
    /// The resolution of its times.
    pub tick: Tick,
    /// When the log begins, mostly with its first job, by its clock \[ticks\].
    pub begin: i64,
    /// Its format.
    pub format: TraceFormat,
    /// What was done with its lines.
    pub account: Account,
    /// Jobs whose size is known in part only: they are not replayed.
    pub censored: u64,
    /// Whether some job came with a limit of its own.
    pub has_limits: bool,
    /// How many demands were rounded up as they were read.
    pub rounded: u64,
}

/// Returns how many of these jobs, which are the first ones, were there when the log began.
pub fn early(jobs: &[ReplayJob]) -> usize {
    jobs.partition_point(|job| job.seen.is_early())
}

/// A time beyond this is no whole double.
const LARGEST: i64 = 1 << 53;

impl Log {
    /// Reads a log; returns it with its name. `listener` is told how far that is.
    ///
    /// # Errors
    /// As [`Log::read`], and where the source cannot be opened.
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

    /// Reads a trace to its end; `listener` gets the number of jobs now and then.
    ///
    /// # Errors
    /// As [`Trace::jobs`]; and where no job can be replayed, or its times are too large.
    pub fn read(trace: &mut Trace, mut listener: impl FnMut(usize)) -> Result<Self, TraceError> {
        let read = trace.jobs(|jobs| {
            listener(jobs);
            true
        })?;
        let (censored, mut own): (Vec<_>, Vec<_>) =
            (read.into_iter().flatten()).partition(|job: &TraceJob| job.seen == Observed::Censored);
        let Some(first) = own.first().map(|job| job.submit) else {
            let why = "every job still ran when the trace ended, so that no size is known: `--read censored=end` takes what was seen of them";
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
            if submit >= LARGEST || job.size.max(job.limit) >= LARGEST as u64 {
                let why = "a time is 2^53 ticks or more, which cannot be counted exactly: leave the job out, or write the trace in a coarser unit of time";
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

    /// Returns a log without jobs of these servers.
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

    /// What is known of a trace besides its jobs.
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

    /// Leaves out the jobs for which `is_out` holds, and accounts for their lines.
    pub fn leave_out(&mut self, reason: Reason, is_out: impl Fn(&ReplayJob) -> bool) {
        let total = self.servers.total();
        for job in self.jobs.extract_if(.., |job| is_out(job)) {
            let kind = job.kind as usize;
            let share = largest_share(&self.vectors[kind], &total);
            let work = share * f64::from(self.nodes[kind]) * job.size;
            self.account.leave_out(reason, job.line, work);
        }
    }

    /// Returns the jobs that arrive: all but those that were there when the log began.
    pub fn arrivals(&self) -> &[ReplayJob] {
        &self.jobs[early(&self.jobs)..]
    }

    /// T: from the beginning to the last submission \[ticks\]; 1 at least.
    pub fn span(&self) -> f64 {
        self.jobs.last().map_or(1.0, |job| job.submit.max(1.0))
    }

    /// Σ size · demand of each resource (R) over the jobs that arrive \[ticks × amount\].
    pub fn work(&self) -> Vec<f64> {
        let mut sizes = vec![0.0; self.vectors.len()];
        for job in self.arrivals() {
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

/// Returns the largest of these amounts over all that there is of the same resource.
fn largest_share(amounts: &[f64], totals: &[f64]) -> f64 {
    let there = amounts.iter().zip(totals).filter(|own| *own.1 > 0.0);
    there.map(|own| own.0 / own.1).fold(0.0, f64::max)
}
