use std::collections::BTreeMap;

use itertools::Itertools as _;

use super::Synthesized;
use crate::multiresource::artifact::{Delay, Guarantee};
use crate::multiresource::simulator::Run;
use crate::multiresource::synthesis::SynthesisLog;
use crate::multiresource::workload::Workload;
use crate::report::{Cell, Column, Report, Section};
use synth_verb::cells;

pub(crate) struct ExaminedSize {
    pub words: String,
    pub verdict: SizeVerdict,
    pub policy: Option<&'static str>,
    pub run: Option<Run>,
    /// The policy if it meets the target.
    pub found: Option<Box<(Synthesized, SynthesisLog)>>,
}

#[derive(PartialEq, Eq)]
pub(crate) enum SizeVerdict {
    /// All guarantees are met, and this is true for the whole 95 % interval of each of them.
    Met,
    /// All guarantees are met in the simulation, but not for the whole interval.
    Kept,
    /// The best policy that was found does not meet a guarantee, but this may be due to chance.
    BorderlineMissed,
    /// There is a guarantee that is not met for any value in its interval.
    Broken,
    Unstable,
    /// No policy can sustain the load. The value is `true` if this has been proved.
    Overloaded(bool),
    DoesNotFit(String),
}

impl SizeVerdict {
    pub(crate) fn kept(run: Option<&Run>, promises: &[Guarantee], workload: &Workload) -> Self {
        let is_sure = |promise: &Guarantee| {
            let share = run.and_then(|run| share(run, promise, workload));
            share.is_some_and(|(kept, error)| kept - error >= promise.share)
        };
        if promises.iter().all(is_sure) {
            SizeVerdict::Met
        } else {
            SizeVerdict::Kept
        }
    }

    pub(crate) fn is_kept(&self) -> bool {
        matches!(self, SizeVerdict::Met | SizeVerdict::Kept)
    }

    pub(crate) fn sustains_load(&self) -> bool {
        use SizeVerdict::{DoesNotFit, Overloaded};
        !matches!(self, Overloaded(_) | DoesNotFit(_))
    }

    pub(crate) fn describe(&self) -> &str {
        match self {
            SizeVerdict::Met => "meets the target",
            SizeVerdict::Kept => "not certain, but it probably meets the target",
            SizeVerdict::BorderlineMissed => "not certain, but it probably misses the target",
            SizeVerdict::Broken => "misses the target",
            SizeVerdict::Unstable => "all policies were unstable in the simulation",
            SizeVerdict::Overloaded(true) => "there is a proof that no policy can sustain the load",
            SizeVerdict::Overloaded(false) => {
                "it is not known if there is a policy that can sustain the load"
            }
            SizeVerdict::DoesNotFit(why) => why,
        }
    }
}

pub(crate) struct Sizing<'a> {
    pub promises: &'a [Guarantee],
    /// The budget for each size, in events of First-Fit with a small number of types.
    pub budget: u64,
    pub workload: &'a Workload,
    /// The name of the unit that would be bought.
    pub what: &'a str,
    /// The current number of units.
    pub present: u64,
    /// The smallest number of units that meets the target.
    pub least: u64,
    pub looked: &'a BTreeMap<u64, ExaminedSize>,
    pub interrupted: bool,
}

impl Sizing<'_> {
    pub(crate) fn report(&self) -> Report {
        let own = &self.looked[&self.least];
        let now = match self.looked.get(&self.present) {
            Some(now) if self.present != self.least => format!("; now {}", now.words),
            _ => ", as now".to_owned(),
        };
        let mut report = Report::from(format!(
            "The smallest size found that meets `--slo` is {}{now}.",
            own.words
        ));
        let budget = self.budget as f64;
        if own.verdict != SizeVerdict::Met {
            report.warnings.push(format!("It is not certain that this size is large enough: runs with --work {budget:.0e} for each size were too short to decide it. Use a larger value for `--work`, or add one more unit."));
        }
        if self.interrupted {
            let note = "INTERRUPTED: some of the smaller sizes have not been tested, so this is only the best result so far.";
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
        let promised = self.promises.iter().map(|own| own.describe(unit));
        let promised = promised.map(|name| Column::of(&name, "%"));
        section.columns.extend(promised);
        let types = self.promises.iter().map(|own| (&own.job_type, own.delay));
        let types = types.unique_by(|(name, _)| (*name).clone()).collect_vec();
        for (name, delay) in &types {
            let what = match delay {
                Delay::Waiting => "wait",
                Delay::Response => "response",
            };
            let names = [&*format!("{name}: mean {what}"), "95 % below"];
            let columns = names.map(|name| Column::of(name, unit));
            section.columns.extend(columns);
        }
        section.columns.push(Column::of("E[T]", unit));
        for (size, own) in shown {
            let now = if *size == self.present { " (now)" } else { "" };
            let count = own.words.strip_suffix(self.what).unwrap_or(&own.words);
            let run = own.run.as_ref();
            let mut row = cells![
                format!("{}{now}", count.trim_end()),
                own.verdict.describe(),
                own.policy
            ];
            row.extend(
                self.promises.iter().map(|promise| {
                    Cell::from(run.and_then(|run| share(run, promise, self.workload)))
                }),
            );
            for (name, delay) in &types {
                let types = run.map_or(&[][..], |run| &run.types);
                let own = types.iter().find(|own| own.name == **name);
                let (mean, p95) = own.map_or((None, None), |own| match delay {
                    Delay::Waiting => (own.mean_waiting, own.waiting_percentiles),
                    Delay::Response => (own.mean_response, own.percentiles),
                });
                row.extend([mean.into(), p95.map(|own| own[1]).into()]);
            }
            row.push(run.and_then(|run| run.mean_response).into());
            section.rows.push(row);
        }
        section
    }
}

const MEANING: &str = "The arrival rates of the jobs are not changed. These are the results of a simulation and not a proof. The policy is selected again for each size. To use this policy, change the size in the workload file.";

fn share(run: &Run, promise: &Guarantee, workload: &Workload) -> Option<(f64, f64)> {
    let watch = promise.watch(workload)?;
    let seen = run.watched.iter().find(|own| own.watch == watch)?;
    let above = seen.known(&run.types[watch.job_type])?;
    Some((1.0 - above.mean, above.half_width))
}
