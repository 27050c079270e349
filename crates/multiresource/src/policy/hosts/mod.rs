mod devices;
mod open;

use devices::Devices;
use open::Levels;
pub(super) use open::Openings;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::capacity::PackedDemand;
use crate::schedule::Packing;
use crate::workload::{Fleet, Shape, Workload};
use synth_core::artifact::Findings;

/// The first servers of each shape, which are reserved for some of the types. This prevents long
/// jobs from using parts of servers if other jobs need whole servers or several servers at the same
/// time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Zone {
    /// The types that may start in the zone (and elsewhere), as indices into the workload's types.
    pub types: Vec<usize>,
    /// The number of servers of each shape that are reserved (length H).
    pub servers: Vec<u32>,
}

impl Zone {
    pub(super) fn words(&self, workload: &Workload) -> String {
        let names = self.types.iter().map(|i| workload.types()[*i].name());
        let kept = self.servers.iter().enumerate().filter(|(_, n)| **n > 0);
        let kept = kept.map(|(shape, n)| match self.servers.len() {
            1 => format!("the first {n} servers"),
            _ => format!("the first {n} servers of shape {}", shape + 1),
        });
        format!(
            " A zone is reserved: {} only accept jobs of {}, which can also start on other servers.",
            kept.collect::<Vec<_>>().join(" and "),
            names.collect::<Vec<_>>().join(", ")
        )
    }

    pub(super) fn check(&self, fleet: &Fleet, findings: &mut Findings) {
        let (types, shapes, path) = (fleet.types(), fleet.shapes(), "zone.servers");
        let known = |i: &usize| *i < types.len();
        let twice = (1..self.types.len()).any(|k| self.types[..k].contains(&self.types[k]));
        if self.types.is_empty() || twice || !self.types.iter().all(known) {
            let found = format!("{:?}", self.types);
            findings.differs("zone.types", found, "types, each once");
        }
        findings.length(path, self.servers.len(), shapes.len(), "server shape");
        if !findings.is_clear("zone") {
            return;
        }
        for (reserved, shape) in self.servers.iter().zip(shapes) {
            let (name, count) = (shape.name(), shape.count());
            if *reserved > count {
                let message =
                    format!("{reserved} servers of shape {name}, expected at most {count}");
                findings.add(path, message);
            }
        }
        let types = types.iter().enumerate();
        for (i, kind) in types.filter(|(i, _)| !self.types.contains(i)) {
            let holds = |(shape, _): &(&Shape, &u32)| shape.types().contains(&i);
            let holding = shapes.iter().zip(&self.servers).filter(holds);
            let left = holding.map(|(shape, reserved)| shape.count().saturating_sub(*reserved));
            let (left, nodes, name) = (left.sum::<u32>(), kind.nodes(), kind.name());
            if left < nodes {
                let message = format!(
                    "`{name}` can start on {left} servers outside of the zone, expected at least {nodes}"
                );
                findings.add(path, message);
            }
        }
    }
}

/// How to choose among the servers with enough free capacity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// The first server.
    #[default]
    First,
    /// A server with the least free capacity, which is measured by the resource with the largest
    /// free fraction.
    Best,
}

/// The jobs and the free capacity of each server of a fleet, numbered shape by shape. It takes
/// `O(K)` to start or end a job, and `O(log N)` to find a server on which a job fits.
#[derive(Clone, Debug)]
pub(super) struct Hosts {
    types: usize,
    nodes: Vec<u32>,
    shapes: Vec<u32>,
    units: Vec<Vec<u64>>,
    packed: PackedDemand,
    devices: Devices,
    pub(super) resumes: bool,
    most: Vec<f64>,
    /// Servers × words.
    used: Vec<u64>,
    /// Servers × types.
    running: Vec<u32>,
    openings: Openings,
    levels: Option<Levels>,
    before: Vec<u64>,
    locked: Vec<bool>,
    zone: [Vec<bool>; 2],
    pub(super) of_slot: Vec<Vec<usize>>,
    tasks: Vec<u64>,
    pub(super) free: Vec<u64>,
    /// Servers × resources. `None` if others have never used any.
    others: Option<Vec<u64>>,
    packing: Packing,
    audited: usize,
    pub(super) freed: Vec<usize>,
}

impl Hosts {
    const SERVERS_PER_AUDIT: usize = 64;

    pub(super) fn new(fleet: &Fleet) -> Self {
        let packing = Packing::new(fleet.envelope());
        let packed = PackedDemand::new(&packing);
        let units = (0..fleet.shapes().len()).map(|h| fleet.units(h));
        let units: Vec<Vec<u64>> = units.collect();
        let (mut shapes, mut used) = (Vec::new(), Vec::new());
        let mut free = vec![0; packing.capacity().len()];
        for (h, shape) in fleet.shapes().iter().enumerate() {
            let words: Vec<u64> = packed.empty(&units[h]);
            for _ in 0..shape.count() {
                shapes.push(h as u32);
                used.extend_from_slice(&words);
            }
            for (free, own) in free.iter_mut().zip(&units[h]) {
                *free += u64::from(shape.count()) * own;
            }
        }
        let (types, servers) = (packing.types(), shapes.len());
        let mut hosts = Hosts {
            types,
            nodes: fleet.types().iter().map(|t| t.nodes()).collect(),
            devices: Devices::new(fleet, &shapes),
            resumes: false,
            shapes,
            units,
            packed,
            most: packing.capacity().iter().map(|p| *p as f64).collect(),
            used,
            running: vec![0; servers * types],
            openings: Openings::none_of(types, servers),
            levels: None,
            before: vec![0; types.div_ceil(64)],
            locked: vec![false; servers],
            zone: [vec![false; servers], vec![true; types]],
            of_slot: Vec::new(),
            tasks: vec![0; types],
            free,
            others: None,
            packing,
            audited: 0,
            freed: Vec::new(),
        };
        (0..servers).for_each(|n| hosts.look(n));
        hosts
    }

    pub(super) fn count(&self) -> usize {
        self.shapes.len()
    }

    pub(super) fn shape(&self, n: usize) -> usize {
        self.shapes[n] as usize
    }

    pub(super) fn running(&self, n: usize) -> &[u32] {
        &self.running[n * self.types..][..self.types]
    }

    pub(super) fn nodes(&self, i: usize) -> usize {
        self.nodes[i] as usize
    }

    #[inline]
    pub(super) fn fits_on(&self, i: usize, n: usize) -> bool {
        self.packed.fits(self.used_by(n), i, 1) && (self.resumes || self.devices.fits(i, n))
    }

    #[inline]
    pub(super) fn fits(&self, i: usize) -> bool {
        self.openings.open[i].len >= self.nodes(i)
    }

    pub(super) fn free_on(&self, n: usize, j: usize) -> u64 {
        self.packed.free(self.used_by(n), j)
    }

    #[inline]
    pub(super) fn find_servers(
        &self,
        i: usize,
        mut accepts: impl FnMut(usize) -> bool,
        team: &mut Vec<usize>,
    ) -> bool {
        team.clear();
        let nodes = self.nodes(i);
        self.any(i, |n| {
            accepts(n) && {
                team.push(n);
                team.len() == nodes
            }
        })
    }

    /// Calls `is_last` for each unlocked server on which a job of type `i` fits, in the order of
    /// the placement, until it returns `true`. Returns `false` if it never does.
    #[inline]
    pub(super) fn any(&self, i: usize, mut is_last: impl FnMut(usize) -> bool) -> bool {
        let open = &self.openings.open[i];
        match &self.levels {
            None => open.any_common(open, &mut is_last),
            Some(levels) => levels.any(i, open, &mut is_last),
        }
    }

    pub(super) fn set_placement(&mut self, placement: Placement) {
        self.levels = None;
        if placement == Placement::Best {
            let mut levels = Levels::new(self.types, self.count());
            self.before.fill(0);
            for n in 0..self.count() {
                levels.set(n, self.level(n), self.openings.on(n), &self.before);
            }
            self.levels = Some(levels);
        }
    }

    pub(super) fn keep_zone(&mut self, zone: Option<&Zone>) {
        let [servers, types] = &mut self.zone;
        types.fill(zone.is_none());
        for &i in zone.iter().flat_map(|zone| &zone.types) {
            types[i] = true;
        }
        let mut left = zone.map_or(Vec::new(), |zone| zone.servers.clone());
        for (kept, h) in servers.iter_mut().zip(&self.shapes) {
            let left = left.get_mut(*h as usize).filter(|left| **left > 0);
            *kept = left.map(|left| *left -= 1).is_some();
        }
        (0..self.count()).for_each(|n| self.look(n));
    }

    pub(super) fn lock(&mut self, n: usize, locked: bool) {
        self.locked[n] = locked;
        self.look(n);
    }

    pub(super) fn takes(&self, i: usize, servers: &[usize]) -> bool {
        let fits = |n: &usize| *n < self.count() && self.fits_on(i, *n);
        let distinct = || (1..servers.len()).all(|k| !servers[..k].contains(&servers[k]));
        servers.len() == self.nodes(i) && servers.iter().all(fits) && distinct()
    }

    #[inline]
    pub(super) fn take(&mut self, i: usize, servers: &[usize], slot: u32) {
        let slot = slot as usize;
        if self.of_slot.len() <= slot {
            self.of_slot.resize(slot + 1, Vec::new());
        }
        self.of_slot[slot].clear();
        self.of_slot[slot].extend_from_slice(servers);
        self.count_in(i, servers.len(), true);
        let words = self.packed.words();
        for &n in servers {
            self.running[n * self.types + i] += 1;
            self.packed.take(&mut self.used[n * words..][..words], i, 1);
            self.devices.take(i, n, slot);
            self.look(n);
        }
    }

    #[inline]
    pub(super) fn give(&mut self, i: usize, slot: u32) {
        std::mem::swap(&mut self.freed, &mut self.of_slot[slot as usize]);
        self.devices.give(slot);
        let is_shared = self.others.is_some();
        let servers = self.freed.len();
        if is_shared {
            self.tasks[i] -= servers as u64;
        } else {
            self.count_in(i, servers, false);
        }
        let words = self.packed.words();
        for k in 0..servers {
            let n = self.freed[k];
            self.running[n * self.types + i] -= 1;
            if is_shared {
                self.recount(n);
            } else {
                self.packed.give(&mut self.used[n * words..][..words], i, 1);
                self.look(n);
            }
        }
    }

    pub(super) fn occupy(&mut self, n: usize, units: &[u64]) {
        let resources = self.free.len();
        let all = self.count() * resources;
        let others = self.others.get_or_insert_with(|| vec![0; all]);
        others[n * resources..][..resources].copy_from_slice(units);
        self.recount(n);
    }

    #[cold]
    fn recount(&mut self, n: usize) {
        for j in 0..self.free.len() {
            let free = self.left(n, j).saturating_sub(self.used_of(n, j));
            self.free[j] = self.free[j] - self.free_on(n, j) + free;
            let words = self.packed.words();
            let used = &mut self.used[n * words..][..words];
            self.packed.set_free(used, j, free);
        }
        self.look(n);
    }

    fn left(&self, n: usize, j: usize) -> u64 {
        let others = self.others.as_ref();
        let others = others.map_or(0, |others| others[n * self.free.len() + j]);
        self.units[self.shape(n)][j].saturating_sub(others)
    }

    fn used_of(&self, n: usize, j: usize) -> u64 {
        let jobs = self.running(n).iter().enumerate();
        jobs.map(|(i, u)| u64::from(*u) * self.packing.demand(i)[j])
            .sum()
    }

    pub(super) fn could_run(&self, i: usize) -> bool {
        let demand = self.packing.demand(i);
        let holds = |n: &usize| (0..demand.len()).all(|j| demand[j] <= self.left(*n, j));
        (0..self.count()).filter(holds).count() >= self.nodes(i)
    }

    /// Checks the number of tasks and some of the servers.
    pub(super) fn is_sound(&mut self, running: &[u32]) -> bool {
        let tasks = running.iter().zip(&self.nodes);
        let tasks = tasks.map(|(jobs, nodes)| u64::from(*jobs) * u64::from(*nodes));
        let are_counted = tasks.eq(self.tasks.iter().copied());
        let is_free = |n: usize, j: usize| {
            let (used, left) = (self.used_of(n, j), self.left(n, j));
            let is_sound = self.free_on(n, j) == left.saturating_sub(used);
            is_sound && used <= self.units[self.shape(n)][j]
        };
        let are_sound = (0..Hosts::SERVERS_PER_AUDIT.min(self.count())).all(|k| {
            let n = (self.audited + k) % self.count();
            let are_free = (0..self.free.len()).all(|j| is_free(n, j));
            are_free && self.devices.are_sound(n, |j| self.used_of(n, j))
        });
        self.audited = (self.audited + Hosts::SERVERS_PER_AUDIT) % self.count();
        are_counted && are_sound
    }

    #[inline]
    fn count_in(&mut self, i: usize, servers: usize, start: bool) {
        let pairs = self.free.iter_mut().zip(self.packing.demand(i));
        let servers = servers as u64;
        if start {
            self.tasks[i] += servers;
            pairs.for_each(|(free, d)| *free -= servers * d);
        } else {
            self.tasks[i] -= servers;
            pairs.for_each(|(free, d)| *free += servers * d);
        }
    }

    #[inline]
    fn used_by(&self, n: usize) -> &[u64] {
        let words = self.packed.words();
        &self.used[n * words..][..words]
    }

    #[inline]
    fn look(&mut self, n: usize) {
        if self.levels.is_some() {
            self.before.copy_from_slice(self.openings.on(n));
        }
        let words = self.packed.words();
        let used = &self.used[n * words..][..words];
        let (locked, packed, devices) = (self.locked[n], &self.packed, &self.devices);
        let [kept, types] = &self.zone;
        let free = !kept[n];
        self.openings.look(n, |i| {
            !locked && (free || types[i]) && packed.fits(used, i, 1) && devices.fits(i, n)
        });
        let level = self.level(n);
        if let Some(levels) = &mut self.levels {
            levels.set(n, level, self.openings.on(n), &self.before);
        }
    }

    /// Returns the level of the largest free fraction, relative to the largest server.
    #[inline]
    fn level(&self, n: usize) -> u8 {
        let used = self.used_by(n);
        let mut left: f64 = 0.0;
        for (j, most) in self.most.iter().enumerate() {
            if *most > 0.0 {
                left = left.max(self.packed.free(used, j) as f64 / most);
            }
        }
        ((left * Levels::COUNT as f64) as usize).min(Levels::COUNT - 1) as u8
    }
}
