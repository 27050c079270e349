use std::collections::BTreeSet;

use super::measures::BatchResult;
use super::store::{Instance, Waiting};
use crate::policy::{Dispatch, completion, enough_done, last_of, turnaround};
use crate::workload::{Batch, Campaign, Quality};

#[derive(Default)]
pub(super) struct State {
    /// The measured values, except for those that are only known at the end of the campaign.
    pub result: BatchResult,
    pub unsent: BTreeSet<Waiting>,
    pub to_send: u32,
    pub left: u32,
    pub first_sent: Option<f64>,
    /// The time at which a job was last sent for the first time.
    pub last_first: f64,
    pub untouched: u32,
    /// The time since which nothing was sent, if there is something to send.
    waits: Option<f64>,
    pub turnarounds: Vec<(f64, u32)>,
    pub missed: Vec<u32>,
    /// The age at the deadline of each instance that was lost. This is empty for a stream.
    pub lost: Vec<f64>,
    pub outstanding: BTreeSet<u32>,
    /// The `F⁻¹(q)` in `C(B)`, if there is an estimate.
    turnaround: Option<f64>,
    /// The minimum time until the report of a job of mean size \[time\].
    retry: f64,
    /// The number of jobs done since the last estimate.
    pub news: u32,
    pub prior: bool,
    /// The sum and the maximum of all sizes.
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

    pub(super) fn waiting(&self, now: f64) -> f64 {
        self.waits.map_or(0.0, |since| (now - since).max(0.0))
    }

    /// Starts a new wait, as something was sent, or there is now something or nothing to send.
    pub(super) fn restart_wait(&mut self, now: f64) {
        self.result.waited = self.result.waited.max(self.waiting(now));
        self.waits = (self.to_send > 0).then_some(now);
    }

    /// Returns the expected completion time for the decision, or the due time without an estimate.
    ///
    /// With a reserve, an instance gets half of the time until the deadline, so that a lost one can
    /// be sent again, unless the other half is too short for this. Otherwise, as in the proposal,
    /// an instance of a long batch gets the whole bound from the time at which the last job was
    /// first sent, and losses are detected too late.
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

    /// Returns `C(B)`, which changes with each dispatch. Otherwise, all remaining jobs would get
    /// the deadline of the last one.
    fn end(&self, now: f64) -> Option<f64> {
        let rate = self.result.sent as f64 / (now - self.first_sent?);
        completion(now, self.to_send, rate, self.turnaround?)
    }

    /// Estimates the distribution of the turnaround, where `others` is a sorted sample.
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
        let came = self.turnarounds.iter().map(|(took, _)| *took);
        let age = |n: &u32| now - instances[*n as usize].sent;
        let awaited = self.outstanding.iter().map(age);
        let awaited = awaited.chain(self.lost.iter().copied());
        let quantile = rule.quantile.unwrap_or_else(|| last_of(self.left));
        self.turnaround = Some(turnaround(came, awaited, quantile, others));
        let end = self.end(now).map(|end| end - batch.submitted);
        self.result.first_estimate = self.result.first_estimate.or(end);
    }
}
