//! These tests compare the claims of the policies with `tests/reference/claims.json`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::common::*;
use crate::golden::is_near;

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
    let all: Vec<Recorded> = read_json("tests/reference/claims.json");
    let mut other = Vec::new();
    for recorded in all.iter().filter(|recorded| is_in(recorded.seconds)) {
        let (model, options) = (&recorded.model, recorded.options.join(" "));
        let artifact = json(&run_ok!("--quiet --workload models/{model}.yaml {options}"));
        let found = claims(&artifact).iter();
        let mut found: BTreeMap<_, _> = found.map(|c| (about(c), c["value"].as_f64())).collect();
        for (quantity, kind, at, value) in &recorded.claims {
            let about = (quantity.clone(), kind.clone(), *at);
            let now = found.remove(&about).flatten();
            if !is_near(Some(*value), now) {
                let line = format!("{model} {options}: {about:?} {value}, now {now:?}");
                other.push(line);
            }
        }
        let new = found.keys();
        other.extend(new.map(|new| format!("{model}: {new:?} is new")));
    }
    assert!(other.is_empty(), "{other:#?}");
}

type ClaimKey = (String, Option<String>, Option<u64>);

fn about(claim: &Value) -> ClaimKey {
    let name = |key: &str| claim[key].as_str().map(str::to_owned);
    let quantity = name("quantity").unwrap();
    (quantity, name("type"), claim["at"].as_u64())
}
