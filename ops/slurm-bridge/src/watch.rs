use std::collections::{BTreeMap, HashMap, HashSet};
use std::error::Error;

use super::setup::{HoldBy, Setup, Unknown};
use super::types::untyped;
use super::usage::Usage;
use super::{CANNOT_STOP, TypeMap};
use synth_operator::protocol::Started;
use synth_operator::{JobReport, KnownJob, Operator, Stage, Timestamps, read_policy};
use synth_slurm::commands::{Hold, JobId, JobKey, JobState, Nodes, QueueRow, SlurmQueue};

/// The results of a round that are not reported to the scheduler.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// The jobs without a type that have to be released.
    pub pass: Vec<JobId>,
    /// The jobs that must first be held by an operator.
    pub hold: Vec<JobId>,
    /// The jobs whose first process is now running.
    pub began: Vec<String>,
    /// The jobs that were released some time ago but have not started, and the reason.
    pub stuck: Vec<(JobId, String)>,
    /// The jobs that have to be held again, because they have not started or must not start yet.
    pub give_up: Vec<JobId>,
    pub notes: Vec<String>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Progress {
    /// The time since which the job could start but has not started \[s\].
    pub pending_since: Option<f64>,
    has_begun: bool,
    /// The time since which the job appears as held although it was released \[s\].
    held_since: Option<f64>,
    /// Whether the job was held again because it was not started, so it is behind the others.
    gave_up: bool,
    is_warned: bool,
}

pub(super) type Jobs = BTreeMap<JobKey, KnownJob<Progress>>;

pub(super) type Placement = (Vec<String>, Option<u128>);

/// The time for which a job may still be reported as held after its release \[s\].
const LAG: f64 = 5.0;

pub(crate) const SEED: u64 = 1;

/// The time after which a job that was released but has not started is reported \[s\].
pub(crate) const STUCK_AFTER: f64 = 30.0;

/// The time after which a job that was released but has not started is held again \[s\].
const GIVE_UP: f64 = 600.0;

pub(super) struct Watch {
    pub operator: Operator<JobKey, Progress>,
    pub map: TypeMap,
    pub setup: Setup,
    /// All jobs and arrays that have not ended, if a job depends on others.
    pub present: HashSet<u32>,
    pub usage: Usage,
    at: Timestamps,
    /// The jobs whose nodes were chosen by a bridge and not by their owners.
    pub placed: HashMap<JobKey, Vec<String>>,
    /// The jobs that were already running with the previous scheduler.
    before: HashSet<JobKey>,
}

impl Watch {
    pub(crate) fn read(setup: &Setup) -> Result<Self, Box<dyn Error>> {
        let policy = read_policy(&setup.policy, setup.changes)?;
        let operator = Operator::new(policy, SEED, CANNOT_STOP)?;
        let mut map = TypeMap::new(&operator.policy, setup.types.as_deref())?;
        map.is_pooled = setup.pool;
        Ok(Watch::new(operator, map, setup))
    }

    pub(crate) fn new(operator: Operator<JobKey, Progress>, map: TypeMap, setup: &Setup) -> Self {
        Watch {
            operator,
            map,
            setup: setup.clone(),
            present: HashSet::new(),
            usage: Usage::default(),
            at: Timestamps::default(),
            placed: HashMap::new(),
            before: HashSet::new(),
        }
    }

    pub(crate) fn look(
        &mut self,
        queue: &SlurmQueue,
        nodes: Option<&Nodes>,
        at: Timestamps,
    ) -> Changes {
        self.at = at;
        let mut found = Changes::default();
        self.depart(queue, &mut found);
        let running = queue.rows.iter().filter(|row| row.has_nodes());
        let busy = running.filter_map(|row| self.map.servers_of(row));
        self.operator.busy = busy.flatten().collect();
        let mut rows: Vec<&QueueRow> = queue.rows.iter().collect();
        rows.sort_by_key(|row| (since(row), row.key));
        for row in rows {
            self.compare(row, &mut found);
        }
        if let Some(nodes) = nodes {
            self.usage.look(nodes, queue, &mut found.notes);
        }
        let jobs = &self.operator.jobs;
        let is_own = |key: &JobKey| jobs.get(key).is_some_and(KnownJob::runs);
        let left = self.usage.left(queue, &self.map, is_own);
        self.operator.occupy(&self.map.resources, left);
        found
    }

    fn depart(&mut self, queue: &SlurmQueue, found: &mut Changes) {
        found.notes.extend(queue.unread.note("squeue"));
        if queue.unread.nameless() > 0 {
            return;
        }
        let rows = queue.rows.iter().map(|row| row.key);
        let there: HashSet<JobKey> = rows.chain(queue.unread.known.iter().copied()).collect();
        self.placed.retain(|key, _| there.contains(key));
        let left = self.operator.jobs.keys().filter(|key| !there.contains(key));
        for key in left.copied().collect::<Vec<JobKey>>() {
            self.operator.leave(&key);
        }
    }

    fn compare(&mut self, row: &QueueRow, found: &mut Changes) {
        let before = self.operator.stage(&row.key);
        let stage = match self.stage_of(row, before, found) {
            // After its release a job may still be reported as held, but it is counted as running.
            Some(Stage::Waiting(i)) if self.before.contains(&row.key) => Some(Stage::Running(i)),
            stage => stage,
        };
        let runs = matches!(stage, Some(Stage::Running(_)));
        if runs && matches!(before, Some(Stage::Waiting(_))) {
            let note = format!("job {} was released by another user", row.key.id);
            found.notes.push(note);
        }
        let known = self.operator.jobs.get(&row.key);
        if !runs && known.is_some_and(|job| job.more.gave_up) {
            self.operator.leave(&row.key);
        }
        let sent = || {
            let nodes = self.placed.get(&row.key)?.iter();
            let servers = nodes.filter_map(|node| self.map.nodes.server(node));
            Some(servers.collect())
        };
        self.operator.set_stage(&row.key, stage, || JobReport {
            user: &row.user,
            limit: row.time_limit.map(|seconds| seconds as f64),
            waited: (self.at.wall - since(row)) as f64,
            servers: self.map.servers_of(row).or_else(sent).unwrap_or_default(),
            ..JobReport::default()
        });
        if let Some(job) = self.operator.jobs.get_mut(&row.key)
            && job.runs()
            && !job.more.has_begun
            && row.state == JobState::Running
        {
            job.more.has_begun = true;
            found.began.push(row.key.to_string());
        }
    }

    /// Returns the stage of a job, or `None` if it does not belong to the policy now, for example
    /// because it depends on other jobs, is not yet eligible, or is held by others.
    fn stage_of(
        &mut self,
        row: &QueueRow,
        before: Option<Stage>,
        found: &mut Changes,
    ) -> Option<Stage> {
        let id = row.key.id;
        let is_early = row.eligible.is_some_and(|begin| begin > self.at.wall);
        if let JobState::Unknown(letters) = &row.state {
            let note =
                format!("job {id} is in the unknown state {letters}: its previous state is kept");
            found.notes.push(note);
            return before;
        }
        let running = before.filter(|stage| matches!(stage, Stage::Running(_)));
        if row.has_nodes() {
            if let Some(job) = self.operator.jobs.get_mut(&row.key) {
                (job.more.pending_since, job.more.held_since) = (None, None);
            }
            return running.or_else(|| {
                self.map.servers_of(row)?;
                self.map.find(row).ok().map(Stage::Running)
            });
        }
        let held = self.setup.hold.covers(row.hold);
        match (running, row.hold) {
            // The job is delayed by Slurm and is not held, so it does not belong to the policy yet.
            (_, Hold::None) if row.depends => None,
            // This is the state of a job that was requeued. It would start without the policy.
            (_, Hold::None) if is_early => {
                let note = format!("job {id} is not yet eligible and is held until then");
                found.give_up.push(id);
                found.notes.push(note);
                None
            }
            // The job was released by the bridge or by its owner, but it has not started.
            (Some(_), Hold::None) => {
                self.look_into(row, found);
                running
            }
            (Some(_), _) if held && self.lags(row.key) => running,
            (None, Hold::None) => {
                // In a fleet the nodes are not known, unless an earlier bridge has chosen them.
                let is_known = !self.is_fleet() || self.placed.contains_key(&row.key);
                let found = self.map.find(row).ok().filter(|_| is_known);
                found.map(Stage::Running)
            }
            _ if !held || is_early => None,
            // When these jobs have ended, Slurm decides at the release whether the job can start.
            _ if row.waits_for.iter().any(|job| self.present.contains(job)) => None,
            _ => {
                if self.setup.hold == HoldBy::Admin && row.hold == Hold::User {
                    found.hold.push(id);
                }
                let stage = self.find(row).ok().map(Stage::Waiting);
                if stage.is_none() && self.setup.unknown == Unknown::Pass {
                    found.pass.push(id);
                }
                stage
            }
        }
    }

    fn is_fleet(&self) -> bool {
        self.operator.places().servers() > 1
    }

    pub(crate) fn find(&self, row: &QueueRow) -> Result<usize, &'static str> {
        if self.is_fleet() && row.names_nodes && !self.placed.contains_key(&row.key) {
            return Err(untyped::OWN_NODES);
        }
        self.map.find(row)
    }

    fn lags(&mut self, key: JobKey) -> bool {
        self.operator.jobs.get_mut(&key).is_some_and(|job| {
            let since = *job.more.held_since.get_or_insert(self.at.now);
            !job.more.gave_up && self.at.now - since < LAG
        })
    }

    /// Records that a released job has not started. It is reported once and then held again.
    fn look_into(&mut self, row: &QueueRow, found: &mut Changes) {
        let now = self.at.now;
        let Some(KnownJob { more: own, .. }) = self.operator.jobs.get_mut(&row.key) else {
            return;
        };
        own.held_since = None;
        let since = *own.pending_since.get_or_insert(now);
        if now - since > STUCK_AFTER && !own.is_warned {
            own.is_warned = true;
            found.stuck.push((row.key.id, row.reason.clone()));
        }
        if now - since > GIVE_UP {
            own.gave_up = true;
            found.give_up.push(row.key.id);
        }
    }

    /// Gives up the jobs that were released long ago but have not started, and returns them.
    pub(crate) fn give_up(&mut self, now: f64) -> Vec<JobId> {
        let jobs = self.operator.jobs.iter_mut();
        let late = jobs.filter(|(_, job)| {
            let since = job.more.pending_since.filter(|_| job.runs());
            since.is_some_and(|since| now - since > STUCK_AFTER)
        });
        late.map(|(key, job)| {
            job.more.gave_up = true;
            key.id
        })
        .collect()
    }

    /// Records a release. In a fleet, this returns the nodes, and the CPUs on each of several nodes
    /// if they are equal. Returns `None` if the job is no longer waiting.
    pub(crate) fn release(
        &mut self,
        start: &Started,
        queue: &SlurmQueue,
        now: f64,
    ) -> Option<(JobId, Placement)> {
        let key: JobKey = start.id().parse().ok()?;
        let servers = self.operator.servers_of(start);
        self.operator.release(&key, servers.clone(), now)?;
        let row = queue.rows.iter().find(|row| row.key == key);
        let mut nodes = self.map.nodes.named(&servers);
        if !nodes.is_empty() {
            self.placed.insert(key, nodes.clone());
        }
        nodes.truncate(row.map_or(usize::MAX, |row| row.most_nodes as usize));
        let (cpus, parts) = (row.map(|row| row.amounts.get("cpu")), nodes.len() as u128);
        let cpus = cpus.filter(|cpus| parts > 1 && cpus % parts == 0);
        Some((key.id, (nodes, cpus.map(|cpus| cpus / parts))))
    }

    pub(crate) fn untyped(&self, queue: &SlurmQueue) -> [usize; 2] {
        let without = queue.rows.iter().filter(|row| self.find(row).is_err());
        let waits = |row: &&QueueRow| row.state == JobState::Pending;
        let waiting = without.clone().filter(waits).count();
        [waiting, without.count() - waiting]
    }

    pub(crate) fn look_for_new_scheduler(
        &mut self,
        before: &Jobs,
        queue: &SlurmQueue,
        at: Timestamps,
    ) -> Changes {
        let running = before.iter().filter(|(_, job)| job.runs());
        self.before = running.map(|(key, _)| *key).collect();
        let mut found = self.look(queue, None, at);
        self.before.clear();
        found.began.clear();
        found
    }
}

/// Returns the time \[s since 1970\] since which a job is waiting. Slurm uses it to sort the jobs.
fn since(row: &QueueRow) -> i64 {
    row.eligible.unwrap_or(row.key.submitted)
}
