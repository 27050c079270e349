//! These tests compare each upgrade step with a server that is built by hand.

use std::time::Instant;

use crate::common::*;
use crate::fleet::{TWO_SHAPES, load, mixed, read};
use rand::{RngExt, SeedableRng};
use synth::multiresource::artifact::Preemption;
use synth::multiresource::schedule::{Packing, enumerate};
use synth::multiresource::synthesis::{SynthesisOptions, Upgrade, Upgrades, upgrades};
use synth::multiresource::workload::{Fleet, Workload};

fn bought(fleet: impl Into<Fleet>) -> Upgrades {
    upgrades(&fleet.into(), &SynthesisOptions::new(Preemption::Full), &[])
}

fn step<'a>(all: &'a Upgrades, shape: &str, resource: Option<&str>) -> &'a Upgrade {
    let is_it = |s: &&Upgrade| s.shape == shape && s.resource.as_deref() == resource;
    all.found.iter().find(is_it).unwrap()
}

/// Returns a server with the given capacities and offered loads. The demands are `K × R`.
fn server(capacity: &[u32], demands: &[Vec<u32>], loads: &[f64]) -> Workload {
    let amounts = |all: &[u32]| {
        let named = all.iter().enumerate().map(|(j, n)| format!("r{j}: {n}"));
        named.collect::<Vec<_>>().join(", ")
    };
    let jobs = demands.iter().zip(loads).enumerate();
    let jobs = jobs.map(|(i, (demand, load))| {
        let demand = amounts(demand);
        format!("{{name: t{i}, demand: {{{demand}}}, arrival_rate: {load}, mean_size: 1}}\n")
    });
    let server = format!("server: {{capacity: {{{}}}}}", amounts(capacity));
    parsed_workload(&server, &jobs.collect::<String>())
}

/// One more CPU increases the capacity by a factor of 7/6 for the best mix of jobs.
#[test]
fn the_gain_is_relative_to_the_best_schedules() {
    let folder = Folder::new();
    let jobs = job_type("a", 1, 1, 1) + &job_type("c", 3, 0.4, 1);
    let file = folder.write("w.yaml", &workload("server: {capacity: {cpu: 6}}", &jobs));
    let text = "msr: {schedules: [{a: 4}, {c: 2}], weights: [3, 2]}";
    let own = folder.write("own.yaml", text);
    let policy = folder.path_string("p.json");
    let made = run_ok!("analyze {own} --workload {file} -o {policy}");
    assert_contains(&all_output(&made), "1 more cpu");
    let servers = "servers: [{name: node, count: 12, capacity: {cpu: 8}}]";
    let file = folder.write("f.yaml", &workload(servers, &job_type("a", 1, 40, 1)));
    let printed = all_output(&run_ok!("{file} --work 1e6 -o {policy}"));
    assert_contains(&printed, "12.5");
    assert_contains(&printed, "8.3");
}

/// If all jobs are equal, `⌊C/d⌋` of them fit, and the load is `b` divided by this number.
#[test]
fn steps_for_equal_jobs_match_the_formula() {
    for capacity in 2..30 {
        for demand in 1..=capacity.min(9) {
            let fit = capacity / demand;
            let offered = 0.7 * f64::from(fit);
            let workload = server(&[capacity], &[vec![demand]], &[offered]);
            let all = bought(workload);
            let own = step(&all, "server", Some("r0"));
            assert_eq!(own.more, f64::from((fit + 1) * demand - capacity));
            let load = offered / f64::from(fit + 1);
            assert!((own.load / load - 1.0).abs() < 1e-9, "{own:?}");
            assert!(own.proven);
        }
    }
}

/// The smallest useful amount is the first one that adds a schedule.
#[test]
fn steps_of_random_servers_match_enumeration() {
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
        let all = bought(workload.clone());
        let now = least_load(&workload);
        let schedules = |w: &Workload| enumerate(&Packing::new(w), 1_000_000).schedules.len();
        for (j, resource) in workload.resources().iter().enumerate() {
            if demands.iter().all(|demand| demand[j] == 0) {
                let named = |s: &Upgrade| s.resource.as_deref() == Some(resource.name());
                assert!(!all.found.iter().any(named));
                continue;
            }
            let own = step(&all, "server", Some(resource.name()));
            let with = |more: u32| {
                let mut larger = capacity.clone();
                larger[j] += more;
                server(&larger, &demands, &loads)
            };
            let first = (1..40).find(|more| schedules(&with(*more)) > schedules(&workload));
            assert_eq!(own.more, f64::from(first.unwrap_or(1)));
            let load = least_load(&with(own.more as u32));
            assert!((own.load / load - 1.0).abs() < 1e-8, "{own:?} {load}");
            helped += usize::from(load < now * 0.999);
        }
        assert!(all.found.iter().map(|step| step.load).is_sorted());
    }
    assert!(helped > 20, "{helped}");
}

fn least_load(workload: &Workload) -> f64 {
    load(&workload.clone().into())
}

#[test]
fn steps_of_a_fleet_match_manual_calculations() {
    let all = bought(read(&mixed(TWO_SHAPES)).unwrap());
    assert_eq!((all.found.len(), all.skipped), (5, 0));
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
        let own = step(&all, shape, resource);
        assert_eq!(own.more, 1.0);
        let larger = read(&mixed(&servers)).unwrap();
        let load = load(&larger);
        assert!((own.load / load - 1.0).abs() < 1e-8, "{own:?} {load}");
    }
}

#[test]
fn counts_the_skipped_steps_if_there_is_no_time() {
    let fleet = read(&mixed(TWO_SHAPES)).unwrap();
    let mut options = SynthesisOptions::new(Preemption::Full);
    options.end = Some(Instant::now());
    let all = upgrades(&fleet, &options, &[]);
    assert_eq!((all.found.len(), all.skipped), (0, 5));
}

#[test]
fn all_families_report_upgrades() {
    for typed in [
        "section7.yaml --preemption full --family msr",
        "section7.yaml --preemption none --family tdc --work 3e5",
        "gpu_fleet.yaml --preemption none --family partition",
        "gangs.yaml --preemption none --family pooled --work 3e5",
    ] {
        let folder = Folder::new();
        let log = folder.path_string("log.json");
        let output = run_ok!("--verbose --log {log} --workload models/{typed}");
        let expected = "If all arrival rates grow by the same factor";
        assert_contains(&all_output(&output), expected);
        let upgrades = &folder.json("log.json")["upgrades"];
        let is_found = upgrades["found"][0]["load"].is_number();
        assert!(is_found, "{typed}: {upgrades}");
    }
}
