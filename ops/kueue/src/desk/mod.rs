//! The policy at work: what has changed on the cluster is reported to the scheduler, and what it decides is to be released.

mod round;
mod stage;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::time::Instant;

use crate::amounts::resources;
use crate::cluster::{Cluster, Placed};
use crate::setup::Setup;
use crate::site::Site;
use crate::types::TypeMap;
use crate::view::{Mark, Uid, View};
pub use round::{Concern, Release, Round};
use synth_core::artifact::Changes;
use synth_core::document::text_of;
use synth_multiresource::artifact::Checked;
use synth_operator::{HostMoment, Operator, read_policy};

/// A policy with its scheduler, and what that knows of the cluster.
pub struct Desk {
    /// Of each job, whether the API has not answered the request to release it yet.
    ///
    /// The scheduler calls it by its uid, or by that with a `#` behind it: a job that is found on other servers is adopted
    /// there before it leaves where it was, so that nothing starts on them in between.
    pub operator: Operator<Uid, bool>,
    map: TypeMap,
    site: Site,
    setup: Setup,
    /// Jobs of which something was noted that stays so.
    noted: HashMap<Uid, Concern>,
    /// When it looks.
    at: HostMoment,
}

/// For so long what the API reports may be older than our release \[s\].
const LAG: f64 = 30.0;

impl Desk {
    /// Reads the policy and the types of jobs.
    ///
    /// # Errors
    /// When one cannot be read, or the policy does more than to start jobs; says what to do.
    pub fn new(setup: &Setup) -> Result<Self, String> {
        let path = setup.policy.as_ref().ok_or("no policy is named")?;
        let policy = read_policy(path, Changes::Refused).map_err(|why| why.to_string())?;
        let Some(path) = &setup.types else {
            return Desk::of(policy, None, setup);
        };
        let name = path.display().to_string();
        let text = text_of(path).map_err(|why| format!("cannot read {name}: {why}"))?;
        Desk::of(policy, Some((&text, &name)), setup)
    }

    /// Returns the same for a policy that was read, and the digest of its file.
    ///
    /// # Errors
    /// As those of [`Desk::new`].
    pub fn of(
        policy: (Checked, String),
        types: Option<(&str, &str)>,
        setup: &Setup,
    ) -> Result<Self, String> {
        let operator = Operator::new(policy, setup.seed, "which a gate cannot do")?;
        let resources = resources(operator.fleet().envelope(), &setup.resource)?;
        Ok(Desk {
            map: TypeMap::new(&operator.policy, resources, types)?,
            operator,
            site: Site::default(),
            setup: setup.clone(),
            noted: HashMap::new(),
            at: HostMoment::default(),
        })
    }

    /// Checks that the cluster has the policy's servers.
    ///
    /// # Errors
    /// What it lacks.
    pub fn check(&mut self, cluster: &Cluster) -> Result<(), String> {
        let (places, resources) = (self.operator.places(), &self.map.resources);
        self.site.check(&cluster.machines, places, resources)
    }

    /// Takes note that a release was carried out, or was not: then what the API says next decides.
    pub fn released(&mut self, job: &Uid, is_done: bool) {
        if let Some(known) = self.operator.jobs.get_mut(job) {
            known.more = false;
            known.released = known.released.filter(|_| is_done);
        } else if !is_done {
            self.noted.remove(job);
        }
    }

    /// Compares with what was known, reports it, and decides.
    pub fn look(&mut self, cluster: &Cluster, at: HostMoment) -> Round {
        let begin = Instant::now();
        self.at = at;
        let mut round = Round::default();
        let views = cluster.views(&self.setup.gate);
        if let Err(why) = self.report(cluster, &views, begin, &mut round) {
            let text = format!("{why}; the policy begins anew with what waits and runs");
            round.note(None, Concern::Policy, text);
            let before = self.operator.restart();
            round.releases.retain(|own| own.job_type.is_none());
            if let Err(why) = self.report(cluster, &views, begin, &mut round) {
                round.note(None, Concern::Policy, why);
            }
            let is_pending = |uid: &Uid| before.get(uid).is_some_and(|own| own.more);
            round.releases.retain(|own| !is_pending(&own.job));
        }
        round
    }

    fn report(
        &mut self,
        cluster: &Cluster,
        views: &[View<'_>],
        begin: Instant,
        round: &mut Round,
    ) -> Result<(), String> {
        let by_uid: HashMap<&Uid, &View<'_>> =
            views.iter().map(|view| (view.work.uid(), view)).collect();
        self.depart(&by_uid);
        let placed = cluster.placed();
        let nodes = nodes(&placed);
        let jobs = self.operator.jobs.values();
        self.operator.busy = jobs.flat_map(|own| &own.servers).copied().collect();
        for view in views {
            self.compare(view, &nodes, round);
        }
        let jobs = &self.operator.jobs;
        let runs = |job: &Uid| jobs.get(job).is_some_and(|own| own.runs());
        let others = placed.iter().filter(|(_, job)| !job.is_some_and(runs));
        let (machines, resources) = (&cluster.machines, &self.map.resources);
        let known = (self.operator.places(), resources);
        let others = others.map(|(pod, _)| *pod);
        let left = self.site.left(machines, others, known);
        self.operator.occupy(resources, left);
        for text in self.site.closed(machines) {
            round.note(None, Concern::Capacity, text);
        }
        let (decided, refused) = self.operator.decide(self.at.now, begin);
        if !refused.is_empty() {
            return Err(refused.join("; "));
        }
        for start in &decided.start {
            let job: Uid = start.id().trim_end_matches('#').into();
            let servers = self.operator.servers_of(start);
            let nodes = self.site.nodes.named(&servers);
            // Others started and were found to run in one round.
            if let Some(view) = by_uid.get(&job)
                && let Some((i, is_pending)) = self.operator.release(&job, servers, self.at.now)
            {
                *is_pending = true;
                self.release(view, Some(i), nodes, round);
            }
        }
        round.decided = decided;
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
            called: view.work.called(),
            owners: view.gated(&self.setup.gate).cloned().collect(),
            mark: Mark {
                gate: self.setup.gate.clone(),
                policy: self.operator.digest.clone(),
                at: self.at.wall,
                nodes,
            },
            job_type,
        });
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
