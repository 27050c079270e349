use super::Settings;
use super::arrivals::{Arrival, Arrivals};
use super::calendar::Ends;
use super::quantiles::Histogram;
use super::random::{Stream, Streams};
use super::replication::Replication;
use super::series::Series;
use crate::multiresource::policy::{Counters, Event, Job, Policy, System, Violation};
use crate::multiresource::workload::{JobType, Workload};

/// A run under way.
///
/// What has no memory is drawn from the total rate: the policy's clocks, and the completions
/// where all sizes are exponential. The next such event comes when the integral of that rate
/// reaches an exponential number of mean 1, so nothing is drawn again because something else came
/// first. As soon as one type's sizes are not exponential, jobs get their sizes as they arrive, and
/// a calendar knows who ends next; the kinds of [`Ends`] are compiled apart, so that one does not
/// slow the other. Arrivals and sizes stand in streams of
/// their own, so that all policies face the same ones. Nothing is allocated an event but by growing
/// queues.
pub(super) struct Engine<P, E> {
    system: System,
    series: Series,
    /// Response times since the last but one merge of the series' buckets.
    responses: Vec<[Histogram; 2]>,
    events: u64,
    policy: P,
    arrivals: Arrivals,
    /// The next arrivals, from `next` on.
    block: Box<[Arrival]>,
    next: usize,
    sizes: Stream,
    service: Stream,
    /// What is left of the exponential number.
    hazard: f64,
    ends: E,
}

/// The series has a tick each so many arrivals: ten times the golden ratio, so that clockwork
/// arrivals are not seen at the same phase at each tick.
pub(super) const ARRIVALS_A_TICK: f64 = 16.180_339_887_498_95;

/// Arrivals drawn at a time.
pub(super) const BLOCK: usize = 256;

impl<P: Policy, E: Ends> Engine<P, E> {
    /// The `replication`-th run of these settings.
    pub fn new(
        workload: &Workload,
        mut policy: P,
        ends: E,
        settings: &Settings,
        replication: u32,
    ) -> Self {
        let types = workload.types();
        let mut system = System::new(workload, policy.clocks(), policy.preempts());
        if E::UNKNOWN {
            system.leave_off_noting();
        }
        policy.begin(&mut system);
        let Streams {
            arrivals,
            sizes,
            mut service,
            ..
        } = Streams::new(settings.seed, replication);
        let tick = ARRIVALS_A_TICK / workload.total_arrival_rate();
        let load: f64 = types.iter().map(JobType::offered_load).sum();
        let mean_size = load / workload.total_arrival_rate();
        let histograms = || [Histogram::new(mean_size), Histogram::new(mean_size)];
        let mut engine = Engine {
            series: Series::new(&system, tick, &settings.watch),
            responses: types.iter().map(|_| histograms()).collect(),
            events: 0,
            arrivals: Arrivals::new(workload, arrivals),
            block: vec![Arrival::default(); BLOCK].into(),
            next: BLOCK,
            hazard: service.exponential(),
            service,
            sizes,
            ends,
            system,
            policy,
        };
        engine.ends.follow(&mut engine.system);
        engine
    }

    /// One event: an arrival, a completion or a clock, and the policy's reaction.
    #[inline(always)]
    fn step(&mut self) {
        if self.next == BLOCK {
            self.arrivals.fill(&mut self.block);
            self.next = 0;
        }
        let arrival = self.block[self.next];
        let [clocks, shared, running] = self.system.rates();
        let rate = if E::UNKNOWN {
            clocks + shared + running
        } else {
            clocks
        };
        let now = self.system.now();
        let end = self.ends.next(&self.system);
        let until = arrival.time.min(end);
        let hazard = rate * (until - now);
        let event = if self.hazard < hazard {
            // Rounding must not take it beyond what comes next.
            let ring = (now + self.hazard / rate).min(until);
            self.hazard = self.service.exponential();
            self.pass(ring);
            self.memoryless_event(ring, clocks, shared, rate)
        } else {
            self.hazard -= hazard;
            self.pass(until);
            if arrival.time <= end {
                self.next += 1;
                Some(self.arrival(arrival))
            } else {
                self.end(end)
            }
        };
        // The rate was a bound, and not reached.
        let Some(event) = event else { return };
        if !E::UNKNOWN {
            self.system.clear_actions();
        }
        self.policy.react(event, &mut self.system);
        self.ends.follow(&mut self.system);
        self.events += 1;
    }

    #[inline(always)]
    fn arrival(&mut self, arrival: Arrival) -> Event {
        let Arrival { time, kind } = arrival;
        let kind = kind as usize;
        let size = self.ends.size(kind, &mut self.sizes);
        self.system.arrive_sized(kind, time, size);
        if self.series.watches() {
            let present = self.system.present(kind);
            self.series.watch_number(kind, present, time);
        }
        Event::Arrival(kind)
    }

    fn end(&mut self, end: f64) -> Option<Event> {
        let slot = self.ends.take()?;
        // Rounding must not take it into the past.
        let now = end.max(self.system.now());
        let (kind, job) = self.system.complete_slot(slot, now);
        Some(self.depart(kind, job, now))
    }

    /// A clock rings; or a job of exponential size ends.
    #[inline(always)]
    fn memoryless_event(&mut self, now: f64, clocks: f64, shared: f64, rate: f64) -> Option<Event> {
        let point = self.service.uniform() * rate;
        let slot = if point < clocks {
            return ring(&mut self.system, point, now);
        } else if point < clocks + shared {
            self.system.drawn_share(point - clocks)
        } else {
            self.system.drawn(point - clocks - shared)
        };
        let (kind, job) = self.system.complete_slot(slot?, now);
        Some(self.depart(kind, job, now))
    }

    #[inline(always)]
    fn depart(&mut self, kind: usize, job: Job, now: f64) -> Event {
        let response = now - job.arrived;
        self.series.departed(kind, response);
        if self.series.watches() {
            let present = self.system.present(kind);
            self.series.watch_number(kind, present, now);
            self.series.watchers.departed(kind, response);
        }
        self.responses[kind][1].add(response);
        Event::Completion(kind)
    }

    /// Time passes, and with it the ticks of the series.
    fn pass(&mut self, now: f64) {
        while now >= self.series.next_tick() {
            self.tick();
        }
    }

    #[cold]
    fn tick(&mut self) {
        self.system.advance(self.series.next_tick());
        if self.series.tick(&self.system) {
            self.close_bucket();
        }
    }

    fn close_bucket(&mut self) {
        let merges = self.series.merges;
        self.series.close(&mut self.system);
        self.system.audit();
        self.ends.audit(&mut self.system);
        if self.series.merges > merges {
            for pair in &mut self.responses {
                pair.swap(0, 1);
                pair[1].clear();
            }
        }
    }
}

impl<P: Policy + Send, E: Ends + Send> Replication for Engine<P, E> {
    fn run(&mut self, events: u64, stopped: impl Fn() -> bool) {
        while self.events < events && self.system.jobs() <= CROWDED && !stopped() {
            let burst = events.min(self.events + BURST);
            while self.events < burst {
                self.step();
            }
        }
    }

    fn audit(&mut self) -> Option<&Violation> {
        self.system.audit();
        self.system.violation()
    }

    fn series(&self) -> &Series {
        &self.series
    }

    fn responses(&self, i: usize) -> &[Histogram; 2] {
        &self.responses[i]
    }

    fn events(&self) -> u64 {
        self.events
    }

    fn now(&self) -> f64 {
        self.system.now()
    }

    fn jobs(&self) -> u64 {
        self.system.jobs()
    }

    fn present(&self, i: usize) -> u64 {
        self.system.present(i)
    }

    fn counters(&self) -> Counters {
        self.system.counters()
    }
}

/// The clock at a point drawn uniformly below their total rate rings.
pub(super) fn ring(system: &mut System, mut point: f64, now: f64) -> Option<Event> {
    let clocks = system.clocks().iter().enumerate();
    let mut running = clocks.filter(|(_, rate)| **rate > 0.0);
    let rings = running.clone().find(|(_, rate)| {
        point -= **rate;
        point < 0.0
    });
    // Rounding must not take it beyond the last.
    let (clock, _) = rings.or_else(|| running.next_back())?;
    system.advance(now);
    Some(Event::Clock(clock))
}

/// More jobs than this in the system end a run.
pub(super) const CROWDED: u64 = 10_000_000;

/// Events between two looks at whether to stop.
pub(super) const BURST: u64 = 1 << 14;
