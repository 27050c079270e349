use std::collections::BTreeMap;

use super::contender::Contender;
use super::laws;
use super::measures::classes_of_fleet;
use super::server::PendingEvent;
use super::stepping::SteppedRun;
use crate::policy::{Action, Event, System};
use crate::workload::Fleet;
use synth_simulation::{
    Arrival, ArrivalBuffer, JobClass, Stint, Streams, Stretch, total_arrival_rate,
};

/// The number of arrivals before a stretch can begin, because the system is empty at the start, and
/// the number of arrivals in which it is selected.
const WARM_UP: f64 = 1000.0;
const WITHIN: f64 = 12_000.0;
/// The minimum and the maximum number of arrivals in a stretch, and its length within these limits
/// as a multiple of the mean size of the largest type.
const LENGTH: [f64; 2] = [50.0, 600.0];
const RUNS: f64 = 2.0;

/// Records what a policy does in a stretch of a run from an empty system. The stretch only depends
/// on the fleet and the seed: it ends at the time with the largest backlog if every job has the
/// mean size of its type and the servers are always fully used. `None` if the policy cannot run
/// here.
pub fn recorded(policy: &Contender, fleet: &Fleet, seed: u64) -> Option<Stretch> {
    let rule = policy.build_policy(fleet).ok()?;
    let classes = classes_of_fleet(fleet);
    let parts = Parts::of(fleet, &classes);
    let [from, to] = busiest(&classes, &parts, fleet, seed);
    let mut run = SteppedRun::under(rule, fleet, seed, 0);
    let mut recording = Recording {
        stretch: Stretch {
            from,
            to,
            resource: parts.resource.clone(),
            classes: classes.iter().map(|class| class.name.clone()).collect(),
            ..Stretch::default()
        },
        running: BTreeMap::new(),
    };
    loop {
        let arrival = run.coming.peek();
        let (now, due) = run.server.next_event(arrival.time);
        if now >= to {
            break;
        }
        let server = &mut run.server;
        match due {
            None => run.arrive(arrival),
            Some(PendingEvent::End) => match server.end(now.max(server.system.now())) {
                Some(left) => {
                    recording.stop(left.job.slot, server.system.now());
                    server.react(Event::Completion(left.job_type));
                }
                None => server.system.advance(now.max(server.system.now())),
            },
            Some(due) => drop(server.happen(now, due, &mut run.service)),
        }
        let system = &run.server.system;
        recording.follow(system, &parts);
        if system.violation().is_some() {
            return None;
        }
    }
    for slot in Vec::from_iter(recording.running.keys().copied()) {
        recording.stop(slot, to);
    }
    let mut stretch = recording.stretch;
    stretch.stints.sort_by(|a, b| a.start.total_cmp(&b.start));
    Some(stretch)
}

struct Recording {
    stretch: Stretch,
    running: BTreeMap<u32, Stint>,
}

impl Recording {
    fn follow(&mut self, system: &System, parts: &Parts) {
        let now = system.now();
        for action in system.actions() {
            match *action {
                Action::Stop(_, job) => self.stop(job.slot, now),
                Action::Start(i, job) => {
                    let stint = Stint {
                        class: i as u32,
                        part: parts.of_types[i],
                        start: now,
                        end: f64::INFINITY,
                    };
                    self.running.insert(job.slot, stint);
                }
            }
        }
        let types = 0..system.types();
        let waiting = types.map(|i| f64::from(system.waiting(i))).sum();
        let changes = &mut self.stretch.waiting;
        if now < self.stretch.from {
            *changes = vec![(self.stretch.from, waiting)];
        } else if changes.last().is_none_or(|(_, last)| *last != waiting) {
            changes.push((now, waiting));
        }
    }

    fn stop(&mut self, slot: u32, end: f64) {
        let ended = self.running.remove(&slot).map(|own| Stint { end, ..own });
        let seen = ended.filter(|own| self.stretch.overlaps(own.start, own.end));
        self.stretch.stints.extend(seen);
    }
}

/// The share of the most used resource that is needed by a job of each type.
struct Parts {
    resource: (String, f64),
    of_types: Vec<f64>,
}

impl Parts {
    fn of(fleet: &Fleet, classes: &[JobClass]) -> Self {
        let used = |j: usize| -> f64 {
            let each = classes
                .iter()
                .map(|own| own.offered_load() * own.demands[j]);
            each.sum()
        };
        let resources = fleet.envelope().resources();
        let most = (0..resources.len()).max_by(|a, b| used(*a).total_cmp(&used(*b)));
        let most = most.unwrap_or(0);
        Parts {
            resource: (resources[most].name().to_owned(), fleet.capacity()[most]),
            of_types: classes.iter().map(|class| class.demands[most]).collect(),
        }
    }
}

fn busiest(classes: &[JobClass], parts: &Parts, fleet: &Fleet, seed: u64) -> [f64; 2] {
    let rate = total_arrival_rate(classes);
    let pairs = parts.of_types.iter().zip(classes);
    let largest = pairs.max_by(|a, b| a.0.total_cmp(b.0));
    let run = largest.map_or(0.0, |(_, class)| class.mean_size);
    let length = (RUNS * run).clamp(LENGTH[0] / rate, LENGTH[1] / rate);
    let stream = Streams::new(seed, 0).arrivals;
    let mut coming = ArrivalBuffer::new(laws::arrivals(fleet.envelope(), stream));
    let (mut work, mut now) = (0.0, 0.0);
    let first = WARM_UP / rate + length;
    let mut most = (f64::NEG_INFINITY, first);
    while now < WITHIN / rate {
        let Arrival { time, class } = coming.peek();
        let i = class as usize;
        work = f64::max(work - (time - now), 0.0) + parts.of_types[i] * classes[i].mean_size;
        now = time;
        if now >= first && work > most.0 {
            most = (work, now);
        }
        coming.pass();
    }
    [most.1 - length, most.1]
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn recorded_jobs_fit_together() {
        let text = "kind: multiresource\ntime_unit: s\nserver: {capacity: {cpu: 4}}\njobs:
  - {name: small, demand: {cpu: 1}, arrival_rate: 1, mean_size: 1}
  - {name: large, demand: {cpu: 4}, arrival_rate: .4, mean_size: 1}\n";
        let fleet = Fleet::parse(text, "t").unwrap().workload;
        let of = |name| recorded(&Contender::parse(name).unwrap(), &fleet, 1).unwrap();
        let (first, other) = (of("first-fit"), of("max-weight"));
        assert_eq!([first.from, first.to], [other.from, other.to]);
        for own in [&first, &other] {
            assert!(
                own.most_waiting() > 0.0 && own.stints.len() >= 30,
                "{own:?}"
            );
            for at in own.stints.iter().map(|own| own.start) {
                let runs = own
                    .stints
                    .iter()
                    .filter(|own| own.start <= at && at < own.end);
                assert!(runs.map(|own| own.part).sum::<f64>() <= 1.0, "{at}");
            }
            assert!((0.0..1.0).contains(&own.idle_while_waiting()));
        }
        assert_eq!(first, of("first-fit"));
        assert_ne!(first.stints, other.stints);
    }
}
