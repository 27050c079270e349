//! Where a log begins: the instant from which on it has every job that was submitted.
//!
//! # Theory
//! Accounting tools select jobs by *activity*. `sacct -S T` prints the jobs that waited, ran or ended at T or later, so
//! every row that has an end has one at or after T. Of the jobs submitted before T only those that were still there have
//! a row: the log is complete from T on, not from its first submission. T itself is not in the file. The first end of all
//! rows, E, is at or after T and close to it, so such a log begins at E. Jobs submitted before E are its initial state:
//! they are part of a replay, but they are no arrivals.
//!
//! A log that is complete from its first submission F must be told apart. Two tests have to agree that it is not, and
//! each is made for a cause that would mislead the other:
//!
//! - *Sparse.* Count the distinct instants of submission after F and before E, and those in as long a time from E on. If
//!   both have the same rate, the first count is binomial given the sum. Its lower tail is P. Arrays, whose jobs are submitted
//!   at once, count as one instant. A log that begins at night or with a slow ramp is sparse, too.
//! - *Survival.* No job ended between F and E. If jobs before E stayed as long as those after it, the probability of that
//!   is `U = Π S(E − s)` over the submissions s before E, with S the product-limit estimate of the stays, from submission to
//!   end, of the jobs submitted from E on (Kaplan and Meier, 1958). E is the first of these ends, so U is uniform for every
//!   course of arrivals, ramps and nights included, if stays are independent. A burst of long jobs is not: of the
//!   submissions within a hundredth of the time from F to E only the last counts.
//!
//! Rows are taken to be selected by activity if `P ≤ 0.1`, `U ≤ 0.02`, and `P U` is at most 0.001 for sacct, which always
//! selects in this way, and at most 10⁻⁶ for tables. So at most one in fifty of the complete logs that begin with a ramp is
//! misread, and it then loses no more than the part before its first end. Logs in the Standard Workload Format are used as they are by
//! convention, even if they begin like this (such as SDSC SP2). A rate before E of more than 0.9 times that after it, or a
//! beginning of less than 1 % of the span, changes no result notably, and is not looked at.

use super::format::Raw;
use super::{Account, Observed, TraceFormat, TraceJob};
use synth_core::number::date;

/// The highest rate of submissions before the first end, over the rate after it.
const SPARSE: f64 = 0.9;
/// Submissions count as one within this part of the time from the first of them to the first end.
const TOGETHER: f64 = 0.01;
/// The largest P and U, each.
const MOST: [f64; 2] = [0.1, 0.02];
/// The largest `P U` for which a user is told that rows may have been selected by activity.
const POSSIBLE: f64 = 0.01;
/// The shortest time from the first submission to the first end that is looked at, as a part of the span.
const SHORTEST: f64 = 0.01;
/// Rows that are looked at, the first ones of the file.
const ROWS: usize = 1_000_000;
/// Loads that differ by more than this part are reported.
const NOTABLE: f64 = 0.1;

/// Submissions and ends of all rows of a log, whether their jobs take part or not \[ticks\].
#[derive(Default)]
pub(super) struct Activity {
    /// Submission and end of each row; no end if the job had not ended.
    rows: Vec<(i64, Option<i64>)>,
    /// The last instant.
    last: i64,
}

/// The first end of a log, and whether it is evident that the log is complete from then on only.
type FirstEnd = (i64, bool);

impl Activity {
    /// Adds the row of a job, unless it neither ran nor ended.
    pub(super) fn note(&mut self, raw: &Raw) {
        let ran = || (raw.size >= 0).then(|| raw.last());
        let is_open = raw.is_open || raw.seen == Observed::Censored;
        let end = raw.end.or_else(ran).map(|end| end.max(raw.submit));
        if self.rows.len() < ROWS && (end.is_some() || is_open) {
            let end = end.filter(|_| !is_open);
            self.rows.push((raw.submit, end));
            self.last = self.last.max(end.unwrap_or(raw.submit));
        }
    }

    /// Returns the first end of the rows submitted from an instant on, if they may have been selected by activity.
    pub(super) fn first_end(mut self, from: i64, format: TraceFormat) -> Option<FirstEnd> {
        self.rows.retain(|(submit, _)| *submit >= from);
        self.rows.sort_unstable();
        let (first, last) = (self.rows.first()?.0, self.rows.last()?.0);
        let end = self.rows.iter().filter_map(|(_, end)| *end).min()?;
        let before = end.saturating_sub(first) as f64;
        let is_short = before <= SHORTEST * last.saturating_sub(first) as f64;
        if end >= last || is_short {
            return None;
        }
        let (early, late) = (self.rows).split_at(self.rows.partition_point(|row| row.0 < end));
        let length = before.min(last.saturating_sub(end) as f64);
        let near = late.partition_point(|row| row.0.saturating_sub(end) as f64 <= length);
        // The first one is where the time begins.
        let (few, many) = (instants(early).count() - 1, instants(&late[..near]).count());
        if few as f64 * length > SPARSE * many as f64 * before {
            return None;
        }
        let sparse = at_most(few, few + many, before / (before + length)).ln();
        let survival = self.survival(early, late, end);
        let both = sparse + survival;
        let most: f64 = if format == TraceFormat::Sacct {
            1e-3
        } else {
            1e-6
        };
        let is_evident = format != TraceFormat::Swf
            && sparse <= MOST[0].ln()
            && survival <= MOST[1].ln()
            && both <= most.ln();
        (both <= POSSIBLE.ln()).then_some((end, is_evident))
    }

    /// Returns `ln U`.
    fn survival(&self, early: &[Row], late: &[Row], end: i64) -> f64 {
        let stay = |(submit, end): &Row| {
            let until = end.unwrap_or(self.last);
            (until.saturating_sub(*submit), end.is_some())
        };
        let mut stays: Vec<(i64, bool)> = late.iter().map(stay).collect();
        stays.sort_unstable();
        let count = stays.len() as f64;
        let mut stays = stays.into_iter().zip(0_u32..).peekable();
        let (mut left, mut sum) = (1.0, 0.0);
        let mut next = i64::MAX;
        // The latest submission has the least age.
        for submit in instants(early).rev() {
            if submit > next {
                continue;
            }
            next = submit - (TOGETHER * end.saturating_sub(early[0].0) as f64) as i64;
            let age = end.saturating_sub(submit);
            while let Some(((_, has_ended), n)) = stays.next_if(|own| own.0.0 < age) {
                if has_ended {
                    left *= 1.0 - 1.0 / (count - f64::from(n));
                }
            }
            // One more job may stay longer than all of them.
            sum += f64::max(left, 1.0 / (count + 1.0)).ln();
        }
        sum
    }
}

type Row = (i64, Option<i64>);

/// Returns the distinct submissions of rows in ascending order.
fn instants(rows: &[Row]) -> impl DoubleEndedIterator<Item = i64> {
    rows.chunk_by(|a, b| a.0 == b.0).map(|same| same[0].0)
}

/// Returns the probability of at most `k` successes among `n` trials of probability `p` in (0, 1).
fn at_most(k: usize, n: usize, p: f64) -> f64 {
    let mut term = n as f64 * (1.0 - p).ln();
    let mut sum = 0.0;
    for j in 0..=k.min(n) {
        sum += term.exp();
        term += ((n - j) as f64 / (j + 1) as f64).ln() + (p / (1.0 - p)).ln();
    }
    sum.min(1.0)
}

/// Why a log begins, or may begin, later than with its first submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// `--from` says so; and the first end behind that, if the rows are evidently selected by activity there, too.
    Given(Option<i64>),
    /// Its rows were selected by activity.
    Activity,
    /// Its rows may have been selected by activity; it is taken to be complete.
    Possible,
}

/// The beginning of a log behind its first submission.
pub(super) struct Window {
    begin: i64,
    why: Why,
    /// Jobs that ran at the beginning, that waited, and that had ended.
    earlier: [u64; 3],
    /// The first and the last submission.
    span: [i64; 2],
    /// The work of the jobs submitted before the beginning, and of those submitted later.
    work: [f64; 2],
}

impl Window {
    pub(super) fn new(begin: i64, why: Why) -> Self {
        Window {
            begin,
            why,
            earlier: [0; 3],
            span: [i64::MAX, begin],
            work: [0.0; 2],
        }
    }

    /// Returns when the log begins; `None` if that is with its first submission.
    pub(super) fn begin(&self) -> Option<i64> {
        (self.why != Why::Possible).then_some(self.begin)
    }

    /// Returns a job as the log has it, which has this much work; `None` if it had ended before the log begins.
    pub(super) fn place(&mut self, job: TraceJob, work: f64) -> Option<TraceJob> {
        self.span = [self.span[0].min(job.submit), self.span[1].max(job.submit)];
        let is_early = job.submit < self.begin;
        self.work[usize::from(!is_early)] += work;
        if !is_early || self.why == Why::Possible {
            return Some(job);
        }
        let placed = job.present_at(self.begin);
        let runs = |own: &TraceJob| usize::from(own.seen != Observed::Initial);
        self.earlier[placed.as_ref().map_or(2, runs)] += 1;
        placed
    }

    /// Describes where the log begins, and how much depends on that. A warning says what a user should do.
    pub(super) fn report(&self, per_second: u64, account: &mut Account) {
        let instant = |at: i64| {
            let seconds = at as f64 / per_second as f64;
            let after = at.saturating_sub(self.span[0]) as f64 / per_second as f64;
            // As `--from` reads it.
            match seconds > 1e8 {
                true => date(seconds),
                false => format!("{after}s"),
            }
        };
        let begin = instant(self.begin);
        let [from, to] = self.span.map(|at| at as f64);
        let [before, after] = self.work;
        let ratio = after / (to - self.begin as f64) / ((before + after) / (to - from));
        let is_notable = ratio.is_finite() && (ratio - 1.0).abs() > NOTABLE;
        let [running, waiting, ended] = self.earlier;
        let why = match self.why {
            Why::Possible if !is_notable => return,
            Why::Possible => {
                account.remarks.push(format!(
                    "warning: before the first end, {begin}, few jobs were submitted, and they stayed long, as in rows selected by activity (sacct -S). If earlier jobs are missing, give --from {begin}: the load is {ratio:.2} times as high then"
                ));
                return;
            }
            Why::Given(None) if running + waiting + ended == 0 => return,
            Why::Given(end) => {
                account.remarks.extend(end.map(|end| {
                    let end = instant(end);
                    format!("warning: the log seems to be complete from {end} on only: jobs that had ended before have no rows, as in what sacct -S prints. Give --from {end}")
                }));
                "as --from says"
            }
            Why::Activity => {
                "its first end: its rows were selected by activity, as sacct -S prints them, and are complete from then on. --from names another beginning"
            }
        };
        let depends = format!(" The load is {ratio:.2} times what it is over the whole span.");
        let depends = Some(depends).filter(|_| is_notable).unwrap_or_default();
        account.window = Some(format!(
            "The log begins at {begin}, {why}. Of the jobs submitted earlier {running} ran then and {waiting} waited: they are its initial state, which is replayed, but they do not arrive and are not measured. {ended} had ended and are left out.{depends}"
        ));
    }
}

impl TraceJob {
    /// Returns the job as it is present at an instant after its submission; `None` if it has ended.
    ///
    /// A running job has the rest of its size and of its limit left. A waiting job arrives with both of them whole. What
    /// is known about a job that had not ended with the log is taken as its size: it is there until then at least.
    fn present_at(self, instant: i64) -> Option<TraceJob> {
        let start = self.waited.map_or(self.submit, |waited| {
            self.submit.saturating_add_unsigned(waited)
        });
        if self.end <= instant {
            return None;
        }
        if start >= instant {
            return Some(TraceJob {
                submit: instant,
                waited: self.waited.map(|_| start.abs_diff(instant)),
                seen: Observed::Waiting,
                ..self
            });
        }
        // A job that was suspended has no more left than it ran in all.
        let size = self.size.min(self.end.abs_diff(instant));
        Some(TraceJob {
            submit: instant,
            size,
            limit: self.limit.saturating_sub(self.size - size),
            waited: self.waited.map(|_| 0),
            seen: Observed::Initial,
            ..self
        })
    }
}
