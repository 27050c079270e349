//! These tests are in this crate because the validator enables additional features of other
//! packages. In the main crate, the program would have to be compiled twice to run its tests.
#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "../../tests/suite/mutants.rs"]
mod mutants;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use jsonschema::Validator;
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::{Value, json};
use synth::artifact::Content as _;
use synth::cli::{self, EmbeddedAnswer, Embedding};
use synth::kind::Kind;
use synth::kinds::{self, Visitor};
use synth::multiresource::artifact::Artifact;

use mutants::mutated;

fn root(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .join(path)
}

fn text(path: PathBuf) -> String {
    std::fs::read_to_string(path).unwrap()
}

fn json_file(path: &str) -> Value {
    serde_json::from_str(&text(root(path))).unwrap()
}

fn models(kind: &str) -> Vec<PathBuf> {
    let files = std::fs::read_dir(root("models")).unwrap();
    let files = files.map(|entry| entry.unwrap().path());
    let is_model = |path: &PathBuf| path.extension().is_some_and(|e| e == "yaml");
    let heading = format!("kind: {kind}\n");
    let files = files.filter(is_model);
    files
        .filter(|path| text(path.clone()).contains(&heading))
        .collect()
}

static POLICIES: LazyLock<Validator> =
    LazyLock::new(|| jsonschema::validator_for(&Artifact::schema().to_value()).unwrap());

fn errors(schema: &Validator, document: &Value) -> Vec<String> {
    let errors = schema.iter_errors(document);
    errors
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect()
}

fn is_rejected(document: &Value) -> bool {
    !POLICIES.is_valid(document)
}

fn made(model: &Path, options: &str) -> Value {
    let mut typed: Vec<OsString> = vec!["--workload".into(), model.into(), "--quiet".into()];
    typed.extend(options.split_whitespace().map(Into::into));
    let made = cli::answer(&typed, Embedding::new(Default::default(), None));
    assert_eq!(made.code, 0, "{}: {:?}", model.display(), made.error);
    serde_json::from_str(&made.printed).unwrap()
}

#[test]
fn schemas_accept_synthesized_policies() {
    for (kind, schema, options) in [
        ("multiresource", "", "--family msr --preemption none"),
        ("multiresource", "", "--family msr --preemption full"),
        (
            "multiresource",
            "",
            "--family msr --preemption setup --setup-rate 10",
        ),
        ("multiresource", "", "--family partition --preemption none"),
        ("compatibility", ".compatibility", "--work 1e4"),
        ("malleable", ".malleable", "--work 1e4"),
        ("volunteer", ".volunteer-dispatch", "--work 2e7"),
    ] {
        let schema = json_file(&format!("schema/synth-policy{schema}.v3.json"));
        let schema = jsonschema::validator_for(&schema).unwrap();
        for path in models(kind) {
            let is_fleet = text(path.clone()).contains("\nservers:\n");
            if kind == "multiresource" && is_fleet != options.contains("partition") {
                continue;
            }
            assert!(schema.is_valid(&made(&path, options)), "{}", path.display());
        }
    }
}

#[test]
fn schemas_accept_results() {
    let folder = tempfile::tempdir().unwrap();
    let jobs = folder.path().join("jobs.csv");
    std::fs::write(&jobs, "type,arrival,size\ntype-1,0,1\ntype-2,0.5,2\n").unwrap();
    let (jobs, models) = (
        jobs.display().to_string(),
        root("models").display().to_string(),
    );
    for (format, typed) in [
        (
            "comparison",
            "compare --workload MODELS/section7.yaml --policies first-fit,max-weight --loads .5,.99 --events 1e5",
        ),
        (
            "outcomes",
            "compare --workload MODELS/amdahl_training.yaml --policies equi,hesrpt",
        ),
        (
            "simulation",
            "simulate first-fit --workload MODELS/section7.yaml --events 1e5",
        ),
        ("judgement", "judge MODELS/traces/cluster.swf"),
        (
            "advice",
            "advise slurm MODELS/traces/cluster.swf --slurm MODELS/traces/slurm.conf",
        ),
        (
            "forecast",
            "forecast MODELS/traces/cluster.swf --every 200 --map",
        ),
        (
            "replay",
            "replay MODELS/traces/cluster.swf --policies first-fit,easy",
        ),
        (
            "recorded-jobs",
            "simulate first-fit --workload MODELS/section7.yaml --jobs JOBS",
        ),
        (
            "optimum",
            "optimum MODELS/section7.yaml --load .5 --policies first-fit --events 1e5 --work 1e4",
        ),
        (
            "limits",
            "limit MODELS/section7.yaml --policies first-fit --events 1e5",
        ),
    ] {
        let typed = typed.replace("MODELS", &models).replace("JOBS", &jobs);
        let typed: Vec<OsString> = typed.split(' ').map(Into::into).collect();
        let answer = cli::answer(&typed, Embedding::new(Default::default(), None));
        is_in_format(format, &answer);
    }
    let file = folder.path().join("file.json");
    for (format, typed) in [
        (
            "log",
            "--log FILE --work 1e6 --quiet --workload MODELS/section7.yaml",
        ),
        ("fit", "fit MODELS/traces/cluster.swf --report FILE"),
    ] {
        let typed = typed.replace("MODELS", &models);
        let typed = typed.replace("FILE", &file.display().to_string());
        let typed: Vec<OsString> = typed.split(' ').map(Into::into).collect();
        let mut answer = cli::answer(&typed, Embedding::new(Default::default(), None));
        answer.document = text(file.clone());
        is_in_format(format, &answer);
    }
}

#[test]
fn schema_accepts_bench_results() {
    let schema = synth_lab::bench::schema();
    let stored = serde_json::to_string_pretty(&schema).unwrap() + "\n";
    let file = root("schema/synth-bench.v1.json");
    if std::env::var_os("SYNTH_UPDATE_SCHEMA").is_some() {
        std::fs::write(&file, &stored).unwrap();
    }
    assert!(text(file) == stored, "set SYNTH_UPDATE_SCHEMA=1");
    let typed = "bench --systems bounded-01 --no-choice --events 1e5";
    let typed: Vec<OsString> = typed.split(' ').map(Into::into).collect();
    let answer = synth_lab::PROGRAM.answer(&typed, Embedding::new(Default::default(), None));
    is_in_format("bench", &answer);
}

fn is_in_format(format: &str, answer: &EmbeddedAnswer) {
    let document: Value = serde_json::from_str(&answer.document).unwrap_or_default();
    let name = format!("synth-{format}");
    assert_eq!(document["format"], *name, "{:?}", answer.error);
    assert_eq!(document["version"], 1);
    let schema = json_file(&format!("schema/{name}.v1.json"));
    let schema = jsonschema::validator_for(&schema).unwrap();
    assert_eq!(errors(&schema, &document), [""; 0], "{format}");
}

#[test]
fn schema_rejects_unknown_fields_of_fleets() {
    let valid = made(
        &root("models/fleet.yaml"),
        "--preemption none --family partition",
    );
    let objects = [
        "",
        "/workload",
        "/workload/servers/0",
        "/workload/jobs/0",
        "/policy",
        "/policy/partition",
        "/claims/1/holds_for",
        "/evidence",
        "/evidence/servers/0",
        "/evidence/servers/0/mix",
    ];
    refuses_surprises(&valid, &objects);
}

#[test]
fn schema_rejects_unknown_fields() {
    let valid = json_file("tests/corpus/policies/valid.json");
    let objects = [
        "",
        "/workload",
        "/workload/servers/0",
        "/workload/jobs/0",
        "/workload/jobs/0/size",
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
        assert!(is_rejected(&document), "{pointer}");
    }
}

#[test]
fn schema_rejects_missing_fields_and_negative_counts() {
    let valid = json_file("tests/corpus/policies/valid.json");
    let mut document = valid.clone();
    document["policy"]["msr"]
        .as_object_mut()
        .unwrap()
        .remove("weights");
    assert!(is_rejected(&document));
    let mut document = valid;
    document["policy"]["msr"]["schedules"][0][0] = json!(-1);
    assert!(is_rejected(&document));
}

static WORKLOADS: LazyLock<Validator> =
    LazyLock::new(|| jsonschema::validator_for(&kinds::workload_schema().to_value()).unwrap());

/// Returns the errors that are shown by an editor. There are none if the text is not valid YAML.
fn marked(text: &str) -> Vec<String> {
    let Ok(document) = serde_yaml::from_str::<Value>(text) else {
        return Vec::new();
    };
    errors(&WORKLOADS, &document)
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

fn is_read(kind: &str, text: &str) -> bool {
    let each = kinds::each(Parse(text));
    each.contains(&(kind, true))
}

#[test]
fn schema_accepts_all_models() {
    let mut count = 0;
    for path in kinds::WORKLOADS.iter().flat_map(|kind| models(kind)) {
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(marked(&text), [""; 0], "{}", path.display());
        count += 1;
    }
    assert!(count > 20, "{count} models");
}

/// A valid document of each kind, and the replacements that make it invalid.
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
fn schema_and_program_reject_invalid_workloads() {
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

/// The schema finds malformed documents, but not, for example, jobs that do not fit.
#[test]
fn schema_rejects_most_malformed_documents() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/corpus/workloads");
    let files = std::fs::read_dir(folder).unwrap();
    let texts = files.filter_map(|file| std::fs::read_to_string(file.unwrap().path()).ok());
    let count = texts.filter(|text| !marked(text).is_empty()).count();
    assert!(count >= 95, "{count}");
}

#[derive(Clone, Copy)]
struct Damaged;

impl Visitor for Damaged {
    type Output = ();

    fn visit<K: Kind>(self) {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(22);
        let texts: Vec<String> = models(K::Content::WORKLOAD).into_iter().map(text).collect();
        let short: Vec<&String> = texts.iter().filter(|text| text.len() < 20_000).collect();
        for n in 0..1000 {
            let text = mutated(short[n % short.len()], &mut random);
            if K::Content::parse(&text, "mutant.yaml").is_ok() {
                assert_eq!(marked(&text), [""; 0], "accepted by the program: {text}");
            }
        }
    }
}

#[test]
fn schema_accepts_damaged_workloads_that_the_program_accepts() {
    kinds::each(Damaged);
}

fn files(folder: PathBuf) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut found = Vec::new();
    for path in entries.map(|entry| entry.unwrap().path()) {
        match path.is_dir() {
            true => found.extend(files(path)),
            false => found.push(path),
        }
    }
    found
}

#[test]
fn documented_workloads_are_valid() {
    let mut count = 0;
    let pages = files(root("docs")).into_iter().chain([root("README.md")]);
    for page in pages {
        let page = std::fs::read_to_string(page).unwrap_or_default();
        let blocks = page.split("```yaml\n").skip(1);
        for block in blocks.filter_map(|rest| rest.split("```").next()) {
            let kind = block.lines().find_map(|line| line.strip_prefix("kind: "));
            if let Some(kind) = kind {
                assert_eq!(marked(block), [""; 0], "{block}");
                assert!(is_read(kind, block), "{block}");
                count += 1;
            }
        }
    }
    assert!(count >= 3, "{count} workloads");
}
