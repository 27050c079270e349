//! What every subcommand takes and answers, and what people read, on a terminal or not: no control character of a name,
//! of a path or of a quoted text reaches it as it is.

use std::error::Error;
use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::Args;
use synth::artifact::Changes;
use synth::document::steers;
use synth::report::WIDTH;

/// A sound negative answer: nothing can stabilize it, the artifact is refused, a claim is
/// refuted.
pub const NEGATIVE: u8 = 1;

pub type Outcome = Result<ExitCode, Box<dyn Error>>;

/// What every subcommand takes.
#[derive(Args)]
pub struct Common {
    /// Print results only: no summary of a synthesis, no warnings, no progress
    #[arg(long, short, global = true)]
    pub quiet: bool,

    /// Take policy files that were changed after they were written as they are; without it they are
    /// refused
    #[arg(long, global = true)]
    accept_changes: bool,
}

impl Common {
    /// Returns what becomes of a policy file that was changed after it was written.
    pub fn changes(&self) -> Changes {
        if self.accept_changes {
            Changes::Accepted
        } else {
            Changes::Refused
        }
    }
}

/// Prints to standard error.
pub fn tell_always(text: &str) {
    // A closed standard error is no reason to fail.
    let _ = writeln!(anstream::stderr(), "{}", harmless(text));
}

/// Prints to standard output.
pub fn say(text: &str) -> io::Result<()> {
    let mut stdout = anstream::stdout();
    stdout.write_all(harmless(text).as_bytes())?;
    stdout.flush()
}

/// Prints to standard error, unless --quiet was given.
pub fn tell(common: &Common, text: &str) {
    if !common.quiet {
        tell_always(text);
    }
}

/// Width of tables: that of the terminal where it is narrower than [`WIDTH`].
pub fn width() -> usize {
    use terminal_size::{Width, terminal_size_of};
    let found = terminal_size_of(std::io::stdout()).or_else(|| terminal_size_of(std::io::stderr()));
    found.map_or(WIDTH, |(Width(columns), _)| {
        usize::from(columns).clamp(NARROWEST, WIDTH)
    })
}

/// In narrower terminals lines are broken by the terminal.
const NARROWEST: usize = 60;

/// Prints a result.
pub fn printed(text: &str) -> Outcome {
    say(text)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the exit code of an answer that is negative, or not.
pub fn code_if(is_negative: bool) -> ExitCode {
    ExitCode::from(if is_negative { NEGATIVE } else { 0 })
}

/// Returns the text with characters that [steer](steers) a terminal as `\u{1b}`; but for ends of lines, tabs, and colours.
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

/// Returns the length of the sequence at the beginning that changes the colour; 0 where there is none.
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
    fn only_colours_and_ends_of_lines_pass() {
        let harmful = "a\u{1b}]0;title\u{7}b\u{1b}[2Jc\u{202e}d\r\n\te\u{9b}31m";
        let expected = "a\\u{1b}]0;title\\u{7}b\\u{1b}[2Jc\\u{202e}d\\u{d}\n\te\\u{9b}31m";
        assert_eq!(harmless(harmful), expected);
        let coloured = "\u{1b}[1;31merror\u{1b}[0m: ρ\n";
        assert_eq!(harmless(coloured), coloured);
    }
}
