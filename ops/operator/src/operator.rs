//! The jobs of a cluster as a policy knows them.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Display;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::amounts::{Amounts, Resources};
use super::host::{only_starts, second_of};
use super::protocol::{Line, Started, starts};
use super::{Metrics, Places, Scheduler};
use synth_multiresource::artifact::Checked;
use synth_multiresource::policy::LearnedRuntimes;
use synth_multiresource::workload::Fleet;

/// The stage of a job that the policy knows, with its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Waiting.
    Waiting(usize),
    /// Holding its servers, from the moment of its release.
    Running(usize),
}

/// A job that the policy knows; `X` holds further data.
#[derive(Clone, Debug)]
pub struct KnownJob<X> {
    /// The stage.
    pub stage: Stage,
    /// The id in the scheduler.
    pub id: String,
    /// The servers of a fleet that it holds.
    pub servers: Vec<usize>,
    /// The time of its release by this operator \[s\].
    pub released: Option<f64>,
    /// Further data.
    pub more: X,
}

/// A job that arrives or is found running; times are in seconds.
#[derive(Clone, Debug, Default)]
pub struct JobReport<'a> {
    /// The user.
    pub user: &'a str,
    /// The time limit.
    pub limit: Option<f64>,
    /// The time it has waited.
    pub waited: f64,
    /// The time it has run.
    pub ran: f64,
    /// The servers of a fleet on which it is known to run.
    pub servers: Vec<usize>,
}

/// Shorter waits are not reported \[s\], because a round can take as long, and clocks can differ by
/// as much.
const SHORTEST_WAIT: f64 = 5.0;

/// The reports and decisions of a round.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Round {
    /// The time, in the policy's unit.
    pub t: f64,
    /// The reported changes, followed by a line with the time alone if clocks were due.
    pub told: Vec<Line>,
    /// The jobs to release, in order.
    pub start: Vec<Started>,
    /// The jobs whose first process has been seen to run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub began: Vec<String>,
    /// The messages in the log.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The duration of the decision, without requests to the cluster \[ms\].
    pub ms: f64,
}

/// A policy at work on the jobs of a cluster, identified by keys of type `K`.
pub struct Operator<K, X> {
    /// The policy.
    pub policy: Checked,
    /// The digest of the policy file.
    pub digest: String,
    seed: u64,
    /// The policy with its jobs.
    pub scheduler: Scheduler,
    /// The runtimes that the scheduler began with, unless they are those of the policy file.
    pub learned: Option<LearnedRuntimes>,
    /// Seconds per unit of the policy's time.
    pub second: f64,
    is_by_job: bool,
    /// The jobs that the scheduler knows.
    pub jobs: BTreeMap<K, KnownJob<X>>,
    /// The servers with running jobs. If the servers of an adopted job are not known, other servers
    /// are assigned to it first.
    pub busy: HashSet<usize>,
    lines: Vec<Line>,
}

impl<K: Clone + Display + Ord, X: Default> Operator<K, X> {
    /// Returns an operator without jobs; `why` explains why jobs cannot be stopped.
    ///
    /// # Errors
    /// If the policy does more than start jobs, or its time unit is unknown.
    pub fn new((policy, digest): (Checked, String), seed: u64, why: &str) -> Result<Self, String> {
        only_starts(&policy, why)?;
        let scheduler = Scheduler::new(&policy, seed);
        Ok(Operator {
            is_by_job: scheduler.learned().is_some(),
            scheduler,
            second: second_of(policy.workload())?,
            learned: None,
            jobs: BTreeMap::new(),
            busy: HashSet::new(),
            lines: Vec::new(),
            policy,
            digest,
            seed,
        })
    }

    /// Returns the servers and types.
    pub fn fleet(&self) -> &Fleet {
        self.policy.workload()
    }

    /// Returns the types, resources and servers by name.
    pub fn places(&self) -> &Places {
        self.scheduler.places()
    }

    /// Restarts without jobs, using the runtimes that were learned under the policy with this
    /// digest. They are ignored if the policy is another one that has its own.
    pub fn take_over(&mut self, learned: Option<(LearnedRuntimes, String)>) {
        let mut family = self.policy.artifact().policy.clone();
        let learns = family.by_jobs();
        let knows_nothing = learns.map(|own| own.learned == LearnedRuntimes::default());
        let learned = learned
            .filter(|(_, of)| knows_nothing.is_some_and(|nothing| nothing || *of == self.digest));
        self.learned = learned.map(|(learned, _)| learned);
        self.scheduler = Scheduler::with_learned(&self.policy, self.seed, self.learned.as_ref());
        self.lines.clear();
    }

    /// Restarts without jobs, but keeps the learned runtimes. Returns the jobs that were known.
    pub fn restart(&mut self) -> BTreeMap<K, KnownJob<X>> {
        let learned = self.scheduler.learned();
        self.take_over(learned.map(|own| (own, self.digest.clone())));
        std::mem::take(&mut self.jobs)
    }

    /// Returns the time of the policy's next clock \[s\].
    pub fn wake(&self) -> Option<f64> {
        self.scheduler.wake().map(|wake| wake * self.second)
    }

    /// Returns the stage of a job, if it is known.
    pub fn stage(&self, key: &K) -> Option<Stage> {
        self.jobs.get(key).map(|job| job.stage)
    }

    /// Returns the numbers of waiting and running jobs of each type (K).
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

    /// Records the stage of a job; `None` if it is not the policy's.
    pub fn change<'a>(
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
                    self.lines.push(Line {
                        put_back: Some(job.id.clone()),
                        ..Line::default()
                    });
                    *job = KnownJob::new(stage, &job.id, Vec::new());
                }
                return;
            }
            // Instead of put back and withdrawn, because the rule would start it in between.
            _ => drop(self.leave(key)),
        }
        if let Some(stage) = now {
            self.enter(key, key.to_string(), stage, report());
        }
    }

    /// Removes a job: a waiting one is withdrawn, a running one leaves.
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

    /// Reports a job under this id: it arrives, or is found running.
    pub fn enter(&mut self, key: &K, id: String, stage: Stage, report: JobReport<'_>) {
        let places = self.scheduler.places();
        let units = |seconds: f64| seconds / self.second;
        let is_by_job = self.is_by_job;
        let user = Some(report.user).filter(|user| is_by_job && !user.is_empty());
        let mut servers = Vec::new();
        let mut line = Line {
            job: Some(id.clone()),
            user: user.map(str::to_owned),
            limit: report.limit.map(units),
            ..Line::default()
        };
        match stage {
            Stage::Waiting(i) => {
                let waited = Some(report.waited).filter(|own| is_by_job && *own > SHORTEST_WAIT);
                line.arrive = Some(places.type_name(i).to_owned());
                line.waited = waited.map(units);
            }
            Stage::Running(i) => {
                line.adopt = Some(places.type_name(i).to_owned());
                line.ran = Some(report.ran).filter(|own| *own > 0.0).map(units);
                if places.servers() > 1 {
                    servers = places.taken(i, report.servers, &self.busy);
                }
                let names = servers.iter().map(|n| places.server_name(*n).to_owned());
                line.servers = names.collect();
                self.busy.extend(&servers);
            }
        }
        self.lines.push(line);
        let job = KnownJob::new(stage, &id, servers);
        self.jobs.insert(key.clone(), job);
    }

    /// Reports the capacity that others use, given the amounts that they leave on each server.
    pub fn occupy(&mut self, resources: &Resources, left: impl IntoIterator<Item = Amounts>) {
        let changed = self.scheduler.places.others(resources, left);
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

    /// Reports all changes at this time \[s\] to the scheduler, in a round that began at `begun`.
    /// If errors are returned, the scheduler must be [restarted](Operator::restart).
    pub fn decide(&mut self, now: f64, begun: Instant) -> (Round, Vec<String>) {
        let t = now / self.second;
        let (mut told, mut start, mut refused) = (Vec::new(), Vec::new(), Vec::new());
        let mut lines = std::mem::take(&mut self.lines);
        lines.sort_by_key(turn);
        let last = lines.len().saturating_sub(1);
        for (n, line) in lines.into_iter().chain([Line::default()]).enumerate() {
            let is_due = self.scheduler.wake().is_some_and(|wake| wake <= t);
            if line == Line::default() && self.scheduler.has_begun() && !is_due {
                continue;
            }
            let more = n < last;
            let mut line = Line { t, more, ..line };
            // An earlier line may have started the job; then it leaves instead of being withdrawn.
            line.leave = line
                .leave
                .or(line.withdraw.take_if(|id| self.scheduler.runs(id)));
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

    /// Returns the servers of a job that starts.
    pub fn servers_of(&self, start: &Started) -> Vec<usize> {
        let (places, names) = (self.places(), start.servers().iter());
        names.filter_map(|name| places.server(name)).collect()
    }

    /// Updates the metrics after a round that ended at this wall-clock time.
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
        if let Some(doing) = self.scheduler.doing() {
            *metrics.value("policy_info", &[("doing", &doing)]) = 1.0;
        }
    }

    /// Records a release at this time \[s\]; returns the type of the job, and further data.
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

    /// Returns `true` if it holds its servers.
    pub fn runs(&self) -> bool {
        matches!(self.stage, Stage::Running(_))
    }
}

/// Returns the order in which simultaneous changes are reported. Withdrawals are first, and
/// reductions of the capacity come before increases, so that no job is started on capacity that is
/// no longer there.
fn turn(line: &Line) -> u8 {
    match line {
        Line {
            withdraw: Some(_), ..
        } => 0,
        Line { adopt: Some(_), .. } => 1,
        Line {
            occupy: Some(_), ..
        } => 2,
        Line {
            arrive: Some(_), ..
        } => 4,
        _ => 3,
    }
}
