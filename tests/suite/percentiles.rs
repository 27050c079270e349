//! Tests of claims about the percentiles of waiting times.

use crate::common::*;
use serde_json::Value;

fn one_server(folder: &Folder, rate: f64) -> Value {
    let workload = workload("server: {capacity: {cpu: 1}}", &job_type("t", 1, rate, 1));
    let file = folder.write("w.yaml", &workload);
    let policy = folder.path_string("p.json");
    run_ok!("{file} --family first-fit --work 2e7 -o {policy}");
    run_ok!("check {policy}");
    folder.json("p.json")
}

/// In an M/M/1 queue, `P(W > t) = ρ e^{−(1 − ρ) t}` and `P(T > t) = e^{−(1 − ρ) t}`. If `ρ < 0.5`,
/// the median of the wait is 0.
#[test]
fn percentiles_of_waits_match_mm1() {
    let folder = Folder::new();
    let places = [
        ("waiting_p50", 0.5),
        ("waiting_p95", 0.05),
        ("waiting_p99", 0.01),
    ];
    for rho in [0.4, 0.7] {
        let artifact = one_server(&folder, rho);
        let exact = |above: f64, most: f64| ((most / above).ln() / (1.0 - rho)).max(0.0);
        let waits = places.map(|(name, above)| (name, exact(above, rho)));
        for (name, expected) in waits
            .into_iter()
            .chain([("response_p95", exact(0.05, 1.0))])
        {
            let claim = claim_about(&artifact, name, Some("t"));
            let [value, half_width] =
                ["value", "half_width"].map(|own| claim[own].as_f64().unwrap());
            assert_eq!(claim["method"], "simulated");
            // The probability of a larger error is 10⁻⁴ with seven degrees of freedom.
            let is_near = (value - expected).abs() <= 3.0 * half_width;
            assert!(is_near, "{expected}: {claim}");
            assert!(half_width <= 0.05 * value, "{claim}");
        }
        let run = stdout(&run_ok!(
            "simulate {} --events 2e7",
            folder.path_string("p.json")
        ));
        assert!(!run.contains("REFUTED"), "{run}");
        for name in ["waiting p50", "waiting p95", "response p95"] {
            let row = run.lines().find(|line| line.contains(name)).unwrap();
            assert_contains(row, "confirmed");
        }
        let shown = stdout(&run_ok!("show {}", folder.path_string("p.json")));
        assert_contains(&shown, "waiting p95 [s]");
    }
}

/// A higher percentile and the mean are upper bounds that are used by the checker.
#[test]
fn refutes_wrong_percentiles() {
    let folder = Folder::new();
    let artifact = one_server(&folder, 0.7);
    let with = |quantity: &str, factor: f64| {
        let mut other = artifact.clone();
        let mut claims = other["claims"].as_array_mut().unwrap().iter_mut();
        let claim = claims.find(|own| own["quantity"] == quantity && own["type"] == "t");
        let claim = claim.unwrap();
        claim["value"] = (factor * claim["value"].as_f64().unwrap()).into();
        other
    };
    let longer = folder.write("q.json", &with("waiting_p95", 1.2).to_string());
    let typed = format!("simulate --accept-changes {longer} --events 2e7");
    let run = run_expecting_code(1, &typed);
    let printed = stdout(&run);
    let mut lines = printed.lines();
    let row = lines.find(|line| line.contains("waiting p95")).unwrap();
    assert_contains(row, "REFUTED");
    for (quantity, factor, words) in [
        ("waiting_p50", 9.0, "waiting_p50 of t is above waiting_p95"),
        ("waiting_p95", 40.0, "with the mean response time"),
        ("response_p95", -1.0, "expected a positive value"),
    ] {
        let found = errors_in_policy(with(quantity, factor));
        assert_contains(&found.join("\n"), words);
    }
    let mut old = artifact.clone();
    let claims = old["claims"].as_array_mut().unwrap();
    claims.retain(|own| !own["quantity"].as_str().unwrap().contains("_p"));
    parse_ignoring_digest(old, "old.json").unwrap();
}
