//! These tests compare the results of commands with the files in `tests/reference/golden`. Set
//! `SYNTH_UPDATE_GOLDEN=1` to update the files, and review the diff.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::common::*;

/// The math functions of other machines may round differently.
const ROUNDING: f64 = 1e-9;

fn written(arguments: &str) -> Value {
    let folder = Folder::new();
    let output = folder.path_string("out.json");
    let typed: Vec<&str> = arguments.split_whitespace().collect();
    let typed = [&typed[..], &["--quiet", "--output", &output]].concat();
    let ran = synth(&typed);
    assert_eq!(code(&ran), 0, "{arguments}: {}", stderr(&ran));
    read(Path::new(&output))
}

pub(crate) fn assert_matches_golden(name: &str, found: &Value) {
    let file = recorded(name);
    if std::env::var_os("SYNTH_UPDATE_GOLDEN").is_some() {
        std::fs::write(&file, format!("{found}\n")).unwrap();
        return;
    }
    let mut differences = Vec::new();
    compare("", &read(&file), found, &mut differences);
    let first: Vec<&String> = differences.iter().take(20).collect();
    let count = differences.len();
    assert!(first.is_empty(), "{name}: {count} differences: {first:#?}");
}

fn recorded(name: &str) -> PathBuf {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/reference/golden");
    Path::new(folder).join(format!("{name}.json"))
}

fn read(file: &Path) -> Value {
    let text = std::fs::read_to_string(file);
    let text = text.unwrap_or_else(|why| panic!("{}: {why}", file.display()));
    serde_json::from_str(&text).unwrap()
}

fn compare(path: &str, one: &Value, other: &Value, differences: &mut Vec<String>) {
    match (one, other) {
        (Value::Object(a), Value::Object(b)) => {
            let added = b.keys().filter(|key| !a.contains_key(*key));
            for key in a.keys().chain(added) {
                let [a, b] = [a, b].map(|map| map.get(key).unwrap_or(&Value::Null));
                compare(&format!("{path}.{key}"), a, b, differences);
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (n, (a, b)) in a.iter().zip(b).enumerate() {
                compare(&format!("{path}[{n}]"), a, b, differences);
            }
        }
        (Value::Number(a), Value::Number(b)) if is_near(a.as_f64(), b.as_f64()) => {}
        _ if one == other => {}
        _ => differences.push(format!("{path}: {one} was recorded, found {other}")),
    }
}

fn is_near(one: Option<f64>, other: Option<f64>) -> bool {
    let pair = one.zip(other);
    pair.is_some_and(|(a, b)| (a - b).abs() <= ROUNDING * a.abs())
}

fn policy(folder: &Folder, arguments: &str) -> String {
    let file = folder.path_string("policy.json");
    let typed: Vec<&str> = arguments.split_whitespace().collect();
    run_ok(&[&typed[..], &["--quiet", "--output", &file]].concat());
    file
}

fn assert_judgement_matches_golden(name: &str, synthesis: &str, run: &str) {
    let folder = Folder::new();
    let policy = policy(&folder, synthesis);
    let mut simulated = written(&format!("simulate {policy} {run}"));
    simulated["policy"] = json!("policy.json");
    assert_matches_golden(&format!("{name}_simulate"), &simulated);
    let said = stderr(&synth(&["check", &policy]));
    let lines: Vec<&str> = said.lines().collect();
    assert_matches_golden(&format!("{name}_check"), &json!(lines));
}

/// Returns the numbers that change if a single decision of the policy changes.
fn decisions(compared: &Value) -> Value {
    let cells = compared["cells"].as_array().unwrap().iter();
    let cells = cells.map(|cell| {
        let run = &cell["run"];
        let types = run["types"].as_array().unwrap().iter();
        let completions: Vec<&Value> = types.map(|kind| &kind["completions"]).collect();
        json!({
            "policy": cell["policy"],
            "replications": run["replications"],
            "simulated_time": run["simulated_time"],
            "completions": completions,
        })
    });
    cells.collect()
}

const SHORT: &str = "--events 1e5 --replications 2 --precision 1e-9";

#[test]
fn decisions_of_rules_are_unchanged() {
    let anywhere =
        "first-fit,fcfs,best-fit,most-servers-first,least-servers-first,easy-backfill,easy-by-mean";
    let of_one = "first-fit,fcfs,best-fit,most-servers-first,least-servers-first,easy-backfill,easy-backfill:2,easy-by-mean,conservative-backfill,randomized-timers,max-weight,static-quickswap,adaptive-quickswap";
    for (model, rules) in [
        ("section7", of_one),
        ("fleet", anywhere),
        ("gangs", anywhere),
    ] {
        let text = format!("compare models/{model}.yaml --policies {rules} --loads .7 {SHORT}");
        let compared = written(&text);
        assert_matches_golden(&format!("{model}_rules"), &decisions(&compared));
    }
}

#[test]
fn comparisons_are_unchanged() {
    for (name, typed) in [
        (
            "one_or_all",
            format!(
                "compare models/one_or_all.yaml --policies msfq,msfq:7,server-filling,static-quickswap --loads .6 {SHORT}"
            ),
        ),
        (
            "replay",
            "replay models/traces/cluster.swf --policies first-fit,easy,conservative --loads .8"
                .into(),
        ),
        (
            "compatibility",
            format!(
                "compare models/three_servers.yaml --policies balanced-fairness:5,fcfs,random-ps --loads .5 {SHORT}"
            ),
        ),
    ] {
        let compared = written(&typed);
        assert_matches_golden(&format!("{name}_compare"), &compared);
    }
}

#[test]
fn policies_of_servers_are_unchanged() {
    for (name, options) in [
        ("none", ""),
        ("full", "--switching-rate 1"),
        ("setup", "--setup-rate 10 --switching-rate .3"),
    ] {
        let typed = format!("models/section7.yaml --preemption {name} {options} --family msr");
        assert_judgement_matches_golden(&format!("section7_{name}"), &typed, SHORT);
    }
    let fleet = "models/fleet.yaml --preemption none --family partition";
    assert_judgement_matches_golden("fleet_partition", fleet, SHORT);
}

#[test]
#[ignore = "this test takes more than five seconds, so it is only run in CI"]
fn policies_of_other_kinds_are_unchanged() {
    for (name, typed, run) in [
        ("compatibility", "models/three_servers.yaml", SHORT),
        ("malleable_pool", "models/amdahl_training.yaml", ""),
        (
            "malleable_stream",
            "models/training_stream.yaml --urgency 0 --background 1",
            SHORT,
        ),
        ("volunteer", "models/campaign_small.yaml --work 6.1e6", ""),
    ] {
        assert_judgement_matches_golden(name, typed, run);
    }
}
