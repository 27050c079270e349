use std::sync::Arc;

use super::{Known, Place, Scheduler};
use synth_multiresource::policy::Policy;

/// A current or previous job. All times are in the unit of the policy.
#[derive(Clone, Debug, PartialEq)]
pub struct JobHistory {
    /// The type.
    pub job_type: usize,
    /// The maximum time for which the job uses its capacity, or infinity if this is unknown.
    pub limit: f64,
    /// The user, or 0 if the user is unknown.
    pub user: u32,
    /// The arrival time.
    pub since: f64,
    /// The start time, or `None` if the job has not been started.
    pub started: Option<f64>,
    /// The end time, or `None` if the job has not ended.
    pub ended: Option<f64>,
    /// The servers of a fleet on which the job runs.
    pub servers: Vec<usize>,
}

/// The reason why a job is waiting.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitReason {
    /// The type.
    pub job_type: usize,
    /// The number of jobs ahead of the job, of all types if `spans_all_types` is set.
    pub ahead: usize,
    /// Whether the rule has a single order for the jobs of all types.
    pub spans_all_types: bool,
    /// Whether others use so much capacity that the job would not fit even without other jobs.
    pub lacks_capacity: bool,
    /// A description of what the rule is doing now.
    pub doing: Option<String>,
}

impl WaitReason {
    /// Returns a description of what the job is waiting for.
    pub fn describe(&self) -> String {
        let of = match self.spans_all_types {
            true => "",
            false => " of its type",
        };
        match self.ahead {
            _ if self.lacks_capacity => {
                "others use the capacity that it needs, or nodes are down".into()
            }
            0 => format!("it is the next job{of}"),
            1 => format!("1 job{of} is ahead of it"),
            ahead => format!("{ahead} jobs{of} are ahead of it"),
        }
    }
}

const MAX_ENDED_JOBS: usize = 20_000;

impl Scheduler {
    pub(super) fn keep(&mut self, job: JobHistory) {
        if self.ended.len() == MAX_ENDED_JOBS {
            self.ended.pop_front();
        }
        self.ended.push_back(job);
    }

    pub(super) fn seen(&self, known: &Known) -> Option<JobHistory> {
        let Place::In(job) = known.place else {
            return None;
        };
        let system = &self.site.system;
        let runs = system.runs(job);
        let started = runs.then(|| system.now() - system.ran(job));
        Some(JobHistory {
            job_type: known.job_type,
            limit: known.limit,
            user: known.user,
            since: started.map_or(known.since, |start| known.since.min(start)),
            started,
            ended: None,
            servers: system.servers_of(job).to_vec(),
        })
    }

    /// Returns the reason why a job is waiting, or `None` if it is not waiting.
    pub fn waits(&self, job: &str) -> Option<WaitReason> {
        let known = self.known.get(job);
        let known = known.filter(|known| !self.is_running(known))?;
        let (mut ahead, mut doing, mut of_all) = (0, None, None);
        if let Place::In(own) = known.place {
            of_all = self.site.rule.ahead(known.job_type, own);
            let queue = self.site.queue(known.job_type);
            ahead = queue.take_while(|id| ***id != *job).count();
            doing = self.activity();
        }
        Some(WaitReason {
            job_type: known.job_type,
            ahead: of_all.unwrap_or(ahead),
            spans_all_types: of_all.is_some(),
            lacks_capacity: !matches!(known.place, Place::In(_)),
            doing,
        })
    }

    /// Returns the jobs in order of arrival, except for the jobs that cannot run at all.
    pub fn present(&self) -> Vec<(Arc<str>, JobHistory)> {
        let mut known: Vec<_> = self.known.iter().collect();
        known.sort_unstable_by_key(|(_, known)| known.order);
        let seen = |(id, known): (&Arc<str>, &Known)| Some((Arc::clone(id), self.seen(known)?));
        known.into_iter().filter_map(seen).collect()
    }

    /// Returns the jobs that have ended and are kept. The job that ended last is at the end.
    pub fn ended(&self) -> impl Iterator<Item = &JobHistory> {
        self.ended.iter()
    }

    /// Keeps the completed jobs of a previous scheduler, which ends when this one starts.
    pub fn remember(&mut self, before: &Scheduler) {
        for job in before.ended() {
            self.keep(JobHistory {
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

    /// Returns a copy of the rule in its current state.
    pub fn rule(&self) -> Box<dyn Policy> {
        self.site.rule.clone()
    }

    /// Returns `true` if a job of this type could run if no other job was running.
    pub fn is_open(&self, job_type: usize) -> bool {
        self.site.open[job_type]
    }

    /// Returns the servers that are used by others, with the used units of each resource.
    pub fn occupied(&self) -> Vec<(usize, Vec<u64>)> {
        let servers = (0..self.places.servers()).map(|n| (n, self.places.occupied(n)));
        let used = servers.filter(|(_, units)| units.iter().any(|units| *units > 0));
        used.collect()
    }
}
