//! The policy file of a rule, with the claims that are proved or measured.

use itertools::Itertools;

use super::trials::{DONE, measured};
use crate::analysis::value;
use crate::modulation::Modulation;
use crate::program::Solution;
use crate::synthesis::partition::Partitioned;
use crate::synthesis::{PHASE_LIMIT, claims, proof};
use synth_multiresource::artifact::{
    Artifact, Claim, Family, HoldsFor, Method, Objective, Quantity, SimulationRecord,
};
use synth_multiresource::simulator::{Estimate, Run, Threshold, TypeResult};
use synth_multiresource::workload::{Fleet, JobType, Workload};

/// Returns the policy file with all proofs, and the results of a run if they are to be claimed.
pub(super) fn artifact(
    fleet: &Fleet,
    (solution, slots): (&Solution, Option<&Partitioned>),
    policy: &Family,
    run: Option<(&Run, Objective)>,
) -> Artifact {
    let workload = fleet.envelope();
    let simulated = run.map(|(run, objective)| simulated(run, objective, workload));
    let simulated = simulated.unwrap_or_default();
    let own = match (policy, slots) {
        (Family::Partition(_), Some(slots)) => {
            let of_numbers = |own: &Vec<f64>| claims::of_numbers(workload, Method::ExactQbd, own);
            slots.numbers.as_ref().map(of_numbers).unwrap_or_default()
        }
        (Family::Guarded(own), slots) => {
            let chain = |msr| Modulation::new(workload, msr, PHASE_LIMIT).ok();
            let loads = match own.guard.msr() {
                Some(msr) => chain(msr).map(|chain| chain.loads(workload)),
                None => slots.map(|slots| slots.loads.clone()),
            };
            let proved = claims::under_guard(workload, &loads.unwrap_or_default());
            [proved, simulated].concat()
        }
        _ => simulated,
    };
    let mut artifact = proof::artifact(fleet, solution, policy.clone(), own);
    artifact.evidence.simulation = run.map(|(run, _)| SimulationRecord {
        seed: run.seed,
        replications: run.replications.len() as u32,
        events: run.events,
    });
    artifact
}

fn simulated(run: &Run, objective: Objective, workload: &Workload) -> Vec<Claim> {
    let simulated = (Method::Simulated, HoldsFor::default());
    let claimed = |quantity, of: Option<usize>, own: Estimate| Claim {
        half_width: Some(own.half_width),
        ..claims::claim(workload, &simulated, quantity, of, own.mean)
    };
    let claim = |quantity, of: Option<usize>, own: Option<Estimate>, least: f64| {
        let own = reaching(own?, least);
        // A value that is too rare to be measured is not claimed.
        (own.mean > 0.0 && own.half_width < own.mean).then(|| claimed(quantity, of, own))
    };
    // The value may be raised to its lower bound, because no other result follows from it. (The
    // record of the selection follows from the measured responses.) For constant arrivals and
    // sizes, only the ends of a replication are uncertain, by about one job.
    let number = |of: Option<usize>, own: Option<Estimate>, least: f64, cut: f64| {
        let claim = claim(Quantity::MeanNumber, of, own, least)?;
        Some(Claim {
            value: claim.value.max(least),
            half_width: claim.half_width.map(|own| own.max(cut)),
            ..claim
        })
    };
    let cut = |of: &TypeResult| {
        let at_ends = of.mean_number.map_or(0.0, |number| number.mean.min(1.0));
        at_ends * run.replications.len() as f64 / of.completions.max(1) as f64
    };
    let of_all = |quantity, of| {
        let least = least(of, workload);
        claim(quantity, None, measured(of, run).0, least)
    };
    let present = least(Objective::Mean, workload) * workload.total_arrival_rate();
    let ends = run.types.iter().map(cut).sum();
    let mut claims = vec![
        of_all(Quantity::MeanResponse, Objective::Mean),
        of_all(Quantity::WeightedResponse, Objective::Weighted),
        number(None, run.mean_number, present, ends),
    ];
    if objective == Objective::P99 {
        claims.push(of_all(Quantity::ResponseP99, Objective::P99));
    }
    for watched in &run.watched {
        let (quantity, time) = match watched.watch.threshold {
            Threshold::Waiting(time) => (Quantity::WaitingAbove, time),
            Threshold::Response(time) => (Quantity::ResponseAbove, time),
            Threshold::Number(_) => continue,
        };
        let i = watched.watch.job_type;
        claims.push(watched.known(&run.types[i]).map(|above| Claim {
            longer_than: Some(time),
            ..claimed(quantity, Some(i), above)
        }));
    }
    let types = run.types.iter().zip(workload.types()).enumerate();
    for (i, (own, kind)) in types.filter(|(_, (own, _))| own.completions >= DONE) {
        let (response, size, load) = (own.mean_response, kind.mean_size(), kind.offered_load());
        claims.push(claim(Quantity::MeanResponse, Some(i), response, size));
        claims.push(number(Some(i), own.mean_number, load, cut(own)));
        let [[_, response, _], [wait_p50, wait_p95, wait_p99]] = own.spread;
        // If a percentile cannot be measured because the event is too rare, it is not claimed, except
        // if almost no job waits.
        let is_known = |own: &Estimate| own.half_width < own.mean || own.half_width == 0.0;
        for (quantity, own) in [
            (Quantity::WaitingP50, wait_p50),
            (Quantity::WaitingP95, wait_p95),
            (Quantity::WaitingP99, wait_p99),
            (Quantity::ResponseP95, response),
        ] {
            let known = own.filter(is_known);
            claims.push(known.map(|own| claimed(quantity, Some(i), own)));
        }
    }
    claims.into_iter().flatten().collect()
}

/// Returns a lower bound on the objective from the run times; 0 if there is none.
pub(super) fn least(objective: Objective, workload: &Workload) -> f64 {
    let loads = workload.types().iter().map(JobType::offered_load);
    match objective {
        Objective::Mean | Objective::Weighted => value(&loads.collect_vec(), workload, objective),
        Objective::P99 => 0.0,
    }
}

/// Widens the interval so that it includes this lower bound. For constant arrivals and sizes, all
/// batches are equal, but the mean may be below the bound because a window ends within a period.
/// This can also happen with a few jobs whose sizes vary much.
pub(super) fn reaching(found: Estimate, least: f64) -> Estimate {
    Estimate {
        half_width: found.half_width.max(least - found.mean),
        ..found
    }
}
