mod kept;

use super::by_need::descending;
use super::{Event, FamilyRule, Hosts, KnobRange, Policy, System, along};
use crate::multiresource::artifact::{Family, Order, Placement, PooledPolicy};
use crate::multiresource::workload::{Fleet, Workload};
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

/// What is kept, in steps.
const RESERVES: [f64; 10] = [0.3, 0.5, 0.7, 0.85, 1.0, 1.15, 1.3, 1.5, 1.75, 2.0];

impl FamilyRule for PooledPolicy {
    fn rule(&self, fleet: &Fleet) -> Box<dyn Policy> {
        Box::new(Pooled::new(self, fleet))
    }

    fn axes(&self, range: &KnobRange<'_>) -> usize {
        1 + self.zone.as_ref().map_or(0, |_| range.servers.len())
    }

    fn stepped(&self, axis: usize, up: bool, range: &KnobRange<'_>) -> Option<Family> {
        let mut policy = self.clone();
        match (axis, &mut policy.zone) {
            (0, _) if self.reserve > 0.0 => {
                policy.reserve = along(&RESERVES, self.reserve, up)?;
            }
            (1.., Some(zone)) => {
                let (own, all) = (&mut zone.servers[axis - 1], range.servers[axis - 1]);
                let step = (all / 50).max(1);
                *own = if up {
                    Some(*own + step).filter(|more| *more <= all)?
                } else {
                    own.checked_sub(step)?
                };
                (zone.servers.iter().sum::<u32>() > 0).then_some(())?;
            }
            _ => return None,
        }
        Some(policy.into())
    }

    fn words(&self, workload: &Workload) -> String {
        let order = match self.order {
            Order::Fcfs => "the oldest job starts, and none before it",
            Order::Oldest => "the oldest job that fits somewhere starts",
            Order::Largest => "the largest job that fits somewhere starts, by dominant share",
            Order::Smallest => "the smallest job that fits somewhere starts, by dominant share",
        };
        let placement = match self.placement {
            Placement::First => "on the first server that has room for it",
            Placement::Best => "on the server with the least room left that has room for it",
        };
        let kept = if self.reserve > 0.0 {
            format!(
                " Room is kept: a job starts only where after it, beside the jobs that are longer than they, at least {} (1 − E[S_j]/E[S_i]) λ_j E[S_j] jobs of each shorter type j still fit on all servers; i is its own type.",
                self.reserve
            )
        } else {
            String::new()
        };
        let zone = self.zone.as_ref().map_or(String::new(), |zone| {
            let names: Vec<&str> = zone.types.iter().map(|i| workload.types()[*i].name()).collect();
            let servers: Vec<String> = zone.servers.iter().map(u32::to_string).collect();
            format!(
                " A zone is kept: on the first {} servers, by shape, only jobs of {} start; they start elsewhere, too.",
                servers.join(", "),
                names.join(", ")
            )
        });
        format!(
            "Over all servers, without preemption: jobs wait in one place, and whenever there is room, {order}, {placement}.{kept}{zone}"
        )
    }
}
