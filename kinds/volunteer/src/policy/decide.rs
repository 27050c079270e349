//! Selects the jobs of the array that are sent to a host when it sends a request.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Dispatch, WorkAhead};
use crate::workload::Processor;

const TYPES: usize = Processor::ALL.len();

/// A request for work from a host, and the array of jobs in feeder order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The current time \[time\].
    pub now: f64,
    /// The expected time from the end of a job on this host to its report \[time\].
    #[serde(default, skip_serializing_if = "is_zero")]
    pub delay: f64,
    /// The state of the host's processors by type: CPU, GPU.
    pub processors: [Host; TYPES],
    /// Versions that it can run, only the best one for each application and processor type.
    pub versions: Vec<UsableVersion>,
    /// Candidate jobs.
    pub jobs: Vec<Candidate>,
}

fn is_zero(delay: &f64) -> bool {
    *delay == 0.0
}

impl Request {
    /// Checks the range of each number. The error describes the first one that is not valid.
    pub fn check(&self) -> Result<(), String> {
        // Sums and quotients of these do not overflow.
        let time = |x: f64| (0.0..=1e60).contains(&x);
        let positive = |x: f64| (1e-60..=1e60).contains(&x);
        let sound = |is: bool, why: String| if is { Ok(()) } else { Err(why) };
        for (key, own) in [("now", self.now), ("delay", self.delay)] {
            sound(time(own), format!("{key} is {own}, expected a time ≥ 0"))?;
        }
        for (n, own) in self.processors.iter().enumerate() {
            let times = [own.wanted, own.queue, own.busy];
            let why =
                format!("processors[{n}] has the times {times:?}, expected numbers from 0 to 1e60");
            sound(times.into_iter().all(time), why)?;
            let why = format!(
                "processors[{n}] has {} idle processors, but there are only {}",
                own.idle, own.count
            );
            sound(own.idle <= own.count, why)?;
        }
        for (n, own) in self.versions.iter().enumerate() {
            let why = format!(
                "versions[{n}] has speed {}, percentile {} and ceiling {}, expected > 0, 0 to 100, and -1 (none) to 100",
                own.speed, own.percentile, own.ceiling
            );
            let is_percentile = (0.0..=100.0).contains(&own.percentile);
            let is_fine = is_percentile && (-1.0..=100.0).contains(&own.ceiling);
            sound(positive(own.speed) && is_fine, why)?;
            let key = |own: &UsableVersion| (own.application, own.processor);
            let mut before = self.versions[..n].iter();
            let why = "a second version for its application and processor: give only the best";
            let is_new = before.all(|other| key(other) != key(own));
            sound(is_new, format!("versions[{n}] is {why}"))?;
        }
        for (n, job) in self.jobs.iter().enumerate() {
            let fine = positive(job.size) && time(job.waiting) && job.end.is_none_or(time);
            let why = "is out of range, expected a size > 0 and times ≥ 0";
            sound(fine, format!("jobs[{n}] {why}"))?;
        }
        Ok(())
    }
}

/// The processors of a host of one type. All times include the time for which the host is off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// The number of processors.
    pub count: u32,
    /// The amount of processor time that it asks for \[time\], or 0 if it does not want any.
    pub wanted: f64,
    /// The time until all of its jobs are done \[time\].
    pub queue: f64,
    /// The time until all of its jobs with a tight deadline are done, which is called BT \[time\].
    pub busy: f64,
    /// The number of its jobs that were sent before there was an estimate for their batch.
    #[serde(default)]
    pub first: u32,
    /// The number of idle processors. Each of them can take one job, even if no work was requested.
    #[serde(default)]
    pub idle: u32,
}

impl Host {
    pub(crate) fn wants_work(&self) -> bool {
        self.count > 0 && (self.wanted > 0.0 || self.idle > 0)
    }

    /// Returns the waiting time behind this queue, or 0 if a processor is idle.
    fn before(&self, queue: f64) -> f64 {
        if self.idle > 0 { 0.0 } else { queue }
    }
}

/// A version that a host can run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UsableVersion {
    /// The index of its application.
    pub application: u32,
    /// Its number.
    pub version: u32,
    /// The processor type.
    pub processor: Processor,
    /// The speed of this host with this version, including the time when it is off \[work/time\].
    pub speed: f64,
    /// The percentile `P` of this host and version \[%\].
    pub percentile: f64,
    /// The largest threshold for which there are enough hosts for the application \[%\].
    pub ceiling: f64,
}

/// A candidate job of the array.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Candidate {
    /// Its number.
    pub id: u64,
    /// The index of its application.
    pub application: u32,
    /// The expected size \[work\].
    pub size: f64,
    /// The expected completion time of its batch, `C(B)` \[time\]. Before there is an estimate,
    /// this is the due time, or absent if the quality is `afap`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<f64>,
    /// The time for which its batch had an instance to send but did not send it \[time\].
    #[serde(default)]
    pub waiting: f64,
    /// Whether the host has already had this job.
    #[serde(default)]
    pub had: bool,
}

/// The decision for a job.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The number of the job.
    pub id: u64,
    /// The decision.
    pub verdict: Verdict,
}

/// Whether the job is sent, and the reason for this.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The job is sent.
    Sent {
        /// The version to run.
        version: u32,
        /// The deadline for the result \[time\].
        deadline: f64,
        /// Whether the host has to stop other jobs for it.
        tight: bool,
        /// The test by which the job was sent.
        why: DispatchReason,
    },
    /// The job is not sent.
    #[serde(rename = "kept")]
    Refused(Refusal),
}

/// The reason why a job is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DispatchReason {
    /// There is no estimate for its batch yet, and the host is above the first percentile.
    First,
    /// The host will complete it before the expected completion time of the batch.
    InTime,
    /// The host will not complete it by then, but the host is above the tight percentile.
    Above,
}

/// The reason why a job is not sent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Refusal {
    /// This host has already been sent this job.
    Had,
    /// The host cannot run any version of the application.
    NoVersion,
    /// The host does not want any more work for the processors that could run it.
    NoRoom,
    /// There is no estimate for its batch yet, and the host already has enough jobs of this kind.
    EnoughFirst,
    /// There is no estimate for its batch yet, and the host is not above the first percentile.
    NotFirst {
        /// The percentile `P` \[%\].
        percentile: f64,
        /// The percentile must be greater than this threshold \[%\].
        threshold: f64,
    },
    /// The host would not complete it in time, and the host is not above the tight percentile.
    TooLate {
        /// The earliest time at which it could finish the job \[time\].
        earliest: f64,
        /// The expected completion time of the batch \[time\].
        end: f64,
        /// The percentile `P` \[%\].
        percentile: f64,
        /// The percentile must be greater than this threshold \[%\].
        threshold: f64,
    },
}

/// Decides on one job at a time, and keeps track of the load of the host.
#[derive(Clone, Debug)]
pub(crate) struct Decider<'a> {
    /// The rule, or `None` to send any job that the host can take, with the deadline `end`.
    pub rule: Option<&'a Dispatch>,
    pub now: f64,
    pub delay: f64,
    /// The state of the processors, including the jobs that have just been sent.
    pub processors: [Host; TYPES],
}

impl Decider<'_> {
    /// Returns the decision for a job. The first pass only sends a job if a percentile was used.
    ///
    /// The first version that passes its test, in the order of the completion times, is used.
    /// Otherwise, the reason of the first one is returned.
    pub(crate) fn consider(
        &mut self,
        job: &Candidate,
        versions: &[UsableVersion],
        is_first: bool,
    ) -> Verdict {
        if job.had {
            return Verdict::Refused(Refusal::Had);
        }
        let mut own = [None; TYPES];
        for usable in versions {
            let host = &self.processors[usable.processor as usize];
            if usable.application == job.application && host.count > 0 {
                own[usable.processor as usize] = Some((self.earliest(job, usable), usable));
            }
        }
        let time = |own: &Option<(f64, &UsableVersion)>| own.map_or(f64::INFINITY, |own| own.0);
        own.sort_by(|a, b| time(a).total_cmp(&time(b)));
        let mut reason = None;
        for (earliest, usable) in own.into_iter().flatten() {
            let verdict = self.test(job, usable, earliest);
            match verdict {
                // No percentile was needed, so the job must wait for the second pass.
                Verdict::Sent {
                    why: DispatchReason::InTime,
                    ..
                } if is_first => return Verdict::Refused(Refusal::NoRoom),
                Verdict::Refused(why) => reason = reason.or(Some(why)),
                Verdict::Sent { tight, why, .. } => {
                    self.add_load(usable.processor, job.size / usable.speed, tight, why);
                    return verdict;
                }
            }
        }
        Verdict::Refused(reason.unwrap_or(Refusal::NoVersion))
    }

    fn earliest(&self, job: &Candidate, usable: &UsableVersion) -> f64 {
        let host = self.processors[usable.processor as usize];
        // In the proposal, the estimate is BT + R, which does not depend on the idle processors.
        let (literal, before) = (self.is_literal(), host.before(host.queue));
        let before = if literal { host.busy } else { before };
        self.now + before + job.size / usable.speed + self.delay
    }

    fn is_literal(&self) -> bool {
        matches!(self.rule, Some(rule) if rule.queued == WorkAhead::Tight)
    }

    fn test(&self, job: &Candidate, usable: &UsableVersion, earliest: f64) -> Verdict {
        let host = self.processors[usable.processor as usize];
        if !host.wants_work() {
            return Verdict::Refused(Refusal::NoRoom);
        }
        let percentile = usable.percentile;
        let (why, deadline) = match (self.rule, job.end) {
            (None, end) => (DispatchReason::InTime, end.unwrap_or(earliest)),
            (Some(_), Some(end)) if earliest < end => (DispatchReason::InTime, end),
            (Some(rule), None) => {
                let first = rule.first_percentile;
                let threshold = rule.threshold(first, usable.ceiling, job.waiting);
                if percentile <= threshold {
                    return Verdict::Refused(Refusal::NotFirst {
                        percentile,
                        threshold,
                    });
                }
                let most = rule.first_each.map(|each| each.saturating_mul(host.count));
                if most.is_some_and(|most| host.first >= most) {
                    return Verdict::Refused(Refusal::EnoughFirst);
                }
                (DispatchReason::First, earliest)
            }
            (Some(rule), Some(end)) => {
                let tight = rule.tight_percentile;
                let threshold = rule.threshold(tight, usable.ceiling, job.waiting);
                if percentile <= threshold {
                    return Verdict::Refused(Refusal::TooLate {
                        earliest,
                        end,
                        percentile,
                        threshold,
                    });
                }
                (DispatchReason::Above, earliest)
            }
        };
        let run = job.size / usable.speed + self.delay;
        Verdict::Sent {
            version: usable.version,
            deadline,
            tight: deadline < self.now + host.before(host.queue) + run,
            why,
        }
    }

    fn add_load(&mut self, processor: Processor, run: f64, tight: bool, why: DispatchReason) {
        let is_literal = self.is_literal();
        let host = &mut self.processors[processor as usize];
        let share = run / f64::from(host.count);
        host.queue += share;
        host.first += u32::from(why == DispatchReason::First);
        host.wanted -= run;
        host.idle = host.idle.saturating_sub(1);
        // In the proposal, it grows with each job of a request.
        if tight || is_literal {
            host.busy += share;
        }
    }
}

/// Returns the decision for each job of a request, in the order of the array.
pub fn decide(rule: &Dispatch, request: &Request) -> Vec<Answer> {
    let mut decider = Decider {
        rule: Some(rule),
        now: request.now,
        delay: request.delay,
        processors: request.processors,
    };
    let unseen = |job: &Candidate| Answer {
        id: job.id,
        verdict: Verdict::Refused(Refusal::NoVersion),
    };
    let mut answers: Vec<Answer> = request.jobs.iter().map(unseen).collect();
    let mut sent = HashSet::new();
    for is_first in [true, false] {
        for (job, answer) in request.jobs.iter().zip(&mut answers) {
            if matches!(answer.verdict, Verdict::Sent { .. }) {
                continue;
            }
            let had = job.had || sent.contains(&job.id);
            let candidate = Candidate { had, ..*job };
            answer.verdict = decider.consider(&candidate, &request.versions, is_first);
            if matches!(answer.verdict, Verdict::Sent { .. }) {
                sent.insert(job.id);
            }
        }
    }
    answers
}
