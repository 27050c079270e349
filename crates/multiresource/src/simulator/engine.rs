use super::measures::Columns;
use super::server::EventOutcome;
use super::stepping::SteppedRun;
use crate::policy::{Counters, Violation};
use crate::workload::Workload;
use synth_simulation::{
    BURST, JobClass, Passed, Recorder, Replication, ReplicationState, Settings,
};

/// A running simulation. No memory is allocated for an event, except when a queue grows.
pub(super) struct Engine {
    run: SteppedRun,
    recorder: Recorder,
    columns: Columns,
    events: u64,
    /// The number of switches before the present bucket of the series.
    switches: u64,
    /// The time under the guard before the present bucket.
    guarded: f64,
}

impl Engine {
    pub(super) fn new(
        classes: &[JobClass],
        workload: &Workload,
        run: SteppedRun,
        settings: &Settings,
    ) -> Self {
        let columns = Columns::of(workload);
        Engine {
            run,
            recorder: Recorder::new(classes, columns.width(), settings),
            columns,
            events: 0,
            switches: 0,
            guarded: 0.0,
        }
    }

    #[inline(always)]
    fn step(&mut self) {
        let arrival = self.run.coming.peek();
        let (now, due) = self.run.server.next_event(arrival.time);
        while now >= self.recorder.series.next_tick {
            self.tick(now);
        }
        match due {
            None => {
                self.run.arrive(arrival);
                let (i, system) = (arrival.class as usize, &self.run.server.system);
                let present = || system.present(i);
                self.recorder.arrived(i, arrival.time, present);
            }
            Some(due) => match self.run.server.happen(now, due, &mut self.run.service) {
                EventOutcome::Nothing => return,
                EventOutcome::Clock => {}
                EventOutcome::Departure(i, stay) => {
                    let system = &self.run.server.system;
                    let present = || system.present(i);
                    self.recorder.departed(i, stay, system.now(), present);
                }
            },
        }
        self.events += 1;
    }

    #[cold]
    fn tick(&mut self, now: f64) {
        let series = &mut self.recorder.series;
        let length = series.tick;
        let Passed { count, at, closes } = series.pass(now);
        let system = &mut self.run.server.system;
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
        let (server, columns) = (&mut self.run.server, self.columns);
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
        self.run.server.system.now()
    }

    fn jobs(&self) -> u64 {
        self.run.server.system.jobs()
    }

    fn present(&self, i: usize) -> u64 {
        self.run.server.system.present(i)
    }

    fn slowest_clock(&self) -> f64 {
        let clocks = self.run.server.system.clocks().iter().copied();
        let running = clocks.filter(|rate| *rate > 0.0);
        running.fold(f64::INFINITY, f64::min)
    }
}

impl Replication for Engine {
    type Violation = Violation;

    fn begin_with(&mut self, jobs: &[u64]) {
        self.run.coming.arrivals.begin_with(jobs);
    }

    fn run(&mut self, events: u64, crowd: u64, stopped: impl Fn() -> bool) {
        while self.events < events && self.run.server.system.jobs() <= crowd && !stopped() {
            let burst = events.min(self.events + BURST);
            while self.events < burst {
                self.step();
            }
        }
    }

    fn audit(&mut self) -> Option<&Violation> {
        self.run.server.system.audit();
        self.run.server.system.violation()
    }
}

pub(super) fn counters(engines: &[Engine]) -> Counters {
    let each = engines.iter().map(|e| e.run.server.system.counters());
    each.fold(Counters::default(), Counters::plus)
}
