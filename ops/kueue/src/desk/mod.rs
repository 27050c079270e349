mod round;
mod site;
mod stage;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap};
use std::time::Instant;

use crate::amounts::resources;
use crate::cluster::{Cluster, Placed};
use crate::setup::Setup;
use crate::types::{Condition, types};
use crate::view::{Mark, Uid, View};
pub use round::{Concern, Release, Round};
use synth_core::artifact::Changes;
use synth_core::document::text_of;
use synth_multiresource::artifact::Checked;
use synth_operator::{JobTypes, Nodes, Operator, Resources, Timestamps, read_policy};

pub struct Desk {
    /// The additional data specifies whether the API has not yet answered a release. The id of a
    /// job is its uid. A `#` is added if it is found on other servers, because it is adopted there
    /// before it leaves the old ones, so that no other job can start.
    pub operator: Operator<Uid, bool>,
    resources: Resources,
    types: JobTypes<Condition>,
    nodes: Nodes,
    closed: BTreeSet<Uid>,
    setup: Setup,
    /// The last note that was written for each job.
    noted: HashMap<Uid, Concern>,
    at: Timestamps,
}

/// The time for which the API may report a state that is older than a release \[s\].
const LAG: f64 = 30.0;

impl Desk {
    pub fn new(setup: &Setup) -> Result<Self, String> {
        let path = setup.policy.as_ref().ok_or("no policy specified")?;
        let policy = read_policy(path, Changes::Refused).map_err(|why| why.to_string())?;
        let Some(path) = &setup.types else {
            return Desk::of(policy, None, setup);
        };
        let name = path.display().to_string();
        let text = text_of(path).map_err(|why| format!("cannot read {name}: {why}"))?;
        Desk::of(policy, Some((&text, &name)), setup)
    }

    pub fn of(
        policy: (Checked, String),
        file: Option<(&str, &str)>,
        setup: &Setup,
    ) -> Result<Self, String> {
        let operator = Operator::new(policy, setup.seed, "which a gate cannot do")?;
        Ok(Desk {
            resources: resources(operator.policy.workload().envelope(), &setup.resource)?,
            types: types(&operator.policy, file)?,
            operator,
            nodes: Nodes::default(),
            closed: BTreeSet::new(),
            setup: setup.clone(),
            noted: HashMap::new(),
            at: Timestamps::default(),
        })
    }

    /// Sets the result of a release. If it failed, the next state from the API is used.
    pub fn released(&mut self, job: &Uid, is_done: bool) {
        if let Some(known) = self.operator.jobs.get_mut(job) {
            known.more = false;
            known.released = known.released.filter(|_| is_done);
        } else if !is_done {
            self.noted.remove(job);
        }
    }

    pub fn look(&mut self, cluster: &Cluster, at: Timestamps) -> Round {
        let begin = Instant::now();
        self.at = at;
        let mut round = Round::default();
        let views = cluster.views(&self.setup.gate);
        if let Err(why) = self.report(cluster, &views, begin, &mut round) {
            let text = format!(
                "{why}; the policy is restarted with the jobs that are waiting or running now"
            );
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
            let on = nodes.get(view.work.uid()).map_or(&[][..], |own| own);
            self.compare(view, on, round);
        }
        let jobs = &self.operator.jobs;
        let runs = |job: &Uid| jobs.get(job).is_some_and(|own| own.runs());
        let others = placed.iter().filter(|(_, job)| !job.is_some_and(runs));
        let others: Vec<&Placed> = others.map(|(pod, _)| *pod).collect();
        let left = self.left(&cluster.machines, &others);
        self.operator.occupy(&self.resources, left);
        for text in self.closed(&cluster.machines) {
            round.note(None, Concern::Capacity, text);
        }
        let (decided, refused) = self.operator.decide(self.at.now, begin);
        if !refused.is_empty() {
            return Err(refused.join("; "));
        }
        for start in &decided.start {
            let job: Uid = start.id().trim_end_matches('#').into();
            let servers = self.operator.servers_of(start);
            let nodes = self.nodes.named(&servers);
            // A job can be released by others and found running in the same round.
            if let Some(view) = by_uid.get(&job)
                && let Some((i, is_pending)) = self.operator.release(&job, servers, self.at.now)
            {
                *is_pending = true;
                round.releases.push(self.release(view, Some(i), nodes));
            }
        }
        round.decided = decided;
        Ok(())
    }

    fn release(&self, view: &View<'_>, job_type: Option<usize>, nodes: Vec<String>) -> Release {
        Release {
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
        }
    }
}

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
