//! What a scheduler has seen of its jobs: those that are there, and those that ended. Forecasts begin with it.

use std::sync::Arc;

use super::{Known, Place, Scheduler};
use synth_multiresource::policy::Policy;
use synth_multiresource::workload::Fleet;

/// A job that is there, or was. Times are in the policy's unit.
#[derive(Clone, Debug, PartialEq)]
pub struct JobView {
    /// Its type.
    pub job_type: usize,
    /// How long it holds its room at most; infinity where that is not known.
    pub limit: f64,
    /// Who sent it; 0 where that is not known.
    pub user: u32,
    /// When it came.
    pub since: f64,
    /// When it started, if it has.
    pub started: Option<f64>,
    /// When it ended, if it has.
    pub ended: Option<f64>,
    /// The servers of a fleet on which it runs.
    pub servers: Vec<usize>,
}

/// Why a job waits.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitReason {
    /// Its type.
    pub job_type: usize,
    /// Jobs that are before it where it waits: older ones of its type, or of all types those before it in the order.
    pub ahead: usize,
    /// Whether the rule has one order of all types.
    pub is_of_all: bool,
    /// Whether it would fit nowhere if no other job ran: others use the room.
    pub is_shut_out: bool,
    /// What the rule does at present.
    pub doing: Option<String>,
}

impl WaitReason {
    /// Describes what the job waits for.
    pub fn place(&self) -> String {
        let of = if self.is_of_all { "" } else { " of its type" };
        match self.ahead {
            _ if self.is_shut_out => {
                "others use the capacity that it needs, or nodes are down".into()
            }
            0 => format!("it is the next{of}"),
            1 => format!("1 job{of} is before it"),
            ahead => format!("{ahead} jobs{of} are before it"),
        }
    }
}

/// So many jobs that ended are kept.
const KEPT: usize = 20_000;

impl Scheduler {
    /// Keeps a job that ended.
    pub(super) fn keep(&mut self, job: JobView) {
        if self.ended.len() == KEPT {
            self.ended.pop_front();
        }
        self.ended.push_back(job);
    }

    /// Returns what is known of a job that is in the queue or in service.
    pub(super) fn seen(&self, known: &Known) -> Option<JobView> {
        let Place::In(job) = known.place else {
            return None;
        };
        let system = &self.site.system;
        let runs = system.runs(job);
        let started = runs.then(|| system.now() - system.ran(job));
        Some(JobView {
            job_type: known.job_type,
            limit: known.limit,
            user: known.user,
            since: started.map_or(known.since, |start| known.since.min(start)),
            started,
            ended: None,
            servers: if runs {
                system.servers_of(job).to_vec()
            } else {
                Vec::new()
            },
        })
    }

    /// Returns why a job waits: what is known of it and of its place; none where it does not wait.
    pub fn waits(&self, job: &str) -> Option<WaitReason> {
        let known = self
            .known
            .get(job)
            .filter(|known| !self.is_running(known))?;
        let is_in = matches!(known.place, Place::In(_));
        let (mut ahead, mut doing, mut of_all) = (0, None, None);
        if let Place::In(own) = known.place {
            of_all = self.site.rule.ahead(known.job_type, own);
            let queue = self.site.queue(known.job_type);
            ahead = queue.take_while(|id| ***id != *job).count();
            doing = self.doing();
        }
        Some(WaitReason {
            job_type: known.job_type,
            ahead: of_all.unwrap_or(ahead),
            is_of_all: of_all.is_some(),
            is_shut_out: !is_in,
            doing,
        })
    }

    /// Returns the jobs that wait or run, by arrival; without those for which others leave no room.
    pub fn present(&self) -> Vec<(Arc<str>, JobView)> {
        let mut known: Vec<_> = self.known.iter().collect();
        known.sort_unstable_by_key(|(_, known)| known.order);
        let seen = |(id, known): (&Arc<str>, &Known)| Some((Arc::clone(id), self.seen(known)?));
        known.into_iter().filter_map(seen).collect()
    }

    /// Returns the jobs that ended, as many as are kept, the latest last.
    pub fn ended(&self) -> impl Iterator<Item = &JobView> {
        self.ended.iter()
    }

    /// Takes over the jobs that ended under a scheduler before, whose end is the beginning of this one.
    pub fn remember(&mut self, before: &Scheduler) {
        for job in before.ended() {
            self.keep(JobView {
                since: job.since - before.now,
                started: job.started.map(|start| start - before.now),
                ended: job.ended.map(|end| end - before.now),
                ..job.clone()
            });
        }
    }

    /// Returns the last time that was reported.
    pub fn now(&self) -> f64 {
        self.now
    }

    /// Returns a copy of the rule as it is now.
    pub fn rule(&self) -> Box<dyn Policy> {
        self.site.rule.clone()
    }

    /// Returns the servers and types.
    pub fn fleet(&self) -> &Fleet {
        self.places.fleet()
    }

    /// Returns whether jobs of this type could run if no other did: others may use the room.
    pub fn is_open(&self, job_type: usize) -> bool {
        self.site.open[job_type]
    }

    /// Returns what others use: servers, each with units of its resources.
    pub fn occupied(&self) -> Vec<(usize, Vec<u64>)> {
        let servers = (0..self.places.servers()).map(|n| (n, self.places.occupied(n)));
        let used = servers.filter(|(_, units)| units.iter().any(|units| *units > 0));
        used.collect()
    }
}
