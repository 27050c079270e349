use schemars::JsonSchema;
use std::collections::VecDeque;

use synth_simulation::{FirstMoment, Meter};

/// The information about a job that is available to a rule.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Job {
    /// The number of the job in the order of arrival, over all types.
    pub number: u64,
    /// The time of arrival, in the time unit of the workload.
    pub arrived: f64,
    /// The index in the system.
    pub slot: u32,
}

/// A decision of a policy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    /// Starts or resumes this job of this type.
    Start(usize, Job),
    /// Preempts this job of this type and returns it to its place in the queue.
    Stop(usize, Job),
}

/// A decision that no server can carry out. It ends the run, whose results are not valid.
#[derive(Clone, Debug, thiserror::Error, PartialEq)]
pub enum Violation {
    /// A job was started where it does not fit.
    #[error("a job of type {0} was started but does not fit")]
    Capacity(usize),
    /// A job was stopped without permission to preempt.
    #[error("a job of type {0} was preempted but preemption is not allowed")]
    Preemption(usize),
    /// The job to start or stop does not exist.
    #[error("a job of type {0} was to be started or stopped, but there is no such job")]
    NoJob(usize),
    /// Too many jobs to be numbered are in the system.
    #[error("more than {0} jobs are in the system")]
    TooManyJobs(usize),
    /// Time went backwards.
    #[error("time went backwards from {0} to {1}")]
    Time(f64, f64),
    /// The number of arrivals is not the number of departures plus the number of jobs.
    #[error("{0} jobs arrived and {1} left, but {2} are in the system")]
    Conservation(u64, u64, u64),
    /// A rule that is defined outside of this crate failed.
    #[error("{0}")]
    Failed(String),
    /// The number of running jobs is not the number of jobs for which the end is known.
    #[error("{1} jobs of type {0} run, but the ends of {2} are known")]
    Service(usize, u32, u32),
}

#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub number: u64,
    pub arrived: f64,
    /// The remaining work of a waiting job, or the end of a running job \[time\]; NaN if unknown.
    pub work: f64,
    /// The time of the last start, or of the arrival before the first start.
    pub started: f64,
    pub place: u32,
    pub job_type: u32,
}

impl Entry {
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

pub(super) const WAITING: u32 = u32::MAX;

/// The number and the slot of a waiting job: up to 2^24 jobs in the system and 2^40 in a run.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
pub(super) struct Ticket(u64);

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

#[derive(Default)]
pub(super) struct Type {
    pub service_rate: f64,
    pub waiting: VecDeque<Ticket>,
    pub running: u32,
    pub held: u32,
    pub present: FirstMoment,
    pub busy: FirstMoment,
    pub offered: Meter,
}

/// Event counts.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, JsonSchema,
)]
pub struct Counters {
    /// Arrivals.
    pub arrivals: u64,
    /// Completions.
    pub completions: u64,
    /// Preemptions.
    pub preemptions: u64,
    /// Setups.
    pub setups: u64,
    /// The number of times that a working schedule was left, as reported by the policy.
    pub switches: u64,
    /// Number of times that the guard of the policy took over.
    #[serde(default)]
    pub guards: u64,
}

impl Counters {
    /// Returns the sum of the two counts.
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

/// A completed job.
pub struct Completed {
    /// Its type.
    pub job_type: usize,
    /// The job.
    pub job: Job,
    /// The time at which the job was last started.
    pub started: f64,
}
