//! What a round of the desk reports, and what it returns.

use crate::view::{Mark, Owner, Uid};
use synth_operator::{ClusterEvent, HostMoment, Submission};

/// What the scheduler knows of a job: it waits or has room, as of this type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Waiting(usize),
    Running(usize),
}

/// Something that a person should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    pub job: Option<Uid>,
    pub concern: Concern,
    pub text: String,
}

/// What a note is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Concern {
    NoType,
    OtherGates,
    ReleasedByOthers,
    Evicted,
    Elsewhere,
    Capacity,
    Policy,
}

/// A gate to remove: all that the request needs.
#[derive(Clone, Debug, PartialEq)]
pub struct Release {
    pub job: Uid,
    pub called: String,
    pub owners: Vec<Owner>,
    pub mark: Mark,
    /// Its type; none where it has none.
    pub job_type: Option<usize>,
}

/// What a round has found and decided.
#[derive(Debug, Default)]
pub struct Round {
    /// When it is.
    pub(super) at: HostMoment,
    /// What the scheduler has to know.
    pub(super) changes: Vec<Change>,
    pub releases: Vec<Release>,
    pub notes: Vec<Note>,
    /// Events that the scheduler got.
    pub events: usize,
    /// Jobs without a type that wait.
    pub untyped: usize,
    /// Time that it took \[s\].
    pub seconds: f64,
}

impl Round {
    /// Notes something, of a job or of all.
    pub(super) fn note(&mut self, job: Option<&Uid>, concern: Concern, text: String) {
        let job = job.cloned();
        self.notes.push(Note { job, concern, text });
    }
}

/// A change, before it is reported.
#[derive(Debug)]
pub(super) enum Change {
    Withdraw(Uid),
    PutBack(Uid),
    Leave(Uid),
    /// Its id and what else is known of it; how long it has run, and on which servers.
    Adopt(Uid, Submission<'static>, f64, Vec<usize>),
    Occupy(usize, Vec<f64>),
    Arrive(Uid, Submission<'static>),
}

impl Change {
    /// Returns its place in the order in which changes are reported: first the jobs that are not to be started, and what takes
    /// capacity before what leaves it, so that nothing starts where no capacity will be.
    pub(super) fn turn(&self) -> u8 {
        match self {
            Change::Withdraw(_) => 0,
            Change::Adopt(..) => 1,
            Change::Occupy(..) => 2,
            Change::PutBack(_) | Change::Leave(_) => 3,
            Change::Arrive(..) => 4,
        }
    }

    /// Returns it as the scheduler is told of it.
    pub(super) fn event(&self) -> ClusterEvent<'_> {
        match self {
            Change::Withdraw(id) => ClusterEvent::Withdraw(id),
            Change::PutBack(id) => ClusterEvent::PutBack(id),
            Change::Leave(id) => ClusterEvent::Leave(id),
            Change::Occupy(n, amounts) => ClusterEvent::Occupy(*n, amounts.clone()),
            Change::Arrive(id, job) => ClusterEvent::Arrive(Submission { id, ..*job }),
            Change::Adopt(id, job, ran, servers) => ClusterEvent::Adopt {
                job: Submission { id, ..*job },
                ran: *ran,
                servers: servers.clone(),
            },
        }
    }
}
