//! What people read, on a terminal or not: no control character of a name, of a path or of a quoted text reaches it as
//! it is.

use std::io::{self, Write as _};

use synth::document::steers;
use terminal_size::{Width, terminal_size_of};

/// Prints to standard error.
pub fn tell_always(text: &str) {
    let text = fitted(&harmless(text), terminal_size_of(io::stderr()));
    // A closed standard error is no reason to fail.
    let _ = writeln!(anstream::stderr(), "{text}");
}

/// Prints to standard output.
pub fn say(text: &str) -> io::Result<()> {
    let text = fitted(&harmless(text), terminal_size_of(io::stdout()));
    let mut stdout = anstream::stdout();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

/// The text with lines that are wider than the terminal broken between words, as far in as they begin; as it is
/// where there is none.
fn fitted<H>(text: &str, terminal: Option<(Width, H)>) -> String {
    let Some((Width(columns), _)) = terminal else {
        return text.to_owned();
    };
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        if shown(line) <= usize::from(columns) {
            out.push_str(line)
        } else {
            break_line(line, usize::from(columns), &mut out)
        }
    }
    out
}

fn break_line(line: &str, columns: usize, out: &mut String) {
    let indent = line.len() - line.trim_start_matches(' ').len();
    let (margin, mut length) = (" ".repeat(indent), 0);
    for word in line[indent..].split_inclusive(' ') {
        let more = shown(word.trim_end());
        if length == 0 || length + more > columns {
            if length > 0 {
                out.truncate(out.trim_end_matches(' ').len());
                out.push('\n');
            }
            out.push_str(&margin);
            length = indent;
        }
        out.push_str(word);
        length += shown(word);
    }
}

/// Characters that are seen.
fn shown(text: &str) -> usize {
    let (mut count, mut rest) = (0, text);
    while let Some(c) = rest.chars().next() {
        let code = colour(rest);
        count += usize::from(code == 0 && c != '\n');
        rest = &rest[code.max(c.len_utf8())..];
    }
    count
}

/// The text with characters that [steer](steers) a terminal as `\u{1b}`; but for ends of lines, tabs, and colours.
pub fn harmless(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let (shown, after) = rest.split_at(match colour(rest) {
            0 => c.len_utf8(),
            length => length,
        });
        let passes = shown.len() > c.len_utf8() || matches!(c, '\n' | '\t') || !steers(c);
        if passes {
            out.push_str(shown)
        } else {
            out.extend(c.escape_unicode())
        }
        rest = after;
    }
    out
}

/// The length of the sequence at the beginning that changes the colour; 0 where there is none.
fn colour(text: &str) -> usize {
    let Some(inner) = text.strip_prefix("\u{1b}[") else {
        return 0;
    };
    let end = inner.find(|c: char| !(c.is_ascii_digit() || c == ';'));
    match end {
        Some(end) if inner[end..].starts_with('m') => 3 + end,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_wider_than_the_terminal_are_broken_between_words() {
        let text = "short\n  three \u{1b}[1mwords here\u{1b}[0m\nunbreakable-word end\n";
        let expected = "short\n  three\n  \u{1b}[1mwords\n  here\u{1b}[0m\nunbreakable-word\nend\n";
        assert_eq!(fitted(text, Some((Width(10), ()))), expected);
        assert_eq!(fitted::<()>(text, None), text);
    }

    #[test]
    fn only_colours_and_ends_of_lines_pass() {
        let harmful = "a\u{1b}]0;title\u{7}b\u{1b}[2Jc\u{202e}d\r\n\te\u{9b}31m";
        let expected = "a\\u{1b}]0;title\\u{7}b\\u{1b}[2Jc\\u{202e}d\\u{d}\n\te\\u{9b}31m";
        assert_eq!(harmless(harmful), expected);
        let coloured = "\u{1b}[1;31merror\u{1b}[0m: ρ\n";
        assert_eq!(harmless(coloured), coloured);
    }
}
