//! Recorded jobs once, under one policy.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;

use super::super::{VerbError, refuse};
use super::enter::policy_file;
use crate::artifact::Changes;
use crate::law::Size;
use crate::multiresource::replay::{
    Clock, DecisionState, Job, StartLatency, Visit, record, replay, visits,
};
use crate::multiresource::simulator::Contender;
use crate::multiresource::workload::{Fleet, Known};
use crate::number::Decimal;
use crate::simulation::{Sampler, Streams};

/// Jobs that were recorded, a policy, and how it is run.
pub struct Recording<'a> {
    /// What the jobs are read from, as it is called.
    pub file: String,
    /// The jobs as a table.
    pub text: &'a [u8],
    /// A rule by name, or a policy file.
    pub policy: &'a str,
    /// The workload whose types the jobs are, where it is not that of the policy file.
    pub workload: Option<&'a Fleet>,
    /// The start latency of jobs in place of the workload's own \[time\], ≥ 0.
    pub start_latency: Option<Decimal>,
    /// Seed of all that is drawn.
    pub seed: u64,
    /// What becomes of a policy file that was changed after it was written.
    pub changes: Changes,
    /// Once it is set, the run ends without an answer.
    pub interrupt: Arc<AtomicBool>,
}

/// What came of recorded jobs. Times are in the policy's unit.
#[derive(Clone, Debug, Serialize)]
pub struct Recorded {
    /// The policy's name, or its file.
    pub policy: String,
    /// What identifies its file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// What the jobs were read from.
    pub file: String,
    /// The unit of all times.
    pub time_unit: String,
    /// The law of the time for which a job holds its room before it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_latency: Option<Size>,
    /// Seed of the policy's clocks, start latencies and limits; none where nothing was drawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// From the first arrival to the last departure.
    pub makespan: f64,
    /// All jobs.
    pub all: OfJobs,
    /// Those of each type that occurs.
    pub types: Vec<OfType>,
}

/// What came of several jobs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OfJobs {
    /// How many they are.
    pub jobs: u64,
    /// Mean of the time from arrival to departure.
    pub mean_response: f64,
    /// Mean of the time from arrival to start, without the start latency.
    pub mean_wait: f64,
    /// The least wait that half of the jobs do not exceed.
    pub median_wait: f64,
    /// The longest wait.
    pub longest_wait: f64,
}

/// What came of the jobs of a type.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OfType {
    /// Its name.
    pub name: String,
    /// What came of them.
    #[serde(flatten)]
    pub jobs: OfJobs,
}

/// Runs recorded jobs once. The policy's clocks, start latencies of a law and limits of a law are drawn. `hears` is told
/// what goes on.
///
/// # Errors
/// When the jobs cannot be read, there is no such policy, it is refused or cannot serve them.
pub fn run_once(
    asked: &Recording<'_>,
    listener: &mut dyn FnMut(&str),
) -> Result<Recorded, VerbError> {
    let (rule, fleet, digest) = entered(asked)?;
    let fleet = match asked.start_latency {
        Some(latency) => fleet.with_start_latency(latency)?,
        None => fleet,
    };
    let envelope = fleet.envelope();
    let names: Vec<&str> = envelope.types().iter().map(|t| t.name()).collect();
    let jobs = record(asked.text, &names);
    let jobs = jobs.or_else(|why| refuse(format!("{}: {why}", asked.file)))?;
    let count = jobs.len();
    listener(&format!("running {count} jobs under {}", asked.policy));
    let (own, latency, is_drawn) = drawn(&jobs, &fleet, asked.seed);
    let scene = DecisionState {
        jobs: &own,
        types: (0..names.len() as u32).collect(),
        fleet: fleet.clone(),
        clock: Clock::as_written(),
        latency,
        seed: asked.seed,
    };
    let replayed = replay(&rule, &scene, &mut |_| {
        !asked.interrupt.load(Ordering::Relaxed)
    });
    let replayed = replayed.or_else(|why| refuse(why.to_string()))?;
    let visits: Vec<Visit> = visits(&scene, &replayed, 1.0).collect();
    let of = |i: Option<usize>| {
        let own = visits.iter().zip(&jobs);
        let own = own.filter(|(_, job)| i.is_none_or(|i| job.kind as usize == i));
        OfJobs::of(own.map(|(visit, _)| visit))
    };
    let types = names.iter().enumerate().filter_map(|(i, name)| {
        let name = (*name).to_owned();
        Some(OfType {
            name,
            jobs: of(Some(i))?,
        })
    });
    let types = types.collect();
    let Some(all) = of(None) else {
        return refuse(format!("{}: there are no jobs", asked.file));
    };
    Ok(Recorded {
        policy: asked.policy.to_owned(),
        digest,
        file: asked.file.clone(),
        time_unit: envelope.time_unit().to_owned(),
        start_latency: envelope.start_latency().cloned(),
        seed: (is_drawn || replayed.has_clocks).then_some(asked.seed),
        makespan: visits.iter().map(|visit| visit.end).fold(0.0, f64::max),
        all,
        types,
    })
}

/// The policy, the workload whose types jobs are, and what identifies the policy's file.
fn entered(asked: &Recording<'_>) -> Result<(Contender, Fleet, Option<String>), VerbError> {
    let mut types = asked.workload.cloned();
    let named = match &types {
        Some(fleet) => Contender::named(asked.policy, fleet),
        None => Contender::parse(asked.policy).map_err(|why| why.to_string()),
    };
    let (rule, digest) = match named {
        Ok(rule) => (rule, None),
        Err(no_rule) => {
            let (rule, digest) = policy_file(asked.policy, &no_rule, asked.changes, &mut types)?;
            (rule, Some(digest))
        }
    };
    match types {
        Some(types) => Ok((rule, types, digest)),
        None => refuse(format!(
            "the rule {} needs a workload, which tells types and servers: give --workload FILE",
            asked.policy
        )),
    }
}

/// The jobs with the limits that are known of them, their start latencies, and whether any of these is random.
fn drawn(jobs: &[Job], fleet: &Fleet, seed: u64) -> (Vec<Job>, StartLatency, bool) {
    let workload = fleet.envelope();
    let mut stream = Streams::new(seed, 0).sizes;
    let mut is_random = |law: &Size| !matches!(law, Size::Deterministic { .. });
    let latency = workload.start_latency();
    let factor = match workload.known() {
        Some(Known::Limit(factor)) => Some(factor),
        _ => None,
    };
    let random = latency.is_some_and(&mut is_random) || factor.is_some_and(&mut is_random);
    let [law, factor] = [latency, factor].map(|law| law.map(Sampler::of));
    let mut late = StartLatency::same(latency.map_or(0.0, Size::mean));
    let mut own = jobs.to_vec();
    for job in &mut own {
        late.drawn
            .extend(law.as_ref().map(|law| law.draw(&mut stream)));
        let of_type = workload.types()[job.kind as usize].limit();
        job.limit = match (workload.known(), &factor, of_type) {
            (_, Some(factor), _) => job.size * factor.draw(&mut stream),
            (Some(Known::TypeLimit), _, Some(limit)) => job.size.max(limit.value()),
            _ => job.size,
        };
    }
    (own, late, random)
}

impl OfJobs {
    /// What came of these jobs; none where there are none.
    fn of<'a>(visits: impl Iterator<Item = &'a Visit>) -> Option<Self> {
        let visits: Vec<&Visit> = visits.collect();
        let mut waits: Vec<f64> = visits.iter().map(|visit| visit.wait).collect();
        waits.sort_unstable_by(f64::total_cmp);
        let count = visits.len() as f64;
        let responses: f64 = visits.iter().map(|visit| visit.response()).sum();
        Some(OfJobs {
            jobs: visits.len() as u64,
            mean_response: responses / count,
            mean_wait: visits.iter().map(|visit| visit.wait).sum::<f64>() / count,
            median_wait: *waits.get(waits.len().checked_sub(1)? / 2)?,
            longest_wait: *waits.last()?,
        })
    }
}

#[cfg(test)]
mod tests;
