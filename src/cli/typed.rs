//! What has a name of its own on the command line.

use clap::ValueEnum;
use synth::artifact;

/// The family, as typed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Family {
    /// A clock moves between the working schedules of the program: exact analysis, proved stable
    Msr,
    /// The types in turn, or the largest first until others wait in vain; tuned by simulation
    Quickswap,
    /// Working schedules left and chosen by queue lengths; tuned by simulation
    AdaptiveMsr,
    /// The optimum of a dynamic program as a table: small systems of two types
    Optimal,
    /// The best of msr, quickswap and adaptive-msr
    Auto,
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
#[derive(Clone, Copy, ValueEnum)]
pub enum Objective {
    /// The mean response time over all jobs
    Mean,
    /// The types' mean response times, weighted by their shares of the dominant load
    Weighted,
}

impl From<Objective> for artifact::Objective {
    fn from(typed: Objective) -> Self {
        match typed {
            Objective::Mean => artifact::Objective::Mean,
            Objective::Weighted => artifact::Objective::Weighted,
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
