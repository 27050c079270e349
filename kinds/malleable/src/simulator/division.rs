use crate::policy::{ActiveJob, Known, Sharing};
use crate::workload::{Curve, Stream};
use synth_simulation::{Departure, Discipline, QueueIntegrals};

#[derive(Clone, Copy, Debug)]
struct Job {
    left: f64,
    arrived: f64,
    /// The time at which it first had servers, or NaN.
    started: f64,
    rate: f64,
}

pub(super) struct Division<'a> {
    curve: &'a Curve,
    servers: f64,
    mean: f64,
    sharing: Sharing,
    known: Known,
    /// The speeds from the largest job, by the number of jobs, if they only depend on this number.
    speeds: Vec<Option<Box<[f64]>>>,
    /// The jobs, from the largest remaining work.
    jobs: Vec<Job>,
    now: f64,
    next_end: (f64, usize),
    violation: Option<String>,
}

const REMEMBERED: usize = 512;

const ROUNDING: f64 = 1e-9;

impl<'a> Division<'a> {
    pub(super) fn new(stream: &'a Stream, sharing: Sharing) -> Self {
        Division {
            curve: stream.curve(),
            servers: stream.servers(),
            mean: stream.size().mean(),
            sharing,
            known: Known::default(),
            speeds: Vec::new(),
            jobs: Vec::new(),
            now: 0.0,
            next_end: (f64::INFINITY, 0),
            violation: None,
        }
    }

    fn advance(&mut self, now: f64) {
        let passed = now - self.now;
        for job in &mut self.jobs {
            job.left -= job.rate * passed;
        }
        self.now = now;
    }

    fn divide(&mut self, gauges: &mut QueueIntegrals) {
        let m = self.jobs.len();
        let speeds: &[f64] = if self.sharing.follows_order() && m <= REMEMBERED {
            if self.speeds.len() <= m {
                self.speeds.resize(m + 1, None);
            }
            let known = self.speeds[m].take();
            let speeds = known.unwrap_or_else(|| self.speeds_of_jobs().into());
            self.speeds[m].insert(speeds)
        } else {
            self.jobs.sort_by(|a, b| b.left.total_cmp(&a.left));
            &self.speeds_of_jobs()
        };
        for (job, speed) in self.jobs.iter_mut().zip(speeds) {
            job.rate = *speed;
        }
        self.next_end = (f64::INFINITY, 0);
        let mut running = 0;
        for (place, job) in self.jobs.iter_mut().enumerate() {
            if job.rate > 0.0 {
                running += 1;
                if job.started.is_nan() {
                    job.started = self.now;
                }
                // Because of rounding, the remaining work can be negative.
                let end = self.now + job.left.max(0.0) / job.rate;
                if end < self.next_end.0 {
                    self.next_end = (end, place);
                }
            }
        }
        gauges.running(0, running, self.now);
    }

    fn speeds_of_jobs(&mut self) -> Vec<f64> {
        let underway = |job: &Job| ActiveJob {
            left: job.left.max(f64::MIN_POSITIVE),
            weight: 1.0,
            curve: self.curve,
        };
        let jobs: Vec<ActiveJob<'_>> = self.jobs.iter().map(underway).collect();
        let all = self.servers;
        let servers = self.sharing.servers(&jobs, all, &mut self.known);
        let sum: f64 = servers.iter().sum();
        let within = sum <= all * (1.0 + ROUNDING);
        if !within && self.violation.is_none() {
            let violation = format!("{sum} servers are allocated, but there are only {all}");
            self.violation = Some(violation);
        }
        servers.into_iter().map(|k| self.curve.at(k)).collect()
    }
}

impl Discipline for Division<'_> {
    fn arrive(&mut self, now: f64, _: u32, size: f64, gauges: &mut QueueIntegrals) {
        self.advance(now);
        let job = Job {
            left: size,
            arrived: now,
            started: f64::NAN,
            rate: 0.0,
        };
        let place = self.jobs.partition_point(|other| other.left > job.left);
        self.jobs.insert(place, job);
        self.divide(gauges);
    }

    fn next(&mut self) -> f64 {
        self.next_end.0
    }

    fn happen(&mut self, now: f64, gauges: &mut QueueIntegrals) -> Option<Departure> {
        self.advance(now);
        let job = self.jobs.remove(self.next_end.1);
        self.divide(gauges);
        Some(Departure {
            class: 0,
            arrived: job.arrived,
            started: job.started,
        })
    }

    fn audit(&self) -> Result<(), String> {
        if let Some(violation) = &self.violation {
            return Err(violation.clone());
        }
        let near = ROUNDING * self.mean;
        let mut neighbours = self.jobs.windows(2);
        if neighbours.all(|two| two[0].left >= two[1].left - near) {
            return Ok(());
        }
        Err("the jobs are not sorted by their remaining work".into())
    }
}
