//! What must be bought for a promise: the sizes that were looked at, and what follows.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use itertools::Itertools as _;

use super::{Table, span, time, within, wrap};
use crate::multiresource::artifact::{Delay, Promise};
use crate::multiresource::simulator::Run;
use crate::multiresource::workload::Workload;

/// A size that was looked at.
#[derive(Debug)]
pub struct Looked {
    /// It in words.
    pub words: String,
    /// Whether all is kept there.
    pub verdict: SizeVerdict,
    /// The policy, or the nearest one.
    pub policy: Option<&'static str>,
    /// What was measured of that.
    pub run: Option<Run>,
}

/// Whether a size is enough.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SizeVerdict {
    /// All promises are kept, and that by their whole 95 % intervals.
    Surely,
    /// All are kept as far as runs could see.
    Kept,
    /// The nearest policy that was found does not, and may by its interval.
    NotFound,
    /// It surely does not.
    Broken,
    /// All policies were seen to run away.
    RunsAway,
    /// No policy carries the load; or that is not known.
    Overloaded(bool),
    /// A type of jobs has no room.
    NoRoom(String),
}

impl SizeVerdict {
    /// Returns how sure it is that promises are kept, by a run in which they are.
    pub fn kept(run: Option<&Run>, promises: &[Promise], workload: &Workload) -> Self {
        let is_sure = |promise: &Promise| {
            let share = run.and_then(|run| share(run, promise, workload));
            share.is_some_and(|(kept, error)| kept - error >= promise.share)
        };
        if promises.iter().all(is_sure) {
            SizeVerdict::Surely
        } else {
            SizeVerdict::Kept
        }
    }

    /// Returns whether promises are kept.
    pub fn is_kept(&self) -> bool {
        matches!(self, SizeVerdict::Surely | SizeVerdict::Kept)
    }

    /// Returns whether the load is carried.
    pub fn carries(&self) -> bool {
        !matches!(self, SizeVerdict::Overloaded(_) | SizeVerdict::NoRoom(_))
    }

    fn cell(&self) -> &'static str {
        match self {
            SizeVerdict::Surely => "meets the target",
            SizeVerdict::Kept => "borderline, probably meets it",
            SizeVerdict::NotFound => "borderline, probably misses it",
            SizeVerdict::Broken => "misses the target",
            SizeVerdict::RunsAway => "runs away",
            SizeVerdict::Overloaded(_) => "overloaded",
            SizeVerdict::NoRoom(_) => "no room",
        }
    }

    /// Says why a size is not enough; `policy` is the nearest.
    pub fn words(&self, policy: Option<&str>) -> String {
        let policy = policy.unwrap_or("the policy");
        match self {
            SizeVerdict::Surely | SizeVerdict::Kept => format!("{policy} meets it"),
            SizeVerdict::NotFound => format!(
                "the nearest policy found, {policy}, misses it by less than its 95 % interval; a larger --work decides that"
            ),
            SizeVerdict::Broken => format!(
                "the nearest policy found, {policy}, misses it by more than its 95 % interval"
            ),
            SizeVerdict::RunsAway => "all policies that were tried were seen to run away".into(),
            SizeVerdict::Overloaded(true) => "no policy carries the load, which is proved".into(),
            SizeVerdict::Overloaded(false) => {
                "whether a policy carries the load is not known".into()
            }
            SizeVerdict::NoRoom(why) => why.clone(),
        }
    }
}

/// All that was found of sizes.
#[derive(Debug)]
pub struct Sizing<'a> {
    /// What is promised.
    pub promises: &'a [Promise],
    /// The budget of each size, in events of First-Fit with few types.
    pub budget: u64,
    /// The types.
    pub workload: &'a Workload,
    /// The name of what is bought.
    pub what: &'a str,
    /// What there is.
    pub present: u64,
    /// The least that was found to be enough.
    pub least: u64,
    /// By size.
    pub looked: BTreeMap<u64, Looked>,
    /// Whether not all was looked at.
    pub interrupted: bool,
}

impl Sizing<'_> {
    /// Says how much is needed, with what it does there and beside it, and what that means.
    pub fn text(&self, width: usize) -> String {
        let words = &self.looked[&self.least].words;
        let beside = match self.looked.get(&self.present) {
            Some(now) if self.present != self.least => format!("; now {}", now.words),
            _ => ", as now".to_owned(),
        };
        let kept = match self.promises.len() {
            1 => "the target",
            _ => "all targets",
        };
        let verdict = &self.looked[&self.least].verdict;
        let doubt = match verdict {
            SizeVerdict::Surely => {
                let less = self.looked.get(&(self.least - 1));
                let open = less.filter(|own| own.verdict == SizeVerdict::NotFound);
                let open = open.map(|own| format!(". Whether {} does is not decided", own.words));
                open.unwrap_or_default()
            }
            _ => format!(
                ". That is borderline: runs with --work {:.0e} for each size did not decide it, so raise it, or buy one more",
                self.budget as f64
            ),
        };
        let first = format!("Smallest size found that meets {kept}: {words}{beside}{doubt}.");
        let mut text = format!("{}\n\n{}\n\n", wrap(&first, width), self.table(width));
        for note in self.notes() {
            let _ = writeln!(text, "{}", wrap(&note, width));
        }
        text + "\n"
    }

    /// Returns what there is, the answer and its neighbours, a row each.
    fn table(&self, width: usize) -> String {
        let unit = self.workload.time_unit();
        let near = self.least.saturating_sub(1)..=self.least + 1;
        let shown = self.looked.iter();
        let shown = shown.filter(|(size, _)| **size == self.present || near.contains(size));
        let types = self.promises.iter().map(|own| (&own.job_type, own.delay));
        let types = types.unique_by(|(name, _)| (*name).clone()).collect_vec();
        let heads = types.iter().flat_map(|(name, delay)| {
            let what = match delay {
                Delay::Waiting => "wait",
                Delay::Response => "response",
            };
            [format!("{name}: mean {what}"), "95 % below".to_owned()]
        });
        let promises = self.promises.iter().map(|own| own.words(unit));
        let first = [self.what.to_owned(), String::new()];
        let all = first.into_iter().chain(promises).chain(heads);
        let mut table = Table::new(all.chain(["mean response time".into()])).words(1);
        for (size, own) in shown {
            let now = if *size == self.present { " (now)" } else { "" };
            let count = own.words.strip_suffix(self.what).unwrap_or(&own.words);
            let count = count.trim_end();
            let mut row = vec![format!("{count}{now}"), own.verdict.cell().to_owned()];
            let run = own.run.as_ref();
            row.extend(self.promises.iter().map(|promise| {
                let share = run.and_then(|run| share(run, promise, self.workload));
                let percent =
                    |(kept, error): (f64, f64)| within(100.0 * kept, 100.0 * error) + " %";
                share.map_or("–".into(), percent)
            }));
            for (name, delay) in &types {
                row.extend(stay(run, name, *delay, unit));
            }
            row.push(time(run.and_then(|run| run.mean_response), unit));
            table.row(row);
        }
        table.within(width)
    }

    /// Says why less is not enough, and what all of it means.
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(less) = self.looked.get(&(self.least - 1)) {
            let why = less.verdict.words(less.policy);
            notes.push(format!("With {}: {why}.", less.words));
        }
        let more = self.looked.get(&(self.least + 1));
        if let Some(more) = more.filter(|own| !own.verdict.is_kept()) {
            let why = more.verdict.words(more.policy);
            notes.push(format!(
                "With {}, though it is more: {why}. Runs of this length do not tell the two apart: buy with a margin, or raise --work.",
                more.words
            ));
        }
        let interrupted =
            "INTERRUPTED: smaller sizes were not all looked at; this is the best so far.";
        notes.extend(self.interrupted.then(|| interrupted.to_owned()));
        notes.push(MEANING.to_owned());
        notes
    }
}

const MEANING: &str = "Jobs arrive as they do now. These are simulation results, not proofs; a policy was selected separately for each size. The policy is for that size: write the size into the workload.";

/// Returns which part of the jobs a run saw keep a promise, with the half-width of its interval.
fn share(run: &Run, promise: &Promise, workload: &Workload) -> Option<(f64, f64)> {
    let watch = promise.watch(workload)?;
    let seen = run.watched.iter().find(|own| own.watch == watch)?;
    let above = seen.known(&run.types[watch.job_type])?;
    Some((1.0 - above.mean, above.half_width))
}

/// Returns the mean wait or stay of a type, and what 95 % of its jobs stay below.
fn stay(run: Option<&Run>, name: &str, delay: Delay, unit: &str) -> [String; 2] {
    let own = run.and_then(|run| run.types.iter().find(|own| own.name == name));
    let (mean, percentiles) = match (own, delay) {
        (None, _) => (None, None),
        (Some(own), Delay::Waiting) => (own.mean_waiting, own.waiting_percentiles),
        (Some(own), Delay::Response) => (own.mean_response, own.percentiles),
    };
    let percentile = percentiles.map_or("–".into(), |own| span((own[1], 0.0), unit));
    [time(mean, unit), percentile]
}
