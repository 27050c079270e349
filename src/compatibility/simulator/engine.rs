//! Jobs come, are served by some discipline, and leave; what is measured.

use super::measures::Columns;
use crate::compatibility::workload::{Cluster, Jobs};
use crate::simulation::{
    Arrival, BURST, LawDriven, Measured, Moment, Passed, Recorder, Replication, Sampler, Settings,
    Stay, Stream, Streams,
};

/// How jobs share the servers.
pub(super) trait Discipline: Send {
    /// A job comes at time `now`.
    fn arrive(&mut self, now: f64, job: Arriving<'_>, gauges: &mut Gauges);

    /// When something happens next, if no job comes before.
    fn next(&mut self) -> f64;

    /// It happens, at that time: a job leaves, or only goes elsewhere.
    fn happen(&mut self, now: f64, gauges: &mut Gauges) -> Option<Left>;

    /// Checks what must hold.
    fn audit(&self) -> Result<(), String>;
}

/// A job that comes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arriving<'a> {
    /// Its class.
    pub class: u32,
    /// Its size \[work\].
    pub size: f64,
    /// The servers that it may use.
    pub servers: &'a [u32],
}

/// A job that leaves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Left {
    pub class: u32,
    pub arrived: f64,
    /// When it was last taken into service.
    pub started: f64,
}

/// A number, and its integral since the last tick that closed a bucket.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gauge {
    pub count: u64,
    moment: Moment,
}

impl Gauge {
    pub fn rise(&mut self, at: f64) {
        self.count += 1;
        self.moment.rise(at);
    }

    pub fn fall(&mut self, at: f64) {
        self.count -= 1;
        self.moment.fall(at);
    }

    fn collect(&mut self, length: f64) -> f64 {
        self.moment.collect(self.count as f64, length)
    }
}

/// What is integrated over time.
pub(super) struct Gauges {
    /// Jobs that are there, by class of the statistics.
    present: Vec<Gauge>,
    /// Those that some server works on.
    in_service: Vec<Gauge>,
    /// 1 for each server that works.
    busy: Vec<Gauge>,
    /// Jobs that went to the end of the queue.
    interruptions: u64,
    /// Jobs in the system.
    jobs: u64,
    /// Whether classes are told apart.
    apart: bool,
    /// When the open bucket began.
    origin: f64,
}

impl Gauges {
    fn of(&self, class: u32) -> usize {
        if self.apart { class as usize } else { 0 }
    }

    /// Some server works on a job of this class from now on.
    pub fn started(&mut self, class: u32, now: f64) {
        let i = self.of(class);
        self.in_service[i].rise(now - self.origin);
    }

    /// None does any more.
    pub fn stopped(&mut self, class: u32, now: f64) {
        let i = self.of(class);
        self.in_service[i].fall(now - self.origin);
    }

    /// A server works from now on, or does nothing.
    pub fn works(&mut self, server: usize, working: bool, now: f64) {
        let at = now - self.origin;
        match (self.busy[server].count, working) {
            (0, true) => self.busy[server].rise(at),
            (1, false) => self.busy[server].fall(at),
            _ => {}
        }
    }

    /// A job went to the end of the queue.
    pub fn interrupted(&mut self) {
        self.interruptions += 1;
    }
}

/// Which servers a job that comes may use.
enum Servers {
    OfClass(Vec<Vec<u32>>),
    /// So many of all, drawn.
    Drawn {
        all: u32,
        drawn: Vec<u32>,
    },
}

impl Servers {
    fn of(cluster: &Cluster) -> Self {
        match cluster.jobs() {
            Jobs::Classes(classes) => {
                let own = classes.iter().map(|class| class.servers.iter());
                Servers::OfClass(own.map(|own| own.map(|s| *s as u32).collect()).collect())
            }
            Jobs::Random(random) => Servers::Drawn {
                all: cluster.servers().len() as u32,
                drawn: vec![0; random.degree as usize],
            },
        }
    }

    fn next(&mut self, class: u32, stream: &mut Stream) -> &[u32] {
        match self {
            Servers::OfClass(own) => &own[class as usize],
            Servers::Drawn { all, drawn } => {
                let degree = drawn.len();
                // R. W. Floyd's sample: each set of so many is as probable as any other.
                for n in 0..degree {
                    let last = *all - (degree - n) as u32;
                    let server = (stream.uniform() * f64::from(last + 1)) as u32;
                    let taken = drawn[..n].contains(&server);
                    drawn[n] = if taken { last } else { server };
                }
                drawn
            }
        }
    }
}

/// A run under way. Arrivals, sizes and the servers that are drawn stand in streams of their own, so that all disciplines
/// face the same ones.
pub(super) struct Engine<D> {
    discipline: D,
    gauges: Gauges,
    servers: Servers,
    recorder: Recorder,
    columns: Columns,
    arrivals: LawDriven,
    /// The next arrivals, from `next` on.
    block: Box<[Arrival]>,
    next: usize,
    law: Sampler,
    sizes: Stream,
    routing: Stream,
    now: f64,
    events: u64,
    /// Interruptions until the open bucket began.
    interruptions: u64,
    violation: Option<String>,
}

/// Arrivals drawn at a time.
const BLOCK: usize = 256;

impl<D: Discipline> Engine<D> {
    /// The `replication`-th run of these settings. `discipline` gets the stream of service.
    pub fn new(
        cluster: &Cluster,
        discipline: impl FnOnce(Stream) -> D,
        settings: &Settings,
        replication: u32,
    ) -> Self {
        let Streams {
            arrivals,
            service,
            sizes,
            routing,
        } = Streams::new(settings.seed, replication);
        let classes = cluster.statistics();
        let count = cluster.servers().len();
        let columns = Columns::of(cluster);
        let gauges = |count: usize| vec![Gauge::default(); count];
        Engine {
            discipline: discipline(service),
            gauges: Gauges {
                present: gauges(classes.len()),
                in_service: gauges(classes.len()),
                busy: gauges(count),
                interruptions: 0,
                jobs: 0,
                apart: cluster.are_told_apart(),
                origin: 0.0,
            },
            servers: Servers::of(cluster),
            recorder: Recorder::new(&classes, columns.width(), settings),
            columns,
            arrivals: LawDriven::poisson(&cluster.arrival_rates(), arrivals),
            block: vec![Arrival::default(); BLOCK].into(),
            next: BLOCK,
            law: Sampler::of(cluster.size()),
            sizes,
            routing,
            now: 0.0,
            events: 0,
            interruptions: 0,
            violation: None,
        }
    }

    fn step(&mut self) {
        if self.next == BLOCK {
            self.arrivals.fill(&mut self.block, &mut []);
            self.next = 0;
        }
        let arrival = self.block[self.next];
        let due = self.discipline.next();
        self.now = arrival.time.min(due);
        while self.now >= self.recorder.series.next_tick() {
            self.tick();
        }
        if arrival.time <= due {
            self.next += 1;
            self.arrive(arrival.class);
        } else if let Some(left) = self.discipline.happen(self.now, &mut self.gauges) {
            self.leave(&left);
        }
        self.events += 1;
    }

    fn arrive(&mut self, class: u32) {
        let (now, gauges) = (self.now, &mut self.gauges);
        let i = gauges.of(class);
        gauges.present[i].rise(now - gauges.origin);
        gauges.jobs += 1;
        let job = Arriving {
            class,
            size: self.law.draw(&mut self.sizes),
            servers: self.servers.next(class, &mut self.routing),
        };
        self.discipline.arrive(now, job, gauges);
        let present = gauges.present[i].count;
        self.recorder.arrived(i, now, || present);
    }

    fn leave(&mut self, left: &Left) {
        let (now, gauges) = (self.now, &mut self.gauges);
        let i = gauges.of(left.class);
        gauges.present[i].fall(now - gauges.origin);
        gauges.jobs -= 1;
        let stay = Stay {
            response: now - left.arrived,
            waiting: left.started - left.arrived,
        };
        let present = gauges.present[i].count;
        self.recorder.departed(i, stay, now, || present);
    }

    #[cold]
    fn tick(&mut self) {
        let Passed { at, closes, .. } = self.recorder.series.pass(self.now);
        if !closes {
            return;
        }
        let (gauges, columns) = (&mut self.gauges, self.columns);
        let length = at - std::mem::replace(&mut gauges.origin, at);
        let before = std::mem::replace(&mut self.interruptions, gauges.interruptions);
        self.recorder.close(at, |row| {
            let classes = gauges.present.iter_mut().zip(&mut gauges.in_service);
            for (i, (present, busy)) in classes.enumerate() {
                row.integrals(i, present.collect(length), busy.collect(length));
            }
            row.add(
                Columns::INTERRUPTIONS,
                (gauges.interruptions - before) as f64,
            );
            for s in columns.servers() {
                row.add(Columns::busy(s), gauges.busy[s].collect(length));
            }
        });
    }
}

impl<D: Discipline> Measured for Engine<D> {
    fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    fn events(&self) -> u64 {
        self.events
    }

    fn now(&self) -> f64 {
        self.now
    }

    fn jobs(&self) -> u64 {
        self.gauges.jobs
    }

    fn present(&self, i: usize) -> u64 {
        self.gauges.present[i].count
    }
}

impl<D: Discipline> Replication for Engine<D> {
    type Violation = String;

    fn run(&mut self, events: u64, crowd: u64, stopped: impl Fn() -> bool) {
        while self.events < events && self.gauges.jobs <= crowd && !stopped() {
            let burst = events.min(self.events + BURST);
            while self.events < burst {
                self.step();
            }
        }
    }

    fn audit(&mut self) -> Option<&String> {
        if self.violation.is_none() {
            self.violation = self.discipline.audit().err();
        }
        self.violation.as_ref()
    }
}
