//! The report of a sizing: the examined sizes and the smallest one that meets the target.

use std::collections::BTreeMap;

use itertools::Itertools as _;

use crate::multiresource::artifact::{Delay, Promise};
use crate::multiresource::simulator::Run;
use crate::multiresource::workload::Workload;
use crate::report::{Cell, Column, Report, Section};
use synth_verb::cells;

/// A size that was examined.
#[derive(Debug)]
pub struct Looked {
    /// The size as text.
    pub words: String,
    /// Whether the target is met.
    pub verdict: SizeVerdict,
    /// The best policy found.
    pub policy: Option<&'static str>,
    /// The run of that policy.
    pub run: Option<Run>,
}

/// Whether a size meets the target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SizeVerdict {
    /// All guarantees are kept, with their whole 95 % intervals.
    Surely,
    /// All guarantees are kept in simulation, but not with their whole intervals.
    Kept,
    /// The best policy found misses a guarantee, but the interval includes success.
    NotFound,
    /// A guarantee is missed with its whole interval.
    Broken,
    /// All policies were unstable in simulation.
    RunsAway,
    /// No policy sustains the load; `true` if that is proved.
    Overloaded(bool),
    /// A job type does not fit on any server.
    NoRoom(String),
}

impl SizeVerdict {
    /// Returns the verdict for a run in which all guarantees are kept.
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

    /// Returns whether all guarantees are kept.
    pub fn is_kept(&self) -> bool {
        matches!(self, SizeVerdict::Surely | SizeVerdict::Kept)
    }

    pub fn carries(&self) -> bool {
        !matches!(self, SizeVerdict::Overloaded(_) | SizeVerdict::NoRoom(_))
    }

    /// Describes the verdict.
    pub fn words(&self) -> &str {
        match self {
            SizeVerdict::Surely => "meets the target",
            SizeVerdict::Kept => "borderline, probably meets it",
            SizeVerdict::NotFound => "borderline, probably misses it",
            SizeVerdict::Broken => "misses the target",
            SizeVerdict::RunsAway => "all policies tried are unstable",
            SizeVerdict::Overloaded(true) => "no policy can sustain the load (proved)",
            SizeVerdict::Overloaded(false) => "unknown whether a policy can sustain the load",
            SizeVerdict::NoRoom(why) => why,
        }
    }
}

/// The result of a sizing.
#[derive(Debug)]
pub struct Sizing<'a> {
    /// The guarantees to keep.
    pub promises: &'a [Promise],
    /// The budget per size, in simulated events of First-Fit with few types.
    pub budget: u64,
    /// The workload.
    pub workload: &'a Workload,
    /// The name of the unit that is bought.
    pub what: &'a str,
    /// The present number of units.
    pub present: u64,
    /// The smallest number of units that meets the target.
    pub least: u64,
    /// The examined sizes.
    pub looked: BTreeMap<u64, Looked>,
    /// Whether the search was interrupted.
    pub interrupted: bool,
}

impl Sizing<'_> {
    /// Returns the report: the size needed, and what happens at it and at its neighbours.
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
            report.warnings.push(format!("This size is borderline: runs with --work {budget:.0e} per size did not decide it. Raise --work, or buy one more."));
        }
        if self.interrupted {
            let note =
                "INTERRUPTED: not all smaller sizes were examined; this is the best result so far.";
            report.warnings.push(note.into());
        }
        report.sections.push(self.table().note(MEANING));
        report
    }

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

const MEANING: &str = "Jobs arrive as they do now. These are simulation results, not proofs. A policy was selected separately for each size: to use it, write that size into the workload.";

/// Returns the share of jobs that kept a guarantee in a run, with the half-width of its interval.
fn share(run: &Run, promise: &Promise, workload: &Workload) -> Option<(f64, f64)> {
    let watch = promise.watch(workload)?;
    let seen = run.watched.iter().find(|own| own.watch == watch)?;
    let above = seen.known(&run.types[watch.job_type])?;
    Some((1.0 - above.mean, above.half_width))
}
