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
        while let Some(head) = system.oldest_type() {
            if !system.fits(head) {
                return;
            }
            system.start(head);
        }
    }
}
