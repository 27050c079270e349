//! A virtual queue: each server works on the first compatible job in the queue (algorithm 1 of the
//! balanced-fairness paper).
//!
//! A job that is being served can be interrupted and moved to the end of the queue, without losing
//! its progress. Without interruptions, each server is first come, first served; with many of them,
//! it is close to balanced fairness. The caller draws the times, exponential with the mean `θ/C_s`
//! for the server `s`, which is the same as an exponential amount of work with the mean `θ`.
//!
//! Each server has its own queue in the order of the virtual queue, because a job goes to the end
//! of all its queues at once. The old entries of a job that has been moved are ignored. The time
//! for an event is proportional to the number of servers of the job.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

/// The number of a job in the queue. It can be reused after the job has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Job(pub u32);

/// A change of the current job of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The index of the server.
    pub server: u32,
    /// The job that it works on, or `None` if it becomes idle.
    pub job: Option<Job>,
}

/// The virtual queue.
#[derive(Clone, Debug, Default)]
pub struct FairQueue {
    servers: Vec<Server>,
    jobs: Vec<Entry>,
    free: Vec<Job>,
    changes: Vec<Change>,
}

#[derive(Clone, Debug, Default)]
struct Server {
    current: Option<Job>,
    /// The waiting jobs with their tickets. Entries whose ticket is out of date are ignored.
    waiting: VecDeque<(Job, u32)>,
    compatible_jobs: usize,
}

#[derive(Clone, Debug, Default)]
struct Entry {
    ticket: u32,
    servers: Vec<u32>,
}

impl FairQueue {
    /// Creates an empty queue for the given number of servers.
    pub fn new(servers: usize) -> Self {
        FairQueue {
            servers: vec![Server::default(); servers],
            ..FairQueue::default()
        }
    }

    /// Adds a job for these servers: at least one index, each less than `S`, without duplicates.
    pub fn arrive(&mut self, servers: &[u32]) -> Job {
        self.changes.clear();
        let job = self.free.pop().unwrap_or_else(|| {
            self.jobs.push(Entry::default());
            Job(self.jobs.len() as u32 - 1)
        });
        let entry = &mut self.jobs[job.0 as usize];
        entry.servers.clear();
        entry.servers.extend_from_slice(servers);
        for &s in servers {
            let server = &mut self.servers[s as usize];
            server.compatible_jobs += 1;
            if server.current.is_some() {
                server.waiting.push_back((job, entry.ticket));
                continue;
            }
            server.current = Some(job);
            let job = Some(job);
            self.changes.push(Change { server: s, job });
        }
        job
    }

    /// Removes a job because it has been completed or canceled.
    pub fn leave(&mut self, job: Job) {
        self.free.push(job);
        self.end(job, false);
    }

    /// Moves a job to the end of the queue. Each of its servers then selects its next job, which
    /// can be the same job again.
    pub fn interrupt(&mut self, job: Job) {
        self.end(job, true);
    }

    fn end(&mut self, job: Job, returns: bool) {
        self.changes.clear();
        let entry = &mut self.jobs[job.0 as usize];
        entry.ticket = entry.ticket.wrapping_add(1);
        let ticket = entry.ticket;
        for n in 0..entry.servers.len() {
            let s = self.jobs[job.0 as usize].servers[n];
            let server = &mut self.servers[s as usize];
            if returns {
                server.waiting.push_back((job, ticket));
            } else {
                server.compatible_jobs -= 1;
            }
            if server.current == Some(job) {
                self.advance(s);
            } else {
                self.drop_stale_entries(s);
            }
        }
    }

    /// Returns the servers whose current job was changed by the last event.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Returns the current job of a server.
    pub fn current(&self, server: usize) -> Option<Job> {
        self.servers[server].current
    }

    /// Returns the servers of a job.
    pub fn servers_of(&self, job: Job) -> &[u32] {
        &self.jobs[job.0 as usize].servers
    }

    fn advance(&mut self, s: u32) {
        let server = &mut self.servers[s as usize];
        let before = server.current;
        let jobs = &self.jobs;
        let mut waiting = std::iter::from_fn(|| server.waiting.pop_front());
        let next = waiting.find(|(job, ticket)| jobs[job.0 as usize].ticket == *ticket);
        server.current = next.map(|(job, _)| job);
        if server.current != before {
            let job = server.current;
            self.changes.push(Change { server: s, job });
        }
    }

    fn drop_stale_entries(&mut self, s: u32) {
        let server = &mut self.servers[s as usize];
        if server.waiting.len() > 64 + 2 * server.compatible_jobs {
            let jobs = &self.jobs;
            let is_there = |(job, ticket): &(Job, u32)| jobs[job.0 as usize].ticket == *ticket;
            server.waiting.retain(is_there);
        }
    }

    /// Checks that no server is idle if it could work on a job, or works on an incompatible job.
    pub fn audit(&self) -> Result<(), String> {
        for (s, server) in self.servers.iter().enumerate() {
            let is_there = |own: &&(Job, u32)| self.jobs[own.0.0 as usize].ticket == own.1;
            let waiting = server.waiting.iter().filter(is_there).count();
            let working = usize::from(server.current.is_some());
            let (all, present) = (waiting + working, server.compatible_jobs);
            let is_wrong = |job: &Job| !self.servers_of(*job).contains(&(s as u32));
            let what = if waiting > 0 && working == 0 {
                format!("is idle, but {waiting} jobs are waiting for it")
            } else if all != present {
                format!("has a list of {all} jobs, but {present} jobs can use it")
            } else if let Some(Job(job)) = server.current.filter(is_wrong) {
                format!("is working on job {job}, which is not compatible with it")
            } else {
                continue;
            };
            return Err(format!("server {s} {what}"));
        }
        Ok(())
    }
}
