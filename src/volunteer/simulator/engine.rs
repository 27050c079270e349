//! A campaign from its first event to its last.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Rule;
use super::batch::{State, Waiting};
use super::host::Host;
use super::population::{Group, population};
use super::standing::Standings;
use super::store::{Instance, Judged, Store};
use crate::simulation::{Streams, Tournament};
use crate::volunteer::workload::{Campaign, Processor, Quality, Supply};

/// What happens beside hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A version is there.
    Release,
    /// A batch is submitted, or a job of a stream comes.
    Submit(u32),
    /// Estimates are made anew; now and then percentiles.
    Tick(u32),
    /// A result comes.
    Report(u32),
    /// An instance is to be returned by now; which use of its place it is.
    Deadline(u32, u32),
}

/// Ticks from one table of percentiles to the next.
pub(in crate::volunteer) const TICKS: u32 = 24;

/// How often percentiles are computed in a campaign where nothing is said.
pub(in crate::volunteer) const REFRESHES: f64 = 60.0;

/// What is counted over all batches.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub events: u64,
    pub stopped: u64,
    pub tight: u64,
    pub delay: f64,
    pub delayed: u64,
}

/// One campaign.
pub(super) struct Engine<'a> {
    pub campaign: &'a Campaign,
    pub rule: Rule,
    pub now: f64,
    pub hosts: Vec<Host>,
    pub groups: Vec<Group>,
    pub store: Store,
    pub batches: Vec<State>,
    /// Batches that have something to send, or may have.
    pub active: Vec<usize>,
    pub standings: Standings,
    /// Hosts that BOINC's rule finds fast.
    pub fast: Vec<bool>,
    pub counts: Counts,
    next: Tournament,
    events: BinaryHeap<Reverse<(u64, Event)>>,
    tick: f64,
}

impl<'a> Engine<'a> {
    pub fn new(campaign: &'a Campaign, rule: Rule, seed: u64, replication: u32) -> Self {
        let streams = Streams::new(seed, replication);
        let (groups, hosts) = population(campaign, &streams);
        let mut sizes = streams.sizes.clone();
        let states = campaign.batches().iter().map(|batch| {
            sizes.leap();
            State::new(batch, sizes.clone())
        });
        let batches: Vec<State> = states.collect();
        let refresh = campaign.record().policy.refresh;
        let refresh = refresh.map_or(campaign.horizon() / REFRESHES, |own| own.value());
        let mut engine = Engine {
            campaign,
            rule,
            now: 0.0,
            standings: Standings::new(campaign, hosts.len()),
            next: Tournament::new(hosts.len()),
            fast: vec![false; hosts.len()],
            hosts,
            groups,
            store: Store::default(),
            batches,
            active: Vec::new(),
            counts: Counts::default(),
            events: BinaryHeap::new(),
            tick: refresh / f64::from(TICKS),
        };
        engine.begin();
        engine
    }

    fn begin(&mut self) {
        for version in self.campaign.versions() {
            self.at(version.released, Event::Release);
        }
        for (b, batch) in self.campaign.batches().iter().enumerate() {
            match batch.supply {
                Supply::Jobs { submitted, .. } => self.at(submitted, Event::Submit(b as u32)),
                Supply::Endless => self.active.push(b),
                Supply::Rate(rate) => {
                    self.active.push(b);
                    let first = self.batches[b].stream.exponential() / rate;
                    self.at(first, Event::Submit(b as u32));
                }
            }
        }
        self.at(0.0, Event::Tick(0));
        for h in 0..self.hosts.len() {
            self.next.set(h, self.hosts[h].next());
        }
    }

    fn at(&mut self, time: f64, event: Event) {
        if time <= self.campaign.horizon() {
            self.events.push(Reverse((time.to_bits(), event)));
        }
    }

    /// Goes on to the end of the campaign, or until told to stop after so many events: whether it came to the end.
    pub fn run(&mut self, stopped: impl Fn(u64) -> bool) -> bool {
        const LOOKS: u64 = 1 << 14;
        let end = self.campaign.horizon();
        for turn in 0_u64.. {
            let (host, first) = self.next.first();
            let event = self.events.peek();
            let other = event.map_or(f64::INFINITY, |Reverse((bits, _))| f64::from_bits(*bits));
            let time = first.min(other);
            if time > end {
                break;
            }
            if turn % LOOKS == LOOKS - 1 && stopped(self.counts.events) {
                return false;
            }
            self.counts.events += 1;
            self.now = time;
            if other <= first {
                let Some(Reverse((_, event))) = self.events.pop() else {
                    break;
                };
                self.happens(event);
            } else {
                self.of_host(host);
            }
        }
        true
    }

    fn happens(&mut self, event: Event) {
        match event {
            Event::Release => self.standings.release(self.campaign, self.now),
            Event::Submit(b) => self.submit(b as usize),
            Event::Tick(n) => self.ticks(n),
            Event::Report(instance) => self.report(instance),
            Event::Deadline(instance, used) => {
                if self.store.uses[instance as usize] == used {
                    self.give_up(instance);
                }
            }
        }
    }

    fn submit(&mut self, b: usize) {
        match self.campaign.batches()[b].supply {
            Supply::Jobs { count, .. } => {
                self.active.push(b);
                (0..count).for_each(|_| self.create(b));
            }
            Supply::Rate(rate) => {
                self.create(b);
                let next = self.now + self.batches[b].stream.exponential() / rate;
                self.at(next, Event::Submit(b as u32));
            }
            Supply::Endless => {}
        }
    }

    /// A new job.
    pub fn create(&mut self, b: usize) {
        let batch = &self.campaign.batches()[b];
        let (quorum, most) = (
            self.campaign.quorum(batch.application),
            self.campaign.most_instances(batch.application),
        );
        let state = &mut self.batches[b];
        let size = state.sizes.draw(&mut state.stream);
        state.work[0] += size;
        state.work[1] = state.work[1].max(size);
        state.left += 1;
        state.untouched += 1;
        let job = self.store.create(b, size, self.now, quorum, most);
        self.queue(job, 0);
    }

    /// The order in which a job waits, for as long as it has something to send.
    fn key(&self, job: u32) -> Waiting {
        let own = &self.store.jobs[job as usize];
        let quorum = self
            .campaign
            .quorum(self.campaign.batches()[own.batch].application);
        (Reverse(own.retries(quorum)), own.id, job)
    }

    /// Takes a job out of the queue before it changes. Returns what it has to send.
    pub fn unqueue(&mut self, job: u32) -> u32 {
        let key = self.key(job);
        let own = &self.store.jobs[job as usize];
        if own.unsent > 0 {
            self.batches[own.batch].unsent.remove(&key);
        }
        own.unsent
    }

    /// Puts a job into the queue again after it has changed; it had so much to send before.
    pub fn queue(&mut self, job: u32, before: u32) {
        let key = self.key(job);
        let own = &self.store.jobs[job as usize];
        let state = &mut self.batches[own.batch];
        if own.unsent > 0 {
            state.unsent.insert(key);
        }
        let had = state.to_send;
        state.to_send = had + own.unsent - before;
        if (had == 0) != (state.to_send == 0) {
            state.wait_ends(self.now);
        }
    }

    fn ticks(&mut self, n: u32) {
        if n.is_multiple_of(TICKS) {
            let applications = self.campaign.record().applications.len();
            let versions = self.campaign.versions();
            let hosts = &self.hosts;
            let able = |host: usize, version: usize| {
                hosts[host].sides[versions[version].processor as usize].count > 0
            };
            self.standings.refresh(applications, able);
            self.standings.sort();
        }
        for b in 0..self.batches.len() {
            let state = &self.batches[b];
            if state.left > 0 && state.sent > 0 {
                self.estimate(b);
            }
        }
        if matches!(self.rule, Rule::Tail(_)) {
            self.accelerate();
        }
        self.at(self.now + self.tick, Event::Tick(n.wrapping_add(1)));
    }

    /// C(B) anew.
    pub fn estimate(&mut self, b: usize) {
        let Rule::Dispatch(rule) = &self.rule else {
            return;
        };
        let batch = &self.campaign.batches()[b];
        // Nobody asks for the end of these.
        let unasked = match batch.quality {
            Quality::Throughput(_) => true,
            Quality::Long(deadline) => rule.reserve && self.now < batch.submitted() + deadline,
            Quality::Afap | Quality::Short(_) => false,
        };
        if unasked {
            return;
        }
        let state = &mut self.batches[b];
        let (out, lost) = (
            std::mem::take(&mut state.out),
            std::mem::take(&mut state.lost),
        );
        let (instances, now) = (&self.store.instances, self.now);
        let awaited = out.iter().map(|n| now - instances[*n as usize].sent);
        let awaited = awaited.chain(lost.iter().copied());
        let others = &self.standings.sorted[batch.application];
        let jobs = batch.jobs().unwrap_or(0);
        state.estimate(rule, jobs, now, awaited, others);
        (state.out, state.lost) = (out, lost);
    }

    fn of_host(&mut self, h: usize) {
        let now = self.now;
        let host = &mut self.hosts[h];
        host.advance(now);
        if host.switch <= now {
            host.on = !host.on;
            let turns = self.groups[host.group].turns.as_ref();
            host.switch = match turns {
                Some(turns) if host.on => now + turns.on.draw(&mut host.life),
                Some(turns) => now + turns.off.draw(&mut host.life),
                None => f64::INFINITY,
            };
        }
        if host.on {
            while let Some((_, task)) = self.hosts[h].take() {
                self.ends(h, task.instance);
            }
            if self.hosts[h].asks <= now {
                self.answer(h);
            }
            let host = &mut self.hosts[h];
            self.counts.stopped += host.choose(now);
            host.plan_to_ask(now);
        }
        self.next.set(h, self.hosts[h].next());
    }

    /// A host has run an instance to its end.
    fn ends(&mut self, h: usize, instance: u32) {
        let own = &mut self.store.instances[instance as usize];
        if own.lost {
            own.gone = true;
            // Its place is used again only once nobody speaks of it.
            if own.late {
                self.store.drop_instance(instance);
            }
            return;
        }
        let host = &mut self.hosts[h];
        let delay = self.groups[host.group].delay.as_ref();
        match delay.map(|law| law.draw(&mut host.luck)) {
            None => self.report(instance),
            Some(delay) => self.at(self.now + delay, Event::Report(instance)),
        }
    }

    /// A result comes: what it says of its host, and of its job.
    fn report(&mut self, n: u32) {
        let instance = self.store.instances[n as usize];
        let own = &self.store.jobs[instance.job as usize];
        let (b, created) = (own.batch, own.created);
        let batch = &self.campaign.batches()[b];
        let quorum = self.campaign.quorum(batch.application);
        let took = self.now - instance.sent;
        self.leave(b, n);
        let mut judged = Vec::new();
        let before = self.unqueue(instance.job);
        let found = self.store.report(n, self.now, quorum, &mut judged);
        if matches!(found, Judged::Done { .. }) {
            self.store.jobs[instance.job as usize].unsent = 0;
        }
        self.queue(instance.job, before);
        if !instance.late {
            let history = self.standings.history(instance.host, instance.version);
            history.took(took);
        }
        self.standings.took(batch.application, took);
        for (host, version, right) in judged {
            let history = self.standings.history(host, version);
            if right {
                history.was_valid()
            } else {
                history.failed()
            }
        }
        let state = &mut self.batches[b];
        if !batch.is_stream() && instance.right {
            state.came.push((took, instance.host));
            // It came after all.
            if instance.late
                && let Some(n) = state.missed.iter().position(|host| *host == instance.host)
            {
                state.missed.swap_remove(n);
            }
        }
        if let Judged::Done { right, waited } = found {
            self.counts.delay += waited;
            self.counts.delayed += u64::from(right);
            let due = match batch.quality {
                Quality::Throughput(bound) => created + bound,
                Quality::Short(deadline) | Quality::Long(deadline) => batch.submitted() + deadline,
                Quality::Afap => f64::INFINITY,
            };
            state.within += u64::from(self.now <= due);
        }
        self.settle(b, &found);
        self.store.drop_instance(n);
    }

    /// An instance was not returned in time.
    fn give_up(&mut self, n: u32) {
        let instance = self.store.instances[n as usize];
        if instance.late {
            return;
        }
        let job = instance.job;
        let b = self.store.jobs[job as usize].batch;
        let batch = &self.campaign.batches()[b];
        let quorum = self.campaign.quorum(batch.application);
        let before = self.unqueue(job);
        let found = self.store.give_up(n, quorum);
        self.queue(job, before);
        let history = self.standings.history(instance.host, instance.version);
        history.took(self.now - instance.sent);
        history.failed();
        if !batch.is_stream() {
            self.batches[b].missed.push(instance.host);
        }
        self.settle(b, &found);
        if instance.lost {
            if !self.campaign.batches()[b].is_stream() {
                self.batches[b].lost.push(self.now - instance.sent);
            }
            self.leave(b, n);
            if instance.gone {
                self.store.drop_instance(n);
            }
        }
    }

    /// A job of a batch may be done.
    fn settle(&mut self, b: usize, found: &Judged) {
        let state = &mut self.batches[b];
        match found {
            Judged::Nothing => return,
            Judged::GivenUp => state.given_up += 1,
            Judged::Done { .. } => {}
        }
        state.done += 1;
        state.left -= 1;
        state.news += 1;
        let stream = self.campaign.batches()[b].is_stream();
        if state.left == 0 && !stream {
            // A batch of which something was given up is never done.
            state.finished = (state.given_up == 0).then_some(self.now);
            self.active.retain(|own| *own != b);
        }
    }

    /// An instance is out.
    pub fn enter(&mut self, b: usize, instance: Instance) -> u32 {
        let stream = self.campaign.batches()[b].is_stream();
        let slot = self.batches[b].out.len() as u32;
        let n = self.store.send(Instance { slot, ..instance });
        if !stream {
            self.batches[b].out.push(n);
        }
        let used = self.store.uses[n as usize];
        // What is just in time is not given up for rounding.
        let late = instance.deadline * (1.0 + 1e-9);
        self.at(late, Event::Deadline(n, used));
        n
    }

    /// It is not out any more.
    fn leave(&mut self, b: usize, n: u32) {
        let out = &mut self.batches[b].out;
        if out.is_empty() {
            return;
        }
        let slot = self.store.instances[n as usize].slot as usize;
        out.swap_remove(slot);
        if let Some(moved) = out.get(slot) {
            self.store.instances[*moved as usize].slot = slot as u32;
        }
    }

    /// The speed of a version on a host, by the clock \[work/time\].
    pub fn speed(&self, h: usize, processor: Processor, version: usize) -> f64 {
        let host = &self.hosts[h];
        let efficiency = self.campaign.versions()[version].efficiency;
        host.sides[processor as usize].speed * efficiency * host.availability
    }
}
