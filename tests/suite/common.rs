//! Helpers that run the program in the root of the repository and that change policies.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use synth::artifact::{Changes, Content};
use synth::document::WorkloadDocument as _;
use synth::multiresource::artifact::{ArtifactError, Checked};

pub(crate) fn models(kind: &str) -> Vec<PathBuf> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/models");
    let all = std::fs::read_dir(folder).unwrap();
    let all = all.map(|entry| entry.unwrap().path());
    let all = all.filter(|path| path.extension().is_some_and(|e| e == "yaml"));
    let heading = format!("kind: {kind}\n");
    let is_it = |path: &PathBuf| std::fs::read_to_string(path).unwrap().contains(&heading);
    all.filter(is_it).collect()
}

/// The arguments of a command: a line of words, or a list of words if some of them contain spaces.
pub(crate) trait Typed {
    fn words(&self) -> Vec<String>;
}

impl Typed for str {
    /// Splits the line into words. Text between single quotes is one word.
    fn words(&self) -> Vec<String> {
        let parts = self.split('\'').enumerate();
        let words = parts.flat_map(|(n, part)| match n % 2 {
            0 => part.split_whitespace().map(Into::into).collect(),
            _ => vec![part.to_owned()],
        });
        words.collect()
    }
}

impl Typed for String {
    fn words(&self) -> Vec<String> {
        self.as_str().words()
    }
}

impl Typed for [&str] {
    fn words(&self) -> Vec<String> {
        self.iter().map(ToString::to_string).collect()
    }
}

impl<const N: usize> Typed for [&str; N] {
    fn words(&self) -> Vec<String> {
        self[..].words()
    }
}

impl Typed for Vec<&str> {
    fn words(&self) -> Vec<String> {
        self[..].words()
    }
}

pub(crate) fn command(typed: &(impl Typed + ?Sized)) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_synth"));
    let root = env!("CARGO_MANIFEST_DIR");
    command.current_dir(root).args(typed.words());
    command
}

pub(crate) fn synth(typed: &(impl Typed + ?Sized)) -> Output {
    command(typed).output().unwrap()
}

pub(crate) fn run_expecting_code(expected: i32, typed: &(impl Typed + ?Sized)) -> Output {
    let output = synth(typed);
    let (words, out, err) = (typed.words(), stdout(&output), stderr(&output));
    assert_eq!(code(&output), expected, "{words:?}: {out}{err}");
    output
}

pub(crate) fn run_ok(typed: &(impl Typed + ?Sized)) -> Output {
    run_expecting_code(0, typed)
}

/// Runs the program and asserts that it fails with a message that contains `words`.
pub(crate) fn run_err(typed: &(impl Typed + ?Sized), words: &str) {
    let output = run_expecting_code(2, typed);
    let (typed, said) = (typed.words(), stderr(&output));
    let is_told = said.contains(words);
    assert!(is_told, "{typed:?}: expected `{words}` in {said}");
    assert!(!said.contains("panicked"), "{typed:?}: {said}");
    assert!(stdout(&output).is_empty(), "{typed:?}: {said}");
}

pub(crate) fn run_with_stdin(typed: &(impl Typed + ?Sized), input: &str) -> Output {
    let mut program = command(typed);
    let program = program.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut running = program.stderr(Stdio::piped()).spawn().unwrap();
    // The program may exit before it has read all of the input.
    let _ = running.stdin.take().unwrap().write_all(input.as_bytes());
    running.wait_with_output().unwrap()
}

/// Asserts that a text contains these words, where a line break counts as a space.
#[track_caller]
pub(crate) fn assert_contains(text: &str, words: &str) {
    let is_there = text.contains(words) || text.replace('\n', " ").contains(words);
    assert!(is_there, "expected `{words}` in {text}");
}

pub(crate) fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// Returns the rows of a table with one row for each line. The cells are separated by `|`.
pub(crate) fn rows<const N: usize>(table: &str) -> impl Iterator<Item = [&str; N]> {
    let lines = table.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.map(|line| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        cells
            .try_into()
            .unwrap_or_else(|_| panic!("expected {N} cells: {line}"))
    })
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

pub(crate) fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

/// Parses a policy and ignores its digest, so that changed policies are accepted.
pub(crate) fn parse_ignoring_digest(
    text: impl ToString,
    name: &str,
) -> Result<Checked, ArtifactError> {
    Checked::parse_with(&text.to_string(), name, Changes::Accepted)
}

pub(crate) fn errors_in_policy(text: impl ToString) -> Vec<String> {
    match parse_ignoring_digest(text, "test") {
        Ok(_) => Vec::new(),
        Err(ArtifactError::Shape { place, message, .. }) => vec![format!("{place}: {message}")],
        Err(ArtifactError::Refused { findings, .. }) => {
            findings.iter().map(ToString::to_string).collect()
        }
        Err(error) => panic!("{error}"),
    }
}

pub(crate) fn errors_after_change(valid: &Value, change: impl FnOnce(&mut Value)) -> Vec<String> {
    let mut document = valid.clone();
    change(&mut document);
    errors_in_policy(document)
}

/// Returns the document with another value, which can also be a factor such as `×1.1`.
pub(crate) fn with_changed_value(valid: &Value, place: &str, lie: &str) -> Value {
    let mut document = valid.clone();
    let lie = match lie.strip_prefix('×') {
        Some(by) => {
            let number = valid.pointer(place).and_then(Value::as_f64).unwrap();
            (number * by.parse::<f64>().unwrap()).into()
        }
        None => serde_json::from_str(lie).unwrap_or_else(|error| panic!("{lie}: {error}")),
    };
    let (parent, key) = place.rsplit_once('/').unwrap();
    match document.pointer_mut(parent).unwrap() {
        Value::Array(items) => items[key.parse::<usize>().unwrap()] = lie,
        object => object[key] = lie,
    }
    document
}

/// Asserts that `check` rejects each change in a table. The columns are the path below `at`, the
/// new value and a part of the message.
pub(crate) fn assert_changes_rejected(
    valid: &Value,
    at: &str,
    table: &str,
    check: impl Fn(&Value) -> Option<String>,
) {
    assert_eq!(check(valid), None);
    for [place, lie, words] in rows(table) {
        let why = check(&with_changed_value(valid, &format!("{at}{place}"), lie));
        let why = why.unwrap_or_else(|| panic!("{place} = {lie} is taken"));
        let is_told = why.contains(words);
        assert!(is_told, "{place} = {lie}: expected `{words}` in {why}");
    }
}

/// Asserts the same for multiresource policies.
pub(crate) fn assert_policy_changes_rejected(valid: &Value, at: &str, table: &str) {
    let check = |document: &Value| {
        let found = errors_in_policy(document);
        (!found.is_empty()).then(|| found.join("\n"))
    };
    assert_changes_rejected(valid, at, table, check);
}

/// Returns the reason why a policy of another kind is rejected. If its workload was changed, the
/// digest is updated too.
pub(crate) fn rejection_reason<K: Content>(document: &Value) -> Option<String> {
    let refused = |document: &Value| {
        let text = document.to_string();
        let checked = synth::artifact::Checked::<K>::parse_with(&text, "lie", Changes::Accepted);
        checked.err().map(|error| error.to_string())
    };
    let mut why = refused(document)?;
    let record = serde_json::from_value::<K::Workload>(document["workload"].clone());
    if let Some(record) = record.ok().filter(|_| why.contains("workload_digest: ")) {
        let mut own = document.clone();
        own["workload_digest"] = record.digest().into();
        why.extend(refused(&own));
    }
    Some(why)
}

pub(crate) fn text(file: &str) -> String {
    std::fs::read_to_string(format!("{}/{file}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

pub(crate) fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

pub(crate) fn claim<'a>(artifact: &'a Value, quantity: &str) -> &'a Value {
    let mut claims = artifact["claims"].as_array().unwrap().iter();
    let claim = claims.find(|c| c["quantity"] == quantity && c["type"].is_null());
    claim.unwrap_or_else(|| panic!("{quantity}"))
}

pub(crate) fn claimed_value(artifact: &Value, quantity: &str) -> f64 {
    claim(artifact, quantity)["value"].as_f64().unwrap()
}

/// Returns a workload with the given servers and jobs. Each job is on one line.
pub(crate) fn workload(servers: &str, jobs: &str) -> String {
    let head = format!("kind: multiresource\ntime_unit: s\n{servers}\njobs:\n");
    jobs.lines()
        .fold(head, |text, job| text + "  - " + job.trim() + "\n")
}

pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn path_string(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().into()
    }

    pub(crate) fn policy(&self, model: &str) -> String {
        let file = self.path_string(&format!("{model}.json"));
        let workload = format!("models/{model}.yaml");
        run_ok(&format!(
            "{workload} --preemption full --family msr --work 4e6 -q --output {file}"
        ));
        file
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> String {
        std::fs::write(self.path(name), text).unwrap();
        self.path_string(name)
    }

    pub(crate) fn command(&self, name: &str, text: &str) {
        use std::os::unix::fs::PermissionsExt as _;
        let file = self.write(name, &format!("#!/bin/sh\n{text}\n"));
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path_string(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    pub(crate) fn json(&self, name: &str) -> Value {
        serde_json::from_slice(&self.bytes(name)).unwrap()
    }

    pub(crate) fn files(&self) -> Vec<String> {
        let all = std::fs::read_dir(self.0.path()).unwrap();
        let name = |entry: std::fs::DirEntry| entry.file_name().into_string().unwrap();
        let mut all: Vec<String> = all.map(|entry| name(entry.unwrap())).collect();
        all.sort();
        all
    }
}
