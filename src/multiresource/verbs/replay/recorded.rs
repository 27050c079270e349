//! Recorded jobs once, under one policy.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;

use super::super::enter::same_record;
use super::super::{VerbError, refuse};
use super::enter::{described, over_a_fleet, record_of, rule};
use crate::artifact::Changes;
use crate::kind::read_policy;
use crate::law::Size;
use crate::multiresource::artifact::Checked;
use crate::multiresource::replay::{
    Clock, Job, Rule, Scene, StartLatency, Visit, record, replay, visits,
};
use crate::multiresource::simulator::Contender;
use crate::multiresource::workload::{Described, Known};
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
    pub workload: Option<&'a Described>,
    /// The start latency of jobs in place of the workload's own \[time\], ≥ 0.
    pub start_latency: Option<Decimal>,
    /// How often what is random is drawn, ≥ 1.
    pub draws: u32,
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
    /// Seed of all that was drawn.
    pub seed: u64,
    /// How often the policy's clocks, start latencies and limits were drawn; 1 where nothing is random.
    pub draws: u32,
    /// From the first arrival to the last departure.
    pub makespan: Drawn,
    /// All jobs.
    pub all: OfJobs,
    /// Those of each type that occurs.
    pub types: Vec<OfType>,
}

/// A number over the draws.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Drawn {
    /// Its mean.
    pub mean: f64,
    /// Its standard deviation; none where it is always the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deviation: Option<f64>,
}

/// What came of several jobs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OfJobs {
    /// How many they are.
    pub jobs: u64,
    /// Mean of the time from arrival to departure.
    pub mean_response: Drawn,
    /// Mean of the time from arrival to start, without the start latency.
    pub mean_wait: Drawn,
    /// The least wait that half of the jobs do not exceed.
    pub median_wait: Drawn,
    /// The longest wait.
    pub longest_wait: Drawn,
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

/// Runs recorded jobs once, and again for each draw of what is random: the policy's clocks, start latencies of a law,
/// limits of a law. `hears` is told what goes on.
///
/// # Errors
/// When the jobs cannot be read, there is no such policy, it is refused or cannot serve them.
pub fn run_once(asked: &Recording<'_>, hears: &mut dyn FnMut(&str)) -> Result<Recorded, VerbError> {
    let (rule, described, digest) = entered(asked)?;
    let described = match asked.start_latency {
        Some(latency) => described.with_start_latency(latency)?,
        None => described,
    };
    let names: Vec<&str> = described
        .envelope()
        .types()
        .iter()
        .map(|t| t.name())
        .collect();
    let jobs = record(asked.text, &names);
    let jobs = jobs.or_else(|why| refuse(format!("{}: {why}", asked.file)))?;
    let mut runs: Vec<Vec<Visit>> = Vec::new();
    for draw in 0..asked.draws {
        hears(&format!(
            "running {} jobs under {}: {} of {} draws",
            jobs.len(),
            asked.policy,
            draw + 1,
            asked.draws
        ));
        let (own, latency, random) = drawn(&jobs, &described, asked.seed, draw);
        let scene = Scene {
            jobs: &own,
            types: (0..names.len() as u32).collect(),
            described: described.clone(),
            clock: Clock::as_written(),
            latency,
            seed: asked.seed,
            draw,
        };
        let replayed = replay(&rule, &scene, &mut |_| {
            !asked.interrupt.load(Ordering::Relaxed)
        });
        let replayed = replayed.or_else(|why| refuse(why.to_string()))?;
        runs.push(visits(&scene, &replayed, 1.0).collect());
        if !random && !replayed.has_clocks {
            break;
        }
    }
    let types = names.iter().enumerate().filter_map(|(i, name)| {
        let jobs = of_jobs(&runs, |n| jobs[n].kind as usize == i)?;
        let name = (*name).to_owned();
        Some(OfType { name, jobs })
    });
    let types = types.collect();
    let Some(all) = of_jobs(&runs, |_| true) else {
        return refuse(format!("{}: there are no jobs", asked.file));
    };
    let last = |visits: &Vec<Visit>| visits.iter().map(|visit| visit.end).fold(0.0, f64::max);
    let envelope = described.envelope();
    Ok(Recorded {
        policy: asked.policy.to_owned(),
        digest,
        file: asked.file.clone(),
        time_unit: envelope.time_unit().to_owned(),
        start_latency: envelope.start_latency().cloned(),
        seed: asked.seed,
        draws: runs.len() as u32,
        makespan: Drawn::of(runs.iter().map(last)),
        all,
        types,
    })
}

/// The policy, the workload whose types jobs are, and what identifies the policy's file.
fn entered(asked: &Recording<'_>) -> Result<(Rule, Described, Option<String>), VerbError> {
    let unnamed = match Contender::parse(asked.policy) {
        Ok(contender) => {
            let Some(workload) = asked.workload else {
                return refuse(format!(
                    "the rule {} needs a workload, which tells types and servers: give --workload FILE",
                    asked.policy
                ));
            };
            let rule = match workload {
                Described::Server(_) => Rule::One(Box::new(contender)),
                Described::Fleet(_) => over_a_fleet(asked.policy)?,
            };
            return Ok((rule, workload.clone(), None));
        }
        Err(unnamed) => unnamed,
    };
    let (checked, digest): (Checked, String) = read_policy(asked.policy, unnamed, asked.changes)?;
    let rule = rule(&checked);
    let own = described(checked.workload());
    let Some(workload) = asked.workload else {
        return Ok((rule, own, Some(digest)));
    };
    same_record(&checked.artifact().workload, &record_of(workload)).or_else(refuse)?;
    Ok((rule, workload.clone(), Some(digest)))
}

/// The jobs with the limits that are known of them, their start latencies, and whether any of these is random.
fn drawn(
    jobs: &[Job],
    described: &Described,
    seed: u64,
    draw: u32,
) -> (Vec<Job>, StartLatency, bool) {
    let workload = described.envelope();
    let mut stream = Streams::new(seed, draw).sizes;
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

/// What came of those of the jobs that are wanted; none where there are none.
fn of_jobs(runs: &[Vec<Visit>], wanted: impl Fn(usize) -> bool) -> Option<OfJobs> {
    let own = |visits: &Vec<Visit>| -> Vec<Visit> {
        let numbered = visits.iter().enumerate();
        let own = numbered.filter(|(n, _)| wanted(*n));
        own.map(|(_, visit)| *visit).collect()
    };
    let runs: Vec<Vec<Visit>> = runs.iter().map(own).collect();
    let jobs = runs.first().map_or(0, Vec::len);
    let mean = |of: fn(&Visit) -> f64| {
        let means = runs.iter();
        Drawn::of(means.map(|own| own.iter().map(of).sum::<f64>() / jobs as f64))
    };
    let sorted = |own: &Vec<Visit>| -> Vec<f64> {
        let mut waits: Vec<f64> = own.iter().map(|visit| visit.wait).collect();
        waits.sort_unstable_by(f64::total_cmp);
        waits
    };
    let waits: Vec<Vec<f64>> = runs.iter().map(sorted).collect();
    (jobs > 0).then(|| OfJobs {
        jobs: jobs as u64,
        mean_response: mean(Visit::response),
        mean_wait: mean(|visit| visit.wait),
        median_wait: Drawn::of(waits.iter().map(|waits| waits[(jobs - 1) / 2])),
        longest_wait: Drawn::of(waits.iter().map(|waits| waits[jobs - 1])),
    })
}

impl Drawn {
    fn of(values: impl ExactSizeIterator<Item = f64> + Clone) -> Self {
        let count = values.len();
        let mean = values.clone().sum::<f64>() / count as f64;
        let square: f64 = values.map(|value| (value - mean).powi(2)).sum();
        let deviation = (square / (count.max(2) - 1) as f64).sqrt();
        // Below that it is rounding.
        let varies = deviation > 1e-12 * mean.abs();
        Drawn {
            mean,
            deviation: varies.then_some(deviation),
        }
    }
}

#[cfg(test)]
mod tests;
