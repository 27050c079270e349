//! Jobs arrive, divide the servers, and leave; what is measured.

use crate::malleable::policy::{Known, Sharing, Underway};
use crate::malleable::workload::{Curve, Stream as Arriving};
use crate::simulation::{
    Arrival, BURST, LawDriven, Measured, Moment, Passed, Recorder, Replication, Sampler, Settings,
    Stay, Stream, Streams,
};

/// A job that is there.
#[derive(Clone, Copy, Debug)]
struct Job {
    /// What is left of it \[work\].
    left: f64,
    arrived: f64,
    /// When it first had servers; NaN before.
    started: f64,
    /// \[work/time\]
    rate: f64,
}

/// A run under way. Arrivals and sizes stand in streams of their own, so that all rules face the same ones.
pub(super) struct Engine<'a> {
    curve: &'a Curve,
    servers: f64,
    /// E\[S\].
    mean: f64,
    sharing: Sharing,
    known: Known,
    /// Speeds from the largest job on, by the number of jobs, where they follow from it.
    speeds: Vec<Option<Box<[f64]>>>,
    /// From the largest on by what is left.
    jobs: Vec<Job>,
    recorder: Recorder,
    arrivals: LawDriven,
    /// The next arrivals, from `next` on.
    block: Box<[Arrival]>,
    next: usize,
    law: Sampler,
    sizes: Stream,
    now: f64,
    /// When the next job ends; its place.
    end: (f64, usize),
    events: u64,
    present: Moment,
    running: u64,
    in_service: Moment,
    /// When the open bucket began.
    origin: f64,
    violation: Option<String>,
}

/// Speeds of more jobs than this are not remembered.
const REMEMBERED: usize = 512;

/// Arrivals drawn at a time.
const BLOCK: usize = 256;

/// How far rounding may put the servers that are given out above those that there are.
const ROUNDING: f64 = 1e-9;

impl<'a> Engine<'a> {
    /// The `replication`-th run of these settings.
    pub fn new(
        stream: &'a Arriving,
        sharing: Sharing,
        settings: &Settings,
        replication: u32,
    ) -> Self {
        let Streams {
            arrivals, sizes, ..
        } = Streams::new(settings.seed, replication);
        Engine {
            curve: stream.curve(),
            servers: stream.servers(),
            mean: stream.size().mean(),
            sharing,
            known: Known::default(),
            speeds: Vec::new(),
            jobs: Vec::new(),
            recorder: Recorder::new(&stream.statistics(), 0, settings),
            arrivals: LawDriven::poisson(&[stream.arrival_rate()], arrivals),
            block: vec![Arrival::default(); BLOCK].into(),
            next: BLOCK,
            law: Sampler::of(stream.size()),
            sizes,
            now: 0.0,
            end: (f64::INFINITY, 0),
            events: 0,
            present: Moment::default(),
            running: 0,
            in_service: Moment::default(),
            origin: 0.0,
            violation: None,
        }
    }

    fn step(&mut self) {
        if self.next == BLOCK {
            self.arrivals.fill(&mut self.block, &mut []);
            self.next = 0;
        }
        let arrival = self.block[self.next].time;
        let now = arrival.min(self.end.0);
        let passed = now - self.now;
        for job in &mut self.jobs {
            job.left -= job.rate * passed;
        }
        self.now = now;
        while now >= self.recorder.series.next_tick() {
            self.tick();
        }
        if arrival <= self.end.0 {
            self.next += 1;
            self.arrive();
        } else {
            self.leave();
        }
        self.divide();
        self.events += 1;
    }

    fn arrive(&mut self) {
        let job = Job {
            left: self.law.draw(&mut self.sizes),
            arrived: self.now,
            started: f64::NAN,
            rate: 0.0,
        };
        let place = self.jobs.partition_point(|other| other.left > job.left);
        self.jobs.insert(place, job);
        self.present.rise(self.now - self.origin);
        let present = self.jobs.len() as u64;
        self.recorder.arrived(0, self.now, || present);
    }

    fn leave(&mut self) {
        let job = self.jobs.remove(self.end.1);
        self.present.fall(self.now - self.origin);
        let stay = Stay {
            response: self.now - job.arrived,
            waiting: job.started - job.arrived,
        };
        let present = self.jobs.len() as u64;
        self.recorder.departed(0, stay, self.now, || present);
    }

    /// Servers are divided anew.
    fn divide(&mut self) {
        let m = self.jobs.len();
        if self.sharing.follows_order() && m <= REMEMBERED {
            if self.speeds.len() <= m {
                self.speeds.resize(m + 1, None);
            }
            if self.speeds[m].is_none() {
                let servers = self.servers_of_jobs();
                self.audit_servers(&servers);
                let speeds = servers.iter().map(|k| self.curve.at(*k));
                self.speeds[m] = Some(speeds.collect());
            }
            let speeds = self.speeds[m].as_deref().unwrap_or_default();
            for (job, speed) in self.jobs.iter_mut().zip(speeds) {
                job.rate = *speed;
            }
        } else {
            self.jobs.sort_by(|a, b| b.left.total_cmp(&a.left));
            let servers = self.servers_of_jobs();
            self.audit_servers(&servers);
            for (job, k) in self.jobs.iter_mut().zip(servers) {
                job.rate = self.curve.at(k);
            }
        }
        self.end = (f64::INFINITY, 0);
        let mut running = 0;
        for (place, job) in self.jobs.iter_mut().enumerate() {
            if job.rate > 0.0 {
                running += 1;
                if job.started.is_nan() {
                    job.started = self.now;
                }
                // Rounding may have taken more than there was.
                let end = self.now + job.left.max(0.0) / job.rate;
                if end < self.end.0 {
                    self.end = (end, place);
                }
            }
        }
        let at = self.now - self.origin;
        self.in_service
            .jump(running as f64 - self.running as f64, at);
        self.running = running;
    }

    fn servers_of_jobs(&mut self) -> Vec<f64> {
        let underway = |job: &Job| Underway {
            // Rounding may have taken more than there was.
            left: job.left.max(f64::MIN_POSITIVE),
            weight: 1.0,
            curve: self.curve,
        };
        let underway: Vec<Underway<'_>> = self.jobs.iter().map(underway).collect();
        self.sharing
            .servers(&underway, self.servers, &mut self.known)
    }

    fn audit_servers(&mut self, servers: &[f64]) {
        let sum: f64 = servers.iter().sum();
        let within = sum <= self.servers * (1.0 + ROUNDING);
        if !within && self.violation.is_none() {
            let all = self.servers;
            self.violation = Some(format!("{sum} servers are given out, but there are {all}"));
        }
    }

    #[cold]
    fn tick(&mut self) {
        let Passed { at, closes, .. } = self.recorder.series.pass(self.now);
        if !closes {
            return;
        }
        let length = at - std::mem::replace(&mut self.origin, at);
        let present = self.present.collect(self.jobs.len() as f64, length);
        let in_service = self.in_service.collect(self.running as f64, length);
        self.recorder
            .close(at, |row| row.integrals(0, present, in_service));
    }
}

impl Measured for Engine<'_> {
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
        self.jobs.len() as u64
    }

    fn present(&self, _: usize) -> u64 {
        self.jobs.len() as u64
    }
}

impl Replication for Engine<'_> {
    type Violation = String;

    fn run(&mut self, events: u64, crowd: u64, stopped: impl Fn() -> bool) {
        while self.events < events && self.jobs() <= crowd && !stopped() {
            // What an event costs grows with the number of jobs.
            let burst = events.min(self.events + BURST / (1 + self.jobs() / 64));
            while self.events < burst && self.jobs() <= crowd {
                self.step();
            }
        }
    }

    fn audit(&mut self) -> Option<&String> {
        // Jobs that run at the same speed keep their order up to rounding.
        let near = ROUNDING * self.mean;
        let mut neighbours = self.jobs.windows(2);
        let in_order = neighbours.all(|two| two[0].left >= two[1].left - near);
        if self.violation.is_none() && !in_order {
            let why = "jobs are not in the order of what is left of them";
            self.violation = Some(why.into());
        }
        self.violation.as_ref()
    }
}
