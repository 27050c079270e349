//! Values that have names on the command line.

use clap::ValueEnum;

use crate::multiresource::artifact;
use crate::number::Decimal;
use crate::number::quantity::explained;

/// A start latency, as typed.
pub fn start_latency(text: &str) -> Result<Decimal, String> {
    match Decimal::parse(text) {
        Ok(latency) if latency >= Decimal::ZERO => Ok(latency),
        Ok(latency) => Err(format!(
            "the start latency is {latency}, expected a number ≥ 0"
        )),
        Err(why) => {
            let help = explained(text, None).unwrap_or_else(|| why.help());
            Err(format!("{why}; {help}"))
        }
    }
}

/// The family, as typed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Family {
    /// A clock moves between the working schedules of the program: exact analysis, proved stable
    Msr,
    /// The types in turn, or the largest first until others starve; tuned by simulation
    Quickswap,
    /// Working schedules left and chosen by queue lengths; tuned by simulation
    AdaptiveMsr,
    /// First-Fit with a reservation that opens when it is worth the drain; tuned by simulation
    Reserving,
    /// What is worth most, with the price of the drain; tuned by simulation
    Tdc,
    /// The schedule of most weight, with --preemption full or setup; weights tuned by simulation
    MaxWeight,
    /// Slots for each type on the servers of a fleet: exact analysis, proved stable
    Partition,
    /// Over a fleet: First-Fit and its kin, EASY, and rules that keep room for short jobs; by simulation
    Pooled,
    /// The best of these, and of First-Fit, most and least servers first and EASY by mean sizes; with
    /// --preemption full, of msr, max-weight and ServerFilling; with setup, of all that do not preempt, msr and
    /// max-weight
    Auto,
}

/// Where the jobs of a fleet wait, as typed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Queue {
    /// In one place; a rule says which starts on which server
    Global,
    /// At servers, to which they are sent when they arrive
    Servers,
}

/// Preemption, as typed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Preemption {
    /// Jobs run to their end
    None,
    /// Jobs are preempted at no cost
    Full,
    /// Jobs are preempted, and their room is held for an exponential setup time
    Setup,
}

impl From<artifact::Preemption> for Preemption {
    fn from(made: artifact::Preemption) -> Self {
        match made {
            artifact::Preemption::None => Preemption::None,
            artifact::Preemption::Full => Preemption::Full,
            artifact::Preemption::Setup => Preemption::Setup,
        }
    }
}

impl From<artifact::Backfill> for Backfill {
    fn from(made: artifact::Backfill) -> Self {
        match made {
            artifact::Backfill::None => Backfill::None,
            artifact::Backfill::FirstFit => Backfill::FirstFit,
        }
    }
}

impl From<artifact::EmptySlots> for EmptySlots {
    fn from(made: artifact::EmptySlots) -> Self {
        match made {
            artifact::EmptySlots::Phantom => EmptySlots::Phantom,
            artifact::EmptySlots::Release => EmptySlots::Release,
        }
    }
}

impl From<Preemption> for artifact::Preemption {
    fn from(typed: Preemption) -> Self {
        match typed {
            Preemption::None => artifact::Preemption::None,
            Preemption::Full => artifact::Preemption::Full,
            Preemption::Setup => artifact::Preemption::Setup,
        }
    }
}

/// The objective, as typed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Objective {
    /// The mean response time over all jobs
    Mean,
    /// The types' mean response times, weighted by their shares of the dominant load
    Weighted,
    /// The 99th percentile of the response times of all jobs; by simulation
    P99,
}

impl From<Objective> for artifact::Objective {
    fn from(typed: Objective) -> Self {
        match typed {
            Objective::Mean => artifact::Objective::Mean,
            Objective::Weighted => artifact::Objective::Weighted,
            Objective::P99 => artifact::Objective::P99,
        }
    }
}

/// What the mix of schedules is best for, as typed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Balance {
    /// The least load: the largest ρ of a type as small as can be
    Load,
    /// The largest s such that each type's 1/ρ - 1 is at least s times its weight (of itself 1)
    Headroom,
    /// The least sum of weight/(1 - ρ) over the types (of itself the offered load)
    TotalResponse,
    /// The least weight/(1 - ρ) of the worst type (of itself the mean size)
    WorstResponse,
}

impl Balance {
    /// The aim that it names, if it is not the load.
    pub fn aim(self) -> Option<artifact::Balance> {
        match self {
            Balance::Load => None,
            Balance::Headroom => Some(artifact::Balance::Headroom),
            Balance::TotalResponse => Some(artifact::Balance::TotalResponse),
            Balance::WorstResponse => Some(artifact::Balance::WorstResponse),
        }
    }
}

/// A type's weight, as typed: what stands behind the last `=`.
pub fn weight(text: &str) -> Result<(String, f64), String> {
    let parts = text.rsplit_once('=');
    let parsed = parts.and_then(|(name, weight)| Some((name.into(), weight.parse().ok()?)));
    let (name, weight) =
        parsed.ok_or_else(|| format!("`{text}`: expected NAME=NUMBER, as in `type-1=2`"))?;
    // Outside of this range the objective has no correct digits in doubles. Weights that are not
    // positive are refused later, with the type's name.
    match weight > 0.0 && !(1e-6..=1e6).contains(&weight) {
        true => Err(format!("`{text}`: give a weight from 1e-6 to 1e6")),
        false => Ok((name, weight)),
    }
}

/// Backfilling, as typed.
#[derive(Clone, Copy, ValueEnum)]
pub enum Backfill {
    /// It stays empty
    None,
    /// It is offered to waiting jobs in arrival order
    FirstFit,
}

/// Empty slots, as typed.
#[derive(Clone, Copy, ValueEnum)]
pub enum EmptySlots {
    /// They keep their clock, as in the exact analysis
    Phantom,
    /// They are freed at once
    Release,
}

impl From<Backfill> for artifact::Backfill {
    fn from(typed: Backfill) -> Self {
        match typed {
            Backfill::None => artifact::Backfill::None,
            Backfill::FirstFit => artifact::Backfill::FirstFit,
        }
    }
}

impl From<EmptySlots> for artifact::EmptySlots {
    fn from(typed: EmptySlots) -> Self {
        match typed {
            EmptySlots::Phantom => artifact::EmptySlots::Phantom,
            EmptySlots::Release => artifact::EmptySlots::Release,
        }
    }
}

/// Routing, as typed.
#[derive(Clone, Copy, ValueEnum)]
pub enum Routing {
    /// At random, by the policy's fractions
    Probabilistic,
    /// To the server with the fewest jobs of the type for what it serves of it
    LeastLoaded,
}

impl From<Routing> for artifact::Routing {
    fn from(typed: Routing) -> Self {
        match typed {
            Routing::Probabilistic => artifact::Routing::Probabilistic,
            Routing::LeastLoaded => artifact::Routing::LeastLoaded,
        }
    }
}
