use std::collections::HashMap;

use itertools::Itertools as _;
use schemars::JsonSchema;
use serde::Serialize;

/// The place where a job was submitted. Unknown fields are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Destination {
    /// The partition, or several separated by commas.
    pub partition: String,
    /// The account, or group.
    pub account: String,
    /// The quality of service, or queue.
    pub qos: String,
}

/// A hash that identifies a name; 0 without a name.
pub(super) use synth_core::document::name_hash as name;

const LEFT_OUT: &str = "left out";

/// Defines the reasons: description, consequence, and the option that changes it, if any.
macro_rules! reasons {
    ($($(#[$doc:meta])* $name:ident: $found:literal, $done:expr, $option:literal;)*) => {
        /// Why a line is left out or modified.
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
    /// The line is not valid in the format: left out.
    Fault: "not valid in the format", LEFT_OUT, "--read faults";
    /// The job has never been run: left out.
    NeverRan: "never ran", LEFT_OUT, "";
    /// The job took less than a tick: it is counted as one tick.
    LessThanATick: "took less than a tick", "counted as one tick", "";
    /// The job failed, was killed or canceled after its start, and `--read status=completed` was
    /// given: left out.
    NotCompleted: "did not complete", LEFT_OUT, "--read status";
    /// The line is one of several executions of a job that is counted by another line: left out.
    Partial: "partial executions", LEFT_OUT, "";
    /// The job does not request any resources: left out.
    NoDemand: "request no resources", LEFT_OUT, "";
    /// The job was allocated nothing: its request is used.
    RequestedTaken: "allocated nothing", "request used", "";
    /// The job does not fit on any of the servers: left out.
    TooLarge: "larger than any server", LEFT_OUT, "--servers, --read faults";
    /// The job needs a type of a resource, such as a GPU model, that no server has: left out.
    OtherType: "need a type that no server has", LEFT_OUT, "--servers";
    /// The job was allocated a type, and its request is unknown: it is assumed to need the type.
    GivenType: "allocated a type, request unknown (no ReqTRES)", "need that type", "";
    /// The job can never start because of a limit of the site: left out.
    AboveLimit: "above a limit of the site", LEFT_OUT, "--slurm";
    /// The number of servers is unknown, or the parts of the job are unequal: it uses the fewest
    /// servers that can hold it in equal parts.
    Spread: "number of servers unknown, or unequal parts", "on the fewest servers with equal parts", "";
    /// The job ended before the beginning of the log, or was submitted after `--to`: left out.
    OutsideSpan: "outside the span", LEFT_OUT, "--from, --to";
    /// The job is not of the partition or user selected with `--partition` or `--user`: left
    /// out.
    Others: "of other partitions or users", LEFT_OUT, "--partition, --user";
    /// The job was submitted before the one in the previous line: the jobs are sorted.
    Unsorted: "submitted before the previous line", "sorted", "";
    /// The job has no limit: its size is used as the limit.
    NoLimit: "without a limit", "size used as limit", "";
    /// The job ran longer than its limit: the limit is raised to its size.
    PastLimit: "ran past their limit", "limit raised", "--read";
    /// The job ran longer than its limit: it is truncated if `--read past-limit=kill` was given.
    Killed: "ran past their limit", "truncated at the limit", "--read";
    /// The amount of a resource is missing: 0 is used instead.
    NoAmount: "without an amount of a resource", "counted as 0", "";
    /// There is additional text after the last field, which is ignored.
    MoreText: "text after the last field", "ignored", "";
    /// The job was still running at the end of the trace.
    Censored: "still running at the end", "size partly known; not replayed", "--read";
    /// The job was still waiting at the end of the trace, although it was eligible.
    Pending: "still waiting at the end", "wait counted up to the end", "";
    /// The job was already running or waiting at the beginning of the log.
    Initial: "present before the start", "not an arrival; replayed from the start", "--from";
    /// The local clock was changed by an hour during the run: the times are used as recorded.
    AmbiguousTime: "local clock changed by an hour during the run", "used as recorded", "";
    /// The line has times with fractions of a tick, which are rounded.
    RoundedTime: "times with fractions of a tick", "rounded", "";
    /// There is another row for the same job: the last state counts.
    Repeated: "further rows of the same job", "merged: the last state counts", "";
    /// The line repeats the header, as in files that were concatenated: it is skipped.
    Header: "repeated headers", "skipped", "";
    /// The line is a step of a job, or runs within the allocation of another line: left out.
    Step: "steps of other jobs", LEFT_OUT, "";
    /// The line is another component of a heterogeneous job, and is started with the others.
    Component: "components of heterogeneous jobs", "merged into one job", "";
    /// The job became eligible after its submission, because it depends on other jobs, was held, or
    /// has a begin time: it is counted as submitted when it became eligible.
    Eligible: "eligible after submission", "submitted when eligible", "";
}

impl Reason {
    pub(super) fn bit(self) -> u32 {
        1 << self as u32
    }

    /// Describes what was found.
    pub fn found(self) -> &'static str {
        self.words().0
    }

    /// Describes how such lines are used.
    pub fn done(self) -> &'static str {
        self.words().1
    }

    /// Returns whether the line is left out.
    pub fn is_out(self) -> bool {
        self.done() == LEFT_OUT
    }

    /// Returns the option that changes this.
    pub fn option(self) -> Option<&'static str> {
        Some(self.words().2).filter(|option| !option.is_empty())
    }
}

/// The number of lines that have the same reason, and their work.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AccountRow {
    /// The reason.
    pub reason: Reason,
    /// The number of lines.
    pub lines: u64,
    /// The first of these lines.
    pub first_line: u32,
    /// The work of these lines if known: the size \[ticks\] times the largest share of a resource.
    pub work: f64,
}

/// How all lines were used.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Account {
    /// The number of lines that describe a job, including lines with faults, but not comments,
    /// headers, empty lines, steps, or repeated rows. Each of them is either used or left out for
    /// exactly one reason.
    pub lines: u64,
    /// The number of jobs used.
    pub jobs: u64,
    /// The total work of the jobs used, in the units of the rows.
    pub work: f64,
    /// Statistics by reason.
    pub rows: Vec<AccountRow>,
    /// The first ten faults, with line, column and what was expected.
    pub faults: Vec<String>,
    /// Other remarks about how the trace was read.
    pub remarks: Vec<String>,
    /// A sentence that describes where the log begins, if this is not the first submission.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<String>,
    /// The reasons for the current line if it is used, as bits.
    #[serde(skip)]
    pub(super) supposed: u32,
    /// The reasons that were recorded for the current line, as bits.
    #[serde(skip)]
    pub(super) noted: u32,
    /// The user names by number.
    #[serde(skip)]
    pub users: HashMap<u32, String>,
    /// The limit \[ticks\] of each job that was longer than its limit, by line. Unless the job was
    /// truncated, its own limit is raised.
    #[serde(skip)]
    pub passed_limits: HashMap<u32, u64>,
    /// The places where jobs were submitted, by number. Empty if the format does not contain this.
    #[serde(skip)]
    pub classes: Vec<Destination>,
    /// The same numbers by partition, account and quality of service, separated by zeros.
    #[serde(skip)]
    pub(super) numbers: HashMap<Vec<u8>, u32>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gap {
    first: i64,
    last: (i64, u32),
    /// The longest gap \[ticks\], the number of jobs before it, and the lines next to it.
    longest: u64,
    before: u64,
    lines: [u32; 2],
}

pub(super) const YEAR: i64 = 31_556_952;

impl Gap {
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

    /// Returns a warning about a gap of 90 % with few jobs on one side: a time may be wrong.
    pub(super) fn remark(&self, jobs: u64, per_second: u64) -> Option<String> {
        let span = self.last.0.saturating_sub(self.first).unsigned_abs();
        let few = self.before.min(jobs - self.before);
        // In a short log, a single job is only reported if it is at least 20 years away.
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
        let year = 1970 + (at / per_second as i64).div_euclid(YEAR);
        let year = Some(format!(", in {year}")).filter(|_| (1975..=9999).contains(&year));
        let year = year.unwrap_or_default();
        Some(format!(
            "warning: the {which}, arrived {days:.1} days {side} all others{year}. If that is an error, correct these times, or leave the jobs out with {option}"
        ))
    }
}

impl Account {
    pub(super) const FAULTS: usize = 10;

    pub(super) fn note(&mut self, reason: Reason, line: u32, work: f64) {
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

    pub(super) fn note_if_used(&mut self, reason: Reason) {
        self.supposed |= reason.bit();
    }

    pub(super) fn user(&mut self, field: &[u8]) -> u32 {
        let number = name(field);
        if number != 0 {
            let called = || String::from_utf8_lossy(field.trim_ascii()).into_owned();
            self.users.entry(number).or_insert_with(called);
        }
        number
    }

    pub(super) fn class(&mut self, names: [&[u8]; 3]) -> u32 {
        let next = self.classes.len() as u32;
        let names = names.map(<[u8]>::trim_ascii);
        let number = *self.numbers.entry(names.join(&0)).or_insert(next);
        if number == next {
            let owned = |name| String::from_utf8_lossy(name).into_owned();
            let [partition, account, qos] = names.map(owned);
            self.classes.push(Destination {
                partition,
                account,
                qos,
            });
        }
        number
    }

    pub(super) fn decide(&mut self, takes_part: bool, line: u32, work: f64) {
        let supposed = std::mem::take(&mut self.supposed);
        let is_supposed = |own: &&Reason| takes_part && supposed & own.bit() != 0;
        for reason in Reason::ALL.iter().filter(is_supposed) {
            self.note(*reason, line, work);
        }
    }

    pub(super) fn fault(&mut self, line: u32, what: impl FnOnce() -> String) {
        self.lines += 1;
        self.decide(false, line, 0.0);
        self.note(Reason::Fault, line, 0.0);
        if self.faults.len() < Self::FAULTS {
            self.faults.push(what());
        }
    }

    /// Leaves out the job of a line that was counted as used.
    pub fn leave_out(&mut self, reason: Reason, line: u32, work: f64) {
        self.jobs = self.jobs.saturating_sub(1);
        self.work -= work;
        self.note(reason, line, work);
    }

    /// Returns the work of all lines, including those left out, as far as known.
    pub fn all_work(&self) -> f64 {
        let out = self.rows.iter().filter(|row| row.reason.is_out());
        self.work + out.map(|row| row.work).sum::<f64>()
    }

    /// Returns the warnings, one per line.
    pub fn warnings(&self) -> String {
        let warnings = self.remarks.iter().filter(|own| own.starts_with("warning"));
        warnings.map(|own| format!("\n{own}")).collect()
    }

    /// Returns the number of rows read, including those that are not jobs of their own.
    pub fn rows_read(&self) -> u64 {
        use Reason::{Component, Header, Repeated, Step};
        let extra = [Step, Component, Repeated, Header];
        self.lines + extra.map(|reason| self.count(reason)).iter().sum::<u64>()
    }

    pub(super) fn faulty(&self) -> String {
        let more = self.count(Reason::Fault) - self.faults.len() as u64;
        let more = (more > 0).then(|| format!("and {more} more"));
        let mut lines = self.faults.iter().chain(&more);
        lines.join("\n  ")
    }

    pub(super) fn why_none(&self) -> String {
        if self.lines == 0 {
            return ": no line describes a job".into();
        }
        let rows = self.rows.iter().map(|row| {
            let (found, done) = (row.reason.found(), row.reason.done());
            let option = row.reason.option().map(|option| format!(" ({option})"));
            let option = option.unwrap_or_default();
            format!("\n  {} {found}: {done}{option}", row.lines)
        });
        format!(" among {} lines:{}", self.rows_read(), rows.format(""))
    }

    pub(super) fn count(&self, reason: Reason) -> u64 {
        let row = self.rows.iter().find(|row| row.reason == reason);
        row.map_or(0, |row| row.lines)
    }
}
