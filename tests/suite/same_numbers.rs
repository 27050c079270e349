//! The policies of the models say the numbers that they said when these were recorded, in
//! `tests/reference/claims.json`: for each model and each way to make its policy, the value of every
//! claim.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::common::*;

/// What was claimed of a model's policy.
#[derive(Deserialize)]
struct Recorded {
    model: String,
    /// What was typed besides.
    options: Vec<String>,
    /// How long that took, about.
    seconds: f64,
    claims: Vec<Row>,
}

/// Quantity, type, number of jobs, value.
type Row = (String, Option<String>, Option<u64>, f64);

/// What takes longer than this \[s\] is a test of its own, which only CI runs.
const LONGEST: f64 = 1.0;

/// Functions of other machines may round otherwise, and searches end a little elsewhere.
const ROUNDING: f64 = 1e-9;

#[test]
#[ignore = "takes over five seconds; CI runs it"]
fn the_models_policies_say_the_same_numbers_as_ever() {
    are_as_recorded(|seconds| seconds <= LONGEST);
}

#[test]
#[ignore = "takes over five seconds; CI runs it"]
fn those_that_take_longer_say_the_same_numbers_as_ever() {
    are_as_recorded(|seconds| seconds > LONGEST);
}

/// Makes the policies of which making took so long, and compares their claims with what was recorded.
fn are_as_recorded(is_in: impl Fn(f64) -> bool) {
    let text = include_str!("../reference/claims.json");
    let all: Vec<Recorded> = serde_json::from_str(text).unwrap();
    let mut other = Vec::new();
    for recorded in all.iter().filter(|recorded| is_in(recorded.seconds)) {
        let model = format!("models/{}.yaml", recorded.model);
        let mut typed = vec!["--quiet", "--workload", &model];
        typed.extend(recorded.options.iter().map(String::as_str));
        let output = works(&typed);
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

type About = (String, Option<String>, Option<u64>);

/// What a claim is about.
fn about(claim: &Value) -> About {
    let name = |key: &str| claim[key].as_str().map(str::to_owned);
    let quantity = name("quantity").unwrap();
    (quantity, name("type"), claim["at"].as_u64())
}
