//! Tests of fleets with a single queue.

use crate::common::*;
use crate::fleet::{TWO_SHAPES, mixed, partitioned_policy, read};
use serde_json::json;
use synth::multiresource::artifact::{Checked, Family, Method, Preemption, Quantity, Subject};
use synth::multiresource::simulator::{Contender, Settings};
use synth::multiresource::synthesis::{
    Analysed, ChoiceOptions, Chosen, Families, SynthesisOptions, choose,
};
use synth::multiresource::workload::Fleet;

fn analysed(fleet: &Fleet) -> Analysed {
    *expect_policy(partitioned_policy(fleet))
}

fn chosen(fleet: &Fleet, events: u64) -> Chosen {
    let choice = ChoiceOptions::new(Families::All, events, 1);
    let options = SynthesisOptions::new(Preemption::None);
    choose(fleet, &options, &choice, analysed(fleet), |_| ()).unwrap()
}

fn two_shapes() -> Fleet {
    read(&mixed(TWO_SHAPES)).unwrap()
}

/// Compares the claims of a partition with Erlang's formula for two and for three slots.
#[test]
fn a_partition_has_one_queue_for_each_type() {
    let fleet = two_shapes();
    let artifact = analysed(&fleet).partitioned(&fleet).unwrap().artifact;
    let Family::Partition(policy) = &artifact.policy else {
        panic!("{:?}", artifact.policy)
    };
    let slots = policy.slots(0);
    for (kind, slots) in fleet.types().iter().zip(&slots) {
        let subject = Subject::of_type(Some(kind.name()));
        let claim = artifact.find(Quantity::MeanNumber, subject).unwrap();
        assert_eq!(claim.method, Method::ExactQbd);
        // The chain is truncated at a state whose probability is negligible.
        let (b, c) = (kind.offered_load(), *slots as f64);
        let (mut p, mut sum, mut mean) = (1.0, 0.0, 0.0);
        for n in 0..5000 {
            let n = f64::from(n);
            sum += p;
            mean += n * p;
            p *= b / (n + 1.0).min(c);
        }
        let expected = mean / sum;
        let is_near = (claim.value - expected).abs() < 1e-9 * expected;
        assert!(is_near, "{claim:?}, {expected}");
    }
    let checked = Checked::check(artifact).unwrap();
    assert_eq!(checked.workload(), &fleet);
}

#[test]
fn the_guard_proves_that_the_selected_rule_is_stable() {
    let fleet = two_shapes();
    let chosen = chosen(&fleet, 2_000_000);
    assert_eq!(fleet.types().len(), 3);
    for kind in fleet.types() {
        let subject = Subject::of_type(Some(kind.name()));
        let claim = chosen.artifact.find(Quantity::LoadUnderGuard, subject);
        let load = claim.unwrap().value;
        assert!(load > 0.0 && load < 1.0, "{load}");
    }
    let choice = chosen.choice.unwrap();
    let names: Vec<&str> = choice.candidates.iter().map(|c| &*c.name).collect();
    for rule in ["first-fit", "best-fit", "easy-by-mean", "pooled"] {
        assert!(names.contains(&rule), "{rule}");
    }
    Checked::check(chosen.artifact).unwrap();
}

#[test]
fn rejects_wrong_policies_for_a_fleet() {
    let fleet = two_shapes();
    let artifact = chosen(&fleet, 2_000_000).artifact;
    let valid = serde_json::to_value(artifact.sealed()).unwrap();
    let place = |quantity: &str| {
        let mut all = claims(&valid).iter();
        all.position(|c| c["quantity"] == quantity).unwrap()
    };
    let (load, mean) = (place("load_under_guard"), place("mean_response"));
    let rule = json!({"backfilling": {
        "order": "arrival", "reservations": "none", "placement": "best", "zone": "ZONE",
    }});
    let zones = "{\"types\": [0], \"servers\": [9, 0]} | servers of shape
        {\"types\": [0], \"servers\": [2, 3]} | outside of the zone
        {\"types\": [0, 0], \"servers\": [1, 0]} | each once
        {\"types\": [7], \"servers\": [1, 0]} | each once
        {\"types\": [0], \"servers\": [1]} | one for each server shape";
    let line = |[zone, words]: [&str; 2]| {
        let rule = rule.to_string().replace("\"ZONE\"", zone);
        format!("/rule | {rule} | {words}\n")
    };
    let table: String = rows(zones).map(line).collect();
    assert_policy_changes_rejected(&valid, "/policy/guarded", &table);
    let of_claims =
        format!("/{load}/value | 0.1 | expected\n/{mean}/value | 0.1 | expected at least");
    assert_policy_changes_rejected(&valid, "/claims", &of_claims);
    let text = "/until | 0 | expected at least 1
        /guard/assignments/0/0 | [0] | servers in total, expected
        /guard/schedules/0/0 | [9, 9, 9] | does not fit
        /guard/weights | [0.5] | 1
        /rule | {\"tdc\": {}} | tdc
        /rule | {\"backfilling\": {\"order\": \"arrival\", \"reservations\": \"none\"}} | expected a policy for a fleet";
    assert_policy_changes_rejected(&valid, "/policy/guarded", text);
    let text = "/load | 0.2 | expected\n/bound | 0.9 | expected";
    assert_policy_changes_rejected(&valid, "/evidence", text);
}

/// Long jobs block the nodes that the gangs need, so Best-Fit takes 1.4 times as long.
#[test]
#[ignore = "this test takes more than five seconds, so it is only run in CI"]
fn gangs_have_a_reserved_zone() {
    let folder = Folder::new();
    let log = folder.path_string("log.json");
    let output = run_ok!("models/gangs.yaml --preemption none --work 4e7 --log {log}");
    let policy = json(&output);
    let zone = &policy["policy"]["guarded"]["rule"]["backfilling"]["zone"];
    assert_eq!(zone["types"].as_array().unwrap().len(), 2, "{zone}");
    let log = folder.json("log.json");
    let mut candidates = log["choice"]["candidates"].as_array().unwrap().iter();
    let best_fit = candidates.find(|c| c["name"] == "best-fit").unwrap();
    assert!(
        best_fit["ratio"]["mean"].as_f64().unwrap() > 1.25,
        "{best_fit}"
    );
}

#[test]
fn all_commands_support_a_fleet() {
    let folder = Folder::new();
    let workload = folder.write("fleet.yaml", &mixed(TWO_SHAPES));
    let [policy, slots] = folder.paths(["p.json", "s.json"]);
    let make = format!("{workload} --preemption none");
    let output = run_ok!("{make} --work 2e6 --output {policy}");
    assert_contains(&stdout(&output), "Stability: proved, because if");
    let output = run_ok!("{make} --verbose --family partition --output {slots}");
    assert_contains(&stdout(&output), "Exact: load, mean number, mean response.");
    for file in [&policy, &slots] {
        run_ok!("check {file}");
        run_ok!("show {file}");
        let printed = stdout(&run_ok!("simulate {file} --events 2e6"));
        assert!(printed.matches("confirmed").count() >= 4, "{printed}");
    }
    let policies = format!("first-fit,easy-by-mean,{policy},{slots}");
    let table = run_ok!("compare {workload} --policies {policies} --loads .5,.8 --events 2e5");
    assert_contains(&stdout(&table), "easy-by-mean");
    let sizes = "--policies BestEffortFIFO,StrictFIFO --events 2e5 --set";
    let table = stdout(&run_ok!("compare {workload} {sizes} big=2,3"));
    assert_contains(&table, "Mean wait by type with big=3");
    assert_contains(&table, "wide [");
    let one = crate::common::workload("server: {capacity: {cpu: 4}}", &job_type("web", 1, 1, 1));
    let one = folder.write("one.yaml", &one);
    let overloaded = run_expecting_code(1, &format!("compare {one} {sizes} cpu=1"));
    assert_contains(&stdout(&overloaded), "With cpu=1, no policy is stable");
    run_err(&format!("compare {workload} {sizes} node"), "NAME=N,N");
}

#[test]
fn rejects_options_that_do_not_support_fleets() {
    let folder = Folder::new();
    let fleet = folder.write("fleet.yaml", &mixed(TWO_SHAPES));
    let one = workload("server: {capacity: {cpu: 4}}", &job_type("web", 1, 1, 1));
    let one = folder.write("one.yaml", &one);
    let slots = folder.path_string("s.json");
    run_ok!("{fleet} --preemption none --family partition --output {slots}");
    let table = "
        FLEET --preemption none --family msr | auto, pooled or partition
        FLEET --preemption none --backfill none | applies to one server
        ONE --preemption none --family partition | only be used for a fleet
        simulate frist-fit --workload FLEET | first-fit
        simulate max-weight --workload FLEET | only for one server
        simulate SLOTS --workload ONE | fleet";
    let table = table.replace("FLEET", &fleet).replace("ONE", &one);
    for [typed, words] in rows(&table.replace("SLOTS", &slots)) {
        let output = synth(typed);
        assert_ne!(code(&output), 0, "{typed}");
        assert_contains(&stderr(&output), words);
    }
}

pub(crate) const GANGS: &str = "kind: multiresource
time_unit: h
servers:
  - {name: node8, count: 4, capacity: {gpu: 8}}
  - {name: node4, count: 2, capacity: {gpu: 4}}
jobs:
  - {name: one, demand: {gpu: 1}, arrival_rate: 4, mean_size: 2}
  - {name: gang, nodes: 3, demand: {gpu: 8}, arrival_rate: .2, mean_size: 1}\n";

#[test]
fn all_commands_support_jobs_with_several_servers() {
    let fleet = read(GANGS).unwrap();
    assert_eq!(fleet.types()[1].nodes(), 3);
    assert_eq!(read(&fleet.to_yaml()).unwrap(), fleet);
    let other = read(&GANGS.replace("nodes: 3", "nodes: 2")).unwrap();
    assert_ne!(other.digest(), fleet.digest());
    // The job needs three nodes for a fifth of the time, and the fleet has forty GPUs.
    let artifact = chosen(&fleet, 2_000_000).artifact;
    let bound = artifact.evidence.bound;
    assert!((bound - (0.2 * 24.0 + 8.0) / 40.0).abs() < 1e-9, "{bound}");
    let load = artifact.find(Quantity::Load, Subject::ALL);
    assert!(load.is_none(), "it is a bound");
    let loads = artifact.claims.iter();
    let loads = loads.filter(|c| c.quantity == Quantity::LoadUnderGuard);
    assert!(loads.clone().count() == 2 && loads.clone().all(|claim| claim.value < 1.0));
    let checked = Checked::check(artifact).unwrap();
    assert_eq!(checked.workload(), &fleet);
}

/// The servers that are needed by the fewest types are filled first.
#[test]
fn the_result_does_not_depend_on_the_order_of_shapes() {
    let jobs = "{name: cpu, demand: {cpu: 1}, arrival_rate: 20, mean_size: 1}
        {name: gpu, demand: {cpu: 4, gpu: 4}, arrival_rate: 1.8, mean_size: 1, priority: 5}";
    let fleet = |shapes: [&str; 3]| {
        let servers = format!("servers: [{}]", shapes.join(", "));
        read(&workload(&servers, jobs)).unwrap()
    };
    let node = "{name: node, count: 2, capacity: {cpu: 6}}";
    let wide = "{name: a-wide, count: 1, capacity: {cpu: 8}}";
    let gpu = "{name: a-gpu, count: 2, capacity: {gpu: 8, cpu: 8}}";
    let (written, exchanged) = (fleet([node, wide, gpu]), fleet([gpu, wide, node]));
    let names = exchanged.shapes().iter().map(|shape| shape.name());
    assert_eq!(names.collect::<Vec<_>>(), ["node", "a-wide", "a-gpu"]);
    let settings = Settings {
        events: 20_000,
        ..Settings::default()
    };
    for rule in Contender::rules() {
        let Ok(contender) = Contender::named(rule.name, &written) else {
            continue;
        };
        let of = |fleet| contender.simulate_on(fleet, &settings, |_| ()).unwrap();
        let (a, b) = (of(&written), of(&exchanged));
        assert_eq!(a.mean_response, b.mean_response, "{}", rule.name);
    }
    let bytes = |fleet| chosen(fleet, 400_000).artifact.to_json().unwrap();
    assert_eq!(bytes(&written), bytes(&exchanged));
}

#[test]
fn the_replay_does_not_depend_on_the_order_of_shapes() {
    let folder = Folder::new();
    let row = |n: u32| match n % 3 {
        0 => format!("{n},{},1,1\n", 3 + n % 5),
        _ => format!("{n},{},{},0\n", 3 + n % 7, 1 + n % 4 / 2 * 2),
    };
    let rows: String = (0..200).map(row).collect();
    let jobs = folder.write("log.csv", &format!("time,size,cpu,gpu\n{rows}"));
    let shapes = [
        "  - {name: gpu, count: 2, capacity: {cpu: 4, gpu: 1}}\n",
        "  - {name: cpu, count: 1, capacity: {cpu: 4}}\n",
    ];
    let workload = folder.write("fleet.yaml", &mixed(&shapes.concat()));
    let typed_demands = format!("--workload {workload} --demands rounded");
    for options in ["", &typed_demands] {
        let replayed = |servers: &str, name: &str| {
            let results = folder.path_string(name);
            let options = format!("--policies first-fit {options} --jobs {results}");
            run_ok!("replay {jobs} --servers {servers} {options}");
            folder.bytes(name)
        };
        let a = replayed("2xcpu=4,gpu=1;1xcpu=4", "a.csv");
        assert_eq!(a, replayed("1xcpu=4;2xcpu=4,gpu=1", "b.csv"));
    }
}
