use crate::workload::Fleet;

/// The usage of the devices of each resource, between which jobs are never moved. A fraction uses
/// the first of the fullest devices on which it fits. Whole devices are the first empty ones.
#[derive(Clone, Debug)]
pub(super) struct Devices {
    kinds: Vec<Kind>,
    /// The kind, the server, the device and the units in use by the job in each slot.
    held: Vec<Vec<(usize, usize, usize, u64)>>,
}

#[derive(Clone, Debug)]
struct Kind {
    resource: usize,
    size: u64,
    demand: Vec<u64>,
    /// Servers × devices.
    used: Vec<Vec<u64>>,
}

impl Devices {
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

    /// Assigns devices to a job that fits. One that ran before may be spread over several.
    pub(super) fn take(&mut self, i: usize, n: usize, slot: usize) {
        if self.held.len() <= slot && !self.kinds.is_empty() {
            self.held.resize(slot + 1, Vec::new());
        }
        for (k, kind) in self.kinds.iter_mut().enumerate() {
            let mut left = kind.demand[i];
            while left > 0 {
                let part = left.min(kind.size);
                // `max_by_key` returns the last maximum, so this iterates in reverse.
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

    pub(super) fn give(&mut self, slot: u32) {
        let held = self.held.get_mut(slot as usize);
        for (k, n, device, units) in held.into_iter().flat_map(|held| held.drain(..)) {
            self.kinds[k].used[n][device] -= units;
        }
    }

    pub(super) fn are_sound(&self, n: usize, used_of: impl Fn(usize) -> u64) -> bool {
        self.kinds.iter().all(|kind| {
            let used = &kind.used[n];
            let is_full = |used: &u64| *used > kind.size;
            !used.iter().any(is_full) && used.iter().sum::<u64>() == used_of(kind.resource)
        })
    }
}
