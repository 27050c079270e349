use super::estimates::{Estimated, Estimates, covers, reduce};
use super::{Event, Policy, System};
use crate::multiresource::workload::Workload;

/// EASY backfilling: first come, first served, until the head of the queue does not fit. Its
/// *shadow time* is the earliest estimated completion at which it will fit, in every resource.
/// Then, in order of arrival, each fitting job starts that ends by the shadow time or takes only
/// what the head will leave over there, of every resource.
///
/// Source: Lifka, "The ANL/IBM SP scheduling system", JSSPP 1995; as Mu'alem and Feitelson state it,
/// IEEE TPDS 12(6), 2001, section 2, for one resource. With several, what is left over is counted
/// for each: ours. Jobs that are estimated to end at the shadow time itself count as gone. Sizes
/// are known exactly, or inflated, or limited as the workload says ([`Estimates`]); no job is
/// killed, for no estimate is too short.
///
/// An arrival behind a blocked head is O(R + log n). A completion finds the shadow time in
/// O(R · running), and each start costs O(K log n): no queue is scanned.
#[derive(Clone, Debug)]
pub struct EasyBackfill {
    jobs: Estimated,
    /// The shadow time, while the head is blocked.
    shadow: Option<f64>,
    /// What the head leaves over at the shadow time, of each resource.
    extra: Vec<u64>,
}

impl EasyBackfill {
    /// The rule for this workload, with what is known of jobs. One that runs over its estimate may end at any moment.
    pub fn new(workload: &Workload, estimates: Estimates) -> Self {
        EasyBackfill {
            jobs: Estimated::new(estimates, workload.types().len()),
            shadow: None,
            extra: vec![0; workload.resources().len()],
        }
    }

    /// The youngest job of type i has just come.
    fn arrival(&mut self, i: usize, system: &mut System) {
        let estimate = self.jobs.arrived(i, system);
        match self.shadow {
            None => self.go_on(system),
            // An arrival changes neither the room nor the shadow time: no other job has come to fit.
            Some(shadow) => {
                if system.fits(i) && estimate <= self.limit(i, shadow, system) {
                    self.backfill(i, system, shadow);
                }
            }
        }
    }

    /// First come, first served, then backfilling behind the head.
    fn go_on(&mut self, system: &mut System) {
        self.shadow = None;
        while let Some(head) = system.oldest_type() {
            if !system.fits(head) {
                let shadow = self.look_ahead(head, system);
                self.shadow = Some(shadow);
                while let Some(i) = self.next_to_backfill(shadow, system) {
                    self.backfill(i, system, shadow);
                }
                return;
            }
            self.jobs.start(head, f64::MAX, system);
        }
    }

    /// The shadow time of a head of type i; and what it leaves over then.
    fn look_ahead(&mut self, i: usize, system: &System) -> f64 {
        let shadow = self.jobs.room_for(i, &mut self.extra, system);
        for (extra, d) in self.extra.iter_mut().zip(system.demand(i)) {
            // Less only where others use the room that the head will need.
            *extra = extra.saturating_sub(*d);
        }
        shadow
    }

    /// How long a job of type i may take.
    fn limit(&self, i: usize, shadow: f64, system: &System) -> f64 {
        if covers(&self.extra, system.demand(i)) {
            f64::MAX
        } else {
            shadow - system.now()
        }
    }

    /// The type of the oldest job that may pass the head.
    fn next_to_backfill(&self, shadow: f64, system: &System) -> Option<usize> {
        let fitting = system.queued().filter(|&i| system.fits(i));
        let oldest = |i: usize| self.jobs.oldest_within(i, self.limit(i, shadow, system));
        let jobs = fitting.filter_map(|i| Some((oldest(i)?, i)));
        jobs.min().map(|(_, i)| i)
    }

    /// Starts the oldest job of type i that may pass the head.
    fn backfill(&mut self, i: usize, system: &mut System, shadow: f64) {
        let limit = self.limit(i, shadow, system);
        let estimate = self.jobs.start(i, limit, system);
        if estimate > shadow - system.now() {
            reduce(&mut self.extra, system.demand(i));
        }
    }
}

impl Policy for EasyBackfill {
    fn needs_sizes(&self) -> bool {
        self.jobs.estimates.need_sizes()
    }

    fn needs_limits(&self) -> bool {
        self.jobs.estimates.need_limits()
    }

    fn react(&mut self, event: Event, system: &mut System) {
        match event {
            Event::Arrival(i) => self.arrival(i, system),
            Event::Completion(_) => {
                self.jobs.ended(system);
                self.go_on(system);
            }
            Event::Clock(_) => {}
        }
    }

    fn decides_on_state(&self) -> bool {
        true
    }

    fn note(&mut self, event: Event, system: &mut System) {
        match event {
            Event::Arrival(i) => {
                self.jobs.arrived(i, system);
            }
            Event::Completion(_) => self.jobs.ended(system),
            Event::Clock(_) => {}
        }
    }

    fn decide(&mut self, system: &mut System) {
        self.go_on(system);
    }

    fn take_over(&mut self, system: &mut System) {
        self.jobs.take_over(system);
        self.go_on(system);
    }

    fn changed(&mut self, system: &mut System) {
        self.jobs.look_anew(system);
        self.go_on(system);
    }
}
