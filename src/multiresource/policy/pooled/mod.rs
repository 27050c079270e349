mod kept;

use super::greedy::oldest;
use super::{ByNeed, Event, Policy, System};
use crate::multiresource::artifact::{Order, PooledPolicy};
use crate::multiresource::workload::Fleet;
use kept::Kept;

/// A rule over all servers of a fleet, whose jobs wait in one place: which job starts next, on which of the servers
/// with room for it; and room that is kept for shorter jobs.
///
/// A job may start on a server unless that leaves too little room for a shorter type j: after it at least
/// `ζ (1 − E[S_j]/E[S_i]) λ_j E[S_j]` jobs of type j have to fit on all servers beside the jobs that are longer
/// than they. It is trunk reservation by time scale: what starts now is in the way of what comes meanwhile. So jobs
/// that stay do not break up the servers that short large jobs need whole.
///
/// In a *zone*, the first servers of each shape, only some types start, as a rule those that need servers whole, or
/// several at once; they come first there, and elsewhere where it is full.
///
/// O(K) a decision without room that is kept, O(K²) with; nothing depends on the number of servers but the
/// logarithm that finds them. Ours; it has no proof of stability.
#[derive(Clone, Debug)]
pub struct Pooled {
    policy: PooledPolicy,
    /// Types in the order in which they are offered free room; those of a class by age.
    classes: Vec<Vec<usize>>,
    kept: Option<Kept>,
    /// By type: no server will have its next job now.
    refused: Vec<bool>,
    /// Where the next job starts.
    team: Vec<usize>,
}

impl Pooled {
    /// The rule for this fleet.
    pub fn new(policy: &PooledPolicy, fleet: &Fleet) -> Self {
        let (workload, types) = (fleet.envelope(), fleet.types().len());
        Pooled {
            policy: policy.clone(),
            classes: match policy.order {
                Order::Fcfs | Order::Oldest => vec![(0..types).collect()],
                Order::Largest => ByNeed::largest_first(workload).classes,
                Order::Smallest => ByNeed::smallest_first(workload).classes,
            },
            kept: (policy.reserve > 0.0).then(|| Kept::new(policy.reserve, fleet)),
            refused: vec![false; types],
            team: Vec::new(),
        }
    }

    /// Starts the next job of type i, if some servers will have it: whether they do.
    fn start(&mut self, i: usize, system: &mut System) -> bool {
        let found = match &mut self.kept {
            Some(kept) => kept.team(i, system.fleet(), &mut self.team),
            None => system.find_team(i, &mut self.team),
        };
        if found {
            system.start_on(i, &self.team);
            if let Some(kept) = &mut self.kept {
                self.team
                    .iter()
                    .for_each(|n| kept.look(i, *n, system.fleet()));
            }
        }
        found
    }

    fn start_all(&mut self, system: &mut System) {
        if self.policy.order == Order::Fcfs {
            while let Some(i) = system.oldest_type()
                && self.start(i, system)
            {}
            return;
        }
        if self.kept.is_none() && self.policy.order == Order::Oldest {
            while let Some(i) = system.oldest_fitting_type() {
                self.start(i, system);
            }
            return;
        }
        self.refused.fill(false);
        for n in 0..self.classes.len() {
            while let Some(i) = oldest(
                &self.classes[n],
                |i| !self.refused[i] && system.fits(i),
                system,
            ) {
                // One that is refused has no room made by those that start after it.
                self.refused[i] = !self.start(i, system);
            }
        }
    }
}

impl Policy for Pooled {
    fn begin(&mut self, system: &mut System) {
        system.place_by(self.policy.placement);
        if self.policy.zone.is_some() {
            system.keep_zone(self.policy.zone.as_ref());
        }
        if let Some(kept) = &mut self.kept {
            kept.begin(system.fleet());
        }
    }

    fn react(&mut self, event: Event, system: &mut System) {
        self.note(event, system);
        match event {
            // An arrival frees no room: no other job has come to fit.
            Event::Arrival(i) => {
                let is_first = self.policy.order != Order::Fcfs || system.oldest_type() == Some(i);
                if is_first && system.waiting(i) == 1 && system.fits(i) {
                    self.start(i, system);
                }
            }
            Event::Completion(_) | Event::Clock(_) => self.start_all(system),
        }
    }

    fn decides_on_state(&self) -> bool {
        true
    }

    fn note(&mut self, event: Event, system: &mut System) {
        if let (Event::Completion(i), Some(kept)) = (event, &mut self.kept) {
            let hosts = system.fleet();
            hosts.freed().iter().for_each(|n| kept.look(i, *n, hosts));
        }
    }

    fn take_over(&mut self, system: &mut System) {
        self.begin(system);
        self.start_all(system);
    }

    fn let_go(&mut self, system: &mut System) {
        if self.policy.zone.is_some() {
            system.keep_zone(None);
        }
    }
}
