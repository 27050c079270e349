//! Helpers that run the program in the root of the repository and that change policies.

use std::fmt::{Debug, Display};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde_json::Value;
use synth::artifact::{Changes, Content};
use synth::document::WorkloadDocument as _;
use synth::multiresource::artifact::{ArtifactError, Checked};
use synth::multiresource::synthesis::SynthesisOutcome;
use synth::multiresource::workload::Workload;

pub(crate) fn in_root(path: impl AsRef<Path>) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Reads a file. A relative path starts at the root of the repository.
pub(crate) fn read_text(path: impl AsRef<Path>) -> String {
    let path = in_root(path);
    std::fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}

pub(crate) fn read_json<T: DeserializeOwned>(path: impl AsRef<Path>) -> T {
    serde_json::from_str(&read_text(path)).unwrap()
}

pub(crate) fn model_path(name: &str) -> PathBuf {
    in_root(format!("models/{name}.yaml"))
}

pub(crate) fn model(name: &str) -> Workload {
    Workload::read(&model_path(name)).unwrap().workload
}

pub(crate) fn models(kind: &str) -> Vec<PathBuf> {
    let all = std::fs::read_dir(in_root("models")).unwrap();
    let all = all.map(|entry| entry.unwrap().path());
    let all = all.filter(|path| path.extension().is_some_and(|e| e == "yaml"));
    let heading = format!("kind: {kind}\n");
    all.filter(|path| read_text(path).contains(&heading))
        .collect()
}

/// Returns the text of a conformance vector. If `SYNTH_UPDATE_VECTORS` is set, the file is written
/// first.
pub(crate) fn conformance_vector(name: &str, text: impl FnOnce() -> String) -> String {
    let path = in_root(format!("tests/conformance/{name}.json"));
    if std::env::var_os("SYNTH_UPDATE_VECTORS").is_some() {
        std::fs::write(&path, text()).unwrap();
    }
    read_text(path)
}

/// Returns the policy, or panics if the workload cannot be stabilized.
pub(crate) fn expect_policy<T: Debug>(outcome: SynthesisOutcome<T>) -> Box<T> {
    match outcome {
        SynthesisOutcome::Policy(policy) => policy,
        other => panic!("{other:?}"),
    }
}

/// Splits a line into words. Text between single quotes is one word.
pub(crate) fn words(line: &str) -> Vec<&str> {
    let parts = line.split('\'').enumerate();
    let words = parts.flat_map(|(n, part)| match n % 2 {
        0 => part.split_whitespace().collect(),
        _ => vec![part],
    });
    words.collect()
}

pub(crate) fn command(typed: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_synth"));
    command.current_dir(in_root("")).args(words(typed));
    command.env_remove("COLUMNS");
    command
}

/// Returns the `PATH` of this process with another folder before it.
pub(crate) fn path_with(folder: &Path) -> String {
    format!("{}:{}", folder.display(), std::env::var("PATH").unwrap())
}

pub(crate) fn synth(typed: &str) -> Output {
    command(typed).output().unwrap()
}

/// Runs the program with the arguments of `format!`, and asserts that it succeeds.
macro_rules! run_ok {
    ($($typed:tt)*) => { $crate::common::run_expecting_code(0, &format!($($typed)*)) };
}
pub(crate) use run_ok;

pub(crate) fn run_expecting_code(expected: i32, typed: &str) -> Output {
    let output = synth(typed);
    assert_eq!(code(&output), expected, "{typed}: {}", all_output(&output));
    output
}

/// Runs the program and asserts that it fails with a message that contains `words`.
pub(crate) fn run_err(typed: &str, words: &str) {
    let output = run_expecting_code(2, typed);
    let said = stderr(&output);
    assert!(
        said.contains(words),
        "{typed}: expected `{words}` in {said}"
    );
    assert!(!said.contains("panicked"), "{typed}: {said}");
    assert!(stdout(&output).is_empty(), "{typed}: {said}");
}

/// Asserts that each command of a table fails. The columns are the command and a part of the
/// message. In the commands, each name is replaced by the path that is given with it.
pub(crate) fn assert_errors(table: &str, paths: &[(&str, &str)]) {
    for [typed, words] in rows(table) {
        let with_paths = paths.iter();
        let typed = with_paths.fold(typed.to_owned(), |typed, (name, path)| {
            typed.replace(name, path)
        });
        run_err(&typed, words);
    }
}

/// Runs the program with this input, and asserts that it ends with this exit code.
pub(crate) fn run_with_stdin(expected: i32, typed: &str, input: &str) -> Output {
    let output = output_with_stdin(typed, input);
    assert_eq!(code(&output), expected, "{typed}: {}", all_output(&output));
    output
}

pub(crate) fn output_with_stdin(typed: &str, input: &str) -> Output {
    let mut program = command(typed);
    let program = program.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut running = program.stderr(Stdio::piped()).spawn().unwrap();
    // The program may exit before it has read all of the input.
    let _ = running.stdin.take().unwrap().write_all(input.as_bytes());
    running.wait_with_output().unwrap()
}

/// Waits until the condition is true, and panics after a minute.
pub(crate) fn wait_for(what: &str, mut is_true: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_true() {
        let is_soon = started.elapsed() < Duration::from_secs(60);
        assert!(is_soon, "no {what} after a minute");
        std::thread::sleep(Duration::from_millis(2));
    }
}

pub(crate) fn send_signal(child: &Child, name: &str) {
    let mut kill = Command::new("kill");
    let sent = kill.args([format!("-{name}"), child.id().to_string()]);
    assert!(sent.status().unwrap().success());
}

/// Interrupts the program, which must end with the exit code of an interrupted program.
pub(crate) fn interrupt(child: Child) -> Output {
    send_signal(&child, "INT");
    let output = child.wait_with_output().unwrap();
    assert_eq!(code(&output), 130, "{}", stderr(&output));
    output
}

/// Asserts that a text contains these words, where a line break counts as a space.
#[track_caller]
pub(crate) fn assert_contains(text: &str, words: &str) {
    let is_there = text.contains(words) || text.replace('\n', " ").contains(words);
    assert!(is_there, "expected `{words}` in {text}");
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

pub(crate) fn all_output(output: &Output) -> String {
    stdout(output) + &stderr(output)
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

pub(crate) fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Returns the JSON pointers of the values that are selected by the function.
pub(crate) fn pointers(document: &Value, is_selected: fn(&Value) -> bool) -> Vec<String> {
    fn add(all: &mut Vec<String>, value: &Value, here: String) {
        all.push(here.clone());
        match value {
            Value::Array(items) => {
                let items = items.iter().enumerate();
                items.for_each(|(n, item)| add(all, item, format!("{here}/{n}")));
            }
            Value::Object(fields) => {
                let fields = fields.iter();
                fields.for_each(|(key, field)| add(all, field, format!("{here}/{key}")));
            }
            _ => {}
        }
    }
    let mut all = Vec::new();
    add(&mut all, document, String::new());
    all.retain(|pointer| is_selected(document.pointer(pointer).unwrap()));
    all
}

pub(crate) fn claims(artifact: &Value) -> &[Value] {
    artifact["claims"].as_array().unwrap()
}

/// Returns the claim about one type, or about all jobs if `kind` is `None`.
pub(crate) fn claim_about<'a>(
    artifact: &'a Value,
    quantity: &str,
    kind: Option<&str>,
) -> &'a Value {
    let is_it = |c: &&Value| c["quantity"] == quantity && c["type"].as_str() == kind;
    let claim = claims(artifact).iter().find(is_it);
    claim.unwrap_or_else(|| panic!("{quantity}"))
}

pub(crate) fn claim<'a>(artifact: &'a Value, quantity: &str) -> &'a Value {
    claim_about(artifact, quantity, None)
}

pub(crate) fn claimed_value(artifact: &Value, quantity: &str) -> f64 {
    claim(artifact, quantity)["value"].as_f64().unwrap()
}

pub(crate) fn job_type(name: &str, cpus: u32, rate: impl Display, mean: impl Display) -> String {
    let times = format!("arrival_rate: {rate}, mean_size: {mean}");
    format!("{{name: {name}, demand: {{cpu: {cpus}}}, {times}}}\n")
}

/// Returns a workload with the given servers and jobs. Each job is on one line.
pub(crate) fn workload(servers: &str, jobs: &str) -> String {
    let head = format!("kind: multiresource\ntime_unit: s\n{servers}\njobs:\n");
    jobs.lines()
        .fold(head, |text, job| text + "  - " + job.trim() + "\n")
}

/// Returns the workload of section 7 of the MSR paper with other arrival rates. Each rate is given
/// with the rate that it replaces.
pub(crate) fn section7_with_rates(rates: [(&str, &str); 3]) -> String {
    let rates = rates.iter();
    rates.fold(read_text(model_path("section7")), |text, (from, to)| {
        text.replace(&format!("rate: {from}"), &format!("rate: {to}"))
    })
}

pub(crate) fn parsed_workload(servers: &str, jobs: &str) -> Workload {
    let parsed = Workload::parse(&workload(servers, jobs), "w.yaml");
    parsed.unwrap().workload
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
        run_ok!("{workload} --preemption full --family msr --work 4e6 -q --output {file}");
        file
    }

    pub(crate) fn paths<const N: usize>(&self, names: [&str; N]) -> [String; N] {
        names.map(|name| self.path_string(name))
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
        std::fs::read(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    pub(crate) fn text(&self, name: &str) -> String {
        read_text(self.path(name))
    }

    pub(crate) fn json(&self, name: &str) -> Value {
        read_json(self.path(name))
    }

    pub(crate) fn files(&self) -> Vec<String> {
        let all = std::fs::read_dir(self.0.path()).unwrap();
        let name = |entry: std::fs::DirEntry| entry.file_name().into_string().unwrap();
        let mut all: Vec<String> = all.map(|entry| name(entry.unwrap())).collect();
        all.sort();
        all
    }
}

/// Returns a generator of random integers that are less than the given limit.
pub(crate) fn random_integers(mut state: u64) -> impl FnMut(u64) -> u64 {
    move |limit| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % limit
    }
}

/// Returns a line of a log in the standard workload format. If the limit or the user is not known,
/// it is -1.
pub(crate) fn swf_line(n: u64, times: [u64; 2], processors: u64, limit: i64, user: i64) -> String {
    let [submit, size] = times;
    format!("{n} {submit} -1 {size} {processors} -1 -1 -1 {limit} -1 1 {user} -1 -1 -1 -1 -1 -1\n")
}

/// Returns the column `start` of a file that was written with `synth replay --jobs`.
pub(crate) fn start_times(file: &str) -> Vec<String> {
    let mut rows = csv::Reader::from_path(file).unwrap();
    let mut names = rows.headers().unwrap().iter();
    let start = names.position(|name| name == "start").unwrap();
    let starts = rows.records().map(|row| row.unwrap()[start].to_owned());
    starts.collect()
}
