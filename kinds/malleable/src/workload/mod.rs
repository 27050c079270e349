//! A workload with jobs that can run on any number of servers.

mod check;
mod document;
mod speedup;
#[cfg(test)]
pub(crate) mod tests;

pub use document::{ArrivalsRecord, JobRecord, PoolDocument, SizesRecord};
pub use speedup::{Curve, SpeedupRecord};
pub(crate) use speedup::{Speedup, bisect};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use synth_core::document::WorkloadDocument as _;
use synth_core::number::Decimal;
use synth_queues::distribution::SizeDistribution;
use synth_simulation::JobClass;

/// The objective to minimize, where `T_i` is the time at which the job `i` ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Objective {
    /// The sum of all `T_i`.
    #[default]
    FlowTime,
    /// The sum of all `w_i T_i`.
    WeightedFlowTime,
    /// The sum of all `T_i/x_i`.
    Slowdown,
    /// The maximum of all `T_i`.
    Makespan,
}

/// A workload that has been checked.
#[derive(Clone, Debug, PartialEq)]
pub enum Workload {
    /// All jobs are present at the start.
    Pool(Pool),
    /// The jobs arrive over time.
    Stream(Stream),
}

impl Workload {
    pub(crate) fn record(&self) -> &PoolDocument {
        match self {
            Workload::Pool(pool) => &pool.record,
            Workload::Stream(stream) => &stream.record,
        }
    }
}

/// A stream of jobs that arrive over time. All jobs have the same speedup.
#[derive(Clone, Debug, PartialEq)]
pub struct Stream {
    pub(crate) record: PoolDocument,
    size: SizeDistribution,
    curve: Curve,
}

impl Stream {
    pub(crate) fn servers(&self) -> f64 {
        self.record.servers.value()
    }

    /// Returns the speedup of all jobs.
    pub fn curve(&self) -> &Curve {
        &self.curve
    }

    pub(crate) fn arrival_rate(&self) -> f64 {
        let arrivals = self.record.arrivals.as_ref().map(|own| own.rate.value());
        arrivals.expect("a stream is made of a document with arrivals")
    }

    pub(crate) fn size(&self) -> &SizeDistribution {
        &self.size
    }

    /// Returns the load `ρ = λE[S]/N`, the fraction of busy servers if each job has only one.
    pub(crate) fn load(&self) -> f64 {
        self.arrival_rate() * self.size().mean() / self.servers()
    }

    /// Returns the maximum work per unit of time, `N s'(0)`, which is ∞ for a power below 1.
    pub(crate) fn most_work(&self) -> f64 {
        self.servers() * self.curve.first_slope()
    }

    /// Returns the class for the statistics. The size of a job is its time alone.
    pub(crate) fn statistics(&self) -> Vec<JobClass> {
        let mean_size = self.size().mean() / self.curve.at(self.servers());
        let sizes = (mean_size, self.size());
        let demands = vec![self.size().mean() / self.most_work() / mean_size];
        vec![JobClass::poisson(
            ALL_JOBS,
            self.arrival_rate(),
            sizes,
            demands,
            1.0,
        )]
    }

    /// Returns the stream with `factor` times the arrival rate, or `None` if it is out of range.
    pub(crate) fn scaled(&self, factor: f64) -> Option<Self> {
        let rate = Decimal::new(self.arrival_rate() * factor);
        let rate = rate.filter(|rate| *rate > Decimal::ZERO)?;
        let mut scaled = self.clone();
        scaled.record.arrivals.as_mut()?.rate = rate;
        Some(scaled)
    }
}

pub(crate) const ALL_JOBS: &str = "jobs";

/// A set of jobs that are all present at the start.
#[derive(Clone, Debug, PartialEq)]
pub struct Pool {
    pub(crate) record: PoolDocument,
    curves: Vec<Curve>,
    jobs: Vec<Job>,
}

/// A job that is present at the start.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// The name of the job.
    pub name: String,
    /// The size `x_i` \[work\], which is greater than 0.
    pub size: f64,
    /// The weight `w_i` (1 for the flow time and the makespan, `1/x_i` for the slowdown).
    pub weight: f64,
    /// The index of its curve.
    pub curve: usize,
}

impl Pool {
    pub(crate) fn servers(&self) -> f64 {
        self.record.servers.value()
    }

    /// Returns the objective to minimize.
    pub fn objective(&self) -> Objective {
        self.record.objective
    }

    /// Returns the jobs in the order of the document, at least one.
    pub fn jobs(&self) -> &[Job] {
        &self.jobs
    }

    pub(crate) fn curve(&self, i: usize) -> &Curve {
        &self.curves[self.jobs[i].curve]
    }

    /// Returns the curves of the jobs, without duplicates.
    pub fn curves(&self) -> &[Curve] {
        &self.curves
    }

    fn of(record: PoolDocument) -> Option<Self> {
        match record.check() {
            Ok(Workload::Pool(pool)) => Some(pool),
            _ => None,
        }
    }

    /// Returns the pool with the speedup `k^p` for all jobs, where p is in (0, 1]. Caps are kept.
    pub fn with_power(&self, p: f64) -> Self {
        let mut record = self.record.clone();
        let p = Decimal::new(p).unwrap_or(Decimal::ZERO);
        record.speedup = Some(SpeedupRecord::Power { p });
        record.jobs.iter_mut().for_each(|job| job.speedup = None);
        Pool::of(record).unwrap_or_else(|| self.clone())
    }

    /// Returns the pool with other sizes if they are random: the seed increases by `further`.
    pub fn redrawn(&self, further: u64) -> Self {
        let mut record = self.record.clone();
        if let Some(SizesRecord::Pareto { seed, .. }) = &mut record.sizes {
            *seed = seed.wrapping_add(further);
        }
        Pool::of(record).unwrap_or_else(|| self.clone())
    }

    /// Returns the pool with one more server, or `None` if the number is too large for this.
    pub(crate) fn with_one_more_server(&self) -> Option<Self> {
        let mut record = self.record.clone();
        record.servers = Decimal::new(self.servers() + 1.0)?;
        Pool::of(record).filter(|pool| pool.servers() > self.servers())
    }

    /// Returns the jobs in descending order of size. Ties are broken by the smaller weight, and
    /// then by the order of the document.
    pub(crate) fn by_size(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.jobs.len()).collect();
        order.sort_by(|&i, &j| {
            let (one, other) = (&self.jobs[i], &self.jobs[j]);
            let by_size = other.size.total_cmp(&one.size);
            by_size.then(one.weight.total_cmp(&other.weight))
        });
        order
    }
}

#[cfg(test)]
impl Pool {
    pub(crate) fn of_sizes(speedup: &str, sizes: &[f64], servers: f64) -> Pool {
        let jobs = sizes.iter().enumerate();
        let jobs = jobs.map(|(i, x)| format!("  - {{name: j{i}, size: {x}}}\n"));
        let jobs: String = jobs.collect();
        let text =
            format!("kind: malleable\nservers: {servers}\nspeedup: {speedup}\njobs:\n{jobs}");
        Pool::sample(&text)
    }

    pub(crate) fn sample(text: &str) -> Pool {
        match PoolDocument::parse(text, "here").unwrap().workload {
            Workload::Pool(pool) => pool,
            Workload::Stream(_) => panic!("its jobs arrive"),
        }
    }
}
