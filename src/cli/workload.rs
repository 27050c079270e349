//! Workloads: the kind that is typed about, before the arguments are parsed, since each has its own; and their documents.

use std::error::Error;
use std::ffi::OsString;
use std::io::Read as _;
use std::path::Path;

use crate::artifact::Content as _;
use crate::document::{called, is_standard_input, kept, read_file, text_of};
use crate::kind::{Kind, WorkloadOf};
use crate::kinds;

use super::terminal::Common;

/// The heading of a document stands in its first bytes.
const HEADING: u64 = 1 << 20;

/// Options of all verbs, which have no value.
pub(super) const ALONE: [&str; 3] = ["--quiet", "-q", "--accept-changes"];

/// Returns the kind that the first document among the arguments names; none where there is none.
pub(super) fn kind_of(typed: &[OsString]) -> Option<String> {
    let mut before = String::new();
    typed.iter().find_map(|argument| {
        let text = argument.to_str()?;
        let option = text.split_once('=').filter(|_| text.starts_with("--"));
        let (option, file) = option.unwrap_or((&before, text));
        let is_read = !is_standard_input(Path::new(file)) || reads(option);
        let kind = is_read.then(|| named_in(Path::new(file))).flatten();
        before = text.to_owned();
        kind
    })
}

/// Returns whether `-` behind this word is a document that is read: results go there, too.
fn reads(before: &str) -> bool {
    !before.starts_with('-') || before == "--workload" || ALONE.contains(&before)
}

/// Returns the value of the key `kind` at the top of a document, in YAML or JSON. A device or a pipe is not
/// read, but for standard input, which is kept: what is in it can be had once only.
fn named_in(file: &Path) -> Option<String> {
    let text = if is_standard_input(file) || kept(file).is_some() {
        text_of(file).ok()?
    } else {
        if !file.metadata().ok()?.is_file() {
            return None;
        }
        let (mut bytes, opened) = (Vec::new(), std::fs::File::open(file).ok()?);
        opened.take(HEADING).read_to_end(&mut bytes).ok()?;
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let line = |line: &str| {
        let line = line.strip_prefix("  ").unwrap_or(line);
        let value = line
            .strip_prefix("kind:")
            .or(line.strip_prefix("\"kind\":"))?;
        let value = value.split('#').next()?.trim().trim_end_matches(',');
        Some(value.trim_matches(['"', '\'']).to_string())
    };
    text.lines().find_map(line).or_else(|| in_a_line(&text))
}

/// Returns the value of the first key `"kind"` of a document in braces that has no line of its own for it.
fn in_a_line(text: &str) -> Option<String> {
    let inside = text.trim_start().strip_prefix('{')?;
    let (_, rest) = inside.split_once("\"kind\"")?;
    let value = rest.trim_start().strip_prefix(':')?.trim_start();
    let value = value.strip_prefix('"')?;
    value.split_once('"').map(|(kind, _)| kind.to_owned())
}

/// Reads a workload; warnings go to standard error.
pub(super) fn read_workload<K: Kind>(
    file: &Path,
    common: &Common,
) -> Result<WorkloadOf<K>, Box<dyn Error>> {
    if let Some(kind) = named_in(file) {
        is_of_kind::<K>(file, &kind)?;
    }
    let parsed = read_file(file, K::Content::parse)?;
    parsed.warnings.iter().for_each(|text| common.tell(text));
    Ok(parsed.workload)
}

fn is_of_kind<K: Kind>(file: &Path, kind: &str) -> Result<(), String> {
    let file = called(file);
    match kinds::named(kind) {
        // One that is misspelt is among the faults of the document.
        Some(near) if near == K::Content::WORKLOAD => Ok(()),
        Some(_) => Err(format!(
            "{file} is a workload of the kind `{kind}`, and here one of the kind `{}` is wanted: a policy goes with workloads of its own kind",
            K::Content::WORKLOAD
        )),
        None => Err(format!(
            "{file}: unknown kind of workload `{kind}`; the kinds are {}",
            kinds::WORKLOADS.join(", ")
        )),
    }
}
