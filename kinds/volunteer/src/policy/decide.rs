//! Decides which jobs of the array a host gets when it asks for work.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Dispatch, Queued};
use crate::workload::{Processor, is_default};

const TYPES: usize = Processor::ALL.len();

/// A request for work from a host, and the array of jobs in feeder order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The current time \[time\].
    pub now: f64,
    /// The expected time from the end of a job on this host to its report \[time\].
    #[serde(default, skip_serializing_if = "is_default")]
    pub delay: f64,
    /// The state of the host's processors by type: CPU, GPU.
    pub processors: [Host; TYPES],
    /// Versions that it can run, only the best one for each application and processor type.
    pub versions: Vec<Usable>,
    /// Candidate jobs.
    pub jobs: Vec<Candidate>,
}

impl Request {
    /// Checks the ranges of all numbers; an error describes the first fault and its place.
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
            let why = format!("processors[{n}] has times {times:?}, expected 0 to 1e60");
            sound(times.into_iter().all(time), why)?;
            let why = format!(
                "processors[{n}] has {} idle processors, of {}",
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
            let key = |own: &Usable| (own.application, own.processor);
            let mut before = self.versions[..n].iter();
            let why = "a second one for its application and processor: give only the best";
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

/// A host's processors of one type. Times are wall-clock times that include its availability.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// The number of processors.
    pub count: u32,
    /// The amount of processor time that it asks for \[time\], or 0 if it does not want any.
    pub wanted: f64,
    /// The time until all its jobs are done \[time\].
    pub queue: f64,
    /// The time until all of its jobs that have tight deadlines are done, called BT \[time\].
    pub busy: f64,
    /// The number of its jobs that were sent while their batch had no estimate.
    #[serde(default)]
    pub first: u32,
    /// The number of idle processors; each takes one job, regardless of the request.
    #[serde(default)]
    pub idle: u32,
}

impl Host {
    /// Returns whether it takes one more job.
    pub fn has_room(&self) -> bool {
        self.count > 0 && (self.wanted > 0.0 || self.idle > 0)
    }

    /// Returns the wait behind this queue; 0 if a processor is idle.
    pub fn before(&self, queue: f64) -> f64 {
        if self.idle > 0 { 0.0 } else { queue }
    }
}

/// A version that a host can run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Usable {
    /// The index of its application.
    pub application: u32,
    /// Its number.
    pub version: u32,
    /// The processor type.
    pub processor: Processor,
    /// Its wall-clock speed on this host \[work/time\].
    pub speed: f64,
    /// The percentile of host and version, P \[%\].
    pub percentile: f64,
    /// The largest threshold that leaves enough hosts for the application \[%\].
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
    /// C(B), the expected completion of its batch, or its due time unless `afap` \[time\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<f64>,
    /// The time for which its batch had an instance to send but did not send it \[time\].
    #[serde(default)]
    pub waiting: f64,
    /// Whether the host has already had this job.
    #[serde(default)]
    pub had: bool,
}

/// The decision about a job.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The number of the job.
    pub id: u64,
    /// The decision.
    pub verdict: Verdict,
}

/// Whether a job is sent, and why.
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
        why: Sent,
    },
    /// The job is not sent.
    #[serde(rename = "kept")]
    Refused(Refusal),
}

/// Why a job is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sent {
    /// Its batch has no estimate yet, and the host is above the first percentile.
    First,
    /// The host will finish it before the expected completion of the batch.
    InTime,
    /// The host will finish it later, but is above the tight percentile.
    Above,
}

/// Why a job is not sent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Refusal {
    /// The host already had this job.
    Had,
    /// The host can run no version of its application.
    NoVersion,
    /// The host wants no more work for suitable processors.
    NoRoom,
    /// Its batch has no estimate yet, and the host has enough jobs of this kind.
    EnoughFirst,
    /// Its batch has no estimate yet, and the host is not above the first percentile.
    NotFirst {
        /// P \[%\].
        percentile: f64,
        /// The threshold to exceed \[%\].
        threshold: f64,
    },
    /// The host would finish too late, and is not above the tight percentile.
    TooLate {
        /// The earliest time at which it could finish the job \[time\].
        earliest: f64,
        /// The expected completion of the batch \[time\].
        end: f64,
        /// P \[%\].
        percentile: f64,
        /// The threshold to exceed \[%\].
        threshold: f64,
    },
}

/// Decides on one job at a time, and keeps track of the load of the host.
#[derive(Clone, Debug)]
pub struct Decider<'a> {
    /// The rule; `None` sends any job to any host with free capacity, with `end` as the deadline.
    pub rule: Option<&'a Dispatch>,
    /// The current time.
    pub now: f64,
    /// The expected time from the end of a job to its report \[time\].
    pub delay: f64,
    /// The state of the host's processors, including jobs just sent.
    pub processors: [Host; TYPES],
}

impl Decider<'_> {
    /// Decides on a job; the first pass only sends jobs that are decided by a percentile.
    ///
    /// Versions are tried in order of completion time. If none passes, the first one gives the
    /// reason.
    pub fn consider(&mut self, job: &Candidate, versions: &[Usable], is_first: bool) -> Verdict {
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
        let time = |own: &Option<(f64, &Usable)>| own.map_or(f64::INFINITY, |own| own.0);
        own.sort_by(|a, b| time(a).total_cmp(&time(b)));
        let mut reason = None;
        for (earliest, usable) in own.into_iter().flatten() {
            let verdict = self.test(job, usable, earliest);
            match verdict {
                // Decided without a percentile, so left to the second pass.
                Verdict::Sent {
                    why: Sent::InTime, ..
                } if is_first => return Verdict::Refused(Refusal::NoRoom),
                Verdict::Refused(why) => reason = reason.or(Some(why)),
                Verdict::Sent { tight, why, .. } => {
                    self.grow(usable.processor, job.size / usable.speed, tight, why);
                    return verdict;
                }
            }
        }
        Verdict::Refused(reason.unwrap_or(Refusal::NoVersion))
    }

    fn earliest(&self, job: &Candidate, usable: &Usable) -> f64 {
        let host = self.processors[usable.processor as usize];
        // The estimate of the proposal, BT + R, does not take idle processors into account.
        let (literal, before) = (self.is_literal(), host.before(host.queue));
        let before = if literal { host.busy } else { before };
        self.now + before + job.size / usable.speed + self.delay
    }

    fn is_literal(&self) -> bool {
        self.rule.is_some_and(|rule| rule.queued == Queued::Tight)
    }

    fn test(&self, job: &Candidate, usable: &Usable, earliest: f64) -> Verdict {
        let host = self.processors[usable.processor as usize];
        if !host.has_room() {
            return Verdict::Refused(Refusal::NoRoom);
        }
        let percentile = usable.percentile;
        let (why, deadline) = match (self.rule, job.end) {
            (None, end) => (Sent::InTime, end.unwrap_or(earliest)),
            (Some(_), Some(end)) if earliest < end => (Sent::InTime, end),
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
                (Sent::First, earliest)
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
                (Sent::Above, earliest)
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

    fn grow(&mut self, processor: Processor, run: f64, tight: bool, why: Sent) {
        let is_literal = self.is_literal();
        let host = &mut self.processors[processor as usize];
        let share = run / f64::from(host.count);
        host.queue += share;
        host.first += u32::from(why == Sent::First);
        host.wanted -= run;
        host.idle = host.idle.saturating_sub(1);
        if tight || is_literal {
            host.busy += share;
        }
    }
}

/// Decides on each job of a request, in the order of the array.
pub fn decide(rule: &Dispatch, request: &Request) -> Vec<Answer> {
    let mut decider = Decider {
        rule: Some(rule),
        now: request.now,
        delay: request.delay,
        processors: request.processors,
    };
    let mut verdicts = vec![Verdict::Refused(Refusal::NoVersion); request.jobs.len()];
    // A host gets at most one instance of a job.
    let mut sent = HashSet::new();
    for is_first in [true, false] {
        for (job, verdict) in request.jobs.iter().zip(&mut verdicts) {
            if matches!(verdict, Verdict::Sent { .. }) {
                continue;
            }
            let had = job.had || sent.contains(&job.id);
            let candidate = Candidate { had, ..*job };
            *verdict = decider.consider(&candidate, &request.versions, is_first);
            if matches!(verdict, Verdict::Sent { .. }) {
                sent.insert(job.id);
            }
        }
    }
    let answers = request.jobs.iter().zip(verdicts);
    let answer = |(job, verdict): (&Candidate, _)| Answer {
        id: job.id,
        verdict,
    };
    answers.map(answer).collect()
}
