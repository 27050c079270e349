//! What a round of the desk returns.

use crate::view::{Mark, Owner, Uid};

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
    pub releases: Vec<Release>,
    pub notes: Vec<Note>,
    /// What the scheduler was told, and decided.
    pub decided: synth_operator::Round,
    /// Jobs without a type that wait.
    pub untyped: usize,
}

impl Round {
    /// Notes something, of a job or of all.
    pub(super) fn note(&mut self, job: Option<&Uid>, concern: Concern, text: String) {
        let job = job.cloned();
        self.notes.push(Note { job, concern, text });
    }
}
