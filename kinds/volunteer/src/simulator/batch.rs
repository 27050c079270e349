//! What a server knows of a batch while it runs, and what is measured of it.

use std::collections::BTreeSet;

use super::measures::BatchResult;
use super::store::{Instance, Waiting};
use crate::policy::{Dispatch, completion, enough_done, last_of, turnaround};
use crate::workload::{Batch, Campaign, Quality};

/// A batch under way.
#[derive(Default)]
pub(super) struct State {
    /// What is measured of it; the numbers of the end of the campaign are missing.
    pub result: BatchResult,
    /// Jobs that have instances to send.
    pub unsent: BTreeSet<Waiting>,
    /// Instances to send.
    pub to_send: u32,
    /// Jobs that are not done.
    pub left: u32,
    /// When the first instance was sent.
    pub first_sent: Option<f64>,
    /// When the last first instance of a job was.
    pub last_first: f64,
    /// Jobs of which none was sent yet.
    pub untouched: u32,
    /// Since when nothing was sent, though there was something to send; none where there is nothing.
    waits: Option<f64>,
    /// What results took, by host.
    pub came: Vec<(f64, u32)>,
    /// Hosts that did not return in time.
    pub missed: Vec<u32>,
    /// For how long instances were awaited that never came; none of a stream.
    pub lost: Vec<f64>,
    /// Instances that are out.
    pub out: BTreeSet<u32>,
    /// F⁻¹(q) of C(B), once there is an estimate.
    turnaround: Option<f64>,
    /// The least time from sending a job of the mean size to its report \[time\].
    retry: f64,
    /// Jobs that were done since.
    pub news: u32,
    /// Whether its rest is sent with priority.
    pub prior: bool,
    /// The sum of all sizes, and the greatest.
    pub work: [f64; 2],
}

impl State {
    pub(super) fn new(campaign: &Campaign, batch: &Batch) -> Self {
        let [_, parts @ ..] = campaign.least_time(batch, batch.size.mean());
        State {
            retry: parts.iter().sum(),
            result: BatchResult {
                quality: batch.quality,
                limit: batch.limit,
                jobs: batch.jobs,
                ..BatchResult::default()
            },
            ..State::default()
        }
    }

    /// Returns for how long nothing was sent.
    pub(super) fn waiting(&self, now: f64) -> f64 {
        self.waits.map_or(0.0, |since| (now - since).max(0.0))
    }

    /// Begins a new wait: something was sent, or what there is to send has changed to something or to nothing.
    pub(super) fn wait_anew(&mut self, now: f64) {
        self.result.waited = self.result.waited.max(self.waiting(now));
        self.waits = (self.to_send > 0).then_some(now);
    }

    /// Returns when it is expected to be done, for the decision: at its bound where there is no estimate.
    ///
    /// With a reserve, an instance has half of the time until a deadline, so that a lost one can be sent again, unless
    /// the other half is too short for that. Without one, as the proposal has it, an instance of a long batch has the
    /// whole bound from when the last first instance was sent, and losses are noticed too late.
    pub(super) fn bound(&self, batch: &Batch, now: f64, reserve: bool) -> Option<f64> {
        let end = self.end(now);
        let due = batch.due(now);
        match batch.quality {
            Quality::Afap => end,
            Quality::Throughput => Some(due),
            Quality::Short | Quality::Long if reserve && now < due => {
                let half = now.midpoint(due);
                Some(if half + self.retry <= due { half } else { due })
            }
            Quality::Short => Some(end.map_or(due, |end| end.min(due))),
            Quality::Long => {
                let is_begun = self.untouched == 0;
                let last = if is_begun { self.last_first } else { now };
                let due = last.max(batch.submitted) + batch.limit;
                Some(end.map_or(due, |end| end.max(due)))
            }
        }
    }

    /// Returns C(B). What is still to be sent changes with every dispatch, and so does this: with an estimate that stays until
    /// the next result, all that is left would be sent with the deadline of the last.
    fn end(&self, now: f64) -> Option<f64> {
        let rate = self.result.sent as f64 / (now - self.first_sent?);
        completion(now, self.to_send, rate, self.turnaround?)
    }

    /// Estimates the law of its turnaround from what its results took, and for how long others are awaited.
    /// `others` is a sorted sample of what results of the application took.
    pub(super) fn estimate(
        &mut self,
        rule: &Dispatch,
        batch: &Batch,
        now: f64,
        instances: &[Instance],
        others: &[f64],
    ) {
        self.news = 0;
        if !enough_done(self.result.done, batch.jobs.unwrap_or(0)) {
            return;
        }
        let came = self.came.iter().map(|(took, _)| *took);
        let awaited = self.out.iter().map(|n| now - instances[*n as usize].sent);
        let awaited = awaited.chain(self.lost.iter().copied());
        let quantile = rule.quantile.unwrap_or_else(|| last_of(self.left));
        self.turnaround = Some(turnaround(came, awaited, quantile, others));
        let end = self.end(now).map(|end| end - batch.submitted);
        self.result.first_estimate = self.result.first_estimate.or(end);
    }
}
