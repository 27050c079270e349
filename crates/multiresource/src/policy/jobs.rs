//! Jobs in a system, what is decided of them, and what is counted.

use schemars::JsonSchema;
use std::collections::VecDeque;

use synth_simulation::{FirstMoment, Meter};

/// A job as rules know it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Job {
    /// Arrival number over all types: lower is older.
    pub number: u64,
    /// Arrival time, in the workload's time unit.
    pub arrived: f64,
    /// Where the system keeps it.
    pub slot: u32,
}

/// What a policy decided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    /// This job of this type starts (or resumes).
    Start(usize, Job),
    /// This job of this type is preempted and waits again, in its place in the queue.
    Stop(usize, Job),
}

/// A decision that no server can carry out. It ends the run, whose numbers are not valid.
#[derive(Clone, Debug, thiserror::Error, PartialEq)]
pub enum Violation {
    /// A job was started that does not fit.
    #[error("a job of type {0} was started where it does not fit")]
    Capacity(usize),
    /// A job was stopped where preemption is not allowed.
    #[error("a job of type {0} was preempted where preemption is none")]
    Preemption(usize),
    /// A job was started or stopped that is not there.
    #[error("a job of type {0} was started or stopped, and there is none")]
    NoJob(usize),
    /// More jobs at once than can be numbered.
    #[error("more than {0} jobs are in the system")]
    Crowd(usize),
    /// Time went back.
    #[error("time went back from {0} to {1}")]
    Time(f64, f64),
    /// Jobs in are not jobs out plus jobs inside.
    #[error("{0} jobs came in, {1} went out, {2} are inside")]
    Conservation(u64, u64, u64),
    /// A rule that is defined elsewhere failed.
    #[error("{0}")]
    Failed(String),
    /// The jobs that run are not those whose ends are known.
    #[error("{1} jobs of type {0} run, and the ends of {2} are known")]
    Service(usize, u32, u32),
}

/// A job in the system.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub number: u64,
    pub arrived: f64,
    /// Work left \[time\] while it waits, the time when it ends while it runs; NaN where sizes
    /// are not known.
    pub work: f64,
    /// When it last started; before that when it arrived.
    pub started: f64,
    /// Place in its pool while it runs, or [`WAITING`].
    pub place: u32,
    pub job_type: u32,
}

impl Entry {
    /// A job of type i that waits, and has this much work left.
    pub(super) fn waiting(i: usize, number: u64, arrived: f64, work: f64) -> Self {
        Entry {
            number,
            arrived,
            work,
            started: arrived,
            place: WAITING,
            job_type: i as u32,
        }
    }
}

/// The place of a job that does not run.
pub(super) const WAITING: u32 = u32::MAX;

/// A waiting job: its number, and in the lowest bits its slot. This allows at most 2^24 jobs in the
/// system, and 2^40 in a run.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
pub(super) struct Ticket(u64);

/// The most jobs in the system that tickets can number.
pub(super) const MOST_JOBS: usize = 1 << Ticket::SLOT_BITS;

impl Ticket {
    const SLOT_BITS: u32 = 24;

    #[inline]
    pub(super) fn new(number: u64, slot: u32) -> Self {
        Ticket(number << Self::SLOT_BITS | u64::from(slot))
    }

    #[inline]
    pub(super) fn number(self) -> u64 {
        self.0 >> Self::SLOT_BITS
    }

    #[inline]
    pub(super) fn slot(self) -> u32 {
        self.0 as u32 & (MOST_JOBS as u32 - 1)
    }
}

/// The jobs of one type.
#[derive(Default)]
pub(super) struct Type {
    pub service_rate: f64,
    /// The waiting jobs, in order of arrival.
    pub waiting: VecDeque<Ticket>,
    pub running: u32,
    /// Slots that hold room and serve no job: setups in progress.
    pub held: u32,
    /// Of the number in system.
    pub present: FirstMoment,
    /// Of the number in service.
    pub busy: FirstMoment,
    pub offered: Meter,
}

/// How often things happened.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, JsonSchema,
)]
pub struct Counters {
    /// Jobs that came.
    pub arrivals: u64,
    /// Jobs that left.
    pub completions: u64,
    /// Jobs stopped.
    pub preemptions: u64,
    /// Slots put into setup.
    pub setups: u64,
    /// Departures from a working schedule, as the policy reports them.
    pub switches: u64,
    /// Times that the guard of the policy took over.
    #[serde(default)]
    pub guards: u64,
}

impl Counters {
    /// What happened in both.
    #[must_use]
    pub fn plus(self, more: Self) -> Self {
        Counters {
            arrivals: self.arrivals + more.arrivals,
            completions: self.completions + more.completions,
            preemptions: self.preemptions + more.preemptions,
            setups: self.setups + more.setups,
            switches: self.switches + more.switches,
            guards: self.guards + more.guards,
        }
    }
}

/// A job that has ended.
pub struct Completed {
    /// Its type.
    pub job_type: usize,
    /// The job.
    pub job: Job,
    /// When it last started.
    pub started: f64,
}
