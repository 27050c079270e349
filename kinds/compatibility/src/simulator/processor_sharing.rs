use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Candidates;
use synth_simulation::{Departure, Discipline, QueueIntegrals, RandomStream, Tournament};

pub(super) struct ProcessorSharing {
    shortest: bool,
    candidates: Candidates,
    servers: Vec<Server>,
    ends: Tournament,
    present: usize,
    service: RandomStream,
}

/// All jobs of a server receive the same amount of work, so that a single counter is sufficient.
struct Server {
    rate: f64,
    /// The work that each job has received since the server was empty, as of the time `since`.
    got: f64,
    since: f64,
    /// The value of `got` at the end of the job and the arrival time, both as bits, and the class.
    jobs: BinaryHeap<Reverse<(u64, u64, u32)>>,
}

impl Server {
    fn advance(&mut self, now: f64) {
        match self.jobs.len() {
            0 => self.got = 0.0,
            jobs => self.got += (now - self.since) * self.rate / jobs as f64,
        }
        self.since = now;
    }

    fn end(&self) -> f64 {
        let Some(Reverse((done, ..))) = self.jobs.peek() else {
            return f64::INFINITY;
        };
        // Because of rounding, the job may have received more than it needs.
        let left = (f64::from_bits(*done) - self.got).max(0.0);
        self.since + left * self.jobs.len() as f64 / self.rate
    }
}

impl ProcessorSharing {
    pub(super) fn new(
        candidates: Candidates,
        rates: &[f64],
        shortest: bool,
        service: RandomStream,
    ) -> Self {
        let server = |rate: &f64| Server {
            rate: *rate,
            got: 0.0,
            since: 0.0,
            jobs: BinaryHeap::new(),
        };
        ProcessorSharing {
            shortest,
            candidates,
            servers: rates.iter().map(server).collect(),
            ends: Tournament::new(rates.len()),
            present: 0,
            service,
        }
    }

    fn choose(&mut self, class: u32) -> usize {
        let own = self.candidates.next(class);
        if !self.shortest {
            return own[(self.service.uniform() * own.len() as f64) as usize] as usize;
        }
        let delay = |s: &&u32| {
            let server = &self.servers[**s as usize];
            (server.jobs.len() + 1) as f64 / server.rate
        };
        let shortest = own.iter().min_by(|a, b| delay(a).total_cmp(&delay(b)));
        *shortest.expect("each job should have at least one server") as usize
    }
}

impl Discipline for ProcessorSharing {
    fn arrive(&mut self, now: f64, class: u32, size: f64, gauges: &mut QueueIntegrals) {
        let s = self.choose(class);
        self.present += 1;
        let server = &mut self.servers[s];
        server.advance(now);
        let done = server.got + size;
        let job = (done.to_bits(), now.to_bits(), class);
        server.jobs.push(Reverse(job));
        self.ends.set(s, server.end());
        gauges.in_service(class, 1, now);
        gauges.works(s, true, now);
    }

    fn next(&mut self) -> f64 {
        self.ends.first().1
    }

    fn happen(&mut self, now: f64, gauges: &mut QueueIntegrals) -> Option<Departure> {
        let s = self.ends.first().0;
        let server = &mut self.servers[s];
        server.advance(now);
        let Reverse((_, arrived, class)) = server.jobs.pop()?;
        if server.jobs.is_empty() {
            gauges.works(s, false, now);
        }
        self.ends.set(s, server.end());
        self.present -= 1;
        gauges.in_service(class, -1, now);
        let arrived = f64::from_bits(arrived);
        Some(Departure {
            class,
            arrived,
            started: arrived,
        })
    }

    fn audit(&self) -> Result<(), String> {
        let there: usize = self.servers.iter().map(|server| server.jobs.len()).sum();
        let lost = || format!("there are only {there} jobs on the servers, so some are lost");
        (there == self.present).then_some(()).ok_or_else(lost)
    }
}
