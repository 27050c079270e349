//! Processes the requests of the hosts, one batch at a time: the decision for a job only depends on
//! its batch and on whether it has already been sent to this host, so that any other refusal holds
//! for the whole batch.

use super::engine::{Engine, Event, Rule};
use super::host::Task;
use super::store::Instance;
use crate::policy::{
    Candidate, Decider, DispatchReason, Host, Place, UsableVersion, Verdict, feed,
};
use crate::workload::{Batch, Processor, Quality};

impl Engine<'_> {
    pub(super) fn answer(&mut self, h: usize) {
        self.hosts[h].last_request = self.now;
        let processors = self.hosts[h].processors();
        self.order();
        let rule = self.rule;
        let (rule, passes) = match &rule {
            Rule::Dispatch(rule) => (Some(rule), &[true, false][..]),
            Rule::Fixed(_) | Rule::Tail(_) => (None, &[false][..]),
        };
        let (versions, now) = (self.versions(h), self.now);
        let mut decider = Decider {
            rule,
            now,
            delay: self.groups[self.hosts[h].group].least_delay,
            processors,
        };
        for is_first in passes {
            for n in 0..self.active.len() {
                if !decider.processors.iter().any(Host::wants_work) {
                    return;
                }
                self.send_of_batch(h, self.active[n], &versions, &mut decider, *is_first);
            }
        }
    }

    fn order(&mut self) {
        let place = |b: usize| {
            let (batch, state) = (&self.campaign.batches[b], &self.batches[b]);
            let first = state.unsent.first();
            let created = first.map(|own| self.store.jobs[own.2 as usize].created);
            let end = match batch.quality {
                Quality::Afap => batch.submitted,
                // The remaining capacity is used for streams that never end.
                _ if batch.is_endless() => f64::INFINITY,
                _ => batch.due(created.unwrap_or(self.now)),
            };
            let place = Place {
                end,
                retries: first.map_or(0, |(retries, ..)| retries.0),
                id: first.map_or(u64::MAX, |(_, id, _)| *id),
            };
            (!state.prior, place)
        };
        let mut keyed: Vec<_> = self.active.iter().map(|b| (place(*b), *b)).collect();
        keyed.sort_by(|(a, _), (b, _)| a.0.cmp(&b.0).then_with(|| feed(&a.1, &b.1)));
        self.active = keyed.into_iter().map(|(_, b)| b).collect();
    }

    fn versions(&self, h: usize) -> Vec<UsableVersion> {
        let applications = 0..self.campaign.record.applications.len();
        let of = |application: usize| {
            Processor::ALL.into_iter().filter_map(move |processor| {
                let version = self.standings.applications[application].current[processor as usize]?;
                (self.hosts[h].pools[processor as usize].count > 0).then(|| UsableVersion {
                    application: application as u32,
                    version: version as u32,
                    processor,
                    speed: self.speed(h, version),
                    percentile: self.standings.percentile(h, version),
                    ceiling: self.standings.applications[application].ceiling,
                })
            })
        };
        applications.flat_map(of).collect()
    }

    fn candidate(&mut self, h: usize, b: usize) -> Option<(u64, u32)> {
        let jobs = &self.store.jobs;
        let mut waiting = self.batches[b].unsent.iter();
        let mut next = waiting.find(|(_, _, job)| !jobs[*job as usize].hosts.contains(&(h as u32)));
        if next.is_none() && self.campaign.batches[b].is_endless() {
            self.create(b);
            // The new job has the largest number and no retries, so it is the last one.
            next = self.batches[b].unsent.last();
        }
        next.map(|(_, id, job)| (*id, *job))
    }

    /// Returns `true` if the host cannot report a job before the deadline even if it starts at
    /// once.
    fn is_always_late(&self, h: usize, batch: &Batch, versions: &[UsableVersion]) -> bool {
        let host = &self.hosts[h];
        let own = versions.iter();
        let own = own.filter(|own| own.application as usize == batch.application);
        let speeds = own.map(|own| own.speed / host.availability);
        let speed = speeds.fold(0.0, f64::max);
        let least = batch.size.mean() / speed + self.groups[host.group].least_delay;
        matches!(batch.quality, Quality::Short | Quality::Long)
            && least > batch.limit * (1.0 + 1e-9)
    }

    fn send_of_batch(
        &mut self,
        h: usize,
        b: usize,
        versions: &[UsableVersion],
        decider: &mut Decider<'_>,
        is_first: bool,
    ) {
        let batch = &self.campaign.batches[b];
        // A hundredth of the jobs has little influence on the estimate.
        if self.batches[b].news > batch.jobs.unwrap_or(0) / 100 {
            self.estimate(b);
        }
        if self.batches[b].prior && !self.fast[h] {
            return;
        }
        let application = batch.application as u32;
        let size = batch.size.mean();
        let is_any_host = !matches!(self.rule, Rule::Dispatch(_));
        if !is_any_host && self.is_always_late(h, batch, versions) {
            return;
        }
        loop {
            // The jobs of these streams are created on demand, so we check the capacity first.
            let has_room = |own: &UsableVersion| {
                let host = &decider.processors[own.processor as usize];
                own.application == application && host.wants_work()
            };
            if is_any_host && !versions.iter().any(has_room) {
                return;
            }
            let Some((id, job)) = self.candidate(h, b) else {
                return;
            };
            let state = &self.batches[b];
            let end = match self.rule {
                Rule::Dispatch(rule) => state.bound(batch, self.now, rule.reserve),
                Rule::Fixed(bound) | Rule::Tail(bound) => {
                    let is_afap = batch.quality == Quality::Afap;
                    Some(self.now + if is_afap { bound } else { batch.limit })
                }
            };
            let candidate = Candidate {
                id,
                application,
                size,
                end,
                waiting: state.waiting(self.now),
                had: false,
            };
            let verdict = decider.consider(&candidate, versions, is_first);
            if !self.send(h, job, verdict) {
                return;
            }
        }
    }

    fn send(&mut self, h: usize, job: u32, verdict: Verdict) -> bool {
        let Verdict::Sent {
            version,
            deadline,
            tight,
            why,
        } = verdict
        else {
            return false;
        };
        let own = &self.store.jobs[job as usize];
        let (b, size) = (own.batch, own.size);
        let is_untouched = own.total == own.unsent;
        let processor = self.campaign.versions[version as usize].processor;
        let speed = self.speed(h, version as usize);
        let host = &mut self.hosts[h];
        let run = size / (speed / host.availability);
        let group = &self.groups[host.group];
        let delay = group.least_delay;
        let instance = Instance {
            job,
            host: h as u32,
            version: version as u16,
            right: host.results.uniform() >= group.error,
            lost: host.results.uniform() < group.vanish,
            late: false,
            gone: false,
            sent: self.now,
        };
        let instance = self.change(job, |store| store.send(instance));
        // An instance that is just in time must not be given up.
        let used = self.store.uses[instance as usize];
        self.at(deadline * (1.0 + 1e-9), Event::Deadline(instance, used));
        let state = &mut self.batches[b];
        if !self.campaign.batches[b].is_stream() {
            state.outstanding.insert(instance);
        }
        state.first_sent = state.first_sent.or(Some(self.now));
        if is_untouched {
            state.last_first = self.now;
            state.untouched -= 1;
        }
        state.restart_wait(self.now);
        state.result.sent += 1;
        state.result.tight += u64::from(tight);
        self.measures.events += 1;
        self.hosts[h].pools[processor as usize].push(Task {
            instance,
            left: run,
            // The client needs some time for the report.
            deadline: deadline - delay,
            tight,
            first: why == DispatchReason::First,
            order: 0,
            runs: false,
        });
        true
    }
}
