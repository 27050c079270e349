use super::Candidates;
use crate::policy::{FairQueue, Job};
use synth_simulation::{CompletionQueue, Departure, Discipline, QueueIntegrals, RandomStream};

pub(super) struct VirtualQueue {
    queue: FairQueue,
    candidates: Candidates,
    rates: Vec<f64>,
    /// The mean work between two interruptions of a job, θ, or ∞ \[work\].
    slice: f64,
    jobs: Vec<RunningJob>,
    calendar: CompletionQueue,
    running: u64,
    service: RandomStream,
}

#[derive(Clone, Debug, Default)]
struct RunningJob {
    class: u32,
    arrived: f64,
    started: f64,
    /// The amount of work that remains until the end and until the interruption, as of `since`.
    left: f64,
    slice: f64,
    since: f64,
    rate: f64,
    /// The time of completion or interruption, or ∞ without servers.
    end: f64,
}

impl RunningJob {
    fn work(&mut self, now: f64) {
        let done = (now - self.since) * self.rate;
        self.left -= done;
        self.slice -= done;
        self.since = now;
    }
}

fn is_due(jobs: &[RunningJob]) -> impl Fn(f64, u32) -> bool {
    // The two values are copies of each other, so that the comparison can be exact.
    |end, slot| jobs[slot as usize].end.to_bits() == end.to_bits()
}

impl VirtualQueue {
    pub(super) fn new(
        candidates: Candidates,
        rates: &[f64],
        slice: f64,
        service: RandomStream,
    ) -> Self {
        VirtualQueue {
            queue: FairQueue::new(rates.len()),
            candidates,
            rates: rates.to_vec(),
            slice,
            jobs: Vec::new(),
            calendar: CompletionQueue::default(),
            running: 0,
            service,
        }
    }

    fn serve(&mut self, job: Job, more: f64, now: f64, gauges: &mut QueueIntegrals) {
        let own = &mut self.jobs[job.0 as usize];
        if own.rate == 0.0 {
            (own.slice, own.since, own.started) = (f64::INFINITY, now, now);
            if self.slice.is_finite() {
                own.slice = self.slice * self.service.exponential();
            }
            gauges.in_service(own.class, 1, now);
            self.running += 1;
        } else {
            own.work(now);
        }
        own.rate += more;
        // Because of rounding, the result can be negative.
        own.end = now + own.left.min(own.slice).max(0.0) / own.rate;
        self.calendar.push(own.end, job.0);
    }

    fn stop(&mut self, job: Job, now: f64, gauges: &mut QueueIntegrals) {
        let own = &mut self.jobs[job.0 as usize];
        own.work(now);
        (own.rate, own.end) = (0.0, f64::INFINITY);
        gauges.in_service(own.class, -1, now);
        self.running -= 1;
    }

    fn follow(&mut self, now: f64, gauges: &mut QueueIntegrals) {
        for n in 0..self.queue.changes().len() {
            let change = self.queue.changes()[n];
            let s = change.server as usize;
            gauges.works(s, change.job.is_some(), now);
            if let Some(job) = change.job {
                self.serve(job, self.rates[s], now, gauges);
            }
        }
    }
}

impl Discipline for VirtualQueue {
    fn arrive(&mut self, now: f64, class: u32, size: f64, gauges: &mut QueueIntegrals) {
        let job = self.queue.arrive(self.candidates.next(class));
        let own = RunningJob {
            class,
            arrived: now,
            started: now,
            left: size,
            since: now,
            end: f64::INFINITY,
            ..RunningJob::default()
        };
        match self.jobs.get_mut(job.0 as usize) {
            Some(place) => *place = own,
            None => self.jobs.push(own),
        }
        let mut rate = 0.0;
        for change in self.queue.changes() {
            gauges.works(change.server as usize, true, now);
            rate += self.rates[change.server as usize];
        }
        if rate > 0.0 {
            self.serve(job, rate, now, gauges);
        }
    }

    fn next(&mut self) -> f64 {
        let is_due = is_due(&self.jobs);
        self.calendar.tidy(self.running, &is_due);
        self.calendar.next(is_due)
    }

    fn happen(&mut self, now: f64, gauges: &mut QueueIntegrals) -> Option<Departure> {
        let job = Job(self.calendar.take()?);
        let own = &self.jobs[job.0 as usize];
        let ends = own.left <= own.slice;
        self.stop(job, now, gauges);
        if ends {
            self.queue.leave(job);
            self.follow(now, gauges);
            let own = &self.jobs[job.0 as usize];
            return Some(Departure {
                class: own.class,
                arrived: own.arrived,
                started: own.started,
            });
        }
        gauges.interrupted();
        self.queue.interrupt(job);
        // The servers that continue with this job are not included in the changes.
        let own = self.queue.servers_of(job).iter();
        let still = own.filter(|s| self.queue.current(**s as usize) == Some(job));
        let rate: f64 = still.map(|s| self.rates[*s as usize]).sum();
        if rate > 0.0 {
            self.serve(job, rate, now, gauges);
        }
        self.follow(now, gauges);
        None
    }

    fn audit(&self) -> Result<(), String> {
        self.queue.audit()?;
        let mut rates = vec![0.0; self.jobs.len()];
        for (s, rate) in self.rates.iter().enumerate() {
            if let Some(job) = self.queue.current(s) {
                rates[job.0 as usize] += rate;
            }
        }
        let mut rates = rates.into_iter().zip(&self.jobs).enumerate();
        match rates.find(|(_, (rate, own))| (own.rate - rate).abs() > 1e-9 * rate) {
            None => Ok(()),
            Some((number, (rate, own))) => Err(format!(
                "the rate of job {number} is {}, but the sum of the rates of its servers is {rate}",
                own.rate
            )),
        }
    }
}
