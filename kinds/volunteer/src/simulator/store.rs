//! Jobs and their instances, as a server has them: an instance that is lost or wrong is replaced until enough results agree,
//! or too many were tried.

use std::cmp::Reverse;

/// The place of a job in the queue of its batch: how often it was tried, its number, and its index.
pub(super) type Waiting = (Reverse<u32>, u64, u32);

/// A result: host, version, and whether it is right.
type JobResult = (u32, u16, bool);

/// A job.
#[derive(Clone, Debug, Default)]
pub(super) struct Job {
    /// Its batch.
    pub batch: usize,
    /// Its number.
    pub id: u64,
    /// \[work\].
    pub size: f64,
    /// When it was created \[time\].
    pub created: f64,
    /// Results that have to agree.
    quorum: u32,
    /// Results that agree, and others.
    correct: u32,
    wrong: u32,
    /// Instances that wait to be sent.
    pub unsent: u32,
    /// Instances that were sent, and are not given up.
    out: u32,
    /// Instances so far, sent or not.
    pub total: u32,
    /// The most that it may have.
    pub most: u32,
    /// Whether it needs no more results.
    pub done: bool,
    /// Instances that may still be returned.
    live: u32,
    /// Hosts that have had it.
    pub hosts: Vec<u32>,
    /// Results that wait to be validated.
    results: Vec<JobResult>,
    /// The sum of the times at which right ones came.
    came: f64,
}

impl Job {
    /// Returns its place in the queue of its batch, for as long as it has something to send.
    pub(super) fn waiting(&self, index: u32) -> Waiting {
        let sent = self.total - self.unsent;
        let retries = sent.saturating_sub(self.quorum.saturating_sub(1));
        (Reverse(retries), self.id, index)
    }

    /// Adds instances for those that are missing: results agree with each other if they are right, and which are is not known
    /// before.
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

/// An instance that was sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Instance {
    pub job: u32,
    pub host: u32,
    pub version: u16,
    /// Whether its result will be right.
    pub right: bool,
    /// Whether it will never be returned.
    pub lost: bool,
    /// Whether it was given up.
    pub late: bool,
    /// Whether its host has run it to its end, and it was lost.
    pub gone: bool,
    pub sent: f64,
}

/// What a result changes.
#[derive(Debug, PartialEq)]
pub(super) enum Change {
    /// Nothing yet.
    None,
    /// Enough results agree.
    Done {
        /// Right results.
        right: u32,
        /// The sum of the times from their reports to now \[time\].
        waited: f64,
    },
    /// Too many instances were tried.
    GivenUp,
}

/// All jobs and instances; places are used again.
#[derive(Default)]
pub(super) struct Store {
    pub jobs: Vec<Job>,
    free_jobs: Vec<u32>,
    pub instances: Vec<Instance>,
    /// How often a place was used, to recognize the deadline of an instance that is gone.
    pub uses: Vec<u32>,
    free_instances: Vec<u32>,
    next: u64,
}

impl Store {
    /// Creates a job without instances.
    pub(super) fn create(
        &mut self,
        batch: usize,
        size: f64,
        now: f64,
        [quorum, most]: [u32; 2],
    ) -> u32 {
        let index = self.free_jobs.pop().unwrap_or_else(|| {
            self.jobs.push(Job::default());
            (self.jobs.len() - 1) as u32
        });
        self.next += 1;
        let job = &mut self.jobs[index as usize];
        let mut hosts = std::mem::take(&mut job.hosts);
        hosts.clear();
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

    /// Adds an instance that is sent.
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

    /// Adds a result. Returns what it changes, and the results that are validated now.
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
        // One result for itself is validated by itself.
        if job.quorum == 1 && !instance.right {
            return (job.refill(), vec![own]);
        }
        job.results.push(own);
        job.correct += u32::from(instance.right);
        job.wrong += u32::from(!instance.right);
        job.came += if instance.right { now } else { 0.0 };
        if job.correct < job.quorum {
            return (job.refill(), Vec::new());
        }
        job.done = true;
        job.unsent = 0;
        let (right, waited) = (job.correct, f64::from(job.correct) * now - job.came);
        let done = Change::Done { right, waited };
        (done, std::mem::take(&mut job.results))
    }

    /// Gives an instance up; the job gets another one.
    pub(super) fn give_up(&mut self, index: u32) -> Change {
        let instance = &mut self.instances[index as usize];
        instance.late = true;
        let job = &mut self.jobs[instance.job as usize];
        job.out -= 1;
        if job.done { Change::None } else { job.refill() }
    }

    /// Forgets an instance of which nothing more comes, and its job where nothing more comes of that.
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
