//! Conformance vectors: recorded sequences of events with the decisions of the online rule,
//! for implementers in other languages. A correct interpreter of the policy reproduces every
//! decision; ours replays them here. `SYNTH_UPDATE_VECTORS=1 cargo test --release --test
//! conformance` records them anew.
//!
//! A vector is a policy artifact and a list of steps. Each step is an event (`arrival`,
//! `completion` or `clock`, with the type's or the clock's index; a completion also with the
//! number of the job that ended), then the numbers of the jobs that the rule starts and stops,
//! in order, and the rates of all its clocks afterwards. Jobs are numbered from 0 in order of
//! arrival. Clock 0 ends a working schedule; clock 1 + i ends a slot of type i that no job ends.
#![allow(clippy::unwrap_used, clippy::panic)]

use rand::{RngExt, SeedableRng};
use serde::{Deserialize, Serialize};
use synth::artifact::{Artifact, Backfill, CheckedArtifact, EmptySlots, Family, Preemption, Route};
use synth::policy::{
    Action, AdaptiveMsr, AdaptiveQuickswap, Event, Msr, Policy, StaticQuickswap, System, Tabled,
};
use synth::synthesis::{Options, Outcome, synthesize};
use synth::workload::Workload;

#[derive(Serialize, Deserialize)]
struct Vector {
    artifact: serde_json::Value,
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Step {
    event: Event,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    job: Option<u64>,
    starts: Vec<u64>,
    stops: Vec<u64>,
    clocks: Vec<f64>,
}

/// The rule with its system, driven by events from outside.
struct Interpreter {
    system: System,
    rule: Box<dyn Policy>,
}

impl Interpreter {
    fn new(artifact: &Artifact) -> Self {
        let workload = artifact.workload.check().unwrap();
        let mut rule: Box<dyn Policy> = match &artifact.policy {
            Family::Msr(policy) => Box::new(Msr::new(policy, &workload)),
            Family::StaticQuickswap(policy) => Box::new(StaticQuickswap::new(policy)),
            Family::AdaptiveQuickswap(_) => Box::new(AdaptiveQuickswap::new(&workload)),
            Family::AdaptiveMsr(policy) => Box::new(AdaptiveMsr::new(policy)),
            Family::Optimal(policy) => Box::new(Tabled::read(policy)),
        };
        let preemptible = artifact.policy.preempts();
        let mut system = System::new(&workload, rule.clocks(), preemptible);
        rule.begin(&mut system);
        Interpreter { system, rule }
    }

    fn step(&mut self, event: Event, job: Option<u64>) -> Step {
        let now = self.system.now() + 1.0;
        match event {
            Event::Arrival(i) => drop(self.system.arrive(i, now)),
            Event::Completion(i) => drop(self.system.complete_job(i, job.unwrap(), now).unwrap()),
            Event::Clock(_) => self.system.advance(now),
        }
        self.system.clear_actions();
        self.rule.react(event, &mut self.system);
        self.system.audit();
        assert_eq!(self.system.violation(), None);
        let (mut starts, mut stops) = (Vec::new(), Vec::new());
        for action in self.system.actions() {
            match action {
                Action::Start(_, job) => starts.push(job.number),
                Action::Stop(_, job) => stops.push(job.number),
            }
        }
        Step {
            event,
            job,
            starts,
            stops,
            clocks: self.system.clocks().to_vec(),
        }
    }
}

/// The families and their variants: file name, preemption, route, backfilling, empty slots.
fn families() -> Vec<(&'static str, Options)> {
    let with = |preemption, route: &str, backfill, empty_slots| Options {
        // With full preemption there is no route to choose.
        route: (preemption != Preemption::Full).then(|| route.parse::<Route>().unwrap()),
        setup_rate: (preemption == Preemption::Setup).then_some(10.0),
        backfill,
        empty_slots,
        ..Options::new(preemption)
    };
    use Preemption::{Full, None, Setup};
    vec![
        (
            "full",
            with(
                Full,
                "sequential-eager",
                Backfill::None,
                EmptySlots::Release,
            ),
        ),
        (
            "full-backfill",
            with(
                Full,
                "sequential-eager",
                Backfill::FirstFit,
                EmptySlots::Release,
            ),
        ),
        (
            "none-analysed",
            with(
                None,
                "sequential-eager",
                Backfill::None,
                EmptySlots::Phantom,
            ),
        ),
        (
            "none-late",
            with(None, "concurrent-late", Backfill::None, EmptySlots::Release),
        ),
        (
            "none-backfill",
            with(
                None,
                "concurrent-eager",
                Backfill::FirstFit,
                EmptySlots::Release,
            ),
        ),
        (
            "setup-analysed",
            with(
                Setup,
                "concurrent-late",
                Backfill::None,
                EmptySlots::Phantom,
            ),
        ),
        (
            "setup-backfill",
            with(
                Setup,
                "sequential-eager",
                Backfill::FirstFit,
                EmptySlots::Release,
            ),
        ),
    ]
}

fn path(name: &str) -> String {
    format!(
        "{}/tests/conformance/msr-{name}.json",
        env!("CARGO_MANIFEST_DIR")
    )
}

/// A random but feasible sequence of events: arrivals, ends of running jobs, running clocks.
fn record(options: &Options) -> Vector {
    let model = concat!(env!("CARGO_MANIFEST_DIR"), "/models/section7.yaml");
    let workload = Workload::read(model.as_ref()).unwrap().workload;
    let Outcome::Policy(made) = synthesize(&workload, options).unwrap() else {
        panic!()
    };
    let mut interpreter = Interpreter::new(&made.artifact);
    let mut running: Vec<(usize, u64)> = Vec::new();
    let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
    let mut steps = Vec::new();
    while steps.len() < 150 {
        let ringing = interpreter
            .system
            .clocks()
            .iter()
            .position(|rate| *rate > 0.0);
        let (event, job) = match random.random_range(0..10) {
            0..5 => (Event::Arrival(random.random_range(0..3)), None),
            5..8 if !running.is_empty() => {
                let (kind, job) = running.swap_remove(random.random_range(0..running.len()));
                (Event::Completion(kind), Some(job))
            }
            8.. if ringing.is_some() => (Event::Clock(ringing.unwrap()), None),
            _ => continue,
        };
        steps.push(interpreter.step(event, job));
        for action in interpreter.system.actions() {
            match action {
                Action::Start(kind, job) => running.push((*kind, job.number)),
                Action::Stop(_, job) => running.retain(|(_, number)| *number != job.number),
            }
        }
    }
    Vector {
        artifact: serde_json::to_value(&made.artifact).unwrap(),
        steps,
    }
}

#[test]
fn vectors_are_reproduced() {
    for (name, options) in families() {
        if std::env::var_os("SYNTH_UPDATE_VECTORS").is_some() {
            let text = serde_json::to_string(&record(&options)).unwrap();
            std::fs::write(
                path(name),
                text.replace("{\"event\"", "\n{\"event\"") + "\n",
            )
            .unwrap();
        }
        let text = std::fs::read_to_string(path(name)).unwrap();
        let vector: Vector = serde_json::from_str(&text).unwrap();
        let checked = CheckedArtifact::parse(&vector.artifact.to_string(), name).unwrap();
        let mut interpreter = Interpreter::new(checked.artifact());
        let mut starts = 0;
        for (n, step) in vector.steps.iter().enumerate() {
            let replayed = interpreter.step(step.event, step.job);
            assert_eq!(&replayed, step, "{name}, step {n}");
            starts += replayed.starts.len();
        }
        assert!(starts > 20, "{name} does something");
    }
}
