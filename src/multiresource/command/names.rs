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
    /// The optimum of a dynamic program as a table: small systems of two types, of four with full preemption
    Optimal,
    /// Slots for each type on the servers of a fleet: exact analysis, proved stable
    Partition,
    /// Over a fleet: First-Fit and its kin, EASY, and rules that keep room for short jobs; by simulation
    Pooled,
    /// The best of these but optimal, and of First-Fit, most and least servers first and EASY by mean sizes; with
    /// --preemption full, of msr, max-weight, optimal where it is small, ServerFilling and DivisorFilling; with setup,
    /// of all that do not preempt, msr, max-weight and optimal
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
