use super::servers::{Kind, Servers};
use super::tournament::Tournament;
use crate::multiresource::policy::{Counters, Job, Router, Violation};
use crate::multiresource::simulator::Settings;
use crate::multiresource::simulator::arrivals::{Arrival, Arrivals};
use crate::multiresource::simulator::calendar::Ends;
use crate::multiresource::simulator::engine::{ARRIVALS_A_TICK, BLOCK, BURST, CROWDED};
use crate::multiresource::simulator::quantiles::Histogram;
use crate::multiresource::simulator::random::{Stream, Streams};
use crate::multiresource::simulator::replication::Replication;
use crate::multiresource::simulator::series::{Measured, Series};
use crate::multiresource::workload::{Fleet, JobType, Workload};

/// A run of a fleet under way: all servers on one clock. A calendar knows which of them comes next;
/// an event costs O(log servers), an arrival by least load O(servers) of counting.
pub(super) struct FleetEngine<'a, E> {
    servers: Servers<E>,
    calendar: Tournament,
    router: &'a Router,
    series: Series,
    responses: Vec<[Histogram; 2]>,
    events: u64,
    now: f64,
    arrivals: Arrivals,
    /// The next arrivals, from `next` on.
    block: Box<[Arrival]>,
    next: usize,
    sizes: Stream,
    service: Stream,
    routing: Stream,
    /// Jobs of each type at each server, those of one type side by side.
    present: Vec<Vec<u32>>,
    arrived: u64,
    departed: u64,
    violation: Option<Violation>,
}

impl<'a, E: Ends> FleetEngine<'a, E> {
    /// The `replication`-th run of these settings.
    pub fn new(
        fleet: &Fleet,
        kinds: &[Kind<'_>],
        router: &'a Router,
        ends: impl Fn(&Workload) -> E,
        settings: &Settings,
        replication: u32,
    ) -> Self {
        let Streams {
            arrivals,
            mut service,
            sizes,
            routing,
        } = Streams::new(settings.seed, replication);
        let servers = Servers::new(fleet, kinds, ends, &mut service);
        let workload = fleet.envelope();
        let rate = workload.total_arrival_rate();
        let load: f64 = fleet.types().iter().map(JobType::offered_load).sum();
        let histograms = || [Histogram::new(load / rate), Histogram::new(load / rate)];
        let mut engine = FleetEngine {
            series: Series::new(&servers, ARRIVALS_A_TICK / rate, &[]),
            responses: fleet.types().iter().map(|_| histograms()).collect(),
            calendar: Tournament::new(servers.all.len()),
            present: vec![vec![0; servers.all.len()]; fleet.types().len()],
            servers,
            router,
            events: 0,
            now: 0.0,
            arrivals: Arrivals::new(workload, arrivals),
            block: vec![Arrival::default(); BLOCK].into(),
            next: BLOCK,
            sizes,
            service,
            routing,
            arrived: 0,
            departed: 0,
            violation: None,
        };
        engine.look_ahead();
        engine
    }

    /// One event at one server: an arrival, a completion or a clock, and its policy's reaction.
    fn step(&mut self) {
        if self.next == BLOCK {
            self.arrivals.fill(&mut self.block);
            self.next = 0;
        }
        let arrival = self.block[self.next];
        let (n, time) = self.calendar.first();
        let until = arrival.time.min(time);
        while until >= self.series.next_tick() {
            self.tick();
        }
        self.now = until;
        if arrival.time <= time {
            self.next += 1;
            self.arrive(arrival);
            self.events += 1;
            return;
        }
        let server = &mut self.servers.all[n];
        let (happened, departed) = server.step(&mut self.service);
        self.calendar.set(n, server.next());
        self.events += u64::from(happened);
        if let Some((k, job)) = departed {
            let i = self.servers.types[server.shape][k];
            self.depart(i, n, job);
        }
    }

    fn arrive(&mut self, Arrival { time, kind }: Arrival) {
        let i = kind as usize;
        let draw = self.routing.uniform();
        let n = self.router.route(i, &self.present[i], draw);
        let server = &mut self.servers.all[n];
        // The router sends types only where they are served.
        let Some(k) = self.servers.local[server.shape][i] else {
            self.violation.get_or_insert(Violation::NoJob(i));
            return;
        };
        let size = server.size(k, &mut self.sizes);
        server.arrive(k, time, size);
        self.calendar.set(n, server.next());
        self.present[i][n] += 1;
        self.arrived += 1;
    }

    fn depart(&mut self, i: usize, n: usize, job: Job) {
        let response = self.now - job.arrived;
        self.series.departed(i, response);
        self.responses[i][1].add(response);
        self.present[i][n] -= 1;
        self.departed += 1;
    }

    #[cold]
    fn tick(&mut self) {
        if self.series.tick(&self.servers) {
            let merges = self.series.merges;
            self.servers.settle(self.series.last_tick());
            self.series.close(&mut self.servers);
            self.look_ahead();
            if self.series.merges > merges {
                for pair in &mut self.responses {
                    pair.swap(0, 1);
                    pair[1].clear();
                }
            }
        }
    }

    fn look_ahead(&mut self) {
        for (n, server) in self.servers.all.iter().enumerate() {
            self.calendar.set(n, server.next());
        }
    }

    fn inside(&self) -> u64 {
        self.arrived - self.departed
    }
}

impl<E: Ends + Send> Replication for FleetEngine<'_, E> {
    fn run(&mut self, events: u64, stopped: impl Fn() -> bool) {
        while self.events < events && self.inside() <= CROWDED && !stopped() {
            let burst = events.min(self.events + BURST);
            while self.events < burst && self.violation.is_none() {
                self.step();
            }
            if self.violation.is_some() {
                return;
            }
        }
    }

    /// Each server by itself; and jobs in = jobs out + jobs at some server.
    fn audit(&mut self) -> Option<&Violation> {
        self.servers.settle(self.now);
        self.look_ahead();
        let counted: u64 = self.servers.all.iter().map(|s| s.system.jobs()).sum();
        let routed: u64 = self.present.iter().flatten().map(|q| u64::from(*q)).sum();
        if (counted, routed) != (self.inside(), self.inside()) {
            let found = Violation::Conservation(self.arrived, self.departed, counted);
            self.violation.get_or_insert(found);
        }
        let servers = self.servers.all.iter();
        let found = servers.filter_map(|s| s.system.violation()).next();
        self.violation.as_ref().or(found)
    }

    fn series(&self) -> &Series {
        &self.series
    }

    fn responses(&self, i: usize) -> &[Histogram; 2] {
        &self.responses[i]
    }

    fn events(&self) -> u64 {
        self.events
    }

    fn now(&self) -> f64 {
        self.now
    }

    fn jobs(&self) -> u64 {
        self.inside()
    }

    fn present(&self, i: usize) -> u64 {
        self.present[i].iter().map(|q| u64::from(*q)).sum()
    }

    fn counters(&self) -> Counters {
        self.servers.counters()
    }
}
