use super::server::Server;
use crate::multiresource::artifact::Family;
use crate::multiresource::policy::{Counters, System, online};
use crate::multiresource::simulator::calendar::Ends;
use crate::multiresource::simulator::random::Stream;
use crate::multiresource::simulator::series::Measured;
use crate::multiresource::workload::{Fleet, Workload};

/// One shape of servers as it is simulated.
pub(super) struct Kind<'a> {
    /// What arrives at one of its servers under probabilistic routing: its types.
    pub workload: &'a Workload,
    /// What each of them does.
    pub policy: &'a Family,
}

/// All servers of a fleet, and how their types and resources are numbered.
pub(super) struct Servers<E> {
    pub all: Vec<Server<E>>,
    /// By shape and the fleet's type, the type's number on such a server.
    pub local: Vec<Vec<Option<usize>>>,
    /// By shape and its own type, the fleet's.
    pub types: Vec<Vec<usize>>,
    /// By shape and the fleet's resource, its number there, and what one unit of it counts for.
    units: Vec<Vec<Option<(usize, f64)>>>,
    now: f64,
    /// Integrals of the types, while they are summed up.
    sums: Vec<[f64; 3]>,
}

impl<E: Ends> Servers<E> {
    pub fn new(
        fleet: &Fleet,
        kinds: &[Kind<'_>],
        ends: impl Fn(&Workload) -> E,
        service: &mut Stream,
    ) -> Self {
        let mut all = Vec::new();
        for (h, (shape, kind)) in fleet.shapes().iter().zip(kinds).enumerate() {
            for _ in 0..shape.count() {
                let policy = online(kind.policy, kind.workload);
                let system = System::new(kind.workload, policy.clocks(), policy.preempts());
                all.push(Server::new(system, h, policy, ends(kind.workload), service));
            }
        }
        let local = |kind: &Kind<'_>| -> Vec<Option<usize>> {
            let place = |name: &str| kind.workload.types().iter().position(|t| t.name() == name);
            fleet.types().iter().map(|t| place(t.name())).collect()
        };
        let types = |kind: &Kind<'_>| -> Vec<usize> {
            let place = |name: &str| fleet.types().iter().position(|t| t.name() == name);
            let types = kind.workload.types().iter();
            types.filter_map(|t| place(t.name())).collect()
        };
        Servers {
            all,
            local: kinds.iter().map(local).collect(),
            types: kinds.iter().map(types).collect(),
            units: kinds.iter().map(|kind| units(fleet, kind)).collect(),
            now: 0.0,
            sums: vec![[0.0; 3]; fleet.types().len()],
        }
    }

    /// Time goes on to `now` at all servers.
    pub fn settle(&mut self, now: f64) {
        self.now = now;
        self.all.iter_mut().for_each(|server| server.settle(now));
    }
}

/// Of each of the fleet's resources, its number on a server of this kind, and what one of its units
/// there is of all that the fleet has, in units of the envelope.
fn units(fleet: &Fleet, kind: &Kind<'_>) -> Vec<Option<(usize, f64)>> {
    let resources = fleet.envelope().resources().iter().zip(fleet.capacity());
    let of = |(resource, capacity): (&crate::multiresource::workload::Resource, f64)| {
        let mut own = kind.workload.resources().iter().enumerate();
        let (j, own) = own.find(|(_, r)| r.name() == resource.name())?;
        let unit = own.capacity().value() / own.units() as f64;
        // What nobody demands has no units, and is not wasted.
        (own.units() > 0).then(|| (j, unit / capacity * resource.units() as f64))
    };
    resources.map(of).collect()
}

impl<E: Ends> Measured for Servers<E> {
    fn now(&self) -> f64 {
        self.now
    }

    fn types(&self) -> usize {
        self.sums.len()
    }

    fn resources(&self) -> usize {
        self.units.first().map_or(0, Vec::len)
    }

    /// Free units of resource j, on those servers where a job waits: see [`units`].
    fn wasted(&self, j: usize) -> f64 {
        let crowded = self.all.iter().filter(|server| server.system.any_waits());
        let free = |server: &Server<E>| {
            self.units[server.shape][j]
                .map_or(0.0, |(own, unit)| server.system.free(own) as f64 * unit)
        };
        crowded.map(free).sum()
    }

    fn collect(&mut self, mut of_type: impl FnMut(usize, [f64; 3])) {
        let sums = &mut self.sums;
        sums.fill([0.0; 3]);
        for server in &mut self.all {
            let types = &self.types[server.shape];
            server.system.collect(|k, more| {
                let sum = &mut sums[types[k]];
                sum.iter_mut().zip(more).for_each(|(s, m)| *s += m);
            });
        }
        sums.iter()
            .enumerate()
            .for_each(|(i, sum)| of_type(i, *sum));
    }

    fn counters(&self) -> Counters {
        let each = self.all.iter().map(|server| server.system.counters());
        each.fold(Counters::default(), Counters::plus)
    }
}
