use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::batch::State;
use super::host::{Group, Host, population};
use super::measures::{BatchResult, Measures};
use super::standing::Percentiles;
use super::store::{Change, Store};
use crate::policy::Dispatch;
use crate::workload::{Campaign, Processor, Quality};
use synth_simulation::{RandomStream, Sampler, Streams, Tournament};

/// A dispatch rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// A rule that uses percentiles and estimates.
    Dispatch(Dispatch),
    /// Jobs are sent to any host, with a bound \[time\] or with the deadline of the batch.
    Fixed(f64),
    /// The same, but the last jobs of a batch are only sent to fast hosts, and again if they are
    /// slow (BOINC, 2025).
    Tail(f64),
}

/// The events that are not events of a host, in the order for events at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Event {
    Release,
    Submit(u32),
    Tick(u32),
    Report(u32),
    /// The deadline of an instance, with the use count of its slot.
    Deadline(u32, u32),
}

/// The number of ticks between two updates of the percentiles.
pub(crate) const TICKS: u32 = 24;

pub(super) struct Engine<'a> {
    pub campaign: &'a Campaign,
    pub rule: Rule,
    pub now: f64,
    pub hosts: Vec<Host>,
    pub groups: Vec<Group>,
    pub store: Store,
    pub batches: Vec<State>,
    sizes: Vec<(Sampler, RandomStream)>,
    /// The batches that can have something to send.
    pub active: Vec<usize>,
    pub standings: Percentiles,
    pub fast: Vec<bool>,
    pub measures: Measures,
    next: Tournament,
    events: BinaryHeap<Reverse<(u64, Event)>>,
}

impl<'a> Engine<'a> {
    pub(super) fn new(campaign: &'a Campaign, rule: Rule, seed: u64, replication: u32) -> Self {
        let streams = Streams::new(seed, replication);
        let (groups, hosts) = population(campaign, &streams);
        let mut stream = streams.sizes;
        let sizes = campaign.batches.iter().map(|batch| {
            stream.leap();
            (Sampler::of(&batch.size), stream.clone())
        });
        let state = |batch| State::new(campaign, batch);
        let mut engine = Engine {
            campaign,
            rule,
            now: 0.0,
            standings: Percentiles::new(campaign, hosts.len()),
            next: Tournament::new(hosts.len()),
            fast: vec![false; hosts.len()],
            hosts,
            groups,
            store: Store::default(),
            sizes: sizes.collect(),
            batches: campaign.batches.iter().map(state).collect(),
            active: Vec::new(),
            measures: Measures::default(),
            events: BinaryHeap::new(),
        };
        for version in &campaign.versions {
            engine.at(version.released, Event::Release);
        }
        for (b, batch) in campaign.batches.iter().enumerate() {
            if batch.jobs.is_some() {
                engine.at(batch.submitted, Event::Submit(b as u32));
            } else {
                engine.active.push(b);
                engine.await_arrival(b);
            }
        }
        engine.at(0.0, Event::Tick(0));
        for (h, host) in engine.hosts.iter().enumerate() {
            engine.next.set(h, host.next());
        }
        engine
    }

    fn await_arrival(&mut self, b: usize) {
        if let Some(rate) = self.campaign.batches[b].arrival_rate {
            let next = self.now + self.sizes[b].1.exponential() / rate;
            self.at(next, Event::Submit(b as u32));
        }
    }

    pub(super) fn at(&mut self, time: f64, event: Event) {
        if time <= self.campaign.horizon() {
            self.events.push(Reverse((time.to_bits(), event)));
        }
    }

    /// Runs until the end of the campaign, or until `stopped` is true for the number of events.
    /// Returns `true` if the end was reached.
    pub(super) fn run(&mut self, stopped: impl Fn(u64) -> bool) -> bool {
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
            if turn % LOOKS == LOOKS - 1 && stopped(self.measures.events) {
                return false;
            }
            self.measures.events += 1;
            self.now = time;
            if other > first {
                self.handle_host(host);
                continue;
            }
            match self.events.pop().map(|Reverse((_, event))| event) {
                None => break,
                Some(Event::Release) => self.standings.release(self.campaign, self.now),
                Some(Event::Submit(b)) => self.submit(b as usize),
                Some(Event::Tick(n)) => self.tick(n),
                Some(Event::Report(instance)) => self.report(instance),
                Some(Event::Deadline(instance, used)) => {
                    if self.store.uses[instance as usize] == used {
                        self.give_up(instance);
                    }
                }
            }
        }
        true
    }

    fn submit(&mut self, b: usize) {
        if let Some(count) = self.campaign.batches[b].jobs {
            self.active.push(b);
            (0..count).for_each(|_| self.create(b));
        } else {
            self.create(b);
            self.await_arrival(b);
        }
    }

    pub(super) fn create(&mut self, b: usize) {
        let campaign = self.campaign;
        let own = campaign.batches[b].application;
        let limits = [campaign.quorum(own), campaign.most_instances(own)];
        let (law, stream) = &mut self.sizes[b];
        let size = law.draw(stream);
        let state = &mut self.batches[b];
        state.work[0] += size;
        state.work[1] = state.work[1].max(size);
        state.left += 1;
        state.untouched += 1;
        let job = self.store.create(b, size, self.now, limits);
        self.change(job, |store| store.jobs[job as usize].refill());
    }

    pub(super) fn change<T>(&mut self, job: u32, change: impl FnOnce(&mut Store) -> T) -> T {
        let own = &self.store.jobs[job as usize];
        let (state, before) = (&mut self.batches[own.batch], own.unsent);
        if before > 0 {
            state.unsent.remove(&own.waiting(job));
        }
        let changed = change(&mut self.store);
        let own = &self.store.jobs[job as usize];
        if own.unsent > 0 {
            state.unsent.insert(own.waiting(job));
        }
        let had = state.to_send;
        state.to_send = had + own.unsent - before;
        if (had == 0) != (state.to_send == 0) {
            state.restart_wait(self.now);
        }
        changed
    }

    fn tick(&mut self, n: u32) {
        if n.is_multiple_of(TICKS) {
            let (versions, hosts) = (&self.campaign.versions, &self.hosts);
            let pool = |host: usize, v: usize| &hosts[host].pools[versions[v].processor as usize];
            self.standings.refresh(|host, v| pool(host, v).count > 0);
        }
        for b in 0..self.batches.len() {
            let state = &self.batches[b];
            if state.left > 0 && state.result.sent > 0 {
                self.estimate(b);
            }
        }
        if matches!(self.rule, Rule::Tail(_)) {
            self.accelerate();
        }
        let tick = self.campaign.refresh() / f64::from(TICKS);
        self.at(self.now + tick, Event::Tick(n.wrapping_add(1)));
    }

    pub(super) fn estimate(&mut self, b: usize) {
        let batch = &self.campaign.batches[b];
        let Rule::Dispatch(rule) = &self.rule else {
            return;
        };
        match batch.quality {
            Quality::Throughput => return,
            Quality::Short | Quality::Long if rule.reserve && self.now < batch.due(0.0) => return,
            _ => {}
        }
        let others = &self.standings.applications[batch.application].sorted;
        let instances = &self.store.instances;
        self.batches[b].estimate(rule, batch, self.now, instances, others);
    }

    fn handle_host(&mut self, h: usize) {
        let now = self.now;
        let host = &mut self.hosts[h];
        host.advance(now);
        if host.next_switch <= now {
            host.on = !host.on;
            host.next_switch = now + self.groups[host.group].turn(host.on, &mut host.turns);
        }
        if host.on {
            while let Some(task) = self.hosts[h].take() {
                self.end(h, task.instance);
            }
            if self.hosts[h].next_request <= now {
                self.answer(h);
            }
            let host = &mut self.hosts[h];
            self.measures.stopped += host.choose(now);
            host.plan_request(now);
        }
        self.next.set(h, self.hosts[h].next());
    }

    fn end(&mut self, h: usize, instance: u32) {
        let own = &mut self.store.instances[instance as usize];
        if own.lost {
            own.gone = true;
            // The slot can only be used again after the deadline.
            if own.late {
                self.store.drop_instance(instance);
            }
            return;
        }
        let host = &mut self.hosts[h];
        let delay = self.groups[host.group].delay.as_ref();
        match delay.map(|law| law.draw(&mut host.results)) {
            None => self.report(instance),
            Some(delay) => self.at(self.now + delay, Event::Report(instance)),
        }
    }

    fn report(&mut self, n: u32) {
        let (instance, now) = (self.store.instances[n as usize], self.now);
        let job = &self.store.jobs[instance.job as usize];
        let (b, created) = (job.batch, job.created);
        let batch = &self.campaign.batches[b];
        let took = now - instance.sent;
        self.batches[b].outstanding.remove(&n);
        let (change, validated) = self.change(instance.job, |store| store.report(n, now));
        let history = self.standings.history(instance.host, instance.version);
        if !instance.late {
            history.add_turnaround(took);
        }
        self.standings.took(batch.application, took);
        for (host, version, right) in validated {
            self.standings.history(host, version).add_validation(right);
        }
        let state = &mut self.batches[b];
        if !batch.is_stream() && instance.right {
            state.turnarounds.push((took, instance.host));
            if instance.late
                && let Some(n) = state.missed.iter().position(|host| *host == instance.host)
            {
                state.missed.swap_remove(n);
            }
        }
        if let Change::Done { right, waited } = change {
            self.measures.waited += waited;
            self.measures.validated += u64::from(right);
            state.result.within += u64::from(now <= batch.due(created));
        }
        self.count_completion(b, &change);
        self.store.drop_instance(n);
    }

    fn give_up(&mut self, n: u32) {
        let instance = self.store.instances[n as usize];
        if instance.late {
            return;
        }
        let b = self.store.jobs[instance.job as usize].batch;
        let change = self.change(instance.job, |store| store.give_up(n));
        let waited = self.now - instance.sent;
        let history = self.standings.history(instance.host, instance.version);
        history.add_turnaround(waited);
        history.add_validation(false);
        let state = &mut self.batches[b];
        if !self.campaign.batches[b].is_stream() {
            state.missed.push(instance.host);
            state.lost.extend(instance.lost.then_some(waited));
        }
        if instance.lost {
            state.outstanding.remove(&n);
        }
        self.count_completion(b, &change);
        if instance.lost && instance.gone {
            self.store.drop_instance(n);
        }
    }

    fn count_completion(&mut self, b: usize, change: &Change) {
        if *change == Change::None {
            return;
        }
        let batch = &self.campaign.batches[b];
        let state = &mut self.batches[b];
        state.result.given_up += u32::from(*change == Change::GivenUp);
        state.result.done += 1;
        state.left -= 1;
        state.news += 1;
        if state.left == 0 && !batch.is_stream() {
            let is_whole = state.result.given_up == 0;
            state.result.makespan = is_whole.then_some(self.now - batch.submitted);
            self.active.retain(|own| *own != b);
        }
    }

    /// Returns the speed of a version on a host, including the time when it is off \[work/time\].
    pub(super) fn speed(&self, h: usize, version: usize) -> f64 {
        let (host, version) = (&self.hosts[h], &self.campaign.versions[version]);
        host.pools[version.processor as usize].speed * version.efficiency * host.availability
    }

    pub(super) fn measures(self) -> Measures {
        let horizon = self.campaign.horizon();
        let batches = self.campaign.batches.iter().zip(&self.batches);
        let results = batches.map(|(batch, state)| {
            let quorum = f64::from(self.campaign.quorum(batch.application));
            let [speed, fastest] = self.speeds(batch.application);
            let [work, largest] = state.work;
            BatchResult {
                observed: horizon - batch.submitted,
                least: (work * quorum / speed).max(largest / fastest),
                waited: state.result.waited.max(state.waiting(horizon)),
                ..state.result
            }
        });
        Measures {
            horizon,
            batches: results.collect(),
            ..self.measures
        }
    }

    /// Returns the total speed for an application if all processors are always on, and the maximum.
    fn speeds(&self, application: usize) -> [f64; 2] {
        let best = Processor::ALL.map(|processor| {
            let own = self.campaign.versions.iter();
            let own = own.filter(|v| v.application == application && v.processor == processor);
            own.map(|version| version.efficiency).fold(0.0, f64::max)
        });
        let mut speeds = [0.0; 2];
        for host in &self.hosts {
            for (pool, best) in host.pools.iter().zip(best) {
                let speed = best * pool.speed;
                speeds[0] += speed * f64::from(pool.count);
                speeds[1] = f64::max(speeds[1], speed);
            }
        }
        speeds
    }
}
