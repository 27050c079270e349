use std::collections::{BTreeMap, HashSet};
use std::fmt::Display;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::amounts::{Amounts, Resources};
use super::host::{check_only_starts, seconds_per_time_unit};
use super::protocol::{Line, Started, starts};
use super::{Metrics, Places, Scheduler};
use synth_multiresource::artifact::Checked;
use synth_multiresource::policy::LearnedRuntimes;

/// The stage of a job that is known to the policy, with the index of its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The job is waiting.
    Waiting(usize),
    /// The job uses its servers. This stage begins when the job is released.
    Running(usize),
}

/// A job that is known to the policy, with additional data of type `X`.
#[derive(Clone, Debug)]
pub struct KnownJob<X> {
    /// The stage and the type.
    pub stage: Stage,
    /// The id of the job in the scheduler.
    pub id: String,
    /// The servers of a fleet that are used by the job.
    pub servers: Vec<usize>,
    /// The time at which the job was released by this operator \[s\].
    pub released: Option<f64>,
    /// The additional data.
    pub more: X,
}

/// A job that arrives or is already running. All times are in seconds.
#[derive(Clone, Debug, Default)]
pub struct JobReport<'a> {
    /// The user.
    pub user: &'a str,
    /// The time limit.
    pub limit: Option<f64>,
    /// The time for which the job has been waiting.
    pub waited: f64,
    /// The time for which the job has been running.
    pub ran: f64,
    /// The servers of a fleet on which the job is running, if they are known.
    pub servers: Vec<usize>,
}

/// Shorter waits are not reported \[s\], because a round or a difference of clocks can be as long.
const SHORTEST_WAIT: f64 = 5.0;

/// The changes and decisions of a round.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Round {
    /// The time in the unit of the policy.
    pub t: f64,
    /// The changes that were reported. If a clock was due, the last line has no event.
    pub told: Vec<Line>,
    /// The jobs to release, in this order.
    pub start: Vec<Started>,
    /// The jobs whose first process is running.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub began: Vec<String>,
    /// The messages that are written to the log.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The time that was needed for the decision, without requests to the cluster \[ms\].
    pub ms: f64,
}

/// A policy that is applied to the jobs of a cluster. The jobs are identified by keys of type `K`.
pub struct Operator<K, X> {
    /// The policy.
    pub policy: Checked,
    /// The digest of the policy file.
    pub digest: String,
    seed: u64,
    /// The scheduler with the rule and its jobs.
    pub scheduler: Scheduler,
    /// The runtimes at the start of the scheduler, if they are not from the policy file.
    pub learned: Option<LearnedRuntimes>,
    /// The number of seconds in the time unit of the policy.
    pub seconds_per_unit: f64,
    /// Whether the rule orders single jobs. In this case users and waiting times are reported.
    is_by_job: bool,
    /// The jobs that are known to the scheduler.
    pub jobs: BTreeMap<K, KnownJob<X>>,
    /// The servers that have running jobs, which are used last for jobs on unknown servers.
    pub busy: HashSet<usize>,
    lines: Vec<Line>,
}

impl<K: Clone + Display + Ord, X: Default> Operator<K, X> {
    /// Creates an operator without jobs. The reason why jobs cannot be stopped is given by `why`.
    ///
    /// # Errors
    /// If the policy does not only start jobs, or its time unit is unknown.
    pub fn new((policy, digest): (Checked, String), seed: u64, why: &str) -> Result<Self, String> {
        check_only_starts(&policy, why)?;
        let scheduler = Scheduler::new(&policy, seed);
        Ok(Operator {
            is_by_job: scheduler.learned().is_some(),
            scheduler,
            seconds_per_unit: seconds_per_time_unit(policy.workload())?,
            learned: None,
            jobs: BTreeMap::new(),
            busy: HashSet::new(),
            lines: Vec::new(),
            policy,
            digest,
            seed,
        })
    }

    /// Returns the names of the types, resources and servers.
    pub fn places(&self) -> &Places {
        self.scheduler.places()
    }

    /// Restarts without jobs, using runtimes that were learned with the policy of this digest. They
    /// are ignored if this is another policy that contains runtimes.
    pub fn take_over(&mut self, learned: Option<(LearnedRuntimes, String)>) {
        let mut family = self.policy.artifact().policy.clone();
        let learns = family.job_order_mut();
        let knows_nothing = learns.map(|own| own.learned == LearnedRuntimes::default());
        let learned = learned
            .filter(|(_, of)| knows_nothing.is_some_and(|nothing| nothing || *of == self.digest));
        self.learned = learned.map(|(learned, _)| learned);
        self.scheduler = Scheduler::with_learned(&self.policy, self.seed, self.learned.as_ref());
        self.lines.clear();
    }

    /// Restarts without jobs, but with the same learned runtimes. Returns the jobs that were known.
    pub fn restart(&mut self) -> BTreeMap<K, KnownJob<X>> {
        let learned = self.scheduler.learned();
        self.take_over(learned.map(|own| (own, self.digest.clone())));
        std::mem::take(&mut self.jobs)
    }

    /// Returns the time of the next clock of the policy \[s\].
    pub fn wake(&self) -> Option<f64> {
        let wake = self.scheduler.next_wake_time()?;
        Some(wake * self.seconds_per_unit)
    }

    /// Returns the stage of a job, or `None` if the job is not known.
    pub fn stage(&self, key: &K) -> Option<Stage> {
        self.jobs.get(key).map(|job| job.stage)
    }

    /// Returns the number of waiting and running jobs of each type (K).
    pub fn counts(&self) -> Vec<[u64; 2]> {
        let mut counts = vec![[0; 2]; self.places().types().len()];
        for job in self.jobs.values() {
            match job.stage {
                Stage::Waiting(i) => counts[i][0] += 1,
                Stage::Running(i) => counts[i][1] += 1,
            }
        }
        counts
    }

    /// Changes the stage of a job. If this is `None`, the job does not belong to the policy.
    pub fn set_stage<'a>(
        &mut self,
        key: &K,
        now: Option<Stage>,
        report: impl FnOnce() -> JobReport<'a>,
    ) {
        match (self.stage(key), now) {
            (Some(Stage::Running(_)), Some(Stage::Running(_))) => return,
            (before, now) if before == now => return,
            (Some(Stage::Running(a)), Some(stage @ Stage::Waiting(b))) if a == b => {
                if let Some(job) = self.jobs.get_mut(key) {
                    let put_back = Some(job.id.clone());
                    let line = Line::default();
                    self.lines.push(Line { put_back, ..line });
                    *job = KnownJob::new(stage, &job.id, Vec::new());
                }
                return;
            }
            // If the job was put back and then withdrawn, the rule could start it again in between.
            _ => drop(self.leave(key)),
        }
        if let Some(stage) = now {
            self.enter(key, key.to_string(), stage, report());
        }
    }

    /// Removes a job. If it is waiting, it is withdrawn, and if it is running, it leaves.
    pub fn leave(&mut self, key: &K) -> Option<KnownJob<X>> {
        let job = self.jobs.remove(key)?;
        let (mut line, id) = (Line::default(), Some(job.id.clone()));
        match job.stage {
            Stage::Waiting(_) => line.withdraw = id,
            Stage::Running(_) => line.leave = id,
        }
        self.lines.push(line);
        Some(job)
    }

    /// Adds a job with this id, which arrives or is already running.
    pub fn enter(&mut self, key: &K, id: String, stage: Stage, report: JobReport<'_>) {
        let places = self.scheduler.places();
        let units = |seconds: f64| seconds / self.seconds_per_unit;
        let user = Some(report.user).filter(|user| self.is_by_job && !user.is_empty());
        let mut servers = Vec::new();
        let mut line = Line {
            job: Some(id.clone()),
            user: user.map(str::to_owned),
            limit: report.limit.map(units),
            ..Line::default()
        };
        match stage {
            Stage::Waiting(i) => {
                let is_long = self.is_by_job && report.waited > SHORTEST_WAIT;
                line.arrive = Some(places.type_name(i).to_owned());
                line.waited = is_long.then(|| units(report.waited));
            }
            Stage::Running(i) => {
                line.adopt = Some(places.type_name(i).to_owned());
                line.ran = Some(report.ran).filter(|own| *own > 0.0).map(units);
                if places.servers() > 1 {
                    servers = places.complete_servers(i, report.servers, &self.busy);
                }
                let names = servers.iter().map(|n| places.server_name(*n).to_owned());
                line.servers = names.collect();
                self.busy.extend(&servers);
            }
        }
        self.lines.push(line);
        self.jobs
            .insert(key.clone(), KnownJob::new(stage, &id, servers));
    }

    /// Reports the capacity that is used by others, given the amounts that are left.
    pub fn occupy(&mut self, resources: &Resources, left: impl IntoIterator<Item = Amounts>) {
        let changed = self.scheduler.places.record_use_by_others(resources, left);
        let places = self.scheduler.places();
        self.lines.extend(changed.into_iter().map(|(n, amounts)| {
            let amounts = places.resources().map(str::to_owned).zip(amounts);
            Line {
                occupy: Some(amounts.filter(|(_, amount)| *amount > 0.0).collect()),
                server: (places.servers() > 1).then(|| places.server_name(n).to_owned()),
                ..Line::default()
            }
        }));
    }

    /// Reports all changes at this time \[s\] to the scheduler. The round was started at `begun`.
    /// If errors are returned, the scheduler must be [restarted](Operator::restart).
    pub fn decide(&mut self, now: f64, begun: Instant) -> (Round, Vec<String>) {
        let t = now / self.seconds_per_unit;
        let (mut told, mut start, mut refused) = (Vec::new(), Vec::new(), Vec::new());
        let mut lines = std::mem::take(&mut self.lines);
        lines.sort_by_key(report_order);
        let last = lines.len().saturating_sub(1);
        for (n, line) in lines.into_iter().chain([Line::default()]).enumerate() {
            let wake = self.scheduler.next_wake_time();
            let is_due = wake.is_some_and(|wake| wake <= t);
            if line == Line::default() && self.scheduler.has_begun && !is_due {
                continue;
            }
            let more = n < last;
            let mut line = Line { t, more, ..line };
            // If the job was started by a previous line, it leaves instead of being withdrawn.
            let started = line.withdraw.take_if(|id| self.scheduler.runs(id));
            line.leave = line.leave.or(started);
            match self.scheduler.tell(&line) {
                Ok(decided) => {
                    start.extend(starts(&decided, self.scheduler.places()));
                    told.push(line);
                }
                Err(why) => refused.push(why),
            }
        }
        let round = Round {
            t,
            told,
            start,
            ms: begun.elapsed().as_secs_f64() * 1e3,
            ..Round::default()
        };
        (round, refused)
    }

    /// Returns the servers of a job that is started.
    pub fn servers_of(&self, start: &Started) -> Vec<usize> {
        let (places, names) = (self.places(), start.servers().iter());
        names.filter_map(|name| places.server(name)).collect()
    }

    /// Updates the metrics after a round that has ended at this wall-clock time.
    pub fn count(&self, metrics: &mut Metrics, round: &Round, wall: i64) {
        metrics.clear("jobs");
        for (name, counts) in self.places().types().zip(self.counts()) {
            for (state, count) in ["waiting", "running"].iter().zip(counts) {
                *metrics.value("jobs", &[("type", name), ("state", state)]) = count as f64;
            }
            *metrics.value("releases_total", &[("type", name)]) += 0.0;
        }
        *metrics.value("rounds_total", &[]) += 1.0;
        *metrics.value("decision_seconds_total", &[]) += round.ms / 1e3;
        metrics.set("last_round_timestamp_seconds", wall as f64);
        metrics.clear("policy_info");
        if let Some(doing) = self.scheduler.activity() {
            *metrics.value("policy_info", &[("doing", &doing)]) = 1.0;
        }
    }

    /// Records a release \[s\]. Returns the type and the additional data if the job was waiting.
    pub fn release(&mut self, key: &K, servers: Vec<usize>, now: f64) -> Option<(usize, &mut X)> {
        let job = self.jobs.get_mut(key)?;
        let Stage::Waiting(i) = job.stage else {
            return None;
        };
        *job = KnownJob {
            released: Some(now),
            ..KnownJob::new(Stage::Running(i), &job.id, servers)
        };
        Some((i, &mut job.more))
    }
}

impl<X: Default> KnownJob<X> {
    fn new(stage: Stage, id: &str, servers: Vec<usize>) -> Self {
        KnownJob {
            stage,
            id: id.to_owned(),
            servers,
            released: None,
            more: X::default(),
        }
    }

    /// Returns `true` if the job uses its servers.
    pub fn runs(&self) -> bool {
        matches!(self.stage, Stage::Running(_))
    }
}

/// Returns the position of a change among simultaneous changes. Withdrawals are first, and the
/// capacity is decreased before it is increased, so that no job starts on missing capacity.
fn report_order(line: &Line) -> u8 {
    match line {
        _ if line.withdraw.is_some() => 0,
        _ if line.adopt.is_some() => 1,
        _ if line.occupy.is_some() => 2,
        _ if line.arrive.is_some() => 4,
        _ => 3,
    }
}
