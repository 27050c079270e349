//! These tests check that the JSON Schemas are up to date. See also `lab/tests/schemas.rs`.

use synth::compatibility::artifact::Artifact as ClusterArtifact;
use synth::malleable::artifact::Artifact as PoolArtifact;
use synth::multiresource::artifact::Artifact;
use synth::volunteer::artifact::Artifact as CampaignArtifact;

use crate::common::*;

fn schemas() -> Vec<(String, schemars::Schema)> {
    let policies = [
        ("synth-policy.v3", Artifact::schema()),
        ("synth-policy.compatibility.v3", ClusterArtifact::schema()),
        ("synth-policy.malleable.v3", PoolArtifact::schema()),
        (
            "synth-policy.volunteer-dispatch.v3",
            CampaignArtifact::schema(),
        ),
        ("synth-workload.v1", synth::kinds::workload_schema()),
    ];
    let policies = policies.map(|(name, schema)| (format!("schema/{name}.json"), schema));
    let results = synth::kinds::formats().into_iter();
    let results = results.map(|(name, of)| (format!("schema/{name}.v1.json"), of(name)));
    policies.into_iter().chain(results).collect()
}

#[test]
fn the_schemas_are_up_to_date() {
    for (name, schema) in schemas() {
        let path = in_root(&name);
        let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        if std::env::var_os("SYNTH_UPDATE_SCHEMA").is_some() {
            std::fs::write(&path, &text).unwrap();
        }
        let stored = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            stored == text,
            "{name} is out of date. If the format has changed, change its version, and then run: \
             SYNTH_UPDATE_SCHEMA=1 cargo test --release schema"
        );
    }
}

#[test]
fn descriptions_do_not_mention_the_code() {
    for (name, schema) in schemas() {
        let text = schema.to_value().to_string();
        let descriptions = text.split("\"description\":\"").skip(1);
        for said in descriptions.map(|rest| rest.split("\",\"").next().unwrap()) {
            let foreign = ["[`", "::", "serde"].iter().any(|word| said.contains(word));
            assert!(!foreign, "{name}: {said}");
        }
    }
}
