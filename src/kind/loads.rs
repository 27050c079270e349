//! Policies compared over loads: the same for every kind of workload whose jobs queue.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Caller, Compared, Notice, VerbError, VerbResult, refuse};
use crate::report::Besides;
use crate::simulation::sweep::{
    Cells, Comparing, Comparison, Entrant, Exact, Stage, Subject, Whole, sweep,
};
use crate::simulation::{Progress, Run};

/// A workload whose jobs queue, so that policies are compared over its loads.
pub trait Queueing: Sized {
    /// What its runs measure besides response times and numbers of jobs.
    type Measures: Clone + Serialize + DeserializeOwned;

    /// Describes it for the header of a comparison; `file` is the name of its document.
    fn subject(&self, file: &str) -> Subject;

    /// Returns it with all arrival rates times `factor`; `None` where one leaves the range of numbers.
    fn scaled(&self, factor: f64) -> Option<Self>;

    /// Returns means that are known without a run, to stand beside those of policies at this load, which is its own.
    fn exact(&self, load: f64) -> Option<Exact>;

    /// Returns what a comparison reports besides response times.
    fn besides(&self) -> Besides<'_, Self::Measures, ()>;
}

/// Simulates the n-th policy on a workload.
pub trait RunPolicy<W: Queueing>:
    Fn(&W, usize, &mut dyn FnMut(Progress)) -> Result<Run<W::Measures, ()>, String>
{
}

impl<W: Queueing, F> RunPolicy<W> for F where
    F: Fn(&W, usize, &mut dyn FnMut(Progress)) -> Result<Run<W::Measures, ()>, String>
{
}

/// Compares policies at each load, beside what is known exactly there.
///
/// # Errors
/// When a load cannot be reached, or the journal not be read or written.
pub fn compare_over_loads<W: Queueing>(
    workload: &W,
    request: &Comparing<'_>,
    policies: Vec<Entrant>,
    run: impl RunPolicy<W>,
    caller: &mut Caller<'_>,
) -> VerbResult<Compared> {
    let subject = workload.subject(request.file);
    let scaled = Scaled {
        workload,
        own: subject.load,
        run,
    };
    let header = request.header(subject, policies);
    let notify = |stage: Stage<'_>| caller.notify(Notice::Comparing(stage));
    let mut comparison = sweep(header, &scaled, request, notify)?;
    if request.share.is_none() {
        add_exact(&mut comparison, workload)?;
    }
    Compared::over_loads(comparison, &workload.besides(), caller.width)
}

/// Returns the comparison that its parts make together.
///
/// # Errors
/// When its cells cannot be read, or a load not be reached.
pub fn merge_over_loads<W: Queueing>(
    workload: &W,
    whole: &Whole,
    width: usize,
) -> VerbResult<Compared> {
    let mut comparison = whole.comparison()?;
    add_exact(&mut comparison, workload)?;
    Compared::over_loads(comparison, &workload.besides(), width)
}

fn add_exact<W: Queueing>(
    comparison: &mut Comparison<W::Measures, ()>,
    workload: &W,
) -> VerbResult<()> {
    let header = &comparison.header;
    for &load in &header.loads {
        let scaled = at_load(workload, load, header.workload.load)?;
        comparison.exact.extend(scaled.exact(load));
    }
    Ok(())
}

/// The workload at the load ρ, where its own load is this.
fn at_load<W: Queueing>(workload: &W, load: f64, own: f64) -> VerbResult<W> {
    let out_of_range =
        || format!("the load {load} takes arrival rates out of the range of numbers").into();
    workload.scaled(load / own).ok_or_else(out_of_range)
}

struct Scaled<'a, W, R> {
    workload: &'a W,
    /// Its own load ρ.
    own: f64,
    run: R,
}

impl<W: Queueing, R: RunPolicy<W>> Cells for Scaled<'_, W, R> {
    type Scene = W;
    type Measures = W::Measures;
    type OfClass = ();
    type Error = VerbError;

    fn scene(&self, load: f64) -> VerbResult<W> {
        at_load(self.workload, load, self.own)
    }

    fn run(
        &self,
        scene: &W,
        policy: usize,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Run<W::Measures, ()>, String> {
        (self.run)(scene, policy, progress)
    }
}

/// Returns the workload that a policy is simulated on: the one that is named, or that of the policy's file.
///
/// # Errors
/// When there is neither.
pub fn workload_of<W: Clone>(policy: &str, named: Option<W>, own: Option<&W>) -> VerbResult<W> {
    match named.or_else(|| own.cloned()) {
        Some(workload) => Ok(workload),
        None => refuse(format!(
            "{policy} is a rule: name the workload with --workload FILE"
        )),
    }
}
