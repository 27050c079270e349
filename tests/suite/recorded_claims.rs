//! These tests compare the claims of the policies with `tests/reference/claims.json`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::common::*;

#[derive(Deserialize)]
struct Recorded {
    model: String,
    options: Vec<String>,
    seconds: f64,
    claims: Vec<Row>,
}

/// A claim: the quantity, the type, the number of jobs and the value.
type Row = (String, Option<String>, Option<u64>, f64);

/// The policies that take longer than this number of seconds are in a separate test.
const LONGEST: f64 = 1.0;

/// The math functions of other machines may round differently.
const ROUNDING: f64 = 1e-9;

#[test]
#[ignore = "this test takes more than five seconds, so it is only run in CI"]
fn claims_of_policies_are_unchanged() {
    are_as_recorded(|seconds| seconds <= LONGEST);
}

#[test]
#[ignore = "this test takes more than five seconds, so it is only run in CI"]
fn claims_of_slow_policies_are_unchanged() {
    are_as_recorded(|seconds| seconds > LONGEST);
}

fn are_as_recorded(is_in: impl Fn(f64) -> bool) {
    let text = include_str!("../reference/claims.json");
    let all: Vec<Recorded> = serde_json::from_str(text).unwrap();
    let mut other = Vec::new();
    for recorded in all.iter().filter(|recorded| is_in(recorded.seconds)) {
        let model = format!("models/{}.yaml", recorded.model);
        let mut typed = vec!["--quiet", "--workload", &model];
        typed.extend(recorded.options.iter().map(String::as_str));
        let output = run_ok(&typed);
        let artifact: Value = serde_json::from_str(&stdout(&output)).unwrap();
        let found = artifact["claims"].as_array().unwrap().iter();
        let mut found: BTreeMap<_, _> = found.map(|c| (about(c), c["value"].as_f64())).collect();
        for (quantity, kind, at, value) in &recorded.claims {
            let about = (quantity.clone(), kind.clone(), *at);
            let now = found.remove(&about).flatten();
            if now.is_none_or(|now| (now - value).abs() > ROUNDING * value.abs()) {
                let typed = recorded.options.join(" ");
                let line = format!("{} {typed}: {about:?} {value}, now {now:?}", recorded.model);
                other.push(line);
            }
        }
        other.extend(
            found
                .keys()
                .map(|new| format!("{}: {new:?} is new", recorded.model)),
        );
    }
    assert!(other.is_empty(), "{other:#?}");
}

type ClaimKey = (String, Option<String>, Option<u64>);

fn about(claim: &Value) -> ClaimKey {
    let name = |key: &str| claim[key].as_str().map(str::to_owned);
    let quantity = name("quantity").unwrap();
    (quantity, name("type"), claim["at"].as_u64())
}
