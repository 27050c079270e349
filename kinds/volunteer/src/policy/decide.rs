//! Decides which jobs of the array a host gets when it asks for work.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Dispatch, Queued};
use crate::workload::{Processor, is_default};

/// Types of processors.
const TYPES: usize = Processor::ALL.len();

/// A host that asks for work, and the array, in the order of the feeder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The time \[time\].
    pub now: f64,
    /// The expected time from the end of a job on this host to its report \[time\].
    #[serde(default, skip_serializing_if = "is_default")]
    pub delay: f64,
    /// What the host has of each type: CPU, GPU.
    pub processors: [Host; TYPES],
    /// Versions that it can run: of an application and a type the best one only.
    pub versions: Vec<Usable>,
    /// The jobs.
    pub jobs: Vec<Candidate>,
}

impl Request {
    /// Checks its numbers.
    ///
    /// # Errors
    /// The first fault, with its place.
    pub fn check(&self) -> Result<(), String> {
        // Of which sums and quotients are numbers.
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
            let why = format!("processors[{n}] has {} idle, of {}", own.idle, own.count);
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
            let why = "a second one of its application for this processor: give the best";
            let is_new = before.all(|other| key(other) != key(own));
            sound(is_new, format!("versions[{n}] is {why}"))?;
        }
        for (n, job) in self.jobs.iter().enumerate() {
            let fine = positive(job.size) && time(job.waiting) && job.end.is_none_or(time);
            let why = "has a size that is not > 0, or a time that is not ≥ 0";
            sound(fine, format!("jobs[{n}] {why}"))?;
        }
        Ok(())
    }
}

/// What a host has of one type of processor. Times are by the clock: the host's availability is in
/// them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// How many.
    pub count: u32,
    /// Time of one of them that it asks for \[time\]; 0 if it wants none.
    pub wanted: f64,
    /// How long until all that it has is done \[time\].
    pub queue: f64,
    /// How long until all that it has with tight deadlines is done (BT) \[time\].
    pub busy: f64,
    /// Jobs that it has that were sent while their batch had no estimate.
    #[serde(default)]
    pub first: u32,
    /// How many of them have no job: each takes one, whatever is asked for.
    #[serde(default)]
    pub idle: u32,
}

impl Host {
    /// Returns whether it takes one more job.
    pub fn has_room(&self) -> bool {
        self.count > 0 && (self.wanted > 0.0 || self.idle > 0)
    }

    /// Returns how long a job waits behind this queue: a processor that has no job begins at once.
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
    /// What it runs on.
    pub processor: Processor,
    /// Work that it does on this host a unit of time, by the clock \[work/time\].
    pub speed: f64,
    /// P of the host and the version \[%\].
    pub percentile: f64,
    /// The greatest threshold that leaves enough hosts for the application \[%\].
    pub ceiling: f64,
}

/// A job of the array.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Candidate {
    /// Its number.
    pub id: u64,
    /// The index of its application.
    pub application: u32,
    /// What it is expected to take \[work\].
    pub size: f64,
    /// C(B): when its batch is expected to be done; what is not `afap` has its bound until there is an
    /// estimate \[time\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<f64>,
    /// For how long nothing of its batch was sent, though it had jobs to send \[time\].
    #[serde(default)]
    pub waiting: f64,
    /// Whether the host has had the job before.
    #[serde(default)]
    pub had: bool,
}

/// The answer on a job.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The job.
    pub id: u64,
    /// Whether it is sent.
    pub verdict: Verdict,
}

/// Whether a job is sent, and why.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It is sent.
    Sent {
        /// With this version.
        version: u32,
        /// To be returned by then \[time\].
        deadline: f64,
        /// Whether the host has to stop other jobs for it.
        tight: bool,
        /// By which of the three tests.
        why: Sent,
    },
    /// It is not.
    #[serde(rename = "kept")]
    Refused(Refusal),
}

/// Why a job is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sent {
    /// Its batch has no estimate yet, and the host is above the first percentile.
    First,
    /// The host will have done it before the batch is expected to end.
    InTime,
    /// It will not, and the host is above the tight percentile.
    Above,
}

/// Why a job is not sent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Refusal {
    /// The host has had it before.
    Had,
    /// The host can run no version of its application.
    NoVersion,
    /// The host wants no more work for the processors that could run it.
    NoRoom,
    /// Its batch has no estimate yet, and the host has enough of such jobs.
    EnoughFirst,
    /// Its batch has no estimate yet, and the host is not above the first percentile.
    NotFirst {
        /// P \[%\].
        percentile: f64,
        /// What it would have to be above \[%\].
        threshold: f64,
    },
    /// The host would be too late, and is not above the tight percentile.
    TooLate {
        /// When it could have done it \[time\].
        earliest: f64,
        /// When its batch is expected to end \[time\].
        end: f64,
        /// P \[%\].
        percentile: f64,
        /// What it would have to be above \[%\].
        threshold: f64,
    },
}

/// Answers a request, a job at a time: what the host has grows with each job that it is sent.
#[derive(Clone, Debug)]
pub struct Decider<'a> {
    /// The rule. Without one any host with room is sent any job, with the job's `end` as the deadline.
    pub rule: Option<&'a Dispatch>,
    /// The time.
    pub now: f64,
    /// The expected time from the end of a job to its report \[time\].
    pub delay: f64,
    /// What the host has of each type, with what it was sent.
    pub processors: [Host; TYPES],
}

impl Decider<'_> {
    /// Decides on a job; in a first pass only where that is by a percentile. Versions are tried in the order of the times at which
    /// they would be done, and the first that passes its test is taken; if none does, the reason is that of the first that could
    /// run it.
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
                // No percentile is tested: it is for the second pass, with this version.
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

    /// Returns when the host is expected to report a job that it runs with this version.
    fn earliest(&self, job: &Candidate, usable: &Usable) -> f64 {
        let host = self.processors[usable.processor as usize];
        // The proposal's estimate BT + R does not take idle processors into account.
        let (literal, before) = (self.is_literal(), host.before(host.queue));
        let before = if literal { host.busy } else { before };
        self.now + before + job.size / usable.speed + self.delay
    }

    /// Returns whether jobs with tight deadlines alone stand before a job.
    fn is_literal(&self) -> bool {
        self.rule.is_some_and(|rule| rule.queued == Queued::Tight)
    }

    /// Decides on a job with this version, with which it is reported at `earliest`.
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

    /// Adds a job that takes so long to what the host has.
    fn grow(&mut self, processor: Processor, run: f64, tight: bool, why: Sent) {
        let is_literal = self.is_literal();
        let host = &mut self.processors[processor as usize];
        let share = run / f64::from(host.count);
        host.queue += share;
        host.first += u32::from(why == Sent::First);
        host.wanted -= run;
        host.idle = host.idle.saturating_sub(1);
        // The proposal lets it grow with every job of a request.
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
    // Of a job with several instances in the array a host gets one.
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
