//! A policy that runs a real scheduler: jobs by their own ids, events as they are seen, decisions to carry out.
//!
//! [`Scheduler`] keeps what the online rule does not: which job is which, when its clocks ring, which server of a
//! fleet a job is sent to, and jobs that cannot run now because others use the room. [`protocol`] is the same as
//! lines of JSON, for schedulers in other languages.

mod place;
pub mod protocol;
mod site;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use crate::multiresource::artifact::{Checked, Routing};
use crate::multiresource::policy::{Job, Router, Violation};
use crate::simulation::{Stream, Streams};
pub use place::Places;
use site::{Site, Way};

/// A job that a scheduler tells of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Newcomer<'a> {
    /// Its id.
    pub id: &'a str,
    /// Its type, in the order of the policy's workload.
    pub job_type: usize,
    /// What it takes at most; infinity where that is not known \[time\].
    pub limit: f64,
}

/// What a scheduler tells of its cluster. Jobs are named by their ids, servers are counted shape by shape.
#[derive(Clone, Debug, PartialEq)]
pub enum Told<'a> {
    /// A job came.
    Arrive(Newcomer<'a>),
    /// A job that runs already is found.
    Adopt {
        /// The job.
        job: Newcomer<'a>,
        /// For how long it has run \[time\].
        ran: f64,
        /// Where it runs: as many servers as it takes of a fleet; none of one server.
        servers: Vec<usize>,
    },
    /// A running job ended.
    Leave(&'a str),
    /// A waiting job was cancelled, or is not to be started.
    Withdraw(&'a str),
    /// A running job waits again.
    PutBack(&'a str),
    /// Others use so much of each resource (R) of this server, or it is out of order, from now on.
    Occupy(usize, Vec<f64>),
    /// The clocks that are due ring.
    Time,
    /// This clock rings, due or not: for hosts that keep clocks of their own.
    Ring(usize),
}

/// Why a job waits.
#[derive(Clone, Debug, PartialEq)]
pub struct Waits {
    /// Its type.
    pub job_type: usize,
    /// Older waiting jobs of its type, where it waits.
    pub ahead: usize,
    /// Whether it would fit nowhere if no other job ran: others use the room.
    pub is_shut_out: bool,
    /// The server of a fleet where it waits, if it has one already.
    pub server: Option<usize>,
    /// What the rule does at present.
    pub doing: Option<String>,
}

/// What to do now.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decided {
    /// The jobs that start, in order; in a fleet with the servers.
    pub start: Vec<(Arc<str>, Vec<usize>)>,
    /// The jobs that are stopped.
    pub stop: Vec<Arc<str>>,
}

/// Why what was told is not taken: nothing has changed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Refused {
    /// A time that is no number, or before one that was told.
    #[error("time {0} is not after {1}: it never goes back")]
    Time(f64, f64),
    /// A job that is not known.
    #[error("no job {0:?} is known")]
    Unknown(String),
    /// A job that came before and has not left.
    #[error("job {0:?} is known already: it has to leave or be withdrawn first")]
    Known(String),
    /// It waits, and was told of as running.
    #[error("job {0:?} waits: a job that goes before it was started is withdrawn")]
    Waits(String),
    /// It runs, and was told of as waiting.
    #[error("job {0:?} runs: it can leave or be put back")]
    Runs(String),
    /// A clock that the rule does not have.
    #[error("the rule has {1} clocks, and {0} is none of them")]
    Clock(usize, usize),
    /// A server that there is not, or not as many as a job takes.
    #[error("a job of type {0} runs on {1} of the policy's servers: name them")]
    Servers(String, usize),
    /// A decision that no server can carry out.
    #[error("{0}: a fault of this program; nothing more is decided")]
    Violation(Violation),
}

/// A job that is known.
struct Known {
    job_type: usize,
    /// The how many-th that came.
    order: u64,
    limit: f64,
    place: Place,
}

/// Where a job is.
#[derive(Clone, PartialEq)]
enum Place {
    /// In the queue or in service of this site.
    At(usize, Job),
    /// It waits, and would fit nowhere if no other job ran: others use the room.
    Aside(Option<Job>),
    /// It runs on these servers, where the rule had no room for it: it counts as others'.
    Beyond(Vec<usize>),
}

/// A policy with the jobs of a cluster.
pub struct Scheduler {
    places: Places,
    sites: Vec<Site>,
    /// Where jobs are sent to a server as they come.
    router: Option<Router>,
    known: HashMap<Arc<str>, Known>,
    /// Jobs that wait for others to leave room, in order of arrival.
    aside: BTreeMap<u64, Arc<str>>,
    came: u64,
    /// What a job holds its room for beside its run, in the mean \[time\]: rules that look at limits plan with
    /// both.
    latency: f64,
    clocks: Stream,
    routing: Stream,
    now: f64,
    has_begun: bool,
    /// The first decision that could not be carried out.
    violation: Option<Violation>,
}

impl Scheduler {
    /// The policy on an empty cluster, from the first time that is told on; the seed is that of its clocks, and of
    /// where jobs are sent. `routing` matters where the policy has a rule for each server of a fleet.
    #[must_use]
    pub fn new(policy: &Checked, routing: Routing, seed: u64) -> Self {
        let streams = Streams::new(seed, 0);
        let places = Places::new(policy);
        let routed = policy.artifact().policy.queue.is_none() && places.servers() > 1;
        Scheduler {
            sites: Site::all(policy),
            router: routed.then(|| Router::new(policy, routing)),
            places,
            known: HashMap::new(),
            aside: BTreeMap::new(),
            came: 0,
            latency: policy
                .workload()
                .envelope()
                .start_latency()
                .map_or(0.0, |law| law.mean()),
            clocks: streams.service,
            routing: streams.routing,
            now: f64::NEG_INFINITY,
            has_begun: false,
            violation: None,
        }
    }

    /// The types, resources and servers, by name.
    #[must_use]
    pub fn places(&self) -> &Places {
        &self.places
    }

    /// Takes what was told at time t, and decides.
    ///
    /// # Errors
    /// When it cannot be: then nothing has changed. After a [`Refused::Violation`] nothing is decided any more.
    pub fn tell(&mut self, t: f64, told: Told<'_>) -> Result<Decided, Refused> {
        self.is_sound()?;
        if !t.is_finite() || t < self.now {
            return Err(Refused::Time(t, self.now));
        }
        self.is_possible(&told)?;
        self.now = t;
        if !self.has_begun && !matches!(told, Told::Adopt { .. }) {
            self.begin();
        }
        let mut decided = Decided::default();
        match told {
            Told::Arrive(job) => self.arrive(&job, &mut decided),
            Told::Adopt { job, ran, servers } => self.adopt(&job, ran, servers, &mut decided),
            Told::Leave(job) => self.leave(job, &mut decided),
            Told::Withdraw(job) => self.withdraw(job, &mut decided),
            Told::PutBack(job) => self.put_back(job, &mut decided),
            Told::Occupy(server, amounts) => {
                self.places.occupy(server, &amounts);
                self.review(&[server], &mut decided);
            }
            Told::Time => self.ring_due(&mut decided),
            Told::Ring(clock) => self.act(0, Way::Ring(clock), &mut decided),
        }
        self.is_sound()?;
        Ok(decided)
    }

    /// Whether all that was decided could be carried out.
    fn is_sound(&self) -> Result<(), Refused> {
        let violated = self.violation.clone();
        violated.map_or(Ok(()), |why| Err(Refused::Violation(why)))
    }

    /// Whether the rule decides by the limits of jobs.
    #[must_use]
    pub fn needs_limits(&self) -> bool {
        self.sites.iter().any(Site::needs_limits)
    }

    /// When the next clock rings; none where none runs.
    #[must_use]
    pub fn wake(&self) -> Option<f64> {
        let due = self.sites.iter().map(|site| site.due().0);
        let first = due.fold(f64::INFINITY, f64::min);
        first.is_finite().then_some(first)
    }

    /// Which one that is, where there is one rule.
    #[must_use]
    pub fn next_clock(&self) -> Option<usize> {
        let (at, clock) = self.sites[0].due();
        (self.sites.len() == 1 && at.is_finite()).then_some(clock)
    }

    /// Whether a job of this id waits or runs.
    #[must_use]
    pub fn knows(&self, job: &str) -> bool {
        self.known.contains_key(job)
    }

    /// Whether the job is known, and runs.
    #[must_use]
    pub fn runs(&self, job: &str) -> bool {
        self.known
            .get(job)
            .is_some_and(|known| self.is_running(known))
    }

    /// Whether anything but running jobs has been told.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Checks what must always hold: the first thing that does not.
    ///
    /// # Errors
    /// When something does not hold: a fault of this program.
    pub fn audit(&mut self) -> Result<(), Refused> {
        for site in &mut self.sites {
            site.audit();
            self.violation = self.violation.take().or(site.violation().cloned());
        }
        self.is_sound()
    }

    /// Jobs of this type that wait and run.
    #[must_use]
    pub fn count(&self, job_type: usize) -> [u64; 2] {
        let mut count = [0; 2];
        for known in self.known.values().filter(|k| k.job_type == job_type) {
            count[usize::from(self.is_running(known))] += 1;
        }
        count
    }

    /// Why a job waits: what is known of it and of its place; none where it does not wait.
    #[must_use]
    pub fn waits(&self, job: &str) -> Option<Waits> {
        let known = self
            .known
            .get(job)
            .filter(|known| !self.is_running(known))?;
        let names: Vec<&str> = self.places.types().collect();
        let site = match &known.place {
            Place::At(site, _) => Some(*site),
            _ => None,
        };
        let ahead = site.map_or(0, |n| {
            let queue = self.sites[n].queue(known.job_type);
            queue.take_while(|id| ***id != *job).count()
        });
        let fleet = self.places.servers() > 1 && self.router.is_some();
        Some(Waits {
            job_type: known.job_type,
            ahead,
            is_shut_out: site.is_none(),
            server: site.filter(|_| fleet),
            doing: site.and_then(|n| self.sites[n].doing(&names)),
        })
    }

    fn is_running(&self, known: &Known) -> bool {
        match &known.place {
            Place::At(site, job) => self.sites[*site].runs(*job),
            Place::Aside(_) => false,
            Place::Beyond(_) => true,
        }
    }

    /// Whether what is told can be.
    fn is_possible(&self, told: &Told<'_>) -> Result<(), Refused> {
        let runs = |job: &str| match self.known.get(job) {
            None => Err(Refused::Unknown(job.into())),
            Some(known) => Ok(self.is_running(known)),
        };
        match told {
            Told::Arrive(job) | Told::Adopt { job, .. } if self.knows(job.id) => {
                Err(Refused::Known(job.id.into()))
            }
            Told::Adopt { job, servers, .. }
                if !self.places.are_servers_of(job.job_type, servers) =>
            {
                let name = self.places.type_name(job.job_type).into();
                Err(Refused::Servers(name, self.places.nodes(job.job_type)))
            }
            Told::Leave(job) | Told::PutBack(job) if !runs(job)? => {
                Err(Refused::Waits((*job).into()))
            }
            Told::Withdraw(job) if runs(job)? => Err(Refused::Runs((*job).into())),
            Told::Ring(clock) if *clock >= self.sites[0].clocks() || self.sites.len() > 1 => {
                Err(Refused::Clock(*clock, self.sites[0].clocks()))
            }
            _ => Ok(()),
        }
    }

    fn begin(&mut self) {
        self.has_begun = true;
        let adopted = !self.known.is_empty();
        for site in &mut self.sites {
            site.begin(adopted, self.now, &mut self.clocks);
        }
    }

    /// The rule of a site acts on what has changed there.
    fn act(&mut self, site: usize, way: Way, decided: &mut Decided) {
        let place = &mut self.sites[site];
        place.act(way, self.now, &mut self.clocks);
        let fleet = self.places.servers() > 1;
        place.take(site, fleet, decided);
        if self.violation.is_none() {
            self.violation = place.violation().cloned();
        }
    }

    /// A job is known from now on.
    fn meet(&mut self, job: &Newcomer<'_>, place: Place) -> Arc<str> {
        let id: Arc<str> = job.id.into();
        let known = Known {
            job_type: job.job_type,
            order: self.came,
            limit: job.limit + self.latency,
            place,
        };
        self.came += 1;
        self.known.insert(Arc::clone(&id), known);
        id
    }

    fn arrive(&mut self, job: &Newcomer<'_>, decided: &mut Decided) {
        let id = self.meet(job, Place::Aside(None));
        if let Some((site, way)) = self.send(&id) {
            self.act(site, way, decided);
        }
    }

    /// A job that waits outside comes to a site where it could run, if there is one: which, and how. One that was there
    /// before comes into its old place in the queue.
    fn send(&mut self, id: &Arc<str>) -> Option<(usize, Way)> {
        let known = self.known.get(id)?;
        let (job_type, limit, order) = (known.job_type, known.limit, known.order);
        let was = match known.place {
            Place::Aside(was) => was,
            _ => None,
        };
        let Some(site) = self.site_for(job_type) else {
            self.aside.insert(order, Arc::clone(id));
            return None;
        };
        self.aside.remove(&order);
        let to = &mut self.sites[site];
        let own = to.own_type(job_type);
        let (job, way) = match was {
            Some(was) => (to.restore(own, was, limit, id, self.now), Way::Changed),
            None => (to.arrive(own, limit, id, self.now), Way::Arrived(own)),
        };
        if let Some(known) = self.known.get_mut(id) {
            known.place = Place::At(site, job);
        }
        Some((site, way))
    }

    /// Where a job of this type goes, of the sites where it could run now.
    fn site_for(&mut self, job_type: usize) -> Option<usize> {
        let Some(router) = &self.router else {
            return self.sites[0].is_open(job_type).then_some(0);
        };
        let open = |n: usize| self.sites[n].is_open(job_type);
        let present: Vec<u32> = self
            .sites
            .iter()
            .map(|site| site.present(job_type))
            .collect();
        let draw = self.routing.uniform();
        router.route_among(job_type, &present, draw, open)
    }

    /// The site that has this server.
    fn site_of(&self, server: usize) -> usize {
        match self.router {
            Some(_) => server,
            None => 0,
        }
    }

    fn adopt(&mut self, job: &Newcomer<'_>, ran: f64, servers: Vec<usize>, decided: &mut Decided) {
        let site = servers.first().map_or(0, |n| self.site_of(*n));
        let id = self.meet(job, Place::Aside(None));
        let of = [ran, job.limit + self.latency];
        let at = &mut self.sites[site];
        let own = at.serves(job.job_type);
        let adopted = own.and_then(|own| at.adopt(own, of, &servers, &id, self.now));
        let on = if servers.is_empty() { vec![0] } else { servers };
        if let Some(known) = self.known.get_mut(&id) {
            known.place = match adopted {
                Some(job) => Place::At(site, job),
                None => Place::Beyond(on.clone()),
            };
        }
        match (adopted, self.has_begun) {
            (None, _) => {
                self.places.take_beyond(job.job_type, &on);
                self.review(&on, decided);
            }
            (Some(_), true) => self.act(site, Way::Changed, decided),
            (Some(_), false) => self.sites[site].resume(self.now, &mut self.clocks),
        }
    }

    fn leave(&mut self, job: &str, decided: &mut Decided) {
        let Some(known) = self.known.remove(job) else {
            return;
        };
        match known.place {
            Place::At(site, job) => {
                let own = self.sites[site].end(job, self.now);
                self.act(site, Way::Ended(own), decided);
            }
            Place::Beyond(servers) => {
                self.places.give_beyond(known.job_type, &servers);
                self.review(&servers, decided);
            }
            Place::Aside(_) => {}
        }
    }

    fn withdraw(&mut self, job: &str, decided: &mut Decided) {
        let Some(known) = self.known.remove(job) else {
            return;
        };
        match known.place {
            Place::At(site, job) => {
                self.sites[site].withdraw(known.job_type, job, self.now);
                self.act(site, Way::Changed, decided);
            }
            _ => drop(self.aside.remove(&known.order)),
        }
    }

    fn put_back(&mut self, job: &str, decided: &mut Decided) {
        let Some((id, known)) = self.known.get_key_value(job) else {
            return;
        };
        let (id, job_type) = (Arc::clone(id), known.job_type);
        match known.place.clone() {
            Place::At(site, job) => {
                self.sites[site].put_back(job_type, job, self.now);
                let open = self.sites[site].is_open(job_type);
                self.act(site, Way::Changed, decided);
                if !open {
                    self.review(&[], decided);
                }
            }
            Place::Beyond(servers) => {
                if let Some(known) = self.known.get_mut(&id) {
                    known.place = Place::Aside(None);
                    self.aside.insert(known.order, id);
                }
                self.places.give_beyond(job_type, &servers);
                self.review(&servers, decided);
            }
            Place::Aside(_) => {}
        }
    }

    /// What others use has changed on these servers: jobs that cannot run at all where they wait go elsewhere, or
    /// wait outside; those that can again come back.
    fn review(&mut self, servers: &[usize], decided: &mut Decided) {
        let mut changed: BTreeSet<usize> = servers.iter().map(|n| self.site_of(*n)).collect();
        for &n in servers {
            let site = self.site_of(n);
            self.sites[site].occupy(n, self.places.occupied(n), self.now);
        }
        // Where jobs have left of which the rule has not heard.
        let mut unheard = BTreeSet::new();
        for site in 0..self.sites.len() {
            for (id, job) in self.sites[site].shut_out(self.now) {
                let Some(known) = self.known.get_mut(&id) else {
                    continue;
                };
                let back = self.router.is_none().then_some(job);
                known.place = Place::Aside(back);
                self.aside.insert(known.order, id);
                unheard.insert(site);
            }
        }
        let aside: Vec<Arc<str>> = self.aside.values().cloned().collect();
        for id in &aside {
            if let Some((site, way)) = self.send(id) {
                let way = if unheard.remove(&site) {
                    Way::Changed
                } else {
                    way
                };
                self.act(site, way, decided);
            }
        }
        changed.append(&mut unheard);
        if self.has_begun {
            for site in changed {
                self.act(site, Way::Changed, decided);
            }
        }
    }

    /// Each clock rings at most once: one that was set anew at this time is not due before the next.
    fn ring_due(&mut self, decided: &mut Decided) {
        let mut due: Vec<(f64, usize, usize)> = Vec::new();
        for (site, place) in self.sites.iter().enumerate() {
            due.extend(place.due_by(self.now).map(|(at, clock)| (at, site, clock)));
        }
        due.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (at, site, clock) in due {
            if self.sites[site].is_due(clock, at) {
                self.act(site, Way::Ring(clock), decided);
            }
        }
    }
}
