use std::collections::HashMap;

use super::round::{Concern, Round};
use super::{Desk, LAG};
use crate::setup::Unknown;
use crate::view::{Phase, TYPE, Uid, View};
use synth_operator::{JobReport, Nodes, Stage, Timestamps};

impl Desk {
    pub(super) fn depart(&mut self, views: &HashMap<&Uid, &View<'_>>) {
        self.noted.retain(|uid, _| views.contains_key(uid));
        let jobs = self.operator.jobs.keys();
        let gone = jobs.filter(|uid| !views.contains_key(uid));
        for uid in gone.cloned().collect::<Vec<Uid>>() {
            self.operator.leave(&uid);
        }
    }

    pub(super) fn compare(&mut self, view: &View<'_>, on: &[&str], round: &mut Round) {
        let uid = view.work.uid();
        let before = self.operator.stage(uid);
        let is = self.stage(view, on, round);
        if let Some(Stage::Waiting(_)) = before
            && view.mark().is_none()
            && matches!(view.phase, Phase::Running | Phase::Foreign)
        {
            let job = view.work.called();
            let text = format!("{job} was released by another user");
            round.note(Some(uid), Concern::ReleasedByOthers, text);
        }
        let (own, at) = (&self.nodes, self.at);
        let describe = || report(view, on, own, at);
        self.operator.set_stage(uid, is, describe);
        if let (Some(Stage::Running(_)), Some(Stage::Running(i))) = (before, is) {
            self.finish(view, i, round);
            self.move_to(view, i, on, round);
        }
    }

    fn stage(&mut self, view: &View<'_>, on: &[&str], round: &mut Round) -> Option<Stage> {
        let (uid, now) = (view.work.uid(), self.at.now);
        let before = self.operator.stage(uid);
        let lags = self.operator.jobs.get(uid).is_some_and(|own| {
            own.more || own.released.is_some_and(|released| now - released < LAG)
        });
        let runs = matches!(before, Some(Stage::Running(_)));
        let typed = self.find(view);
        match view.phase {
            Phase::Foreign | Phase::Held | Phase::Waiting if runs && lags => before,
            Phase::Gone | Phase::Foreign => None,
            Phase::Held => {
                let others = "is also waiting for other gates, and is not in the queue yet";
                let text = format!("{} {others}", view.work.called());
                self.note_once(uid, Concern::OtherGates, text, round);
                None
            }
            Phase::Evicted => {
                if runs {
                    let job = view.work.called();
                    let text = format!(
                        "{job} was evicted: its capacity is free until Kueue admits it again"
                    );
                    round.note(Some(uid), Concern::Evicted, text);
                }
                None
            }
            Phase::Waiting => {
                if let Err(why) = &typed {
                    round.untyped += 1;
                    let is_left = self.setup.unknown == Unknown::Leave;
                    let done = match is_left {
                        true => "it stays gated (--unknown release would release such jobs)",
                        false => "it is released immediately",
                    };
                    let text = format!("{}: {why}: {done}", view.work.called());
                    if self.note_once(uid, Concern::NoType, text, round) && !is_left {
                        round.releases.push(self.release(view, None, Vec::new()));
                    }
                }
                typed.ok().map(Stage::Waiting)
            }
            Phase::Released | Phase::Running if runs => before,
            Phase::Released => typed.ok().map(Stage::Running),
            // If there is no mark, the servers of a job are not known before its pods have nodes.
            Phase::Running => {
                let is_known = view.mark().is_some()
                    || self.is_pooled()
                    || self.on_servers(on).is_some_and(|own| !own.is_empty());
                typed.ok().filter(|_| is_known).map(Stage::Running)
            }
        }
    }

    /// Returns the type in the label `synth/type`, or the first type in the file with a matching
    /// condition, or the cheapest type that covers the demand. If several types have the same
    /// demand, the time limit is used. On one server the demand is the total of the pods. In a
    /// fleet each pod needs a server, so the type must have at least as many servers.
    pub fn find(&self, view: &View<'_>) -> Result<usize, String> {
        let pods = view.work.pods.try_into().unwrap_or(u32::MAX);
        let (demand, pods) = match self.is_pooled() {
            true => (&view.work.all, 1),
            false => (&view.work.each, pods),
        };
        let units = self.resources.units(demand);
        if let Some(label) = view.label(TYPE) {
            let places = self.operator.places();
            let named = places.job_type(label).ok_or_else(|| {
                let names = places.types().collect::<Vec<_>>().join(", ");
                format!(
                    "its label {TYPE} names `{label}`, but the policy only has the types {names}"
                )
            })?;
            return match self.types.holds(named, &units, pods) {
                true => Ok(named),
                false => Err(format!(
                    "its demand is larger than that of the type `{label}` in its label {TYPE}"
                )),
            };
        }
        let limit = view.work.limit.unwrap_or(f64::INFINITY);
        let found = self.types.find(&units, pods, limit, |own| own.is_met(view));
        found.ok_or_else(|| match self.is_pooled() {
            true => "no type of the policy covers the total demand of its pods".into(),
            false => {
                format!("no type of the policy covers the demand of its pods on as many servers as it has pods ({pods})")
            }
        })
    }

    /// If only some pods of a job have lost their gate, the other pods are also released.
    fn finish(&mut self, view: &View<'_>, i: usize, round: &mut Round) {
        let has_gate = view.gated(&self.setup.gate).next().is_some();
        let known = self.operator.jobs.get_mut(view.work.uid());
        let known = known.filter(|own| view.phase == Phase::Released && has_gate && !own.more);
        if let Some(known) = known {
            known.more = true;
            let nodes = view.mark().map_or(Vec::new(), |mark| mark.nodes.clone());
            round.releases.push(self.release(view, Some(i), nodes));
        }
    }

    pub(super) fn is_pooled(&self) -> bool {
        self.operator.policy.workload().is_one_server()
    }

    fn note_once(&mut self, uid: &Uid, concern: Concern, text: String, round: &mut Round) -> bool {
        let is_new = self.noted.insert(uid.clone(), concern) != Some(concern);
        if is_new {
            round.note(Some(uid), concern, text);
        }
        is_new
    }

    fn on_servers(&self, nodes: &[&str]) -> Option<Vec<usize>> {
        let servers = nodes.iter().map(|node| self.nodes.server(node));
        let mut servers: Vec<usize> = servers.collect::<Option<_>>()?;
        servers.sort_unstable();
        servers.dedup();
        Some(servers)
    }

    /// Moves a running job to the servers of its pods, if all have nodes and some are unexpected.
    fn move_to(&mut self, view: &View<'_>, i: usize, on: &[&str], round: &mut Round) {
        let uid = view.work.uid();
        if self.is_pooled() || (on.len() as u64) < view.work.pods {
            return;
        }
        let known = self.operator.jobs.get(uid);
        let (Some(found), Some(known)) = (self.on_servers(on), known) else {
            return;
        };
        if found.iter().all(|n| known.servers.contains(n)) {
            return;
        }
        let (job, nodes) = (view.work.called(), on.join(" "));
        let text = format!("{job} runs on {nodes} instead of the nodes chosen by the policy");
        round.note(Some(uid), Concern::Elsewhere, text);
        let id = match *known.id == **uid {
            true => format!("{uid}#"),
            false => uid.to_string(),
        };
        let report = report(view, on, &self.nodes, self.at);
        self.operator.leave(uid);
        self.operator.enter(uid, id, Stage::Running(i), report);
    }
}

/// Describes a job with pods on the nodes `on`. It uses these servers and the servers in its mark.
fn report<'a>(view: &View<'a>, on: &[&str], servers: &Nodes, at: Timestamps) -> JobReport<'a> {
    let work = view.work;
    let marked = view.mark().map_or(&[][..], |mark| &mark.nodes);
    let named = on.iter().copied().chain(marked.iter().map(String::as_str));
    let ran = work.reserved.map_or(0, |own| (at.wall - own).max(0));
    JobReport {
        user: &work.itself.own.namespace,
        limit: work.limit,
        waited: (at.wall - work.created) as f64,
        ran: ran as f64,
        servers: named.filter_map(|node| servers.server(node)).collect(),
    }
}
