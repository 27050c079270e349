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
//! [`fit`] reads a trace once, or twice. What it found stands in a [`Fit`]: the workload, and what it stands on.

mod again;
mod arrivals;
mod course;
mod dispersion;
mod limits;
mod made;
mod merge;
mod sizes;
mod tally;
mod types;

pub use course::Drift;
pub use dispersion::{Dispersion, Excess};
pub use types::Tried;

use std::error::Error;

use clap::ValueEnum;
use serde::Serialize;

use crate::multiresource::workload::Described;
use crate::number::Decimal;
use crate::trace::{Account, Format, Trace, TraceError};
use again::Again;
use made::{Counts, Made};
use tally::Tally;
use types::Search;

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
    /// Whether types are told apart by the limits that jobs promise.
    pub by_limit: bool,
    /// Types that are kept (each a name and R demands), for a policy that has them.
    pub since: Option<Vec<(String, Vec<f64>)>>,
}

/// How jobs arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Arrivals {
    /// As the dispersion of their work says
    Auto,
    /// As Poisson processes
    Poisson,
    /// At rates that change between two states, of each type by itself
    Modulated,
    /// At rates that change for all types together
    Common,
    /// In batches: jobs of one user, or of one batch where they are named, that come at one instant
    Batches,
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
    /// Those of them that still ran at the end, of whose sizes a part is known.
    pub censored: u64,
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
    /// The share of jobs that came at one instant with others of their user or batch.
    pub together: f64,
    /// Loads of the three thirds of the span.
    pub thirds: [f64; 3],
    /// The load of the last week beside that of the weeks before.
    pub drift: Option<Drift>,
    /// Jobs whose demand no type has, where types were kept, and their share of the work.
    pub of_no_type: (u64, f64),
}

/// A type that was found.
#[derive(Clone, Debug, Serialize)]
pub struct TypeFound {
    /// Its name.
    pub name: String,
    /// The longest limit of its jobs \[s\], where types are told apart by them and they have any.
    pub limit: Option<f64>,
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
    /// The share of the work of all jobs.
    pub work: f64,
    /// The law of sizes in the workload.
    pub law: &'static str,
}

const INTERRUPTED: &str = "interrupted before the trace was read";

/// Fits a workload to a trace, which `open` opens; twice, where jobs come in batches or the clock is coarse. `tell` hears
/// what is done, and says whether to go on.
///
/// # Errors
/// When the trace cannot be read, has no rates, or what was found makes no workload.
pub fn fit(
    open: &dyn Fn() -> Result<Trace, TraceError>,
    options: &Options,
    tell: &mut dyn FnMut(&str) -> bool,
) -> Result<Fit, Box<dyn Error>> {
    let trace = &mut open()?;
    let mut goes_on = true;
    let tally = Tally::of(trace, options.by_limit, |read| {
        goes_on = tell(&format!("reading: {read} jobs so far"));
        goes_on
    })?;
    if !goes_on {
        return Err(INTERRUPTED.into());
    }
    let Some((first, last)) = tally.span else {
        return Err("no job arrived: all were there before the start".into());
    };
    if first == last {
        return Err(format!(
            "{} jobs all came at one instant: a rate needs jobs at two times at least",
            tally.arrived()
        )
        .into());
    }
    let counts = Counts::of(trace, &tally, last.abs_diff(first));
    let search = Search::new(trace.servers(), &counts, options.max_types);
    let (types, tried) = match &options.since {
        Some(kept) => {
            let demands: Vec<Vec<f64>> = kept.iter().map(|(_, demand)| demand.clone()).collect();
            let types = search.given(&demands)?.ok_or(
                "no job fits into a type of the policy: fit the trace anew, without --since",
            )?;
            (types, Vec::new())
        }
        None => search.types(options.max_types, options.rounding_loss, |count| {
            tell(&format!("solving the program of {count} types"));
        })?,
    };
    let made = Made::new(trace, &tally, &counts, types, options);
    let again = if made.is_read_again() {
        let again = Again::of(&mut open()?, &made, |read| {
            goes_on = tell(&format!("reading again: {read} jobs so far"));
            goes_on
        })?;
        Some(again)
    } else {
        None
    };
    if goes_on {
        Ok(made.conclude(tried, again.as_ref())?)
    } else {
        Err(INTERRUPTED.into())
    }
}

/// Nine digits of a number: more are none that a trace knows.
fn short(value: f64) -> Decimal {
    let rounded = format!("{value:.8e}").parse().unwrap_or(value);
    Decimal::new(rounded).unwrap_or(Decimal::ZERO)
}

#[cfg(test)]
mod tests;
