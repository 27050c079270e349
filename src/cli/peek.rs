//! The kind of workload that is typed about, before the arguments are parsed: each kind has its own.

use std::ffi::OsString;
use std::io::Read as _;
use std::path::Path;

/// The heading of a document stands in its first bytes.
const HEADING: u64 = 1 << 20;

/// The kind that the first document among the arguments names; none where there is none.
pub fn kind_of(arguments: impl Iterator<Item = OsString>) -> Option<String> {
    arguments.into_iter().find_map(|argument| {
        let text = argument.to_str()?;
        let value = text.split_once('=').filter(|_| text.starts_with("--"));
        named_in(Path::new(value.map_or(text, |(_, file)| file)))
    })
}

/// The value of the key `kind` at the top of a document, in YAML or JSON. A device or a pipe is not
/// read: what is in it can be had once only.
pub fn named_in(file: &Path) -> Option<String> {
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    let opened = std::fs::File::open(file).ok()?;
    opened.take(HEADING).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
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

/// The value of the first key `"kind"` of a document in braces that has no line of its own for it.
fn in_a_line(text: &str) -> Option<String> {
    if !text.trim_start().starts_with('{') {
        return None;
    }
    let (_, rest) = text.split_once("\"kind\"")?;
    let value = rest.trim_start().strip_prefix(':')?.trim_start();
    let value = value.strip_prefix('"')?;
    value.split_once('"').map(|(kind, _)| kind.to_owned())
}
