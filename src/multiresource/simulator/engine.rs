use super::laws;
use super::measures::Columns;
use crate::multiresource::policy::{Counters, Violation};
use crate::multiresource::workload::Workload;
use crate::simulation::{
    Arrival, BURST, Class, LawDriven, Measured, Passed, Recorder, Replication, Settings, Stay,
    Stream, Streams,
};

/// What jobs arrive at: one server, or all those of a fleet.
pub(in crate::multiresource) trait Servers: Send {
    /// What is due at one of them.
    type Due;

    /// When the next event is: at a server, if something is due there before a job arrives at
    /// time `arrival`; else the arrival.
    fn due(&mut self, arrival: f64) -> (f64, Option<Self::Due>);

    /// What is due happens at time `now`, and the rule reacts.
    fn happen(&mut self, now: f64, due: Self::Due, service: &mut Stream) -> Happened;

    /// A job of type i arrives at time `now`, and the rule reacts. Its size \[time\], or NaN where
    /// it is to be drawn.
    fn arrive(&mut self, i: usize, now: f64, size: f64, sizes: &mut Stream);

    /// Time goes on to `now`, where there is no event.
    fn advance(&mut self, now: f64);

    /// Free units of resource j while a job waits.
    fn wasted(&self, j: usize) -> f64;

    /// Integrals over the time since this was last called up to that of
    /// [`advance`](Servers::advance): jobs present, in service and slots offered, by type. Checks
    /// what must hold then.
    fn collect(&mut self, of_type: impl FnMut(usize, [f64; 3]));

    /// Checks what must hold; what did not so far.
    fn audit(&mut self) -> Option<&Violation>;

    /// The time of the last event.
    fn now(&self) -> f64;

    /// Jobs in the system.
    fn jobs(&self) -> u64;

    /// Those of type i.
    fn present(&self, i: usize) -> u64;

    fn counters(&self) -> Counters;

    /// How long guards were in charge, over all servers, up to the last [`collect`](Servers::collect).
    fn guarded_time(&self) -> f64;
}

/// What an event turned out to be.
pub(in crate::multiresource) enum Happened {
    /// The rate was a bound, and not reached: no event.
    Nothing,
    /// A clock rang.
    Clock,
    /// A job of this type left after this stay.
    Departure(usize, Stay),
}

/// A run under way: arrivals, servers, and what is measured. Arrivals, sizes and service stand in
/// streams of their own, so that all policies face the same arrivals and sizes. Nothing is
/// allocated an event but by growing queues.
pub(super) struct Engine<S> {
    servers: S,
    recorder: Recorder,
    columns: Columns,
    events: u64,
    arrivals: LawDriven,
    /// The next arrivals, from `next` on.
    block: Box<[Arrival]>,
    /// Sizes that come with them; empty where none do.
    given: Box<[f64]>,
    next: usize,
    sizes: Stream,
    service: Stream,
    /// Switches until the open bucket of the series began.
    switches: u64,
    /// Time under guard until then.
    guarded: f64,
}

/// Arrivals drawn at a time.
const BLOCK: usize = 256;

impl<S: Servers> Engine<S> {
    /// The `replication`-th run of this workload, with these classes. `servers` gets the streams of service and of
    /// routing.
    pub fn new(
        classes: &[Class],
        workload: &Workload,
        servers: impl FnOnce(&mut Stream, Stream) -> S,
        settings: &Settings,
        replication: u32,
    ) -> Self {
        let Streams {
            arrivals,
            mut service,
            sizes,
            routing,
        } = Streams::new(settings.seed, replication);
        let columns = Columns::of(workload);
        let arrivals = laws::arrivals(workload, arrivals);
        let told = if arrivals.tells_sizes() { BLOCK } else { 0 };
        Engine {
            servers: servers(&mut service, routing),
            recorder: Recorder::new(classes, columns.width(), settings),
            columns,
            events: 0,
            arrivals,
            block: vec![Arrival::default(); BLOCK].into(),
            given: vec![f64::NAN; told].into(),
            next: BLOCK,
            sizes,
            service,
            switches: 0,
            guarded: 0.0,
        }
    }

    /// One event: an arrival, a completion or a clock, and the policy's reaction.
    #[inline(always)]
    fn step(&mut self) {
        if self.next == BLOCK {
            self.refill();
        }
        let arrival = self.block[self.next];
        let (now, due) = self.servers.due(arrival.time);
        self.pass(now);
        match due {
            None => self.arrive(arrival),
            Some(due) => match self.servers.happen(now, due, &mut self.service) {
                Happened::Nothing => return,
                Happened::Clock => {}
                Happened::Departure(i, stay) => {
                    let (servers, now) = (&self.servers, self.servers.now());
                    self.recorder.departed(i, stay, now, || servers.present(i));
                }
            },
        }
        self.events += 1;
    }

    #[inline(always)]
    fn refill(&mut self) {
        self.given.fill(f64::NAN);
        self.arrivals.fill(&mut self.block, &mut self.given);
        self.next = 0;
    }

    #[inline(always)]
    fn arrive(&mut self, Arrival { time, class }: Arrival) {
        let i = class as usize;
        let size = self.given.get(self.next).copied().unwrap_or(f64::NAN);
        self.next += 1;
        self.servers.arrive(i, time, size, &mut self.sizes);
        let servers = &self.servers;
        self.recorder.arrived(i, time, || servers.present(i));
    }

    /// Time passes, and with it the ticks of the series.
    #[inline(always)]
    fn pass(&mut self, now: f64) {
        while now >= self.recorder.series.next_tick() {
            self.tick(now);
        }
    }

    /// Ticks up to the event at time `now`, until which nothing changes.
    #[cold]
    fn tick(&mut self, now: f64) {
        let series = &mut self.recorder.series;
        let length = series.tick_length();
        let Passed { count, at, closes } = series.pass(now);
        self.servers.advance(at);
        for j in 0..self.columns.resources {
            series.extra_mut()[self.columns.wasted(j)] += self.servers.wasted(j) * length * count;
        }
        if closes {
            self.close_bucket(at);
        }
    }

    fn close_bucket(&mut self, now: f64) {
        let (servers, columns) = (&mut self.servers, self.columns);
        let switches = servers.counters().switches;
        let before = std::mem::replace(&mut self.switches, switches);
        let guarded = &mut self.guarded;
        self.recorder.close(now, |row| {
            row.add(Columns::SWITCHES, (switches - before) as f64);
            servers.collect(|i, [present, busy, offered]| {
                row.integrals(i, present, busy);
                row.add(columns.offered(i), offered);
            });
            let before = std::mem::replace(guarded, servers.guarded_time());
            row.add(Columns::GUARDED, *guarded - before);
        });
    }
}

impl<S: Servers> Measured for Engine<S> {
    fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    fn events(&self) -> u64 {
        self.events
    }

    fn now(&self) -> f64 {
        self.servers.now()
    }

    fn jobs(&self) -> u64 {
        self.servers.jobs()
    }

    fn present(&self, i: usize) -> u64 {
        self.servers.present(i)
    }
}

impl<S: Servers> Replication for Engine<S> {
    type Violation = Violation;

    fn run(&mut self, events: u64, crowd: u64, stopped: impl Fn() -> bool) {
        while self.events < events && self.servers.jobs() <= crowd && !stopped() {
            let burst = events.min(self.events + BURST);
            while self.events < burst {
                self.step();
            }
        }
    }

    fn audit(&mut self) -> Option<&Violation> {
        self.servers.audit()
    }
}

/// The counters of all engines together.
pub(super) fn counters<S: Servers>(engines: &[Engine<S>]) -> Counters {
    let each = engines.iter().map(|e| e.servers.counters());
    each.fold(Counters::default(), Counters::plus)
}
