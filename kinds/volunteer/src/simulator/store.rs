//! The jobs and their instances, which are replaced if they are lost or if their result is wrong.

use std::cmp::Reverse;

/// The sort key of a job that has something to send: the retries, the number and the index.
pub(super) type Waiting = (Reverse<u32>, u64, u32);

/// The host, the version, and whether the result is correct.
type JobResult = (u32, u16, bool);

#[derive(Clone, Debug, Default)]
pub(super) struct Job {
    pub batch: usize,
    pub id: u64,
    pub size: f64,
    pub created: f64,
    quorum: u32,
    correct: u32,
    wrong: u32,
    pub unsent: u32,
    /// The number of instances that were sent and have not been given up.
    out: u32,
    /// The number of instances so far, sent or not, and its maximum.
    pub total: u32,
    pub most: u32,
    pub done: bool,
    /// The number of instances that can still be returned.
    live: u32,
    pub hosts: Vec<u32>,
    results: Vec<JobResult>,
    sum_of_report_times: f64,
}

impl Job {
    pub(super) fn waiting(&self, index: u32) -> Waiting {
        let sent = self.total - self.unsent;
        let retries = sent.saturating_sub(self.quorum.saturating_sub(1));
        (Reverse(retries), self.id, index)
    }

    /// Creates the instances that are missing. Only correct results agree with each other.
    pub(super) fn refill(&mut self) -> Change {
        let agree = self.correct.max(self.wrong.min(1));
        let missing = |job: &Self| agree + job.out + job.unsent < job.quorum;
        while missing(self) && self.total < self.most {
            self.total += 1;
            self.unsent += 1;
        }
        if !missing(self) {
            return Change::None;
        }
        self.done = true;
        self.unsent = 0;
        Change::GivenUp
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Instance {
    pub job: u32,
    pub host: u32,
    pub version: u16,
    pub right: bool,
    pub lost: bool,
    pub late: bool,
    /// Whether its host has finished it, although it was lost.
    pub gone: bool,
    pub sent: f64,
}

#[derive(Debug, PartialEq)]
pub(super) enum Change {
    None,
    /// The number of correct results, and the sum of the times since their reports.
    Done {
        right: u32,
        waited: f64,
    },
    GivenUp,
}

#[derive(Default)]
pub(super) struct Store {
    pub jobs: Vec<Job>,
    free_jobs: Vec<u32>,
    pub instances: Vec<Instance>,
    /// The use count of each slot, to recognize a deadline that is out of date.
    pub uses: Vec<u32>,
    free_instances: Vec<u32>,
    next: u64,
}

impl Store {
    pub(super) fn create(&mut self, batch: usize, size: f64, now: f64, limits: [u32; 2]) -> u32 {
        let index = self.free_jobs.pop().unwrap_or_else(|| {
            self.jobs.push(Job::default());
            (self.jobs.len() - 1) as u32
        });
        self.next += 1;
        let job = &mut self.jobs[index as usize];
        let mut hosts = std::mem::take(&mut job.hosts);
        hosts.clear();
        let [quorum, most] = limits;
        *job = Job {
            batch,
            id: self.next,
            size,
            created: now,
            quorum,
            most,
            hosts,
            ..Job::default()
        };
        index
    }

    pub(super) fn send(&mut self, instance: Instance) -> u32 {
        let job = &mut self.jobs[instance.job as usize];
        job.unsent -= 1;
        job.out += 1;
        job.live += 1;
        job.hosts.push(instance.host);
        if let Some(index) = self.free_instances.pop() {
            self.instances[index as usize] = instance;
            return index;
        }
        self.instances.push(instance);
        self.uses.push(0);
        (self.instances.len() - 1) as u32
    }

    /// Adds a result. Returns the change of the job, and the results that are now validated.
    pub(super) fn report(&mut self, index: u32, now: f64) -> (Change, Vec<JobResult>) {
        let instance = self.instances[index as usize];
        let job = &mut self.jobs[instance.job as usize];
        if !instance.late {
            job.out -= 1;
        }
        let own = (instance.host, instance.version, instance.right);
        if job.done {
            return (Change::None, vec![own]);
        }
        // If the quorum is one, no other result is needed for the validation.
        if job.quorum == 1 && !instance.right {
            return (job.refill(), vec![own]);
        }
        job.results.push(own);
        job.correct += u32::from(instance.right);
        job.wrong += u32::from(!instance.right);
        job.sum_of_report_times += if instance.right { now } else { 0.0 };
        if job.correct < job.quorum {
            return (job.refill(), Vec::new());
        }
        job.done = true;
        job.unsent = 0;
        let (right, waited) = (
            job.correct,
            f64::from(job.correct) * now - job.sum_of_report_times,
        );
        let done = Change::Done { right, waited };
        (done, std::mem::take(&mut job.results))
    }

    pub(super) fn give_up(&mut self, index: u32) -> Change {
        let instance = &mut self.instances[index as usize];
        instance.late = true;
        let job = &mut self.jobs[instance.job as usize];
        job.out -= 1;
        if job.done { Change::None } else { job.refill() }
    }

    pub(super) fn drop_instance(&mut self, index: u32) {
        self.uses[index as usize] += 1;
        self.free_instances.push(index);
        let place = self.instances[index as usize].job;
        let job = &mut self.jobs[place as usize];
        job.live -= 1;
        if job.done && job.live == 0 && job.unsent == 0 {
            self.free_jobs.push(place);
        }
    }
}
