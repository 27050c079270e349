use itertools::Itertools as _;

use super::arrivals::{BatchStatistics, common, kappa, modulated};
use super::jobs::{Jobs, NO_LIMIT, observed};
use super::levels::levels;
use super::limits::{self, LimitGroup};
use super::report::{
    CandidateTypes, Fit, FitError, FitOptions, FittedArrivals, FittedType, Report, short,
};
use super::sizes::Sizes;
use super::types::{Types, in_seconds};
use super::{Dispersion, RateModulation};
use synth_core::number::Decimal;
use synth_multiresource::workload::{FleetDocument, JobDocument, SizeInformation};
use synth_queues::distribution::{ArrivalProcess, CommonModulation, SizeDistribution};
use synth_traces::trace::{Observed, TraceJob};

/// The minimum number of jobs of a type with empirical sizes and a modulated rate.
const ENOUGH: u64 = 30;
const VALUES: u64 = 1000;
/// The dispersion of work, relative to a constant rate, above which the rate is modulated.
const DISPERSED: f64 = 2.0;
/// The share of jobs submitted together with others of their user that indicates batches.
const TOGETHER: f64 = 0.5;
/// Types are modulated independently if they would have this share of the excess dispersion.
const INDEPENDENT: f64 = 0.5;
/// The dispersion of counts, minus 1, from which the rate can be seen in the counts of windows.
const SEEN: f64 = 4.0;
const MAX_WINDOWS: u64 = 1 << 16;
/// If a type is rarer than changes of the rate by this factor, its rate is not modulated.
const UNSEEN: f64 = 5e3;
/// The maximum number of jobs of a log that are replayed.
pub const MAX_REPLAYED_JOBS: usize = 100_000;

pub(crate) struct Fitting<'a> {
    jobs: &'a Jobs<'a>,
    by_demand: Types,
    options: &'a FitOptions,
    types: Vec<Type>,
    together: f64,
}

struct Type {
    group: LimitGroup,
    /// The demand (R) on each server, followed by the number of servers used at once.
    demand: Vec<f64>,
    /// The longest limit of its jobs \[s\], if types are split by limits.
    limit: Option<f64>,
    rate: f64,
    sizes: Sizes,
    /// The first two moments of the work of a job \[ticks of all servers\].
    work: (f64, f64),
}

impl<'a> Fitting<'a> {
    pub(crate) fn new(jobs: &'a Jobs<'a>, by_demand: Types, options: &'a FitOptions) -> Self {
        let most = options.max_types * usize::from(options.by_limit);
        let groups = limits::split(jobs, &by_demand.of_vector, by_demand.demands.len(), most);
        let type_of = |group: LimitGroup| {
            let vectors = (0..jobs.vectors.len())
                .filter(|v| by_demand.of_vector[*v] == Some(group.demand_type));
            let own = || {
                let own = vectors.clone().flat_map(|v| jobs.of_vector(v));
                own.filter(|job| group.classes.contains(&jobs.class(job)))
            };
            let mut sizes = jobs.sizes(own());
            // If too few of the jobs are recent, all jobs have the same weight.
            if sizes.effective_sample_size < ENOUGH as f64 {
                sizes = Sizes::of(own().map(|job| observed(job, 1.0)));
            }
            let demand = by_demand.demands[group.demand_type].clone();
            let share = jobs.share(&demand);
            let class = group.classes.last().filter(|_| options.by_limit);
            let class = class.filter(|class| **class != NO_LIMIT);
            Type {
                limit: class.map(|class| f64::from(*class).exp2() / jobs.per_second as f64),
                rate: jobs.rate(own()),
                work: (share * sizes.mean(), share * share * sizes.second_moment()),
                group,
                demand,
                sizes,
            }
        };
        Fitting {
            types: groups.into_iter().map(type_of).collect(),
            together: jobs.together(),
            jobs,
            by_demand,
            options,
        }
    }

    fn has_batches(&self) -> bool {
        match self.options.arrivals {
            FittedArrivals::Batches => true,
            FittedArrivals::Auto => self.jobs.names_batches || self.together >= TOGETHER,
            _ => false,
        }
    }

    fn type_of(&self, job: &TraceJob) -> Option<usize> {
        let demand_type = self.by_demand.of_vector[job.demand as usize]?;
        let class = self.jobs.class(job);
        let is_own =
            |own: &LimitGroup| own.demand_type == demand_type && own.classes.contains(&class);
        self.types.iter().position(|own| is_own(&own.group))
    }

    pub(crate) fn conclude(&self, tried: Vec<CandidateTypes>) -> Result<Fit, FitError> {
        let (jobs, trace, types) = (self.jobs, self.jobs.trace, &self.types);
        let windows = jobs.windows();
        let dispersion = windows.dispersion(jobs.length(), jobs.per_second);
        let has_batches = self.has_batches();
        let constant: Vec<ArrivalProcess> = if has_batches {
            let batches = jobs.batches(types.len(), |job| self.type_of(job));
            let process = |(own, batches): (&Type, &BatchStatistics)| batches.process(own.rate);
            types.iter().zip(&batches).map(process).collect()
        } else {
            let rates = types.iter().map(|own| short(own.rate));
            rates.map(|rate| ArrivalProcess::Poisson { rate }).collect()
        };
        let base = self.dispersion_of(&constant);
        let excess = RateModulation::of(&dispersion, base);
        let changes = match self.options.arrivals {
            FittedArrivals::Auto => changes(&dispersion, base, has_batches),
            request => request,
        };
        let servers = &trace.servers;
        let mut parts = servers.workload(in_seconds(), self.parts(constant));
        parts.source = Some(self.options.source.clone());
        let all_promise = types.iter().all(|own| own.limit.is_some());
        parts.known = all_promise.then_some(SizeInformation::TypeLimit);
        let steady = parts.clone();
        match (changes, excess) {
            (FittedArrivals::Modulated, Some(excess)) => self.modulate(&mut parts, excess),
            (FittedArrivals::Common, Some(excess)) => {
                let (rate, work) = self.work();
                parts.modulation = Some(common(rate, work, excess));
            }
            _ => {}
        }
        let workload = parts.clone().measured()?;
        let is_open =
            self.options.arrivals == FittedArrivals::Auto && changes != FittedArrivals::Poisson;
        let steady = Some(steady).filter(|_| is_open);
        let other = steady.and_then(|mut steady| {
            steady.modulation = Some(self.levels(&dispersion)?);
            let arrivals = arrivals_of(&steady);
            Some((steady.measured().ok()?, arrivals))
        });
        let resources = servers.resources.iter().cloned();
        let is_censored = |job: &&TraceJob| job.seen == Observed::Censored;
        let report = Report {
            log_format: trace.format(),
            servers: servers.to_string(),
            lines: trace.account.clone(),
            span: jobs.seconds(),
            arrived: jobs.all.len() as u64,
            censored: jobs.all.iter().filter(is_censored).count() as u64,
            vectors: jobs.of_vector.len(),
            rounded: trace.demands.rounded,
            used: resources.zip(jobs.used.iter().copied()).collect(),
            fluid_load: jobs.fluid(),
            load: self.by_demand.load.0,
            load_proven: self.by_demand.load.1,
            load_by_types: tried,
            types: self.found(),
            arrivals: arrivals_of(&parts),
            excess,
            dispersion,
            together: self.together,
            thirds: jobs.thirds(),
            drift: jobs.drift(),
            of_no_type: self.of_no_type(),
            predicted: Vec::new(),
        };
        let is_whole = self.options.kept_types.is_none();
        Ok(Fit {
            workload,
            report,
            other,
            log: is_whole.then(|| jobs.log(MAX_REPLAYED_JOBS)),
        })
    }

    /// Returns the levels of the rate from the shortest windows whose number of jobs, with a
    /// dispersion of `1 + (IDW − 1) E[X²]/E[X]²`, varies much more than at a constant rate.
    fn levels(&self, dispersion: &[Dispersion]) -> Option<CommonModulation> {
        let (jobs, (_, (mean, square))) = (self.jobs, self.work());
        let is_seen = |d: &&Dispersion| (d.work - 1.0) * square / (mean * mean) >= SEEN;
        let seen = dispersion.iter().find(is_seen)?;
        let mut window = (seen.window * jobs.per_second as f64) as u64;
        while jobs.length() / window > MAX_WINDOWS {
            window *= 2;
        }
        let windows = (jobs.length() / window) as usize;
        let seconds = window as f64 / jobs.per_second as f64;
        levels(jobs.in_windows(window), windows, seconds)
    }

    fn parts(&self, arrivals: Vec<ArrivalProcess>) -> Vec<JobDocument> {
        let part = |(own, arrivals): (&Type, ArrivalProcess)| {
            let (demand, nodes) = self.jobs.apart(&own.demand);
            let demand: Vec<Decimal> = demand.iter().map(|d| short(*d)).collect();
            JobDocument {
                name: self.name(own),
                nodes: Some(nodes),
                demand: self.jobs.trace.servers.demand(&demand),
                arrivals: Some(arrivals),
                size: Some(size(&own.sizes, self.jobs.per_second as f64)),
                limit: own.limit.map(short),
                ..JobDocument::default()
            }
        };
        self.types.iter().zip(arrivals).map(part).collect()
    }

    /// Returns the dispersion of work of independent types with these arrivals at a constant rate:
    /// `Σ_i λ_i (E[X²] + (E[B²]/E[B] − 1)(E[X]² + c Var X)) / Σ_i λ_i E[X²]`, for `B` jobs in a
    /// batch and the correlation `c` of their sizes.
    fn dispersion_of(&self, arrivals: &[ArrivalProcess]) -> f64 {
        let (mut all, mut alone) = (0.0, 0.0);
        for (own, process) in self.types.iter().zip(arrivals) {
            let (mean, square) = own.work;
            let others = process.dispersion() - 1.0;
            let product = mean * mean + process.equal_size_fraction() * (square - mean * mean);
            all += own.rate * (square + others * product);
            alone += own.rate * square;
        }
        all / alone
    }

    fn modulate(&self, parts: &mut FleetDocument, excess: RateModulation) {
        let follows = |own: &Type| own.sizes.count >= ENOUGH && excess.rate <= UNSEEN * own.rate;
        let following = self.types.iter().filter(|own| follows(own));
        let kappa = kappa(following.map(|own| (own.rate, own.work)), excess);
        for (part, own) in parts.jobs.iter_mut().zip(&self.types) {
            if follows(own) {
                part.arrivals = Some(modulated(own.rate, kappa, excess.rate));
            }
        }
    }

    fn work(&self) -> (f64, (f64, f64)) {
        let sum = |of: fn(&Type) -> f64| self.types.iter().map(of).sum::<f64>();
        let rate = sum(|own| own.rate);
        let mean = sum(|own| own.rate * own.work.0) / rate;
        let square = sum(|own| own.rate * own.work.1) / rate;
        (rate, (mean, square))
    }

    fn name(&self, own: &Type) -> String {
        let mut kept = self.options.kept_types.iter().flatten();
        if let Some((name, _)) = kept.find(|(_, demand)| *demand == own.demand) {
            return name.clone();
        }
        let pairs = self.jobs.trace.servers.resources.iter().zip(&own.demand);
        let demanded = pairs.filter(|(_, demand)| **demand > 0.0);
        let words = demanded.map(|(name, demand)| format!("{name}{demand}"));
        let nodes = Some(self.jobs.apart(&own.demand).1).filter(|nodes| *nodes > 1);
        let nodes = nodes.map(|nodes| format!("nodes{nodes}"));
        let limit = own.limit.map(|limit| format!("limit{limit}"));
        nodes.into_iter().chain(words).chain(limit).join("-")
    }

    fn found(&self) -> Vec<FittedType> {
        let work = |own: &Type| own.rate * own.work.0;
        let total: f64 = self.types.iter().map(work).sum();
        let found = |own: &Type| {
            let size = size(&own.sizes, self.jobs.per_second as f64);
            FittedType {
                name: self.name(own),
                limit: own.limit,
                jobs: own.sizes.count,
                mean: own.sizes.mean() / self.jobs.per_second as f64,
                scv: own.sizes.scv(),
                scv_kept: size.scv(),
                longest_hundredth: own.sizes.work_share_of_longest_percent(),
                work: work(own) / total,
                law: size.name(),
            }
        };
        self.types.iter().map(found).collect()
    }

    fn of_no_type(&self) -> (u64, f64) {
        let (mut jobs, mut lost, mut total) = (0, 0.0, 0.0);
        for (v, vector) in self.jobs.vectors.iter().enumerate() {
            let work = vector.busy * self.jobs.share(&vector.demand);
            total += work;
            if self.by_demand.of_vector[v].is_none() {
                jobs += self.jobs.of_vector(v).count() as u64;
                lost += work;
            }
        }
        (jobs, lost / total)
    }
}

/// Returns how the rate changes. `base` is the dispersion at a constant rate (1 without batches).
/// Types with batches are not modulated independently.
fn changes(dispersion: &[Dispersion], base: f64, has_batches: bool) -> FittedArrivals {
    let most = dispersion.iter().max_by(|a, b| a.work.total_cmp(&b.work));
    let Some(most) = most.filter(|most| most.work > DISPERSED * base) else {
        return FittedArrivals::Poisson;
    };
    match most.if_independent - 1.0 >= INDEPENDENT * (most.work - 1.0) && !has_batches {
        true => FittedArrivals::Modulated,
        false => FittedArrivals::Common,
    }
}

fn arrivals_of(parts: &FleetDocument) -> &'static str {
    let arrivals = parts.jobs.iter().filter_map(|own| own.arrivals.as_ref());
    let processes: Vec<&str> = arrivals.map(ArrivalProcess::name).collect();
    let is = |process| processes.contains(&process);
    let modulation = parts.modulation.as_ref();
    match (is("batches"), modulation.map_or(0, |own| own.factors.len())) {
        (true, 0) => "in batches",
        (true, 1..=2) => "in batches, at a rate that changes for all types together",
        (true, _) => "in batches, at a rate that changes between levels for all types together",
        (false, 0) if is("markov-modulated") => "at rates that change independently for each type",
        (false, 0) => "as Poisson processes",
        (false, 1..=2) => "at a rate that changes for all types together",
        (false, _) => "at a rate that changes between levels for all types together",
    }
}

fn size(sizes: &Sizes, per_second: f64) -> SizeDistribution {
    let seconds = |ticks: f64| short(ticks / per_second);
    let mean = seconds(sizes.mean());
    if sizes.count < ENOUGH {
        return SizeDistribution::Exponential { mean };
    }
    let values = sizes.parts(sizes.count.min(VALUES) as usize);
    if values.first() == values.last() {
        return SizeDistribution::Deterministic { mean };
    }
    SizeDistribution::Empirical {
        values: values.into_iter().map(seconds).collect(),
        probabilities: None,
    }
}
