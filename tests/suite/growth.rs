//! What could be bought: each step against a server made anew by hand, and the program over all schedules listed.

use std::time::Instant;

use crate::common::{code, stderr, stdout, synth};
use crate::fleet::{TWO_SHAPES, mixed, read};
use rand::{RngExt, SeedableRng};
use serde_json::Value;
use synth::multiresource::artifact::{Artifact, Growth, Preemption, Quantity, Step, Subject};
use synth::multiresource::program::{solve_by_enumeration, solve_fleet_by_enumeration};
use synth::multiresource::schedule::{Packing, enumerate};
use synth::multiresource::synthesis::{
    FleetOutcome, Options, Outcome, Pooling, pool, synthesize, synthesize_fleet,
};
use synth::multiresource::workload::Workload;

fn grown(artifact: &Artifact) -> &Growth {
    artifact.provenance.growth.as_ref().unwrap()
}

fn step<'a>(growth: &'a Growth, shape: &str, resource: Option<&str>) -> &'a Step {
    let is_it = |s: &&Step| s.shape == shape && s.resource.as_deref() == resource;
    growth.steps.iter().find(is_it).unwrap()
}

fn one_server(workload: &Workload) -> Artifact {
    match synthesize(workload, &Options::new(Preemption::Full)).unwrap() {
        Outcome::Policy(made) => made.artifact,
        other => panic!("{other:?}"),
    }
}

/// A server of these capacities, whose jobs need these amounts (K × R), at these offered loads.
fn server(capacity: &[u32], demands: &[Vec<u32>], loads: &[f64]) -> Workload {
    let amounts = |all: &[u32]| {
        let named = all.iter().enumerate().map(|(j, n)| format!("r{j}: {n}"));
        named.collect::<Vec<_>>().join(", ")
    };
    let mut text = format!(
        "kind: multiresource\ntime_unit: s\nserver: {{capacity: {{{}}}}}\njobs:\n",
        amounts(capacity)
    );
    for (i, (demand, load)) in demands.iter().zip(loads).enumerate() {
        let demand = amounts(demand);
        text += &format!(
            "  - {{name: t{i}, demand: {{{demand}}}, arrival_rate: {load}, mean_size: 1}}\n"
        );
    }
    Workload::parse(&text, "server").unwrap().workload
}

/// Jobs that are alike: ⌊C/d⌋ run together, and the load is b over that; the next one needs what is lacking for it.
#[test]
fn a_server_of_jobs_that_are_alike_by_the_formula() {
    for capacity in 2..30 {
        for demand in 1..=capacity.min(9) {
            let fit = capacity / demand;
            let offered = 0.7 * f64::from(fit);
            let workload = server(&[capacity], &[vec![demand]], &[offered]);
            let artifact = one_server(&workload);
            let own = step(grown(&artifact), "server", Some("r0"));
            assert_eq!(own.more, f64::from((fit + 1) * demand - capacity));
            let load = offered / f64::from(fit + 1);
            assert!((own.proof.load / load - 1.0).abs() < 1e-9, "{own:?}");
            assert!(own.proof.proven);
            artifact.check().unwrap();
        }
    }
}

/// Random small systems: the least amount is the first with which other schedules fit, and the load is that of all
/// schedules in one program, both of a server written anew.
#[test]
fn steps_of_random_servers_by_enumeration() {
    let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(7);
    let mut helped = 0;
    for _ in 0..60 {
        let resources = random.random_range(1..=3);
        let capacity: Vec<u32> = (0..resources).map(|_| random.random_range(4..13)).collect();
        let demand = |random: &mut rand_xoshiro::Xoshiro256PlusPlus| -> Vec<u32> {
            let of = |(j, most): (usize, &u32)| random.random_range(u32::from(j == 0)..=*most / 2);
            capacity.iter().enumerate().map(of).collect()
        };
        let types = random.random_range(1..=3);
        let demands: Vec<Vec<u32>> = (0..types).map(|_| demand(&mut random)).collect();
        let loads: Vec<f64> = (0..types).map(|_| random.random::<f64>() + 0.1).collect();
        let most = 0.6 / least_load(&server(&capacity, &demands, &loads));
        let loads: Vec<f64> = loads.iter().map(|load| load * most).collect();
        let workload = server(&capacity, &demands, &loads);
        let artifact = one_server(&workload);
        artifact.check().unwrap();
        let now = artifact.the_server().certificate.load;
        let schedules = |w: &Workload| enumerate(&Packing::new(w), 1_000_000).schedules.len();
        for (j, resource) in workload.resources().iter().enumerate() {
            if demands.iter().all(|demand| demand[j] == 0) {
                let growth = grown(&artifact);
                let named = |s: &Step| s.resource.as_deref() == Some(resource.name());
                assert!(!growth.steps.iter().any(named));
                continue;
            }
            let own = step(grown(&artifact), "server", Some(resource.name()));
            let with = |more: u32| {
                let mut larger = capacity.clone();
                larger[j] += more;
                server(&larger, &demands, &loads)
            };
            let first = (1..40).find(|more| schedules(&with(*more)) > schedules(&workload));
            assert_eq!(own.more, f64::from(first.unwrap_or(1)));
            let load = least_load(&with(own.more as u32));
            assert!((own.proof.load / load - 1.0).abs() < 1e-8, "{own:?} {load}");
            helped += usize::from(load < now * 0.999);
        }
        let loads = grown(&artifact).steps.iter().map(|step| step.proof.load);
        assert!(loads.is_sorted());
    }
    assert!(helped > 20, "{helped}");
}

fn least_load(workload: &Workload) -> f64 {
    let mix = solve_by_enumeration(workload, 1_000_000).unwrap();
    mix.unwrap().load(workload)
}

/// Of a fleet: a unit on each server of a shape, and a server more of each, written anew by hand.
#[test]
fn steps_of_a_fleet_by_enumeration() {
    let fleet = read(&mixed(TWO_SHAPES)).unwrap();
    let FleetOutcome::Policy(made) =
        synthesize_fleet(&fleet, &Options::new(Preemption::Full)).unwrap()
    else {
        panic!("a policy")
    };
    let growth = grown(&made.artifact);
    made.artifact.check().unwrap();
    assert_eq!((growth.steps.len(), growth.skipped), (5, 0));
    let big = |count: u32, cpu: u32| {
        format!("  - {{name: big, count: {count}, capacity: {{cpu: {cpu}}}}}\n")
    };
    let gpu = |count: u32, cpu: u32, gpu: u32| {
        format!("  - {{name: gpu, count: {count}, capacity: {{cpu: {cpu}, gpu: {gpu}}}}}\n")
    };
    for (shape, resource, servers) in [
        ("big", Some("cpu"), big(2, 5) + &gpu(3, 3, 1)),
        ("big", None, big(3, 4) + &gpu(3, 3, 1)),
        ("gpu", Some("cpu"), big(2, 4) + &gpu(3, 4, 1)),
        ("gpu", Some("gpu"), big(2, 4) + &gpu(3, 3, 2)),
        ("gpu", None, big(2, 4) + &gpu(4, 3, 1)),
    ] {
        let own = step(growth, shape, resource);
        assert_eq!(own.more, 1.0);
        let larger = read(&mixed(&servers)).unwrap();
        let solution = solve_fleet_by_enumeration(&larger, 100_000).unwrap();
        let load = solution.unwrap().certificate.load;
        assert!((own.proof.load / load - 1.0).abs() < 1e-8, "{own:?} {load}");
    }
}

/// c servers of one slot each are a queue M/M/c: with one more it is M/M/(c + 1), and the mean is Erlang's.
#[test]
fn the_mean_with_one_more_server_by_erlang() {
    let erlang = |servers: u32, offered: f64| {
        let term = |n: u32| (1..=n).map(|k| offered / f64::from(k)).product::<f64>();
        let last = term(servers) * f64::from(servers) / (f64::from(servers) - offered);
        let waiting = last / ((0..servers).map(term).sum::<f64>() + last);
        1.0 + waiting / (f64::from(servers) - offered)
    };
    let text = "kind: multiresource\ntime_unit: s\nservers:\n  - {name: node, count: 5, capacity: {cpu: 1}}\njobs:\n  - {name: a, demand: {cpu: 1}, arrival_rate: 4, mean_size: 1}\n";
    let fleet = read(text).unwrap();
    let options = Options::new(Preemption::None);
    let made = pool(&fleet, &options, Pooling::Partition, |_| ()).unwrap();
    let FleetOutcome::Policy(made) = made else {
        panic!("a policy")
    };
    let claim = made.artifact.find(Quantity::MeanResponse, Subject::ALL);
    assert!((claim.unwrap().value / erlang(5, 4.0) - 1.0).abs() < 1e-9);
    let one_more = step(grown(&made.artifact), "node", None);
    let found = one_more.mean_response.unwrap();
    assert!((found / erlang(6, 4.0) - 1.0).abs() < 1e-9, "{found}");
    assert!((one_more.proof.load / (4.0 / 6.0) - 1.0).abs() < 1e-9);
    // One more core on each of five: ten slots.
    let cores = step(grown(&made.artifact), "node", Some("cpu"));
    assert!((cores.mean_response.unwrap() / erlang(10, 4.0) - 1.0).abs() < 1e-9);
    made.artifact.check().unwrap();
}

/// Where the time is over nothing is said but how much is left out.
#[test]
fn without_time_steps_are_counted_only() {
    let fleet = read(&mixed(TWO_SHAPES)).unwrap();
    let options = Options {
        end: Some(Instant::now()),
        ..Options::new(Preemption::Full)
    };
    // The program itself may find no time to prove its load: what counts is that nothing is made up.
    if let FleetOutcome::Policy(made) = synthesize_fleet(&fleet, &options).unwrap() {
        let growth = grown(&made.artifact);
        assert_eq!((growth.steps.len(), growth.skipped), (0, 5));
    }
}

/// Every family tells what to buy, and why there is no room for more.
#[test]
fn every_family_tells_what_to_buy() {
    let msr = "models/section7.yaml";
    for (model, more) in [
        (msr, "--preemption none --family msr"),
        (msr, "--preemption full --family msr"),
        (msr, "--preemption setup --setup-rate 10 --family msr"),
        (msr, "--preemption none --family adaptive-msr --budget 3e5"),
        (msr, "--preemption full --family max-weight --budget 3e5"),
        (msr, "--preemption none --family reserving --budget 3e5"),
        (msr, "--preemption none --family tdc --budget 3e5"),
        (
            "models/one_or_all.yaml",
            "--preemption none --family quickswap --budget 3e5",
        ),
        ("models/bursty.yaml", "--preemption full --family msr"),
        ("models/fleet.yaml", "--preemption full --family msr"),
        (
            "models/gpu_fleet.yaml",
            "--preemption none --family partition",
        ),
        (
            "models/gangs.yaml",
            "--preemption none --family pooled --budget 3e5",
        ),
    ] {
        let typed: Vec<&str> = more.split(' ').collect();
        let output = synth(&[&["--workload", model][..], &typed].concat());
        assert_eq!(code(&output), 0, "{model} {more}: {}", stderr(&output));
        let told = stderr(&output);
        assert!(
            told.contains("why not more load: "),
            "{model} {more}: {told}"
        );
        let made: Value = serde_json::from_str(&stdout(&output)).unwrap();
        let steps = made["provenance"]["growth"]["steps"].as_array().unwrap();
        assert!(!steps.is_empty(), "{model} {more}");
    }
}
