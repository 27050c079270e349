mod kept;

use super::by_need::descending;
use super::{Event, Hosts, Policy, System};
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
    /// By type: who goes first, but for age.
    rank: Vec<u32>,
    kept: Option<Kept>,
    /// By type: no server will have its next job now.
    refused: Vec<bool>,
    /// Where the next job starts.
    team: Vec<usize>,
}

impl Pooled {
    /// The rule for this fleet.
    pub fn new(policy: &PooledPolicy, fleet: &Fleet) -> Self {
        let workload = fleet.envelope();
        Pooled {
            policy: policy.clone(),
            rank: rank(
                policy.order,
                &workload.dominant_shares(),
                &descending(workload),
            ),
            kept: (policy.reserve > 0.0).then(|| Kept::new(policy.reserve, fleet)),
            refused: vec![false; workload.types().len()],
            team: Vec::new(),
        }
    }

    /// Finds where the next job of type i starts, if some servers will have it.
    fn find(&mut self, i: usize, hosts: &Hosts) -> bool {
        match &mut self.kept {
            Some(kept) => kept.team(i, hosts, &mut self.team),
            None => hosts.team(i, |_| true, &mut self.team),
        }
    }

    /// Starts the next job of type i, if some server will have it: whether one does.
    fn start(&mut self, i: usize, system: &mut System) -> bool {
        let found = system.hosts().is_some_and(|hosts| self.find(i, hosts));
        if found {
            system.start_on(i, &self.team);
            if let (Some(kept), Some(hosts)) = (&mut self.kept, system.hosts()) {
                self.team.iter().for_each(|n| kept.look(i, *n, hosts));
            }
        }
        found
    }

    /// A job of type i has ended, and has freed servers.
    fn look_at_freed(&mut self, i: usize, system: &System) {
        if let (Some(kept), Some(hosts)) = (&mut self.kept, system.hosts()) {
            hosts.freed().iter().for_each(|n| kept.look(i, *n, hosts));
        }
    }

    /// The type whose turn it is, of those that were not refused.
    fn next(&self, system: &System) -> Option<usize> {
        let waiting = system.queued().filter(|i| !self.refused[*i]);
        match self.policy.order {
            Order::Fcfs => system.oldest_type().filter(|i| !self.refused[*i]),
            _ => waiting
                .filter(|i| system.fits(*i))
                .min_by_key(|i| (self.rank[*i], system.nth_number(*i, 0))),
        }
    }

    fn start_all(&mut self, system: &mut System) {
        if self.kept.is_none() && self.policy.order == Order::Oldest {
            while let Some(i) = system.oldest_fitting_type() {
                self.start(i, system);
            }
            return;
        }
        self.refused.fill(false);
        while let Some(i) = self.next(system) {
            // One that is refused has no room made by those that start after it.
            self.refused[i] = !self.start(i, system);
        }
    }
}

/// By type (K): the less, the earlier.
fn rank(order: Order, shares: &[f64], descending: &[usize]) -> Vec<u32> {
    let classes = descending.chunk_by(|a, b| shares[*a] == shares[*b]);
    let mut rank = vec![0; shares.len()];
    for (place, class) in classes.enumerate() {
        for &i in class {
            rank[i] = match order {
                Order::Fcfs | Order::Oldest => 0,
                Order::Largest => place as u32,
                Order::Smallest => (shares.len() - place) as u32,
            };
        }
    }
    rank
}

impl Policy for Pooled {
    fn begin(&mut self, system: &mut System) {
        system.place_by(self.policy.placement);
        if self.policy.zone.is_some() {
            system.keep_zone(self.policy.zone.as_ref());
        }
        if let (Some(kept), Some(hosts)) = (&mut self.kept, system.hosts()) {
            kept.begin(hosts);
        }
    }

    fn react(&mut self, event: Event, system: &mut System) {
        match event {
            // An arrival frees no room: no other job has come to fit.
            Event::Arrival(i) => {
                let first = match self.policy.order {
                    Order::Fcfs => system.oldest_type() == Some(i),
                    _ => true,
                };
                if first && system.waiting(i) == 1 && system.fits(i) {
                    self.start(i, system);
                }
            }
            Event::Completion(i) => {
                self.look_at_freed(i, system);
                self.start_all(system);
            }
            Event::Clock(_) => self.start_all(system),
        }
    }

    fn decides_on_state(&self) -> bool {
        true
    }

    fn note(&mut self, event: Event, system: &mut System) {
        if let Event::Completion(i) = event {
            self.look_at_freed(i, system);
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
