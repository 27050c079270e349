//! What a round has found on a cluster, in the order in which it is reported.

use synth_operator::protocol::Line;
use synth_slurm::commands::{JobId, Key};

/// What a round has found.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// What the scheduler has to know, each with its place in the order in which it is reported.
    pub lines: Vec<(Order, Line)>,
    /// Jobs without a type that are to be let go.
    pub pass: Vec<JobId>,
    /// Jobs that an operator has to hold first.
    pub hold: Vec<JobId>,
    /// Jobs whose first process runs now.
    pub began: Vec<String>,
    /// Released long ago, and Slurm does not start them: with its reason.
    pub stuck: Vec<(JobId, String)>,
    /// The same since ten minutes: they are to be held again.
    pub give_up: Vec<JobId>,
    /// What a person should know.
    pub notes: Vec<String>,
}

/// The order in which a round is reported: what is not to be started first, so that no end of another job starts it; of
/// arrivals by when they could have started, and by key.
pub(super) type Order = (u8, i64, Option<Key>);
pub(super) const WITHDRAWN: u8 = 0;
pub(super) const ENDED: u8 = 1;
pub(super) const ADOPTED: u8 = 2;
pub(super) const OCCUPIED: u8 = 3;
pub(super) const CAME: u8 = 4;

impl Changes {
    pub fn push(&mut self, order: Order, tell: impl FnOnce(&mut Line)) {
        let mut line = Line::default();
        tell(&mut line);
        self.lines.push((order, line));
    }

    pub fn leaves(&mut self, id: String) {
        self.push((ENDED, 0, None), |line| line.leave = Some(id));
    }

    pub fn withdraws(&mut self, id: String) {
        self.push((WITHDRAWN, 0, None), |line| line.withdraw = Some(id));
    }
}
