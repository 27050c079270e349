//! The binary, run from the repository's root; and policies that were changed on purpose.

use std::path::PathBuf;
use std::process::{Command, Output};

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
