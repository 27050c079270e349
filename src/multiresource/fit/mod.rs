//! A workload from a trace: types of jobs, laws of their sizes, and how they arrive.
//!
//! # Theory
//! Of the jobs with demand v let N_v be the number, S_v the total size, and T the time between the first submission and
//! the last: they arrive at rate N_v/T, and `ρ̄ = max_r Σ_v S_v v_r/(T P_r)` is the load if nothing were lost by
//! packing. Demands are merged into few types, each of which demands no less than its jobs do (`merge`); the number of
//! types is the least with a load near ρ̄ (`types`). Sizes are taken as they were measured (`sizes`). Arrivals
//! are Poisson unless the *work* of jobs, not their number, is more uneven than that (`dispersion`).
//!
//! # Practice
//! [`fit`] reads a trace once. What it found stands in a [`Fit`]: the workload, and what it stands on.

mod arrivals;
mod course;
mod dispersion;
mod merge;
mod sizes;
mod tally;
mod types;

pub use course::Rhythm;
pub use dispersion::{Dispersion, Excess};
pub use types::{NoTypes, Tried, cheapest};

use serde::Serialize;

use crate::document::DocumentError;
use crate::law::{ArrivalProcess, Size};
use crate::multiresource::workload::{Described, Part, Parts};
use crate::number::Decimal;
use crate::trace::{Account, Format, Trace, TraceError};
use arrivals::{Modulated, kappa, modulated};
use merge::Vector;
use sizes::{Law, Sizes};
use tally::Tally;
use types::{Search, Types, parts_of};

/// What is asked of a fit.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where the figures come from, for the workload.
    pub source: String,
    /// The most types.
    pub max_types: usize,
    /// How much higher the load may be than without merging and packing, relatively.
    pub rounding_loss: f64,
    /// How jobs arrive.
    pub arrivals: Arrivals,
}

/// How jobs arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrivals {
    /// As the dispersion of their work says.
    Auto,
    /// As Poisson processes.
    Poisson,
    /// At rates that change.
    Modulated,
}

/// Why there is no fit.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// The trace cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The program of the types has no answer.
    #[error(transparent)]
    Types(#[from] NoTypes),
    /// What was found makes no workload.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// The trace has no rates.
    #[error("{jobs} jobs all came at one instant: a rate needs jobs at two times at least")]
    OneInstant {
        /// How many there are.
        jobs: u64,
    },
    /// The trace has no arrivals.
    #[error("no job arrived: all were there before the start")]
    NoArrivals,
    /// An end was wanted.
    #[error("interrupted before the trace was read")]
    Interrupted,
}

/// A workload, and what it stands on.
#[derive(Clone, Debug)]
pub struct Fit {
    /// The workload.
    pub workload: Described,
    /// What it stands on.
    pub report: Report,
}

/// What a fit stands on.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The format of the trace.
    pub format: Format,
    /// What its jobs ran on, as it was told or found.
    pub servers: String,
    /// What was done with its lines.
    pub lines: Account,
    /// Time from the first submission to the last \[s\].
    pub span: f64,
    /// Jobs that arrived.
    pub arrived: u64,
    /// Distinct vectors of demands.
    pub vectors: usize,
    /// Lines whose demand was rounded up to three digits.
    pub rounded: u64,
    /// The share of each resource that jobs held on average (R).
    pub used: Vec<(String, f64)>,
    /// ρ̄, the largest of these.
    pub fluid_load: f64,
    /// ρ of the workload.
    pub load: f64,
    /// Whether it is proven.
    pub load_proven: bool,
    /// Loads by the number of types.
    pub load_by_types: Vec<Tried>,
    /// The types.
    pub types: Vec<TypeFound>,
    /// How jobs arrive in the workload.
    pub arrivals: &'static str,
    /// The modulation that the dispersion of work tells of, whether it was used or not.
    pub excess: Option<Excess>,
    /// Dispersions by the length of windows.
    pub dispersion: Vec<Dispersion>,
    /// Squared coefficient of variation of the times between arrivals.
    pub gaps_scv: f64,
    /// The share of jobs that came at one instant with others of their user or batch.
    pub together: f64,
    /// Loads by hour and day, relative to the mean.
    pub rhythm: Option<Rhythm>,
    /// Loads of the three thirds of the span.
    pub thirds: [f64; 3],
}

/// A type that was found.
#[derive(Clone, Debug, Serialize)]
pub struct TypeFound {
    /// Its name.
    pub name: String,
    /// Vectors that it stands for.
    pub vectors: usize,
    /// Its jobs.
    pub jobs: u64,
    /// Mean size \[s\].
    pub mean: f64,
    /// Squared coefficient of variation of their sizes.
    pub scv: f64,
    /// The same in the workload.
    pub scv_kept: f64,
    /// The share of their work that the longest 1 % are.
    pub longest_hundredth: f64,
    /// The share of jobs that still ran after the longest time that was seen.
    pub open: f64,
    /// The share of the work of all jobs.
    pub work: f64,
    /// The law of sizes in the workload.
    pub law: &'static str,
}

/// From this many jobs on a type has a law of sizes of its own, and may be modulated.
const ENOUGH: u64 = 30;
/// The most values of a measured law.
const VALUES: u64 = 1000;
/// With no more dispersion of work than this, arrivals are taken as Poisson.
const DISPERSED: f64 = 2.0;
/// A type whose jobs are this much rarer than changes of the rate does not see them.
const UNSEEN: f64 = 5e3;

/// Fits a workload to a trace that has just been opened. `tell` hears what is done, and says whether to go on.
///
/// # Errors
/// When the trace cannot be read, has no rates, or what was found makes no workload.
pub fn fit(
    trace: &mut Trace,
    options: &Options,
    tell: &mut dyn FnMut(&str) -> bool,
) -> Result<Fit, FitError> {
    let mut goes_on = true;
    let tally = Tally::of(trace, |read| {
        goes_on = tell(&format!("reading: {read} jobs so far"));
        goes_on
    })?;
    if !goes_on {
        return Err(FitError::Interrupted);
    }
    let Some((first, last)) = tally.span else {
        return Err(FitError::NoArrivals);
    };
    if first == last {
        return Err(FitError::OneInstant {
            jobs: tally.arrived(),
        });
    }
    let counted = Counts::of(trace, &tally, last.abs_diff(first));
    let search = Search::new(
        trace.servers(),
        &counted.vectors,
        &counted.rates,
        &counted.used,
        options.max_types,
    );
    let (types, tried) = search.types(options.max_types, options.rounding_loss, |count| {
        tell(&format!("solving the program of {count} types"));
    })?;
    let found = Found {
        trace,
        tally: &tally,
        counts: &counted,
        types: &types,
    };
    found.conclude(options, tried)
}

/// What was counted, per second.
struct Counts {
    /// Ticks in the span, and in a second.
    length: u64,
    per_second: u64,
    /// By vector: demand, and mean number in service.
    vectors: Vec<Vector>,
    /// By vector \[1/s\].
    rates: Vec<f64>,
    /// ρ̄_r (R).
    used: Vec<f64>,
}

impl Counts {
    fn of(trace: &Trace, tally: &Tally, length: u64) -> Self {
        let per_second = trace.tick().per_second();
        let seconds = length as f64 / per_second as f64;
        let demands = trace.demands().vectors().iter().zip(&tally.vectors);
        let vectors: Vec<Vector> = demands
            .map(|(demand, counted)| {
                let busy = match counted.arrived() {
                    0 => 0.0,
                    n => n as f64 * Law::of(&[&counted.whole], &[&counted.censored]).mean(),
                };
                Vector {
                    demand: demand.to_vec(),
                    busy: busy / length as f64,
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
            rates: tally
                .vectors
                .iter()
                .map(|v| v.arrived() as f64 / seconds)
                .collect(),
        }
    }

    fn fluid(&self) -> f64 {
        self.used.iter().copied().fold(0.0, f64::max)
    }
}

/// All that a workload is made of.
struct Found<'a> {
    trace: &'a Trace,
    tally: &'a Tally,
    counts: &'a Counts,
    types: &'a Types,
}

impl Found<'_> {
    fn conclude(&self, options: &Options, tried: Vec<Tried>) -> Result<Fit, FitError> {
        let Counts {
            length, per_second, ..
        } = *self.counts;
        let laws: Vec<Law> = (0..self.types.demands.len()).map(|i| self.law(i)).collect();
        let dispersion = self.tally.windows.dispersion(length, per_second);
        let most = dispersion.iter().map(|d| d.work).fold(0.0, f64::max);
        let excess = Excess::of(&dispersion);
        let used = match options.arrivals {
            Arrivals::Poisson => None,
            Arrivals::Auto if most <= DISPERSED => None,
            Arrivals::Auto | Arrivals::Modulated => excess,
        };
        let processes = self.processes(&laws, used);
        let pairs = laws.iter().zip(&processes).enumerate();
        let types = pairs.map(|(i, (law, process))| Part {
            name: self.name(i),
            demand: self.types.demands[i].iter().map(|d| short(*d)).collect(),
            arrivals: process.clone(),
            size: size(law, per_second as f64),
        });
        let parts = Parts {
            source: Some(options.source.clone()),
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

    /// The law of sizes of type i \[ticks\].
    fn law(&self, i: usize) -> Law {
        let counted: Vec<_> = self.members(i).map(|v| &self.tally.vectors[v]).collect();
        let whole: Vec<&Sizes> = counted.iter().map(|counted| &counted.whole).collect();
        let censored: Vec<&Sizes> = counted.iter().map(|counted| &counted.censored).collect();
        Law::of(&whole, &censored)
    }

    /// The vectors that type i stands for.
    fn members(&self, i: usize) -> impl Iterator<Item = usize> {
        let of_vector = self.types.of_vector.iter().enumerate();
        of_vector
            .filter(move |(_, own)| **own == Some(i))
            .map(|(v, _)| v)
    }

    /// λ of type i \[1/s\].
    fn rate(&self, i: usize) -> f64 {
        self.members(i).map(|v| self.counts.rates[v]).sum()
    }

    /// How jobs of each type arrive, with this modulation or none.
    fn processes(&self, laws: &[Law], excess: Option<Excess>) -> Vec<ArrivalProcess> {
        let rates: Vec<f64> = (0..laws.len()).map(|i| self.rate(i)).collect();
        let follows =
            |i: usize, excess: Excess| laws[i].count >= ENOUGH && excess.rate <= UNSEEN * rates[i];
        let kappa = excess.map(|excess| {
            let following = (0..laws.len()).filter(|i| follows(*i, excess)).map(|i| {
                let share = self.trace.share(&self.types.demands[i]);
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

    /// A name from what the type demands: `cpu4-memory16`.
    fn name(&self, i: usize) -> String {
        let pairs = self
            .trace
            .servers()
            .resources
            .iter()
            .zip(&self.types.demands[i]);
        let demanded = pairs.filter(|(_, demand)| **demand > 0.0);
        let words: Vec<String> = demanded
            .map(|(name, demand)| format!("{name}{demand}"))
            .collect();
        words.join("-")
    }

    fn found(&self, laws: &[Law], parts: &Parts) -> Vec<TypeFound> {
        let seconds = 1.0 / self.counts.per_second as f64;
        let work = |i: usize| {
            let law = &laws[i];
            self.rate(i) * law.mean() * self.trace.share(&self.types.demands[i])
        };
        let total: f64 = (0..laws.len()).map(work).sum();
        let types = laws.iter().zip(&parts.types).enumerate();
        let found = types.map(|(i, (law, part))| TypeFound {
            name: part.name.clone(),
            vectors: self.members(i).count(),
            jobs: law.count,
            mean: law.mean() * seconds,
            scv: law.scv(),
            scv_kept: part.size.scv(),
            longest_hundredth: law.longest_hundredth(),
            open: law.open,
            work: work(i) / total,
            law: part.size.law(),
        });
        found.collect()
    }

    fn report(&self) -> Report {
        let Found {
            trace,
            tally,
            counts,
            types,
        } = self;
        let arrived = tally.arrived();
        let gaps = (arrived - 1) as f64;
        let mean_gap = tally.gaps.0 / gaps;
        let (first, last) = tally.span.unwrap_or_default();
        let second = |tick: i64| tick.div_euclid(counts.per_second as i64);
        let third = |n: f64| tally.course.load(n / 3.0, (n + 1.0) / 3.0, counts.length);
        let resources = trace.servers().resources.iter().cloned();
        Report {
            format: trace.format(),
            servers: trace.servers().to_string(),
            lines: trace.account().clone(),
            span: counts.length as f64 / counts.per_second as f64,
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
            thirds: [third(0.0), third(1.0), third(2.0)],
        }
    }
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

/// Nine digits of a number: more are none that a trace knows.
fn short(value: f64) -> Decimal {
    let rounded = format!("{value:.8e}").parse().unwrap_or(value);
    Decimal::new(rounded).unwrap_or(Decimal::ZERO)
}
