//! A host asks for work: the array is gone through as the decision does it, a batch at a time.
//!
//! What is decided depends on a job only by its batch and by whether the host has had it: so the
//! first of a batch that is kept for another reason decides for all that stand behind it.

use super::Rule;
use super::batch::Waiting;
use super::engine::Engine;
use super::host::Task;
use super::store::Instance;
use crate::volunteer::policy::{
    Candidate, Deciding, Host, Kept, Pass, Place, Sent, Usable, Verdict, feed,
};
use crate::volunteer::workload::{Processor, Quality, Supply};

impl Engine<'_> {
    /// Answers a request of a host.
    pub fn answer(&mut self, h: usize) {
        self.hosts[h].asked = self.now;
        let processors = self.processors(h);
        self.order();
        match self.rule {
            Rule::Dispatch(rule) => {
                let versions = self.versions(h);
                let mut deciding = Deciding::new(&rule, self.now, processors);
                for pass in [Pass::Percentile, Pass::All] {
                    for n in 0..self.active.len() {
                        if deciding.is_full() {
                            return;
                        }
                        let b = self.active[n];
                        self.send_of_batch(h, b, &versions, &mut deciding, (pass, rule.reserve));
                    }
                }
            }
            Rule::Fixed(bound) | Rule::Tail(bound) => self.send_to_any(h, processors, bound),
        }
    }

    /// What a host has and wants.
    fn processors(&self, h: usize) -> [Host; 2] {
        let host = &self.hosts[h];
        [0, 1].map(|n| {
            let side = &host.sides[n];
            let count = f64::from(side.count);
            let [queue, busy] = host.queues(n);
            Host {
                count: side.count,
                wanted: ((host.buffer - queue) * count).max(0.0),
                idle: side.idle(),
                queue,
                busy,
                first: side.first_jobs(),
            }
        })
    }

    /// Batches in the order of the feeder; with priority first.
    fn order(&mut self) {
        let place = |b: usize| {
            let (batch, state) = (&self.campaign.batches()[b], &self.batches[b]);
            let first = state.unsent.first();
            let id = first.map_or(u64::MAX, |(_, id, _)| *id);
            let retries = first.map_or(0, |(retries, ..)| retries.0);
            let end = match batch.quality {
                Quality::Afap => batch.submitted(),
                Quality::Short(deadline) | Quality::Long(deadline) => batch.submitted() + deadline,
                // There are always some: they take what all others leave.
                Quality::Throughput(_) if batch.supply == Supply::Endless => f64::INFINITY,
                Quality::Throughput(bound) => {
                    let created = first.map(|own| self.store.jobs[own.2 as usize].created);
                    created.unwrap_or(self.now) + bound
                }
            };
            (!state.prior, Place { end, retries, id })
        };
        let mut keyed: Vec<_> = self.active.iter().map(|b| (place(*b), *b)).collect();
        keyed.sort_by(|a, b| a.0.0.cmp(&b.0.0).then_with(|| feed(&a.0.1, &b.0.1)));
        self.active.clear();
        self.active.extend(keyed.into_iter().map(|(_, b)| b));
    }

    /// The versions that a host can run.
    fn versions(&self, h: usize) -> Vec<Usable> {
        let applications = 0..self.campaign.record().applications.len();
        let of = |application: usize| {
            Processor::ALL.into_iter().filter_map(move |processor| {
                let version = self.standings.version(application, processor)?;
                (self.hosts[h].sides[processor as usize].count > 0).then(|| Usable {
                    application: application as u32,
                    version: version as u32,
                    processor,
                    speed: self.speed(h, processor, version),
                    percentile: self.standings.percentile(h, version),
                    ceiling: self.standings.ceilings[application],
                })
            })
        };
        applications.flat_map(of).collect()
    }

    /// The next job of a batch that this host has not had.
    fn candidate(&mut self, h: usize, b: usize) -> Option<Waiting> {
        let jobs = &self.store.jobs;
        let mut waiting = self.batches[b].unsent.iter();
        let found = waiting.find(|(_, _, job)| !jobs[*job as usize].had(h as u32));
        if found.is_none() && self.campaign.batches()[b].supply == Supply::Endless {
            self.create(b);
            // The newest of those that were not tried stands last.
            return self.batches[b].unsent.last().copied();
        }
        found.copied()
    }

    /// All that a host gets of a batch.
    fn send_of_batch(
        &mut self,
        h: usize,
        b: usize,
        versions: &[Usable],
        deciding: &mut Deciding<'_>,
        (pass, reserve): (Pass, bool),
    ) {
        // A hundredth of the jobs changes little.
        let jobs = self.campaign.batches()[b].jobs().unwrap_or(0);
        if self.batches[b].news > jobs / 100 {
            self.estimate(b);
        }
        let batch = &self.campaign.batches()[b];
        let size = batch.size.mean();
        while let Some((_, id, job)) = self.candidate(h, b) {
            let state = &self.batches[b];
            let candidate = Candidate {
                id,
                application: batch.application as u32,
                size,
                end: state.bound(batch, self.now, reserve),
                waiting: state.waiting(self.now),
                had: false,
            };
            match deciding.consider(&candidate, versions, pass) {
                Verdict::Sent {
                    version,
                    deadline,
                    tight,
                    why,
                } => {
                    let first = why == Sent::First;
                    self.send(h, job, version as usize, (deadline, tight, first));
                }
                Verdict::Kept(Kept::Had) => {}
                Verdict::Kept(_) => return,
            }
        }
    }

    /// Sends to any host, with a bound for a deadline.
    fn send_to_any(&mut self, h: usize, mut processors: [Host; 2], bound: f64) {
        let versions = self.versions(h);
        for n in 0..self.active.len() {
            let b = self.active[n];
            let batch = &self.campaign.batches()[b];
            if self.batches[b].prior && !self.fast[h] {
                continue;
            }
            let bound = match batch.quality {
                Quality::Short(own) | Quality::Long(own) | Quality::Throughput(own) => own,
                Quality::Afap => bound,
            };
            let size = batch.size.mean();
            let application = batch.application as u32;
            loop {
                let ends = |own: &Usable| {
                    let host = &processors[own.processor as usize];
                    host.before(host.queue) + size / own.speed
                };
                let usable = versions.iter().filter(|own| {
                    own.application == application && processors[own.processor as usize].has_room()
                });
                let Some(own) = usable.min_by(|a, b| ends(a).total_cmp(&ends(b))) else {
                    break;
                };
                let Some((_, _, job)) = self.candidate(h, b) else {
                    break;
                };
                let run = size / own.speed;
                let host = &mut processors[own.processor as usize];
                let deadline = self.now + bound;
                let tight = deadline < self.now + host.before(host.queue) + run;
                host.idle = host.idle.saturating_sub(1);
                host.queue += run / f64::from(host.count);
                host.wanted -= run;
                self.send(h, job, own.version as usize, (deadline, tight, false));
            }
        }
    }

    /// An instance of a job goes to a host.
    fn send(
        &mut self,
        h: usize,
        job: u32,
        version: usize,
        (deadline, tight, first): (f64, bool, bool),
    ) {
        let own = &self.store.jobs[job as usize];
        let (b, size) = (own.batch, own.size);
        let untouched = own.total == own.unsent;
        let processor = self.campaign.versions()[version].processor;
        let run = size / (self.speed(h, processor, version) / self.hosts[h].availability);
        let host = &mut self.hosts[h];
        let group = &self.groups[host.group];
        let right = host.luck.uniform() >= group.error;
        let lost = host.luck.uniform() < group.vanish;
        let before = self.unqueue(job);
        let instance = self.enter(
            b,
            Instance {
                job,
                host: h as u32,
                version: version as u16,
                right,
                lost,
                late: false,
                gone: false,
                slot: 0,
                sent: self.now,
                deadline,
            },
        );
        self.queue(job, before);
        self.counts.events += 1;
        let state = &mut self.batches[b];
        state.sent += 1;
        state.first_sent = state.first_sent.min(self.now);
        if untouched {
            state.last_first = self.now;
            state.untouched -= 1;
        }
        state.wait_ends(self.now);
        state.tight += u64::from(tight);
        self.counts.tight += u64::from(tight);
        self.hosts[h].sides[processor as usize].push(Task {
            instance,
            left: run,
            deadline,
            tight,
            first,
            order: 0,
            runs: false,
        });
    }
}
