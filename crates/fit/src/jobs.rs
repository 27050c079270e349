use std::collections::BTreeMap;

use itertools::Itertools as _;
use num_integer::Integer;

use super::arrivals::BatchStatistics;
use super::dispersion::{Drift, Windows};
use super::merge::{Vector, apart};
use super::report::{FitError, FitListener};
use super::sizes::{Observation, Sizes};
use synth_traces::replay::{self, Log};
use synth_traces::trace::{Observed, Trace, TraceJob};

pub(crate) struct Jobs<'a> {
    pub trace: &'a Trace,
    /// By submission time, counted from the beginning of the log.
    pub all: Vec<TraceJob>,
    by_limit: bool,
    /// The jobs of each vector, up to the last vector that has a job.
    pub of_vector: Vec<Vec<u32>>,
    pub names_batches: bool,
    pub per_second: u64,
    /// In seconds; `None` if all weights are equal.
    doubling_time: Option<f64>,
    pub vectors: Vec<Vector>,
    /// The arrival rate of each vector \[1/s\].
    pub rates: Vec<f64>,
    /// `ρ̄_r` (R).
    pub used: Vec<f64>,
}

/// The largest ratio of weights, as a power of two. The squares of the weights must not overflow.
const MAX_DOUBLINGS: f64 = 450.0;
pub(crate) const NO_LIMIT: u8 = u8::MAX;

pub(crate) fn observed(job: &TraceJob, weight: f64) -> Observation {
    Observation {
        size: job.size,
        weight,
        censored: job.seen == Observed::Censored,
    }
}

impl<'a> Jobs<'a> {
    /// Reads all jobs that arrived during the trace. It is an error if they have no rates.
    pub(crate) fn read(
        trace: &'a mut Trace,
        by_limit: bool,
        doubles: Option<f64>,
        listener: FitListener<'_>,
    ) -> Result<Self, FitError> {
        let read = trace.jobs(|jobs| listener(&format!("reading: {jobs} jobs so far")))?;
        let mut all = read.ok_or(FitError::Interrupted)?;
        all.retain(|job| !job.seen.is_early() && job.seen != Observed::Pending);
        let first = all.first().map(|job| trace.begin().unwrap_or(job.submit));
        let mut of_vector: Vec<Vec<u32>> = Vec::new();
        for (n, job) in (0..).zip(&mut all) {
            job.submit -= first.unwrap_or_default();
            let vector = job.demand as usize;
            of_vector.resize(of_vector.len().max(vector + 1), Vec::new());
            of_vector[vector].push(n);
        }
        let mut jobs = Jobs {
            names_batches: all.iter().any(|job| job.batch != 0),
            per_second: trace.tick.per_second(),
            trace,
            by_limit,
            all,
            of_vector,
            doubling_time: doubles,
            vectors: Vec::new(),
            rates: Vec::new(),
            used: Vec::new(),
        };
        let (count, seconds) = (jobs.all.len(), jobs.seconds());
        if count == 0 {
            let none = "no job arrived during the trace: all were already present at its start";
            return Err(FitError::Jobs(none.into()));
        }
        if seconds == 0.0 {
            return Err(FitError::Jobs(format!(
                "all jobs ({count}) arrived at the same instant: there must be at least two different submission times to estimate a rate"
            )));
        }
        if doubles.is_some_and(|doubles| seconds > MAX_DOUBLINGS * doubles) {
            let years = seconds / (365.25 * 86_400.0);
            return Err(FitError::Jobs(format!(
                "the trace spans {years:.0} years, which is too long to give recent jobs more weight: use --from to select a shorter period"
            )));
        }
        jobs.count();
        Ok(jobs)
    }

    /// Returns the smallest `c` with `limit ≤ 2^c` \[ticks\], [`NO_LIMIT`], or 0 if not used.
    pub(crate) fn class(&self, job: &TraceJob) -> u8 {
        match job.limit {
            _ if !self.by_limit => 0,
            0 => NO_LIMIT,
            limit => (u64::BITS - (limit - 1).leading_zeros()) as u8,
        }
    }

    fn count(&mut self) {
        let demands = &self.trace.demands;
        for (v, (demand, nodes)) in demands.vectors.iter().zip(&demands.nodes).enumerate() {
            let (mut rate, mut mean) = (0.0, 0.0);
            if self.of_vector(v).next().is_some() {
                rate = self.rate(self.of_vector(v));
                mean = self.sizes(self.of_vector(v)).mean() / self.per_second as f64;
            }
            self.rates.push(rate);
            self.vectors.push(Vector {
                demand: [demand, &[f64::from(*nodes)][..]].concat(),
                busy: rate * mean,
            });
        }
        let total = self.trace.servers.total().into_iter().enumerate();
        let used = total.map(|(r, total)| {
            let held = |v: &Vector| v.busy * v.demand[r] * f64::from(self.apart(&v.demand).1);
            self.vectors.iter().map(held).sum::<f64>() / total
        });
        self.used = used.collect();
    }

    pub(crate) fn fluid(&self) -> f64 {
        self.used.iter().copied().fold(0.0, f64::max)
    }

    /// Returns the time from the beginning of the log to the last submission \[ticks\].
    pub(crate) fn length(&self) -> u64 {
        self.all.last().map_or(0, |job| job.submit.unsigned_abs())
    }

    pub(crate) fn seconds(&self) -> f64 {
        self.length() as f64 / self.per_second as f64
    }

    pub(crate) fn of_vector(&self, v: usize) -> impl Iterator<Item = &TraceJob> {
        let own = self.of_vector.get(v).into_iter().flatten();
        own.map(|n| &self.all[*n as usize])
    }

    fn weight(&self, job: &TraceJob) -> f64 {
        let seconds = job.submit as f64 / self.per_second as f64;
        let weight = |doubles: f64| (seconds / doubles).exp2();
        self.doubling_time.map_or(1.0, weight)
    }

    pub(crate) fn rate<'j>(&self, jobs: impl Iterator<Item = &'j TraceJob>) -> f64 {
        let seconds = self.seconds();
        let weight = self.doubling_time.map_or(seconds, |doubles| {
            doubles / std::f64::consts::LN_2 * ((seconds / doubles).exp2() - 1.0)
        });
        jobs.map(|job| self.weight(job)).sum::<f64>() / weight
    }

    pub(crate) fn sizes<'j>(&self, jobs: impl Iterator<Item = &'j TraceJob>) -> Sizes {
        Sizes::of(jobs.map(|job| observed(job, self.weight(job))))
    }

    /// Returns the largest share of a resource of all servers that a demand (R + 1) uses.
    pub(crate) fn share(&self, demand: &[f64]) -> f64 {
        let (demand, nodes) = self.apart(demand);
        self.trace.share(demand, nodes)
    }

    pub(crate) fn apart<'d>(&self, demand: &'d [f64]) -> (&'d [f64], u32) {
        apart(demand, self.trace.servers.resources.len())
    }

    /// In ticks of all servers.
    fn works(&self) -> impl Iterator<Item = (&TraceJob, f64)> {
        let shares = self.vectors.iter().map(|v| self.share(&v.demand));
        let shares: Vec<f64> = shares.collect();
        let work = move |job: &TraceJob| shares[job.demand as usize] * job.size as f64;
        self.all.iter().map(move |job| (job, work(job)))
    }

    pub(crate) fn windows(&self) -> Windows {
        let divisor = self.all.iter().fold(0, |all, job| job.submit.gcd(&all));
        let resolution = divisor.unsigned_abs().max(self.per_second);
        let mut windows = Windows::new(resolution, self.per_second);
        for (job, work) in self.works() {
            windows.add(job.submit.unsigned_abs(), job.demand as usize, work);
        }
        windows
    }

    /// Returns the log of the first `most` jobs that are not censored, with their sizes as limits.
    pub(crate) fn log(&self, most: usize) -> Log {
        let is_whole = |job: &&TraceJob| job.seen != Observed::Censored;
        let whole = self.all.iter().filter(is_whole).take(most);
        let jobs = whole.map(|job| replay::ReplayJob {
            user: job.user,
            ..replay::ReplayJob::new(job.demand, job.submit as f64, job.size as f64)
        });
        Log {
            jobs: jobs.collect(),
            ..Log::without_jobs(self.trace)
        }
    }

    /// Returns the window and the work of each job, for windows of this length \[ticks\].
    pub(crate) fn in_windows(&self, length: u64) -> impl Iterator<Item = (usize, f64)> {
        let window = move |job: &TraceJob| (job.submit.unsigned_abs() / length) as usize;
        self.works().map(move |(job, work)| (window(job), work))
    }

    pub(crate) fn thirds(&self) -> [f64; 3] {
        let third = self.length() as f64 / 3.0;
        let mut loads = [0.0; 3];
        for (job, work) in self.works() {
            loads[((job.submit as f64 / third) as usize).min(2)] += work / third;
        }
        loads
    }

    pub(crate) fn drift(&self) -> Option<Drift> {
        let day = 86_400 * self.per_second;
        let days = self.length() / day;
        if !Drift::DAYS.contains(&days) {
            return None;
        }
        let mut loads = vec![0.0; days as usize];
        let mut squares = vec![0.0; days as usize];
        // The last day is not complete.
        for (n, work) in self.in_windows(day).filter(|(n, _)| (*n as u64) < days) {
            let work = work / day as f64;
            loads[n] += work;
            squares[n] += work * work;
        }
        Some(Drift::of(&loads, &squares))
    }

    /// Returns the batch of the job if the trace names batches, or else its user; 0 if unknown.
    fn group(&self, job: &TraceJob) -> u32 {
        match self.names_batches {
            true => job.batch,
            false => job.user,
        }
    }

    fn instants(&self) -> impl Iterator<Item = &[TraceJob]> {
        self.all.chunk_by(|a, b| a.submit == b.submit)
    }

    /// Returns the share of jobs that are submitted at the same instant as others of their group.
    pub(crate) fn together(&self) -> f64 {
        let together = self.instants().map(|instant| {
            let groups = instant.iter().map(|job| self.group(job));
            let counts = groups.filter(|group| *group != 0).counts();
            let several = counts.into_values().filter(|count| *count > 1);
            several.sum::<usize>()
        });
        together.sum::<usize>() as f64 / self.all.len() as f64
    }

    pub(crate) fn batches(
        &self,
        types: usize,
        type_of: impl Fn(&TraceJob) -> Option<usize>,
    ) -> Vec<BatchStatistics> {
        let mut batches = vec![BatchStatistics::default(); types];
        for instant in self.instants() {
            let mut groups = BTreeMap::<(u32, usize), (u32, f64, f64)>::new();
            for job in instant {
                let Some(i) = type_of(job) else { continue };
                let size = job.size as f64;
                match self.group(job) {
                    0 => batches[i].add(1, size, size * size),
                    group => {
                        let (jobs, sum, squares) = groups.entry((group, i)).or_default();
                        *jobs += 1;
                        *sum += size;
                        *squares += size * size;
                    }
                }
            }
            for ((_, i), (jobs, sum, squares)) in groups {
                batches[i].add(jobs, sum, squares);
            }
        }
        batches
    }
}
