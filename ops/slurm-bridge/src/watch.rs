//! What has changed on a cluster since it was last looked at.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::error::Error;

use super::setup::{HoldBy, Setup, Unknown};
use super::types::Untyped;
use super::usage::Usage;
use super::{CANNOT_STOP, TypeMap};
use synth_operator::protocol::Started;
use synth_operator::{HostMoment, JobReport, KnownJob, Operator, Stage, read_policy};
use synth_slurm::commands::{Hold, JobId, JobState, Key, Nodes, QueueRow, SlurmQueue};

/// What a round has found, besides the changes that are reported to the scheduler.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// Jobs without a type that are to be let go.
    pub pass: Vec<JobId>,
    /// Jobs that an operator has to hold first.
    pub hold: Vec<JobId>,
    /// Jobs whose first process runs now.
    pub began: Vec<String>,
    /// Released long ago, and Slurm does not start them: with its reason.
    pub stuck: Vec<(JobId, String)>,
    /// The same since ten minutes: they are to be held again.
    pub give_up: Vec<JobId>,
    /// What a person should know.
    pub notes: Vec<String>,
}

/// The progress of a job that was released.
#[derive(Clone, Debug, Default)]
pub(super) struct Progress {
    /// Since when it may start, and does not \[s\].
    pub pending_since: Option<f64>,
    /// Whether its first process was seen to run.
    has_begun: bool,
    /// Since when it shows as held though it was released \[s\].
    held_since: Option<f64>,
    /// It was held again because Slurm did not start it: it goes behind the others.
    gave_up: bool,
    is_warned: bool,
}

/// The jobs that are known.
pub(super) type Jobs = BTreeMap<Key, KnownJob<Progress>>;

/// The nodes that a job is sent to, and its CPUs on each of several.
pub(super) type Sent = (Vec<String>, Option<u128>);

/// For so long a released job may still show as held \[s\].
const LAG: f64 = 5.0;

/// After this time a released job that does not start is held again \[s\].
/// The seed of the policy's clocks.
pub(crate) const SEED: u64 = 1;

/// Released jobs that Slurm does not start within this time \[s\] are reported.
pub(crate) const STUCK: f64 = 30.0;

const GIVE_UP: f64 = 600.0;

/// What is known of the cluster.
pub(super) struct Watch {
    pub operator: Operator<Key, Progress>,
    pub map: TypeMap,
    pub setup: Setup,
    /// Jobs and arrays of all partitions that have not ended, where some job waits for others.
    pub present: HashSet<u32>,
    pub usage: Usage,
    /// When it was last looked at.
    at: HostMoment,
    /// Jobs that were sent to their nodes from here, and not by their owners.
    pub placed: HashMap<Key, Vec<String>>,
    /// Jobs that ran under a scheduler before this one.
    before: HashSet<Key>,
}

impl Watch {
    /// Reads the policy and the types of Slurm's jobs; refuses what a bridge cannot carry out.
    pub(crate) fn read(setup: &Setup) -> Result<Self, Box<dyn Error>> {
        let policy = read_policy(&setup.policy, setup.changes)?;
        let operator = Operator::new(policy, SEED, CANNOT_STOP)?;
        let mut map = TypeMap::new(&operator.policy, setup.types.as_deref())?;
        map.is_pooled = setup.pool;
        Ok(Watch::new(operator, map, setup))
    }

    pub(crate) fn new(operator: Operator<Key, Progress>, map: TypeMap, setup: &Setup) -> Self {
        Watch {
            operator,
            map,
            setup: setup.clone(),
            present: HashSet::new(),
            usage: Usage::default(),
            at: HostMoment::default(),
            placed: HashMap::new(),
            before: HashSet::new(),
        }
    }

    /// Compares with what was known.
    pub(crate) fn look(
        &mut self,
        queue: &SlurmQueue,
        nodes: Option<&Nodes>,
        at: HostMoment,
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
        let is_own = |key: &Key| jobs.get(key).is_some_and(KnownJob::runs);
        let left = self.usage.left(queue, &self.map, is_own);
        self.operator.occupy(&self.map.resources, left);
        found
    }

    /// Jobs that the queue does not have any more.
    fn depart(&mut self, queue: &SlurmQueue, found: &mut Changes) {
        found.notes.extend(queue.unread.note("squeue"));
        if queue.unread.nameless() > 0 {
            return;
        }
        let rows = queue.rows.iter().map(|row| row.key);
        let there: HashSet<Key> = rows.chain(queue.unread.known.iter().copied()).collect();
        self.placed.retain(|key, _| there.contains(key));
        let left = self.operator.jobs.keys().filter(|key| !there.contains(key));
        for key in left.copied().collect::<Vec<Key>>() {
            self.operator.leave(&key);
        }
    }

    fn compare(&mut self, row: &QueueRow, found: &mut Changes) {
        let before = self.operator.stage(&row.key);
        let stage = match self.stage_of(row, before, found) {
            // What was released a moment ago may show as held: it runs.
            Some(Stage::Waiting(i)) if self.before.contains(&row.key) => Some(Stage::Running(i)),
            stage => stage,
        };
        let runs = matches!(stage, Some(Stage::Running(_)));
        if runs && matches!(before, Some(Stage::Waiting(_))) {
            let note = format!("job {} was released by somebody else", row.key.id);
            found.notes.push(note);
        }
        let known = self.operator.jobs.get(&row.key);
        if !runs && known.is_some_and(|job| job.more.gave_up) {
            self.operator.leave(&row.key);
        }
        let sent = || {
            let nodes = self.placed.get(&row.key)?.iter();
            Some(
                nodes
                    .filter_map(|node| self.map.nodes.server(node))
                    .collect(),
            )
        };
        self.operator.change(&row.key, stage, || JobReport {
            user: &row.user,
            limit: row.time_limit.map(|seconds| seconds as f64),
            waited: (self.at.wall - since(row)) as f64,
            // Those it runs on or was sent to.
            servers: self.map.servers_of(row).or_else(sent).unwrap_or_default(),
            ..JobReport::default()
        });
        if let Some(job) = self
            .operator
            .jobs
            .get_mut(&row.key)
            .filter(|job| job.runs())
            && !job.more.has_begun
            && row.state == JobState::Running
        {
            job.more.has_begun = true;
            found.began.push(row.key.to_string());
        }
    }

    /// Returns the stage of a job now. `None`: it is not the policy's, or not now, since it depends on others, its time has
    /// not come, or somebody else holds it.
    fn stage_of(
        &mut self,
        row: &QueueRow,
        before: Option<Stage>,
        found: &mut Changes,
    ) -> Option<Stage> {
        let is_early = row.eligible.is_some_and(|begin| begin > self.at.wall);
        if let JobState::Unknown(letters) = &row.state {
            found.notes.push(format!(
                "job {} is in state {letters}, which is not known here: it stays what it was",
                row.key.id
            ));
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
        let held =
            row.hold == Hold::User || self.setup.hold == HoldBy::Admin && row.hold == Hold::Admin;
        match (running, row.hold) {
            // Slurm itself waits, with a job that is not held: it is none of ours until then.
            (_, Hold::None) if row.depends => None,
            // A job that is requeued comes back like that, and would start by itself.
            (_, Hold::None) if is_early => {
                found.give_up.push(row.key.id);
                found.notes.push(format!(
                    "job {} is to begin later, and is held until then",
                    row.key.id
                ));
                None
            }
            // It was released, by us or by its owner, and has not started.
            (Some(_), Hold::None) => {
                self.look_into(row, found);
                running
            }
            (Some(_), _) if held && self.lags(row.key) => running,
            (None, Hold::None) => {
                // In a fleet it is not known where it will run, unless a bridge before has sent it there.
                let is_known = !self.is_fleet() || self.placed.contains_key(&row.key);
                let found = self.map.find(row).ok().filter(|_| is_known);
                found.map(Stage::Running)
            }
            _ if !held || is_early => None,
            // Once these have ended Slurm decides when it is released whether it may start.
            _ if row.waits_for.iter().any(|job| self.present.contains(job)) => None,
            _ => self.waiting(row, found),
        }
    }

    /// Decides on a held job that could start: it waits, or is let go.
    fn waiting(&self, row: &QueueRow, found: &mut Changes) -> Option<Stage> {
        if self.setup.hold == HoldBy::Admin && row.hold == Hold::User {
            found.hold.push(row.key.id);
        }
        let stage = self.find(row).ok().map(Stage::Waiting);
        if stage.is_none() && self.setup.unknown == Unknown::Pass {
            found.pass.push(row.key.id);
        }
        stage
    }

    fn is_fleet(&self) -> bool {
        self.operator.places().servers() > 1
    }

    /// Returns the type of a job that waits, or why it has none. In a fleet the rule says where a job runs: not of one that
    /// says it itself, and was not sent there from here.
    pub(crate) fn find(&self, row: &QueueRow) -> Result<usize, Untyped> {
        if self.is_fleet() && row.names_nodes && !self.placed.contains_key(&row.key) {
            return Err(Untyped::OWN_NODES);
        }
        self.map.find(row)
    }

    /// Returns whether a released job may still show as held.
    fn lags(&mut self, key: Key) -> bool {
        let now = self.at.now;
        let Some(KnownJob { more: own, .. }) = self.operator.jobs.get_mut(&key) else {
            return false;
        };
        let since = *own.held_since.get_or_insert(now);
        !own.gave_up && now - since < LAG
    }

    /// Takes note of a released job that Slurm has not started: reported once, given up in the end.
    fn look_into(&mut self, row: &QueueRow, found: &mut Changes) {
        let now = self.at.now;
        let Some(KnownJob { more: own, .. }) = self.operator.jobs.get_mut(&row.key) else {
            return;
        };
        own.held_since = None;
        let since = *own.pending_since.get_or_insert(now);
        if now - since > STUCK && !own.is_warned {
            own.is_warned = true;
            found.stuck.push((row.key.id, row.reason.clone()));
        }
        if now - since > GIVE_UP {
            own.gave_up = true;
            found.give_up.push(row.key.id);
        }
    }

    /// Released jobs that Slurm has not started for long: they are held again, and go behind the others.
    pub(crate) fn give_up(&mut self, now: f64) -> Vec<JobId> {
        let jobs = self.operator.jobs.iter_mut();
        let late = jobs.filter(|(_, job)| {
            let since = job.more.pending_since.filter(|_| job.runs());
            since.is_some_and(|since| now - since > STUCK)
        });
        late.map(|(key, job)| {
            job.more.gave_up = true;
            key.id
        })
        .collect()
    }

    /// Notes that a job is released now. Returns its nodes in a fleet, and of several the CPUs on each, where that is the
    /// same number; `None` if it does not wait any more.
    pub(crate) fn release(
        &mut self,
        start: &Started,
        queue: &SlurmQueue,
        now: f64,
    ) -> Option<(JobId, Sent)> {
        let key: Key = start.id().parse().ok()?;
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

    /// Returns how many jobs of a queue have no type: of those that wait, and of the others.
    pub(crate) fn untyped(&self, queue: &SlurmQueue) -> [usize; 2] {
        let without = queue.rows.iter().filter(|row| self.find(row).is_err());
        let waits = |row: &&QueueRow| row.state == JobState::Pending;
        let waiting = without.clone().filter(waits).count();
        [waiting, without.count() - waiting]
    }

    /// Looks for a scheduler that begins, to which all that waits and runs has to be reported. These jobs were known
    /// before.
    pub(crate) fn again(&mut self, before: &Jobs, queue: &SlurmQueue, at: HostMoment) -> Changes {
        let running = before.iter().filter(|(_, job)| job.runs());
        self.before = running.map(|(key, _)| *key).collect();
        let mut found = self.look(queue, None, at);
        self.before.clear();
        found.began.clear();
        found
    }
}

/// Returns since when a job waits, as Slurm orders jobs \[s since 1970\].
fn since(row: &QueueRow) -> i64 {
    row.eligible.unwrap_or(row.key.submitted)
}
