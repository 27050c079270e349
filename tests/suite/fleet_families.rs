//! Fleets whose servers run policies of every family, chosen by simulation; and arrivals other than
//! Poisson.

use std::path::Path;

use crate::common::{code, stderr, stdout, synth};
use crate::fleet::{TWO_SHAPES, as_analysed, checked, findings, is_near, mixed, read, simulated};
use serde_json::{Value, json};
use synth::multiresource::artifact::{Checked, Quantity, Routing, Subject, unmet};

/// Makes a policy of this family without preemption from the command line: the file, and what is
/// told.
fn made(folder: &Path, text: &str, family: &str, budget: &str) -> (String, String) {
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let (workload, file) = (path("fleet.yaml"), path("fleet.json"));
    std::fs::write(&workload, text).unwrap();
    let output = synth(&[
        "--workload",
        &workload,
        "--preemption",
        "none",
        "--queue",
        "servers",
        "--family",
        family,
        "--budget",
        budget,
        "-o",
        &file,
    ]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    (file, stderr(&output))
}

/// Runs a policy file; no claim is refuted, and this many are confirmed.
fn stands(file: &str) -> usize {
    let run = synth(&["simulate", "--policy", file, "--events", "2e6"]);
    assert_eq!(code(&run), 0, "{}{}", stdout(&run), stderr(&run));
    stdout(&run).matches("confirmed").count()
}

const SMALL: &str = "  - {name: big, count: 2, capacity: {cpu: 6}}
  - {name: gpu, capacity: {cpu: 4, gpu: 1}}\n";

#[test]
fn every_family_runs_on_a_fleet() {
    let folder = tempfile::tempdir().unwrap();
    for (family, budget) in [
        ("auto", "2e7"),
        ("adaptive-msr", "4e6"),
        ("quickswap", "4e6"),
    ] {
        let (file, told) = made(folder.path(), &mixed(SMALL), family, budget);
        assert!(
            told.contains("by simulation of one server of each shape"),
            "{told}"
        );
        let valid = synth(&["check", &file]);
        assert_eq!(code(&valid), 0, "{}", stderr(&valid));
        let artifact = Checked::read(file.as_ref()).unwrap().artifact().clone();
        let choices: Vec<_> = artifact
            .servers()
            .map(|s| s.making.choice.clone())
            .collect();
        let choices: Vec<_> = choices.into_iter().flatten().collect();
        assert_eq!(choices.len(), 2, "each shape has its own");
        assert_ne!(choices[0].seed, choices[1].seed);
        let events: u64 = choices.iter().map(|choice| choice.events).sum();
        assert!(events as f64 <= budget.parse::<f64>().unwrap());
        assert!(stands(&file) >= 6, "{told}");
    }
}

#[test]
fn the_same_seed_gives_the_same_policy() {
    let folder = tempfile::tempdir().unwrap();
    let once = || {
        let (file, _) = made(folder.path(), &mixed(SMALL), "auto", "4e6");
        std::fs::read_to_string(file).unwrap()
    };
    assert_eq!(once(), once());
}

/// Sums of what was simulated are derived anew, with their intervals: 2 E[N] ± 2 h on the servers of
/// one shape, and h of another shape apart from it.
#[test]
fn a_spoilt_sum_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (file, _) = made(folder.path(), &mixed(SMALL), "quickswap", "4e6");
    let text = std::fs::read_to_string(file).unwrap();
    let valid: Value = serde_json::from_str(&text).unwrap();
    let claims = valid["claims"].as_array().unwrap();
    let find = |server: Value| {
        let of_all = |c: &&Value| c["type"].is_null() && c["server"] == server;
        let mut numbers = claims.iter().filter(|c| c["quantity"] == "mean_number");
        numbers.find(of_all).unwrap()
    };
    let (all, big, gpu) = (find(Value::Null), find(json!("big")), find(json!("gpu")));
    let number = |claim: &Value, field: &str| claim[field].as_f64().unwrap();
    is_near(
        number(all, "value"),
        2.0 * number(big, "value") + number(gpu, "value"),
    );
    is_near(
        number(all, "half_width"),
        (2.0 * number(big, "half_width")).hypot(number(gpu, "half_width")),
    );
    let place = claims.iter().position(|claim| claim == all).unwrap();
    let here = |field: &str| format!("/claims/{place}/{field}");
    assert_eq!(findings(&valid, &here("value"), |_| ()), [""; 0]);
    for (field, expected) in [("value", ".value: "), ("half_width", ".half_width: ")] {
        let smaller = |v: &mut Value| *v = json!(v.as_f64().unwrap() * 0.999);
        let found = findings(&valid, &here(field), smaller);
        assert!(
            found
                .iter()
                .any(|f| f.starts_with(&format!("claims[{place}]{expected}"))),
            "{field}: {found:?}"
        );
    }
    for (pointer, value) in [
        (here("method"), json!("exact-qbd")),
        (here("holds_for"), json!({})),
    ] {
        let found = findings(&valid, &pointer, |v| *v = value);
        assert!(!found.is_empty(), "{pointer}");
    }
}

/// Batches of two, over two servers: each gets of a batch 0, 1 or 2 jobs, so that E[B] = 1 and
/// E[B²] = 1.5 with empty ones included, and E[N] = ρ (1 + E[B²]/E[B]) / (2(1−ρ)) of M^X/M/1.
#[test]
fn batches_are_split_over_the_servers() {
    let text = "kind: multiresource\ntime_unit: s\nservers: [{count: 2, capacity: {cpu: 1}}]\njobs:
  - {name: a, demand: {cpu: 1}, mean_size: 1, arrivals: {process: batches, rate: .6, sizes: [2]}}\n";
    let fleet = read(text).unwrap();
    let sent = fleet.routed(0, &[1.0]).unwrap();
    is_near(sent.types()[0].arrival_rate(), 0.6);
    is_near(sent.types()[0].arrivals().dispersion(), 1.5);
    let folder = tempfile::tempdir().unwrap();
    let (file, _) = made(folder.path(), text, "quickswap", "4e6");
    let policy = Checked::read(file.as_ref()).unwrap();
    let exact = 2.0 * 0.6 * 2.5 / 0.8;
    let claim = policy.artifact().find(Quantity::MeanNumber, Subject::ALL);
    let claim = claim.unwrap();
    let (found, width) = (claim.value, claim.half_width.unwrap());
    assert!((found - exact).abs() < 1.5 * width, "{found} ± {width}");
    assert!(width < 0.05 * exact);
    let run = simulated(&policy, Routing::Probabilistic, 4_000_000);
    let measured = run.mean_number.unwrap();
    assert!(measured.covers(exact, 0.999), "{measured:?} {exact}");
}

/// What is exact for Poisson arrivals is an approximation for others, and says so.
#[test]
fn other_arrivals_take_exact_claims_as_approximations() {
    let bursts =
        "arrivals: {process: markov-modulated, rates: [1, 5], switching: [[0, 1], [1, 0]]}";
    let text = mixed(TWO_SHAPES).replace("arrival_rate: 3", bursts);
    let policy = checked(&read(&text).unwrap(), &as_analysed());
    let (artifact, envelope) = (policy.artifact(), policy.workload().envelope());
    for (name, poisson) in [("web", false), ("wide", true)] {
        let claim = artifact.find(Quantity::MeanNumber, Subject::of_type(name));
        let unmet = unmet(&claim.unwrap().holds_for, Some(name), envelope, true);
        assert_eq!(!unmet.any(), poisson, "{name}");
    }
    // On one server alone arrivals may renew, too.
    let alone = "arrivals: {process: renewal, interarrival: {law: erlang, stages: 3, mean: 4}}";
    let text = mixed(SMALL).replace("arrival_rate: .25", alone);
    checked(&read(&text).unwrap(), &as_analysed());
}
