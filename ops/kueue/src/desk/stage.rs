//! What a job is for the scheduler, and what is new of it.

use std::collections::{HashMap, HashSet};

use super::round::{Change, Concern, Round, Stage};
use super::{Desk, Known, LAG};
use crate::setup::Unknown;
use crate::view::{Phase, Uid, View, Work};
use synth_core::document::number_of;
use synth_operator::{HostMoment, Submission};

impl Desk {
    /// Jobs that are not there any more.
    pub(super) fn departed(&mut self, views: &HashMap<&Uid, &View<'_>>) -> Vec<Change> {
        self.noted.retain(|uid, _| views.contains_key(uid));
        let gone = self.jobs.keys().filter(|uid| !views.contains_key(uid));
        let mut gone: Vec<Uid> = gone.cloned().collect();
        gone.sort_unstable();
        gone.iter().filter_map(|uid| self.leave(uid)).collect()
    }

    /// Takes a job out.
    fn leave(&mut self, uid: &Uid) -> Option<Change> {
        let known = self.jobs.remove(uid)?;
        Some(match known.stage {
            Stage::Waiting(_) => Change::Withdraw(known.id),
            Stage::Running(_) => Change::Leave(known.id),
        })
    }

    /// Finds what is new of a job.
    pub(super) fn compare(
        &mut self,
        view: &View<'_>,
        nodes: &HashMap<&Uid, Vec<&str>>,
        round: &mut Round,
    ) {
        let uid = view.work.uid();
        let before = self.jobs.get(uid).map(|own| own.stage);
        let on = nodes.get(uid).map_or(&[][..], |own| own);
        let is = self.stage(view, before, on, round);
        match (before, is) {
            (Some(Stage::Running(_)), Some(Stage::Running(i))) => {
                self.finish(view, i, round);
                self.move_to(view, i, on, round);
            }
            (Some(before), Some(is)) if before == is => {}
            (Some(Stage::Running(a)), Some(Stage::Waiting(b))) if a == b => {
                if let Some(known) = self.jobs.get_mut(uid) {
                    known.wait(b);
                    round.changes.push(Change::PutBack(known.id.clone()));
                }
            }
            (_, is) => {
                round.changes.extend(self.leave(uid));
                if let Some(Stage::Waiting(_)) = before
                    && view.mark().is_none()
                    && matches!(view.phase, Phase::Running | Phase::Foreign)
                {
                    let text = format!(
                        "{} was released by somebody else",
                        view.work.submitted().called()
                    );
                    round.note(Some(uid), Concern::ReleasedByOthers, text);
                }
                self.enter((view, uid.clone()), is, on, round);
            }
        }
    }

    /// A job comes in, under this id.
    fn enter(
        &mut self,
        (view, id): (&View<'_>, Uid),
        stage: Option<Stage>,
        on: &[&str],
        round: &mut Round,
    ) {
        let Some(stage) = stage else { return };
        let mut servers = Vec::new();
        match stage {
            Stage::Waiting(i) => {
                let job = self.submission(view.work, i, round.at);
                round.changes.push(Change::Arrive(id.clone(), job));
            }
            Stage::Running(i) => {
                servers = self.room(view, i, on);
                let job = self.submission(view.work, i, round.at);
                let ran = view
                    .work
                    .reserved
                    .map_or(0, |own| (round.at.wall - own).max(0));
                let ran = ran as f64 / self.second;
                let adopt = Change::Adopt(id.clone(), job, ran, servers.clone());
                round.changes.push(adopt);
            }
        }
        let known = Known::new(stage, id, servers);
        self.jobs.insert(view.work.uid().clone(), known);
    }

    /// Returns what the scheduler is told of a job of type i beside its id.
    fn submission(&self, work: &Work, i: usize, at: HostMoment) -> Submission<'static> {
        let mut job = Submission::new("", i);
        job.limit = work
            .limit
            .map_or(f64::INFINITY, |limit| limit / self.second);
        if self.is_by_job {
            job.user = number_of(work.itself.own.namespace.as_bytes());
            let waited = (at.wall - work.created) as f64;
            // As long as a round may last, or a clock be off, is nothing.
            job.waited = if waited > 5.0 {
                waited / self.second
            } else {
                0.0
            };
        }
        job
    }

    /// Returns what a job is for the scheduler: none where it has no place there.
    fn stage(
        &mut self,
        view: &View<'_>,
        before: Option<Stage>,
        on: &[&str],
        round: &mut Round,
    ) -> Option<Stage> {
        let uid = view.work.uid();
        let lags = self.jobs.get(uid).is_some_and(|own| {
            own.is_pending
                || own
                    .released
                    .is_some_and(|released| round.at.now - released < LAG)
        });
        let typed = self.map.find(view);
        match (view.phase, before, typed) {
            (Phase::Gone, ..) => None,
            (
                Phase::Foreign | Phase::Held | Phase::Waiting,
                Some(running @ Stage::Running(_)),
                _,
            ) if lags => Some(running),
            (Phase::Foreign, ..) => None,
            (Phase::Held, ..) => {
                let job = view.work.submitted().called();
                let text =
                    format!("{job} waits for gates of others, too, and is not in the queue yet");
                self.note_once(uid, Concern::OtherGates, text, round);
                None
            }
            (Phase::Evicted, before, _) => {
                if let Some(Stage::Running(_)) = before {
                    let job = view.work.submitted().called();
                    let text =
                        format!("{job} was evicted: its place is free until Kueue admits it again");
                    round.note(Some(uid), Concern::Evicted, text);
                }
                None
            }
            (Phase::Waiting, _, Ok(i)) => Some(Stage::Waiting(i)),
            (Phase::Waiting, _, Err(why)) => {
                round.untyped += 1;
                self.untyped(view, &why, round);
                None
            }
            (Phase::Released | Phase::Running, Some(Stage::Running(i)), _) => {
                Some(Stage::Running(i))
            }
            (Phase::Released, _, Ok(i)) => Some(Stage::Running(i)),
            // Of a job that is not ours it is known where it runs once its pods are there.
            (Phase::Running, _, Ok(i)) => {
                let is_known = view.mark().is_some()
                    || self.is_pooled()
                    || self.on_servers(on).is_some_and(|own| !own.is_empty());
                is_known.then_some(Stage::Running(i))
            }
            (Phase::Released | Phase::Running, _, Err(_)) => None,
        }
    }

    /// Of several pods some may have kept their gate: the others were released already, and these follow.
    fn finish(&mut self, view: &View<'_>, i: usize, round: &mut Round) {
        let has_gate = view.gated(&self.setup.gate).next().is_some();
        let known = self.jobs.get_mut(view.work.uid());
        let known =
            known.filter(|own| view.phase == Phase::Released && has_gate && !own.is_pending);
        if let Some(known) = known {
            known.is_pending = true;
            let nodes = view.mark().map_or(Vec::new(), |mark| mark.nodes.clone());
            self.release(view, Some(i), nodes, round);
        }
    }

    fn is_pooled(&self) -> bool {
        self.policy.workload().is_one_server()
    }

    /// A job that has no type: it stays gated, or is let go.
    fn untyped(&mut self, view: &View<'_>, why: &str, round: &mut Round) {
        let is_left = self.setup.unknown == Unknown::Leave;
        let done = match is_left {
            true => "it stays gated (--unknown release lets such jobs go)",
            false => "it is released at once",
        };
        let text = format!("{}: {why}: {done}", view.work.submitted().called());
        let uid = view.work.uid();
        if self.note_once(uid, Concern::NoType, text, round) && !is_left {
            self.release(view, None, Vec::new(), round);
        }
    }

    /// Notes what is so until something else is: whether it is new.
    fn note_once(&mut self, uid: &Uid, concern: Concern, text: String, round: &mut Round) -> bool {
        let is_new = self.noted.insert(uid.clone(), concern) != Some(concern);
        if is_new {
            round.note(Some(uid), concern, text);
        }
        is_new
    }

    /// Returns the servers that these nodes are, each once; `None` where one is none.
    fn on_servers(&self, nodes: &[&str]) -> Option<Vec<usize>> {
        let servers = nodes.iter().map(|node| self.site.server(node));
        let mut servers: Vec<usize> = servers.collect::<Option<_>>()?;
        servers.sort_unstable();
        servers.dedup();
        Some(servers)
    }

    /// Returns the servers that a running job of type i holds in a fleet: those of its pods, those that its mark names, and
    /// further ones where the type has more, idle ones first.
    fn room(&self, view: &View<'_>, i: usize, on: &[&str]) -> Vec<usize> {
        if self.is_pooled() {
            return Vec::new();
        }
        let marked = view.mark().map_or(&[][..], |mark| &mark.nodes);
        let named = on.iter().copied().chain(marked.iter().map(String::as_str));
        let named = named.filter_map(|node| self.site.server(node));
        let jobs = self.jobs.values();
        let busy: HashSet<usize> = jobs.flat_map(|own| &own.servers).copied().collect();
        self.scheduler.places().taken(i, named, &busy)
    }

    /// A running job whose pods all have nodes, and others than was decided: Kueue and the kube-scheduler say where.
    fn move_to(&mut self, view: &View<'_>, i: usize, on: &[&str], round: &mut Round) {
        let uid = view.work.uid();
        if self.is_pooled() || (on.len() as u64) < view.work.pods {
            return;
        }
        let (Some(found), Some(known)) = (self.on_servers(on), self.jobs.get(uid)) else {
            return;
        };
        if found.iter().all(|n| known.servers.contains(n)) {
            return;
        }
        let (job, nodes) = (view.work.submitted().called(), on.join(" "));
        let text = format!("{job} runs on {nodes}, and not where it was decided");
        round.note(Some(uid), Concern::Elsewhere, text);
        let id = match known.id == *uid {
            true => format!("{uid}#").into(),
            false => uid.clone(),
        };
        round.changes.extend(self.leave(uid));
        self.enter((view, id), Some(Stage::Running(i)), on, round);
    }
}
