use crate::view::{Mark, Owner, Uid};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    pub job: Option<Uid>,
    pub concern: Concern,
    pub text: String,
}

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

/// A gate to remove, and the data that is needed for the request.
#[derive(Clone, Debug, PartialEq)]
pub struct Release {
    pub job: Uid,
    pub called: String,
    pub owners: Vec<Owner>,
    pub mark: Mark,
    pub job_type: Option<usize>,
}

#[derive(Debug, Default)]
pub struct Round {
    pub releases: Vec<Release>,
    pub notes: Vec<Note>,
    pub decided: synth_operator::Round,
    pub untyped: usize,
}

impl Round {
    pub(super) fn note(&mut self, job: Option<&Uid>, concern: Concern, text: String) {
        let job = job.cloned();
        self.notes.push(Note { job, concern, text });
    }
}
