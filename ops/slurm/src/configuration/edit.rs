//! This module changes values in the text of slurm.conf, and nothing else.

use super::slurm_conf::{continued, without_comment};
use super::text::pair;

/// Returns the number of lines of the first line including its continuations.
pub(crate) fn lines_of_first(lines: &[&str]) -> usize {
    let is_continued = |line: &&&str| continued(without_comment(line)).is_some();
    let count = lines.iter().take_while(is_continued).count() + 1;
    count.min(lines.len())
}

/// Returns a line, which may be continued, with a new value for the last pair that has this key.
pub(crate) fn with_value(line: &str, key: &str, value: &str) -> Option<String> {
    let (text, places) = unescaped(line);
    let mut rest = text.trim_start();
    let mut found = None;
    while let Some((own, range, behind)) = pair(rest) {
        let start = text.len() - rest.len();
        if own.eq_ignore_ascii_case(key) {
            found = Some(start + range.start..start + range.end);
        }
        rest = behind.trim_start();
    }
    let range = found?;
    // A value that is not empty is between two bytes of the line, which are kept.
    let start = places[range.start - 1] + 1;
    let end = places[range.end - 1] + 1;
    Some([&line[..start], value, &line[end..]].concat())
}

/// Returns a line as it is read by Slurm, and the place of each of its bytes.
fn unescaped(line: &str) -> (String, Vec<usize>) {
    let (mut text, mut places, mut start) = (String::new(), Vec::new(), 0);
    for part in line.split_inclusive('\n') {
        let own = without_comment(part.trim_end_matches(['\n', '\r']));
        let own = &own[..continued(own).unwrap_or(own.len())];
        let mut chars = own.char_indices();
        while let Some((mut at, mut char)) = chars.next() {
            if char == '\\' {
                let Some(next) = chars.next() else { break };
                (at, char) = next;
            }
            text.push(char);
            places.extend((0..char.len_utf8()).map(|byte| start + at + byte));
        }
        start += part.len();
    }
    (text, places)
}
