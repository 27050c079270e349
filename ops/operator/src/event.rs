//! What a scheduler reports of its cluster, and what it can ask of a job.

/// A job that a scheduler tells of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Submission<'a> {
    /// Its id.
    pub id: &'a str,
    /// Its type, in the order of the policy's workload.
    pub job_type: usize,
    /// What it takes at most; infinity where that is not known \[time\].
    pub limit: f64,
    /// Who sent it: the [number](synth_core::document::number_of) of a name; 0 where that is not known.
    pub user: u32,
    /// How long it had waited before it was reported \[time\].
    pub waited: f64,
}

impl<'a> Submission<'a> {
    /// Returns a job of which nothing else is known.
    pub fn new(id: &'a str, job_type: usize) -> Self {
        Submission {
            id,
            job_type,
            limit: f64::INFINITY,
            user: 0,
            waited: 0.0,
        }
    }
}

/// What a scheduler tells of its cluster. Jobs are named by their ids, servers are counted shape by shape.
#[derive(Clone, Debug, PartialEq)]
pub enum ClusterEvent<'a> {
    /// A job came.
    Arrive(Submission<'a>),
    /// A job that runs already is found.
    Adopt {
        /// The job.
        job: Submission<'a>,
        /// For how long it has run \[time\].
        ran: f64,
        /// Where it runs: as many servers as it takes of a fleet; none of one server.
        servers: Vec<usize>,
    },
    /// A running job ended.
    Leave(&'a str),
    /// A waiting job was cancelled, or is not to be started.
    Withdraw(&'a str),
    /// A running job waits again.
    PutBack(&'a str),
    /// Others use so much of each resource (R) of this server, or it is out of order, from now on.
    Occupy(usize, Vec<f64>),
    /// The clocks that are due ring.
    Time,
    /// This clock rings, due or not: for hosts that keep clocks of their own.
    Ring(usize),
}

/// Why a job waits.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitReason {
    /// Its type.
    pub job_type: usize,
    /// Jobs that are before it where it waits: older ones of its type, or of all types those before it in the order.
    pub ahead: usize,
    /// Whether the rule has one order of all types.
    pub is_of_all: bool,
    /// Whether it would fit nowhere if no other job ran: others use the room.
    pub is_shut_out: bool,
    /// What the rule does at present.
    pub doing: Option<String>,
}
