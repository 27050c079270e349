//! The online rule: a virtual queue in which each server works on the first job that it may serve
//! (balanced-fairness paper, algorithm 1).
//!
//! Jobs in service are interrupted at random and moved to the end of the queue, keeping their
//! progress. Without interruptions this is first come, first served; with many, balanced fairness.
//! The caller draws the times: at server s, exponential with mean θ/C_s. Each server has its own
//! queue, in which stale entries of moved jobs are skipped.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

/// The number of a job in the queue. It is reused after the job has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Job(pub u32);

/// A new assignment of a server.
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
    /// The waiting jobs with their tickets. An entry is stale if its ticket is out of date.
    waiting: VecDeque<(Job, u32)>,
    present: usize,
}

#[derive(Clone, Debug, Default)]
struct Entry {
    /// Changes each time that the job moves to the end or leaves.
    ticket: u32,
    servers: Vec<u32>,
}

impl FairQueue {
    /// Creates an empty queue for this many servers.
    pub fn new(servers: usize) -> Self {
        FairQueue {
            servers: vec![Server::default(); servers],
            ..FairQueue::default()
        }
    }

    /// Adds a job that may run on these servers (distinct indices below S, at least one).
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
            server.present += 1;
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

    /// Removes a job that has completed or was withdrawn.
    pub fn leave(&mut self, job: Job) {
        self.free.push(job);
        self.end(job, false);
    }

    /// Moves a job to the end of the queue; its servers select their next job, possibly this one.
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
                server.present -= 1;
            }
            if server.current == Some(job) {
                self.advance(s);
            } else {
                self.tidy(s);
            }
        }
    }

    /// Returns the servers whose job was changed by the last event.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Returns the job in service at a server.
    pub fn current(&self, server: usize) -> Option<Job> {
        self.servers[server].current
    }

    /// Returns the servers that a job may use.
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

    fn tidy(&mut self, s: u32) {
        let server = &mut self.servers[s as usize];
        if server.waiting.len() > 64 + 2 * server.present {
            let jobs = &self.jobs;
            let is_there = |(job, ticket): &(Job, u32)| jobs[job.0 as usize].ticket == *ticket;
            server.waiting.retain(is_there);
        }
    }

    /// Checks that no server idles while a job waits for it, or works on an incompatible job.
    pub fn audit(&self) -> Result<(), String> {
        for (s, server) in self.servers.iter().enumerate() {
            let is_there = |own: &&(Job, u32)| self.jobs[own.0.0 as usize].ticket == own.1;
            let waiting = server.waiting.iter().filter(is_there).count();
            let working = usize::from(server.current.is_some());
            let (all, present) = (waiting + working, server.present);
            let is_wrong = |job: &Job| !self.servers_of(*job).contains(&(s as u32));
            let what = if waiting > 0 && working == 0 {
                format!("is idle while {waiting} jobs wait for it")
            } else if all != present {
                format!("lists {all} jobs, but {present} may use it")
            } else if let Some(Job(job)) = server.current.filter(is_wrong) {
                format!("works on job {job}, which it may not serve")
            } else {
                continue;
            };
            return Err(format!("server {s} {what}"));
        }
        Ok(())
    }
}
