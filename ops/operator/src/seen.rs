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
