//! Test vectors for implementations of the online rules in other languages. A vector contains a
//! policy artifact and a list of events with the decisions of the rule. An implementation is
//! correct if it gives the same decisions. Run `SYNTH_UPDATE_VECTORS=1 cargo test --release --test
//! suite conformance` to update the vectors.
//!
//! Each step is an event, followed by the numbers of the jobs that the rule starts and stops, in
//! order, and the rates of all clocks. In a fleet, each started job also has the number of its
//! server, counted shape by shape. An event is an `arrival`, a `completion` or a `clock` with the
//! index of the type or of the clock. A completion has the number of the job. An arrival has the
//! limit of the job and the number of its user, if they are known. The jobs are numbered from 0 in
//! the order of arrival. Clock 0 ends a working schedule, and clock `1 + i` ends a slot of type `i`
//! that is not ended by a job. In a chain, clock `1 + K + t` ends a working schedule for the `t`-th
//! one.
//!
//! The list `cluster` is for the same policy after it has replaced another scheduler: jobs are
//! adopted, withdrawn and put back, and a part of the capacity is used by others. Each entry is a
//! line of the protocol in `docs/reference/drive.md`, in which a clock is given by its number, and the
//! decision for this line.

use std::collections::BTreeSet;

use crate::common::*;
use rand::{RngExt, SeedableRng};
use serde::{Deserialize, Serialize};
use synth::document::WorkloadDocument as _;
use synth::multiresource::artifact::{
    AdaptiveQuickswapConfig, Artifact, Backfill, BackfillingConfig, Checked, EmptySlots, Family,
    Guard, GuardedConfig, MaxWeightConfig, MaxWeightSetupConfig, MsrConfig, PartitionConfig,
    Preemption, RandomizedTimersConfig, Route, ServerFillingConfig, StaticQuickswapConfig, Zone,
};
use synth::multiresource::live::protocol::{Line, Started};
use synth::multiresource::policy::{
    Action, Backfilling, Event, Policy, Reservations, System, parse_custom_policy,
};
use synth::multiresource::simulator::Contender;
use synth::multiresource::synthesis::{
    ChoiceOptions, Families, Synthesis, SynthesisOptions, analyse, choose, synthesize,
};
use synth::multiresource::workload::{Fleet, Workload};

#[derive(Serialize, Deserialize)]
pub(crate) struct Vector {
    pub artifact: serde_json::Value,
    pub steps: Vec<Step>,
    #[serde(default)]
    pub cluster: Vec<(Line, Decision)>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Decision {
    pub start: Vec<Started>,
    pub stop: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Step {
    pub event: Event,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<u32>,
    pub starts: Vec<u64>,
    pub stops: Vec<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<usize>,
    clocks: Vec<f64>,
}

struct Interpreter {
    system: System,
    rule: Box<dyn Policy>,
}

impl Interpreter {
    fn new(artifact: &Artifact) -> Self {
        let fleet = artifact.workload.check().unwrap();
        let mut rule = artifact.policy.build(&fleet);
        let mut system = System::for_policy(&fleet, &*rule);
        rule.begin(&mut system);
        Interpreter { system, rule }
    }

    fn step(&mut self, event: Event, job: Option<u64>, of_new: (Option<f64>, Option<u32>)) -> Step {
        let (limit, user) = of_new;
        let now = self.system.now() + 1.0;
        match event {
            Event::Arrival(i) => {
                let job = match limit {
                    Some(limit) => self.system.arrive_limited(i, now, limit),
                    None => self.system.arrive(i, now),
                };
                if let Some(user) = user {
                    self.system.set_user(job, user);
                }
            }
            Event::Completion(i) => drop(self.system.complete_job(i, job.unwrap(), now).unwrap()),
            Event::Clock(_) => self.system.advance(now),
        }
        self.system.clear_actions();
        self.rule.react(event, &mut self.system);
        self.system.audit();
        assert_eq!(self.system.violation(), None);
        let (mut starts, mut stops, mut servers) = (Vec::new(), Vec::new(), Vec::new());
        for action in self.system.actions() {
            match action {
                Action::Start(_, job) => {
                    starts.push(job.number);
                    servers.extend(self.system.servers_of(*job));
                }
                Action::Stop(_, job) => stops.push(job.number),
            }
        }
        Step {
            event,
            job,
            limit,
            user,
            starts,
            stops,
            servers,
            clocks: self.system.clocks().to_vec(),
        }
    }
}

/// The columns are the file name, the preemption, the route, the backfilling and the empty slots.
fn variants() -> Vec<(&'static str, SynthesisOptions)> {
    let row = |[name, preemption, route, backfill, empty_slots]: [&'static str; 5]| {
        let preemption = serde_json::from_value(preemption.into()).unwrap();
        let mut options = SynthesisOptions::new(preemption);
        let has_route = preemption != Preemption::Full;
        options.route = has_route.then(|| route.parse::<Route>().unwrap());
        options.setup_rate = (preemption == Preemption::Setup).then_some(10.0);
        options.backfill = serde_json::from_value(backfill.into()).unwrap();
        options.empty_slots = serde_json::from_value(empty_slots.into()).unwrap();
        (name, options)
    };
    rows(include_str!("tables/variants.txt")).map(row).collect()
}

const LIMITS: &str = "known: {limit: {law: uniform, low: 1, high: 3}}\n";

fn synthesized(workload: &Workload, options: &SynthesisOptions) -> Box<Synthesis> {
    expect_policy(synthesize(workload, options).unwrap())
}

fn artifacts() -> Vec<(&'static str, Artifact)> {
    let workload = model("section7");
    let msr = |(name, options)| (name, synthesized(&workload, &options).artifact);
    let mut all: Vec<_> = variants().into_iter().map(msr).collect();
    all.push(("msr-chain", chain_artifact(&workload.scaled(0.5).unwrap())));
    let lighter = workload.scaled(0.5).unwrap();
    let turns = |overlap, strict| {
        fixed(Family::StaticQuickswap(StaticQuickswapConfig {
            cycle: vec![2, 0, 1],
            thresholds: vec![0, 2, 1],
            overlap,
            strict,
        }))
    };
    let adaptive = Family::AdaptiveQuickswap(AdaptiveQuickswapConfig {});
    // Some of these policies are not stable at a higher load.
    let light = workload.scaled(0.3).unwrap();
    let of_light = |name| by_name(name, &light.clone().into());
    let plain = "fcfs first-fit most-servers-first least-servers-first easy-by-mean".split(' ');
    all.extend(plain.map(|name| (name, chosen(&light, fixed(of_light(name))))));
    let timers = RandomizedTimersConfig { rate: 1.0 };
    let timers = chosen(&light, fixed(timers.into()));
    all.push(("randomized-timers", timers));
    let guarded = GuardedConfig {
        rule: Box::new(of_light("easy-by-mean")),
        guard: Guard::Msr(MsrConfig {
            backfill: Backfill::None,
            empty_slots: EmptySlots::Phantom,
            ..synthesized(&light, &SynthesisOptions::new(Preemption::None)).policy
        }),
        from: 12,
        until: 6,
    };
    let adaptive_msr = chosen(&lighter, Families::Only(&["adaptive-msr"]));
    let mut draining = adaptive_msr.policy.followed().clone();
    if let Family::AdaptiveMsr(policy) = &mut draining {
        (policy.switching.drain, policy.switching.let_in) = (1.0, 0.8);
    }
    let (overlapping, only) = (chosen(&lighter, turns(true, false)), Families::Only);
    all.extend([
        ("static-quickswap", chosen(&lighter, turns(false, false))),
        ("static-quickswap-overlap", overlapping),
        (
            "static-quickswap-strict",
            chosen(&light, turns(false, true)),
        ),
        ("adaptive-quickswap", chosen(&lighter, fixed(adaptive))),
        ("adaptive-msr", adaptive_msr),
        ("adaptive-msr-draining", chosen(&lighter, fixed(draining))),
        ("tdc", chosen(&lighter, only(&["tdc"]))),
        ("reserving", chosen(&lighter, only(&["reserving"]))),
        ("guarded", chosen(&light, fixed(guarded.into()))),
    ]);
    let limited = light
        .to_yaml()
        .replace("server:", &format!("{LIMITS}server:"));
    let limited = Workload::parse(&limited, "limited").unwrap().workload;
    let by_limits = |all: &[(&str, Artifact)], name: &str| {
        let (_, artifact) = all.iter().find(|(own, _)| *own == name).unwrap();
        let mut rule = artifact.policy.followed().clone();
        match &mut rule {
            Family::AdaptiveMsr(policy) => policy.limits = true,
            Family::Reserving(policy) => (policy.limits, policy.let_in) = (true, 0.8),
            _ => panic!("the workload has no limits"),
        }
        chosen(&limited, fixed(rule))
    };
    let ranked = read_text(model_path("section7"));
    let ranked = ranked.replace("name: type-2", "priority: 5, name: type-2");
    let ranked = Workload::parse(&ranked, "ranked").unwrap().workload;
    let ranked = ranked.scaled(0.3).unwrap();
    let strict = by_name("strict-priority", &ranked.clone().into());
    let adaptive = by_limits(&all, "adaptive-msr-draining");
    let reserving = by_limits(&all, "reserving");
    all.extend([
        ("priority", chosen(&ranked, fixed(strict))),
        ("adaptive-msr-limits", adaptive),
        ("reserving-limits", reserving),
    ]);
    let of_limited = |name| chosen(&limited, fixed(by_name(name, &limited.clone().into())));
    all.extend(["easy-backfill", "conservative-backfill"].map(|name| (name, of_limited(name))));
    all.extend(job_order_artifacts(&limited));
    all.extend(preemptive(&workload));
    all.extend(over_fleets());
    all
}

fn job_order_artifacts(limited: &Workload) -> Vec<(&'static str, Artifact)> {
    let of = |name, words: &str, change: fn(&mut BackfillingConfig)| {
        let mut own = by_words(words, &limited.clone().into());
        change(&mut own);
        (name, chosen(limited, fixed(own.into())))
    };
    vec![
        of("order-shortest-first", "easy+sjf", |_| ()),
        of("order-smallest-area", "first-fit+saf", |_| ()),
        of("order-wfp3", "easy+wfp3", |_| ()),
        of("order-promise", "easy+sjf", |own| {
            own.longest_wait = Some(10.0);
        }),
        of("order-history", "easy+sjf+history", |_| ()),
        of("order-planned", "conservative+saf+ratio", |own| {
            own.reservations = Reservations::Few(2);
        }),
    ]
}

fn fixed(policy: Family) -> Families {
    Families::Fixed(Box::new(policy))
}

fn by_name(name: &str, fleet: &Fleet) -> Family {
    Contender::named(name, fleet)
        .unwrap()
        .settings(fleet)
        .unwrap()
}

fn by_words(words: &str, fleet: &Fleet) -> BackfillingConfig {
    let choices = Backfilling::parse(words).unwrap().unwrap();
    BackfillingConfig::of(choices, fleet).unwrap()
}

/// A policy with a chain of schedules that is not a loop.
fn chain_artifact(workload: &Workload) -> Artifact {
    let chain = "msr: {schedules: [{type-1: 1, type-2: 4}, {type-3: 2}, {type-2: 3}],
        rates: [[0, .03, .01], [.04, 0, .02], [.1, .05, 0]]}";
    let own = parse_custom_policy(chain, "chain", &workload.clone().into()).unwrap();
    let options = SynthesisOptions::new(Preemption::None);
    expect_policy(analyse(workload, &options, own.msr().unwrap()).unwrap()).artifact
}

fn preemptive(workload: &Workload) -> Vec<(&'static str, Artifact)> {
    let weights = MaxWeightConfig {
        worths: vec![0.625, 0.46875, 1.0],
        exponent: 0.3,
    };
    let filling =
        "{kind: multiresource, time_unit: s, known: size, server: {capacity: {cpu: 4}}, jobs: [
  {name: one, demand: {cpu: 1}, arrival_rate: .5, mean_size: 1},
  {name: two, demand: {cpu: 2}, arrival_rate: .3, mean_size: 1},
  {name: four, demand: {cpu: 4}, arrival_rate: .2, mean_size: 1}]}";
    let filling = Workload::parse(filling, "filling").unwrap().workload;
    let half = workload.scaled(0.5).unwrap();
    let by_weight = chosen(&half, fixed(weights.clone().into()));
    let filled = chosen(&filling, fixed(ServerFillingConfig {}.into()));
    let mut all = vec![("max-weight", by_weight), ("server-filling", filled)];
    all.extend(with_setups(&half, weights));
    all
}

fn with_setups(workload: &Workload, weights: MaxWeightConfig) -> Vec<(&'static str, Artifact)> {
    let rule = MaxWeightSetupConfig {
        weights,
        setup_rate: 10.0,
        eagerness: 1.0,
        haste: 0.5,
    };
    let mut options = SynthesisOptions::new(Preemption::Setup);
    (options.setup_rate, options.route) = (Some(10.0), Some("sequential-late".parse().unwrap()));
    let guard = synthesized(workload, &options).policy;
    let guarded = GuardedConfig {
        rule: Box::new(rule.clone().into()),
        guard: Guard::Msr(MsrConfig {
            backfill: Backfill::None,
            empty_slots: EmptySlots::Phantom,
            ..guard
        }),
        from: 6,
        until: 3,
    };
    vec![
        ("max-weight-setup", chosen(workload, fixed(rule.into()))),
        ("guarded-setup", chosen(workload, fixed(guarded.into()))),
    ]
}

/// The loop of the partition is short, so that it is covered by the events.
fn over_fleets() -> Vec<(&'static str, Artifact)> {
    let fleet = crate::fleet::read(&crate::fleet::mixed(crate::fleet::TWO_SHAPES)).unwrap();
    let with = |fleet: &Fleet, rule: Option<Family>| {
        let mut artifact = crate::fleet::artifact(fleet);
        if let Some(rule) = rule {
            artifact.policy = rule;
            artifact.claims.truncate(1);
        }
        artifact
    };
    let partition = PartitionConfig {
        schedules: vec![
            vec![vec![4, 0, 0], vec![1, 1, 0]],
            vec![vec![2, 0, 1], vec![0, 1, 0]],
        ],
        assignments: vec![vec![vec![2, 0], vec![2, 1]], vec![vec![1, 1], vec![3, 0]]],
        weights: vec![0.5, 0.5],
        switching_rate: Some(0.1),
    };
    let Family::Backfilling(largest) = by_name("most-servers-first", &fleet) else {
        panic!("expected a backfilling rule")
    };
    let mut keeping = largest.clone();
    keeping.reserve = 1.0;
    let guarded = GuardedConfig {
        rule: Box::new(by_name("first-fit", &fleet)),
        guard: Guard::Partition(partition.clone()),
        from: 20,
        until: 10,
    };
    let zone = BackfillingConfig {
        zone: Some(Zone {
            types: vec![2, 1],
            servers: vec![1, 1],
        }),
        ..largest
    };
    let zone = GuardedConfig {
        rule: Box::new(zone.into()),
        ..guarded.clone()
    };
    let with_limits = |fleet: &Fleet| {
        let text = fleet.to_yaml();
        let text = text.replace("servers:", &format!("{LIMITS}servers:"));
        crate::fleet::read(&text).unwrap()
    };
    let limited = with_limits(&fleet);
    let gangs = crate::fleet::read(crate::pooled::GANGS).unwrap();
    let promising = with_limits(&gangs);
    let ordered = by_words("easy+wfp3+history", &promising);
    let teams = PartitionConfig {
        schedules: vec![vec![vec![4, 0]], vec![vec![0, 1], vec![8, 0]]],
        assignments: vec![vec![vec![2], vec![3, 1]]],
        weights: vec![1.0],
        switching_rate: None,
    };
    let half = fleet.scaled(0.5).unwrap();
    let by_mean = |fleet: &Fleet| with(fleet, Some(by_name("easy-by-mean", fleet)));
    let by_limit = with(&limited, Some(by_name("easy-backfill", &limited)));
    vec![
        ("fleet-partition", with(&half, Some(partition.into()))),
        ("fleet-keeping", with(&fleet, Some(keeping.into()))),
        ("fleet-guarded", with(&half, Some(guarded.into()))),
        ("fleet-zone", with(&half, Some(zone.into()))),
        ("fleet-easy-by-mean", by_mean(&fleet)),
        ("fleet-gangs", with(&gangs, Some(teams.into()))),
        ("fleet-gangs-easy", by_mean(&gangs)),
        ("fleet-easy-backfill", by_limit),
        ("fleet-gangs-order", with(&promising, Some(ordered.into()))),
    ]
}

fn chosen(workload: &Workload, families: Families) -> Artifact {
    let (preempts, setup_rate) = match &families {
        Families::Fixed(policy) => (policy.preempts(), policy.setup_rate()),
        _ => (false, None),
    };
    let mut options = SynthesisOptions::new(match (preempts, setup_rate) {
        (true, None) => Preemption::Full,
        (true, Some(_)) => Preemption::Setup,
        (false, _) => Preemption::None,
    });
    options.setup_rate = setup_rate;
    let choice = ChoiceOptions::new(families, 4_000_000, 1);
    let synthesis = synthesized(workload, &options);
    let fleet = workload.clone().into();
    let chosen = choose(&fleet, &options, &choice, synthesis, |_| ());
    chosen.unwrap().artifact
}

fn record(artifact: &Artifact) -> Vector {
    let types = artifact.workload.jobs.len();
    let has_limits = artifact.workload.check().unwrap().envelope().has_limits();
    let mut interpreter = Interpreter::new(artifact);
    let mut running: Vec<(usize, u64)> = Vec::new();
    let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
    let mut steps = Vec::new();
    while steps.len() < 150 {
        let mut ringing = interpreter.system.clocks().iter();
        let ringing = ringing.position(|rate| *rate > 0.0);
        let (event, job) = match random.random_range(0..10) {
            0..5 => (Event::Arrival(random.random_range(0..types)), None),
            5..8 if !running.is_empty() => {
                let (kind, job) = running.swap_remove(random.random_range(0..running.len()));
                (Event::Completion(kind), Some(job))
            }
            8.. if ringing.is_some() => (Event::Clock(ringing.unwrap()), None),
            _ => continue,
        };
        let limited = has_limits && matches!(event, Event::Arrival(_));
        let limit = limited.then(|| f64::from(random.random_range(1..20)));
        let has_user = limited && interpreter.rule.learned().is_some();
        let user = has_user.then_some(1 + steps.len() as u32 % 4);
        steps.push(interpreter.step(event, job, (limit, user)));
        for action in interpreter.system.actions() {
            match action {
                Action::Start(kind, job) => running.push((*kind, job.number)),
                Action::Stop(_, job) => running.retain(|(_, number)| *number != job.number),
            }
        }
    }
    let artifact = artifact.clone().sealed();
    Vector {
        artifact: serde_json::to_value(&artifact).unwrap(),
        steps,
        cluster: crate::live::replaced_scheduler_decisions(&Checked::check(artifact).unwrap()),
    }
}

pub(crate) fn recorded_vectors() -> Vec<(String, Vector)> {
    let files = std::fs::read_dir(in_root("tests/conformance")).unwrap();
    let mut files: Vec<_> = files.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let files = files.iter().filter(|file| file.is_file());
    files
        .map(|file| (file.display().to_string(), read_json(file)))
        .collect()
}

#[test]
fn vectors_are_reproduced() {
    if std::env::var_os("SYNTH_UPDATE_VECTORS").is_some() {
        for (name, artifact) in artifacts() {
            conformance_vector(name, || {
                let text = serde_json::to_string(&record(&artifact)).unwrap();
                let lines = text.replace("{\"event\"", "\n{\"event\"");
                lines.replace("[{\"t\"", "\n[{\"t\"") + "\n"
            });
        }
    }
    let mut kinds = BTreeSet::new();
    for (name, vector) in recorded_vectors() {
        let text = vector.artifact.to_string();
        let checked = Checked::parse(&text, &name).unwrap();
        let rule = &checked.artifact().policy;
        kinds.extend([rule.called(), rule.followed().called()]);
        let mut interpreter = Interpreter::new(checked.artifact());
        let mut starts = 0;
        for (n, step) in vector.steps.iter().enumerate() {
            let replayed = interpreter.step(step.event, step.job, (step.limit, step.user));
            assert_eq!(&replayed, step, "{name}, step {n}");
            starts += replayed.starts.len();
        }
        assert!(starts > 20, "{name} does something");
    }
    assert_eq!(kinds, include_str!("tables/families.txt").lines().collect());
}
