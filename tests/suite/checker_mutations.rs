//! These tests change each value of a valid artifact. The checker must reject each relevant change
//! and must never panic.

use crate::common::*;

use serde_json::{Value, json};
use synth::multiresource::artifact::{Admission, Drain, Preemption, Route};
use synth::multiresource::synthesis::{SynthesisOptions, synthesize};
use synth::multiresource::workload::Fleet;
use synth::number::Decimal;

/// Words that can be used in artifacts, so that the document can still be parsed.
const WORDS: &str = "none setup full sequential concurrent eager late phantom release first-fit \
    exact-renewal-reward mean_schedule";

const SEQUENTIAL: Route = Route {
    drain: Drain::Sequential,
    admission: Admission::Eager,
};

struct Mutant {
    pointer: String,
    change: String,
    document: Value,
}

/// Returns `true` if the checker may accept the mutant. All pointers are prefixes. Those in `idle`
/// have no effect in this artifact.
fn is_harmless(mutant: &Mutant, idle: &[&str]) -> bool {
    let (pointer, change) = (&mutant.pointer, &mutant.change);
    let below = |prefixes: &[&str]| prefixes.iter().any(|p| pointer.starts_with(p));
    let is = |changes: &[&str]| changes.contains(&change.as_str());
    let a_claim = pointer.starts_with("/claims/") && pointer.matches('/').count() == 2;
    below(&["/workload/source", "/tool"])
        // The length of the run cannot be checked because the run is not repeated.
        || below(&["/evidence/simulation/"])
        // The digest is ignored when a changed document is accepted on purpose.
        || below(&["/digest"])
        // The claims hold for a policy without these options.
        || below(&["/policy/msr/backfill", "/policy/msr/empty_slots"])
        || below(idle)
        // The gap of 1e-12 is a rounding error, so it does not matter if it is a little larger.
        || (pointer == "/evidence/gap" && is(&["×1.001", "0"]))
        // An artifact may have fewer claims, or a proof that only uses floating-point numbers.
        || (pointer == "/evidence/exact" && is(&["removed", "null"]))
        || (a_claim && is(&["removed"]))
        || (pointer == "/claims" && is(&["empty"]))
}

fn replacements(value: &Value) -> Vec<(String, Value)> {
    let all = match value {
        Value::Number(number) => vec![
            ("0", json!(0)),
            ("-1", json!(-1)),
            ("1e308", json!(1e308)),
            ("2^32 - 1", json!(u32::MAX)),
            ("2^64 - 1", json!(u64::MAX)),
            ("×1.001", json!(number.as_f64().unwrap() * 1.001)),
        ],
        Value::String(_) => {
            let words = words(WORDS).into_iter().chain(["x"]);
            let words = words.map(|word| (word, json!(word)));
            words.chain([("empty", json!(""))]).collect()
        }
        Value::Bool(b) => vec![("negated", json!(!b))],
        Value::Array(items) => {
            let twice = json!([&items[..], items].concat());
            vec![
                ("empty", json!([])),
                ("all twice", twice),
                ("null", json!(null)),
            ]
        }
        Value::Object(fields) => {
            let mut more = fields.clone();
            more.insert("surprise".into(), json!(1));
            vec![("unknown field", more.into()), ("null", json!(null))]
        }
        Value::Null => Vec::new(),
    };
    let all = all.into_iter();
    all.map(|(name, value)| (name.to_owned(), value)).collect()
}

fn remove_or_repeat(parent: &Value, key: &str) -> Vec<(String, Value)> {
    match parent {
        Value::Array(items) => {
            let n: usize = key.parse().unwrap();
            let (mut fewer, mut more) = (items.clone(), items.clone());
            fewer.remove(n);
            more.insert(n, items[n].clone());
            vec![
                ("removed".into(), Value::Array(fewer)),
                ("doubled".into(), Value::Array(more)),
            ]
        }
        Value::Object(fields) => {
            let mut fewer = fields.clone();
            fewer.remove(key);
            vec![("removed".into(), Value::Object(fewer))]
        }
        _ => Vec::new(),
    }
}

fn is_same(a: &Value, b: &Value) -> bool {
    a == b || (a.is_number() && a.as_f64() == b.as_f64())
}

fn mutants(valid: &Value) -> Vec<Mutant> {
    let mut mutants = Vec::new();
    for pointer in pointers(valid, |_| true) {
        let mut spoil = |at: &str, change: String, replacement: Value| {
            let mut document = valid.clone();
            *document.pointer_mut(at).unwrap() = replacement;
            if !is_same(document.pointer(at).unwrap(), valid.pointer(at).unwrap()) {
                mutants.push(Mutant {
                    pointer: pointer.clone(),
                    change,
                    document,
                });
            }
        };
        for (change, replacement) in replacements(valid.pointer(&pointer).unwrap()) {
            spoil(&pointer, change, replacement);
        }
        if let Some((parent, key)) = pointer.rsplit_once('/') {
            for (change, replacement) in remove_or_repeat(valid.pointer(parent).unwrap(), key) {
                spoil(parent, change, replacement);
            }
        }
    }
    mutants
}

fn artifact(model: &str, preemption: Preemption, route: Route) -> Value {
    // The load is low, so the checker is fast.
    let workload = crate::common::model(model).scaled(0.5).unwrap();
    let mut options = SynthesisOptions::new(preemption);
    // There is no route if full preemption is used.
    options.route = (preemption != Preemption::Full).then_some(route);
    options.setup_rate = (preemption == Preemption::Setup).then_some(10.0);
    let synthesis = expect_policy(synthesize(&workload, &options).unwrap());
    serde_json::to_value(&synthesis.artifact).unwrap()
}

fn accepted_mutants(valid: &Value, idle: &[&str]) -> Vec<String> {
    let passes = |document: &Value| parse_ignoring_digest(document, "mutant").is_ok();
    assert!(passes(valid));
    let survived = |m: &&Mutant| !is_harmless(m, idle) && passes(&m.document);
    let all = mutants(valid);
    assert!(all.len() > 500, "only {} mutants", all.len());
    all.iter()
        .filter(survived)
        .map(|m| format!("{} {}", m.pointer, m.change))
        .collect()
}

#[test]
#[ignore = "this test takes more than five seconds, so it is only run in CI"]
fn rejects_changes_to_a_policy_of_section_7() {
    let cases: [(Preemption, &[&str]); 3] = [
        (Preemption::None, &[]),
        // There are no routes if preemption is free.
        (Preemption::Full, &["/policy/msr/route"]),
        (Preemption::Setup, &[]),
    ];
    for (preemption, idle) in cases {
        let found = accepted_mutants(&artifact("section7", preemption, SEQUENTIAL), idle);
        assert!(found.is_empty(), "{preemption:?}: {found:#?}");
    }
}

#[test]
#[ignore = "this test takes more than five seconds, so it is only run in CI"]
fn rejects_changes_to_a_policy_with_three_schedules() {
    let route = Route {
        drain: Drain::Concurrent,
        admission: Admission::Eager,
    };
    // On this route, no job can be admitted before the end of the route.
    let idle = ["/policy/msr/route/admission"];
    let found = accepted_mutants(&artifact("four_types", Preemption::None, route), &idle);
    assert!(found.is_empty(), "{found:#?}");
}

/// The start latency makes the sizes longer. Such a policy cannot use preemption.
#[test]
#[ignore = "this test takes more than five seconds, so it is only run in CI"]
fn rejects_changes_to_a_policy_with_a_start_latency() {
    let fleet = Fleet::read(&model_path("section7")).unwrap().workload;
    let fleet = fleet.scaled(0.5).unwrap();
    let fleet = fleet.with_start_latency(Decimal::new(0.125).unwrap());
    let fleet = fleet.unwrap();
    let mut options = SynthesisOptions::new(Preemption::None);
    options.route = Some(SEQUENTIAL);
    let synthesis = expect_policy(synthesize(fleet.envelope(), &options).unwrap());
    let valid = serde_json::to_value(&synthesis.artifact).unwrap();
    let expected = json!({"law": "deterministic", "mean": 0.125});
    assert_eq!(valid["workload"]["start_latency"], expected);
    let found = accepted_mutants(&valid, &[]);
    assert!(found.is_empty(), "{found:#?}");
    let mut preempting = artifact("section7", Preemption::Full, SEQUENTIAL);
    for field in ["workload", "workload_digest"] {
        preempting[field] = valid[field].clone();
    }
    let found = errors_in_policy(&preempting).join("\n");
    let words = "the policy preempts jobs and the workload has a start latency";
    assert_contains(&found, words);
}

/// The claims about these rules are from a simulation, so another valid rule is accepted.
#[test]
fn rejects_changes_to_the_evidence_of_other_families() {
    let idle = ["/policy", "/evidence/servers/0/mix/schedules"];
    for name in ["static-quickswap", "adaptive-quickswap", "adaptive-msr"] {
        let vector: Value = read_json(format!("tests/conformance/{name}.json"));
        let found = accepted_mutants(&vector["artifact"], &idle);
        // A simulated value can have any value in its interval, and the interval can have any
        // width.
        let simulated = |place: &&String| {
            let [pointer, change] = place.split(' ').collect::<Vec<_>>()[..] else {
                return false;
            };
            (pointer.ends_with("/value") && change == "×1.001")
                || (pointer.ends_with("/half_width") && ["×1.001", "0"].contains(&change))
        };
        let found: Vec<&String> = found.iter().filter(|f| !simulated(f)).collect();
        assert!(found.is_empty(), "{name}: {found:#?}");
    }
}

#[test]
fn accepts_harmless_changes() {
    let mut document = artifact("section7", Preemption::Full, SEQUENTIAL);
    for (pointer, value) in [
        ("/workload/source", json!("elsewhere")),
        ("/tool", json!("by hand")),
        ("/policy/msr/backfill", json!("none")),
        ("/policy/msr/empty_slots", json!("phantom")),
        ("/policy/msr/route/drain", json!("concurrent")),
        ("/claims", json!([])),
    ] {
        *document.pointer_mut(pointer).unwrap() = value;
        let checked = parse_ignoring_digest(&document, pointer);
        assert!(checked.is_ok(), "{}", checked.unwrap_err());
    }
}
