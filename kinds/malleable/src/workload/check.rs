use super::{
    Curve, Job, Objective, Pool, PoolDocument, SizesRecord, Speedup, SpeedupRecord, Stream,
    Workload,
};
use synth_core::document::{
    CheckedOrFaults, Fault, FaultsAt, Place, SUPPORTED_RANGE, Spelling, Spellings,
    WorkloadDocument, place, within,
};
use synth_core::number::Decimal;
use synth_queues::distribution::{Part, SizeDistribution};
use synth_simulation::Streams;

const MOST_JOBS: usize = 100_000;

/// The maximum number of jobs if the recursion has no closed form, and if speedups or caps differ,
/// because the time that is needed grows at least quadratically.
const MOST_CURVED: usize = 5_000;
const MOST_UNLIKE: usize = 400;

/// The maximum ratio of two sizes, which limits the rounding errors of sums.
const MOST_APART: f64 = 1e12;

/// The maximum logarithm of the ratio of two numbers of servers.
const MOST_LOGARITHM: f64 = 60.0;

/// The expected values, and the help text after the colon.
const SHAPE: &str = "a number of at least 0.05: the probability of a size above x is x to the power of -shape, for x ≥ 1";
const COUNT: &str = "1 to 100000: write the number of jobs to draw";

impl WorkloadDocument for PoolDocument {
    const KIND: &'static str = "malleable";
    const EXAMPLE: &'static str = include_str!("example.txt").trim_ascii_end();
    const SHORT: &'static [(&'static str, &'static str)] = &[("size", "mean_size")];
    const SPELLINGS: &'static Spellings = &[
        ("arrivals.size", Spelling::LawOfTimes),
        ("arrivals.mean_size", Spelling::Time),
        ("jobs[].size", Spelling::Time),
    ];

    type Checked = Workload;

    fn checked(mut self, mut faults: Vec<Fault>) -> CheckedOrFaults<Workload> {
        let (mut warnings, mut curves) = (Vec::new(), Vec::new());
        let mut at = FaultsAt::document(&mut faults);
        self.check_keys(&mut at);
        self.check_scalars(&mut at);
        self.check_jobs(&mut at);
        self.check_sizes(&mut at);
        self.check_arrivals(&mut at);
        let jobs = self.build(&mut curves, &mut at, &mut warnings);
        self.check_work(&curves, jobs.len(), &mut at);
        self.check_range(&curves, &jobs, &mut at);
        if !at.is_empty() {
            return Err(faults);
        }
        if let Some(size) = self.arrivals.as_ref().and_then(|own| own.size.clone()) {
            let curve = curves.pop();
            let stream = Stream {
                curve: curve.expect("a workload with arrivals should have a speedup"),
                record: self,
                size,
            };
            return Ok((Workload::Stream(stream), warnings));
        }
        let pool = Pool {
            record: self,
            curves,
            jobs,
        };
        Ok((Workload::Pool(pool), warnings))
    }

    fn record(workload: &Workload) -> Self {
        workload.record().clone()
    }
}

impl PoolDocument {
    fn check_keys(&mut self, at: &mut FaultsAt<'_>) {
        let keys = ["jobs", "sizes", "arrivals"];
        let (has_sizes, has_arrivals) = (self.sizes.is_some(), self.arrivals.is_some());
        let has = [!self.jobs.is_empty(), has_sizes, has_arrivals];
        match has.into_iter().filter(|has| *has).count() {
            0 if !keys.iter().any(|key| at.has_fault(key)) => {
                let help = "add a list of jobs: `jobs: [{name: a, size: 3}]`, jobs with random sizes: `sizes: {pareto: {shape: 1.5, count: 500, seed: 1}}`, or jobs that arrive over time: `arrivals: {rate: 2, mean_size: 3}`";
                at.add("jobs", "there are no jobs", help);
            }
            0 | 1 => {}
            _ => {
                let message = "the document has more than one of `jobs`, `sizes` and `arrivals`";
                let help = "use only one of them: `jobs`, `sizes` for jobs with random sizes, or `arrivals` for jobs that arrive over time";
                at.add("jobs", message, help);
            }
        }
        if let Some(own) = &mut self.arrivals {
            let (mean, size) = (("mean_size", &mut own.mean_size), ("size", &mut own.size));
            let exponential = |mean| SizeDistribution::Exponential { mean };
            let help = "write `mean_size: 3`, or a distribution: `size: {law: hyperexponential, mean: 3, scv: 4}`";
            let mut at = at.below("arrivals");
            at.one_of("the arrival process", mean, size, exponential, help);
        }
    }

    fn check_scalars(&self, at: &mut FaultsAt<'_>) {
        at.unit(&self.time_unit);
        let help = "write the number of servers, for instance `servers: 64`";
        at.positive("servers", self.servers, help);
        let servers = self.servers.value();
        if self.whole_servers && servers.fract() != 0.0 {
            let message =
                format!("each job can only use a whole number of servers, but there are {servers}");
            let help = "write a whole number, or leave `whole_servers` out";
            at.add("servers", message, help);
        }
        self.check_cap(self.cap, at);
    }

    fn check_cap(&self, cap: Option<Decimal>, at: &mut FaultsAt<'_>) {
        let help = "write the maximum number of servers that a job can use, or leave it out";
        at.positive("cap", cap, help);
        if let Some(cap) = cap.filter(|cap| self.whole_servers && cap.value().fract() != 0.0) {
            let message =
                format!("each job can only use a whole number of servers, but the cap is {cap}");
            at.add("cap", message, help);
        }
    }

    fn check_jobs(&self, at: &mut FaultsAt<'_>) {
        at.names("jobs", "job", self.jobs.iter().map(|job| &job.name));
        for (i, job) in self.jobs.iter().enumerate() {
            let mut at = at.entry("jobs", i);
            let help = "write the time that the job takes on one server";
            at.positive("size", job.size, help);
            let help = "write the cost per unit of the job's time, or leave it out";
            at.positive("weight", job.weight, help);
            if job.weight.is_some() && self.objective != Objective::WeightedFlowTime {
                let name = &job.name;
                let message =
                    format!("job `{name}` has a weight, but this objective has no weights");
                let help = "use `objective: weighted-flow-time`, or remove the weights";
                at.add("weight", message, help);
            }
            self.check_cap(job.cap, &mut at);
        }
    }

    fn check_sizes(&self, at: &mut FaultsAt<'_>) {
        let Some(SizesRecord::Pareto { shape, count, .. }) = &self.sizes else {
            let count = self.jobs.len();
            if count > MOST_JOBS {
                let message = format!("there are {count} jobs, expected at most {MOST_JOBS}");
                let help = "create a separate plan for each part of the jobs";
                at.add("jobs", message, help);
            }
            return;
        };
        let mut at = at.below("sizes");
        let mut at = at.below("pareto");
        at.number("shape", shape.value(), 0.05..=f64::MAX, SHAPE);
        at.number("count", f64::from(*count), 1.0..=MOST_JOBS as f64, COUNT);
    }

    fn check_work(&self, curves: &[Curve], count: usize, at: &mut FaultsAt<'_>) {
        let (most, what) = match curves {
            [] => return,
            [one] if one.smooth_power(self.servers.value()).is_some() => return,
            [_] => (MOST_CURVED, "a speedup other than unlimited k^p (p < 1)"),
            _ => (MOST_UNLIKE, "different speedups or caps"),
        };
        if count > most && self.objective != Objective::Makespan {
            let message = format!("there are {count} jobs with {what}, expected at most {most}");
            let help = "create a separate plan for each part of the jobs, because the time that is needed grows with the square of their number";
            at.add("jobs", message, help);
        }
    }

    fn check_range(&self, curves: &[Curve], jobs: &[Job], at: &mut FaultsAt<'_>) {
        let sizes = || jobs.iter().map(|job| job.size);
        let least = sizes().fold(f64::INFINITY, f64::min);
        let most = sizes().fold(0.0, f64::max);
        let powers = curves.iter().filter_map(|curve| match curve.speedup {
            Speedup::Power(p) => Some(p),
            _ => None,
        });
        let flattest = powers.fold(1.0, f64::min);
        let makespan = self.objective == Objective::Makespan && !jobs.is_empty();
        if most / least > MOST_APART {
            let message = format!(
                "sizes are from {least} to {most}, more than a factor of {MOST_APART:e} apart"
            );
            let help = "remove the jobs that are much smaller than the other jobs";
            at.add("jobs", message, help);
        } else if makespan && (most / least).ln() / flattest > MOST_LOGARITHM {
            let message = format!(
                "with speedup k^{flattest}, jobs of sizes {least} and {most} need numbers of servers too far apart for floating-point numbers"
            );
            let help =
                "if the speedup is this small, there is no use for more servers: use at least k^.1";
            at.add("jobs", message, help);
        }
    }

    fn check_arrivals(&self, at: &mut FaultsAt<'_>) {
        let Some(arrivals) = &self.arrivals else {
            return;
        };
        if self.objective != Objective::FlowTime {
            let message =
                "if the jobs arrive over time, the flow time is the only supported objective";
            let help =
                "remove the `objective`, or add a list of the jobs: `jobs: [{name: a, size: 3}]`";
            at.add("objective", message, help);
        }
        let mut at = at.below("arrivals");
        let help = "write the number of jobs that arrive per unit of time";
        at.positive("rate", arrivals.rate, help);
        if let Some(size) = &arrivals.size {
            let own = ("work", SUPPORTED_RANGE);
            size.check(Part::Size, "the workload", own, &mut at.below("size"));
        }
    }

    fn curve(
        &self,
        (speedup, at): (Option<&SpeedupRecord>, Place),
        cap: Option<Decimal>,
        curves: &mut Vec<Curve>,
        warnings: &mut Vec<Fault>,
    ) -> Result<usize, Fault> {
        let help = "add a speedup for all jobs, for example `speedup: {power: {p: .5}}`";
        let missing = || Fault::new(at.clone(), "there is no speedup", help);
        let mut own = Vec::new();
        let speedup = speedup.ok_or_else(missing)?.check(&mut own);
        let curve = Curve {
            speedup: speedup.map_err(|fault| fault.within(&at))?,
            cap: cap.map_or(f64::INFINITY, Decimal::value),
            whole: self.whole_servers,
        };
        let known = curves.iter().position(|known| *known == curve);
        Ok(known.unwrap_or_else(|| {
            warnings.extend(within(own, &at));
            curves.push(curve);
            curves.len() - 1
        }))
    }

    fn build(
        &self,
        curves: &mut Vec<Curve>,
        at: &mut FaultsAt<'_>,
        warnings: &mut Vec<Fault>,
    ) -> Vec<Job> {
        let shared = (self.speedup.as_ref(), place!("speedup"));
        let mut jobs = Vec::new();
        if self.arrivals.is_some() || self.sizes.is_some() {
            let curve = self.curve(shared, self.cap, curves, warnings);
            let curve = curve.map_err(|fault| refuse(fault, at)).ok();
            let sizes = self.sizes.filter(|_| at.is_empty());
            let Some(SizesRecord::Pareto { shape, count, seed }) = sizes else {
                return jobs;
            };
            let mut stream = Streams::new(seed, 0).sizes;
            for n in 1..=count {
                let size = (1.0 - stream.uniform()).powf(-1.0 / shape.value());
                jobs.push(self.job(n.to_string(), size, 1.0, curve.unwrap_or(0)));
            }
            return jobs;
        }
        for (i, job) in self.jobs.iter().enumerate() {
            let own = job.speedup.as_ref();
            let own_place = place!("jobs", i, "speedup");
            let speedup = own.map_or(shared.clone(), |_| (own, own_place));
            match self.curve(speedup, job.cap.or(self.cap), curves, warnings) {
                Ok(curve) => {
                    let weight = job.weight.map_or(1.0, Decimal::value);
                    jobs.push(self.job(job.name.clone(), job.size.value(), weight, curve));
                }
                Err(_) if at.entry("jobs", i).has_fault("speedup") => {}
                Err(fault) => {
                    refuse(fault, at);
                    if own.is_none() {
                        break;
                    }
                }
            }
        }
        jobs
    }

    fn job(&self, name: String, size: f64, weight: f64, curve: usize) -> Job {
        let weight = match self.objective {
            Objective::WeightedFlowTime => weight,
            Objective::Slowdown => 1.0 / size,
            Objective::FlowTime | Objective::Makespan => 1.0,
        };
        Job {
            name,
            size,
            weight,
            curve,
        }
    }
}

fn refuse(fault: Fault, at: &mut FaultsAt<'_>) {
    let steps = fault.place.steps();
    let mut all = at.all().iter();
    if !all.any(|own| own.place.steps().starts_with(steps)) {
        at.extend([fault]);
    }
}
