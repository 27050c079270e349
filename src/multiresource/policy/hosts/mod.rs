//! The servers of a fleet behind one queue.

mod open;

pub(super) use open::{Open, Openings};

use super::room::{Packed, Room};
use crate::multiresource::artifact::Placement;
use crate::multiresource::schedule::Packing;
use crate::multiresource::workload::Fleet;

/// What runs on each server of a fleet, and where there is room. Servers are numbered shape by shape, in the
/// workload's order.
///
/// What starts or ends costs O(K): the types of which one more job fits there, or no more. The first server with
/// room for a type is known in O(log N), the one with the least room in as many steps as there are
/// [levels](Hosts::LEVELS) at most; none is looked for.
#[derive(Clone, Debug)]
pub struct Hosts {
    types: usize,
    /// By type: servers that a job takes at once.
    nodes: Vec<u32>,
    /// By server: the place of its shape in the fleet.
    shapes: Vec<u32>,
    /// By shape and resource: units that such a server has.
    units: Vec<Vec<u64>>,
    packed: Packed,
    /// What the largest server has of each resource that is demanded, in units.
    most: Vec<f64>,
    /// By server, in words: room in use.
    used: Vec<u64>,
    /// By server and type: jobs that run there.
    running: Vec<u32>,
    /// By type: the servers where one more fits that are not locked.
    openings: Openings,
    /// By server: how much room it has left.
    level: Vec<u8>,
    /// By level: the servers that have so much room left.
    of_level: Vec<Open>,
    /// By server: whether jobs start there only where the rule names it.
    locked: Vec<bool>,
    /// By slot: the servers where the job runs.
    of_slot: Vec<Vec<usize>>,
    placement: Placement,
    /// Where a job ended last.
    freed: Vec<usize>,
}

impl Hosts {
    /// Room left is told apart in so many steps.
    pub const LEVELS: u8 = 128;

    /// Empty servers.
    pub(super) fn new(fleet: &Fleet) -> Self {
        let packing = Packing::new(fleet.envelope());
        let packed = Room::new(&packing).packed();
        let units = (0..fleet.shapes().len()).map(|h| fleet.units(h));
        let units: Vec<Vec<u64>> = units.collect();
        let (mut shapes, mut used) = (Vec::new(), Vec::new());
        for (h, shape) in fleet.shapes().iter().enumerate() {
            let words: Vec<u64> = packed.nothing_of(&units[h]);
            for _ in 0..shape.count() {
                shapes.push(h as u32);
                used.extend_from_slice(&words);
            }
        }
        let (types, servers) = (packing.types(), shapes.len());
        let mut of_level = vec![Open::none_of(servers); usize::from(Hosts::LEVELS) + 1];
        (0..servers).for_each(|n| of_level[0].insert(n));
        let mut hosts = Hosts {
            types,
            nodes: fleet.types().iter().map(|t| t.nodes()).collect(),
            shapes,
            units,
            packed,
            most: packing.capacity().iter().map(|p| *p as f64).collect(),
            used,
            running: vec![0; servers * types],
            openings: Openings::none_of(types, servers),
            level: vec![0; servers],
            of_level,
            locked: vec![false; servers],
            of_slot: Vec::new(),
            placement: Placement::default(),
            freed: Vec::new(),
        };
        (0..servers).for_each(|n| hosts.look(n));
        hosts
    }

    /// How many servers there are, N.
    pub fn count(&self) -> usize {
        self.shapes.len()
    }

    /// The place in the fleet of the shape of server n.
    pub fn shape(&self, n: usize) -> usize {
        self.shapes[n] as usize
    }

    /// Jobs of each type (K) that run on server n.
    pub fn running(&self, n: usize) -> &[u32] {
        &self.running[n * self.types..][..self.types]
    }

    /// Servers that a job of type i takes at once.
    pub fn nodes(&self, i: usize) -> usize {
        self.nodes[i] as usize
    }

    /// Whether one more job of type i, or a part of it, fits on server n.
    #[inline]
    pub fn fits_on(&self, i: usize, n: usize) -> bool {
        self.packed.fits(self.used_by(n), i, 1)
    }

    /// Whether one more job of type i fits on servers that are not locked.
    #[inline]
    pub fn fits(&self, i: usize) -> bool {
        self.openings.of(i).has(self.nodes[i])
    }

    /// Free units of resource j on server n.
    pub fn free_on(&self, n: usize, j: usize) -> u64 {
        self.packed.free(self.used_by(n), j)
    }

    /// Free units of resource j on all servers.
    pub(super) fn free(&self, j: usize) -> f64 {
        (0..self.count()).map(|n| self.free_on(n, j) as f64).sum()
    }

    /// The servers where a job ended last.
    pub fn freed(&self) -> &[usize] {
        &self.freed
    }

    /// Where the next job of type i starts, by the placement, of the servers that are not locked and that are
    /// wanted: as many as it takes; whether there are.
    #[inline]
    pub(super) fn team(
        &self,
        i: usize,
        mut wanted: impl FnMut(usize) -> bool,
        team: &mut Vec<usize>,
    ) -> bool {
        team.clear();
        let nodes = self.nodes(i);
        let last = self.place(i, |n| {
            wanted(n) && {
                team.push(n);
                team.len() == nodes
            }
        });
        last.is_some()
    }

    /// Whether one of the servers that are not locked and have room for type i is the last that is wanted; these come
    /// by the placement.
    pub(super) fn any(&self, i: usize, is_last: impl FnMut(usize) -> bool) -> bool {
        self.place(i, is_last).is_some()
    }

    /// The first server by the placement, of those that are not locked and have room for type i, that is wanted.
    #[inline]
    fn place(&self, i: usize, mut wanted: impl FnMut(usize) -> bool) -> Option<usize> {
        let open = self.openings.of(i);
        match self.placement {
            Placement::First => open.first_common(open, &mut wanted),
            Placement::Best => {
                let mut levels = self.of_level.iter();
                levels.find_map(|level| level.first_common(open, &mut wanted))
            }
        }
    }

    pub(super) fn set_placement(&mut self, placement: Placement) {
        self.placement = placement;
    }

    /// Jobs start on server n only where the rule names it, or again wherever there is room.
    pub(super) fn lock(&mut self, n: usize, locked: bool) {
        self.locked[n] = locked;
        self.look(n);
    }

    /// The servers where the job in this slot runs.
    pub(super) fn of_slot(&self, slot: u32) -> &[usize] {
        &self.of_slot[slot as usize]
    }

    /// Whether a job of type i can start on these servers.
    pub(super) fn takes(&self, i: usize, servers: &[usize]) -> bool {
        let fits = |n: &usize| *n < self.count() && self.fits_on(i, *n);
        let distinct = || (1..servers.len()).all(|k| !servers[..k].contains(&servers[k]));
        servers.len() == self.nodes(i) && servers.iter().all(fits) && distinct()
    }

    /// The job of type i in this slot starts on these servers, where it fits.
    #[inline]
    pub(super) fn take(&mut self, i: usize, servers: &[usize], slot: u32) {
        let slot = slot as usize;
        if self.of_slot.len() <= slot {
            self.of_slot.resize(slot + 1, Vec::new());
        }
        self.of_slot[slot].clear();
        self.of_slot[slot].extend_from_slice(servers);
        let words = self.packed.words();
        for &n in servers {
            self.running[n * self.types + i] += 1;
            self.packed.take(&mut self.used[n * words..][..words], i, 1);
            self.look(n);
        }
    }

    /// The job of type i in this slot runs no more.
    #[inline]
    pub(super) fn give(&mut self, i: usize, slot: u32) {
        std::mem::swap(&mut self.freed, &mut self.of_slot[slot as usize]);
        let words = self.packed.words();
        for k in 0..self.freed.len() {
            let n = self.freed[k];
            self.running[n * self.types + i] -= 1;
            self.packed.give(&mut self.used[n * words..][..words], i, 1);
            self.look(n);
        }
    }

    /// Whether what is in use is what these jobs (K) use, in all and on each server.
    pub(super) fn is_sound(&self, packing: &Packing, running: &[u32]) -> bool {
        let all = |i: usize| -> u32 { (0..self.count()).map(|n| self.running(n)[i]).sum() };
        let counted = (0..self.types).all(|i| all(i) == running[i] * self.nodes[i]);
        let holds = |n: usize| {
            let used = |j: usize| -> u64 {
                let jobs = self.running(n).iter().enumerate();
                jobs.map(|(i, u)| u64::from(*u) * packing.demand(i)[j])
                    .sum()
            };
            let mut units = self.units[self.shape(n)].iter().enumerate();
            units.all(|(j, all)| used(j) + self.free_on(n, j) == *all)
        };
        counted && (0..self.count()).all(holds)
    }

    #[inline]
    fn used_by(&self, n: usize) -> &[u64] {
        let words = self.packed.words();
        &self.used[n * words..][..words]
    }

    /// What may now start on server n, and how much room is left there.
    #[inline]
    fn look(&mut self, n: usize) {
        self.look_for_level(n);
        let words = self.packed.words();
        let used = &self.used[n * words..][..words];
        let (locked, packed) = (self.locked[n], &self.packed);
        self.openings
            .look(n, |i| !locked && packed.fits(used, i, 1));
    }

    #[inline]
    fn look_for_level(&mut self, n: usize) {
        let used = self.used_by(n);
        let mut left: f64 = 0.0;
        for (j, most) in self.most.iter().enumerate() {
            if *most > 0.0 {
                left = left.max(self.packed.free(used, j) as f64 / most);
            }
        }
        let level = (left * f64::from(Hosts::LEVELS)) as u8;
        let before = std::mem::replace(&mut self.level[n], level);
        if level != before {
            self.of_level[usize::from(before)].remove(n);
            self.of_level[usize::from(level)].insert(n);
        }
    }
}
