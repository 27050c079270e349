//! The workload of what was counted.

use super::again::Again;
use super::arrivals::{Modulated, common, kappa, modulated};
use super::limits::{self, Cut};
use super::merge::Vector;
use super::sizes::{Law, Sizes};
use super::tally::{Class, Counted, NO_LIMIT, Tally};
use super::types::{Types, parts_of};
use super::{Arrivals, Dispersion, Drift, Excess, Fit, Options, Report, Tried, TypeFound, short};
use crate::document::DocumentError;
use crate::law::{ArrivalProcess, CommonModulation, Size};
use crate::multiresource::workload::{Known, Part, Parts};
use crate::trace::{Job, Trace};

/// From this many jobs on a type has a law of sizes of its own, and may be modulated.
const ENOUGH: u64 = 30;
/// The most values of a measured law.
const VALUES: u64 = 1000;
/// With no more than so many times the dispersion of work that a constant rate has, the rate is taken as constant.
const DISPERSED: f64 = 2.0;
/// If so many of the jobs come at one instant with others of their user, they come in batches.
const TOGETHER: f64 = 0.5;
/// If types that were independent would have so much of the excess of dispersion, they are taken as independent.
const INDEPENDENT: f64 = 0.5;
/// A type whose jobs are this much rarer than changes of the rate does not see them.
const UNSEEN: f64 = 5e3;

/// What was counted, per second.
pub struct Counts {
    /// Ticks in the span, and in a second.
    length: u64,
    per_second: u64,
    /// By vector: demand, and mean number in service.
    pub vectors: Vec<Vector>,
    /// By vector \[1/s\].
    pub rates: Vec<f64>,
    /// ρ̄_r (R).
    pub used: Vec<f64>,
}

impl Counts {
    /// Of a trace that spans so many ticks, > 0.
    pub fn of(trace: &Trace, tally: &Tally, length: u64) -> Self {
        let per_second = trace.tick().per_second();
        let seconds = length as f64 / per_second as f64;
        let rates: Vec<f64> = tally
            .vectors
            .iter()
            .map(|counted| counted.arrived() as f64 / seconds)
            .collect();
        let counted = tally.vectors.iter().zip(&rates);
        let demands = trace.demands().vectors().iter().zip(counted);
        let vectors: Vec<Vector> = demands
            .map(|(demand, (counted, rate))| {
                let mean = match counted.arrived() {
                    0 => 0.0,
                    _ => law(counted.classes.values()).mean() / per_second as f64,
                };
                Vector {
                    demand: demand.to_vec(),
                    busy: rate * mean,
                }
            })
            .collect();
        let used = trace
            .servers()
            .total()
            .into_iter()
            .enumerate()
            .map(|(r, total)| {
                let held: f64 = vectors.iter().map(|v| v.busy * v.demand[r]).sum();
                held / total
            });
        Counts {
            length,
            per_second,
            used: used.collect(),
            vectors,
            rates,
        }
    }

    /// ρ̄ = max_r ρ̄_r.
    pub fn fluid(&self) -> f64 {
        self.used.iter().copied().fold(0.0, f64::max)
    }

    /// Returns the span \[s\].
    pub fn seconds(&self) -> f64 {
        self.length as f64 / self.per_second as f64
    }
}

/// Returns the law of sizes of these jobs \[ticks\].
fn law<'a>(classes: impl Iterator<Item = &'a Class>) -> Law {
    let classes: Vec<&Class> = classes.collect();
    let whole: Vec<&Sizes> = classes.iter().map(|class| &class.whole).collect();
    let censored: Vec<&Sizes> = classes.iter().map(|class| &class.censored).collect();
    Law::of(&whole, &censored)
}

/// All that a workload is made of.
pub struct Made<'a> {
    trace: &'a Trace,
    tally: &'a Tally,
    counts: &'a Counts,
    types: Types,
    options: &'a Options,
    /// The types of the workload: those by demand, cut by limits where that is asked for.
    cuts: Vec<Cut>,
}

impl<'a> Made<'a> {
    /// Of these types by demand.
    pub fn new(
        trace: &'a Trace,
        tally: &'a Tally,
        counts: &'a Counts,
        types: Types,
        options: &'a Options,
    ) -> Self {
        let most = if options.by_limit {
            options.max_types
        } else {
            0
        };
        let cuts = limits::cut(&tally.vectors, &types.of_vector, types.demands.len(), most);
        Made {
            trace,
            tally,
            counts,
            types,
            options,
            cuts,
        }
    }

    /// Whether it takes a second reading: for the batches of each type, or for windows of a clock that is coarse.
    pub fn is_read_again(&self) -> bool {
        let is_coarse = self.tally.grid > self.counts.per_second;
        self.has_batches() || is_coarse && self.options.arrivals != Arrivals::Poisson
    }

    /// Returns the shortest windows \[ticks\].
    pub fn shortest(&self) -> u64 {
        self.tally.grid.max(self.counts.per_second)
    }

    /// Returns whether jobs come in batches in the workload.
    pub fn has_batches(&self) -> bool {
        match self.options.arrivals {
            Arrivals::Batches => true,
            Arrivals::Auto => self.tally.together.is_named || self.together() >= TOGETHER,
            _ => false,
        }
    }

    /// With which others a job came, if they came at one instant: its batch where batches are named, else its user.
    pub fn batch_of(&self, job: &Job) -> u32 {
        if self.tally.together.is_named {
            job.batch
        } else {
            job.user
        }
    }

    /// Returns the share of jobs that came at one instant with others of their user or batch.
    fn together(&self) -> f64 {
        self.tally.together.jobs as f64 / self.tally.arrived() as f64
    }

    /// Returns how many types there are.
    pub fn types(&self) -> usize {
        self.cuts.len()
    }

    /// Returns the type of a job.
    pub fn type_of(&self, job: &Job) -> Option<usize> {
        let by_demand = (*self.types.of_vector.get(job.demand as usize)?)?;
        let class = self.tally.class_of(job);
        let own = |cut: &Cut| cut.by_demand == by_demand && cut.classes.contains(&class);
        self.cuts.iter().position(own)
    }

    /// Returns the workload, and what it stands on.
    ///
    /// # Errors
    /// When it has faults.
    pub fn conclude(&self, tried: Vec<Tried>, again: Option<&Again>) -> Result<Fit, DocumentError> {
        let Counts {
            length, per_second, ..
        } = *self.counts;
        let laws: Vec<Law> = self.cuts.iter().map(|cut| law(self.jobs(cut))).collect();
        let windows = again.map_or(&self.tally.windows, |again| &again.windows);
        let mut dispersion = windows.dispersion(length, per_second);
        // Shorter windows than the clock has say nothing.
        dispersion.retain(|d| d.window * per_second as f64 >= self.shortest() as f64);
        let batched = again.filter(|_| self.has_batches());
        let constant: Vec<ArrivalProcess> = match batched {
            None => self
                .rates()
                .map(|rate| ArrivalProcess::Poisson { rate: short(rate) })
                .collect(),
            Some(again) => self
                .rates()
                .zip(&again.batches)
                .map(|(rate, own)| own.process(rate))
                .collect(),
        };
        let base = self.dispersion_of(&constant, &laws);
        let excess = Excess::of(&dispersion, base);
        let changes = match (self.options.arrivals, batched.is_some()) {
            (Arrivals::Auto, true) => together(&dispersion, base),
            (Arrivals::Auto, false) => apart_or_together(&dispersion),
            (asked, _) => asked,
        };
        let all_promise = self.cuts.iter().all(|cut| self.limit(cut).is_some());
        let mut parts = Parts {
            source: Some(self.options.source.clone()),
            known: all_promise.then_some(Known::TypeLimit),
            ..parts_of(self.trace.servers(), self.parts(&laws, constant))
        };
        match (changes, excess) {
            (Arrivals::Modulated, Some(excess)) => self.modulate(&mut parts, &laws, excess),
            (Arrivals::Common, Some(excess)) => parts.modulation = Some(self.common(&laws, excess)),
            _ => {}
        }
        let workload = parts.check()?;
        let report = self.report(&parts, &laws, tried, (dispersion, excess));
        Ok(Fit { workload, report })
    }

    /// Types that arrive like this.
    fn parts(&self, laws: &[Law], arrivals: Vec<ArrivalProcess>) -> Vec<Part> {
        let pairs = laws.iter().zip(arrivals).zip(&self.cuts);
        let types = pairs.map(|((law, arrivals), cut)| Part {
            name: self.name(cut),
            demand: self.demand(cut).iter().map(|d| short(*d)).collect(),
            arrivals,
            size: size(law, self.counts.per_second as f64),
            limit: self.limit(cut).map(short),
        });
        types.collect()
    }

    /// λ of each type \[1/s\].
    fn rates(&self) -> impl Iterator<Item = f64> {
        self.cuts.iter().map(|cut| self.rate(cut))
    }

    /// Mean work of a job of each type, and of its square \[ticks of all servers\].
    fn work<'b>(&'b self, laws: &'b [Law]) -> impl Iterator<Item = (f64, f64)> + 'b {
        self.cuts.iter().zip(laws).map(|(cut, law)| {
            let share = self.trace.share(self.demand(cut));
            (share * law.mean(), share * share * law.square())
        })
    }

    /// The dispersion of work of independent types that arrive like this, at a constant rate: with B the number of jobs
    /// of a batch and c the correlation of their sizes, `Σ_i λ_i (E[X²] + (E[B²]/E[B] − 1)(E[X]² + c Var X)) / Σ_i λ_i E[X²]`.
    fn dispersion_of(&self, arrivals: &[ArrivalProcess], laws: &[Law]) -> f64 {
        let types = self.rates().zip(self.work(laws)).zip(arrivals);
        let sums = types.fold(
            (0.0, 0.0),
            |(all, alone), ((rate, (mean, square)), process)| {
                let others = process.dispersion() - 1.0;
                let product = mean * mean + process.alike() * (square - mean * mean);
                (
                    all + rate * (square + others * product),
                    alone + rate * square,
                )
            },
        );
        sums.0 / sums.1
    }

    /// Types whose jobs are enough get rates that change, each by itself.
    fn modulate(&self, parts: &mut Parts, laws: &[Law], excess: Excess) {
        let rates: Vec<f64> = self.rates().collect();
        let work: Vec<(f64, f64)> = self.work(laws).collect();
        let follows = |i: usize| laws[i].count >= ENOUGH && excess.rate <= UNSEEN * rates[i];
        let following: Vec<usize> = (0..laws.len()).filter(|i| follows(*i)).collect();
        let types = following.iter().map(|i| Modulated {
            rate: rates[*i],
            work: work[*i],
        });
        let kappa = kappa(&types.collect::<Vec<_>>(), excess);
        for i in following {
            parts.types[i].arrivals = modulated(rates[i], kappa, excess.rate);
        }
    }

    /// One modulation of all types.
    fn common(&self, laws: &[Law], excess: Excess) -> CommonModulation {
        let rate: f64 = self.rates().sum();
        let pairs = self.rates().zip(self.work(laws));
        let sums = pairs.fold((0.0, 0.0), |sums, (rate, work)| {
            (sums.0 + rate * work.0, sums.1 + rate * work.1)
        });
        common(rate, (sums.0 / rate, sums.1 / rate), excess)
    }

    fn demand(&self, cut: &Cut) -> &[f64] {
        &self.types.demands[cut.by_demand]
    }

    /// Returns the jobs of a type, by vector and class.
    fn jobs(&self, cut: &'a Cut) -> impl Iterator<Item = &'a Class> {
        let own = self.vectors(cut);
        let classes = own.flat_map(|counted| &counted.classes);
        classes
            .filter(|(class, _)| cut.classes.contains(class))
            .map(|(_, jobs)| jobs)
    }

    /// Returns the vectors that a type stands for.
    fn vectors(&self, cut: &Cut) -> impl Iterator<Item = &'a Counted> {
        let by_demand = cut.by_demand;
        let pairs = self.tally.vectors.iter().zip(&self.types.of_vector);
        pairs
            .filter(move |(_, own)| **own == Some(by_demand))
            .map(|(counted, _)| counted)
    }

    /// Returns λ of a type \[1/s\].
    fn rate(&self, cut: &Cut) -> f64 {
        self.jobs(cut).map(Class::arrived).sum::<u64>() as f64 / self.counts.seconds()
    }

    /// Returns the longest limit of a type's jobs \[s\], where it is told apart by it.
    fn limit(&self, cut: &Cut) -> Option<f64> {
        let class = cut
            .classes
            .last()
            .filter(|class| self.options.by_limit && **class != NO_LIMIT)?;
        Some(f64::from(*class).exp2() / self.counts.per_second as f64)
    }

    /// Returns a name from what a type demands and promises: `cpu4-memory16-limit4096`; that of a type that is kept.
    fn name(&self, cut: &Cut) -> String {
        let demand = self.demand(cut);
        let mut kept = self.options.since.iter().flatten();
        if let Some((name, _)) = kept.find(|(_, own)| own == demand) {
            return name.clone();
        }
        let pairs = self.trace.servers().resources.iter().zip(demand);
        let demanded = pairs.filter(|(_, demand)| **demand > 0.0);
        let mut words: Vec<String> = demanded
            .map(|(name, demand)| format!("{name}{demand}"))
            .collect();
        words.extend(self.limit(cut).map(|limit| format!("limit{limit}")));
        words.join("-")
    }

    fn found(&self, laws: &[Law], parts: &Parts) -> Vec<TypeFound> {
        let seconds = 1.0 / self.counts.per_second as f64;
        let work = |(cut, law): (&Cut, &Law)| {
            self.rate(cut) * law.mean() * self.trace.share(self.demand(cut))
        };
        let total: f64 = self.cuts.iter().zip(laws).map(work).sum();
        let types = self.cuts.iter().zip(laws).zip(&parts.types);
        let found = types.map(|((cut, law), part)| TypeFound {
            name: part.name.clone(),
            limit: self.limit(cut),
            jobs: law.count,
            mean: law.mean() * seconds,
            scv: law.scv(),
            scv_kept: part.size.scv(),
            longest_hundredth: law.longest_hundredth(),
            work: work((cut, law)) / total,
            law: part.size.law(),
        });
        found.collect()
    }

    fn report(
        &self,
        parts: &Parts,
        laws: &[Law],
        tried: Vec<Tried>,
        (dispersion, excess): (Vec<Dispersion>, Option<Excess>),
    ) -> Report {
        let Made {
            trace,
            tally,
            counts,
            types,
            ..
        } = self;
        let resources = trace.servers().resources.iter().cloned();
        let day = 86_400.0 * counts.per_second as f64;
        let third = |n: f64| tally.course.load(n / 3.0, (n + 1.0) / 3.0, counts.length);
        Report {
            format: trace.format(),
            servers: trace.servers().to_string(),
            lines: trace.account().clone(),
            span: counts.seconds(),
            arrived: tally.arrived(),
            censored: tally.censored(),
            vectors: tally.vectors.len(),
            rounded: trace.demands().rounded(),
            used: resources.zip(counts.used.iter().copied()).collect(),
            fluid_load: counts.fluid(),
            load: types.load.0,
            load_proven: types.load.1,
            load_by_types: tried,
            types: self.found(laws, parts),
            arrivals: arrivals_of(parts),
            excess,
            dispersion,
            together: self.together(),
            thirds: [0.0, 1.0, 2.0].map(third),
            drift: Drift::of(&tally.days, (counts.length as f64 / day) as u64, day),
            of_no_type: self.of_no_type(),
        }
    }

    /// Jobs whose demand no type dominates, and their share of the work.
    fn of_no_type(&self) -> (u64, f64) {
        let work = |v: usize| {
            let vector = &self.counts.vectors[v];
            vector.busy * self.trace.share(&vector.demand)
        };
        let vectors = 0..self.counts.vectors.len();
        let total: f64 = vectors.clone().map(work).sum();
        let without = vectors.filter(|v| self.types.of_vector[*v].is_none());
        let sums = without.map(|v| (self.tally.vectors[v].arrived(), work(v)));
        let (jobs, lost) = sums.fold((0, 0.0), |sums, own| (sums.0 + own.0, sums.1 + own.1));
        (jobs, lost / total)
    }
}

/// Returns whether a rate that is constant but for batches has enough of the dispersion.
fn together(dispersion: &[Dispersion], base: f64) -> Arrivals {
    let most = dispersion.iter().map(|d| d.work).fold(0.0, f64::max);
    if most <= DISPERSED * base {
        Arrivals::Poisson
    } else {
        Arrivals::Common
    }
}

/// Returns what the dispersion of work says of jobs that come one by one.
fn apart_or_together(dispersion: &[Dispersion]) -> Arrivals {
    let most = dispersion.iter().max_by(|a, b| a.work.total_cmp(&b.work));
    match most {
        None => Arrivals::Poisson,
        Some(most) if most.work <= DISPERSED => Arrivals::Poisson,
        Some(most) if most.if_independent - 1.0 >= INDEPENDENT * (most.work - 1.0) => {
            Arrivals::Modulated
        }
        Some(_) => Arrivals::Common,
    }
}

/// How jobs arrive, in words.
fn arrivals_of(parts: &Parts) -> &'static str {
    let is = |process: &str| {
        parts
            .types
            .iter()
            .any(|part| part.arrivals.process() == process)
    };
    match (is("batches"), parts.modulation.is_some()) {
        (true, true) => "in batches, at a rate that changes for all types together",
        (true, false) => "in batches",
        (false, true) => "at a rate that changes for all types together",
        (false, false) if is("markov-modulated") => "at rates that change, of each type by itself",
        (false, false) => "as Poisson processes",
    }
}

/// Returns the law of sizes in a workload that counts seconds: as measured, where there are enough jobs.
fn size(law: &Law, per_second: f64) -> Size {
    let seconds = |ticks: f64| short(ticks / per_second);
    let mean = seconds(law.mean());
    if law.count < ENOUGH {
        return Size::Exponential { mean };
    }
    let values = law.parts(law.count.min(VALUES) as usize);
    if values.first() == values.last() {
        Size::Deterministic { mean }
    } else {
        Size::Empirical {
            values: values.into_iter().map(seconds).collect(),
            probabilities: None,
        }
    }
}
