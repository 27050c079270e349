//! What was done with the lines of a trace: nothing is left out without being reported.

use std::collections::HashMap;

use itertools::Itertools as _;
use schemars::JsonSchema;
use serde::Serialize;

/// What a job was sent to: each is empty where that is not known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SentTo {
    /// The partition, or several between commas.
    pub partition: String,
    /// The account, or group.
    pub account: String,
    /// The quality of service, or queue.
    pub qos: String,
}

/// A number that stands for a name: equal names have equal ones, and none has 0.
pub(super) use synth_core::document::number_of as name;

/// What is done with a line that takes no part, in words.
const LEFT_OUT: &str = "left out";

/// Defines the reasons: what was found, what is done with such a line, and the option that changes that, if any.
macro_rules! reasons {
    ($($(#[$doc:meta])* $name:ident: $found:literal, $done:expr, $option:literal;)*) => {
        /// Why a line does not take part as it stands.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum Reason { $($(#[$doc])* $name,)* }

        impl Reason {
            const ALL: &[Reason] = &[$(Reason::$name,)*];

            fn words(self) -> (&'static str, &'static str, &'static str) {
                match self { $(Reason::$name => ($found, $done, $option),)* }
            }
        }
    };
}

reasons! {
    /// Not what the format has: left out.
    Fault: "not what the format has", LEFT_OUT, "--read faults";
    /// It never ran: left out.
    NeverRan: "never ran", LEFT_OUT, "";
    /// It took less than a tick: taken as one tick.
    LessThanATick: "took less than a tick", "taken as one tick", "";
    /// It failed, was killed or cancelled after its start, where `--only status=completed` is given: left out.
    NotCompleted: "did not complete", LEFT_OUT, "--only";
    /// One of several executions of a job that a line counts as a whole: left out.
    Partial: "partial executions", LEFT_OUT, "";
    /// It asks for nothing: left out.
    NoDemand: "ask for nothing", LEFT_OUT, "";
    /// It was allocated nothing; what it requested is taken.
    RequestedTaken: "allocated nothing", "requested taken", "";
    /// No server holds it: left out.
    TooLarge: "larger than any server", LEFT_OUT, "--servers, --read faults";
    /// It needs a type of a resource, such as a model of GPU, that no server has: left out.
    OtherType: "need a type that no server has", LEFT_OUT, "--servers";
    /// It was allocated a type of a resource, and its request is not in the log: the type is assumed to be requested.
    GivenType: "allocated a type, request unknown (no ReqTRES)", "need that type", "";
    /// A limit of the site never lets it start: left out.
    AboveLimit: "above a limit of the site", LEFT_OUT, "--slurm";
    /// On how many servers is not reported, or these had unequal parts: as few are taken as hold it in equal ones.
    Spread: "number of servers not told, or unequal parts", "on as few as hold equal parts", "";
    /// Ended before the log begins, or submitted after `--to`: left out.
    OutsideSpan: "outside the span", LEFT_OUT, "--from, --to";
    /// Of another partition or user than those of `--only`: left out.
    Others: "of others", LEFT_OUT, "--only";
    /// Submitted before the line before: sorted.
    Unsorted: "submitted before the line before", "sorted", "";
    /// It has no limit; its size is taken as one.
    NoLimit: "without a limit", "size taken as limit", "";
    /// It ran past its limit: the limit is raised to what it ran.
    PastLimit: "ran past their limit", "limit raised", "--read";
    /// The same, where `--read past-limit=kill` is given: what it ran is cut to the limit.
    Killed: "ran past their limit", "cut to their limit", "--read";
    /// It tells no demand for a resource that is looked at; 0 is taken.
    NoAmount: "without an amount of a resource", "taken as 0", "";
    /// More stands behind what the format has: ignored.
    MoreText: "text behind the last field", "ignored", "";
    /// It still ran when the trace ended.
    Censored: "still running at the end", "size known in part; not replayed", "--read";
    /// It ran or waited when the log began.
    Initial: "there before the start", "no arrival; replayed from the start", "--from";
    /// While it ran, the local clock was set back or forth by an hour: instants are taken as they stand.
    AmbiguousTime: "local clock set by an hour meanwhile", "taken as it stands", "";
    /// Its times have fractions of a tick, and are rounded.
    RoundedTime: "times with fractions of a tick", "rounded", "";
    /// Another row reports the same job: the last state counts.
    Repeated: "further rows of the same job", "merged: the last state counts", "";
    /// A repeated header, as in concatenated files: skipped.
    Header: "repeated headers", "skipped", "";
    /// A step of a job, or what runs in room that another line holds: no job, left out.
    Step: "steps of other jobs", LEFT_OUT, "";
    /// A further component of a heterogeneous job: it starts with the others.
    Component: "components of heterogeneous jobs", "joined to one job", "";
    /// It could not start before it was eligible (it depends on others, was held or had a time to begin): it comes then.
    Eligible: "eligible after they were submitted", "come when eligible", "";
}

impl Reason {
    /// Returns the bit that stands for it.
    pub(super) fn bit(self) -> u32 {
        1 << self as u32
    }

    /// Returns what was found, in words.
    pub fn found(self) -> &'static str {
        self.words().0
    }

    /// Returns what is done with them, in words.
    pub fn done(self) -> &'static str {
        self.words().1
    }

    /// Returns whether the line takes no part.
    pub fn is_out(self) -> bool {
        self.done() == LEFT_OUT
    }

    /// Returns the option that changes it.
    pub fn option(self) -> Option<&'static str> {
        Some(self.words().2).filter(|option| !option.is_empty())
    }
}

/// What is known of the lines of one reason.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AccountRow {
    /// Why.
    pub reason: Reason,
    /// How many lines.
    pub lines: u64,
    /// The first one.
    pub first_line: u32,
    /// Their work, as far as it is known: size \[ticks\] times the largest fraction of a resource that they hold.
    pub work: f64,
}

/// What was done with all lines.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Account {
    /// Lines that stand for a job, faulty ones included; comments, headers, empty lines, steps of jobs and
    /// repeated lines do not count, and of the events of a job one does. Each takes part or is left out for one reason.
    pub lines: u64,
    /// Jobs that take part.
    pub jobs: u64,
    /// The work of all jobs that take part, as in the rows.
    pub work: f64,
    /// By reason.
    pub rows: Vec<AccountRow>,
    /// The first ten faults, each with its line, column and what was expected.
    pub faults: Vec<String>,
    /// What else should be known of how it was read.
    pub remarks: Vec<String>,
    /// Where the log begins, in a sentence; none where that is with its first submission.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<String>,
    /// How the line that is read now would be taken, if it takes part, as bits.
    #[serde(skip)]
    pub(super) supposed: u32,
    /// The reasons noted for the line that is decided now, as bits.
    #[serde(skip)]
    pub(super) noted: u32,
    /// The names of users, by their numbers.
    #[serde(skip)]
    pub users: HashMap<u32, String>,
    /// The limits \[ticks\] of jobs that ran past theirs, by line: the jobs carry their run times instead.
    #[serde(skip)]
    pub passed_limits: HashMap<u32, u64>,
    /// What jobs were sent to, by the numbers that they carry; none where the format tells nothing of it.
    #[serde(skip)]
    pub classes: Vec<SentTo>,
    /// The same numbers, by partition, account and quality of service with zeros between.
    #[serde(skip)]
    pub(super) numbers: HashMap<Vec<u8>, u32>,
}

/// The longest time in which no job came.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gap {
    /// Submissions of the first and of the last job \[ticks\], and the line of the last.
    first: i64,
    last: (i64, u32),
    /// How long it is \[ticks\], how many jobs came before, and the lines of the jobs beside it.
    longest: u64,
    before: u64,
    lines: [u32; 2],
}

/// Seconds in a year, on average.
pub(super) const YEAR: i64 = 31_556_952;

impl Gap {
    /// The next job comes, after so many.
    pub(super) fn note(&mut self, jobs: u64, submit: i64, line: u32) {
        if jobs == 0 {
            (self.first, self.last) = (submit, (submit, line));
        }
        let length = submit.saturating_sub(self.last.0).unsigned_abs();
        if length > self.longest {
            (self.longest, self.before, self.lines) = (length, jobs, [self.last.1, line]);
        }
        self.last = (submit, line);
    }

    /// Says that few jobs stand alone, which a wrong instant does, if of all time most is without a job.
    pub(super) fn remark(&self, jobs: u64, per_second: u64) -> Option<String> {
        let span = self.last.0.saturating_sub(self.first).unsigned_abs();
        let few = self.before.min(jobs - self.before);
        // In a short log a single job is reported if it is 20 years away.
        let is_far = few == 1 && self.longest / per_second > 20 * YEAR.unsigned_abs();
        if few > jobs / 20 && !is_far || self.longest < span / 10 * 9 || self.longest == 0 {
            return None;
        }
        let days = self.longest as f64 / per_second as f64 / 86_400.0;
        let [last, next] = self.lines;
        let jobs = match few {
            1 => "job".into(),
            few => format!("{few} jobs"),
        };
        let first = format!("first {jobs}, up to line {last}");
        let last = format!("last {jobs}, from line {next} on");
        let (which, at, side, option) = match few == self.before {
            true => (first, self.first, "before", "--from"),
            false => (last, self.last.0, "after", "--to"),
        };
        // Clocks that count from the beginning of the log show no year.
        let year = 1970 + (at / per_second as i64).div_euclid(YEAR);
        let year = Some(format!(", in {year}")).filter(|_| (1975..=9999).contains(&year));
        let year = year.unwrap_or_default();
        Some(format!(
            "warning: the {which}, came {days:.1} days {side} all others{year}. If that is an error, mend these times, or leave the jobs out with {option}"
        ))
    }
}

impl Account {
    /// The most faults that are reported.
    pub const FAULTS: usize = 10;

    /// A line of this number has this reason, and this much work.
    pub fn note(&mut self, reason: Reason, line: u32, work: f64) {
        let place = self.rows.binary_search_by_key(&reason, |row| row.reason);
        let at = place.unwrap_or_else(|at| {
            let fresh = AccountRow {
                reason,
                lines: 0,
                first_line: line,
                work: 0.0,
            };
            self.rows.insert(at, fresh);
            at
        });
        let row = &mut self.rows[at];
        self.noted |= reason.bit();
        row.lines += 1;
        row.first_line = row.first_line.min(line);
        row.work += work;
    }

    /// The line that is read now is taken like this, if it takes part.
    pub(super) fn suppose(&mut self, reason: Reason) {
        self.supposed |= reason.bit();
    }

    /// Returns the number of a user of this name, which is kept; 0 of none.
    pub(super) fn user(&mut self, field: &[u8]) -> u32 {
        let number = name(field);
        if number != 0 {
            let called = || String::from_utf8_lossy(field.trim_ascii()).into_owned();
            self.users.entry(number).or_insert_with(called);
        }
        number
    }

    /// Returns the number of a partition, an account and a quality of service, which are kept.
    pub(super) fn class(&mut self, names: [&[u8]; 3]) -> u32 {
        let next = self.classes.len() as u32;
        let names = names.map(<[u8]>::trim_ascii);
        let number = *self.numbers.entry(names.join(&0)).or_insert(next);
        if number == next {
            let [partition, account, qos] =
                names.map(|name| String::from_utf8_lossy(name).into_owned());
            self.classes.push(SentTo {
                partition,
                account,
                qos,
            });
        }
        number
    }

    /// Returns the names of the partitions that were seen, in order, each once.
    pub(super) fn partitions(&self) -> String {
        let names = self.classes.iter().map(|own| &own.partition);
        names.sorted().dedup().join(", ")
    }

    /// The line that is read now, with so much work, takes part or not.
    pub(super) fn decide(&mut self, takes_part: bool, line: u32, work: f64) {
        let supposed = std::mem::take(&mut self.supposed);
        let is_supposed = |own: &&Reason| takes_part && supposed & own.bit() != 0;
        for reason in Reason::ALL.iter().filter(is_supposed) {
            self.note(*reason, line, work);
        }
    }

    /// A faulty line, and what is wrong with it.
    pub fn fault(&mut self, line: u32, what: impl FnOnce() -> String) {
        self.lines += 1;
        self.decide(false, line, 0.0);
        self.note(Reason::Fault, line, 0.0);
        if self.faults.len() < Self::FAULTS {
            self.faults.push(what());
        }
    }

    /// Leaves out the job of a line that was counted among those that take part.
    pub fn leave_out(&mut self, reason: Reason, line: u32, work: f64) {
        self.jobs = self.jobs.saturating_sub(1);
        self.work -= work;
        self.note(reason, line, work);
    }

    /// Returns the work of all lines of which it is known, those that take no part included.
    pub fn all_work(&self) -> f64 {
        let out = self.rows.iter().filter(|row| row.reason.is_out());
        self.work + out.map(|row| row.work).sum::<f64>()
    }

    /// Returns the warnings, a line each: such as that a job was submitted long before all others.
    pub fn warnings(&self) -> String {
        let warnings = self.remarks.iter().filter(|own| own.starts_with("warning"));
        warnings.map(|own| format!("\n{own}")).collect()
    }

    /// Returns the number of rows read: those that are no jobs of their own as well.
    pub fn rows_read(&self) -> u64 {
        use Reason::{Component, Header, Repeated, Step};
        let extra = [Step, Component, Repeated, Header];
        self.lines + extra.map(|reason| self.count(reason)).iter().sum::<u64>()
    }

    /// Returns the first faults, and how many more there are.
    pub(super) fn faulty(&self) -> String {
        let more = self.count(Reason::Fault) - self.faults.len() as u64;
        let more = (more > 0).then(|| format!("and {more} more"));
        let mut lines = self.faults.iter().chain(&more);
        lines.join("\n  ")
    }

    /// Why no job takes part, in words.
    pub(super) fn why_none(&self) -> String {
        if self.lines == 0 {
            return ": no line stands for a job".into();
        }
        let rows = self.rows.iter().map(|row| {
            let (found, done) = (row.reason.found(), row.reason.done());
            let option = row.reason.option().map(|option| format!(" ({option})"));
            let option = option.unwrap_or_default();
            format!("\n  {} {found}: {done}{option}", row.lines)
        });
        format!(" of {} lines:{}", self.rows_read(), rows.format(""))
    }

    /// Returns how many lines have this reason.
    pub fn count(&self, reason: Reason) -> u64 {
        let row = self.rows.iter().find(|row| row.reason == reason);
        row.map_or(0, |row| row.lines)
    }
}
