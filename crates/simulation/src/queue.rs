use super::{
    Arrival, ArrivalBuffer, Arrivals, BURST, ClaimMeasurement, ClaimMeter, Estimate, FromAbove,
    Health, JobClass, Judgement, Meter, Passed, Progress, RandomStream, Recorder, Replication,
    ReplicationState, Run, Sample, Sampler, Settings, Stay, Streams, go_on, judge_all, results,
};
use synth_core::artifact::{Claim, Quantity, Side, ViolatedAssumptions};
use synth_queues::distribution::SizeDistribution;

/// A queueing discipline, which decides how the servers are shared between jobs.
pub trait Discipline: Send {
    /// Adds a job of the given class and size \[work\], which arrives at the time `now`.
    fn arrive(&mut self, now: f64, class: u32, size: f64, gauges: &mut QueueIntegrals);

    /// Returns the time of the next event if no job arrives before.
    fn next(&mut self) -> f64;

    /// Executes the event at its time `now`, and returns the job that departs, if any.
    fn happen(&mut self, now: f64, gauges: &mut QueueIntegrals) -> Option<Departure>;

    /// Checks the invariants.
    fn audit(&self) -> Result<(), String>;
}

/// A job that departs.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// Its class.
    pub class: u32,
    /// The time at which the job arrived \[time\].
    pub arrived: f64,
    /// The time at which the service of the job started \[time\].
    pub started: f64,
}

/// The values that are integrated over the time of the simulation.
pub struct QueueIntegrals {
    present: Vec<Meter>,
    in_service: Vec<Meter>,
    busy: Vec<Meter>,
    interruptions: u64,
    jobs: u64,
    apart: bool,
    origin: f64,
}

impl QueueIntegrals {
    fn of(&self, class: u32) -> usize {
        if self.apart { class as usize } else { 0 }
    }

    /// Records an arrival (`+1`) or a departure (`-1`); returns the class and its number of jobs.
    fn present(&mut self, class: u32, change: i64, now: f64) -> (usize, u64) {
        let i = self.of(class);
        self.present[i].add(change as f64, now - self.origin);
        self.jobs = self.jobs.wrapping_add_signed(change);
        (i, self.present[i].value as u64)
    }

    /// Records that a job of this class enters service (`+1`) or leaves it (`-1`).
    pub fn in_service(&mut self, class: u32, change: i32, now: f64) {
        let i = self.of(class);
        self.in_service[i].add(f64::from(change), now - self.origin);
    }

    /// Sets the number of jobs of this class in service.
    pub fn running(&mut self, class: u32, count: u64, now: f64) {
        let i = self.of(class);
        self.in_service[i].set(count as f64, now - self.origin);
    }

    /// Sets whether a server is busy.
    pub fn works(&mut self, server: usize, working: bool, now: f64) {
        self.busy[server].set(f64::from(working), now - self.origin);
    }

    /// Counts a job that was interrupted and moved to the end of the queue.
    pub fn interrupted(&mut self) {
        self.interruptions += 1;
    }
}

/// The extra column with the number of interruptions.
pub const INTERRUPTIONS: usize = 0;

/// The maximum number of servers with a column for their busy time.
pub const MEASURED: usize = 1000;

/// Returns the extra column with the busy time of a server.
pub fn busy_column(server: usize) -> usize {
    1 + server
}

/// The workload of a queue and its number of servers.
pub struct Queue<'a> {
    /// The classes that are used for statistics: one for each class of jobs, or one for all jobs.
    pub classes: &'a [JobClass],
    /// The rate at which the jobs of each class arrive \[1/time\].
    pub rates: &'a [f64],
    /// The distribution of the size, which is the same for all jobs.
    pub size: &'a SizeDistribution,
    /// The number of servers.
    pub servers: usize,
}

impl Queue<'_> {
    /// Runs a simulation. `discipline` creates the discipline from the random streams for service
    /// and for routing, and `measures` computes additional measurements. An error is returned if an
    /// invariant is violated, which is always a bug in this program.
    pub fn simulate<D: Discipline, M>(
        &self,
        discipline: impl Fn([RandomStream; 2]) -> D,
        settings: &Settings,
        mut progress: impl FnMut(Progress),
        measures: impl FnOnce(Option<&Sample>) -> M,
    ) -> Result<Run<M, ()>, String> {
        let classes = self.classes;
        let gauges = |count: usize| vec![Meter::default(); count];
        let columns = busy_column(self.servers.min(MEASURED));
        let engine = |replication| {
            let streams = Streams::new(settings.seed, replication);
            QueueEngine {
                discipline: discipline([streams.service, streams.routing]),
                gauges: QueueIntegrals {
                    present: gauges(classes.len()),
                    in_service: gauges(classes.len()),
                    busy: gauges(self.servers),
                    interruptions: 0,
                    jobs: 0,
                    apart: classes.len() == self.rates.len(),
                    origin: 0.0,
                },
                recorder: Recorder::new(classes, columns, settings),
                coming: ArrivalBuffer::new(Arrivals::poisson(self.rates, streams.arrivals)),
                size: Sampler::of(self.size),
                sizes: streams.sizes,
                now: 0.0,
                events: 0,
                violation: None,
            }
        };
        let mut engines: Vec<_> = (0..settings.replications.max(1)).map(engine).collect();
        // An event may cost more with more jobs, so growth is not tested from above.
        let mut above = FromAbove::new(Vec::new());
        let ending = go_on(&mut engines, &mut above, classes, settings, &mut progress)?;
        Ok(results(&engines, classes, settings, ending, &above).run(measures, |_, _| ()))
    }
}

/// Arrivals and sizes have their own streams, so that they are the same for all disciplines.
struct QueueEngine<D> {
    discipline: D,
    gauges: QueueIntegrals,
    recorder: Recorder,
    coming: ArrivalBuffer,
    size: Sampler,
    sizes: RandomStream,
    now: f64,
    events: u64,
    violation: Option<String>,
}

impl<D: Discipline> QueueEngine<D> {
    fn step(&mut self) {
        let Arrival { time, class } = self.coming.peek();
        let due = self.discipline.next();
        let now = time.min(due);
        self.now = now;
        while now >= self.recorder.series.next_tick {
            self.tick();
        }
        if time <= due {
            self.coming.pass();
            let (i, present) = self.gauges.present(class, 1, now);
            let size = self.size.draw(&mut self.sizes);
            self.discipline.arrive(now, class, size, &mut self.gauges);
            self.recorder.arrived(i, now, || present);
        } else if let Some(departure) = self.discipline.happen(now, &mut self.gauges) {
            let (i, present) = self.gauges.present(departure.class, -1, now);
            let stay = Stay {
                response: now - departure.arrived,
                waiting: departure.started - departure.arrived,
            };
            self.recorder.departed(i, stay, now, || present);
        }
        self.events += 1;
    }

    #[cold]
    fn tick(&mut self) {
        let Passed { at, closes, .. } = self.recorder.series.pass(self.now);
        if !closes {
            return;
        }
        let gauges = &mut self.gauges;
        let length = at - std::mem::replace(&mut gauges.origin, at);
        self.recorder.close(at, |row| {
            let classes = gauges.present.iter_mut().zip(&mut gauges.in_service);
            for (i, (present, in_service)) in classes.enumerate() {
                row.integrals(i, present.collect(length), in_service.collect(length));
            }
            row.add(
                INTERRUPTIONS,
                std::mem::take(&mut gauges.interruptions) as f64,
            );
            for (s, busy) in gauges.busy.iter_mut().take(MEASURED).enumerate() {
                row.add(busy_column(s), busy.collect(length));
            }
        });
    }
}

impl<D: Discipline> ReplicationState for QueueEngine<D> {
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
        self.gauges.present[i].value as u64
    }
}

impl<D: Discipline> Replication for QueueEngine<D> {
    type Violation = String;

    fn begin_with(&mut self, jobs: &[u64]) {
        self.coming.arrivals.begin_with(jobs);
    }

    fn run(&mut self, events: u64, crowd: u64, stopped: impl Fn() -> bool) {
        while self.events < events && self.gauges.jobs <= crowd && !stopped() {
            // The cost of an event may increase with the number of jobs.
            let burst = (BURST / (1 + self.gauges.jobs / 64)).max(1);
            let burst = events.min(self.events + burst);
            while self.events < burst && self.gauges.jobs <= crowd {
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

/// How a quantity is measured in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueMeasure {
    /// Response times.
    Response,
    /// The number of jobs in the system.
    Number,
    /// The fraction of time that a server is busy.
    Utilization,
    /// The quantity cannot be measured for this policy, for the given reason.
    Nothing(&'static str),
}

/// A run to compare with the claims of its policy.
pub struct QueueRun<'a, M, Q: Quantity> {
    /// The classes of the jobs.
    pub classes: &'a [JobClass],
    /// The results of the run.
    pub run: &'a Run<M, ()>,
    /// Returns the assumptions of the claim that are not satisfied by this workload.
    pub unmet: &'a dyn Fn(&Claim<Q>) -> ViolatedAssumptions,
    /// Returns the fraction of time that the server of a claim is busy.
    pub utilization: &'a dyn Fn(&Claim<Q>) -> Option<Estimate>,
}

impl<M, Q: Quantity<Measure = QueueMeasure>> QueueRun<'_, M, Q> {
    /// Compares all of the claims with the results of the run.
    pub fn judge(&self, claims: &[Claim<Q>]) -> Vec<Judgement<Q>> {
        judge_all(claims.iter(), self.run.health == Health::Unstable, self)
    }

    fn class(&self, claim: &Claim<Q>) -> Option<usize> {
        let name = claim.job_type.as_deref()?;
        self.classes.iter().position(|class| class.name == name)
    }
}

impl<M, Q: Quantity<Measure = QueueMeasure>> ClaimMeter<Q> for QueueRun<'_, M, Q> {
    fn unexamined(&self, claim: &Claim<Q>) -> Option<&'static str> {
        match claim.quantity.row().measure {
            QueueMeasure::Nothing(why) => Some(why),
            _ if claim.job_type.is_some() && self.class(claim).is_none() => {
                Some("there are too many classes to keep statistics for each of them")
            }
            _ => None,
        }
    }

    fn unmet(&self, claim: &Claim<Q>) -> ViolatedAssumptions {
        (self.unmet)(claim)
    }

    fn found(&self, claim: &Claim<Q>) -> Option<ClaimMeasurement> {
        let run = self.run;
        let class = self.class(claim).map(|i| &run.types[i]);
        let number = class.map_or(run.mean_number, |class| class.mean_number);
        let measured = match claim.quantity.row().measure {
            QueueMeasure::Response => {
                class.map_or(run.mean_response, |class| class.mean_response)?
            }
            QueueMeasure::Number => number?,
            QueueMeasure::Utilization => {
                let busy = (self.utilization)(claim)?;
                return Some(ClaimMeasurement::mean(busy, claim.value));
            }
            QueueMeasure::Nothing(_) => return None,
        };
        let found =
            ClaimMeasurement::of_queue(measured, claim.value, claim.half_width, Side::Equal);
        Some(found.trusted_if_long(number, class.map_or(u64::MAX, |class| class.completions)))
    }

    fn excess(&self, claim: &Claim<Q>) -> Option<Vec<f64>> {
        let class = self.class(claim);
        let is_own = |i: &usize| class.is_none_or(|own| own == *i);
        let own: Vec<usize> = (0..self.classes.len()).filter(is_own).collect();
        let per_job = match claim.quantity.row().measure {
            QueueMeasure::Response => own.iter().map(|i| self.classes[*i].arrival_rate).sum(),
            QueueMeasure::Number => 1.0,
            QueueMeasure::Utilization | QueueMeasure::Nothing(_) => return None,
        };
        let most: f64 = per_job * (claim.value + 2.0 * claim.half_width.unwrap_or(0.0));
        let types = &self.run.types;
        let of_replication = |r: usize| {
            let late = own.iter().map(|i| types[*i].late.get(r));
            late.sum::<Option<f64>>().map(|number| number / most)
        };
        (0..types.first()?.late.len()).map(of_replication).collect()
    }
}
