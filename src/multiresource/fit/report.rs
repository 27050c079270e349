//! What a fit stands on.

use serde::Serialize;

use super::{Dispersion, Drift, Excess, Tried};
use crate::multiresource::workload::Described;
use crate::trace::{Account, Format};

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
    /// Squared coefficient of variation of the times between arrivals.
    pub gaps_scv: f64,
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
    /// Vectors that it stands for.
    pub vectors: usize,
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
    /// The share of jobs that still ran after the longest time that was seen.
    pub open: f64,
    /// The share of the work of all jobs.
    pub work: f64,
    /// The law of sizes in the workload.
    pub law: &'static str,
}
