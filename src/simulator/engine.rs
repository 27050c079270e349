use super::quantiles::Histogram;
use super::random::Streams;
use super::series::Series;
use crate::policy::{Event, Policy, System};
use crate::workload::Workload;

/// A run under way: Poisson arrivals, exponential sizes.
///
/// The next completion or clock is drawn from the total rate, which the memoryless laws
/// allow; the next arrival stands in a stream of its own, so that all policies face the same
/// arrivals. Nothing is allocated an event but by growing queues.
pub(super) struct Engine<P> {
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
    /// Rates of completion of each type, then of the policy's clocks.
    rates: Vec<f64>,
}

/// Buckets of the series start out as this many arrivals.
const ARRIVALS_A_BUCKET: f64 = 200.0;

impl<P: Policy> Engine<P> {
    pub fn new(workload: &Workload, mut policy: P, preemptible: bool, seed: u64) -> Self {
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
            series: Series::new(types, ARRIVALS_A_BUCKET / workload.total_arrival_rate()),
            responses: (0..types)
                .map(|_| [Histogram::new(), Histogram::new()])
                .collect(),
            events: 0,
            streams: Streams::new(seed),
            cumulative,
            next_arrival: 0.0,
            next_type: 0,
            rates: vec![0.0; types + policy.clocks()],
            system,
            policy,
        };
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
        let candidate = match total {
            0.0 => f64::INFINITY,
            rate => self.system.now() + self.streams.service.exponential() / rate,
        };
        let event = if candidate < self.next_arrival {
            self.close_buckets(candidate);
            self.internal_event(candidate, total)
        } else {
            self.close_buckets(self.next_arrival);
            let kind = self.next_type;
            self.system.arrive(kind, self.next_arrival);
            self.draw_arrival();
            Event::Arrival(kind)
        };
        self.system.clear_actions();
        self.policy.react(event, &mut self.system);
        self.events += 1;
    }

    fn refresh_rates(&mut self) -> f64 {
        let types = self.cumulative.len();
        for i in 0..types {
            self.rates[i] = self.system.completion_rate(i);
        }
        self.rates[types..].copy_from_slice(self.system.clocks());
        self.rates.iter().sum()
    }

    fn internal_event(&mut self, now: f64, total: f64) -> Event {
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
        if let Some(job) = self.system.complete(chosen, which, now) {
            let response = now - job.arrived;
            self.series.departed(chosen, response);
            self.responses[chosen][1].add(response);
        }
        Event::Completion(chosen)
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
