//! The policy at work: what has changed on the cluster is reported to the scheduler, and what it decides is to be released.

mod round;
mod stage;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::time::Instant;

use crate::cluster::{Cluster, Placed};
use crate::setup::Setup;
use crate::site::Site;
use crate::types::TypeMap;
use crate::units::resources;
use crate::view::{Mark, Uid, View};
use round::Change;
pub use round::{Concern, Release, Round, Stage};
use synth_core::artifact::Changes;
use synth_core::document::text_of;
use synth_multiresource::artifact::Checked;
use synth_operator::{ClusterEvent, HostMoment, Scheduler, only_starts, read_policy, second_of};

/// A policy with its scheduler, and what that knows of the cluster.
pub struct Desk {
    policy: Checked,
    pub digest: String,
    pub scheduler: Scheduler,
    map: TypeMap,
    site: Site,
    setup: Setup,
    /// What the scheduler knows, by uid.
    pub jobs: HashMap<Uid, Known>,
    /// Jobs of which something was noted that stays so.
    noted: HashMap<Uid, Concern>,
    /// Seconds in the policy's unit of time.
    second: f64,
    /// Whether the rule looks at each job: then it sees who sent it, and since when it waits.
    is_by_job: bool,
}

/// A job as the scheduler knows it.
pub struct Known {
    pub stage: Stage,
    /// What the scheduler calls it: its uid, or that with a `#` behind it. A job that is found on other servers is adopted
    /// there before it leaves where it was, so that nothing starts on them in between.
    id: Uid,
    servers: Vec<usize>,
    /// When its release was decided here \[s\].
    released: Option<f64>,
    /// Whether the API has not answered yet.
    is_pending: bool,
}

impl Known {
    fn new(stage: Stage, id: Uid, servers: Vec<usize>) -> Self {
        Known {
            stage,
            id,
            servers,
            released: None,
            is_pending: false,
        }
    }

    /// It waits again.
    fn wait(&mut self, i: usize) {
        *self = Known::new(Stage::Waiting(i), self.id.clone(), Vec::new());
    }
}

/// The jobs that start, each with its servers in a fleet. A policy that is taken here stops none.
type Starts = Vec<(Uid, Vec<usize>)>;

/// For so long what the API reports may be older than our release \[s\].
const LAG: f64 = 30.0;

impl Desk {
    /// Reads the policy and the types of jobs.
    ///
    /// # Errors
    /// When one cannot be read, or the policy does more than to start jobs; says what to do.
    pub fn new(setup: &Setup) -> Result<Self, String> {
        let path = setup.policy.as_ref().ok_or("no policy is named")?;
        let read = read_policy(path, Changes::Refused);
        let (policy, digest) = read.map_err(|why| why.to_string())?;
        let Some(path) = &setup.types else {
            return Desk::of(policy, digest, None, setup);
        };
        let name = path.display().to_string();
        let text = text_of(path).map_err(|why| format!("cannot read {name}: {why}"))?;
        Desk::of(policy, digest, Some((&text, &name)), setup)
    }

    /// Returns the same for a policy that was read.
    ///
    /// # Errors
    /// As those of [`Desk::new`].
    pub fn of(
        policy: Checked,
        digest: String,
        types: Option<(&str, &str)>,
        setup: &Setup,
    ) -> Result<Self, String> {
        only_starts(&policy, "which a gate cannot do")?;
        let fleet = policy.workload();
        let second = second_of(fleet)?;
        let resources = resources(fleet.envelope(), &setup.resource)?;
        let map = TypeMap::new(&policy, resources, types)?;
        let scheduler = Scheduler::new(&policy, setup.seed);
        Ok(Desk {
            is_by_job: scheduler.learned().is_some(),
            site: Site::new(fleet),
            setup: setup.clone(),
            jobs: HashMap::new(),
            noted: HashMap::new(),
            scheduler,
            digest,
            second,
            map,
            policy,
        })
    }

    /// Checks that the cluster has the policy's servers.
    ///
    /// # Errors
    /// What it lacks.
    pub fn check(&mut self, cluster: &Cluster) -> Result<(), String> {
        self.site.check(&cluster.machines, &self.map.resources)
    }

    /// Begins anew, without jobs, with what the rule has learned.
    pub fn restart(&mut self) {
        let learned = self.scheduler.learned();
        self.scheduler = Scheduler::with_learned(&self.policy, self.setup.seed, learned.as_ref());
        self.jobs.clear();
        self.site.forget();
    }

    /// Returns when the policy's next clock rings \[s\], if one is set.
    pub fn wake(&self) -> Option<f64> {
        self.scheduler.wake().map(|wake| wake * self.second)
    }

    /// Returns the seconds in the policy's unit of time.
    pub fn second(&self) -> f64 {
        self.second
    }

    /// Returns how many wait and run, by type.
    pub fn counts(&self) -> Vec<[u64; 2]> {
        let mut counts = vec![[0; 2]; self.scheduler.places().types().len()];
        for known in self.jobs.values() {
            match known.stage {
                Stage::Waiting(i) => counts[i][0] += 1,
                Stage::Running(i) => counts[i][1] += 1,
            }
        }
        counts
    }

    /// Takes note that a release was carried out, or was not: then what the API says next decides.
    pub fn released(&mut self, job: &Uid, is_done: bool) {
        if let Some(known) = self.jobs.get_mut(job) {
            known.is_pending = false;
            known.released = known.released.filter(|_| is_done);
        } else if !is_done {
            self.noted.remove(job);
        }
    }

    /// Compares with what was known, reports it, and decides.
    pub fn look(&mut self, cluster: &Cluster, at: HostMoment) -> Round {
        let begin = Instant::now();
        let mut round = Round {
            at,
            ..Round::default()
        };
        let views = cluster.views(&self.setup.gate);
        if let Err(why) = self.report(cluster, &views, &mut round) {
            let text = format!("{why}; the policy begins anew with what waits and runs");
            round.note(None, Concern::Policy, text);
            let pending = self.jobs.iter().filter(|(_, own)| own.is_pending);
            let pending: Vec<Uid> = pending.map(|(uid, _)| uid.clone()).collect();
            self.restart();
            round.releases.retain(|own| own.job_type.is_none());
            if let Err(why) = self.report(cluster, &views, &mut round) {
                round.note(None, Concern::Policy, why);
            }
            round.releases.retain(|own| !pending.contains(&own.job));
        }
        round.seconds = begin.elapsed().as_secs_f64();
        round
    }

    fn report(
        &mut self,
        cluster: &Cluster,
        views: &[View<'_>],
        round: &mut Round,
    ) -> Result<(), String> {
        let by_uid: HashMap<&Uid, &View<'_>> =
            views.iter().map(|view| (view.work.uid(), view)).collect();
        round.changes = self.departed(&by_uid);
        let placed = cluster.placed();
        let nodes = nodes(&placed);
        for view in views {
            self.compare(view, &nodes, round);
        }
        let runs = |job: &Uid| matches!(self.jobs.get(job)?.stage, Stage::Running(_)).then_some(());
        let others = placed
            .iter()
            .filter(|(_, job)| job.and_then(runs).is_none());
        let others: Vec<&Placed> = others.map(|(pod, _)| *pod).collect();
        let (machines, resources) = (&cluster.machines, &self.map.resources);
        for (n, amounts) in self.site.occupied(machines, &others, resources) {
            round.changes.push(Change::Occupy(n, amounts));
        }
        for text in self.site.closed(machines) {
            round.note(None, Concern::Capacity, text);
        }
        round.changes.sort_by_key(Change::turn);
        round.events += round.changes.len();
        for (id, servers) in self.decide(round)? {
            let job: Uid = id.trim_end_matches('#').into();
            let Some((view, known)) = by_uid.get(&job).zip(self.jobs.get_mut(&job)) else {
                continue;
            };
            // It started and was found to run in one round.
            let Stage::Waiting(i) = known.stage else {
                continue;
            };
            let nodes = self.site.nodes(&servers);
            *known = Known {
                released: Some(round.at.now),
                is_pending: true,
                ..Known::new(Stage::Running(i), id, servers)
            };
            self.release(view, Some(i), nodes, round);
        }
        Ok(())
    }

    /// Adds what a request needs to remove the gate from a job.
    fn release(
        &self,
        view: &View<'_>,
        job_type: Option<usize>,
        nodes: Vec<String>,
        round: &mut Round,
    ) {
        round.releases.push(Release {
            job: view.work.uid().clone(),
            called: view.work.submitted().called(),
            owners: view.gated(&self.setup.gate).cloned().collect(),
            mark: Mark {
                gate: self.setup.gate.clone(),
                policy: self.digest.clone(),
                at: round.at.wall,
                nodes,
            },
            job_type,
        });
    }

    /// Reports the changes, and then the time alone where clocks are due; what came together is decided on together. Returns
    /// the jobs that start.
    fn decide(&mut self, round: &Round) -> Result<Starts, String> {
        let t = round.at.now / self.second;
        let mut starts = Vec::new();
        let is_due = self.scheduler.wake().is_some_and(|wake| wake <= t);
        let time = (is_due || !self.scheduler.has_begun()).then_some(ClusterEvent::Time);
        let events = round.changes.iter().map(Change::event);
        let mut events = events.chain(time).peekable();
        while let Some(event) = events.next() {
            // An event before this one may have started it: then it leaves.
            let event = match event {
                ClusterEvent::Withdraw(job) if self.scheduler.runs(job) => ClusterEvent::Leave(job),
                event => event,
            };
            let decided = match events.peek() {
                None => self.scheduler.tell(t, event)?,
                Some(_) => self.scheduler.tell_of_several(t, event)?,
            };
            starts.extend(decided.start);
        }
        Ok(starts)
    }
}

/// Returns the nodes of the pods of each job, a name a pod.
fn nodes<'a>(placed: &[(&'a Placed, Option<&'a Uid>)]) -> HashMap<&'a Uid, Vec<&'a str>> {
    let mut nodes: HashMap<&Uid, Vec<&str>> = HashMap::new();
    for (pod, job) in placed {
        if let Some(job) = job {
            nodes.entry(job).or_default().push(&pod.node);
        }
    }
    nodes.values_mut().for_each(|own| own.sort_unstable());
    nodes
}
