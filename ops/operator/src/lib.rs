//! A policy that runs a real scheduler: jobs by their own ids, events as they are seen, decisions to carry out.
//!
//! [`Scheduler`] keeps what the online rule does not: which job is which, when its clocks ring, and jobs that cannot run
//! now because others use the room. [`protocol`] is the same as
//! lines of JSON, for schedulers in other languages.

mod counted;
mod event;
mod host;
mod place;
pub mod protocol;
mod seen;
mod site;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

pub use counted::{AmountOf, JobTypes, Resources, type_named};
pub use event::{ClusterEvent, Submission, WaitReason};
pub use host::{HostMoment, Usual, only_starts, prices, read_policy, second_of};
pub use place::Places;
pub use seen::JobView;
pub use site::Decided;
use site::Site;
use synth_multiresource::artifact::Checked;
use synth_multiresource::policy::{Event, Job, LearnedRuntimes};
use synth_simulation::Streams;

/// A job that is known.
struct Known {
    job_type: usize,
    /// The how many-th that came.
    order: u64,
    limit: f64,
    user: u32,
    /// When it came \[time\].
    since: f64,
    place: Place,
}

/// Where a job is.
#[derive(Clone, PartialEq)]
enum Place {
    /// In the queue or in service.
    In(Job),
    /// It waits, and would fit nowhere if no other job ran: others use the room.
    Aside(Option<Job>),
    /// It runs on these servers, where the rule had no room for it: it counts as others'.
    Beyond(Vec<usize>),
}

/// A policy with the jobs of a cluster.
pub struct Scheduler {
    places: Places,
    site: Site,
    known: HashMap<Arc<str>, Known>,
    /// Jobs that wait for others to leave room, in order of arrival.
    aside: BTreeMap<u64, Arc<str>>,
    came: u64,
    /// What a job holds its room for beside its run, in the mean \[time\]: rules that look at limits plan with
    /// both.
    latency: f64,
    now: f64,
    has_begun: bool,
    needs_limits: bool,
    /// The latest last.
    ended: VecDeque<JobView>,
}

impl Scheduler {
    /// Returns the policy on an empty cluster, from the first time that is reported on; the seed is that of its clocks.
    pub fn new(policy: &Checked, seed: u64) -> Self {
        Scheduler::with_learned(policy, seed, None)
    }

    /// The same, with what was [learned](Scheduler::learned) before; none is what the policy file has.
    pub fn with_learned(policy: &Checked, seed: u64, learned: Option<&LearnedRuntimes>) -> Self {
        let fleet = policy.workload();
        let latency = fleet.envelope().start_latency();
        let mut family = policy.artifact().policy.clone();
        if let (Some(own), Some(learned)) = (family.by_jobs(), learned) {
            own.learned = learned.clone();
        }
        Scheduler {
            // Where jobs are ordered one by one, what is not known of them is estimated.
            needs_limits: family.needs_limits() && family.by_jobs().is_none(),
            site: Site::new(&family, fleet, Streams::new(seed, 0).service),
            places: Places::new(fleet),
            known: HashMap::new(),
            aside: BTreeMap::new(),
            came: 0,
            latency: latency.map_or(0.0, |law| law.mean()),
            now: f64::NEG_INFINITY,
            has_begun: false,
            ended: VecDeque::new(),
        }
    }

    /// Returns the types, resources and servers, by name.
    pub fn places(&self) -> &Places {
        &self.places
    }

    /// Takes what was reported at time t, and decides.
    ///
    /// # Errors
    /// When it cannot be: then nothing has changed. After a decision that no server can carry out, a fault of this
    /// program, nothing is decided any more.
    pub fn tell(&mut self, t: f64, reported: ClusterEvent<'_>) -> Result<Decided, String> {
        self.is_sound()?;
        if !t.is_finite() || t < self.now {
            let last = self.now;
            return Err(format!("time {t} is not after {last}: it never goes back"));
        }
        self.is_possible(&reported)?;
        self.now = t;
        if !self.has_begun && !matches!(reported, ClusterEvent::Adopt { .. }) {
            self.begin();
        }
        match reported {
            ClusterEvent::Arrive(job) => self.arrive(&job),
            ClusterEvent::Adopt { job, ran, servers } => self.adopt(&job, ran, servers),
            ClusterEvent::Leave(job) => self.leave(job),
            ClusterEvent::Withdraw(job) => self.withdraw(job),
            ClusterEvent::PutBack(job) => self.put_back(job),
            ClusterEvent::Occupy(server, amounts) => {
                self.places.occupy(server, &amounts);
                self.review(&[server]);
            }
            ClusterEvent::Time => self.ring_due(),
            ClusterEvent::Ring(clock) => self.site.act(Some(Event::Clock(clock)), self.now),
        }
        // The last of several need not be one on which the rule acts.
        self.site.decide_noted(self.now);
        self.is_sound()?;
        Ok(std::mem::take(&mut self.site.decided))
    }

    /// The same where more happens at this time: the rule decides on all of it with the last, where it decides on the
    /// state of the queue.
    ///
    /// # Errors
    /// As those of [`Scheduler::tell`].
    pub fn tell_of_several(
        &mut self,
        t: f64,
        reported: ClusterEvent<'_>,
    ) -> Result<Decided, String> {
        self.site.has_more = true;
        let decided = self.tell(t, reported);
        self.site.has_more = false;
        decided
    }

    /// Returns what the rule has learned of jobs that have ended, if it learns.
    pub fn learned(&self) -> Option<LearnedRuntimes> {
        self.site.rule.learned()
    }

    /// Checks that all that was decided could be carried out.
    fn is_sound(&self) -> Result<(), String> {
        let violation = self.site.system.violation();
        violation.map_or(Ok(()), |why| {
            Err(format!(
                "{why}: a fault of this program; nothing more is decided"
            ))
        })
    }

    /// Returns whether the rule asks for the limit of each job.
    pub fn needs_limits(&self) -> bool {
        self.needs_limits
    }

    /// Returns when the next clock rings, or the rule has set a time to decide; none where nothing is due.
    pub fn wake(&self) -> Option<f64> {
        let at = self.site.due().0.min(self.site.system.wake());
        at.is_finite().then_some(at)
    }

    /// Returns which one that is.
    pub fn next_clock(&self) -> Option<usize> {
        let (at, clock) = self.site.due();
        at.is_finite().then_some(clock)
    }

    /// Returns whether a job of this id waits or runs.
    pub fn knows(&self, job: &str) -> bool {
        self.known.contains_key(job)
    }

    /// Returns whether the job is known, and runs.
    pub fn runs(&self, job: &str) -> bool {
        self.known
            .get(job)
            .is_some_and(|known| self.is_running(known))
    }

    /// Returns whether anything but running jobs has been reported.
    pub fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Checks what must always hold: the first thing that does not.
    ///
    /// # Errors
    /// When something does not hold: a fault of this program.
    pub fn audit(&mut self) -> Result<(), String> {
        self.site.system.audit();
        self.is_sound()
    }

    /// Jobs of this type that wait and run.
    pub fn count(&self, job_type: usize) -> [u64; 2] {
        let mut count = [0; 2];
        for known in self.known.values().filter(|k| k.job_type == job_type) {
            count[usize::from(self.is_running(known))] += 1;
        }
        count
    }

    /// Returns what the rule does at present, in words, if it has some.
    pub fn doing(&self) -> Option<String> {
        let names: Vec<&str> = self.places.types().collect();
        self.site.rule.doing(&names, &self.site.system)
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

    fn is_running(&self, known: &Known) -> bool {
        match &known.place {
            Place::In(job) => self.site.system.runs(*job),
            Place::Aside(_) => false,
            Place::Beyond(_) => true,
        }
    }

    /// Checks that what is reported can be.
    fn is_possible(&self, reported: &ClusterEvent<'_>) -> Result<(), String> {
        let runs = |job: &str| match self.known.get(job) {
            None => Err(format!("no job {job:?} is known")),
            Some(known) => Ok(self.is_running(known)),
        };
        match reported {
            ClusterEvent::Arrive(job) | ClusterEvent::Adopt { job, .. } if self.knows(job.id) => {
                Err(format!(
                    "job {:?} is known already: it has to leave or be withdrawn first",
                    job.id
                ))
            }
            ClusterEvent::Adopt { job, servers, .. }
                if !self.places.are_servers_of(job.job_type, servers) =>
            {
                Err(format!(
                    "a job of type {} runs on {} of the policy's servers: name them",
                    self.places.type_name(job.job_type),
                    self.places.nodes(job.job_type)
                ))
            }
            ClusterEvent::Leave(job) | ClusterEvent::PutBack(job) if !runs(job)? => Err(format!(
                "job {job:?} waits: a job that goes before it was started is withdrawn"
            )),
            ClusterEvent::Withdraw(job) if runs(job)? => {
                Err(format!("job {job:?} runs: it can leave or be put back"))
            }
            ClusterEvent::Ring(clock) if *clock >= self.site.rule.clocks() => Err(format!(
                "the rule has {} clocks, and {clock} is none of them",
                self.site.rule.clocks()
            )),
            _ => Ok(()),
        }
    }

    fn begin(&mut self) {
        self.has_begun = true;
        let adopted = !self.known.is_empty();
        self.site.begin(adopted, self.now);
    }

    /// A job is known from now on.
    fn register(&mut self, job: &Submission<'_>) -> Arc<str> {
        let id: Arc<str> = job.id.into();
        let known = Known {
            job_type: job.job_type,
            order: self.came,
            limit: job.limit + self.latency,
            user: job.user,
            since: self.now - job.waited,
            place: Place::Aside(None),
        };
        self.came += 1;
        self.known.insert(Arc::clone(&id), known);
        id
    }

    fn arrive(&mut self, job: &Submission<'_>) {
        let id = self.register(job);
        if let Some(event) = self.admit(&id) {
            self.site.act(event, self.now);
        }
    }

    /// A job that waits outside comes in if it could run: on what the rule then acts. One that was there before comes into
    /// its old place in the queue, which is no event.
    fn admit(&mut self, id: &Arc<str>) -> Option<Option<Event>> {
        let known = self.known.get_mut(id)?;
        let (job_type, limit, order) = (known.job_type, known.limit, known.order);
        let (user, since) = (known.user, known.since);
        if !self.site.open[job_type] {
            self.aside.insert(order, Arc::clone(id));
            return None;
        }
        self.aside.remove(&order);
        let system = &mut self.site.system;
        let (job, event) = match known.place {
            Place::Aside(Some(was)) => (system.restore(job_type, was, limit, self.now), None),
            _ => {
                let job = system.arrive_limited(job_type, self.now, limit);
                let job = system.set_arrived(job, since);
                (job, Some(Event::Arrival(job_type)))
            }
        };
        system.set_user(job, user);
        self.site.name(job, id);
        known.place = Place::In(job);
        Some(event)
    }

    fn adopt(&mut self, job: &Submission<'_>, ran: f64, servers: Vec<usize>) {
        let id = self.register(job);
        let (of, user) = ([ran, job.limit + self.latency], job.user);
        let system = &mut self.site.system;
        system.start_at(self.now);
        let adopted = system.adopt(job.job_type, of, &servers, self.now);
        if let Some(job) = adopted {
            system.set_user(job, user);
            self.site.name(job, &id);
        }
        let on = if servers.is_empty() { vec![0] } else { servers };
        if let Some(known) = self.known.get_mut(&id) {
            known.place = match adopted {
                Some(job) => Place::In(job),
                None => Place::Beyond(on.clone()),
            };
        }
        match (adopted, self.has_begun) {
            (None, _) => {
                self.places.change_beyond(job.job_type, &on, 1.0);
                self.review(&on);
            }
            (Some(_), true) => self.site.act(None, self.now),
            (Some(_), false) => self.site.begin(true, self.now),
        }
    }

    fn leave(&mut self, job: &str) {
        let Some(known) = self.known.remove(job) else {
            return;
        };
        if let Some(seen) = self.seen(&known) {
            let ended = Some(self.now);
            self.keep(JobView { ended, ..seen });
        }
        match known.place {
            Place::In(job) => {
                let ended = self.site.system.complete_slot(job.slot, self.now);
                let event = Event::Completion(ended.job_type);
                self.site.act(Some(event), self.now);
            }
            Place::Beyond(servers) => {
                self.places.change_beyond(known.job_type, &servers, -1.0);
                self.review(&servers);
            }
            Place::Aside(_) => {}
        }
    }

    fn withdraw(&mut self, job: &str) {
        let Some(known) = self.known.remove(job) else {
            return;
        };
        match known.place {
            Place::In(job) => {
                self.site.system.withdraw(known.job_type, job, self.now);
                self.site.act(None, self.now);
            }
            _ => drop(self.aside.remove(&known.order)),
        }
    }

    fn put_back(&mut self, job: &str) {
        let Some(known) = self.known.get_mut(job) else {
            return;
        };
        let job_type = known.job_type;
        match known.place.clone() {
            Place::In(job) => {
                self.site.system.put_back(job_type, job, self.now);
                let open = self.site.open[job_type];
                self.site.act(None, self.now);
                if !open {
                    self.review(&[]);
                }
            }
            Place::Beyond(servers) => {
                known.place = Place::Aside(None);
                self.aside.insert(known.order, job.into());
                self.places.change_beyond(job_type, &servers, -1.0);
                self.review(&servers);
            }
            Place::Aside(_) => {}
        }
    }

    /// What others use has changed on these servers: jobs that cannot run at all wait outside; those that can again come
    /// back.
    fn review(&mut self, servers: &[usize]) {
        for &n in servers {
            self.site.occupy(n, self.places.occupied(n), self.now);
        }
        // Whether jobs have left of which the rule has not heard.
        let mut is_unheard = false;
        for (id, job) in self.site.shut_out(self.now) {
            let Some(known) = self.known.get_mut(&id) else {
                continue;
            };
            known.place = Place::Aside(Some(job));
            self.aside.insert(known.order, id);
            is_unheard = true;
        }
        let aside: Vec<Arc<str>> = self.aside.values().cloned().collect();
        for id in &aside {
            if let Some(event) = self.admit(id) {
                let event = event.filter(|_| !is_unheard);
                is_unheard = false;
                self.site.act(event, self.now);
            }
        }
        if self.has_begun && (is_unheard || !servers.is_empty()) {
            self.site.act(None, self.now);
        }
    }

    /// Each clock rings at most once: one that was set anew at this time is not due before the next.
    fn ring_due(&mut self) {
        let clocks = 0..self.site.rule.clocks();
        let due = clocks.map(|clock| (self.site.rings_at(clock), clock));
        let mut due: Vec<(f64, usize)> = due.filter(|(at, _)| *at <= self.now).collect();
        due.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (at, clock) in due {
            if self.site.rings_at(clock) == at {
                self.site.act(Some(Event::Clock(clock)), self.now);
            }
        }
        if self.site.system.wake() <= self.now {
            self.site.system.wake_at(f64::INFINITY);
            self.site.decide(self.now);
        }
    }
}
