//! What verbs write, for each kind of workload at fixed seeds, as it was recorded in `tests/reference/golden`: of all rules the
//! numbers that differ as soon as one decision does, else every word and number. `SYNTH_UPDATE_GOLDEN=1` records anew; read
//! the diff.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::common::*;

/// Functions of other machines may round otherwise.
const ROUNDING: f64 = 1e-9;

/// Runs a command that writes JSON.
fn written(arguments: &str) -> Value {
    let folder = Folder::new();
    let output = folder.name("out.json");
    let typed: Vec<&str> = arguments.split_whitespace().collect();
    let typed = [&typed[..], &["--quiet", "--output", &output]].concat();
    let ran = synth(&typed);
    assert_eq!(code(&ran), 0, "{arguments}: {}", stderr(&ran));
    read(Path::new(&output))
}

/// Compares a value with what was recorded under this name.
pub(crate) fn is_as_recorded(name: &str, found: &Value) {
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

/// Adds the places at which two values differ.
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
        _ => differences.push(format!("{path}: {one} was recorded, now {other}")),
    }
}

fn is_near(one: Option<f64>, other: Option<f64>) -> bool {
    let pair = one.zip(other);
    pair.is_some_and(|(a, b)| (a - b).abs() <= ROUNDING * a.abs())
}

/// A policy for a model, in a folder; the arguments are those of the synthesis.
fn policy(folder: &Folder, arguments: &str) -> String {
    let file = folder.name("policy.json");
    let typed: Vec<&str> = arguments.split_whitespace().collect();
    works(&[&typed[..], &["--quiet", "--output", &file]].concat());
    file
}

/// Compares what `simulate` and `check` say of a policy.
fn is_judged_as_recorded(name: &str, synthesis: &str, run: &str) {
    let folder = Folder::new();
    let policy = policy(&folder, synthesis);
    let mut simulated = written(&format!("simulate {policy} {run}"));
    simulated["policy"] = json!("policy.json");
    is_as_recorded(&format!("{name}_simulate"), &simulated);
    let said = stderr(&synth(&["check", &policy]));
    let lines: Vec<&str> = said.lines().collect();
    is_as_recorded(&format!("{name}_check"), &json!(lines));
}

/// Of each policy of a comparison the numbers that differ as soon as one decision does.
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
fn decisions_of_rules() {
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
        is_as_recorded(&format!("{model}_rules"), &decisions(&compared));
    }
}

#[test]
fn comparisons() {
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
        is_as_recorded(&format!("{name}_compare"), &compared);
    }
}

#[test]
fn policies_of_servers() {
    for (name, options) in [
        ("none", ""),
        ("full", "--switching-rate 1"),
        ("setup", "--setup-rate 10 --switching-rate .3"),
    ] {
        let typed = format!("models/section7.yaml --preemption {name} {options} --family msr");
        is_judged_as_recorded(&format!("section7_{name}"), &typed, SHORT);
    }
    let fleet = "models/fleet.yaml --preemption none --family partition";
    is_judged_as_recorded("fleet_partition", fleet, SHORT);
}

#[test]
#[ignore = "takes over five seconds; CI runs it"]
fn policies_of_other_kinds() {
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
        is_judged_as_recorded(name, typed, run);
    }
}
