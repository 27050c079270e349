use std::ffi::OsString;
use std::io::Read as _;
use std::path::Path;

use crate::artifact::Content as _;
use crate::document::{display_name, is_standard_input, kept, read_file, text_of};
use crate::kind::{Kind, VerbResult, WorkloadOf};
use crate::kinds;

use super::terminal::Common;

const BYTES_TO_SEARCH: u64 = 1 << 20;

pub(super) const ALONE: [&str; 3] = ["--quiet", "-q", "--accept-changes"];

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

/// Returns `true` if `-` is an input after this argument. If it is not, it is an output.
fn reads(before: &str) -> bool {
    !before.starts_with('-') || before == "--workload" || ALONE.contains(&before)
}

/// Returns the value of the top-level key `kind` of a YAML or JSON document. Devices and pipes are
/// not read (except for the standard input), because their contents can only be read once.
fn named_in(file: &Path) -> Option<String> {
    let text = if is_standard_input(file) || kept(file).is_some() {
        text_of(file).ok()?
    } else {
        if !file.metadata().ok()?.is_file() {
            return None;
        }
        let (mut bytes, opened) = (Vec::new(), std::fs::File::open(file).ok()?);
        opened.take(BYTES_TO_SEARCH).read_to_end(&mut bytes).ok()?;
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let line = |line: &str| {
        let line = line.strip_prefix("  ").unwrap_or(line);
        let quoted = line.strip_prefix("\"kind\":");
        let value = line.strip_prefix("kind:").or(quoted)?;
        let value = value.split('#').next()?.trim().trim_end_matches(',');
        Some(value.trim_matches(['"', '\'']).to_string())
    };
    text.lines().find_map(line).or_else(|| in_a_line(&text))
}

/// Returns the value of the first key `"kind"` of a JSON document in which no line begins with it.
fn in_a_line(text: &str) -> Option<String> {
    let inside = text.trim_start().strip_prefix('{')?;
    let (_, rest) = inside.split_once("\"kind\"")?;
    let value = rest.trim_start().strip_prefix(':')?.trim_start();
    let value = value.strip_prefix('"')?;
    value.split_once('"').map(|(kind, _)| kind.to_owned())
}

pub(super) fn read_workload<K: Kind>(file: &Path, common: &Common) -> VerbResult<WorkloadOf<K>> {
    if let Some(kind) = named_in(file) {
        is_of_kind::<K>(file, &kind)?;
    }
    let parsed = read_file(file, K::Content::parse)?;
    parsed.warnings.iter().for_each(|text| common.tell(text));
    Ok(parsed.workload)
}

fn is_of_kind<K: Kind>(file: &Path, kind: &str) -> Result<(), String> {
    let file = display_name(file);
    match kinds::named(kind) {
        // If the kind is misspelled, this is reported with the other errors in the document.
        Some(near) if near == K::Content::WORKLOAD => Ok(()),
        Some(_) => Err(format!(
            "{file} is a workload of kind `{kind}`, but `{}` is expected here, because a policy can only be used for workloads of the same kind",
            K::Content::WORKLOAD
        )),
        None => Err(format!(
            "{file} has the unknown kind of workload `{kind}`; it must be one of the following: {}",
            kinds::WORKLOADS.join(", ")
        )),
    }
}
