//! An engine for jobs that arrive as Poisson processes and are served by a discipline, and what its runs say of claims.

use super::{
    Arrivals, BURST, Coming, Estimate, Found, Health, JobClass, Judgement, Measuring, Meter,
    Passed, Progress, RandomStream, Recorder, Replication, ReplicationSoFar, Run, Sample, Sampler,
    Settings, Stay, Streams, judge_all, replicate,
};
use synth_core::artifact::{Claim, Quantity, Side, Unmet};
use synth_queues::law::Size;

/// How jobs share the servers.
pub trait Discipline: Send {
    /// Takes in a job of this class and size \[work\] that arrives at time `now`.
    fn arrive(&mut self, now: f64, class: u32, size: f64, gauges: &mut Gauges);

    /// Returns when something happens next, if no job arrives before.
    fn next(&mut self) -> f64;

    /// Lets it happen, at that time: a job leaves, or is only interrupted.
    fn happen(&mut self, now: f64, gauges: &mut Gauges) -> Option<Departure>;

    /// Checks what must hold.
    fn audit(&self) -> Result<(), String>;
}

/// A job that leaves.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// Its class.
    pub class: u32,
    /// When it arrived \[time\].
    pub arrived: f64,
    /// When it was taken into service.
    pub started: f64,
}

/// What is integrated over time.
pub struct Gauges {
    /// Jobs in the system, by class of the statistics.
    present: Vec<Meter>,
    /// Those in service.
    in_service: Vec<Meter>,
    /// 1 for each server that works.
    busy: Vec<Meter>,
    /// Interruptions since the open bucket began.
    interruptions: u64,
    jobs: u64,
    /// Whether statistics distinguish the classes.
    apart: bool,
    /// When the open bucket began.
    origin: f64,
}

impl Gauges {
    fn of(&self, class: u32) -> usize {
        if self.apart { class as usize } else { 0 }
    }

    /// Notes that a job of this class arrived (+1) or left (-1).
    ///
    /// Returns its class of the statistics, and how many jobs of that class are in the system.
    fn present(&mut self, class: u32, change: i64, now: f64) -> (usize, u64) {
        let i = self.of(class);
        self.present[i].add(change as f64, now - self.origin);
        self.jobs = self.jobs.wrapping_add_signed(change);
        (i, self.present[i].value as u64)
    }

    /// Notes that a job of this class is in service from now on.
    pub fn started(&mut self, class: u32, now: f64) {
        let i = self.of(class);
        self.in_service[i].add(1.0, now - self.origin);
    }

    /// Notes that it no longer is.
    pub fn stopped(&mut self, class: u32, now: f64) {
        let i = self.of(class);
        self.in_service[i].add(-1.0, now - self.origin);
    }

    /// Notes how many jobs of this class are in service from now on.
    pub fn running(&mut self, class: u32, count: u64, now: f64) {
        let i = self.of(class);
        self.in_service[i].set(count as f64, now - self.origin);
    }

    /// Notes whether a server works from now on.
    pub fn works(&mut self, server: usize, working: bool, now: f64) {
        self.busy[server].set(f64::from(working), now - self.origin);
    }

    /// Counts a job that went to the end of the queue.
    pub fn interrupted(&mut self) {
        self.interruptions += 1;
    }
}

/// The extra column of interruptions.
pub const INTERRUPTIONS: usize = 0;

/// Servers of which it is measured how much they work: each has a column in every replication.
pub const MEASURED: usize = 1000;

/// Returns the extra column of ∫ 1 while a server works.
pub fn busy_column(server: usize) -> usize {
    1 + server
}

/// The jobs that arrive, and the number of servers.
pub struct Queue<'a> {
    /// The classes of the statistics: one each, or one for all.
    pub classes: &'a [JobClass],
    /// The arrival rate of each class of jobs \[1/time\].
    pub rates: &'a [f64],
    /// The law of the sizes of all.
    pub size: &'a Size,
    /// Servers with names.
    pub servers: usize,
}

impl Queue<'_> {
    /// Simulates a discipline, which gets the streams of service and routing; `measures` returns what is measured besides.
    ///
    /// # Errors
    /// What did not hold that must, in words: a fault of this program.
    pub fn simulate<D: Discipline, M>(
        &self,
        discipline: impl Fn([RandomStream; 2]) -> D,
        settings: &Settings,
        progress: impl FnMut(Progress),
        measures: impl FnOnce(Option<&Sample>) -> M,
    ) -> Result<Run<M, ()>, String> {
        let engine = |replication| self.engine(&discipline, settings, replication);
        replicate(self.classes, engine, settings, progress, |results| {
            results.run(measures, |_, _| ())
        })
    }

    fn engine<D: Discipline>(
        &self,
        discipline: impl Fn([RandomStream; 2]) -> D,
        settings: &Settings,
        replication: u32,
    ) -> QueueEngine<D> {
        let streams = Streams::new(settings.seed, replication);
        let gauges = |count: usize| vec![Meter::default(); count];
        let columns = busy_column(self.servers.min(MEASURED));
        QueueEngine {
            discipline: discipline([streams.service, streams.routing]),
            gauges: Gauges {
                present: gauges(self.classes.len()),
                in_service: gauges(self.classes.len()),
                busy: gauges(self.servers),
                interruptions: 0,
                jobs: 0,
                apart: self.classes.len() == self.rates.len(),
                origin: 0.0,
            },
            recorder: Recorder::new(self.classes, columns, settings),
            coming: Coming::new(Arrivals::poisson(self.rates, streams.arrivals)),
            law: Sampler::of(self.size),
            sizes: streams.sizes,
            now: 0.0,
            events: 0,
            violation: None,
        }
    }
}

/// A run under way. Arrivals and sizes have streams of their own, so that all disciplines face the same ones.
struct QueueEngine<D> {
    discipline: D,
    gauges: Gauges,
    recorder: Recorder,
    coming: Coming,
    law: Sampler,
    sizes: RandomStream,
    now: f64,
    events: u64,
    violation: Option<String>,
}

impl<D: Discipline> QueueEngine<D> {
    fn step(&mut self) {
        let arrival = self.coming.peek();
        let due = self.discipline.next();
        self.now = arrival.time.min(due);
        while self.now >= self.recorder.series.next_tick() {
            self.tick();
        }
        if arrival.time <= due {
            self.coming.pass();
            self.arrive(arrival.class);
        } else if let Some(departure) = self.discipline.happen(self.now, &mut self.gauges) {
            self.depart(&departure);
        }
        self.events += 1;
    }

    fn arrive(&mut self, class: u32) {
        let (i, present) = self.gauges.present(class, 1, self.now);
        let size = self.law.draw(&mut self.sizes);
        let gauges = &mut self.gauges;
        self.discipline.arrive(self.now, class, size, gauges);
        self.recorder.arrived(i, self.now, || present);
    }

    fn depart(&mut self, departure: &Departure) {
        let (i, present) = self.gauges.present(departure.class, -1, self.now);
        let stay = Stay {
            response: self.now - departure.arrived,
            waiting: departure.started - departure.arrived,
        };
        self.recorder.departed(i, stay, self.now, || present);
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

impl<D: Discipline> ReplicationSoFar for QueueEngine<D> {
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
        self.coming.begin_with(jobs);
    }

    fn run(&mut self, events: u64, crowd: u64, stopped: impl Fn() -> bool) {
        while self.events < events && self.gauges.jobs <= crowd && !stopped() {
            // What an event costs may grow with the number of jobs.
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

/// How a run of a queue measures a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueMeasure {
    /// Response times.
    Response,
    /// Jobs in the system.
    Number,
    /// The fraction of time that a server works.
    Utilization,
    /// A run of this policy cannot tell, and why.
    Nothing(&'static str),
}

/// A run of a queue beside the claims of its policy.
pub struct QueueRun<'a, M, Q: Quantity> {
    /// The classes of jobs.
    pub classes: &'a [JobClass],
    /// What a run measured.
    pub run: &'a Run<M, ()>,
    /// What a claim assumes and the workload does not meet.
    pub unmet: &'a dyn Fn(&Claim<Q>) -> Unmet,
    /// The fraction of time that the server of a claim works.
    pub utilization: &'a dyn Fn(&Claim<Q>) -> Option<Estimate>,
}

impl<M, Q: Quantity<Measure = QueueMeasure>> QueueRun<'_, M, Q> {
    /// Judges claims by the run.
    pub fn judge(&self, claims: &[Claim<Q>]) -> Vec<Judgement<Q>> {
        judge_all(claims.iter(), self.run.health == Health::Unstable, self)
    }

    /// Returns the class of the statistics that a claim is about; `None` where it is about all.
    fn class(&self, claim: &Claim<Q>) -> Option<usize> {
        let name = claim.job_type.as_deref()?;
        self.classes.iter().position(|class| class.name == name)
    }
}

impl<M, Q: Quantity<Measure = QueueMeasure>> Measuring<Q> for QueueRun<'_, M, Q> {
    fn unexamined(&self, claim: &Claim<Q>) -> Option<&'static str> {
        match claim.quantity.row().measure {
            QueueMeasure::Nothing(why) => Some(why),
            _ if claim.job_type.is_some() && self.class(claim).is_none() => {
                Some("so many classes are not told apart by a run")
            }
            _ => None,
        }
    }

    fn unmet(&self, claim: &Claim<Q>) -> Unmet {
        (self.unmet)(claim)
    }

    fn found(&self, claim: &Claim<Q>) -> Option<Found> {
        let run = self.run;
        let class = self.class(claim).map(|i| &run.types[i]);
        let number = class.map_or(run.mean_number, |class| class.mean_number);
        let measured = match claim.quantity.row().measure {
            QueueMeasure::Response => {
                class.map_or(run.mean_response, |class| class.mean_response)?
            }
            QueueMeasure::Number => number?,
            QueueMeasure::Utilization => {
                return Some(Found::mean((self.utilization)(claim)?, claim.value));
            }
            QueueMeasure::Nothing(_) => return None,
        };
        let found = Found::of_queue(measured, claim.value, claim.half_width, Side::Equal);
        Some(found.settled(number, class.map_or(u64::MAX, |class| class.completions)))
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
