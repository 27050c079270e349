use super::backfilling::{BackfillingConfig, PriorityClasses, Reservations, oldest};
use super::capacity::PackedDemand;
use super::drain::DrainEstimator;
use super::hosts::Hosts;
use super::{Event, Policy, System};
use crate::schedule::Packing;
use crate::workload::Fleet;

pub(super) const RESERVES: &[f64] = &[0.3, 0.5, 0.7, 0.85, 1.0, 1.15, 1.3, 1.5, 1.75, 2.0];

/// A rule for all servers of a fleet with a single queue, which reserves capacity for shorter jobs.
///
/// A job of type `i` can only start on a server if, for each shorter type `j`, all servers still
/// have enough capacity for at least `ζ (1 − E[S_j]/E[S_i]) λ_j E[S_j]` jobs of type `j`, next to
/// the jobs that are longer than type `j`. This is trunk reservation based on time scales, because
/// a job blocks the jobs that arrive while it runs. It prevents long jobs from using parts of
/// servers that short jobs need as a whole. A *zone* consists of the first servers of each shape,
/// on which only some types can start, usually those that need whole or several servers. They use
/// other servers if it is full. A decision takes `O(K)`, or `O(K²)` with a reserve, times
/// `O(log N)`. This rule was created for this project. No proof of its stability is known.
#[derive(Clone, Debug)]
pub struct Pooled {
    policy: BackfillingConfig,
    /// The classes of types in queue order.
    classes: Vec<Vec<usize>>,
    reserved: Option<ReservedCapacity>,
    refused: Vec<bool>,
    team: Vec<usize>,
}

impl Pooled {
    pub(super) fn new(policy: &BackfillingConfig, fleet: &Fleet) -> Self {
        let types = fleet.types().len();
        let mut classes = PriorityClasses::new(policy.order, fleet.envelope()).classes;
        if classes.is_empty() {
            classes.push((0..types).collect());
        }
        Pooled {
            policy: policy.clone(),
            classes,
            reserved: (policy.reserve > 0.0).then(|| ReservedCapacity::new(policy.reserve, fleet)),
            refused: vec![false; types],
            team: Vec::new(),
        }
    }

    fn start(&mut self, i: usize, system: &mut System) -> bool {
        let found = match &mut self.reserved {
            Some(reserved) => reserved.team(i, system.fleet(), &mut self.team),
            None => system.find_servers(i, &mut self.team),
        };
        if found {
            system.start_on(i, &self.team);
            if let Some(reserved) = &mut self.reserved {
                let team = self.team.iter();
                team.for_each(|n| reserved.look(i, *n, system.fleet()));
            }
        }
        found
    }

    fn start_all(&mut self, system: &mut System) {
        if self.policy.reservations == Reservations::Strict {
            while let Some(i) = system.oldest_type()
                && self.start(i, system)
            {}
            return;
        }
        self.refused.fill(false);
        for n in 0..self.classes.len() {
            while let Some(i) = oldest(
                &self.classes[n],
                |i| !self.refused[i] && system.fits(i),
                system,
            ) {
                // If a type has been refused, this does not change, because a start uses capacity.
                self.refused[i] = !self.start(i, system);
            }
        }
    }
}

impl Policy for Pooled {
    fn begin(&mut self, system: &mut System) {
        system.set_placement(self.policy.placement.unwrap_or_default());
        if self.policy.zone.is_some() {
            system.keep_zone(self.policy.zone.as_ref());
        }
        if let Some(reserved) = &mut self.reserved {
            let hosts = system.fleet();
            reserved.on.fill(0);
            reserved.all.fill(0);
            (0..hosts.count()).for_each(|n| reserved.count(n, f64::INFINITY, hosts));
        }
    }

    fn react(&mut self, event: Event, system: &mut System) {
        self.note(event, system);
        match event {
            // An arrival does not free any capacity, so the new job is the only one that can start.
            Event::Arrival(i) => {
                let is_first = self.policy.reservations != Reservations::Strict
                    || system.oldest_type() == Some(i);
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
        if let (Event::Completion(i), Some(reserved)) = (event, &mut self.reserved) {
            let hosts = system.fleet();
            hosts.freed.iter().for_each(|n| reserved.look(i, *n, hosts));
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

#[derive(Clone, Debug)]
struct ReservedCapacity {
    packed: PackedDemand,
    empty: Vec<Vec<u64>>,
    means: Vec<f64>,
    /// The types with equal means, the longest first.
    groups: Vec<Vec<usize>>,
    most: Vec<u64>,
    /// The value of `ζ λ_j E[S_j]` for each type, as a number of tasks.
    required: Vec<f64>,
    /// The number of jobs that fit next to the longer jobs (servers × types).
    on: Vec<u32>,
    all: Vec<u64>,
    used: Vec<u64>,
}

const CHECKED_SERVERS: usize = 64;

impl ReservedCapacity {
    fn new(part: f64, fleet: &Fleet) -> Self {
        let packing = Packing::new(fleet.envelope());
        let packed = PackedDemand::new(&packing);
        let shapes = 0..fleet.shapes().len();
        let empty: Vec<Vec<u64>> = shapes.map(|h| packed.empty(&fleet.units(h))).collect();
        let DrainEstimator { means, longest, .. } = DrainEstimator::new(fleet.envelope());
        let groups = longest.chunk_by(|a, b| means[*a] == means[*b]);
        let most = |i| u64::from(packing.max_jobs_alone(i));
        let tasks = fleet.types().iter().map(|t| t.offered_tasks());
        ReservedCapacity {
            used: empty[0].clone(),
            packed,
            empty,
            groups: groups.map(<[usize]>::to_vec).collect(),
            most: (0..means.len()).map(most).collect(),
            required: tasks.map(|tasks| part * tasks).collect(),
            on: vec![0; fleet.servers() * means.len()],
            all: vec![0; means.len()],
            means,
        }
    }

    #[inline]
    fn look(&mut self, i: usize, n: usize, hosts: &Hosts) {
        self.count(n, self.means[i], hosts);
    }

    /// Updates the number of jobs that fit on server `n`, for types shorter than `than`.
    fn count(&mut self, n: usize, than: f64, hosts: &Hosts) {
        let types = self.means.len();
        let own = &mut self.on[n * types..][..types];
        self.used.copy_from_slice(&self.empty[hosts.shape(n)]);
        for group in &self.groups {
            for &j in group.iter().filter(|j| self.means[**j] < than) {
                let fit = fit(&self.packed, &self.used, j, self.most[j]);
                self.all[j] = self.all[j] + u64::from(fit) - u64::from(own[j]);
                own[j] = fit;
            }
            take(group, n, hosts, &self.packed, &mut self.used);
        }
    }

    /// Finds the servers, each checked on its own, for a job of type `i`; `false` if it must wait.
    fn team(&mut self, i: usize, hosts: &Hosts, team: &mut Vec<usize>) -> bool {
        let nodes = hosts.nodes(i);
        let most = |own: &ReservedCapacity, j: usize| nodes as u64 * own.most[j];
        if !(0..self.means.len()).any(|j| self.is_short(j, most(self, j), i)) {
            return hosts.find_servers(i, |_| true, team);
        }
        let (mut looks, limit) = (0, CHECKED_SERVERS + nodes);
        let found = hosts.find_servers(
            i,
            |n| {
                looks += 1;
                looks > limit || self.may_start(i, n, hosts)
            },
            team,
        );
        found && looks <= limit
    }

    fn is_short(&self, j: usize, less: u64, i: usize) -> bool {
        let longer = self.means[j] < self.means[i];
        let required = self.required[j] * (1.0 - self.means[j] / self.means[i]);
        longer && (self.all[j].saturating_sub(less) as f64) < required
    }

    fn may_start(&mut self, i: usize, n: usize, hosts: &Hosts) -> bool {
        let own = &self.on[n * self.means.len()..][..self.means.len()];
        self.used.copy_from_slice(&self.empty[hosts.shape(n)]);
        for group in &self.groups {
            let shorter = self.means[group[0]] < self.means[i];
            for &j in group.iter().filter(|j| shorter && own[**j] > 0) {
                let fit = fit(&self.packed, &self.used, j, own[j].into());
                let less = u64::from(own[j] - fit);
                if less > 0 && self.is_short(j, less, i) {
                    return false;
                }
            }
            take(group, n, hosts, &self.packed, &mut self.used);
            if group.contains(&i) {
                self.packed.take(&mut self.used, i, 1);
            }
        }
        true
    }
}

#[inline]
fn fit(packed: &PackedDemand, used: &Vec<u64>, j: usize, most: u64) -> u32 {
    if packed.fits(used, j, 1) {
        packed.most(used, j, most) as u32
    } else {
        0
    }
}

#[inline]
fn take(group: &[usize], n: usize, hosts: &Hosts, packed: &PackedDemand, used: &mut Vec<u64>) {
    for &k in group {
        packed.take(used, k, hosts.running(n)[k].into());
    }
}
