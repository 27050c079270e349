//! The binary, run from the repository's root; and policies that were changed on purpose.

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;
use synth::artifact::Changes;
use synth::multiresource::artifact::{ArtifactError, Checked};

/// The models of a kind of workload.
pub fn models(kind: &str) -> Vec<PathBuf> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/models");
    let all = std::fs::read_dir(folder).unwrap();
    let all = all.map(|entry| entry.unwrap().path());
    let all = all.filter(|path| path.extension().is_some_and(|e| e == "yaml"));
    let heading = format!("kind: {kind}\n");
    let is_it = |path: &PathBuf| std::fs::read_to_string(path).unwrap().contains(&heading);
    all.filter(is_it).collect()
}

pub fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_synth"));
    command
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(arguments);
    command
}

pub fn synth(arguments: &[&str]) -> Output {
    command(arguments).output().unwrap()
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

pub fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

/// A policy as it is, whether it was changed after it was written or not.
pub fn as_it_is(text: impl ToString, name: &str) -> Result<Checked, ArtifactError> {
    Checked::parse_with(&text.to_string(), name, Changes::Accepted)
}

/// Everything that is wrong with a policy, each with its place.
pub fn findings(text: impl ToString) -> Vec<String> {
    match as_it_is(text, "test") {
        Ok(_) => Vec::new(),
        Err(ArtifactError::Shape { place, message, .. }) => vec![format!("{place}: {message}")],
        Err(ArtifactError::Refused { findings, .. }) => {
            findings.iter().map(ToString::to_string).collect()
        }
        Err(error) => panic!("{error}"),
    }
}

/// Everything that is wrong after a change.
pub fn changed(valid: &Value, change: impl FnOnce(&mut Value)) -> Vec<String> {
    let mut document = valid.clone();
    change(&mut document);
    findings(document)
}

/// Asserts that a value at a place is refused, and with what words.
pub fn is_refused(valid: &Value, pointer: &str, lie: Value, words: &str) {
    let found = changed(valid, |v| *v.pointer_mut(pointer).unwrap() = lie.clone());
    assert!(
        found.iter().any(|f| f.contains(words)),
        "{pointer} = {lie}: expected `{words}`, found {found:#?}"
    );
}

/// A folder of a test's own.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn name(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().into()
    }

    /// A policy for a model.
    pub fn policy(&self, model: &str) -> String {
        let file = self.name(&format!("{model}.json"));
        let workload = format!("models/{model}.yaml");
        let typed = [
            "--workload",
            &workload,
            "--preemption",
            "full",
            "--family",
            "msr",
        ];
        let made = synth(&[&typed[..], &["--effort", "0.01", "-q", "--output", &file]].concat());
        assert_eq!(code(&made), 0, "{}", stderr(&made));
        file
    }

    pub fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.name(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    pub fn json(&self, name: &str) -> Value {
        serde_json::from_slice(&self.bytes(name)).unwrap()
    }

    /// Names of all files.
    pub fn files(&self) -> Vec<String> {
        let all = std::fs::read_dir(self.0.path()).unwrap();
        let name = |entry: std::fs::DirEntry| entry.file_name().into_string().unwrap();
        let mut all: Vec<String> = all.map(|entry| name(entry.unwrap())).collect();
        all.sort();
        all
    }
}
