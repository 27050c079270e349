//! Jobs and their instances, as a server keeps them: an instance that is lost or wrong is replaced
//! until enough results agree, or too many were tried.

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
    /// Results that agree, and others.
    correct: u32,
    wrong: u32,
    /// Instances that wait to be sent.
    pub unsent: u32,
    /// Instances that were sent, and are not given up.
    pub out: u32,
    /// Instances so far, sent or not.
    pub total: u32,
    /// The most that it may have.
    pub most: u32,
    /// Whether it needs no more results.
    pub done: bool,
    /// Instances that may still be returned.
    live: u32,
    /// Hosts that have had it.
    hosts: Vec<u32>,
    /// Results that wait to be judged: host, version, whether it is right.
    results: Vec<(u32, u16, bool)>,
    /// The sum of the times at which right ones came.
    came: f64,
}

impl Job {
    /// How often it was tried beyond what it needs.
    pub fn retries(&self, quorum: u32) -> u32 {
        (self.total - self.unsent).saturating_sub(quorum.saturating_sub(1))
    }

    pub fn had(&self, host: u32) -> bool {
        self.hosts.contains(&host)
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
    /// Where it stands among its batch's instances that are out.
    pub slot: u32,
    pub sent: f64,
    pub deadline: f64,
}

/// What a result changes.
#[derive(Debug, PartialEq)]
pub(super) enum Judged {
    /// Nothing yet.
    Nothing,
    /// Enough results agree: so many right ones waited so long together.
    Done {
        /// Right results.
        right: u32,
        /// The sum of the times from report to now \[time\].
        waited: f64,
    },
    /// Too many were tried.
    GivenUp,
}

/// All jobs and instances; places are used again.
#[derive(Default)]
pub(super) struct Store {
    pub jobs: Vec<Job>,
    free_jobs: Vec<u32>,
    pub instances: Vec<Instance>,
    /// How often a place was used, to tell a deadline of an instance that is gone.
    pub uses: Vec<u32>,
    free_instances: Vec<u32>,
    next: u64,
}

impl Store {
    /// A new job, whose first instances wait.
    pub fn create(&mut self, batch: usize, size: f64, now: f64, quorum: u32, most: u32) -> u32 {
        let index = self.free_jobs.pop().unwrap_or_else(|| {
            self.jobs.push(Job::default());
            (self.jobs.len() - 1) as u32
        });
        self.next += 1;
        let job = &mut self.jobs[index as usize];
        let (mut hosts, mut results) = (
            std::mem::take(&mut job.hosts),
            std::mem::take(&mut job.results),
        );
        hosts.clear();
        results.clear();
        *job = Job {
            batch,
            id: self.next,
            size,
            created: now,
            unsent: quorum,
            total: quorum,
            most,
            hosts,
            results,
            ..Job::default()
        };
        index
    }

    /// An instance of a job is sent.
    pub fn send(&mut self, instance: Instance) -> u32 {
        let job = &mut self.jobs[instance.job as usize];
        job.unsent -= 1;
        job.out += 1;
        job.live += 1;
        job.hosts.push(instance.host);
        match self.free_instances.pop() {
            Some(index) => {
                self.instances[index as usize] = instance;
                index
            }
            None => {
                self.instances.push(instance);
                self.uses.push(0);
                (self.instances.len() - 1) as u32
            }
        }
    }

    /// A result comes. Returns what it changes, and the results that are judged now.
    pub fn report(
        &mut self,
        index: u32,
        now: f64,
        quorum: u32,
        judged: &mut Vec<(u32, u16, bool)>,
    ) -> Judged {
        let instance = self.instances[index as usize];
        let job = &mut self.jobs[instance.job as usize];
        if !instance.late {
            job.out -= 1;
        }
        let own = (instance.host, instance.version, instance.right);
        if job.done {
            judged.push(own);
            return Judged::Nothing;
        }
        // One result for itself is judged by itself.
        if quorum == 1 && !instance.right {
            judged.push(own);
            return self.refill(instance.job, quorum);
        }
        job.results.push(own);
        match instance.right {
            true => {
                job.correct += 1;
                job.came += now;
            }
            false => job.wrong += 1,
        }
        if job.correct >= quorum {
            job.done = true;
            judged.append(&mut job.results);
            return Judged::Done {
                right: job.correct,
                waited: f64::from(job.correct) * now - job.came,
            };
        }
        self.refill(instance.job, quorum)
    }

    /// An instance is given up; the job gets another one.
    pub fn give_up(&mut self, index: u32, quorum: u32) -> Judged {
        let instance = &mut self.instances[index as usize];
        instance.late = true;
        let job = instance.job;
        self.jobs[job as usize].out -= 1;
        if self.jobs[job as usize].done {
            Judged::Nothing
        } else {
            self.refill(job, quorum)
        }
    }

    /// New instances for those that are missing: results agree with each other if they are right, and
    /// which are is not known before.
    fn refill(&mut self, index: u32, quorum: u32) -> Judged {
        let job = &mut self.jobs[index as usize];
        let agree = job.correct.max(job.wrong.min(1));
        while agree + job.out + job.unsent < quorum && job.total < job.most {
            job.total += 1;
            job.unsent += 1;
        }
        match agree + job.out + job.unsent < quorum {
            true => {
                job.done = true;
                job.unsent = 0;
                Judged::GivenUp
            }
            false => Judged::Nothing,
        }
    }

    /// Nothing more comes of an instance.
    pub fn drop_instance(&mut self, index: u32) {
        let job = self.instances[index as usize].job;
        self.uses[index as usize] += 1;
        self.free_instances.push(index);
        self.jobs[job as usize].live -= 1;
        self.drop_job(job);
    }

    /// Forgets a job of which nothing more comes.
    pub fn drop_job(&mut self, index: u32) {
        let job = &self.jobs[index as usize];
        if job.done && job.live == 0 && job.unsent == 0 {
            self.free_jobs.push(index);
        }
    }
}
