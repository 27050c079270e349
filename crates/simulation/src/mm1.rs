//! The smallest engine: one server with exponential sizes, first come, first served (M/M/1). It shows what an engine has to do, and
//! stands for one where what is tested knows no kind of workload.

use std::collections::VecDeque;
use std::convert::Infallible;

use serde::{Deserialize, Serialize};

use crate::*;

/// Events are arrivals and departures.
struct Queue {
    recorder: Recorder,
    arrivals: LawDriven,
    law: Sampler,
    sizes: Stream,
    next: Arrival,
    /// Arrival times and sizes; the first job is in service.
    jobs: VecDeque<(f64, f64)>,
    end: f64,
    now: f64,
    events: u64,
    present: Meter,
    busy: Meter,
    origin: f64,
}

/// The extra column: jobs that found the server empty.
const FOUND_EMPTY: usize = 0;

impl Queue {
    fn new(classes: &[Class], settings: &Settings, replication: u32) -> Self {
        let Streams {
            arrivals, sizes, ..
        } = Streams::new(settings.seed, replication);
        let mut queue = Queue {
            recorder: Recorder::new(classes, 1, settings),
            arrivals: LawDriven::poisson(&[classes[0].arrival_rate], arrivals),
            law: Sampler::Exponential(classes[0].mean_size),
            sizes,
            next: Arrival::default(),
            jobs: VecDeque::new(),
            end: f64::INFINITY,
            now: 0.0,
            events: 0,
            present: Meter::default(),
            busy: Meter::default(),
            origin: 0.0,
        };
        queue.draw();
        queue
    }

    fn draw(&mut self) {
        let mut block = [Arrival::default()];
        self.arrivals.fill(&mut block, &mut []);
        [self.next] = block;
    }

    fn step(&mut self) {
        self.now = self.next.time.min(self.end);
        while self.now >= self.recorder.series.next_tick() {
            let passed = self.recorder.series.pass(self.now);
            let tick = passed.at;
            if passed.closes {
                let length = tick - std::mem::replace(&mut self.origin, tick);
                let Queue { present, busy, .. } = self;
                self.recorder.close(tick, |row| {
                    row.integrals(0, present.collect(length), busy.collect(length));
                });
            }
        }
        let now = self.now;
        if self.next.time <= self.end {
            let size = self.law.draw(&mut self.sizes);
            self.jobs.push_back((now, size));
            let present = self.jobs.len() as u64;
            self.recorder.arrived(0, now, || present);
            if present == 1 {
                self.end = now + size;
                self.recorder.series.extra_mut()[FOUND_EMPTY] += 1.0;
            }
            self.draw();
        } else {
            let Some((arrived, size)) = self.jobs.pop_front() else {
                return;
            };
            let response = now - arrived;
            let waiting = response - size;
            let present = self.jobs.len() as u64;
            let stay = Stay { response, waiting };
            self.recorder.departed(0, stay, now, || present);
            self.end = self.jobs.front().map_or(f64::INFINITY, |job| now + job.1);
        }
        let at = now - self.origin;
        self.present.set(self.jobs.len() as f64, at);
        self.busy.set(self.jobs.len().min(1) as f64, at);
        self.events += 1;
    }
}

impl Measured for Queue {
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
        self.jobs()
    }
}

impl Replication for Queue {
    type Violation = Infallible;

    fn run(&mut self, events: u64, _: u64, stopped: impl Fn() -> bool) {
        while self.events < events && !stopped() {
            self.step();
        }
    }

    fn audit(&mut self) -> Option<&Infallible> {
        None
    }
}

/// What it measures besides.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Own {
    /// The part of the jobs that found the server empty.
    pub found_empty: Option<Estimate>,
}

/// Runs M/M/1 at this arrival rate \[1/time\], with sizes of mean 1.
pub fn run(rate: f64, settings: &Settings) -> Run<Own> {
    let class = Class {
        name: "a".into(),
        arrival_rate: rate,
        mean_size: 1.0,
        scv: 1.0,
        dispersion: 1.0,
        weight: 1.0,
    };
    let classes = [class];
    let engine = |r| Queue::new(&classes, settings, r);
    let own = |sample: Option<&Sample>| Own {
        found_empty: sample.and_then(|s| {
            let c = s.columns;
            s.ratio(|row| row[c.extra(FOUND_EMPTY)], |row| row[c.completions(0)])
        }),
    };
    let summarize = |results: &Results<'_>| results.run(own, |_, _| ());
    let Ok(run) = replicate(&classes, engine, settings, |_| (), summarize);
    run
}
