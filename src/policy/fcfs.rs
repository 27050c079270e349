use super::{Event, Policy, System};

/// First come, first served: starts the oldest waiting job while it fits, and stops at the
/// first that does not.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fcfs;

impl Policy for Fcfs {
    fn react(&mut self, _event: Event, system: &mut System) {
        while let Some(head) = oldest(system) {
            if !system.fits(head) {
                return;
            }
            system.start(head);
        }
    }
}

/// The type of the oldest waiting job of all.
fn oldest(system: &System) -> Option<usize> {
    let heads = system.queued().filter_map(|i| system.oldest(i).map(|job| (job.number, i)));
    heads.min().map(|(_, i)| i)
}
