//! Runs a policy on a real scheduler: it is told about each event, and decides which jobs start.
//!
//! - A [`Scheduler`] adds the names of jobs, the clocks, and the capacity that is used by others to
//!   the rule of a policy file. It is told an event with a [`Line`], and returns [`Decisions`].
//! - The module [`protocol`] offers the scheduler to other programs as lines of JSON. It is
//!   described in `docs/reference/drive.md`, and `examples/drive` has a scheduler that uses it.
//! - An [`Operator`] compares the state of the scheduler with the jobs of a cluster in each
//!   [`Round`], and is used by the bridge to Slurm and by the controller for Kubernetes.
//!
//! ```
//! use synth_multiresource::artifact::Checked;
//! use synth_operator::{Scheduler, protocol::Line};
//!
//! let text = std::fs::read_to_string("../../tests/conformance/first-fit.json")?;
//! let vector: serde_json::Value = serde_json::from_str(&text)?;
//! let policy = Checked::parse(&vector["artifact"].to_string(), "first-fit")?;
//! let mut scheduler = Scheduler::new(&policy, 1);
//! for id in ["a", "b", "c"] {
//!     let (arrive, job) = (Some("type-3".into()), Some(id.into()));
//!     scheduler.tell(&Line { arrive, job, ..Line::default() })?;
//! }
//! assert_eq!(scheduler.count(2), [1, 2], "one waits, because two fit");
//! let decided = scheduler.tell(&Line { t: 5.0, leave: Some("a".into()), ..Line::default() })?;
//! assert_eq!(&*decided.start[0].0, "c");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod amounts;
mod host;
mod metrics;
mod operator;
mod place;
pub mod protocol;
mod seen;
mod site;
mod types;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

pub use amounts::{Amounts, CountedResource, Resources, common_resource};
pub use host::{Timestamps, check_only_starts, plan_table, prices, read_policy};
pub use metrics::Metrics;
pub use operator::{JobReport, KnownJob, Operator, Round, Stage};
use place::nonnegative;
pub use place::{Nodes, Places};
use protocol::Line;
pub use seen::{JobHistory, WaitReason};
pub use site::Decisions;
use site::Site;
use synth_core::document::name_hash;
use synth_multiresource::artifact::Checked;
use synth_multiresource::policy::{Event, Job, LearnedRuntimes};
use synth_simulation::Streams;
pub use types::{Condition, JobTypes, TypeEntry, TypeRules, type_rules};

struct Known {
    job_type: usize,
    order: u64,
    limit: f64,
    user: u32,
    since: f64,
    place: Place,
}

#[derive(Clone, PartialEq)]
enum Place {
    In(Job),
    /// The job is waiting, but others use so much capacity that it could not run at all.
    Aside(Option<Job>),
    /// The job runs on these servers without capacity in the rule, so it counts as use by others.
    Beyond(Vec<usize>),
}

/// A policy and the jobs of a cluster.
pub struct Scheduler {
    places: Places,
    site: Site,
    known: HashMap<Arc<str>, Known>,
    aside: BTreeMap<u64, Arc<str>>,
    arrivals: u64,
    /// The mean time for which a job uses capacity beyond its run time, added to limits \[time\].
    latency: f64,
    now: f64,
    has_begun: bool,
    needs_limits: bool,
    ended: VecDeque<JobHistory>,
}

impl Scheduler {
    /// Creates a scheduler for an empty cluster. The random clocks of the policy use `seed`.
    pub fn new(policy: &Checked, seed: u64) -> Self {
        Scheduler::with_learned(policy, seed, None)
    }

    /// Creates a scheduler with [learned](Scheduler::learned) runtimes, or with the policy's.
    pub fn with_learned(policy: &Checked, seed: u64, learned: Option<&LearnedRuntimes>) -> Self {
        let fleet = policy.workload();
        let latency = fleet.envelope().start_latency();
        let mut family = policy.artifact().policy.clone();
        if let (Some(own), Some(learned)) = (family.job_order_mut(), learned) {
            own.learned = learned.clone();
        }
        Scheduler {
            // If the rule orders single jobs, it uses estimates for unknown limits.
            needs_limits: family.needs_limits() && family.job_order_mut().is_none(),
            site: Site::new(&family, fleet, Streams::new(seed, 0).service),
            places: Places::new(fleet),
            known: HashMap::new(),
            aside: BTreeMap::new(),
            arrivals: 0,
            latency: latency.map_or(0.0, |time| time.mean()),
            now: f64::NEG_INFINITY,
            has_begun: false,
            ended: VecDeque::new(),
        }
    }

    /// Returns the names of the types, resources and servers.
    pub fn places(&self) -> &Places {
        &self.places
    }

    /// Applies a line and makes a decision, which can be made later if [`Line::more`] is set.
    ///
    /// # Errors
    /// If the line is not valid; then nothing is changed. All lines after an internal error fail.
    pub fn tell(&mut self, line: &Line) -> Result<Decisions, String> {
        self.is_sound()?;
        line.check_single_event()?;
        let (t, last) = (line.t, self.now);
        if !t.is_finite() || t < last {
            return Err(format!(
                "time {t} is before {last}: times must not decrease"
            ));
        }
        if let Some(name) = &line.arrive {
            let (id, job) = self.submitted(line, name)?;
            self.advance(line);
            self.arrive(id, job);
        } else if let Some(name) = &line.adopt {
            let (id, job) = self.submitted(line, name)?;
            let ran = nonnegative("ran", line.ran)?.unwrap_or(0.0);
            let servers = self.places.servers_of(job.job_type, &line.servers)?;
            self.advance(line);
            self.adopt(id, job, ran, servers);
        } else if let Some(used) = &line.occupy {
            let server = self.places.server_of(line.server.as_deref())?;
            let amounts = self.places.amounts_of(used)?;
            self.advance(line);
            self.places.occupy(server, &amounts);
            self.update_admission(&[server]);
        } else if let Some(job) = &line.leave {
            self.check(job, true)?;
            self.advance(line);
            self.leave(job);
        } else if let Some(job) = &line.put_back {
            self.check(job, true)?;
            self.advance(line);
            self.put_back(job);
        } else if let Some(job) = &line.withdraw {
            self.check(job, false)?;
            self.advance(line);
            self.withdraw(job);
        } else if let Some(clock) = line.ring {
            let clocks = self.site.rule.clocks();
            if clock >= clocks {
                return Err(format!(
                    "the rule has {clocks} clocks, so there is no clock {clock}"
                ));
            }
            self.advance(line);
            self.site.act(Some(Event::Clock(clock)), self.now);
        } else {
            self.advance(line);
            self.ring_due();
        }
        // The rule may not react to the last one of several lines.
        self.site.decide_noted(self.now);
        self.is_sound()?;
        Ok(std::mem::take(&mut self.site.decided))
    }

    fn submitted(&self, line: &Line, name: &str) -> Result<(Arc<str>, Known), String> {
        let id = line.job.as_deref();
        let id = id.ok_or("a job needs an id: add \"job\"")?;
        if self.knows(id) {
            return Err(format!(
                "job {id:?} is already known: it must leave or be withdrawn first"
            ));
        }
        let job_type = self.places.job_type(name).ok_or_else(|| {
            let names = self.places.types().collect::<Vec<_>>().join(", ");
            format!("there is no type {name:?} in the policy: its types are {names}")
        })?;
        let limit = nonnegative("limit", line.limit)?.unwrap_or(f64::INFINITY);
        let waited = nonnegative("waited", line.waited)?.unwrap_or(0.0);
        let known = Known {
            job_type,
            order: self.arrivals,
            limit: limit + self.latency,
            user: name_hash(line.user.as_deref().unwrap_or_default().as_bytes()),
            since: line.t - waited,
            place: Place::Aside(None),
        };
        Ok((id.into(), known))
    }

    fn check(&self, job: &str, runs: bool) -> Result<(), String> {
        match self.known.get(job).map(|known| self.is_running(known)) {
            None => Err(format!("no job {job:?} is known")),
            Some(found) if found == runs => Ok(()),
            Some(true) => Err(format!(
                "job {job:?} is running: it can leave or be put back"
            )),
            Some(false) => Err(format!(
                "job {job:?} is waiting: use withdraw to remove a job that has not been started"
            )),
        }
    }

    /// Advances the time. The rule is started by the first line that does not adopt a job.
    fn advance(&mut self, line: &Line) {
        self.now = line.t;
        self.site.has_more = line.more;
        if !self.has_begun && line.adopt.is_none() {
            self.has_begun = true;
            self.site.begin(!self.known.is_empty(), self.now);
        }
    }

    /// Returns the runtimes that were learned from completed jobs, or `None` if there are none.
    pub fn learned(&self) -> Option<LearnedRuntimes> {
        self.site.rule.learned()
    }

    fn is_sound(&self) -> Result<(), String> {
        let violation = self.site.system.violation();
        violation.map_or(Ok(()), |why| {
            Err(format!(
                "{why}: internal error; no further decisions are made"
            ))
        })
    }

    /// Returns `true` if the rule needs the time limit of each job.
    pub fn needs_limits(&self) -> bool {
        self.needs_limits
    }

    /// Returns the time of the next clock or of the next decision that is scheduled.
    pub fn next_wake_time(&self) -> Option<f64> {
        let at = self.site.due().0.min(self.site.system.wake());
        at.is_finite().then_some(at)
    }

    /// Returns the index of the next clock that rings.
    pub fn next_clock(&self) -> Option<usize> {
        let (at, clock) = self.site.due();
        at.is_finite().then_some(clock)
    }

    /// Returns `true` if the job is waiting or running.
    pub fn knows(&self, job: &str) -> bool {
        self.known.contains_key(job)
    }

    /// Returns `true` if the job is running.
    pub fn runs(&self, job: &str) -> bool {
        let known = self.known.get(job);
        known.is_some_and(|known| self.is_running(known))
    }

    /// Checks the invariants of the system, and returns an error if one is violated.
    pub fn check_invariants(&mut self) -> Result<(), String> {
        self.site.system.audit();
        self.is_sound()
    }

    /// Returns the number of waiting jobs and the number of running jobs of a type.
    pub fn count(&self, job_type: usize) -> [u64; 2] {
        let mut count = [0; 2];
        for known in self.known.values().filter(|k| k.job_type == job_type) {
            count[usize::from(self.is_running(known))] += 1;
        }
        count
    }

    /// Returns a description of what the rule is doing now, if the rule provides it.
    pub fn activity(&self) -> Option<String> {
        let names: Vec<&str> = self.places.types().collect();
        self.site.rule.describe_state(&names, &self.site.system)
    }

    fn is_running(&self, known: &Known) -> bool {
        match &known.place {
            Place::In(job) => self.site.system.runs(*job),
            Place::Aside(_) => false,
            Place::Beyond(_) => true,
        }
    }

    fn arrive(&mut self, id: Arc<str>, job: Known) {
        self.arrivals += 1;
        self.known.insert(Arc::clone(&id), job);
        if let Some(event) = self.admit(&id) {
            self.site.act(event, self.now);
        }
    }

    /// Adds a job and returns the event for the rule, or `None` if it is set aside because it could
    /// not run. If the job was in the queue before, it returns to its position without an event.
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

    fn adopt(&mut self, id: Arc<str>, mut job: Known, ran: f64, servers: Vec<usize>) {
        let (job_type, now) = (job.job_type, self.now);
        let system = &mut self.site.system;
        system.start_at(now);
        let adopted = system.adopt(job_type, [ran, job.limit], &servers, now);
        if let Some(own) = adopted {
            system.set_user(own, job.user);
            self.site.name(own, &id);
        }
        let on = if servers.is_empty() { vec![0] } else { servers };
        job.place = match adopted {
            Some(own) => Place::In(own),
            None => Place::Beyond(on.clone()),
        };
        self.arrivals += 1;
        self.known.insert(id, job);
        match (adopted, self.has_begun) {
            (None, _) => {
                self.places.count_over_capacity(job_type, &on, true);
                self.update_admission(&on);
            }
            (Some(_), true) => self.site.act(None, now),
            (Some(_), false) => self.site.begin(true, now),
        }
    }

    fn leave(&mut self, job: &str) {
        let Some(known) = self.known.remove(job) else {
            return;
        };
        if let Some(seen) = self.seen(&known) {
            let ended = Some(self.now);
            self.keep(JobHistory { ended, ..seen });
        }
        match known.place {
            Place::In(job) => {
                let ended = self.site.system.complete_slot(job.slot, self.now);
                let event = Event::Completion(ended.job_type);
                self.site.act(Some(event), self.now);
            }
            Place::Beyond(servers) => {
                self.places
                    .count_over_capacity(known.job_type, &servers, false);
                self.update_admission(&servers);
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
                    self.update_admission(&[]);
                }
            }
            Place::Beyond(servers) => {
                known.place = Place::Aside(None);
                self.aside.insert(known.order, job.into());
                self.places.count_over_capacity(job_type, &servers, false);
                self.update_admission(&servers);
            }
            Place::Aside(_) => {}
        }
    }

    /// Updates the use by others. Jobs that cannot run at all are set aside, and others return.
    fn update_admission(&mut self, servers: &[usize]) {
        for &n in servers {
            self.site.occupy(n, &self.places.occupied(n), self.now);
        }
        let mut has_unreported_departures = false;
        for (id, job) in self.site.shut_out(self.now) {
            let Some(known) = self.known.get_mut(&id) else {
                continue;
            };
            known.place = Place::Aside(Some(job));
            self.aside.insert(known.order, id);
            has_unreported_departures = true;
        }
        let aside: Vec<Arc<str>> = self.aside.values().cloned().collect();
        for id in &aside {
            if let Some(event) = self.admit(id) {
                let event = event.filter(|_| !has_unreported_departures);
                has_unreported_departures = false;
                self.site.act(event, self.now);
            }
        }
        if self.has_begun && (has_unreported_departures || !servers.is_empty()) {
            self.site.act(None, self.now);
        }
    }

    /// Each clock rings at most once. If it is set again at this time, it is not due.
    fn ring_due(&mut self) {
        let due = self.site.timers.iter().map(|timer| timer.1).zip(0..);
        let mut due: Vec<(f64, usize)> = due.filter(|(at, _)| *at <= self.now).collect();
        due.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (at, clock) in due {
            if self.site.timers[clock].1 == at {
                self.site.act(Some(Event::Clock(clock)), self.now);
            }
        }
        if self.site.system.wake() <= self.now {
            self.site.system.wake_at(f64::INFINITY);
            self.site.decide(self.now);
        }
    }
}
