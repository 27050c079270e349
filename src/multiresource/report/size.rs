//! What must be bought for a promise: the sizes that were looked at, and what follows.

use std::collections::BTreeMap;

use itertools::Itertools as _;

use crate::multiresource::artifact::{Delay, Promise};
use crate::multiresource::simulator::Run;
use crate::multiresource::workload::Workload;
use crate::report::{Cell, Column, Report, Section};
use synth_verb::cells;

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

    /// Returns the verdict in words.
    pub fn words(&self) -> &str {
        match self {
            SizeVerdict::Surely => "meets the target",
            SizeVerdict::Kept => "borderline, probably meets it",
            SizeVerdict::NotFound => "borderline, probably misses it",
            SizeVerdict::Broken => "misses the target",
            SizeVerdict::RunsAway => "all policies that were tried run away",
            SizeVerdict::Overloaded(true) => "no policy carries the load, which is proved",
            SizeVerdict::Overloaded(false) => "not known whether a policy carries the load",
            SizeVerdict::NoRoom(why) => why,
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
    /// Describes how much is needed, what happens there and at the next sizes, and what that means.
    pub fn report(&self) -> Report {
        let own = &self.looked[&self.least];
        let now = match self.looked.get(&self.present) {
            Some(now) if self.present != self.least => format!("; now {}", now.words),
            _ => ", as now".to_owned(),
        };
        let first = format!("Smallest size found that meets --slo: {}{now}.", own.words);
        let mut report = Report::from(first);
        let budget = self.budget as f64;
        if own.verdict != SizeVerdict::Surely {
            report.warnings.push(format!("That is borderline: runs with --work {budget:.0e} for each size did not decide it, so raise it, or buy one more."));
        }
        if self.interrupted {
            let note = "INTERRUPTED: smaller sizes were not all examined; this is the best so far.";
            report.warnings.push(note.into());
        }
        report.sections.push(self.table().note(MEANING));
        report
    }

    /// Returns the present size, the answer and its neighbours, a row each.
    fn table(&self) -> Section {
        let unit = self.workload.time_unit();
        let near = self.least.saturating_sub(1)..=self.least + 1;
        let shown = self.looked.iter();
        let shown = shown.filter(|(size, _)| **size == self.present || near.contains(size));
        let mut section = Section::new("", [self.what, "", "policy"]);
        for promise in self.promises {
            let column = Column::of(&promise.words(unit), "%");
            section.columns.push(column);
        }
        let types = self.promises.iter().map(|own| (&own.job_type, own.delay));
        let types = types.unique_by(|(name, _)| (*name).clone()).collect_vec();
        for (name, delay) in &types {
            let what = match delay {
                Delay::Waiting => "wait",
                Delay::Response => "response",
            };
            let names = [format!("{name}: mean {what}"), "95 % below".to_owned()];
            section
                .columns
                .extend(names.map(|name| Column::of(&name, unit)));
        }
        section.columns.push(Column::of("E[T]", unit));
        for (size, own) in shown {
            let now = if *size == self.present { " (now)" } else { "" };
            let count = own.words.strip_suffix(self.what).unwrap_or(&own.words);
            let run = own.run.as_ref();
            let mut row = cells![
                format!("{}{now}", count.trim_end()),
                own.verdict.words(),
                own.policy
            ];
            row.extend(self.promises.iter().map(|promise| {
                let share = run.and_then(|run| share(run, promise, self.workload));
                Cell::from(share)
            }));
            for (name, delay) in &types {
                let types = run.map_or(&[][..], |run| &run.types);
                let own = types.iter().find(|own| own.name == **name);
                let (mean, p95) = match (own, delay) {
                    (None, _) => (None, None),
                    (Some(own), Delay::Waiting) => (own.mean_waiting, own.waiting_percentiles),
                    (Some(own), Delay::Response) => (own.mean_response, own.percentiles),
                };
                row.extend([mean.into(), p95.map(|own| own[1]).into()]);
            }
            row.push(run.and_then(|run| run.mean_response).into());
            section.rows.push(row);
        }
        section
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
