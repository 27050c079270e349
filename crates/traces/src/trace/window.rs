//! This module detects the time from which a log contains all jobs that were submitted.
//!
//! # Theory
//! Accounting tools usually select jobs by their *activity*. `sacct -S T` prints all jobs that were
//! waiting, running or ending at any time from `T` on, so there is no row that ends before `T`, and
//! jobs submitted before `T` only have a row if they were still present. The log is complete from
//! `T` on, but not from its first submission. The time `T` is not in the file, but it is close to
//! the first end `E` of all rows, so the log is assumed to begin at `E`. The jobs that were
//! submitted before are its initial state: they are replayed, but are not arrivals.
//!
//! It is also possible that the log is complete from its first submission `F`. There are two tests:
//!
//! - *Sparse.* The number of different submission times (one for a job array) after `F` and before
//!   `E` is compared with the number in a period of the same length from `E` on, or in the rest of
//!   the log if it is shorter. If the rates are equal and the sum is given, the first number has a
//!   binomial distribution, and `P` is the probability of at most this number. A complete log that
//!   begins at night or with few jobs is sparse, too.
//! - *Survival.* By definition, no job ended between `F` and `E`. If the jobs before `E` stayed for
//!   as long as the jobs after it, the probability of this is `U = Π S(E − s)` over the submissions
//!   `s` before `E`, where `S` is the product-limit estimate of the time between submission and end
//!   for the jobs that were submitted after `E` (Kaplan and Meier, 1958). Because `E` is the first
//!   end, `U` is uniform if these times are independent, whatever the arrivals. In a burst they may
//!   be alike, so submissions within 1 % of the time from `F` to `E` count as one.
//!
//! The rows are taken as selected by activity if `P ≤ 0.1` and `U ≤ 0.02`, and if `P U` is at most
//! 0.001 for sacct, which always selects in this way, or `1e-6` for tables. At most one in fifty
//! complete logs that begin with few jobs is then wrongly taken as selected, and only the part
//! before its first end is lost. Otherwise, and by convention for the Standard Workload Format
//! (such as SDSC SP2), the log is not cut, but there is a warning if `P U ≤ 0.01` and the load
//! depends on it. The tests are not used if the rate before `E` is more than 0.9 times the rate
//! after it, or if `E` is in the first 1 % of the span, because the results would be almost equal.

use super::format::RawJob;
use super::{Account, FIRST_DATE, Observed, TraceFormat, TraceJob};
use synth_core::number::date;

/// The maximum rate before the first end, relative to the rate after it.
const SPARSE: f64 = 0.9;
/// If submissions are within this fraction of the time until the first end, they count as one.
const TOGETHER: f64 = 0.01;
const MAX_P: f64 = 0.1;
const MAX_U: f64 = 0.02;
const MAX_PU: f64 = 1e-6;
const SACCT_MAX_PU: f64 = 1e-3;
/// The maximum `P U` for a warning that rows may have been selected by activity.
const POSSIBLE: f64 = 0.01;
/// The minimum time until the first end, as a fraction of the span.
const SHORTEST: f64 = 0.01;
/// Later rows are not used by the tests.
const MAX_ROWS: usize = 1_000_000;
/// A change of the load is reported if it is larger than this fraction.
const NOTABLE: f64 = 0.1;

/// The submission and the end \[ticks\] of a row; `None` if its job had not ended.
type Row = (i64, Option<i64>);

#[derive(Default)]
pub(super) struct Activity {
    rows: Vec<Row>,
    last_event: i64,
}

impl Activity {
    pub(super) fn note(&mut self, raw: &RawJob) {
        let ran = || (raw.size >= 0).then(|| raw.last());
        let runs = raw.is_open && raw.seen != Observed::Pending;
        let is_open = runs || raw.seen == Observed::Censored;
        let end = raw.end.or_else(ran).map(|end| end.max(raw.submit));
        if self.rows.len() < MAX_ROWS && (end.is_some() || is_open) {
            let end = end.filter(|_| !is_open);
            self.rows.push((raw.submit, end));
            self.last_event = self.last_event.max(end.unwrap_or(raw.submit));
        }
    }

    /// Returns the first end of the rows from `from` on if they may have been selected by activity,
    /// and `true` if both tests say so.
    pub(super) fn first_end(mut self, from: i64, format: TraceFormat) -> Option<(i64, bool)> {
        self.rows.retain(|(submit, _)| *submit >= from);
        self.rows.sort_unstable();
        let (first, last_submit) = (self.rows.first()?.0, self.rows.last()?.0);
        let end = self.rows.iter().filter_map(|(_, end)| *end).min()?;
        let before = end.saturating_sub(first) as f64;
        let is_short = before <= SHORTEST * last_submit.saturating_sub(first) as f64;
        if end >= last_submit || is_short {
            return None;
        }
        let (early, late) = (self.rows).split_at(self.rows.partition_point(|row| row.0 < end));
        let length = before.min(last_submit.saturating_sub(end) as f64);
        let near = late.partition_point(|row| row.0.saturating_sub(end) as f64 <= length);
        // The first submission is not counted, because the period begins at it.
        let (few, many) = (instants(early).count() - 1, instants(&late[..near]).count());
        if few as f64 * length > SPARSE * many as f64 * before {
            return None;
        }
        let ln_p = at_most(few, few + many, before / (before + length)).ln();
        let ln_u = self.log_survival(early, late, end);
        let ln_pu = ln_p + ln_u;
        let is_sacct = format == TraceFormat::Sacct;
        let max_pu = if is_sacct { SACCT_MAX_PU } else { MAX_PU };
        let is_evident = format != TraceFormat::Swf
            && ln_p <= MAX_P.ln()
            && ln_u <= MAX_U.ln()
            && ln_pu <= max_pu.ln();
        (ln_pu <= POSSIBLE.ln()).then_some((end, is_evident))
    }

    fn log_survival(&self, early: &[Row], late: &[Row], end: i64) -> f64 {
        let stay = |(submit, end): &Row| {
            let until = end.unwrap_or(self.last_event);
            (until.saturating_sub(*submit), end.is_some())
        };
        let mut stays: Vec<(i64, bool)> = late.iter().map(stay).collect();
        stays.sort_unstable();
        let count = stays.len() as f64;
        let mut stays = stays.into_iter().zip(0_u32..).peekable();
        let (mut left, mut sum) = (1.0, 0.0);
        let mut next = i64::MAX;
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
            // There could be another job that stays for longer than all jobs that were observed.
            sum += f64::max(left, 1.0 / (count + 1.0)).ln();
        }
        sum
    }
}

fn instants(rows: &[Row]) -> impl DoubleEndedIterator<Item = i64> {
    rows.chunk_by(|a, b| a.0 == b.0).map(|same| same[0].0)
}

/// Returns the probability of at most `k` successes in `n` trials.
fn at_most(k: usize, n: usize, p: f64) -> f64 {
    let mut term = n as f64 * (1.0 - p).ln();
    let mut sum = 0.0;
    for j in 0..=k.min(n) {
        sum += term.exp();
        term += ((n - j) as f64 / (j + 1) as f64).ln() + (p / (1.0 - p)).ln();
    }
    sum.min(1.0)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// Given by `--from`; with the first end after it if the rows since then were also selected.
    Given(Option<i64>),
    Activity,
    /// Rows may have been selected by activity; the log is assumed to be complete.
    Possible,
}

pub(super) struct Window {
    begin: i64,
    why: Why,
    /// Earlier jobs that were running, waiting, or finished at the beginning.
    earlier: [u64; 3],
    /// The first and the last submission, or the beginning if it is later.
    span: [i64; 2],
    /// The work of the jobs submitted before the beginning, and from it on.
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

    pub(super) fn begin(&self) -> Option<i64> {
        (self.why != Why::Possible).then_some(self.begin)
    }

    /// Returns the job as it is at the beginning, or `None` if it had ended.
    pub(super) fn place(&mut self, job: TraceJob, work: f64) -> Option<TraceJob> {
        self.span = [self.span[0].min(job.submit), self.span[1].max(job.submit)];
        let is_early = job.submit < self.begin;
        self.work[usize::from(!is_early)] += work;
        if !is_early || self.why == Why::Possible {
            return Some(job);
        }
        let placed = job.present_at(self.begin);
        let index = |own: &TraceJob| usize::from(own.seen != Observed::Initial);
        self.earlier[placed.as_ref().map_or(2, index)] += 1;
        placed
    }

    pub(super) fn report(&self, per_second: u64, account: &mut Account) {
        let instant = |at: i64| {
            let seconds = at as f64 / per_second as f64;
            let after = at.saturating_sub(self.span[0]) as f64 / per_second as f64;
            match seconds > FIRST_DATE {
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
                    "warning: before the first end, {begin}, few jobs were submitted and they stayed long, as in rows selected by activity (sacct -S). If earlier jobs are missing, give --from {begin}, which changes the load by a factor of {ratio:.2}"
                ));
                return;
            }
            Why::Given(None) if running + waiting + ended == 0 => return,
            Why::Given(end) => {
                account.remarks.extend(end.map(|end| {
                    let end = instant(end);
                    format!("warning: the log seems to be complete only from {end} on: jobs that ended earlier have no rows, as in the output of sacct -S. Give --from {end}")
                }));
                "as given by --from"
            }
            Why::Activity => {
                "its first end: its rows were selected by activity, as by sacct -S, and are complete only from then on. Use --from for a different beginning"
            }
        };
        let depends = format!(
            " This changes the load by a factor of {ratio:.2} compared with the whole span."
        );
        let depends = Some(depends).filter(|_| is_notable).unwrap_or_default();
        account.window = Some(format!(
            "The log begins at {begin}, {why}. Of the jobs submitted earlier, {running} still ran and {waiting} still waited: they are its initial state, which is replayed but not measured. {ended} had ended and are left out.{depends}"
        ));
    }
}

impl TraceJob {
    /// Returns the job as present at an instant, with the remaining size and limit if running;
    /// `None` if it has ended. The size of a censored job is its observed part.
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
        // A suspended job ends after `start + size`, so the time to its end can exceed its size.
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
