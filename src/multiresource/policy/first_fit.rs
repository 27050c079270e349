use super::{Event, Policy, System};

/// First come, first served: starts the oldest waiting job while it fits, and stops at the
/// first that does not.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fcfs;

impl Policy for Fcfs {
    fn decides_on_state(&self) -> bool {
        true
    }

    fn react(&mut self, _event: Event, system: &mut System) {
        while let Some(head) = system.oldest_type()
            && system.fits(head)
        {
            system.start(head);
        }
    }
}

/// First-Fit (backfilling): scans the queue in arrival order and starts each job that fits.
///
/// Jobs of a type are alike, so the scan is over the oldest job of each type.
#[derive(Clone, Copy, Debug, Default)]
pub struct FirstFit;

impl Policy for FirstFit {
    fn decides_on_state(&self) -> bool {
        true
    }

    fn react(&mut self, event: Event, system: &mut System) {
        match event {
            // An arrival frees no room: no other job has come to fit.
            Event::Arrival(i) if system.waiting(i) > 1 || !system.fits(i) => {}
            Event::Arrival(i) => system.start(i),
            _ => {
                while let Some(i) = system.oldest_fitting_type() {
                    system.start(i);
                }
            }
        }
    }
}
