//! This module compares an advice with the jobs that were recorded after the change was made.
//!
//! It is not known how long these jobs would have waited without the change. This is estimated by a
//! replay with the previous settings, multiplied by the ratio of the recorded to the replayed mean
//! wait in the log of the advice. A replay of the new settings cannot be used for this, because a
//! change that is not in effect would then seem to keep its promise.

use std::sync::atomic::{AtomicBool, Ordering};

use itertools::Itertools as _;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ChangedSettings, Configuration, Effect, FEWEST, FEWEST_OF_GROUP, JobGroup, mean};
use crate::agreement::Agreement;
use crate::classes::classes;
use synth_slurm::configuration::SlurmSite;
use synth_slurm::rule::Facts;
use synth_traces::replay::{DemandKinds, Interval, Log, early};

/// The parts of an advice that are compared with the jobs after the change.
#[derive(Clone, Debug, Deserialize)]
pub struct PastAdvice {
    cluster: String,
    is_advised: bool,
    changed: ChangedSettings,
    gain: Option<Effect>,
    likeness: Option<PastAgreement>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
struct PastAgreement {
    recorded: f64,
    replayed: f64,
}

/// A comparison of an advice with the jobs that were recorded after the change. All times are in
/// seconds.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Promises {
    /// The promise for all jobs.
    pub all: Promise,
    /// The promises for classes of jobs.
    pub classes: Vec<Promise>,
    /// The promises for users.
    pub users: Vec<Promise>,
    /// Whether the waits with the change were recorded. Otherwise, they are from a replay.
    pub is_recorded: bool,
    /// The ratio of the recorded to the replayed mean wait in the log of the advice. The replayed
    /// waits without the change are multiplied by it.
    pub correction: f64,
    /// The ratio of the mean wait in a replay with the change to that in a replay without it.
    pub replayed: Option<f64>,
    /// A comparison of the replay with the log after the change.
    pub likeness: Option<Agreement>,
    /// The settings of the advice that are missing.
    pub missing: Vec<String>,
}

/// The promise for a group of jobs, and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Promise {
    /// The name of the group.
    pub name: String,
    /// The number of jobs after the change.
    pub jobs: u64,
    /// The ratio of the mean waits with and without the change that was promised.
    pub promised: Option<f64>,
    /// The 95 % interval that was promised for the ratio.
    pub interval: Option<Interval>,
    /// The estimated mean wait without the change.
    pub without: Option<f64>,
    /// The mean wait with the change.
    pub with: Option<f64>,
    /// The ratio of the mean waits with and without the change.
    pub ratio: Option<f64>,
    /// Whether the ratio is at most the upper end of the interval. This is not known if there are too
    /// few jobs.
    pub is_kept: Option<bool>,
}

impl PastAdvice {
    /// Reads a document that was written by `synth advise`.
    ///
    /// # Errors
    /// If it is another document, or if it does not contain an advice.
    pub fn read(text: &str) -> Result<Self, String> {
        let why = "expected the results of `synth advise slurm LOG -o FILE`";
        let own: Value = serde_json::from_str(text)
            .map_err(|error| format!("this is not a document of synth ({error}); {why}"))?;
        if (own["format"].as_str(), own["version"].as_u64()) != (Some("synth-advice"), Some(1)) {
            let (format, version) = (&own["format"], &own["version"]);
            return Err(format!(
                "the format is {format}, version {version}; {why}, version 1"
            ));
        }
        let own: PastAdvice = serde_json::from_value(own).map_err(|error| {
            format!("the advice is incomplete ({error}); if it was written by an older version of synth, repeat `synth advise` with the old log and the old configuration")
        })?;
        if !own.is_advised || own.gain.is_none() {
            return Err("no change was advised there, so there is no promise to check".into());
        }
        Ok(own)
    }
}

/// The waits of each job with and without the change in seconds.
struct Waits<'a> {
    log: &'a Log,
    with: Vec<f64>,
    without: Vec<f64>,
}

impl Waits<'_> {
    fn promise(&self, name: &str, of: &JobGroup, jobs: &[usize], fewest: usize) -> Promise {
        let mean = |waits: &[f64]| mean(jobs.iter().map(|n| waits[*n]));
        let has_jobs = !jobs.is_empty();
        let [with, without] =
            [&self.with, &self.without].map(|waits| has_jobs.then(|| mean(waits)));
        let ratio = with.zip(without.filter(|own| *own > 0.0));
        let ratio = ratio.map(|(with, without)| with / without);
        let is_known = jobs.len() >= fewest;
        Promise {
            name: name.to_owned(),
            jobs: jobs.len() as u64,
            promised: (of.today > 0.0).then(|| of.changed / of.today),
            interval: of.interval,
            without,
            with,
            ratio,
            is_kept: ratio
                .zip(of.interval.filter(|_| is_known))
                .map(|(own, then)| own <= then.high),
        }
    }

    fn promises(
        &self,
        of: &[JobGroup],
        jobs: &[usize],
        name: impl Fn(usize) -> Option<String>,
    ) -> Vec<Promise> {
        let named = jobs.iter().filter_map(|n| Some((name(*n)?, *n)));
        let groups = named.into_group_map();
        let promise = |own: &JobGroup| {
            let jobs = groups.get(&own.name).map_or(&[][..], Vec::as_slice);
            self.promise(&own.name, own, jobs, FEWEST_OF_GROUP)
        };
        of.iter().map(promise).collect()
    }

    fn user(&self, n: usize) -> Option<String> {
        let name = self.log.account.users.get(&self.log.jobs[n].user)?;
        Some(format!("user {name}"))
    }
}

/// Compares an advice with a log that was recorded with the configuration of the site after the
/// change.
///
/// # Errors
/// If the advice is for another cluster, if none of its settings is in effect, if there are too few
/// jobs, or if interrupted.
pub fn compare_with_past(
    past: &PastAdvice,
    (log, site, facts): (&Log, &SlurmSite, Vec<Facts>),
    interrupt: &AtomicBool,
) -> Result<Promises, String> {
    let gain = past.gain.as_ref().ok_or("no change was advised")?;
    if past.cluster != site.cluster {
        return Err(format!(
            "the advice is for the cluster `{}`, but the configuration is of `{}` (ClusterName); use the advice for this cluster",
            past.cluster, site.cluster
        ));
    }
    let now = Configuration::new(site, facts);
    let (missing, is_all) = past.changed.missing(&now);
    if is_all {
        return Err(format!(
            "none of the settings of the advice is in the configuration ({}), so it is not the one with which these jobs were recorded; use `--slurm` with the configuration after the change",
            missing.join(", ")
        ));
    }
    let arrivals = early(&log.jobs)..log.jobs.len();
    let per_second = log.tick.per_second() as f64;
    let known = arrivals
        .clone()
        .filter(|n| !log.jobs[*n].waited.is_nan())
        .collect_vec();
    let is_recorded = !known.is_empty();
    let jobs = if is_recorded {
        known
    } else {
        arrivals.clone().collect()
    };
    if jobs.len() < FEWEST {
        return Err(format!(
            "the log contains {} jobs after the change, but at least {FEWEST} are required; export the jobs of more weeks",
            jobs.len()
        ));
    }
    let kinds = DemandKinds::exact(log);
    let replays = past
        .changed
        .undone(now)
        .map(|own| -> Result<Vec<f64>, String> {
            if interrupt.load(Ordering::Relaxed) {
                return Err("interrupted".into());
            }
            let runs = own.waits(log, &kinds)?;
            let over = |n: usize| mean(runs.iter().map(|waits| waits[n]));
            Ok((0..log.jobs.len()).map(over).collect())
        });
    let [with, without] = replays;
    let (with, without) = (with?, without?);
    let mean_of = |waits: &[f64]| mean(jobs.iter().map(|n| waits[*n]));
    let (own, other) = (mean_of(&with), mean_of(&without));
    let correction = match past.likeness {
        Some(own) if is_recorded && own.recorded > 0.0 && own.replayed > 0.0 => {
            own.recorded / own.replayed
        }
        _ => 1.0,
    };
    let likeness = Agreement::of(log, arrivals.start, |n| with[n]);
    let waits = Waits {
        log,
        with: match is_recorded {
            true => log.jobs.iter().map(|job| job.waited / per_second).collect(),
            false => with,
        },
        without: without.iter().map(|own| correction * own).collect(),
    };
    let class_of = classes(log);
    let all = JobGroup {
        name: String::new(),
        jobs: gain.waits.jobs,
        recorded: None,
        today: gain.waits.mean / gain.ratio,
        changed: gain.waits.mean,
        interval: gain.interval,
    };
    Ok(Promises {
        all: waits.promise("all jobs", &all, &jobs, FEWEST),
        classes: waits.promises(&gain.classes, &jobs, |n| Some(class_of[n].clone())),
        users: waits.promises(&gain.users, &jobs, |n| waits.user(n)),
        is_recorded,
        correction,
        replayed: (other > 0.0).then(|| own / other),
        likeness,
        missing,
    })
}
