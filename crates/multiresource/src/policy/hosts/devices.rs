//! The devices of the servers of a fleet, and which job is on which of them.

use crate::workload::Fleet;

/// Which devices are in use, of each resource that consists of devices.
///
/// Jobs do not move between devices. A part of a device is taken from the fullest device on which it fits, and of equally
/// full ones from the first; whole devices are the first that are empty.
#[derive(Clone, Debug)]
pub(super) struct Devices {
    kinds: Vec<Kind>,
    /// By slot: kind, server, device and units of all that the job holds.
    held: Vec<Vec<(usize, usize, usize, u64)>>,
}

/// The devices of one resource.
#[derive(Clone, Debug)]
struct Kind {
    resource: usize,
    /// Units of one device.
    size: u64,
    /// By type: units that a job takes on each of its servers.
    demand: Vec<u64>,
    /// By server and device: units in use.
    used: Vec<Vec<u64>>,
}

impl Devices {
    /// Returns the empty devices of a fleet whose servers have these shapes.
    pub(super) fn new(fleet: &Fleet, shapes: &[u32]) -> Self {
        let resources = fleet.envelope().resources().iter().enumerate();
        let kinds = resources.filter_map(|(j, resource)| {
            let count = |h: &u32| fleet.shapes()[*h as usize].capacity()[j].value() as usize;
            Some(Kind {
                resource: j,
                size: resource.device()?,
                demand: fleet.types().iter().map(|t| t.units()[j]).collect(),
                used: shapes.iter().map(|h| vec![0; count(h)]).collect(),
            })
        });
        Devices {
            kinds: kinds.collect(),
            held: Vec::new(),
        }
    }

    /// Returns whether one more job of type i, or a part of it, finds its devices on server n.
    #[inline]
    pub(super) fn fits(&self, i: usize, n: usize) -> bool {
        self.kinds.iter().all(|kind| match kind.demand[i] {
            0 => true,
            part if part < kind.size => kind.used[n].iter().any(|used| used + part <= kind.size),
            whole => {
                let empty = kind.used[n].iter().filter(|used| **used == 0);
                empty.count() as u64 * kind.size >= whole
            }
        })
    }

    /// A job of type i starts on server n, where it fits; one that ran before may be spread over devices.
    pub(super) fn take(&mut self, i: usize, n: usize, slot: usize) {
        if self.held.len() <= slot && !self.kinds.is_empty() {
            self.held.resize(slot + 1, Vec::new());
        }
        for (k, kind) in self.kinds.iter_mut().enumerate() {
            let mut left = kind.demand[i];
            while left > 0 {
                let part = left.min(kind.size);
                // Of equals the last is found, so they are looked at in reverse.
                let all = || kind.used[n].iter().enumerate().rev();
                let fitting = all().filter(|(_, used)| **used + part <= kind.size);
                let fullest = fitting.max_by_key(|(_, used)| **used);
                let found = fullest.or(all().min_by_key(|(_, used)| **used));
                let (device, used) = found.expect("the server has the units");
                let units = part.min(kind.size - used);
                kind.used[n][device] += units;
                self.held[slot].push((k, n, device, units));
                left -= units;
            }
        }
    }

    /// The job in this slot has ended on all of its servers.
    pub(super) fn give(&mut self, slot: u32) {
        let held = self.held.get_mut(slot as usize);
        for (k, n, device, units) in held.into_iter().flat_map(|held| held.drain(..)) {
            self.kinds[k].used[n][device] -= units;
        }
    }

    /// Returns whether no device of server n is overfull, and all of them have the units in use that its jobs demand.
    pub(super) fn are_sound(&self, n: usize, used_of: impl Fn(usize) -> u64) -> bool {
        self.kinds.iter().all(|kind| {
            let used = &kind.used[n];
            let is_full = |used: &u64| *used > kind.size;
            !used.iter().any(is_full) && used.iter().sum::<u64>() == used_of(kind.resource)
        })
    }
}
