//! Jobs that may run on any number of servers.

mod check;
mod document;
mod speedup;
#[cfg(test)]
mod tests;

pub use document::{ArrivalsRecord, JobRecord, PoolDocument, SizesRecord};
pub(super) use speedup::halved;
pub use speedup::{Curve, Speedup, SpeedupRecord};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use synth_core::document::WorkloadDocument as _;
use synth_core::number::Decimal;
use synth_queues::law::Size;
use synth_simulation::JobClass;

/// What is to be small; T_i is the time at which job i ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Objective {
    /// Σ T_i.
    #[default]
    FlowTime,
    /// Σ w_i T_i.
    WeightedFlowTime,
    /// Σ T_i/x_i.
    Slowdown,
    /// max T_i.
    Makespan,
}

/// A checked workload.
#[derive(Clone, Debug, PartialEq)]
pub enum Workload {
    /// All jobs are there at the start.
    Pool(Pool),
    /// Jobs arrive.
    Stream(Stream),
}

impl Workload {
    /// All its numbers.
    pub fn record(&self) -> &PoolDocument {
        match self {
            Workload::Pool(pool) => &pool.record,
            Workload::Stream(stream) => &stream.record,
        }
    }
}

/// Jobs that arrive, with one speedup for all.
#[derive(Clone, Debug, PartialEq)]
pub struct Stream {
    record: PoolDocument,
    size: Size,
    curve: Curve,
}

impl Stream {
    /// All its numbers.
    pub fn record(&self) -> &PoolDocument {
        &self.record
    }

    /// The unit of time.
    pub fn time_unit(&self) -> &str {
        &self.record.time_unit
    }

    /// N, > 0.
    pub fn servers(&self) -> f64 {
        self.record.servers.value()
    }

    /// The speedup of all jobs.
    pub fn curve(&self) -> &Curve {
        &self.curve
    }

    /// λ \[1/time\].
    pub fn arrival_rate(&self) -> f64 {
        let arrivals = self.record.arrivals.as_ref();
        let arrivals = arrivals.expect("a stream is made of a document with arrivals");
        arrivals.rate.value()
    }

    /// The law of sizes \[work\].
    pub fn size(&self) -> &Size {
        &self.size
    }

    /// ρ = λE\[S\]/N, the part of the servers that works where each job has one.
    pub fn load(&self) -> f64 {
        self.arrival_rate() * self.size().mean() / self.servers()
    }

    /// The most work that is done in a unit of time, with any number of jobs: N s'(0), ∞ for powers below 1.
    pub fn most_work(&self) -> f64 {
        self.servers() * self.curve.first_slope()
    }

    /// Its jobs, as statistics see them; the size of a job is the time that it takes alone.
    pub fn statistics(&self) -> Vec<JobClass> {
        let mean_size = self.size().mean() / self.curve.at(self.servers());
        let sizes = (mean_size, self.size());
        let class = JobClass::poisson(ALL_JOBS, self.arrival_rate(), sizes, 1.0);
        vec![class.demanding(vec![self.size().mean() / self.most_work() / mean_size])]
    }

    /// The same with the arrival rate times `factor`; `None` where it leaves the range of numbers.
    pub fn scaled(&self, factor: f64) -> Option<Self> {
        let rate = Decimal::new(self.arrival_rate() * factor);
        let rate = rate.filter(|rate| *rate > Decimal::ZERO)?;
        let mut scaled = self.clone();
        scaled.record.arrivals.as_mut()?.rate = rate;
        Some(scaled)
    }
}

/// What all jobs of a stream are called.
pub const ALL_JOBS: &str = "jobs";

/// Jobs that are all there at the start.
#[derive(Clone, Debug, PartialEq)]
pub struct Pool {
    record: PoolDocument,
    curves: Vec<Curve>,
    jobs: Vec<Job>,
}

/// A job that is present at the start.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// Its name.
    pub name: String,
    /// x_i \[work\], > 0.
    pub size: f64,
    /// w_i of the objective, > 0: 1 for flow time and makespan, 1/x_i for slowdown.
    pub weight: f64,
    /// Its place among the [curves](Pool::curves).
    pub curve: usize,
}

impl Pool {
    /// All its numbers.
    pub fn record(&self) -> &PoolDocument {
        &self.record
    }

    /// The unit of time.
    pub fn time_unit(&self) -> &str {
        &self.record.time_unit
    }

    /// N, > 0.
    pub fn servers(&self) -> f64 {
        self.record.servers.value()
    }

    /// What is to be small.
    pub fn objective(&self) -> Objective {
        self.record.objective
    }

    /// The jobs, at least one, in the order of the document.
    pub fn jobs(&self) -> &[Job] {
        &self.jobs
    }

    /// The curve of the i-th job.
    pub fn curve(&self, i: usize) -> &Curve {
        &self.curves[self.jobs[i].curve]
    }

    /// The curves of the jobs, each once.
    pub fn curves(&self) -> &[Curve] {
        &self.curves
    }

    fn of(record: PoolDocument) -> Option<Self> {
        match record.check() {
            Ok(Workload::Pool(pool)) => Some(pool),
            _ => None,
        }
    }

    /// The same jobs, all with the speedup `k^p`, p in (0, 1]; caps stay.
    pub fn with_power(&self, p: f64) -> Self {
        let mut record = self.record.clone();
        let p = Decimal::new(p).unwrap_or(Decimal::ZERO);
        record.speedup = Some(SpeedupRecord::Power { p });
        record.jobs.iter_mut().for_each(|job| job.speedup = None);
        Pool::of(record).unwrap_or_else(|| self.clone())
    }

    /// The same with sizes of a seed that many further on; itself where sizes are not drawn.
    pub fn redrawn(&self, further: u64) -> Self {
        let mut record = self.record.clone();
        if let Some(SizesRecord::Pareto { seed, .. }) = &mut record.sizes {
            *seed = seed.wrapping_add(further);
        }
        Pool::of(record).unwrap_or_else(|| self.clone())
    }

    /// The same jobs on one server more; none where that is out of the range of numbers.
    pub fn with_one_more_server(&self) -> Option<Self> {
        let mut record = self.record.clone();
        record.servers = Decimal::new(self.servers() + 1.0)?;
        Pool::of(record).filter(|pool| pool.servers() > self.servers())
    }

    /// Places of the jobs from the largest on; of equal ones the lighter goes first, then the earlier.
    pub fn by_size(&self) -> Vec<usize> {
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
    /// For tests: jobs of these sizes, which are all there.
    pub fn of_sizes(speedup: &str, sizes: &[f64], servers: f64) -> Pool {
        let jobs = sizes.iter().enumerate();
        let jobs: String = jobs
            .map(|(i, x)| format!("  - {{name: j{i}, size: {x}}}\n"))
            .collect();
        let text =
            format!("kind: malleable\nservers: {servers}\nspeedup: {speedup}\njobs:\n{jobs}");
        Pool::sample(&text)
    }

    /// For tests: a document of jobs that are all there.
    pub fn sample(text: &str) -> Pool {
        match Workload::parse(text, "here").unwrap().workload {
            Workload::Pool(pool) => pool,
            Workload::Stream(_) => panic!("its jobs arrive"),
        }
    }
}
