//! Tests of fleets with several server shapes.

use crate::common::*;
use serde_json::{Value, json};
use synth::document::{DocumentError, WorkloadDocument as _};
use synth::multiresource::artifact::{
    Artifact, Checked, Multiresource, Preemption, Quantity, Subject, unmet,
};
use synth::multiresource::program::{SolveLimits, solve};
use synth::multiresource::schedule::{Packing, Schedule, enumerate};
use synth::multiresource::synthesis::{Analysed, SynthesisOptions, SynthesisOutcome};
use synth::multiresource::workload::{Fleet, FleetDocument, Workload};

const MODEL: &str = "models/fleet.yaml";

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
    Ok(Fleet::parse(text, "fleet.yaml")?.workload)
}

fn model() -> Fleet {
    Fleet::read(MODEL.as_ref()).unwrap().workload
}

/// Returns the load and checks its proof with all possible schedules.
pub(crate) fn load(fleet: &Fleet) -> f64 {
    let solution = solve(fleet, &SolveLimits::default()).unwrap();
    let certificate = &solution.certificate;
    assert!(certificate.proven(), "{certificate:?}");
    let offered: Vec<f64> = fleet.types().iter().map(|t| t.offered_tasks()).collect();
    let (mut served, mut worth) = (vec![0.0; offered.len()], 0.0);
    for (shape, mix) in fleet.shapes().iter().zip(&solution.mixes) {
        let count = f64::from(shape.count());
        let all = enumerate(&Packing::new(shape.server()), 1_000_000);
        let value = |u: &Schedule| -> f64 {
            let jobs = shape.types().iter().zip(u);
            jobs.map(|(&i, u)| certificate.prices[i] / offered[i] * f64::from(*u))
                .sum()
        };
        worth += count * all.schedules.iter().map(value).fold(0.0, f64::max);
        for (u, part) in mix.schedules.iter().zip(&mix.weights) {
            let jobs = served.iter_mut().zip(u);
            jobs.for_each(|(served, u)| *served += count * part * f64::from(*u));
        }
    }
    let loads = offered.iter().zip(&served).map(|(b, s)| b / s);
    is_near(loads.fold(0.0, f64::max), certificate.load);
    let is_within = worth * certificate.load <= 1.0 + 1e-9;
    assert!(is_within, "{worth} {certificate:?}");
    certificate.load
}

pub(crate) fn partitioned_policy(fleet: &Fleet) -> SynthesisOutcome<Analysed> {
    Analysed::of_fleet(fleet, &SynthesisOptions::new(Preemption::None)).unwrap()
}

pub(crate) fn artifact(fleet: &Fleet) -> Artifact {
    let analysed = expect_policy(partitioned_policy(fleet));
    analysed.partitioned(fleet).unwrap().artifact
}

fn is_near(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
}

#[test]
fn a_single_server_is_a_fleet() {
    for name in ["section7", "four_types", "one_or_all"] {
        let text = read_text(model_path(name));
        let workload = Workload::parse(&text, name).unwrap().workload;
        let start = text.find("server:").unwrap();
        let capacity = text[start..].find('{').unwrap() + start;
        let end = text[capacity..].find('\n').unwrap() + capacity;
        let servers = format!("servers:\n  - capacity: {}", &text[capacity..end]);
        let fleet = read(&text.replace(&text[start..end], &servers)).unwrap();
        assert_eq!(fleet.shapes()[0].name(), "server");
        let one = solve(&workload, &SolveLimits::default()).unwrap();
        is_near(load(&fleet), one.certificate.load);
        assert!(fleet.is_one_server());
        assert_eq!(fleet.digest(), workload.digest(), "{name}");
    }
}

/// If both the arrivals and the servers are halved, the load does not change.
#[test]
fn merges_equal_shapes() {
    let text = "  - {name: a, count: 2, capacity: {cpu: 3, gpu: 1}}
  - {name: b, count: 3, capacity: {cpu: 3, gpu: 1}}\n";
    let apart = mixed(text);
    let together = mixed("  - {count: 5, capacity: {cpu: 3, gpu: 1}}\n");
    let (apart, together) = (read(&apart).unwrap(), read(&together).unwrap());
    is_near(load(&apart), load(&together));
    let twice = mixed("  - {count: 10, capacity: {cpu: 3, gpu: 1}}\n");
    is_near(load(&read(&twice).unwrap()), load(&together) / 2.0);
}

/// Computed by hand. The two servers with 3 CPUs fit one job with 2 CPUs each, and the server with
/// 5 CPUs fits two. With GPUs, `t (1/2) ≤ 1` on the GPU and `t (5/2 + 1/2) ≤ 6` on the CPUs. If the
/// GPUs are idle, only the large server can run the wide jobs, two at a time, and `b = 1`.
#[test]
fn loads_match_manual_calculations() {
    let servers = "servers:
  - {name: small, count: 2, capacity: {cpu: 3}}
  - {name: large, capacity: {cpu: 5}}";
    let packing = workload(servers, &job_type("two", 2, 2, 1));
    let servers = "servers:
  - {name: plain, capacity: {cpu: 4}}
  - {name: gpu, capacity: {cpu: 2, gpu: 1}}";
    let learn = "{name: learn, demand: {cpu: 1, gpu: 1}, arrival_rate: .5, mean_size: 1}";
    let scarce = workload(servers, &(job_type("web", 1, 2.5, 1) + learn));
    let line = "  - {name: big, count: 1, capacity: {cpu: 8}}
  - {name: idle, count: 9, capacity: {cpu: 1, gpu: 1}}\n";
    for text in [packing, scarce, mixed(line)] {
        is_near(load(&read(&text).unwrap()), 0.5);
    }
}

/// The memory is the bottleneck: 9952 GiB of 16 896 GiB are used.
#[test]
fn the_load_of_the_model_is_the_fluid_load() {
    is_near(load(&model()), 9952.0 / 16_896.0);
}

#[test]
fn rejects_an_overloaded_fleet_with_prices() {
    let fleet = read(&mixed("  - {count: 2, capacity: {cpu: 3, gpu: 1}}\n")).unwrap();
    let SynthesisOutcome::Overloaded(overload) = partitioned_policy(&fleet) else {
        panic!("expected an overloaded fleet");
    };
    // The jobs need 3 + 3 + 1/2 CPUs, and there are six.
    assert!(overload.certificate.bound >= 6.5 / 6.0 - 1e-9);
}

#[test]
fn exact_claims_are_approximate_for_other_arrivals() {
    for other in [
        "arrivals: {process: markov-modulated, rates: [1, 5], switching: [[0, 1], [1, 0]]}",
        "arrivals: {process: renewal, interarrival: {law: erlang, stages: 3, mean: .25}}",
    ] {
        let text = mixed(TWO_SHAPES).replace("arrival_rate: 3", other);
        let policy = Checked::check(artifact(&read(&text).unwrap())).unwrap();
        let envelope = policy.workload().envelope();
        for (name, poisson) in [("web", false), ("wide", true)] {
            let subject = Subject::of_type(name);
            let claim = policy.artifact().find(Quantity::MeanNumber, subject);
            let unmet = unmet(&claim.unwrap().holds_for, Some(name), envelope, false);
            assert_eq!(!unmet.any(), poisson, "{name}, {other}");
        }
    }
}

fn valid() -> Value {
    let policy = artifact(&read(&mixed(TWO_SHAPES)).unwrap());
    let text = policy.to_json().unwrap();
    let read = Checked::parse(&text, "fleet.json").unwrap();
    let message = "the policy changes if it is written and read";
    assert_eq!(read.artifact(), &policy.sealed(), "{message}");
    serde_json::from_str(&text).unwrap()
}

#[test]
fn reports_the_path_of_each_error_in_a_policy() {
    let valid = valid();
    let prices = &valid["evidence"]["prices"];
    let swapped = json!([prices[2], prices[1], prices[0]]);
    assert_policy_changes_rejected(&valid, "", include_str!("tables/fleet/lies.txt"));
    // The changed numbers match the digest, but they do not match the proof.
    let table = "/servers/0/count | 3 | evidence.
        /servers/0/capacity/cpu | 2 | evidence.
        /jobs/2/arrivals/rate | 1 | policy.partition: the policy is unstable";
    let check = rejection_reason::<Multiresource>;
    assert_changes_rejected(&valid, "/workload", table, check);
    let table = format!("/evidence/prices | {swapped} | a job of type");
    assert_policy_changes_rejected(&valid, "", &table);
}

#[test]
fn rejects_a_change_of_any_number() {
    let valid = valid();
    let mut passed = Vec::new();
    for pointer in pointers(&valid, Value::is_number) {
        // Higher prices are still valid, and the gap is only a rounding error.
        let harmless = pointer.contains("/resource_prices/") || pointer.ends_with("/gap");
        let larger = |v: &mut Value| {
            *v = match v.as_u64() {
                Some(n) => json!(n + 1),
                None => json!(v.as_f64().unwrap() * 1.001),
            }
        };
        let is_zero = valid.pointer(&pointer).unwrap().as_f64() == Some(0.0);
        let found = errors_after_change(&valid, |v| larger(v.pointer_mut(&pointer).unwrap()));
        if !harmless && !is_zero && found.is_empty() {
            passed.push(pointer);
        }
    }
    assert_eq!(passed, [""; 0]);
}

#[test]
fn omits_types_with_arrival_rate_0() {
    let text = mixed(TWO_SHAPES).replace("arrival_rate: .5", "arrival_rate: 0");
    let parsed = Fleet::parse(&text, "fleet.yaml").unwrap();
    assert!(parsed.warnings[0].contains("type `wide` has arrival rate 0"));
    let fleet = parsed.workload;
    let types: Vec<&[usize]> = fleet.shapes().iter().map(|s| s.types()).collect();
    assert_eq!(types, [&[0][..], &[0, 1]]);
}

#[test]
fn a_fleet_can_be_written_and_read_as_json() {
    for fleet in [model(), read(&mixed(TWO_SHAPES)).unwrap()] {
        let json = serde_json::to_string(&fleet.record()).unwrap();
        let back: FleetDocument = serde_json::from_str(&json).unwrap();
        assert_eq!(back.recorded(&fleet.digest()).unwrap(), fleet);
    }
}

#[test]
fn synthesizes_a_policy_for_a_fleet_on_the_command_line() {
    let folder = Folder::new();
    let file = folder.path_string("fleet.json");
    let make = format!("--workload {MODEL} -o {file} --preemption");
    let pooled = run_ok!("{make} full --work 2e6");
    assert_contains(&stdout(&pooled), "Jobs are not preempted");
    let output = run_ok!("{make} none --verbose --family partition");
    assert_contains(&stdout(&output), "ρ = 0.589015152 of the maximum");
    let valid = run_ok!("check {file} --workload {MODEL}");
    assert_contains(&stdout(&valid), "48 servers of 2 shapes");
    let other = read_text(MODEL).replace("count: 40", "count: 41");
    let other = folder.write("other.yaml", &other);
    let refused = run_expecting_code(1, &format!("check {file} --workload {other}"));
    let expected = "workload.servers[0].count: `big`: made for 40";
    assert_contains(&stdout(&refused), expected);
}

#[test]
fn rejects_a_fleet_that_is_too_large_for_simulation() {
    let folder = Folder::new();
    let jobs = (1..=12).map(|n| job_type(&format!("j{n}"), 1 + n % 8, 15990, 1));
    let servers = "servers: [{name: node, count: 100000, capacity: {cpu: 8}}]";
    let text = workload(servers, &jobs.collect::<String>());
    let file = folder.write("large.yaml", &text);
    let output = folder.path_string("p.json");
    let typed = format!("{file} --preemption none -o {output}");
    run_err(&typed, "GiB of memory, more than the limit of 1 GiB");
}
