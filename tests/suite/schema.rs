//! The JSON Schemas that stand in the repository are those of the types. What they accept is tested by `lab/tests/schemas.rs`.

use std::path::Path;

use synth::compatibility::artifact::Artifact as ClusterArtifact;
use synth::multiresource::artifact::Artifact;

/// The schemas of policies, of each kind, and that of workloads, by their files.
fn schemas() -> [(&'static str, schemars::Schema); 5] {
    [
        ("schema/synth-policy.v3.json", Artifact::schema()),
        (
            "schema/synth-policy.compatibility.v3.json",
            ClusterArtifact::schema(),
        ),
        (
            "schema/synth-policy.malleable.v3.json",
            synth::malleable::artifact::Artifact::schema(),
        ),
        (
            "schema/synth-policy.volunteer-dispatch.v3.json",
            synth::volunteer::artifact::Artifact::schema(),
        ),
        (
            "schema/synth-workload.v1.json",
            synth::kinds::workload_schema(),
        ),
    ]
}

#[test]
fn schema_is_that_of_the_types() {
    for (name, schema) in schemas() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
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
