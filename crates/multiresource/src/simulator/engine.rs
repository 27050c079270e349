use super::laws;
use super::measures::Columns;
use super::server::{EventOutcome, Server};
use crate::policy::{Counters, Violation};
use crate::workload::Workload;
use synth_simulation::{
    Arrival, ArrivalBuffer, BURST, JobClass, Passed, RandomStream, Recorder, Replication,
    ReplicationState, Settings, Streams,
};

/// A running simulation. There is a separate random stream for each of arrivals, sizes and service,
/// so that the arrivals and the sizes are the same for all policies. No memory is allocated for an
/// event, except when a queue grows.
pub(super) struct Engine {
    server: Server,
    recorder: Recorder,
    columns: Columns,
    events: u64,
    coming: ArrivalBuffer,
    sizes: RandomStream,
    service: RandomStream,
    /// The number of switches before the present bucket of the series.
    switches: u64,
    /// The time under the guard before the present bucket.
    guarded: f64,
}

impl Engine {
    pub(super) fn new(
        classes: &[JobClass],
        workload: &Workload,
        server: impl FnOnce(&mut RandomStream) -> Server,
        settings: &Settings,
        replication: u32,
    ) -> Self {
        let Streams {
            arrivals,
            mut service,
            sizes,
            ..
        } = Streams::new(settings.seed, replication);
        let columns = Columns::of(workload);
        Engine {
            server: server(&mut service),
            recorder: Recorder::new(classes, columns.width(), settings),
            columns,
            events: 0,
            coming: ArrivalBuffer::new(laws::arrivals(workload, arrivals)),
            sizes,
            service,
            switches: 0,
            guarded: 0.0,
        }
    }

    #[inline(always)]
    fn step(&mut self) {
        let arrival = self.coming.peek();
        let (now, due) = self.server.next_event(arrival.time);
        while now >= self.recorder.series.next_tick {
            self.tick(now);
        }
        match due {
            None => self.arrive(arrival),
            Some(due) => match self.server.happen(now, due, &mut self.service) {
                EventOutcome::Nothing => return,
                EventOutcome::Clock => {}
                EventOutcome::Departure(i, stay) => {
                    let system = &self.server.system;
                    let present = || system.present(i);
                    self.recorder.departed(i, stay, system.now(), present);
                }
            },
        }
        self.events += 1;
    }

    #[inline(always)]
    fn arrive(&mut self, Arrival { time, class }: Arrival) {
        let i = class as usize;
        let size = self.coming.pass();
        self.server.arrive(i, time, size, &mut self.sizes);
        let system = &self.server.system;
        self.recorder.arrived(i, time, || system.present(i));
    }

    #[cold]
    fn tick(&mut self, now: f64) {
        let series = &mut self.recorder.series;
        let length = series.tick;
        let Passed { count, at, closes } = series.pass(now);
        let system = &mut self.server.system;
        system.advance(at);
        for j in 0..self.columns.resources {
            let waits = system.queued().next().is_some();
            let free = if waits { system.total_free(j) } else { 0.0 };
            series.extra_mut()[self.columns.wasted(j)] += free * length * count;
        }
        if closes {
            self.close_bucket(at);
        }
    }

    fn close_bucket(&mut self, now: f64) {
        let (server, columns) = (&mut self.server, self.columns);
        let switches = server.system.counters().switches;
        let before = std::mem::replace(&mut self.switches, switches);
        let guarded = &mut self.guarded;
        self.recorder.close(now, |row| {
            row.add(Columns::SWITCHES, (switches - before) as f64);
            server.system.collect(|i, [present, busy, offered]| {
                row.integrals(i, present, busy);
                row.add(columns.offered(i), offered);
            });
            server.settle();
            let before = std::mem::replace(guarded, server.system.guarded_time());
            row.add(Columns::GUARDED, *guarded - before);
        });
    }
}

impl ReplicationState for Engine {
    fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    fn events(&self) -> u64 {
        self.events
    }

    fn now(&self) -> f64 {
        self.server.system.now()
    }

    fn jobs(&self) -> u64 {
        self.server.system.jobs()
    }

    fn present(&self, i: usize) -> u64 {
        self.server.system.present(i)
    }

    fn slowest_clock(&self) -> f64 {
        let running = self
            .server
            .system
            .clocks()
            .iter()
            .filter(|rate| **rate > 0.0);
        running.copied().fold(f64::INFINITY, f64::min)
    }
}

impl Replication for Engine {
    type Violation = Violation;

    fn begin_with(&mut self, jobs: &[u64]) {
        self.coming.arrivals.begin_with(jobs);
    }

    fn run(&mut self, events: u64, crowd: u64, stopped: impl Fn() -> bool) {
        while self.events < events && self.server.system.jobs() <= crowd && !stopped() {
            let burst = events.min(self.events + BURST);
            while self.events < burst {
                self.step();
            }
        }
    }

    fn audit(&mut self) -> Option<&Violation> {
        self.server.system.audit();
        self.server.system.violation()
    }
}

pub(super) fn counters(engines: &[Engine]) -> Counters {
    let each = engines.iter().map(|e| e.server.system.counters());
    each.fold(Counters::default(), Counters::plus)
}
