//! Several events at one instant, and one decision: what jobs that were recorded need.

use super::super::ends::Ends;
use super::Server;
use crate::multiresource::policy::{Completed, Event, Policy};

impl<P: Policy, E: Ends> Server<P, E> {
    /// The job of known size that is due ends at time `now`, and the rule is not told yet.
    #[inline(always)]
    pub fn end(&mut self, now: f64) -> Option<Completed> {
        let slot = self.ends.take()?;
        Some(self.system.complete_slot(slot, now))
    }

    /// The rule is told of an event at an instant at which more happens.
    pub fn note(&mut self, event: Event) {
        self.policy.note(event, &mut self.system);
    }

    /// The rule decides on all that it was told of.
    pub fn decide(&mut self) {
        self.system.clear_actions();
        self.policy.decide(&mut self.system);
        self.ends.follow(&mut self.system);
    }
}
