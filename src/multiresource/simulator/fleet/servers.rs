use super::Alike;
use super::numbering::Numbering;
use crate::multiresource::policy::{Counters, Policy, Router, Violation};
use crate::multiresource::simulator::ends::Ends;
use crate::multiresource::simulator::engine::{Happened, Servers};
use crate::multiresource::simulator::server::{Due, Rates, Server};
use crate::multiresource::workload::Workload;
use crate::simulation::{Stream, Tournament};

/// All servers of a fleet on one clock. A tournament tells which of them is next; an event costs
/// O(log servers), an arrival by least load O(servers) of counting.
pub(super) struct FleetServers<'a, P, E> {
    all: Vec<Station<P, E>>,
    next: Tournament,
    numbering: &'a Numbering,
    router: &'a Router,
    routing: Stream,
    /// Jobs of each type at each server, those of one type side by side.
    present: Vec<Vec<u32>>,
    /// Jobs of each type at all servers.
    inside: Vec<u64>,
    arrived: u64,
    departed: u64,
    now: f64,
    violation: Option<Violation>,
    /// Integrals of the types, while they are summed up.
    sums: Vec<[f64; 3]>,
}

impl<'a, P: Policy + Send, E: Ends + Send> FleetServers<'a, P, E> {
    /// Empty servers at time 0; `policy` makes the rule of a server of shape h.
    pub fn new(
        shapes: &[Alike<'_>],
        numbering: &'a Numbering,
        router: &'a Router,
        policy: &impl Fn(usize) -> P,
        ends: impl Fn(&Workload) -> E,
        service: &mut Stream,
        routing: Stream,
    ) -> Self {
        let mut all = Vec::new();
        for (h, Alike { workload, count }) in shapes.iter().enumerate() {
            for _ in 0..*count {
                let server = Server::new(workload, policy(h), ends(workload), service);
                all.push(Station::new(server, h));
            }
        }
        let types = numbering.types();
        let mut servers = FleetServers {
            next: Tournament::new(all.len()),
            present: vec![vec![0; all.len()]; types],
            all,
            numbering,
            router,
            routing,
            inside: vec![0; types],
            arrived: 0,
            departed: 0,
            now: 0.0,
            violation: None,
            sums: vec![[0.0; 3]; types],
        };
        servers.settle();
        servers
    }

    /// Time goes on to the present at all servers, and what is summed up is summed anew.
    fn settle(&mut self) {
        for (n, station) in self.all.iter_mut().enumerate() {
            station.server.system.advance(self.now);
            station.server.settle();
            station.look_ahead();
            self.next.set(n, station.time());
        }
    }
}

impl<P: Policy + Send, E: Ends + Send> Servers for FleetServers<'_, P, E> {
    type Due = usize;

    fn due(&mut self, arrival: f64) -> (f64, Option<usize>) {
        let (n, time) = self.next.first();
        match arrival <= time {
            true => (arrival, None),
            false => (time, Some(n)),
        }
    }

    fn happen(&mut self, now: f64, n: usize, service: &mut Stream) -> Happened {
        self.now = now;
        let station = &mut self.all[n];
        let happened = station.happen(now, service);
        self.next.set(n, station.time());
        let Happened::Departure(k, stay) = happened else {
            return happened;
        };
        let i = self.numbering.of_fleet(station.shape, k);
        self.present[i][n] -= 1;
        self.inside[i] -= 1;
        self.departed += 1;
        Happened::Departure(i, stay)
    }

    fn arrive(&mut self, i: usize, now: f64, size: f64, sizes: &mut Stream) {
        self.now = now;
        let draw = self.routing.uniform();
        let n = self.router.route(i, &self.present[i], draw);
        let station = &mut self.all[n];
        let Some(k) = self.numbering.of_server(station.shape, i) else {
            // Sent to where it is not served.
            self.violation.get_or_insert(Violation::NoJob(i));
            return;
        };
        station.arrive(k, now, size, sizes);
        self.next.set(n, station.time());
        self.present[i][n] += 1;
        self.inside[i] += 1;
        self.arrived += 1;
    }

    fn advance(&mut self, now: f64) {
        self.now = now;
    }

    /// Free units of resource j, on those servers where a job waits: see [`Numbering::unit`].
    fn wasted(&self, j: usize) -> f64 {
        let crowded = self.all.iter().filter(|s| s.server.system.any_waits());
        let free = |station: &Station<P, E>| {
            let unit = self.numbering.unit(station.shape, j);
            unit.map_or(0.0, |(own, unit)| {
                station.server.system.free(own) as f64 * unit
            })
        };
        crowded.map(free).sum()
    }

    fn collect(&mut self, mut of_type: impl FnMut(usize, [f64; 3])) {
        self.settle();
        let (sums, numbering) = (&mut self.sums, self.numbering);
        sums.fill([0.0; 3]);
        for Station { server, shape, .. } in &mut self.all {
            server.system.collect(|k, more| {
                let sum = &mut sums[numbering.of_fleet(*shape, k)];
                sum.iter_mut().zip(more).for_each(|(s, m)| *s += m);
            });
        }
        for (i, sum) in sums.iter().enumerate() {
            of_type(i, *sum);
        }
    }

    /// Each server by itself; and jobs in = jobs out + jobs at some server.
    fn audit(&mut self) -> Option<&Violation> {
        self.settle();
        let inside = self.jobs();
        let counted: u64 = self.all.iter().map(|s| s.server.system.jobs()).sum();
        let routed: u64 = self.inside.iter().sum();
        if (counted, routed) != (inside, inside) {
            let found = Violation::Conservation(self.arrived, self.departed, counted);
            self.violation.get_or_insert(found);
        }
        let stations = self.all.iter();
        let found = stations.filter_map(|s| s.server.system.violation()).next();
        self.violation.as_ref().or(found)
    }

    fn now(&self) -> f64 {
        self.now
    }

    fn jobs(&self) -> u64 {
        self.arrived - self.departed
    }

    fn present(&self, i: usize) -> u64 {
        self.inside[i]
    }

    fn counters(&self) -> Counters {
        let each = self.all.iter().map(|s| s.server.system.counters());
        each.fold(Counters::default(), Counters::plus)
    }

    fn guarded_time(&self) -> f64 {
        let each = self.all.iter().map(|s| s.server.system.guarded_time());
        each.sum()
    }
}

/// One of the servers, and when something happens there next. Its rates stay as they are between
/// its own events, whatever happens elsewhere.
struct Station<P, E> {
    server: Server<P, E>,
    /// The shape, by its place in the fleet.
    shape: usize,
    /// The time of the last event here.
    since: f64,
    /// From then on.
    rates: Rates,
    /// When the next job of known size ends.
    end: f64,
}

impl<P: Policy + Send, E: Ends + Send> Station<P, E> {
    fn new(mut server: Server<P, E>, shape: usize) -> Self {
        Station {
            rates: server.rates(),
            end: server.next_end(),
            server,
            shape,
            since: 0.0,
        }
    }

    /// When something happens here next, if nothing arrives.
    fn time(&self) -> f64 {
        // Rounding must not take it into the past.
        self.ring().min(self.end).max(self.since)
    }

    /// When the exponential number will be used up.
    fn ring(&self) -> f64 {
        match self.rates.total > 0.0 {
            true => self.since + self.server.hazard / self.rates.total,
            false => f64::INFINITY,
        }
    }

    fn arrive(&mut self, k: usize, now: f64, size: f64, sizes: &mut Stream) {
        self.pass(now);
        self.server.arrive(k, now, size, sizes);
        self.look_ahead();
    }

    /// What is due at [`Station::time`], which is `now`, happens.
    fn happen(&mut self, now: f64, service: &mut Stream) -> Happened {
        let due = match self.ring() < self.end {
            true => Due::Ring(self.rates),
            false => Due::End,
        };
        self.pass(now);
        let happened = self.server.happen(now, due, service);
        self.look_ahead();
        happened
    }

    fn pass(&mut self, now: f64) {
        // Rounding must not leave less than nothing.
        let left = self.server.hazard - self.rates.total * (now - self.since);
        self.server.hazard = left.max(0.0);
        self.since = now;
    }

    fn look_ahead(&mut self) {
        self.rates = self.server.rates();
        self.end = self.server.next_end();
    }
}
