use crate::multiresource::policy::Hosts;
use crate::multiresource::policy::room::Packed;
use crate::multiresource::schedule::Packing;
use crate::multiresource::workload::Fleet;

/// The room that is kept for shorter jobs; see [`Pooled`](super::Pooled).
#[derive(Clone, Debug)]
pub(super) struct Kept {
    packed: Packed,
    /// By shape: nothing in use, in words.
    empty: Vec<Vec<u64>>,
    /// E\[S_i\] by type.
    means: Vec<f64>,
    /// The types in groups of equal means, the longest first.
    groups: Vec<Vec<usize>>,
    /// By type: how many fit on the largest server.
    most: Vec<u64>,
    /// By type: ζ λ_j E\[S_j\], in servers' parts of jobs.
    wanted: Vec<f64>,
    /// By server and type: how many fit beside the longer jobs.
    on: Vec<u32>,
    /// By type: the same on all servers.
    all: Vec<u64>,
    used: Vec<u64>,
}

/// Of the servers that would be next by the placement, so many are looked at.
const LOOKS: usize = 64;

impl Kept {
    pub fn new(part: f64, fleet: &Fleet) -> Self {
        let packing = Packing::new(fleet.envelope());
        let packed = Packed::new(&packing);
        let shapes = 0..fleet.shapes().len();
        let empty: Vec<Vec<u64>> = shapes.map(|h| packed.nothing_of(&fleet.units(h))).collect();
        let means: Vec<f64> = fleet.types().iter().map(|t| t.mean_size()).collect();
        let mut longest: Vec<usize> = (0..means.len()).collect();
        longest.sort_by(|a, b| means[*b].total_cmp(&means[*a]));
        let groups = longest.chunk_by(|a, b| means[*a] == means[*b]);
        let most = |i| u64::from(packing.most(i, packing.capacity()));
        Kept {
            used: empty[0].clone(),
            packed,
            empty,
            groups: groups.map(<[usize]>::to_vec).collect(),
            most: (0..means.len()).map(most).collect(),
            wanted: fleet
                .types()
                .iter()
                .map(|t| part * t.offered_pieces())
                .collect(),
            on: vec![0; fleet.servers() * means.len()],
            all: vec![0; means.len()],
            means,
        }
    }

    /// Counts anew what fits on all servers.
    pub fn begin(&mut self, hosts: &Hosts) {
        self.on.fill(0);
        self.all.fill(0);
        (0..hosts.count()).for_each(|n| self.count(n, f64::INFINITY, hosts));
    }

    /// Jobs of type i on server n have changed.
    #[inline]
    pub fn look(&mut self, i: usize, n: usize, hosts: &Hosts) {
        self.count(n, self.means[i], hosts);
    }

    /// Counts anew how many jobs fit on server n of those types that are shorter than this.
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

    /// Where the next job of type i may start: whether it may. What a gang takes from others is looked at server by
    /// server.
    pub fn team(&mut self, i: usize, hosts: &Hosts, team: &mut Vec<usize>) -> bool {
        let nodes = hosts.nodes(i);
        let most = |kept: &Kept, j: usize| nodes as u64 * kept.most[j];
        if !(0..self.means.len()).any(|j| self.is_short(j, most(self, j), i)) {
            return hosts.team(i, |_| true, team);
        }
        let (mut looks, limit) = (0, LOOKS + nodes);
        let found = hosts.team(
            i,
            |n| {
                looks += 1;
                looks > limit || self.may_start(i, n, hosts)
            },
            team,
        );
        found && looks <= limit
    }

    /// Whether, with so many jobs of type j less that fit, too few do for one of type i to start.
    fn is_short(&self, j: usize, less: u64, i: usize) -> bool {
        let longer = self.means[j] < self.means[i];
        let wanted = self.wanted[j] * (1.0 - self.means[j] / self.means[i]);
        longer && (self.all[j].saturating_sub(less) as f64) < wanted
    }

    /// Whether enough room is left for shorter jobs, if one of type i starts on server n.
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

/// How many jobs of type j fit beside what is used, of at most so many.
#[inline]
fn fit(packed: &Packed, used: &Vec<u64>, j: usize, most: u64) -> u32 {
    if packed.fits(used, j, 1) {
        packed.most(used, j, most) as u32
    } else {
        0
    }
}

/// The jobs of these types that run on server n.
#[inline]
fn take(group: &[usize], n: usize, hosts: &Hosts, packed: &Packed, used: &mut Vec<u64>) {
    for &k in group {
        packed.take(used, k, hosts.running(n)[k].into());
    }
}
