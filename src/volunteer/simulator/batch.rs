//! What a server knows of a batch while it runs, and what is measured of it.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::simulation::{Sampler, Stream};
use crate::volunteer::policy::{Completion, Dispatch, Turnarounds, enough_done, last_of};
use crate::volunteer::workload::{Batch, Quality};

/// A job that waits: how often it was tried, its number, and where it is kept.
pub(super) type Waiting = (Reverse<u32>, u64, u32);

/// A batch under way.
pub(super) struct State {
    /// The law of its sizes, and what they are drawn from.
    pub sizes: Sampler,
    pub stream: Stream,
    /// Jobs that have instances to send.
    pub unsent: BTreeSet<Waiting>,
    /// Instances to send.
    pub to_send: u32,
    /// Jobs that are not done.
    pub left: u32,
    /// Jobs that are done, and those of them that were given up.
    pub done: u32,
    pub given_up: u32,
    /// Instances sent, and when the first one was.
    pub sent: u64,
    pub first_sent: f64,
    /// When the last first instance of a job was.
    pub last_first: f64,
    /// Jobs of which none was sent yet.
    pub untouched: u32,
    /// Since when nothing was sent, though there was something to send; infinity where there is nothing.
    pub waits: f64,
    /// The longest such time.
    pub waited: f64,
    /// What results took, by host.
    pub came: Vec<(f64, u32)>,
    /// Hosts that did not return in time.
    pub missed: Vec<u32>,
    /// For how long instances were awaited that never came; none of a stream.
    pub lost: Vec<f64>,
    /// Instances that are out.
    pub out: Vec<u32>,
    /// F⁻¹(q) of C(B), once there is an estimate.
    turnaround: Option<f64>,
    /// Jobs that were done since.
    pub news: u32,
    /// The first C(B).
    pub first_end: Option<f64>,
    /// When its last job was done.
    pub finished: Option<f64>,
    /// Whether its rest is sent with priority.
    pub prior: bool,
    /// Tight dispatches.
    pub tight: u64,
    /// The sum of all sizes, and the greatest.
    pub work: [f64; 2],
    /// Jobs that were done within their bound, or by the deadline of the batch.
    pub within: u64,
}

impl State {
    pub fn new(batch: &Batch, stream: Stream) -> Self {
        State {
            sizes: Sampler::of(&batch.size),
            stream,
            unsent: BTreeSet::new(),
            to_send: 0,
            left: 0,
            done: 0,
            given_up: 0,
            sent: 0,
            first_sent: f64::INFINITY,
            last_first: 0.0,
            untouched: 0,
            waits: f64::INFINITY,
            waited: 0.0,
            came: Vec::new(),
            missed: Vec::new(),
            lost: Vec::new(),
            out: Vec::new(),
            turnaround: None,
            news: 0,
            first_end: None,
            finished: None,
            prior: false,
            tight: 0,
            work: [0.0; 2],
            within: 0,
        }
    }

    /// For how long nothing was sent.
    pub fn waiting(&self, now: f64) -> f64 {
        (now - self.waits).max(0.0)
    }

    /// Something was sent, or there is nothing to send any more.
    pub fn wait_ends(&mut self, now: f64) {
        self.waited = self.waited.max(self.waiting(now));
        self.waits = match self.to_send {
            0 => f64::INFINITY,
            _ => now,
        };
    }

    /// When it is expected to be done, for the decision: at its bound where there is no estimate.
    ///
    /// With a reserve, half of the time until a deadline is left, so that what is lost can be sent once
    /// more. Without one, as the proposal has it, an instance of a long batch has the whole bound from
    /// when the last first instance was sent, and what is lost is known too late.
    pub fn bound(&self, batch: &Batch, now: f64, reserve: bool) -> Option<f64> {
        let due = batch.submitted();
        let end = self.end(now);
        match batch.quality {
            Quality::Afap => end,
            Quality::Throughput(bound) => Some(now + bound),
            Quality::Short(deadline) => {
                let due = due + deadline;
                let due = if reserve {
                    now.midpoint(due).min(due)
                } else {
                    due
                };
                Some(end.map_or(due, |end| end.min(due)))
            }
            Quality::Long(deadline) if reserve && now < due + deadline => {
                Some(now.midpoint(due + deadline))
            }
            Quality::Long(deadline) => {
                let last = if self.untouched > 0 {
                    now
                } else {
                    self.last_first
                };
                let due = last.max(due) + deadline;
                Some(end.map_or(due, |end| end.max(due)))
            }
        }
    }

    /// C(B). What is still to be sent changes with every dispatch, and so does this: with an estimate that
    /// is kept until the next result, all that is left would be sent with the deadline of the last.
    fn end(&self, now: f64) -> Option<f64> {
        let completion = Completion {
            to_send: self.to_send,
            rate: self.sent as f64 / (now - self.first_sent),
            turnaround: self.turnaround?,
        };
        completion.at(now)
    }

    /// Estimates the law of its turnaround anew, from what its results took, and for how long others are awaited.
    /// `others` is a sorted sample of what results of the application took.
    pub fn estimate(
        &mut self,
        rule: &Dispatch,
        jobs: u32,
        now: f64,
        awaited: impl Iterator<Item = f64>,
        others: &[f64],
    ) {
        self.news = 0;
        if !enough_done(self.done, jobs) {
            return;
        }
        let came = self.came.iter().map(|(took, _)| *took);
        let law = Turnarounds::new(came, awaited);
        let quantile = rule.quantile.unwrap_or_else(|| last_of(self.left));
        self.turnaround = Some(law.quantile(quantile, others));
        self.first_end = self.first_end.or(self.end(now));
    }
}
