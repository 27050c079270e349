//! These tests compare the results of commands with the files in `tests/reference/golden`. Set
//! `SYNTH_UPDATE_GOLDEN=1` to update the files, and review the diff.

use serde_json::{Value, json};

use crate::common::*;

/// The math functions may return slightly different results on other machines.
const ROUNDING: f64 = 1e-9;

fn written(typed: &str) -> Value {
    let folder = Folder::new();
    let output = folder.path_string("out.json");
    run_ok!("{typed} --quiet --output {output}");
    folder.json("out.json")
}

pub(crate) fn assert_matches_golden(name: &str, found: &Value) {
    let file = in_root(format!("tests/reference/golden/{name}.json"));
    if std::env::var_os("SYNTH_UPDATE_GOLDEN").is_some() {
        std::fs::write(&file, format!("{found}\n")).unwrap();
        return;
    }
    let mut differences = Vec::new();
    compare("", &read_json(&file), found, &mut differences);
    let first: Vec<&String> = differences.iter().take(20).collect();
    let count = differences.len();
    assert!(first.is_empty(), "{name}: {count} differences: {first:#?}");
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

pub(crate) fn is_near(recorded: Option<f64>, found: Option<f64>) -> bool {
    let pair = recorded.zip(found);
    pair.is_some_and(|(a, b)| (a - b).abs() <= ROUNDING * a.abs())
}

fn assert_judgement_matches_golden(name: &str, synthesis: &str, run: &str) {
    let folder = Folder::new();
    let policy = folder.path_string("policy.json");
    run_ok!("{synthesis} --quiet --output {policy}");
    let mut simulated = written(&format!("simulate {policy} {run}"));
    simulated["policy"] = json!("policy.json");
    assert_matches_golden(&format!("{name}_simulate"), &simulated);
    let said = all_output(&synth(&format!("check {policy}")));
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
        let typed = format!("compare models/{model}.yaml --policies {rules} --loads .7 {SHORT}");
        assert_matches_golden(&format!("{model}_rules"), &decisions(&written(&typed)));
    }
}

#[test]
fn comparisons_are_unchanged() {
    for [name, verb, input, policies, load] in rows(
        "one_or_all    | compare | one_or_all.yaml    | msfq,msfq:7,server-filling,static-quickswap | .6
         replay        | replay  | traces/cluster.swf | first-fit,easy,conservative                 | .8
         compatibility | compare | three_servers.yaml | balanced-fairness:5,fcfs,random-ps          | .5",
    ) {
        // The events of a replay are given by the log.
        let settings = if verb == "compare" { SHORT } else { "" };
        let typed = format!("{verb} models/{input} --policies {policies} --loads {load} {settings}");
        assert_matches_golden(&format!("{name}_compare"), &written(&typed));
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
    let stream = "training_stream.yaml --urgency 0 --background 1";
    for (name, typed, run) in [
        ("compatibility", "three_servers.yaml", SHORT),
        ("malleable_pool", "amdahl_training.yaml", ""),
        ("malleable_stream", stream, SHORT),
        ("volunteer", "campaign_small.yaml --work 6.1e6", ""),
    ] {
        assert_judgement_matches_golden(name, &format!("models/{typed}"), run);
    }
}
