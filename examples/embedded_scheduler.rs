//! This example is a scheduler that uses the library to decide which jobs to start and stop. The
//! library only knows the events and the type of each job.
//!
//! ```text
//! cargo run --release --example embedded_scheduler [POLICY.json]
//! ```
//!
//! If no file is given, it creates a policy for `models/section7.yaml`. A part of the output is:
//!
//! ```text
//!      schedule 111111111111111111111111111111111»»2222222222222222222222222222
//!   type-2 runs ·1····1111222224333321·······11111121111·11··112111·1··1··11111
//!  type-2 waits ··············2···················1··········11·11········11211
//!   type-3 runs 111······111111··············111111·1111···11···11111··········
//! ```
use std::{error::Error, path::Path};

use rand::SeedableRng as _;
use rand_distr::{Distribution as _, Exp1, weighted::WeightedIndex};
use rand_xoshiro::Xoshiro256PlusPlus as Random;
use synth::ctmc::PhaseType;
use synth::multiresource::artifact::{Checked, MsrConfig, Preemption};
use synth::multiresource::policy::{Action, Event, Msr, Policy as _, System, Violation};
use synth::multiresource::synthesis::{SynthesisOptions, SynthesisOutcome, synthesize};
use synth::multiresource::workload::Workload;

const COLUMNS: usize = 90;
const TIME_A_COLUMN: f64 = 0.2;
const NEVER: f64 = f64::INFINITY;

struct Job {
    id: String,
    kind: usize,
    /// This is not known to the rule.
    work_left: f64,
    running_since: Option<f64>,
}

struct Scheduler {
    rule: Msr,
    system: System,
    /// The index of a job is the number that is returned by [`System::arrive`].
    jobs: Vec<Job>,
    /// The rate of each clock of the rule, and the time at which it expires.
    timers: Vec<(f64, f64)>,
    random: Random,
}

impl Scheduler {
    fn decide(&mut self, event: Event) -> Result<(), Violation> {
        self.rule.react(event, &mut self.system);
        let now = self.system.now();
        for action in self.system.actions().to_vec() {
            match action {
                Action::Start(_, job) => self.jobs[job.number as usize].running_since = Some(now),
                Action::Stop(_, job) => self.stop(job.number as usize),
            }
        }
        self.system.clear_actions();
        self.set_timers();
        self.system.violation().cloned().map_or(Ok(()), Err)
    }

    /// The clocks have no memory, so a clock can be drawn again if its rate changes.
    fn set_timers(&mut self) {
        let now = self.system.now();
        for (timer, &rate) in self.timers.iter_mut().zip(self.system.clocks()) {
            if timer.0 != rate {
                *timer = (rate, now + exponential(rate, &mut self.random));
            }
        }
    }

    fn stop(&mut self, number: usize) {
        let job = &mut self.jobs[number];
        if let Some(since) = job.running_since.take() {
            job.work_left -= self.system.now() - since;
        }
    }

    fn next_end(&self) -> (f64, usize) {
        let end = |j: &Job| j.running_since.map_or(NEVER, |since| since + j.work_left);
        earliest(self.jobs.iter().map(end))
    }

    fn draw(&self, policy: &MsrConfig, rows: &mut [String]) {
        let (schedule, reached) = self.rule.schedule();
        let position = policy.schedules.iter().position(|s| s == schedule);
        let position = position.filter(|_| reached);
        rows[0].push(position.map_or('»', |n| digit(n as u32 + 1)));
        for (i, pair) in rows[1..].chunks_mut(2).enumerate() {
            pair[0].push(digit(self.system.running(i)));
            pair[1].push(digit(self.system.waiting(i)));
        }
    }

    fn complete(&mut self, number: usize, now: f64) -> Result<(), Violation> {
        let kind = self.jobs[number].kind;
        self.system.complete_job(kind, number as u64, now);
        self.stop(number);
        self.decide(Event::Completion(kind))
    }

    fn submit(&mut self, job: Job, now: f64) -> Result<(), Violation> {
        let kind = job.kind;
        self.jobs.push(job);
        self.system.arrive(kind, now);
        self.decide(Event::Arrival(kind))
    }

    fn ring(&mut self, clock: usize, now: f64) -> Result<(), Violation> {
        self.system.advance(now);
        self.timers[clock] = (0.0, NEVER);
        self.decide(Event::Clock(clock))
    }
}

fn digit(n: u32) -> char {
    match n {
        0 => '·',
        n => char::from_digit(n, 10).unwrap_or('+'),
    }
}

fn earliest(times: impl Iterator<Item = f64>) -> (f64, usize) {
    let first = times.zip(0..).min_by(|a, b| a.0.total_cmp(&b.0));
    first.unwrap_or((NEVER, 0))
}

fn exponential(rate: f64, random: &mut Random) -> f64 {
    let unit: f64 = Exp1.sample(random);
    if rate > 0.0 { unit / rate } else { NEVER }
}

fn size(law: &PhaseType, random: &mut Random) -> f64 {
    let mut chance = |probability: f64| {
        let mut unit = || rand::RngExt::random::<f64>(random);
        probability > 0.0 && (probability >= 1.0 || unit() < probability)
    };
    let (mut stage, mut rest) = (0, 1.0);
    while stage + 1 < law.initial.len() && !chance(law.initial[stage] / rest) {
        rest -= law.initial[stage];
        stage += 1;
    }
    let mut stages = vec![law.rates[stage]];
    while chance(law.onward[stage]) {
        stage += 1;
        stages.push(law.rates[stage]);
    }
    stages.iter().map(|rate| exponential(*rate, random)).sum()
}

fn policy(path: Option<String>) -> Result<(MsrConfig, Workload), Box<dyn Error>> {
    if let Some(path) = path {
        let checked = Checked::read(Path::new(&path))?;
        let msr = checked.artifact().policy.msr().cloned();
        let policy = msr.ok_or(
            "this example only supports policies of the family msr; use `Family::spec` for the rules of other families",
        )?;
        return Ok((policy, checked.workload().envelope().clone()));
    }
    let workload = Workload::read(Path::new("models/section7.yaml"))?.workload;
    match synthesize(&workload, &SynthesisOptions::new(Preemption::None))? {
        SynthesisOutcome::Policy(synthesis) => Ok((synthesis.policy, workload)),
        _ => Err("no policy can stabilize this workload".into()),
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let (policy, workload) = policy(std::env::args().nth(1))?;
    let mut rule = Msr::new(&policy, &workload);
    let mut system = System::new(
        &workload,
        rule.clocks(),
        policy.preemption != Preemption::None,
    );
    rule.begin(&mut system);
    let timers = vec![(0.0, NEVER); rule.clocks()];
    let (jobs, random) = (Vec::new(), Random::seed_from_u64(1));
    let mut scheduler = Scheduler {
        rule,
        system,
        jobs,
        timers,
        random,
    };
    scheduler.set_timers();

    let mut world = Random::seed_from_u64(2);
    let kinds = WeightedIndex::new(workload.types().iter().map(|t| t.arrival_rate()))?;
    let types = workload.types().iter();
    let titles = types.flat_map(|t| [format!("{} runs", t.name()), format!("{} waits", t.name())]);
    let titles = std::iter::once("schedule".to_string()).chain(titles);
    let mut rows: Vec<String> = titles.map(|title| format!("{title:>14} ")).collect();
    let (mut arrival, mut column) = (0.0, 0);
    while column < COLUMNS {
        let (end, number) = scheduler.next_end();
        let (due, clock) = earliest(scheduler.timers.iter().map(|timer| timer.1));
        let now = f64::min(arrival, due).min(end);
        while (column as f64) * TIME_A_COLUMN < now {
            scheduler.draw(&policy, &mut rows);
            column += 1;
        }
        if now == arrival {
            let kind = kinds.sample(&mut world);
            let own = &workload.types()[kind];
            let stages = own.size().phases();
            let stages =
                stages.ok_or("this example only supports sizes with a phase-type distribution")?;
            let job = Job {
                id: format!("{}/{}", own.name(), 1000 + scheduler.jobs.len()),
                kind,
                work_left: size(&stages, &mut world),
                running_since: None,
            };
            scheduler.submit(job, now)?;
            arrival += exponential(workload.total_arrival_rate(), &mut world);
        } else if now == end {
            scheduler.complete(number, now)?;
        } else {
            scheduler.ring(clock, now)?;
        }
    }
    rows.iter().for_each(|row| println!("{row}"));
    println!(
        "each column is {TIME_A_COLUMN} {}; the numbers of the schedules are the same as in the policy, and » is a transition",
        workload.time_unit()
    );
    let done = scheduler.system.counters();
    let jobs = scheduler.jobs.iter();
    let running = jobs.filter(|job| job.running_since.is_some());
    let ids: Vec<&str> = running.map(|job| job.id.as_str()).collect();
    println!(
        "{} arrivals, {} completions, {} preemptions, {} switches; still running: {}",
        done.arrivals,
        done.completions,
        done.preemptions,
        done.switches,
        ids.join(" ")
    );
    Ok(())
}
