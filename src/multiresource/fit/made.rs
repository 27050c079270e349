//! The workload of what was counted.

use super::arrivals::{Modulated, kappa, modulated};
use super::course::Course;
use super::limits::{self, Cut};
use super::merge::Vector;
use super::sizes::{Law, Sizes, Weighing};
use super::tally::{Class, Counted, NO_LIMIT, Tally};
use super::types::{Types, parts_of};
use super::{Arrivals, Drift, Excess, Fit, FitError, Options, Report, Tried, TypeFound, short};
use crate::law::{ArrivalProcess, Size};
use crate::multiresource::workload::{Part, Parts};
use crate::trace::Trace;

/// From this many jobs on a type has a law of sizes of its own, and may be modulated.
const ENOUGH: u64 = 30;
/// The most values of a measured law.
const VALUES: u64 = 1000;
/// With no more dispersion of work than this, arrivals are taken as Poisson.
const DISPERSED: f64 = 2.0;
/// A type whose jobs are this much rarer than changes of the rate does not see them.
const UNSEEN: f64 = 5e3;

/// What was counted, per second.
pub struct Counts {
    /// Ticks in the span, and in a second.
    length: u64,
    per_second: u64,
    /// The weight of the span \[s\].
    weight: f64,
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
        let weight = tally.weighted_length();
        let demands = trace.demands().vectors().iter().zip(&tally.vectors);
        let vectors: Vec<Vector> = demands
            .map(|(demand, counted)| {
                let classes = || counted.classes.values();
                let mean = match counted.arrived() {
                    0 => 0.0,
                    _ => law(classes(), Weighing::Weights).mean() / per_second as f64,
                };
                let rate = classes().map(Class::weight).sum::<f64>() / weight;
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
        let rate = |v: &Counted| v.classes.values().map(Class::weight).sum::<f64>() / weight;
        Counts {
            length,
            per_second,
            weight,
            used: used.collect(),
            vectors,
            rates: tally.vectors.iter().map(rate).collect(),
        }
    }

    /// ρ̄ = max_r ρ̄_r.
    pub fn fluid(&self) -> f64 {
        self.used.iter().copied().fold(0.0, f64::max)
    }

    /// The span \[s\].
    pub fn seconds(&self) -> f64 {
        self.length as f64 / self.per_second as f64
    }
}

/// The law of sizes of these jobs \[ticks\].
fn law<'a>(classes: impl Iterator<Item = &'a Class>, by: Weighing) -> Law {
    let classes: Vec<&Class> = classes.collect();
    let whole: Vec<&Sizes> = classes.iter().map(|class| &class.whole).collect();
    let censored: Vec<&Sizes> = classes.iter().map(|class| &class.censored).collect();
    Law::of(&whole, &censored, by)
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

    /// The workload, and what it stands on.
    ///
    /// # Errors
    /// When it has faults.
    pub fn conclude(&self, tried: Vec<Tried>) -> Result<Fit, FitError> {
        let Counts {
            length, per_second, ..
        } = *self.counts;
        let laws: Vec<Law> = self.cuts.iter().map(|cut| self.law(cut)).collect();
        let dispersion = self.tally.windows.dispersion(length, per_second);
        let most = dispersion.iter().map(|d| d.work).fold(0.0, f64::max);
        let excess = Excess::of(&dispersion);
        let used = match self.options.arrivals {
            Arrivals::Poisson => None,
            Arrivals::Auto if most <= DISPERSED => None,
            Arrivals::Auto | Arrivals::Modulated => excess,
        };
        let processes = self.processes(&laws, used);
        let pairs = laws.iter().zip(&processes).zip(&self.cuts);
        let types = pairs.map(|((law, process), cut)| Part {
            name: self.name(cut),
            demand: self.demand(cut).iter().map(|d| short(*d)).collect(),
            arrivals: process.clone(),
            size: size(law, per_second as f64),
        });
        let parts = Parts {
            source: Some(self.options.source.clone()),
            ..parts_of(self.trace.servers(), types.collect())
        };
        let workload = parts.check()?;
        let report = Report {
            arrivals: if used.is_some() {
                "modulated"
            } else {
                "poisson"
            },
            dispersion,
            excess,
            load_by_types: tried,
            types: self.found(&laws, &parts),
            ..self.report()
        };
        Ok(Fit { workload, report })
    }

    fn demand(&self, cut: &Cut) -> &[f64] {
        &self.types.demands[cut.by_demand]
    }

    /// The jobs of a type, by vector and class.
    fn jobs(&self, cut: &'a Cut) -> impl Iterator<Item = &'a Class> {
        let own = self.vectors(cut);
        let classes = own.flat_map(|counted| &counted.classes);
        classes
            .filter(|(class, _)| cut.classes.contains(class))
            .map(|(_, jobs)| jobs)
    }

    /// The vectors that a type stands for.
    fn vectors(&self, cut: &Cut) -> impl Iterator<Item = &'a Counted> {
        let by_demand = cut.by_demand;
        let pairs = self.tally.vectors.iter().zip(&self.types.of_vector);
        pairs
            .filter(move |(_, own)| **own == Some(by_demand))
            .map(|(counted, _)| counted)
    }

    /// The law of sizes of a type \[ticks\]; of all its jobs alike where too few are recent.
    fn law(&self, cut: &Cut) -> Law {
        let recent = law(self.jobs(cut), Weighing::Weights);
        match recent.effective < ENOUGH as f64 {
            true => law(self.jobs(cut), Weighing::Jobs),
            false => recent,
        }
    }

    /// λ of a type \[1/s\].
    fn rate(&self, cut: &Cut) -> f64 {
        self.jobs(cut).map(Class::weight).sum::<f64>() / self.counts.weight
    }

    /// How jobs of each type arrive, with this modulation or none.
    fn processes(&self, laws: &[Law], excess: Option<Excess>) -> Vec<ArrivalProcess> {
        let rates: Vec<f64> = self.cuts.iter().map(|cut| self.rate(cut)).collect();
        let follows =
            |i: usize, excess: Excess| laws[i].count >= ENOUGH && excess.rate <= UNSEEN * rates[i];
        let kappa = excess.map(|excess| {
            let following = (0..laws.len()).filter(|i| follows(*i, excess)).map(|i| {
                let share = self.trace.share(self.demand(&self.cuts[i]));
                let work = (share * laws[i].mean(), share * share * laws[i].square());
                Modulated {
                    rate: rates[i],
                    work,
                }
            });
            (excess, kappa(&following.collect::<Vec<_>>(), excess))
        });
        let process = |i: usize| match kappa {
            Some((excess, kappa)) if follows(i, excess) => modulated(rates[i], kappa, excess.rate),
            _ => ArrivalProcess::Poisson {
                rate: short(rates[i]),
            },
        };
        (0..laws.len()).map(process).collect()
    }

    /// The longest limit of a type's jobs \[s\], where it is told apart by it.
    fn limit(&self, cut: &Cut) -> Option<f64> {
        let class = cut
            .classes
            .last()
            .filter(|class| self.options.by_limit && **class != NO_LIMIT)?;
        Some(f64::from(*class).exp2() / self.counts.per_second as f64)
    }

    /// A name from what a type demands and promises: `cpu4-memory16-limit4096`; that of a type that is kept.
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
            vectors: self.vectors(cut).count(),
            limit: self.limit(cut),
            jobs: law.count,
            mean: law.mean() * seconds,
            scv: law.scv(),
            scv_kept: part.size.scv(),
            longest_hundredth: law.longest_hundredth(),
            open: law.open,
            work: work((cut, law)) / total,
            law: part.size.law(),
        });
        found.collect()
    }

    /// What is known without the workload.
    fn report(&self) -> Report {
        let Made {
            trace,
            tally,
            counts,
            types,
            ..
        } = self;
        let arrived = tally.arrived();
        let gaps = (arrived - 1) as f64;
        let mean_gap = tally.gaps.0 / gaps;
        let (first, last) = tally.span.unwrap_or_default();
        let second = |tick: i64| tick.div_euclid(counts.per_second as i64);
        let resources = trace.servers().resources.iter().cloned();
        let day = 86_400.0 * counts.per_second as f64;
        Report {
            format: trace.format(),
            servers: trace.servers().to_string(),
            lines: trace.account().clone(),
            span: counts.seconds(),
            arrived,
            vectors: tally.vectors.len(),
            rounded: trace.demands().rounded(),
            used: resources.zip(counts.used.iter().copied()).collect(),
            fluid_load: counts.fluid(),
            load: types.load.0,
            load_proven: types.load.1,
            load_by_types: Vec::new(),
            types: Vec::new(),
            arrivals: "",
            excess: None,
            dispersion: Vec::new(),
            gaps_scv: tally.gaps.1 / gaps / (mean_gap * mean_gap) - 1.0,
            together: tally.together.jobs as f64 / arrived as f64,
            rhythm: tally.calendar.rhythm(second(first), second(last)),
            thirds: thirds(&tally.course, counts.length),
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

fn thirds(course: &Course, length: u64) -> [f64; 3] {
    [0.0, 1.0, 2.0].map(|n| course.load(n / 3.0, (n + 1.0) / 3.0, length))
}

/// The law of sizes in a workload that counts seconds: as measured, where there are enough jobs.
fn size(law: &Law, per_second: f64) -> Size {
    let seconds = |ticks: f64| short(ticks / per_second);
    let mean = seconds(law.mean());
    if law.count < ENOUGH {
        return Size::Exponential { mean };
    }
    let values = law.parts(law.count.min(VALUES) as usize);
    match values.first() == values.last() {
        true => Size::Deterministic { mean },
        false => Size::Empirical {
            values: values.into_iter().map(seconds).collect(),
            probabilities: None,
        },
    }
}
