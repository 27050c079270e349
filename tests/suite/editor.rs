//! What editors say of workloads by `schema/synth-workload.v1.json`: nothing of a sound one, and whatever they refuse
//! the program refuses.

use std::sync::LazyLock;

use jsonschema::Validator;
use serde_json::Value;
use synth::artifact::Content as _;
use synth::kind::Kind;
use synth::kinds::{self, Visitor};

use crate::common::*;

static WORKLOADS: LazyLock<Validator> =
    LazyLock::new(|| jsonschema::validator_for(&kinds::workload_schema().to_value()).unwrap());

/// What an editor marks in a document; nothing where it is no YAML.
pub fn marked(text: &str) -> Vec<String> {
    let Ok(document) = serde_yaml::from_str::<Value>(text) else {
        return Vec::new();
    };
    let errors = WORKLOADS.iter_errors(&document);
    errors
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect()
}

#[derive(Clone, Copy)]
struct Parse<'a>(&'a str);

impl Visitor for Parse<'_> {
    type Output = (&'static str, bool);

    fn visit<K: Kind>(self) -> Self::Output {
        (
            K::Content::WORKLOAD,
            K::Content::parse(self.0, "a document").is_ok(),
        )
    }
}

/// Whether the program takes a document of this kind.
fn is_read(kind: &str, text: &str) -> bool {
    let each = kinds::each(Parse(text));
    each.contains(&(kind, true))
}

#[test]
fn models_are_sound_in_an_editor() {
    let mut count = 0;
    for path in kinds::WORKLOADS.iter().flat_map(|kind| models(kind)) {
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(marked(&text), [""; 0], "{}", path.display());
        count += 1;
    }
    assert!(count > 20, "{count} models");
}

/// A document of each kind, and what is wrong with it once the first text is replaced by the second.
const WRONG: [(&str, &[(&str, &str)]); 4] = [
    (
        "kind: multiresource\ntime_unit: h\nknown: type\nserver: {capacity: {gpu: 8}}\njobs:\n  - {name: a, demand: {gpu: 1}, \
         arrival_rate: 2, size: {law: pareto, shape: 1.5, low: 1h, high: 8}}\n",
        &[
            ("demand", "demands"),
            ("arrival_rate: 2", "arrival_rate: -2"),
            ("arrival_rate: 2", "arrival_rate: 2/h"),
            ("arrival_rate: 2,", ""),
            ("law: pareto", "law: parato"),
            ("shape: 1.5, ", ""),
            ("low: 1h", "low: 1 GB of it"),
            ("{gpu: 8}", "[gpu, 8]"),
            ("{gpu: 8}", "{gpu: 128Gi}"),
            ("time_unit: h\n", ""),
            ("known: type", "known: sizes"),
            ("known: type", "modulation: {factors: [1, 2]}"),
            ("arrival_rate: 2", "arrivals: {process: poison, rate: 2}"),
            ("arrival_rate: 2", "arrivals: {renewal: {rate: 2}}"),
            ("server:", "servers:"),
            ("size: {law", "nodes: 1.5, size: {law"),
            ("kind: multiresource", "kind: multi"),
        ],
    ),
    (
        "kind: compatibility\nservers:\n  - {name: a, rate: 1}\nclasses:\n  - {name: x, servers: [a], arrival_rate: .6}\nmean_size: 1\n",
        &[
            ("rate: 1", "rate: one"),
            ("rate: 1", "speed: 1"),
            ("[a]", "a"),
            ("mean_size: 1", "mean_size: 4h"),
            ("mean_size: 1", ""),
            (".6", "-.6"),
        ],
    ),
    (
        "kind: malleable\nservers: 64\nspeedup: {amdahl: {parallel_fraction: .9}}\njobs:\n  - {name: small, size: 3}\n",
        &[
            ("amdahl", "amdal"),
            ("parallel_fraction", "fraction"),
            ("size: 3", "size: -3"),
            ("servers: 64", "servers: many"),
            ("servers: 64", "servers: 64\nwhole_servers: 1"),
            ("servers: 64", "servers: 64\nobjective: least"),
        ],
    ),
    (
        "kind: volunteer\ntime_unit: h\nhorizon: 720\nhosts:\n  - {name: homes, count: 4, cores: 4, speed: 1, buffer: 1d}\n\
         applications:\n  - {name: dock, versions: [{name: v1, processor: cpu}]}\n\
         batches:\n  - {name: b, application: dock, jobs: 30, size: 2, quality: afap}\n",
        &[
            ("quality: afap", "quality: fast"),
            ("processor: cpu", "processor: tpu"),
            ("speed: 1", "speed: 4h"),
            ("buffer: 1d", "buffer: {law: uniform, low: 1h}"),
            ("count: 4", "count: -4"),
            ("horizon: 720", "horizon: [720]"),
        ],
    ),
];

#[test]
fn what_is_wrong_is_seen_in_an_editor_and_by_the_program() {
    for ((document, changes), kind) in WRONG.iter().zip(kinds::WORKLOADS) {
        assert_eq!(marked(document), [""; 0], "{document}");
        assert!(is_read(kind, document), "{document}");
        for (from, to) in *changes {
            let wrong = document.replacen(from, to, 1);
            assert_ne!(wrong, *document, "{from}");
            assert_ne!(marked(&wrong), [""; 0], "{wrong}");
            assert!(!is_read(kind, &wrong), "{wrong}");
        }
    }
}

/// Of the documents that the program refuses, an editor marks those of a wrong form; not sums that are not 1, or jobs that
/// do not fit.
#[test]
#[ignore = "takes over five seconds; CI runs it"]
fn half_of_the_refused_documents_are_marked() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus/workloads");
    let files = std::fs::read_dir(folder).unwrap();
    let texts = files.filter_map(|file| std::fs::read_to_string(file.unwrap().path()).ok());
    let count = texts.filter(|text| !marked(text).is_empty()).count();
    assert!(count >= 95, "{count}");
}
