use super::Settings;
use super::calendar::Ends;
use super::quantiles::Histogram;
use super::random::Streams;
use super::series::Series;
use crate::policy::{Event, Job, Policy, System};
use crate::workload::Workload;

/// A run under way: Poisson arrivals, sizes of the workload's laws.
///
/// What has no memory is drawn anew at each event, from the total rate: the policy's clocks,
/// and the completions where all sizes are exponential. As soon as one type's are not, jobs get
/// their sizes as they arrive, and a calendar knows who ends next; the kinds of [`Ends`] are
/// compiled apart, so that one does not slow the other, and so are runs that watch thresholds.
/// Arrivals and sizes stand in streams of their own, so that all policies face the same ones.
/// Nothing is allocated an event but by growing queues, and by the calendar.
pub(super) struct Engine<P, E, const WATCHING: bool> {
    pub system: System,
    pub series: Series,
    /// Response times since the last but one merge of the series' buckets.
    pub responses: Vec<[Histogram; 2]>,
    pub events: u64,
    policy: P,
    streams: Streams,
    /// Σ_{h ≤ i} λ_h.
    cumulative: Vec<f64>,
    next_arrival: f64,
    next_type: usize,
    /// Rates of completion of each type (0 where ends are known), then of the policy's clocks.
    rates: Vec<f64>,
    ends: E,
}

/// Buckets of the series start out as this many arrivals.
const ARRIVALS_A_BUCKET: f64 = 200.0;

impl<P: Policy, E: Ends, const WATCHING: bool> Engine<P, E, WATCHING> {
    pub fn new(
        workload: &Workload,
        mut policy: P,
        ends: E,
        preemptible: bool,
        settings: &Settings,
    ) -> Self {
        let types = workload.types().len();
        let mut total = 0.0;
        let sum = |t: &crate::workload::JobType| {
            total += t.arrival_rate();
            total
        };
        let cumulative: Vec<f64> = workload.types().iter().map(sum).collect();
        let mut system = System::new(workload, policy.clocks(), preemptible);
        policy.begin(&mut system);
        let mut engine = Engine {
            series: Series::new(
                types,
                ARRIVALS_A_BUCKET / workload.total_arrival_rate(),
                &settings.watch,
            ),
            responses: (0..types)
                .map(|_| [Histogram::new(), Histogram::new()])
                .collect(),
            events: 0,
            streams: Streams::new(settings.seed),
            cumulative,
            next_arrival: 0.0,
            next_type: 0,
            rates: vec![0.0; types + policy.clocks()],
            ends,
            system,
            policy,
        };
        engine.ends.follow(&mut engine.system);
        engine.draw_arrival();
        engine
    }

    fn draw_arrival(&mut self) {
        let total = self.cumulative[self.cumulative.len() - 1];
        self.next_arrival += self.streams.arrivals.exponential() / total;
        let point = self.streams.arrivals.uniform() * total;
        let last = self.cumulative.len() - 1;
        self.next_type = self
            .cumulative
            .iter()
            .position(|c| point < *c)
            .unwrap_or(last);
    }

    /// One event: an arrival, a completion or a clock, and the policy's reaction.
    pub fn step(&mut self) {
        let total = self.refresh_rates();
        let ring = match total {
            0.0 => f64::INFINITY,
            rate => self.system.now() + self.streams.service.exponential() / rate,
        };
        let (end, ending) = self.ends.next();
        let event = if self.next_arrival <= ring.min(end) {
            self.close_buckets(self.next_arrival);
            self.arrival()
        } else if ring < end {
            self.close_buckets(ring);
            self.memoryless_event(ring, total)
        } else {
            // Rounding must not take it into the past.
            let end = end.max(self.system.now());
            self.close_buckets(end);
            self.end(ending, end)
        };
        self.system.clear_actions();
        self.policy.react(event, &mut self.system);
        self.ends.follow(&mut self.system);
        self.events += 1;
    }

    fn arrival(&mut self) -> Event {
        let kind = self.next_type;
        let job = self.system.arrive(kind, self.next_arrival);
        if WATCHING {
            let present = self.system.present(kind);
            let now = self.next_arrival;
            self.series.watchers.number(kind, present, now);
        }
        self.ends.arrive(kind, job.number, &mut self.streams.sizes);
        self.draw_arrival();
        Event::Arrival(kind)
    }

    fn end(&mut self, kind: usize, now: f64) -> Event {
        let number = self.ends.take(kind);
        let job = number.and_then(|number| self.system.complete_job(kind, number, now));
        self.depart(kind, job, now)
    }

    fn refresh_rates(&mut self) -> f64 {
        let types = self.cumulative.len();
        if E::UNKNOWN {
            for i in 0..types {
                self.rates[i] = self.system.completion_rate(i);
            }
        }
        self.rates[types..].copy_from_slice(self.system.clocks());
        self.rates.iter().sum()
    }

    /// A clock rings; or a job of exponential size ends.
    fn memoryless_event(&mut self, now: f64, total: f64) -> Event {
        let types = self.cumulative.len();
        let mut point = self.streams.service.uniform() * total;
        let mut chosen = 0;
        for (source, rate) in self.rates.iter().enumerate().filter(|(_, r)| **r > 0.0) {
            chosen = source;
            point -= rate;
            if point < 0.0 {
                break;
            }
        }
        if chosen >= types {
            self.system.advance(now);
            return Event::Clock(chosen - types);
        }
        let which = self.streams.service.index(self.system.served(chosen));
        let job = self.system.complete(chosen, which, now);
        self.depart(chosen, job, now)
    }

    fn depart(&mut self, kind: usize, job: Option<Job>, now: f64) -> Event {
        if let Some(job) = job {
            let response = now - job.arrived;
            self.series.departed(kind, response);
            if WATCHING {
                let present = self.system.present(kind);
                self.series.watchers.number(kind, present, now);
                self.series.watchers.departed(kind, response);
            }
            self.responses[kind][1].add(response);
        }
        Event::Completion(kind)
    }

    fn close_buckets(&mut self, now: f64) {
        while now >= self.series.bucket_end() {
            let merges = self.series.merges;
            self.series.close(&mut self.system);
            if self.series.merges > merges {
                for pair in &mut self.responses {
                    pair.swap(0, 1);
                    pair[1].clear();
                }
                self.system.audit();
            }
        }
    }
}
