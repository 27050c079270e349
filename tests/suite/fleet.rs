//! A fleet of several server shapes: program, routing, policies, checker, simulator, command line.

use crate::common::{as_it_is, code, stderr, stdout, synth};
use serde_json::{Value, json};
use synth::document::DocumentError;
use synth::multiresource::artifact::{
    Artifact, ArtifactError, Backfill, Checked, EmptySlots, Family, Method, Preemption, Quantity,
    Routing, SizeLaw, Subject, unmet,
};
use synth::multiresource::policy::Router;
use synth::multiresource::program::{Limits, solve, solve_fleet, solve_fleet_by_enumeration};
use synth::multiresource::simulator::{Run, Settings, Verdict, judge, simulate_fleet};
use synth::multiresource::synthesis::{
    FleetOutcome, Options, Outcome, synthesize, synthesize_fleet,
};
use synth::multiresource::workload::{Described, Fleet, Workload};

const MODEL: &str = "models/fleet.yaml";

/// Jobs of three kinds on servers of these shapes; the last needs a GPU.
pub(crate) fn mixed(servers: &str) -> String {
    format!(
        "kind: multiresource\ntime_unit: s\nservers:\n{servers}jobs:
  - {{name: web, demand: {{cpu: 1}}, arrival_rate: 3, mean_size: 1}}
  - {{name: wide, demand: {{cpu: 3}}, arrival_rate: .5, mean_size: 2}}
  - {{name: learn, demand: {{cpu: 1, gpu: 1}}, arrival_rate: .25, mean_size: 2}}\n"
    )
}

pub(crate) const TWO_SHAPES: &str = "  - {name: big, count: 2, capacity: {cpu: 4}}
  - {name: gpu, count: 3, capacity: {cpu: 3, gpu: 1}}\n";

pub(crate) fn read(text: &str) -> Result<Fleet, DocumentError> {
    match Described::parse(text, "fleet.yaml")?.workload {
        Described::Fleet(fleet) => Ok(fleet),
        Described::Server(_) => panic!("not a fleet: {text}"),
    }
}

fn model() -> Fleet {
    match Described::read(MODEL.as_ref()).unwrap().workload {
        Described::Fleet(fleet) => fleet,
        Described::Server(_) => panic!("{MODEL} is a fleet"),
    }
}

fn load(fleet: &Fleet) -> f64 {
    let solution = solve_fleet(fleet, &Limits::default()).unwrap();
    assert!(solution.certificate.proven(), "{:?}", solution.certificate);
    solution.certificate.load
}

fn artifact(fleet: &Fleet, options: &Options) -> Artifact {
    match synthesize_fleet(fleet, options).unwrap() {
        FleetOutcome::Policy(made) => made.artifact,
        other => panic!("no policy: {other:?}"),
    }
}

/// With full preemption, run as it is analysed.
pub(crate) fn as_analysed() -> Options {
    Options {
        backfill: Backfill::None,
        empty_slots: EmptySlots::Phantom,
        ..Options::new(Preemption::Full)
    }
}

pub(crate) fn checked(fleet: &Fleet, options: &Options) -> Checked {
    Checked::check(artifact(fleet, options)).unwrap()
}

pub(crate) fn simulated(policy: &Checked, routing: Routing, events: u64) -> Run {
    let servers = policy.artifact().policy.servers.iter();
    let policies: Vec<Family> = servers.map(|server| server.rule.clone()).collect();
    let settings = Settings {
        events,
        precision: 1e-9,
        replications: 4,
        ..Settings::default()
    };
    simulate_fleet(policy, &policies, routing, &settings, |_| ()).unwrap()
}

pub(crate) fn is_near(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
}

// The program.

/// One server, written as a fleet: the same load, the same jobs at it, the same exact means.
#[test]
fn a_single_server_is_a_fleet_of_one() {
    for name in ["section7", "four_types", "one_or_all"] {
        let path = format!("models/{name}.yaml");
        let text = std::fs::read_to_string(path).unwrap();
        let workload = Workload::parse(&text, name).unwrap().workload;
        let start = text.find("server:").unwrap();
        let capacity = text[start..].find('{').unwrap() + start;
        let end = text[capacity..].find('\n').unwrap() + capacity;
        let servers = format!("servers:\n  - capacity: {}", &text[capacity..end]);
        let fleet = read(&text.replace(&text[start..end], &servers)).unwrap();
        assert_eq!(fleet.shapes()[0].name(), "shape-1");
        let one = solve(&workload, &Limits::default()).unwrap();
        is_near(load(&fleet), one.certificate.load);
        let sent = fleet.routed(0, &vec![1.0; fleet.types().len()]).unwrap();
        assert_eq!(sent.digest(), workload.digest(), "{name}");
    }
}

/// Section 7 of the MSR paper, whose optimum is unique: its mean number, by both ways.
#[test]
fn a_fleet_of_one_has_the_means_of_the_server() {
    let text = std::fs::read_to_string("models/section7.yaml").unwrap();
    let servers = "servers:\n  - {name: one, capacity: {cpu: 20, memory: 15, network: 50}}\n";
    let start = text.find("server:").unwrap();
    let end = text.find("jobs:").unwrap();
    let fleet = read(&text.replace(&text[start..end], servers)).unwrap();
    let options = Options {
        switching_rate: Some(2.0),
        ..as_analysed()
    };
    let workload = Workload::parse(&text, "section7").unwrap().workload;
    let Outcome::Policy(one) = synthesize(&workload, &options).unwrap() else {
        panic!("no policy");
    };
    let fleet = artifact(&fleet, &options);
    for found in fleet.claims.iter().filter(|c| c.quantity != Quantity::Load) {
        let same = one.artifact.find(found.quantity, found.subject());
        is_near(found.value, same.unwrap().value);
    }
    let number = fleet
        .claims
        .iter()
        .rfind(|c| c.quantity == Quantity::MeanNumber);
    assert!((number.unwrap().value - 36.8107).abs() < 5e-5);
}

/// Two shapes that are alike are one shape twice; and half the arrivals on half the servers are as
/// much for each of them.
#[test]
fn shapes_that_are_alike_are_one() {
    let apart = mixed(
        "  - {name: a, count: 2, capacity: {cpu: 3, gpu: 1}}
  - {name: b, count: 3, capacity: {cpu: 3, gpu: 1}}\n",
    );
    let together = mixed("  - {count: 5, capacity: {cpu: 3, gpu: 1}}\n");
    let (apart, together) = (read(&apart).unwrap(), read(&together).unwrap());
    is_near(load(&apart), load(&together));
    let twice = mixed("  - {count: 10, capacity: {cpu: 3, gpu: 1}}\n");
    is_near(load(&read(&twice).unwrap()), load(&together) / 2.0);
    let made = artifact(&together, &as_analysed());
    assert_eq!(made.policy.servers[0].routing, [1.0; 3]);
}

/// By hand. Jobs of 2 cpus: a server of 3 holds one of them and one of 5 holds two, so that 2
/// servers and 1 hold four. With GPUs: t (1/2) ≤ 1 on the one GPU, while the 6 cpus have room for
/// t (5/2 + 1/2).
#[test]
fn loads_by_hand() {
    let packing = "kind: multiresource\ntime_unit: s\nservers:
  - {name: small, count: 2, capacity: {cpu: 3}}
  - {name: large, capacity: {cpu: 5}}
jobs:
  - {name: two, demand: {cpu: 2}, arrival_rate: 2, mean_size: 1}\n";
    let fleet = read(packing).unwrap();
    is_near(load(&fleet), 0.5);
    let solution = solve_fleet(&fleet, &Limits::default()).unwrap();
    assert_eq!(solution.routing(&fleet), [[0.5], [0.5]]);

    let scarce = "kind: multiresource\ntime_unit: s\nservers:
  - {name: plain, capacity: {cpu: 4}}
  - {name: gpu, capacity: {cpu: 2, gpu: 1}}
jobs:
  - {name: web, demand: {cpu: 1}, arrival_rate: 2.5, mean_size: 1}
  - {name: learn, demand: {cpu: 1, gpu: 1}, arrival_rate: .5, mean_size: 1}\n";
    let fleet = read(scarce).unwrap();
    is_near(load(&fleet), 0.5);
    let solution = solve_fleet(&fleet, &Limits::default()).unwrap();
    let routing = solution.routing(&fleet);
    let sums: Vec<f64> = (0..2).map(|i| routing[0][i] + routing[1][i]).collect();
    sums.iter().for_each(|sum| is_near(*sum, 1.0));
    assert_eq!(routing[0][1], 0.0, "no GPU there");
}

/// Two programs, one load: memory decides, 9952 GiB of 16 896.
#[test]
fn the_model_agrees_with_enumeration_and_with_its_fluid() {
    let fleet = model();
    let all = solve_fleet_by_enumeration(&fleet, 100_000)
        .unwrap()
        .unwrap();
    is_near(all.certificate.load, load(&fleet));
    is_near(load(&fleet), 9952.0 / 16_896.0);
    assert!(solve_fleet_by_enumeration(&fleet, 10).unwrap().is_none());
}

/// A shape that nothing scarce is on still has a policy, with a gap of its own instead of a proof.
#[test]
fn a_shape_in_plenty_has_a_policy_too() {
    let fleet = read(&mixed(
        "  - {name: big, count: 1, capacity: {cpu: 8}}
  - {name: idle, count: 9, capacity: {cpu: 1, gpu: 1}}\n",
    ))
    .unwrap();
    let made = artifact(&fleet, &as_analysed());
    let all = made.evidence.fleet.as_ref().unwrap();
    assert!(all.proven);
    let loads = made.evidence.servers.iter().map(|own| own.load);
    loads.for_each(|own| assert!(own <= all.load * (1.0 + 1e-12)));
    Checked::check(made).unwrap();
}

#[test]
fn an_overloaded_fleet_is_refused_with_its_prices() {
    let fleet = read(&mixed("  - {count: 2, capacity: {cpu: 3, gpu: 1}}\n")).unwrap();
    let FleetOutcome::Overloaded(overload) = synthesize_fleet(&fleet, &as_analysed()).unwrap()
    else {
        panic!("a policy for what is beyond capacity");
    };
    // Six cpus for 3 + 3 + 1/2.
    assert!(overload.certificate.bound >= 6.5 / 6.0 - 1e-9);
}

// Where jobs are sent.

#[test]
fn routing_at_random_has_the_fractions_of_the_policy() {
    let policy = checked(&read(&mixed(TWO_SHAPES)).unwrap(), &as_analysed());
    let router = Router::new(&policy, Routing::Probabilistic);
    let draws = 300_000;
    for i in 0..3 {
        let mut sent = [0_u32; 5];
        for n in 0..draws {
            let draw = (f64::from(n) + 0.5) / f64::from(draws);
            sent[router.route(i, &[0; 5], draw)] += 1;
        }
        let shapes = &policy.artifact().policy.servers;
        let each =
            [0, 0, 1, 1, 1].map(|h: usize| shapes[h].routing[i] / f64::from(shapes[h].count));
        for (sent, fraction) in sent.iter().zip(each) {
            let expected = fraction * f64::from(draws);
            assert!(
                (f64::from(*sent) - expected).abs() <= 1.0,
                "{sent} {expected}"
            );
        }
    }
}

/// One web job has room on the small server and three on the large one: the first goes to the large
/// one (1/3 < 1), and so does the third (3/3 = 1 is as good as 1/1, and drawn).
#[test]
fn least_load_counts_what_servers_serve() {
    let fleet = read(UNEQUAL).unwrap();
    let router = Router::new(&checked(&fleet, &as_analysed()), Routing::LeastLoaded);
    let route = |present: [u32; 3], draw| router.route(0, &present, draw);
    assert_eq!(route([0, 0, 0], 0.0), 2);
    assert_eq!(route([0, 0, 1], 0.99), 2);
    assert_eq!(
        [0.1, 0.4, 0.9].map(|draw| route([0, 0, 2], draw)),
        [0, 1, 2]
    );
    assert_eq!([0.1, 0.9].map(|draw| route([1, 0, 3], draw)), [1, 1]);
}

// What is claimed.

/// Two servers that hold one job and one that holds three.
const UNEQUAL: &str = "kind: multiresource\ntime_unit: s\nservers:
  - {name: small, count: 2, capacity: {cpu: 1}}
  - {name: large, capacity: {cpu: 3}}
jobs:
  - {name: web, demand: {cpu: 1}, arrival_rate: 2, mean_size: 1}\n";

/// Erlang: of 2 jobs a second, 2/5 go to two M/M/1 queues of load .4 and 3/5 to an M/M/3 queue of the
/// same load, where a = 1.2 and a job waits with probability .48/3.4.
#[test]
fn the_mean_of_erlangs_queues() {
    let made = artifact(&read(UNEQUAL).unwrap(), &as_analysed());
    let claimed = |quantity| made.find(quantity, Subject::ALL).unwrap().value;
    is_near(claimed(Quantity::Load), 0.4);
    let expected = 2.0 * 0.4 / 0.6 + 1.2 + 0.48 / 3.4 * 0.4 / 0.6;
    is_near(claimed(Quantity::MeanNumber), expected);
    is_near(claimed(Quantity::MeanResponse), expected / 2.0);
}

/// What is no more than an approximation of some server's queue is no more of the fleet's.
#[test]
fn the_fleets_means_are_as_exact_as_its_servers() {
    let text = mixed(TWO_SHAPES);
    let staged = text.replace("mean_size: 1}", "size: {law: erlang, stages: 3, mean: 1}}");
    let short = Options {
        effort: 1e-12,
        ..as_analysed()
    };
    let none = Options::new(Preemption::None);
    let exponential = Some(SizeLaw::Exponential);
    let cases = [
        (&text, as_analysed(), Method::ExactQbd, exponential, true),
        (&staged, none, Method::ExactQbd, exponential, false),
        (&text, short, Method::ApproximationQueueLength, None, true),
    ];
    for (text, options, method, sizes, is_met) in cases {
        let policy = checked(&read(text).unwrap(), &options);
        let (artifact, envelope) = (policy.artifact(), policy.workload().envelope());
        let whole = artifact.claims.iter().filter(|c| c.server.is_none());
        assert_eq!(whole.clone().count(), 9);
        for claim in whole.filter(|c| c.quantity != Quantity::Load) {
            assert_eq!((claim.method, claim.holds_for.sizes), (method, sizes));
            assert_eq!(claim.holds_for.own.routing, Some(Routing::Probabilistic));
            let kind = claim.job_type.as_deref();
            let unmet = unmet(&claim.holds_for, kind, envelope, artifact.preempts());
            assert_eq!(!unmet.any(), is_met, "{claim:?}");
        }
    }
    // With preemption the stages are followed: of each type, and of all where one has them.
    let policy = checked(&read(&staged).unwrap(), &as_analysed());
    let (artifact, envelope) = (policy.artifact(), policy.workload().envelope());
    for (kind, sizes) in [
        (Some("web"), Some(SizeLaw::PhaseType)),
        (Some("wide"), exponential),
        (None, Some(SizeLaw::PhaseType)),
    ] {
        let claim = artifact.find(Quantity::MeanNumber, Subject::of_type(kind));
        let claim = claim.unwrap();
        assert_eq!(
            (claim.method, claim.holds_for.sizes),
            (Method::ExactQbd, sizes)
        );
        assert!(!unmet(&claim.holds_for, kind, envelope, true).any());
    }
}

// Simulation.

/// Shortest expected delay on unequal servers, of the whole chain of its queues: power iteration on
/// at most 24 jobs at each, which in fact are never more than a few.
#[test]
fn least_load_has_the_mean_of_its_chain() {
    const MOST: usize = 24;
    const RATE: f64 = 2.0;
    /// Faster than all that happens.
    const CLOCK: f64 = RATE + 5.0;
    let slots = [1.0, 1.0, 3.0];
    let at = |q: [usize; 3]| (q[0] * (MOST + 1) + q[1]) * (MOST + 1) + q[2];
    let mut law = vec![0.0; (MOST + 1).pow(3)];
    law[0] = 1.0;
    let (mut number, mut before) = (0.0, f64::INFINITY);
    for step in 0..4000 {
        let mut next = vec![0.0; law.len()];
        number = 0.0;
        for state in 0..law.len() {
            let mass = law[state];
            if mass < 1e-18 {
                continue;
            }
            let q = [
                state / (MOST + 1).pow(2),
                state / (MOST + 1) % (MOST + 1),
                state % (MOST + 1),
            ];
            number += mass * q.iter().sum::<usize>() as f64;
            let mut stays = CLOCK;
            let mut go = |to: [usize; 3], rate: f64| {
                next[at(to)] += mass * rate / CLOCK;
                stays -= rate;
            };
            let delay = |s: usize| (q[s] + 1) as f64 / slots[s];
            let least = (0..3).map(delay).fold(f64::INFINITY, f64::min);
            let best: Vec<usize> = (0..3).filter(|&s| delay(s) == least).collect();
            for &s in best.iter().filter(|&&s| q[s] < MOST) {
                let mut to = q;
                to[s] += 1;
                go(to, RATE / best.len() as f64);
            }
            for s in (0..3).filter(|&s| q[s] > 0) {
                let mut to = q;
                to[s] -= 1;
                go(to, slots[s].min(q[s] as f64));
            }
            next[state] += mass * stays / CLOCK;
        }
        law = next;
        if step % 100 == 99 {
            if (number / before - 1.0_f64).abs() < 1e-10 {
                break;
            }
            before = number;
        }
    }
    let policy = checked(&read(UNEQUAL).unwrap(), &as_analysed());
    let run = simulated(&policy, Routing::LeastLoaded, 8_000_000);
    let mean = run.mean_number.unwrap();
    assert!(mean.covers(number, 0.999), "{mean:?} for {number}");
    assert!(mean.relative() < 0.005, "{mean:?}");
}

/// Exact means of all servers together, measured; with and without memory of sizes.
#[test]
fn exact_means_are_confirmed_under_probabilistic_routing() {
    let exponential = mixed(TWO_SHAPES);
    let staged = exponential.replace("mean_size: 1}", "size: {law: erlang, stages: 3, mean: 1}}");
    for text in [exponential, staged] {
        let policy = checked(&read(&text).unwrap(), &as_analysed());
        let run = simulated(&policy, Routing::Probabilistic, 12_000_000);
        let judged = judge(policy.artifact(), policy.workload().envelope(), &run);
        let examined: Vec<_> = judged
            .iter()
            .filter(|j| j.verdict != Verdict::NotExamined)
            .collect();
        assert_eq!(examined.len(), 8);
        for judgement in examined {
            assert_eq!(judgement.verdict, Verdict::Confirmed, "{judgement:?}");
        }
        // Conservation: what is in service is what comes, on all servers together.
        for (kind, found) in policy.workload().fleet().types().iter().zip(&run.types) {
            let busy = found.mean_in_service.unwrap();
            assert!(busy.covers(kind.offered_load(), 0.999), "{busy:?}");
        }
    }
}

/// Looking at the servers is better than sending at random: of the model, without preemption and with
/// backfilling, the intervals are apart.
#[test]
fn least_load_beats_chance_on_the_model() {
    let policy = checked(&model(), &Options::new(Preemption::None));
    let mean = |routing| {
        simulated(&policy, routing, 3_000_000)
            .mean_response
            .unwrap()
    };
    let (random, least) = (mean(Routing::Probabilistic), mean(Routing::LeastLoaded));
    assert!(
        least.mean + least.half_width < random.mean - random.half_width,
        "{least:?} {random:?}"
    );
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let policy = checked(&read(&mixed(TWO_SHAPES)).unwrap(), &as_analysed());
    for routing in [Routing::Probabilistic, Routing::LeastLoaded] {
        let run = || serde_json::to_value(simulated(&policy, routing, 200_000)).unwrap();
        assert_eq!(run(), run());
    }
}

// The checker.

/// Everything that is wrong with a policy, after a change of its JSON.
pub(crate) fn findings(
    valid: &Value,
    pointer: &str,
    change: impl FnOnce(&mut Value),
) -> Vec<String> {
    let mut document = valid.clone();
    change(document.pointer_mut(pointer).unwrap());
    match as_it_is(&document, "fleet.json") {
        Ok(_) => Vec::new(),
        Err(ArtifactError::Refused { findings, .. }) => {
            findings.iter().map(ToString::to_string).collect()
        }
        Err(error) => vec![error.to_string()],
    }
}

fn valid() -> Value {
    let fleet = read(&mixed(TWO_SHAPES)).unwrap();
    let made = artifact(&fleet, &Options::new(Preemption::None));
    let text = made.to_json().unwrap();
    assert_eq!(
        Checked::parse(&text, "fleet.json").unwrap().artifact(),
        &made.sealed(),
        "what is written is what is read"
    );
    serde_json::from_str(&text).unwrap()
}

#[test]
fn faulty_policies_are_refused_at_their_place() {
    let valid = valid();
    let swap = |value: &mut Value| value.as_array_mut().unwrap().swap(0, 1);
    let drop_last = |value: &mut Value| drop(value.as_array_mut().unwrap().pop());
    type Change<'a> = &'a dyn Fn(&mut Value);
    let cases: [(&str, Change<'_>, &str); 22] = [
        ("/version", &|v| *v = json!(2), "`version`: version 2"),
        (
            "/kind",
            &|v| *v = json!("flotilla"),
            "`flotilla` is not known here",
        ),
        (
            "/workload/servers/0/count",
            &|v| *v = json!(3),
            "workload.digest: digest",
        ),
        (
            "/workload/servers/0/count",
            &|v| *v = json!(0),
            "workload.servers[0].count: count of shape `big` is 0",
        ),
        (
            "/workload/servers/0/capacity/0",
            &|v| *v = json!(2),
            "workload.digest: digest",
        ),
        (
            "/workload/resources/1",
            &|v| *v = json!("cpu"),
            "workload.resources[1]: `cpu`",
        ),
        (
            "/workload/types/2/arrival_rate",
            &|v| *v = json!(1),
            "workload.digest: digest",
        ),
        (
            "/policy/servers",
            &swap,
            "policy.servers[0].name: `gpu`, expected `big`",
        ),
        (
            "/policy/servers",
            &drop_last,
            "policy.servers: 1 entries, expected 2",
        ),
        (
            "/policy/servers/1/count",
            &|v| *v = json!(2),
            "policy.servers[1].count: 2, expected 3",
        ),
        (
            "/policy/servers/0/routing",
            &drop_last,
            "policy.servers[0].routing: 2 entries",
        ),
        (
            "/policy/servers/0/routing/0",
            &|v| *v = json!(1.5),
            "policy.servers[0].routing[0]: 1.5",
        ),
        (
            "/policy/servers/0/routing/2",
            &|v| *v = json!(0.5),
            "policy.servers[0].routing[2]: 0.5, expected 0",
        ),
        (
            "/policy/servers/1/routing/2",
            &|v| *v = json!(0.5),
            "sum to 0.5 over the shapes",
        ),
        (
            "/evidence/fleet/load",
            &|v| *v = json!(0.5),
            "evidence.fleet.gap",
        ),
        (
            "/evidence/fleet/servers/0/worth",
            &|v| *v = json!(v.as_f64().unwrap() * 0.9),
            "evidence.fleet.servers[0].worth",
        ),
        (
            "/evidence/fleet/bound",
            &|v| *v = json!(v.as_f64().unwrap() * 1.1),
            "evidence.fleet.bound",
        ),
        (
            "/evidence/fleet/prices",
            &|v| v.as_array_mut().unwrap().swap(0, 2),
            "a job of type",
        ),
        (
            "/claims/1/value",
            &|v| *v = json!(v.as_f64().unwrap() * 1.001),
            "claims[1].value",
        ),
        (
            "/claims/1/holds_for/routing",
            &|v| *v = json!("least-loaded"),
            "claims[1]: unit",
        ),
        (
            "/policy/servers/1/rule",
            &|v| *v = json!({"surprise": {}}),
            "`policy.servers[1].rule`: `surprise` is not known here",
        ),
        (
            "/evidence/servers/1/load",
            &|v| *v = json!(0.1),
            "evidence.servers[1].load",
        ),
    ];
    for (pointer, change, expected) in cases {
        let found = findings(&valid, pointer, change);
        let told = found.iter().any(|finding| finding.contains(expected));
        assert!(told, "{pointer}: expected {expected}, found {found:#?}");
    }
}

/// Both shapes stay right in themselves and no longer belong together: each server is made for
/// other arrivals than are sent to it.
#[test]
fn routing_that_is_not_the_mixes_is_refused() {
    let mut document = valid();
    let routing = |h: usize| format!("/policy/servers/{h}/routing/0");
    for (h, by) in [(0, 0.01), (1, -0.01)] {
        let fraction = document.pointer_mut(&routing(h)).unwrap();
        *fraction = json!(fraction.as_f64().unwrap() - by);
    }
    let found = findings(&document, "", |_| ());
    let told = |words: &str| found.iter().any(|finding| finding.starts_with(words));
    assert!(told("policy.servers[0].routing[0]"), "{found:?}");
    assert!(told("policy.servers[1].routing[0]"), "{found:?}");
}

/// Every number, one by one a thousandth larger.
#[test]
fn every_number_matters() {
    let valid = valid();
    let mut pointers = Vec::new();
    numbers(&valid, String::new(), &mut pointers);
    let mut passed = Vec::new();
    for pointer in pointers {
        let harmless = pointer.starts_with("/provenance")
            // Higher prices cover the values too, and a gap of a rounding error may be another one.
            || pointer.contains("/resource_prices/")
            || pointer.ends_with("/gap");
        let larger = |v: &mut Value| {
            *v = match v.as_u64() {
                Some(n) => json!(n + 1),
                None => json!(v.as_f64().unwrap() * 1.001),
            }
        };
        let is_zero = valid.pointer(&pointer).unwrap().as_f64() == Some(0.0);
        if !harmless && !is_zero && findings(&valid, &pointer, larger).is_empty() {
            passed.push(pointer);
        }
    }
    assert_eq!(passed, [""; 0]);
}

fn numbers(value: &Value, at: String, found: &mut Vec<String>) {
    match value {
        Value::Number(_) => found.push(at),
        Value::Array(all) => {
            for (n, value) in all.iter().enumerate() {
                numbers(value, format!("{at}/{n}"), found);
            }
        }
        Value::Object(all) => {
            for (key, value) in all {
                numbers(value, format!("{at}/{key}"), found);
            }
        }
        _ => {}
    }
}

// Documents.

#[test]
fn faulty_documents_are_refused_with_their_place() {
    let text = mixed(TWO_SHAPES);
    let cases = [
        (
            "count: 2",
            "count: 0",
            "servers[0].count",
            "from 1 to 100000",
        ),
        ("count: 2", "count: two", "servers[0].count", "is two"),
        (
            "name: gpu",
            "name: big",
            "servers[1]",
            "a second shape is named `big`",
        ),
        (
            "{cpu: 4}",
            "{cpu: -4}",
            "servers[0].capacity.cpu",
            "expected a number ≥ 0",
        ),
        ("{cpu: 4}", "{cpu: 0}", "servers[0]", "has no resources"),
        (
            "{cpu: 4}",
            "{cpu: .5}",
            "servers[0]",
            "no type fits on shape `big`",
        ),
        (
            "cpu: 1, gpu: 1}, arr",
            "cpu: 1, tpu: 1}, arr",
            "jobs[2].demand.tpu",
            "which every server lacks",
        ),
        (
            "gpu: 1}, arr",
            "gpu: 2}, arr",
            "jobs[2].demand.gpu",
            "fits on no server; closest is shape `gpu`, where it needs 2 `gpu` of 1",
        ),
        (
            "demand: {cpu: 3}",
            "demand: {cpu: 5}",
            "jobs[1].demand.cpu",
            "closest is shape `big`, where it needs 5 `cpu` of 4",
        ),
        (
            "arrival_rate: 3",
            "arrivals: {process: renewal, interarrival: {law: erlang, stages: 3, mean: .3}}",
            "jobs[0].arrivals",
            "the type fits on 5 servers, over which what is proved of a fleet splits it",
        ),
    ];
    for (found, replaced, place, message) in cases {
        assert!(text.contains(found), "{found}");
        let Err(DocumentError::Faults { faults, report }) = read(&text.replace(found, replaced))
        else {
            panic!("{replaced} is taken");
        };
        let told = faults
            .iter()
            .any(|f| f.place.to_string() == place && f.message.contains(message));
        assert!(told, "{replaced}: {faults:#?}");
        assert!(report.contains("fleet.yaml:"), "with its line: {report}");
    }
    let both = text.replace("servers:", "server: {capacity: {cpu: 1}}\nservers:");
    let error = read(&both).unwrap_err().to_string();
    assert!(error.contains("both `server` and `servers`"), "{error}");
    let error = read(&text.replace("capacity: {cpu: 4}", "cap: {cpu: 4}")).unwrap_err();
    assert!(error.to_string().contains("unknown key `cap`"), "{error}");
}

/// A type that does not arrive is left out with a warning, and the others keep their places.
#[test]
fn a_type_of_rate_0_is_left_out() {
    let text = mixed(TWO_SHAPES).replace("arrival_rate: .5", "arrival_rate: 0");
    let parsed = Described::parse(&text, "fleet.yaml").unwrap();
    assert!(parsed.warnings[0].contains("type `wide` has arrival rate 0"));
    let Described::Fleet(fleet) = parsed.workload else {
        panic!("not a fleet");
    };
    assert_eq!(fleet.envelope().unserved(), ["wide"]);
    let types: Vec<&[usize]> = fleet.shapes().iter().map(|s| s.types()).collect();
    assert_eq!(types, [&[0][..], &[0, 1]]);
}

#[test]
fn a_record_goes_through_json_and_back_to_the_same_fleet() {
    for fleet in [model(), read(&mixed(TWO_SHAPES)).unwrap()] {
        let json = serde_json::to_string(&fleet.record()).unwrap();
        let back: synth::multiresource::workload::Record = serde_json::from_str(&json).unwrap();
        assert_eq!(back.check().unwrap(), fleet);
    }
}

// The command line.

#[test]
fn a_fleet_from_the_command_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("fleet.json");
    let file = file.to_str().unwrap();
    let full = ["--workload", MODEL, "--preemption", "full", "-o", file];
    let pooled = synth(&full);
    assert_eq!(code(&pooled), 0, "{}", stderr(&pooled));
    assert!(
        stderr(&pooled).contains("No job is stopped"),
        "{}",
        stderr(&pooled)
    );
    let made = synth(&[&full[..], &["--family", "msr"]].concat());
    assert_eq!(code(&made), 0, "{}", stderr(&made));
    assert!(
        stderr(&made).contains("load ρ = 0.589015152  (proven best"),
        "{}",
        stderr(&made)
    );
    let valid = synth(&["check", file, "--workload", MODEL]);
    assert_eq!(code(&valid), 0, "{}", stderr(&valid));
    assert!(
        stderr(&valid).contains("48 servers of 2 shapes"),
        "{}",
        stderr(&valid)
    );

    let other = folder.path().join("other.yaml");
    let text = std::fs::read_to_string(MODEL).unwrap();
    std::fs::write(&other, text.replace("count: 40", "count: 41")).unwrap();
    let refused = synth(&["check", file, "--workload", other.to_str().unwrap()]);
    assert_eq!(code(&refused), 1);
    assert!(stderr(&refused).contains("workload.servers[0].count: count of `big`: made for 40"));

    let run = [
        "simulate",
        "--policy",
        file,
        "--routing",
        "least-loaded",
        "--events",
        "2e6",
    ];
    let run = synth(&run);
    assert_eq!(code(&run), 0, "{}{}", stdout(&run), stderr(&run));
    assert!(
        stdout(&run).contains("mean response [h]"),
        "{}",
        stdout(&run)
    );
}

#[test]
fn what_takes_one_server_refuses_a_fleet() {
    let refused = [
        &["optimum", "--workload", MODEL][..],
        &["sweep-alpha", "--workload", MODEL, "--preemption", "none"],
    ];
    for typed in refused {
        let output = synth(typed);
        assert_eq!(code(&output), 2, "{typed:?}");
        let said = stderr(&output);
        assert!(
            said.contains("this is a fleet of several servers"),
            "{said}"
        );
    }
    let valid = "tests/corpus/policies/valid.json";
    let output = synth(&["simulate", "--policy", valid, "--routing", "probabilistic"]);
    assert_eq!(code(&output), 2);
    assert!(
        stderr(&output).contains("here is one server"),
        "{}",
        stderr(&output)
    );
}
