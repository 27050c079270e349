//! The JSON Schema that stands in the repository is the one of the types, and tells artifacts
//! from other documents.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use synth::compatibility::artifact::Artifact as ClusterArtifact;
use synth::multiresource::artifact::{Artifact, Preemption};
use synth::multiresource::synthesis::{Analysed, SynthesisOptions, SynthesisOutcome, synthesize};
use synth::multiresource::workload::{Fleet, Workload};

use crate::common::*;

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn json_file(path: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(here(path)).unwrap()).unwrap()
}

/// The schemas of policies, of each kind, and that of workloads, by their files.
fn schemas() -> [(&'static str, schemars::Schema); 5] {
    [
        ("schema/synth-policy.v2.json", Artifact::schema()),
        (
            "schema/synth-policy.compatibility.v2.json",
            ClusterArtifact::schema(),
        ),
        (
            "schema/synth-policy.malleable.v2.json",
            synth::malleable::artifact::Artifact::schema(),
        ),
        (
            "schema/synth-policy.volunteer-dispatch.v2.json",
            synth::volunteer::artifact::Artifact::schema(),
        ),
        (
            "schema/synth-workload.v1.json",
            synth::kinds::workload_schema(),
        ),
    ]
}

fn validator() -> jsonschema::Validator {
    // The stored one is the same: see the first test, which may be writing it just now.
    jsonschema::validator_for(&serde_json::to_value(Artifact::schema()).unwrap()).unwrap()
}

fn complaints(document: &Value) -> Vec<String> {
    validator()
        .iter_errors(document)
        .map(|e| format!("{}: {e}", e.instance_path()))
        .collect()
}

#[test]
fn schema_is_that_of_the_types() {
    for (name, schema) in schemas() {
        let path = here(name);
        let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        if std::env::var_os("SYNTH_UPDATE_SCHEMA").is_some() {
            std::fs::write(&path, &text).unwrap();
        }
        let stored = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            stored == text,
            "{name} is not the schema of the types. A change of shape changes the version; then \
             write it anew: SYNTH_UPDATE_SCHEMA=1 cargo test --release schema"
        );
    }
}

/// Descriptions are read by people who do not know how the program is written.
#[test]
fn descriptions_name_nothing_of_the_code() {
    for (name, schema) in schemas() {
        let text = schema.to_value().to_string();
        let descriptions = text.split("\"description\":\"").skip(1);
        for said in descriptions.map(|rest| rest.split("\",\"").next().unwrap()) {
            let foreign = ["[`", "::", "serde"].iter().any(|word| said.contains(word));
            assert!(!foreign, "{name}: {said}");
        }
    }
}

#[test]
fn schema_accepts_the_valid_policy() {
    assert_eq!(
        complaints(&json_file("tests/corpus/policies/valid.json")),
        [""; 0]
    );
}

#[test]
#[ignore = "takes over five seconds; CI runs it"]
fn schema_accepts_what_is_synthesized() {
    for path in models("multiresource") {
        let fleet = Fleet::read(&path).unwrap().workload;
        for preemption in [Preemption::None, Preemption::Full, Preemption::Setup] {
            let mut options = SynthesisOptions::new(preemption);
            options.effort = 0.01;
            options.setup_rate = (preemption == Preemption::Setup).then_some(10.0);
            let artifact = match fleet.one_server() {
                Some(workload) => synthesized(workload, &options),
                None if preemption == Preemption::None => in_slots(&fleet, &options),
                None => continue,
            };
            let document = serde_json::to_value(artifact.sealed()).unwrap();
            assert_eq!(complaints(&document), [""; 0], "{}", path.display());
        }
    }
}

fn synthesized(workload: &Workload, options: &SynthesisOptions) -> Artifact {
    match synthesize(workload, options).unwrap() {
        SynthesisOutcome::Policy(synthesis) => synthesis.artifact,
        other => panic!("no policy: {other:?}"),
    }
}

fn in_slots(fleet: &Fleet, options: &SynthesisOptions) -> Artifact {
    match Analysed::of_fleet(fleet, options).unwrap() {
        SynthesisOutcome::Policy(analysed) => analysed.partitioned(fleet).unwrap().artifact,
        other => panic!("no policy: {other:?}"),
    }
}

/// Strict at every level of a fleet's policy too.
#[test]
fn schema_refuses_an_unknown_field_of_a_fleet() {
    let fleet = Fleet::read(&here("models/fleet.yaml")).unwrap().workload;
    let artifact = in_slots(&fleet, &SynthesisOptions::new(Preemption::None));
    let valid = serde_json::to_value(artifact.sealed()).unwrap();
    let objects = [
        "",
        "/workload",
        "/workload/servers/0",
        "/workload/types/0",
        "/policy",
        "/policy/partition",
        "/claims/1/holds_for",
        "/evidence",
        "/evidence/servers/0",
        "/evidence/servers/0/mix",
    ];
    refuses_surprises(&valid, &objects);
}

/// Strict at every level, as the parser is.
#[test]
fn schema_refuses_an_unknown_field() {
    let valid = json_file("tests/corpus/policies/valid.json");
    let objects = [
        "",
        "/workload",
        "/workload/servers/0",
        "/workload/types/0",
        "/workload/types/0/size",
        "/policy",
        "/policy/msr/route",
        "/claims/0",
        "/claims/1/holds_for",
        "/evidence",
        "/evidence/servers/0",
    ];
    refuses_surprises(&valid, &objects);
}

fn refuses_surprises(valid: &Value, objects: &[&str]) {
    for pointer in objects {
        let mut document = valid.clone();
        let object = document
            .pointer_mut(pointer)
            .unwrap()
            .as_object_mut()
            .unwrap();
        object.insert("surprise".into(), json!(1));
        assert!(!complaints(&document).is_empty(), "{pointer}");
    }
}

#[test]
fn schema_refuses_a_missing_field_and_a_negative_count() {
    let valid = json_file("tests/corpus/policies/valid.json");
    let mut document = valid.clone();
    document["policy"]["msr"]
        .as_object_mut()
        .unwrap()
        .remove("weights");
    assert!(!complaints(&document).is_empty());
    let mut document = valid;
    document["policy"]["msr"]["schedules"][0][0] = json!(-1);
    assert!(!complaints(&document).is_empty());
}
