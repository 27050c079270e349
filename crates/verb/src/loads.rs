use std::time::Duration;

use itertools::Itertools as _;
use serde::Serialize;
use serde::de::DeserializeOwned;
use synth_core::artifact::Content as _;

use crate::report::{KindMeasurements, number};
use crate::{Caller, NamedPolicy, Notice, Rules, VerbOutput, VerbResult, WorkloadOf, refuse};
use synth_simulation::sweep::{
    Comparing, Comparison, ExactMeans, SweepProgress, SweepWorkload, Whole, sweep,
};
use synth_simulation::{Progress, Run};

/// A workload with queues, so that policies can be compared at several loads.
pub trait Queueing: Sized {
    /// The additional measurements of a run.
    type Measures: Clone + Serialize + DeserializeOwned;
    /// The additional measurements for each type of job.
    type OfClass: Clone + Serialize + DeserializeOwned;

    /// Returns the source of the workload, if there is one, and its unit of time.
    fn origin(&self) -> (Option<String>, &str);

    /// Returns the load, which must be computed within this time, or an error if it is not known.
    fn own_load(&self, time: Option<Duration>) -> VerbResult<f64>;

    /// Multiplies all arrival rates by `factor`, or returns `None` if a rate is out of range.
    fn scaled(&self, factor: f64) -> Option<Self>;

    /// Returns the means that are known without a simulation, for a workload with this load.
    fn exact(&self, _load: f64) -> Option<ExactMeans> {
        None
    }

    /// Returns the additional contents of a comparison report.
    fn besides(&self) -> KindMeasurements<'_, Self::Measures, Self::OfClass>;
}

type RunOf<W> = Run<<W as Queueing>::Measures, <W as Queueing>::OfClass>;

/// Compares policies at each load. `run` is told whether the load is the highest.
///
/// # Errors
/// Returns an error if a policy is not found or is rejected, if no policy can run on the workload,
/// if a load is not possible, or if the journal cannot be read or written.
pub fn compare_over_loads<K: Rules, W: Queueing>(
    workload: &WorkloadOf<K>,
    queueing: &W,
    comparing: &Comparing<'_>,
    run: impl Fn(&NamedPolicy<K>, &W, bool, &mut dyn FnMut(Progress)) -> Result<RunOf<W>, String>,
    caller: &mut Caller<'_>,
) -> VerbResult<VerbOutput> {
    let (names, changes) = (comparing.policies, comparing.changes);
    let policies = NamedPolicy::<K>::resolve_each(names, Some(workload), changes)?;
    let fitting: Vec<_> = policies.iter().map(|own| K::fits(own, workload)).collect();
    if fitting.iter().all(Result::is_err) {
        let mut misfits = fitting.iter().filter_map(|own| own.as_ref().err());
        let misfits = misfits.join("; ");
        return refuse(format!("no policy can run on this workload: {misfits}"));
    }
    caller.notify(Notice::Doing("solving for the load"));
    let (source, time_unit) = queueing.origin();
    let subject = SweepWorkload {
        file: comparing.file.into(),
        source,
        digest: K::Content::digest(workload),
        time_unit: time_unit.into(),
        load: queueing.own_load(comparing.settings.time)?,
    };
    caller.notify(Notice::Interruptible);
    let entrants = policies.iter().map(|policy| policy.entry(workload));
    let load = subject.load;
    let header = comparing.header(subject, entrants.collect());
    let highest = header.loads.iter().copied().fold(0.0, f64::max);
    let scene = |at: f64| {
        let workload = at_load(queueing, at, load)?;
        VerbResult::Ok((workload, at.to_bits() == highest.to_bits()))
    };
    let run = |(workload, is_highest): &(W, bool), n: usize, progress: &mut dyn FnMut(Progress)| {
        fitting[n].clone()?;
        run(&policies[n], workload, *is_highest, progress)
    };
    let note = for_another_load(&policies, workload, load, &header.loads);
    let note = note.into_iter().chain(as_run(&policies, workload));
    let notify = |stage: SweepProgress<'_>| caller.notify(Notice::Comparing(stage));
    let comparison = sweep(header, comparing, scene, run, notify)?;
    let mut output = match comparing.share {
        None => with_exact(comparison, queueing),
        Some(_) => VerbOutput::over_loads(comparison, &queueing.besides()),
    }?;
    output.notes.extend(note);
    Ok(output)
}

fn for_another_load<K: Rules>(
    policies: &[NamedPolicy<K>],
    workload: &WorkloadOf<K>,
    load: f64,
    loads: &[f64],
) -> Option<String> {
    let is_other = |other: &&f64| (**other - load).abs() > 1e-3 * load;
    let other = loads.iter().find(is_other)?;
    let is_tuned = |own: &&NamedPolicy<K>| own.claims_for(workload).is_some();
    let tuned = policies.iter().filter(is_tuned);
    let names = tuned.map(|own| own.name.as_str()).join(", ");
    let load = number(load);
    (!names.is_empty()).then(|| {
        format!(
            "Made for load {load} only: {names}. For another load use `synth --load {other} …`."
        )
    })
}

fn as_run<K: Rules>(policies: &[NamedPolicy<K>], workload: &WorkloadOf<K>) -> Option<String> {
    let analyzed = policies.iter().filter(|own| {
        let claims = own.claims_for(workload);
        claims.is_some_and(K::is_analyzed_otherwise)
    });
    let names = analyzed.map(|own| own.name.as_str()).join(", ");
    (!names.is_empty()).then(|| {
        format!(
            "The exact means in {names} are for the policy as it is analyzed, without backfilling. The tables show the policy as it runs."
        )
    })
}

/// Merges the parts of a comparison, unless one cannot be read or a load is not possible.
pub fn merge_over_loads<W: Queueing>(workload: &W, whole: &Whole) -> VerbResult<VerbOutput> {
    with_exact(whole.comparison()?, workload)
}

fn with_exact<W: Queueing>(
    mut comparison: Comparison<W::Measures, W::OfClass>,
    workload: &W,
) -> VerbResult<VerbOutput> {
    let header = &comparison.header;
    for &load in &header.loads {
        let scaled = at_load(workload, load, header.workload.load)?;
        comparison.exact.extend(scaled.exact(load));
    }
    VerbOutput::over_loads(comparison, &workload.besides())
}

/// Multiplies all arrival rates to reach this load. It fails if the own load is unknown.
pub fn scaled_to<W: Queueing>(workload: &W, load: f64) -> VerbResult<W> {
    at_load(workload, load, workload.own_load(None)?)
}

fn at_load<W: Queueing>(workload: &W, load: f64, own: f64) -> VerbResult<W> {
    let out_of_range =
        || format!("at load {load}, arrival rates are out of the range of numbers").into();
    workload.scaled(load / own).ok_or_else(out_of_range)
}
