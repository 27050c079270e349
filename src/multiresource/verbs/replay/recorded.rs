use schemars::JsonSchema;
use serde::Serialize;

use crate::artifact::Changes;
use crate::distribution::SizeDistribution;
use crate::kind::{NamedPolicy, VerbError, refuse};
use crate::multiresource::MultiresourceKind;
use crate::multiresource::replay::{
    Clock, DecisionState, ReplayJob, Visit, record, replay, visits,
};
use crate::multiresource::verbs::resolve::check_same_types;
use crate::multiresource::workload::{Fleet, SizeInformation, Workload};
use crate::number::Decimal;
use crate::simulation::{Sampler, Settings, Streams};

/// The results for a list of recorded jobs. All times are in the time unit of the policy.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Recorded {
    /// The name of the policy, or the path to its file.
    pub policy: String,
    /// The digest of the policy file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The file that contains the recorded jobs.
    pub file: String,
    /// The time unit of all values.
    pub time_unit: String,
    /// The distribution of the time for which a job holds its capacity before it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_latency: Option<SizeDistribution>,
    /// The seed for the random numbers of the policy, the start latencies and the limits, or `None`
    /// if nothing is random.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The time from the first arrival to the last departure.
    pub makespan: f64,
    /// The results for all jobs.
    pub all: OfJobs,
    /// The results for each type that has at least one job.
    pub types: Vec<OfType>,
}

/// The results of a set of jobs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct OfJobs {
    /// The number of jobs.
    pub jobs: u64,
    /// The mean time between the arrival and the departure of a job.
    pub mean_response: f64,
    /// The mean time between the arrival and the start of a job, without the start latency.
    pub mean_wait: f64,
    /// The median of the waiting times. If the number of jobs is even, this is the lower one.
    pub median_wait: f64,
    /// The longest waiting time.
    pub longest_wait: f64,
}

/// The results of the jobs of one type.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct OfType {
    /// The name of the type.
    pub name: String,
    /// The results for these jobs.
    #[serde(flatten)]
    pub jobs: OfJobs,
}

/// Runs the jobs once. If `workload` or `start_latency` are given, they replace the policy's own.
pub(super) fn run_once(
    (file, text): (&str, &[u8]),
    name: &str,
    (workload, start_latency): (Option<&Fleet>, Option<Decimal>),
    settings: &Settings,
    changes: Changes,
    listener: &mut dyn FnMut(&str),
) -> Result<Recorded, VerbError> {
    let mut fleet = workload.cloned();
    let policy = NamedPolicy::<MultiresourceKind>::resolve(name, workload, changes)?;
    check_same_types(&policy, &mut fleet)?;
    let Some(mut fleet) = fleet else {
        return refuse(format!(
            "the rule {name} requires a workload with the job types and the servers; use `--workload FILE` to specify it"
        ));
    };
    if let Some(latency) = start_latency {
        fleet = fleet.with_start_latency(latency)?;
    }
    let envelope = fleet.envelope();
    let names: Vec<&str> = envelope.types().iter().map(|t| t.name()).collect();
    let jobs = record(text, &names);
    let mut jobs = jobs.or_else(|why| refuse(format!("{file}: {why}")))?;
    let count = jobs.len();
    listener(&format!("running {count} jobs under {name}"));
    let (drawn, is_drawn) = draw(&mut jobs, envelope, settings.seed);
    let types = (0..names.len() as u32).collect();
    let scene = DecisionState {
        latency: envelope.start_latency().map_or(0.0, SizeDistribution::mean),
        drawn,
        seed: settings.seed,
        ..DecisionState::new(&jobs, types, fleet.clone(), Clock::as_written())
    };
    let replayed = replay(&policy.rule, &scene, &mut |_| !settings.is_interrupted());
    let replayed = replayed.or_else(|why| refuse(why.to_string()))?;
    let visits: Vec<Visit> = visits(&scene, &replayed, 1.0).collect();
    let types = names.iter().enumerate().filter_map(|(i, name)| {
        let own = visits.iter().filter(|visit| visit.kind as usize == i);
        Some(OfType {
            name: (*name).to_owned(),
            jobs: OfJobs::of(own)?,
        })
    });
    let Some(all) = OfJobs::of(visits.iter()) else {
        return refuse(format!("{file} does not contain any jobs"));
    };
    Ok(Recorded {
        policy: name.to_owned(),
        digest: policy.digest,
        file: file.to_owned(),
        time_unit: envelope.time_unit().to_owned(),
        start_latency: envelope.start_latency().cloned(),
        seed: (is_drawn || replayed.has_clocks).then_some(settings.seed),
        makespan: visits.iter().map(|visit| visit.end).fold(0.0, f64::max),
        all,
        types: types.collect(),
    })
}

/// Generates limits and start latencies. Returns the latencies, and `true` if anything is random.
fn draw(jobs: &mut [ReplayJob], workload: &Workload, seed: u64) -> (Vec<f64>, bool) {
    let mut stream = Streams::new(seed, 0).sizes;
    let factor = match workload.size_information() {
        Some(SizeInformation::Limit(factor)) => Some(factor),
        _ => None,
    };
    let laws = [workload.start_latency(), factor];
    let mut latencies = Vec::new();
    let [latency, factor] = laws.map(|law| law.map(Sampler::of));
    for job in jobs {
        let drawn = latency.as_ref().map(|law| law.draw(&mut stream));
        latencies.extend(drawn);
        let of_type = workload.types()[job.kind as usize].limit();
        job.limit = match (workload.size_information(), &factor, of_type) {
            (_, Some(factor), _) => job.size * factor.draw(&mut stream),
            (Some(SizeInformation::TypeLimit), _, Some(limit)) => job.size.max(limit.value()),
            _ => job.size,
        };
    }
    let mut laws = laws.into_iter().flatten();
    let is_random = laws.any(|law| !matches!(law, SizeDistribution::Deterministic { .. }));
    (latencies, is_random)
}

impl OfJobs {
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
