//! When jobs end whose sizes are drawn as they arrive.

use std::collections::{BTreeMap, BTreeSet};

use super::random::Stream;
use super::sizes::Sampler;
use crate::policy::{Action, System};
use crate::workload::Workload;

/// Who knows when the jobs that are served end. No policy sees it.
pub(super) trait Ends {
    /// Whether nobody does: then completions are drawn from their rates.
    const UNKNOWN: bool;

    /// A job of type i has arrived, and gets its size.
    fn arrive(&mut self, i: usize, number: u64, sizes: &mut Stream);

    /// The time of the next end, and its type; infinity when there is none.
    fn next(&self) -> (f64, usize);

    /// The number of the job of type i that ends next; it is forgotten.
    fn take(&mut self, i: usize) -> Option<u64>;

    /// Carries out what the policy has decided.
    fn follow(&mut self, system: &mut System);
}

/// Nobody: sizes are exponential, and what is left of a job has the law of a whole one.
pub(super) struct Memoryless;

impl Ends for Memoryless {
    const UNKNOWN: bool = true;

    fn arrive(&mut self, _: usize, _: u64, _: &mut Stream) {}

    fn next(&self) -> (f64, usize) {
        (f64::INFINITY, 0)
    }

    fn take(&mut self, _: usize) -> Option<u64> {
        None
    }

    fn follow(&mut self, _: &mut System) {}
}

/// The ends of jobs with sizes of any law.
///
/// The jobs of one type that are served are served at one speed. So with V the work that each
/// of them has been given so far, a job with work x left that enters service at V ends when
/// the type has come to V + x, whatever the speed until then; and what it has left when it is
/// stopped is the difference to that. Kept are the jobs in the system and nothing else.
pub(super) struct Calendar {
    lanes: Vec<Lane>,
}

/// The jobs of one type.
struct Lane {
    law: Sampler,
    /// Work left \[time\] of the jobs that are not served, by number.
    waiting: BTreeMap<u64, f64>,
    /// V at the end of the jobs that are served, by number.
    serving: BTreeMap<u64, f64>,
    /// The same in order: V as bits, which order doubles ≥ 0, and number.
    order: BTreeSet<(u64, u64)>,
    /// V, the work given to each job served \[time\], at time `since`.
    given: f64,
    since: f64,
    /// dV/dt, ≥ 0: 1 where jobs run.
    speed: f64,
    /// Time of the next end; infinity when nobody is served.
    next: f64,
    /// Whether the waiting jobs share fractional service.
    shared: bool,
}

impl Calendar {
    pub fn new(workload: &Workload) -> Self {
        let lane = |t: &crate::workload::JobType| Lane {
            law: Sampler::new(t.size()),
            waiting: BTreeMap::new(),
            serving: BTreeMap::new(),
            order: BTreeSet::new(),
            given: 0.0,
            since: 0.0,
            speed: 1.0,
            next: f64::INFINITY,
            shared: false,
        };
        Calendar {
            lanes: workload.types().iter().map(lane).collect(),
        }
    }
}

impl Ends for Calendar {
    const UNKNOWN: bool = false;

    fn arrive(&mut self, i: usize, number: u64, sizes: &mut Stream) {
        let lane = &mut self.lanes[i];
        let size = lane.law.draw(sizes);
        lane.waiting.insert(number, size);
    }

    fn next(&self) -> (f64, usize) {
        let mut next = (f64::INFINITY, 0);
        for (i, lane) in self.lanes.iter().enumerate() {
            if lane.next < next.0 {
                next = (lane.next, i);
            }
        }
        next
    }

    fn take(&mut self, i: usize) -> Option<u64> {
        let lane = &mut self.lanes[i];
        let (_, number) = lane.order.pop_first()?;
        lane.serving.remove(&number);
        lane.look_ahead();
        Some(number)
    }

    fn follow(&mut self, system: &mut System) {
        let now = system.now();
        for (i, lane) in self.lanes.iter_mut().enumerate() {
            let shared = system.running(i) == 0 && system.speed(i) > 0.0;
            if lane.shared && !shared {
                lane.stop_all(now);
            }
            lane.shared = shared;
        }
        for action in system.actions() {
            match *action {
                Action::Start(i, job) => self.lanes[i].start(job.number, now),
                Action::Stop(i, job) => self.lanes[i].stop(job.number, now),
            }
        }
        for (i, lane) in self.lanes.iter_mut().enumerate() {
            if lane.shared {
                lane.start_all(now);
            }
            let served = system.served(i);
            if served > 0 {
                lane.set_speed(system.speed(i) / served as f64, now);
            }
            system.expect_served(i, lane.serving.len());
        }
    }
}

impl Lane {
    fn look_ahead(&mut self) {
        self.next = match self.order.first() {
            Some((end, _)) => self.since + (f64::from_bits(*end) - self.given) / self.speed,
            None => f64::INFINITY,
        };
    }

    fn given(&self, now: f64) -> f64 {
        self.given + (now - self.since) * self.speed
    }

    fn set_speed(&mut self, speed: f64, now: f64) {
        if speed != self.speed {
            self.given = self.given(now);
            (self.since, self.speed) = (now, speed);
            self.look_ahead();
        }
    }

    fn start(&mut self, number: u64, now: f64) {
        if let Some(left) = self.waiting.remove(&number) {
            let end = self.given(now) + left;
            self.serving.insert(number, end);
            self.order.insert((end.to_bits(), number));
            self.look_ahead();
        }
    }

    /// Rounding must not leave a job with less than no work.
    fn stop(&mut self, number: u64, now: f64) {
        if let Some(end) = self.serving.remove(&number) {
            self.order.remove(&(end.to_bits(), number));
            let left = (end - self.given(now)).max(0.0);
            self.waiting.insert(number, left);
            self.look_ahead();
        }
    }

    fn start_all(&mut self, now: f64) {
        while let Some((number, _)) = self.waiting.first_key_value() {
            self.start(*number, now);
        }
    }

    fn stop_all(&mut self, now: f64) {
        while let Some((number, _)) = self.serving.first_key_value() {
            self.stop(*number, now);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// Four slots, and jobs of sizes that are set below.
    fn system() -> (System, Calendar) {
        let text = "kind: multiresource\ntime_unit: s\nserver: {capacity: {cpu: 4}}\njobs:\n  \
            - {name: a, demand: {cpu: 1}, arrival_rate: 1, mean_size: 1}\n";
        let workload = Workload::parse(text, "t").unwrap().workload;
        (System::new(&workload, 0, true), Calendar::new(&workload))
    }

    fn arrive(system: &mut System, calendar: &mut Calendar, size: f64, now: f64) {
        let job = system.arrive(0, now);
        calendar.lanes[0].waiting.insert(job.number, size);
    }

    fn follow(system: &mut System, calendar: &mut Calendar) -> f64 {
        calendar.follow(system);
        system.clear_actions();
        assert_eq!(system.violation(), None);
        calendar.next().0
    }

    #[test]
    fn a_job_keeps_its_remaining_size_while_it_is_stopped() {
        let (mut system, mut calendar) = system();
        arrive(&mut system, &mut calendar, 4.0, 1.0);
        arrive(&mut system, &mut calendar, 9.0, 1.0);
        assert_eq!(follow(&mut system, &mut calendar), f64::INFINITY);
        system.start(0);
        assert_eq!(follow(&mut system, &mut calendar), 5.0);
        // Served from 1 to 3, and from 10 on: 2 of 4 are left.
        system.advance(3.0);
        system.stop(0);
        assert_eq!(follow(&mut system, &mut calendar), f64::INFINITY);
        system.advance(10.0);
        system.start(0);
        system.start(0);
        assert_eq!(follow(&mut system, &mut calendar), 12.0);
        // Stopped and started again in one decision: nothing changes.
        system.advance(11.0);
        system.stop(0);
        system.start(0);
        assert_eq!(follow(&mut system, &mut calendar), 12.0);
        assert_eq!(calendar.take(0), Some(0));
        system.complete_job(0, 0, 12.0).unwrap();
        assert_eq!(follow(&mut system, &mut calendar), 19.0);
    }

    #[test]
    fn work_at_varying_speed_adds_up() {
        let (mut system, mut calendar) = system();
        system.share(0, 1.0);
        assert_eq!(follow(&mut system, &mut calendar), f64::INFINITY);
        arrive(&mut system, &mut calendar, 2.0, 1.0);
        assert_eq!(follow(&mut system, &mut calendar), 3.0);
        // One of 2 is left; from here on two share one server.
        arrive(&mut system, &mut calendar, 2.0, 2.0);
        assert_eq!(follow(&mut system, &mut calendar), 4.0);
        system.advance(3.0);
        system.share(0, 0.0);
        assert_eq!(follow(&mut system, &mut calendar), f64::INFINITY);
        system.advance(7.0);
        system.share(0, 2.0);
        assert_eq!(follow(&mut system, &mut calendar), 7.5);
        // From sharing to running: the first has .25 left, and runs alone.
        system.advance(7.25);
        system.start(0);
        assert_eq!(follow(&mut system, &mut calendar), 7.5);
        assert_eq!(calendar.take(0), Some(0));
        system.complete_job(0, 0, 7.5).unwrap();
        system.share(0, 0.5);
        // 2 − .5 − .25 left at 7.5, at half speed.
        assert_eq!(follow(&mut system, &mut calendar), 10.0);
        assert_eq!(calendar.take(0), Some(1));
        assert_eq!(
            system.complete_job(0, 1, 10.0).map(|job| job.number),
            Some(1)
        );
        assert_eq!(follow(&mut system, &mut calendar), f64::INFINITY);
    }

    #[test]
    fn a_job_served_without_an_end_is_noticed() {
        let (mut system, mut calendar) = system();
        system.arrive(0, 1.0);
        system.start(0);
        calendar.follow(&mut system);
        let violation = system.violation().unwrap().to_string();
        assert!(
            violation.contains("1 jobs of type 0 are served"),
            "{violation}"
        );
    }
}
