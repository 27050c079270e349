//! What has changed on a cluster since it was last looked at.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::TypeMap;
use super::changes::{ADOPTED, CAME, Changes, ENDED, OCCUPIED, Order};
use super::journal::id_of;
use super::setup::{HoldBy, Setup, Unknown};
use super::types::Untyped;
use super::usage::Usage;
use synth_multiresource::workload::Fleet;
use synth_operator::protocol::Line;
use synth_operator::{HostMoment, Places};
use synth_slurm::commands::{Hold, JobId, JobState, Key, Nodes, QueueRow, SlurmQueue};

/// A job of the queue, as it was last seen.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    pub phase: Phase,
    /// When it was released \[s\]; none where somebody else did that, or the bridge before.
    pub released: Option<f64>,
    /// Since when it may start, and does not \[s\].
    pub pending_since: Option<f64>,
    /// When its first process was seen to run \[s\].
    pub began: Option<f64>,
    /// Since when it shows as held though it was released \[s\].
    held_since: Option<f64>,
    /// It was held again because Slurm did not start it: it goes behind the others.
    pub gave_up: bool,
    is_warned: bool,
    /// On how many nodes it may run, and its CPUs on all of them.
    most: (u32, u64),
}

impl Seen {
    fn runs(&self) -> bool {
        matches!(self.phase, Phase::Running(_))
    }

    fn new(phase: Phase) -> Self {
        Seen {
            phase,
            ..Seen::default()
        }
    }
}

/// The nodes that a job is sent to, and its CPUs on each of several.
pub(super) type Sent = (Vec<String>, Option<u64>);

/// What a job is for the rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Phase {
    /// Not its business now: it depends on others, its time has not come, or somebody else holds it.
    #[default]
    Out,
    /// It waits, of this type.
    Waiting(usize),
    /// It has its room, from the moment of its release.
    Running(usize),
    /// It has no type and was let go: what it uses is others'.
    Passed,
}

/// For so long a released job may still show as held \[s\].
const LAG: f64 = 5.0;

/// After this time a released job that does not start is held again \[s\].
const GIVE_UP: f64 = 600.0;

/// What is known of the cluster.
pub(super) struct Watch {
    pub map: TypeMap,
    pub setup: Setup,
    pub jobs: BTreeMap<Key, Seen>,
    /// Jobs and arrays of all partitions that have not ended, where some job waits for others.
    pub present: HashSet<u32>,
    /// Types of jobs that have left since this was last taken, and when they began \[s\].
    pub ended: Vec<(usize, f64)>,
    pub usage: Usage,
    /// Whether the rule looks at each job: then it sees who sent it, and since when it waits.
    pub is_by_job: bool,
    /// When it was last looked at.
    at: HostMoment,
    places: Places,
    /// Seconds in the policy's unit of time.
    second: f64,
    /// Jobs that were sent to their nodes from here, and not by their owners, with their servers.
    pub placed: HashMap<Key, Vec<String>>,
    /// Servers where jobs run.
    busy: HashSet<usize>,
}

impl Watch {
    pub fn new(map: TypeMap, setup: &Setup, fleet: &Fleet, second: f64) -> Self {
        Watch {
            usage: Usage::default(),
            setup: setup.clone(),
            map,
            jobs: BTreeMap::new(),
            present: HashSet::new(),
            ended: Vec::new(),
            is_by_job: false,
            at: HostMoment::default(),
            places: Places::new(fleet),
            second,
            placed: HashMap::new(),
            busy: HashSet::new(),
        }
    }

    /// Compares with what was known.
    pub fn look(&mut self, queue: &SlurmQueue, nodes: Option<&Nodes>, at: HostMoment) -> Changes {
        self.at = at;
        let mut found = Changes::default();
        self.depart(queue, &mut found);
        let running = queue.rows.iter().filter(|row| row.has_nodes());
        let busy = running.filter_map(|row| self.map.servers_of(row));
        self.busy = busy.flatten().collect();
        for row in &queue.rows {
            self.compare(row, &mut found);
        }
        if let Some(nodes) = nodes {
            self.usage.look(nodes, queue, &mut found.notes);
        }
        let jobs = &self.jobs;
        let is_own = |key: &Key| jobs.get(key).is_some_and(Seen::runs);
        let places = &mut self.places;
        for (n, amounts) in self.usage.count(queue, &self.map, places, is_own) {
            let amounts = self.places.resources().map(str::to_owned).zip(amounts);
            let used = amounts.filter(|(_, amount)| *amount > 0.0);
            let line = Line {
                occupy: Some(used.collect()),
                server: (self.places.servers() > 1).then(|| self.places.server_name(n).to_owned()),
                ..Line::default()
            };
            found.lines.push(((OCCUPIED, 0, None), line));
        }
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
        let left = self.jobs.keys().filter(|key| !there.contains(key));
        let left: Vec<Key> = left.copied().collect();
        for key in left {
            self.placed.remove(&key);
            let Some(seen) = self.jobs.remove(&key) else {
                continue;
            };
            match seen.phase {
                Phase::Running(i) => {
                    self.ended.extend(seen.began.map(|began| (i, began)));
                    found.leaves(id_of(key));
                }
                Phase::Waiting(_) => found.withdraws(id_of(key)),
                Phase::Out | Phase::Passed => {}
            }
        }
    }

    fn compare(&mut self, row: &QueueRow, found: &mut Changes) {
        let seen = self.jobs.get(&row.key);
        let before = seen.map_or(Phase::Out, |seen| seen.phase);
        let gave_up = seen.is_some_and(|seen| seen.gave_up);
        let is = self.phase_of(row, before, found);
        self.report(row, [before, is], gave_up, found);
        let seen = self.jobs.entry(row.key).or_default();
        if !matches!(is, Phase::Running(_)) {
            *seen = Seen::new(is);
            seen.most = (row.most_nodes, row.amounts.cpus);
            return;
        }
        seen.phase = is;
        if seen.began.is_none() && row.state == JobState::Running {
            seen.began = Some(self.at.now);
            found.began.push(id_of(row.key));
        }
    }

    /// Reports what there is to say of a job that was one thing, and is another.
    fn report(&self, row: &QueueRow, [before, is]: [Phase; 2], gave_up: bool, found: &mut Changes) {
        let id = id_of(row.key);
        match (before, is) {
            (Phase::Running(a), Phase::Waiting(b)) if a == b && !gave_up => {
                return found.push((ENDED, 0, None), |line| line.put_back = Some(id));
            }
            (Phase::Running(_), Phase::Running(_)) => return,
            (Phase::Waiting(a), Phase::Waiting(b)) if a == b => return,
            // Not put back and withdrawn: the rule would start it in between.
            (Phase::Running(_), _) => found.leaves(id),
            (Phase::Waiting(_), _) => found.withdraws(id),
            (Phase::Out | Phase::Passed, _) => {}
        }
        match is {
            Phase::Waiting(i) => found.lines.push(self.arrival(row, i)),
            Phase::Running(i) => {
                found.lines.push(self.adoption(row, i));
                if matches!(before, Phase::Waiting(_)) {
                    let note = format!("job {} was released by somebody else", row.key.id);
                    found.notes.push(note);
                }
            }
            Phase::Out | Phase::Passed => {}
        }
    }

    /// Returns what a job is now.
    fn phase_of(&mut self, row: &QueueRow, before: Phase, found: &mut Changes) -> Phase {
        let is_early = row.eligible.is_some_and(|begin| begin > self.at.wall);
        if let JobState::Unknown(letters) = &row.state {
            found.notes.push(format!(
                "job {} is in state {letters}, which is not known here: it stays what it was",
                row.key.id
            ));
            return before;
        }
        if row.has_nodes() {
            let is_on_servers = self.map.servers_of(row).is_some();
            if let Some(seen) = self.jobs.get_mut(&row.key) {
                (seen.pending_since, seen.held_since) = (None, None);
            }
            return match (before, self.map.type_of(row)) {
                (Phase::Running(i), _) => Phase::Running(i),
                (_, Some(i)) if is_on_servers => Phase::Running(i),
                _ => Phase::Passed,
            };
        }
        let held =
            row.hold == Hold::User || self.setup.hold == HoldBy::Admin && row.hold == Hold::Admin;
        // Slurm itself waits, with a job that is not held: it is none of ours until then.
        if row.hold == Hold::None && row.depends {
            return Phase::Out;
        }
        // A job that is requeued comes back like that, and would start by itself.
        if row.hold == Hold::None && is_early {
            found.give_up.push(row.key.id);
            found.notes.push(format!(
                "job {} is to begin later, and is held until then",
                row.key.id
            ));
            return Phase::Out;
        }
        match (before, row.hold) {
            // It was released, by us or by its owner, and has not started.
            (Phase::Running(i), Hold::None) => self.is_stuck(row, i, found),
            (Phase::Running(i), _) if held && self.lags(row.key) => Phase::Running(i),
            (Phase::Passed, Hold::None) => Phase::Passed,
            (_, Hold::None) => match self.map.type_of(row) {
                None => Phase::Passed,
                // In a fleet it is not known where it will run, unless a bridge before has sent it there.
                Some(_) if self.places.servers() > 1 && !self.placed.contains_key(&row.key) => {
                    Phase::Out
                }
                Some(i) => Phase::Running(i),
            },
            _ if !held => Phase::Out,
            // Once these have ended Slurm decides when it is released whether it may start.
            _ if row.waits_for.iter().any(|job| self.present.contains(job)) => Phase::Out,
            _ if is_early => Phase::Out,
            _ => self.waiting(row, found),
        }
    }

    /// Decides on a held job that could start: it waits, or is let go.
    fn waiting(&self, row: &QueueRow, found: &mut Changes) -> Phase {
        if self.setup.hold == HoldBy::Admin && row.hold == Hold::User {
            found.hold.push(row.key.id);
        }
        match self.find(row).ok() {
            Some(i) => Phase::Waiting(i),
            None if self.setup.unknown == Unknown::Hold => Phase::Out,
            None => {
                found.pass.push(row.key.id);
                Phase::Out
            }
        }
    }

    /// Returns the type of a job that waits, or why it has none. In a fleet the rule says where a job runs: not of one that
    /// says it itself, and was not sent there from here.
    pub fn find(&self, row: &QueueRow) -> Result<usize, Untyped> {
        if self.places.servers() > 1 && row.names_nodes && !self.placed.contains_key(&row.key) {
            return Err(Untyped::OwnNodes);
        }
        self.map.find(row)
    }

    /// Returns whether a released job may still show as held.
    fn lags(&mut self, key: Key) -> bool {
        let now = self.at.now;
        let Some(seen) = self.jobs.get_mut(&key) else {
            return false;
        };
        let since = *seen.held_since.get_or_insert(now);
        !seen.gave_up && now - since < LAG
    }

    /// Takes note of a released job that Slurm has not started: reported once, given up in the end.
    fn is_stuck(&mut self, row: &QueueRow, i: usize, found: &mut Changes) -> Phase {
        let now = self.at.now;
        if let Some(seen) = self.jobs.get_mut(&row.key) {
            seen.held_since = None;
            let since = *seen.pending_since.get_or_insert(now);
            if now - since > self.setup.stuck.as_secs_f64() && !seen.is_warned {
                seen.is_warned = true;
                found.stuck.push((row.key.id, row.reason.clone()));
            }
            if now - since > GIVE_UP {
                seen.gave_up = true;
                found.give_up.push(row.key.id);
            }
        }
        Phase::Running(i)
    }

    fn arrival(&self, row: &QueueRow, i: usize) -> (Order, Line) {
        // As Slurm orders them.
        let since = row.eligible.unwrap_or(row.key.submitted);
        let order = (CAME, since, Some(row.key));
        let arrive = Some(self.places.type_name(i).to_owned());
        // As long as a round may last, or a clock be off, is nothing.
        let waited = (self.at.wall - since) as f64;
        let waited = Some(waited).filter(|waited| self.is_by_job && *waited > LAG);
        let line = Line {
            arrive,
            waited: waited.map(|seconds| seconds / self.second),
            ..self.line(row)
        };
        (order, line)
    }

    fn adoption(&self, row: &QueueRow, i: usize) -> (Order, Line) {
        let mut line = Line {
            adopt: Some(self.places.type_name(i).to_owned()),
            ..self.line(row)
        };
        if self.places.servers() > 1 {
            // Those it runs on or was sent to, and further ones where the type has more.
            let sent = self.placed.get(&row.key).into_iter().flatten();
            let sent = || sent.filter_map(|name| self.places.server(name)).collect();
            let named = self.map.servers_of(row).unwrap_or_else(sent);
            let servers = self.places.taken(i, named, &self.busy).into_iter();
            line.servers = servers
                .map(|n| self.places.server_name(n).to_owned())
                .collect();
        }
        ((ADOPTED, 0, Some(row.key)), line)
    }

    /// Returns a line of a job: its id, its limit and its user.
    fn line(&self, row: &QueueRow) -> Line {
        let is_known = self.is_by_job && !row.user.is_empty();
        Line {
            user: is_known.then(|| row.user.clone()),
            job: Some(id_of(row.key)),
            limit: row.time_limit.map(|seconds| seconds as f64 / self.second),
            ..Line::default()
        }
    }

    /// Released jobs that Slurm has not started for long: they are held again, and go behind the others.
    pub fn give_up(&mut self, now: f64) -> Vec<JobId> {
        let stuck = self.setup.stuck.as_secs_f64();
        let late = self.jobs.iter_mut().filter(|(_, seen)| {
            seen.runs() && seen.pending_since.is_some_and(|at| now - at > stuck)
        });
        late.map(|(key, seen)| {
            seen.gave_up = true;
            key.id
        })
        .collect()
    }

    /// This job is to be released now, on these servers of a fleet: whether it still waits, so that it can be; its nodes,
    /// and of several the CPUs on each, where that is the same number.
    pub fn release(&mut self, key: Key, servers: &[String], now: f64) -> Option<Sent> {
        let seen = self.jobs.get_mut(&key)?;
        let Phase::Waiting(i) = seen.phase else {
            return None;
        };
        (seen.phase, seen.released) = (Phase::Running(i), Some(now));
        let (most, cpus) = seen.most;
        let mut nodes = self.nodes_of(servers);
        nodes.truncate(most as usize);
        if !nodes.is_empty() {
            self.placed.insert(key, servers.to_vec());
        }
        let parts = nodes.len().max(1) as u64;
        let cpus = (parts > 1 && cpus % parts == 0).then(|| cpus / parts);
        Some((nodes, cpus))
    }

    /// Returns the nodes that these servers of a fleet are; none of one server.
    pub fn nodes_of(&self, servers: &[String]) -> Vec<String> {
        let servers = servers.iter().filter_map(|name| self.places.server(name));
        let nodes = servers.filter_map(|n| self.map.servers.node(n).map(str::to_owned));
        nodes.collect()
    }

    /// Returns how many jobs are in a phase.
    pub fn count(&self, phase: Phase) -> usize {
        self.jobs
            .values()
            .filter(|seen| seen.phase == phase)
            .count()
    }

    /// Returns how many jobs of a queue have no type: of those that wait, and of the others.
    pub fn untyped(&self, queue: &SlurmQueue) -> [usize; 2] {
        let without = queue.rows.iter().filter(|row| self.find(row).is_err());
        let waits = |row: &&QueueRow| row.state == JobState::Pending;
        let waiting = without.clone().filter(waits).count();
        [waiting, without.count() - waiting]
    }

    /// Returns the names of the types (K).
    pub fn types(&self) -> Vec<String> {
        self.places.types().map(str::to_owned).collect()
    }

    /// Returns all that waits and runs, for a scheduler that begins: what has to be reported to it.
    pub fn again(&mut self, queue: &SlurmQueue, at: HostMoment) -> Changes {
        let mut running = std::mem::take(&mut self.jobs);
        running.retain(|_, seen| seen.runs());
        self.places.forget();
        let mut found = self.look(queue, None, at);
        for row in &queue.rows {
            // What was released a moment ago may show as held: it runs.
            if running.contains_key(&row.key)
                && let Some(seen) = self.jobs.get_mut(&row.key)
                && let Phase::Waiting(i) = seen.phase
            {
                *seen = Seen::new(Phase::Running(i));
                let id = id_of(row.key);
                let is_other = |line: &Line| line.job.as_ref() != Some(&id);
                found.lines.retain(|(_, line)| is_other(line));
                found.lines.push(self.adoption(row, i));
            }
        }
        for (key, seen) in self.jobs.iter_mut().filter(|(_, seen)| seen.runs()) {
            if let Some(was) = running.get(key) {
                (seen.released, seen.began) = (was.released, was.began);
            }
        }
        self.ended.clear();
        found.began.clear();
        found
    }
}
