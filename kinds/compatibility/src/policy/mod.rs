//! The online rule: one virtual queue, in which every server works on the first job that it may serve.
//!
//! Balanced-fairness paper, algorithm 1. A job in service is interrupted from time to time and moved to the end of the queue;
//! what has been done of it is kept. Whoever runs the rule draws the time: at server s after an exponential time of mean
//! θ/C_s, which is the same as after so much work of the job that is exponential with mean θ ([`FairQueue::interrupt`]). With
//! no interruption it is first come, first served at each server; with more and more of them, balanced fairness.
//!
//! The queue is kept server by server. Jobs that a server may serve stand there in the order of the virtual queue, since a
//! job goes to the end of all its servers at once; what it leaves behind in their middle is passed over when it comes up. So
//! an event costs as much as the job has servers, however many wait and whatever other servers there are.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

/// A job in the queue: a number that is free again after it left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Job(pub u32);

/// What a server does from now on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The server, by its place.
    pub server: u32,
    /// The job that it works on; none where it is idle.
    pub job: Option<Job>,
}

/// The virtual queue.
#[derive(Clone, Debug, Default)]
pub struct FairQueue {
    servers: Vec<Server>,
    jobs: Vec<Entry>,
    /// Numbers of jobs that left.
    free: Vec<Job>,
    changes: Vec<Change>,
}

#[derive(Clone, Debug, Default)]
struct Server {
    current: Option<Job>,
    /// Jobs that wait for it, each with its ticket when it came; one with an older ticket than it has now stands further
    /// behind, or has left.
    waiting: VecDeque<(Job, u32)>,
    /// Jobs that are there and may use it.
    present: usize,
}

#[derive(Clone, Debug, Default)]
struct Entry {
    /// A new one each time that it goes to the end, or leaves.
    ticket: u32,
    /// Its servers.
    servers: Vec<u32>,
}

impl FairQueue {
    /// An empty queue before so many servers.
    pub fn new(servers: usize) -> Self {
        FairQueue {
            servers: vec![Server::default(); servers],
            ..FairQueue::default()
        }
    }

    /// A job comes that may run on these servers, each named once: places below S, at least one.
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

    /// Takes out a job that is there: it is done, or withdrawn.
    pub fn leave(&mut self, job: Job) {
        self.free.push(job);
        self.end(job, false);
    }

    /// Moves a job that is there to the end of the queue: all its servers look for the next one, which may be this job again.
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

    /// What the last event changed, server by server; a server that goes on with its job is not named.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// What a server works on.
    pub fn current(&self, server: usize) -> Option<Job> {
        self.servers[server].current
    }

    /// The servers that a job may use.
    pub fn servers_of(&self, job: Job) -> &[u32] {
        &self.jobs[job.0 as usize].servers
    }

    /// The server takes the next job that waits for it.
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

    /// Drops what jobs left behind where that is most of what stands there.
    fn tidy(&mut self, s: u32) {
        let server = &mut self.servers[s as usize];
        if server.waiting.len() > 64 + 2 * server.present {
            let jobs = &self.jobs;
            let is_there = |(job, ticket): &(Job, u32)| jobs[job.0 as usize].ticket == *ticket;
            server.waiting.retain(is_there);
        }
    }

    /// What should never be: a server that does nothing, or works on the wrong job.
    ///
    /// # Errors
    /// What is wrong, in words.
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
                format!("knows {all} jobs, and {present} may use it")
            } else if let Some(Job(job)) = server.current.filter(is_wrong) {
                format!("works on job {job}, which it may not")
            } else {
                continue;
            };
            return Err(format!("server {s} {what}"));
        }
        Ok(())
    }
}
