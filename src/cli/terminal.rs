//! What every subcommand takes and answers, and what people read, on a terminal or not: no control character of a name,
//! of a path or of a quoted text reaches it as it is.

use std::error::Error;
use std::io::{self, IsTerminal as _, Write};
use std::rc::Rc;

use clap::Args;

use super::embedding::Embedding;
use crate::artifact::Changes;
use crate::document::steers;
use crate::report::WIDTH;

/// A sound negative answer: nothing can stabilize it, the artifact is refused, a claim is
/// refuted.
pub(super) const NEGATIVE: u8 = 1;

pub(super) const SUCCESS: u8 = 0;

/// The exit code, or why there is no answer.
pub(super) type Outcome = Result<u8, Box<dyn Error>>;

/// What every subcommand takes.
#[derive(Args)]
pub(super) struct Common {
    /// Print results only: no summary of a synthesis, no warnings, no progress
    #[arg(long, short, global = true)]
    pub quiet: bool,

    /// Take policy files that were changed after they were written as they are; without it they are
    /// refused
    #[arg(long, global = true)]
    accept_changes: bool,

    /// Who runs the command.
    #[arg(skip)]
    pub host: Host,

    /// The command as it was typed, but for where results go.
    #[arg(skip)]
    pub command: String,
}

impl Common {
    /// Returns what becomes of a policy file that was changed after it was written.
    pub(super) fn changes(&self) -> Changes {
        if self.accept_changes {
            Changes::Accepted
        } else {
            Changes::Refused
        }
    }

    /// Prints to standard error, unless --quiet was given.
    pub(super) fn tell(&self, text: &str) {
        if !self.quiet {
            self.host.tell(text);
        }
    }

    /// Prints a result.
    pub(super) fn printed(&self, text: &str) -> Outcome {
        self.host.say(text)?;
        Ok(SUCCESS)
    }
}

/// Who runs a command, and gets what it says.
#[derive(Clone, Default)]
pub(super) enum Host {
    /// A person or a shell: standard output, standard error, and signals.
    #[default]
    Terminal,
    /// A program that has this library within.
    Program(Rc<Embedding>),
}

impl Host {
    /// Prints to standard error.
    pub(super) fn tell(&self, text: &str) {
        match self {
            // A closed standard error is no reason to fail.
            Host::Terminal => drop(writeln!(anstream::stderr(), "{}", harmless(text))),
            Host::Program(program) => program.answered().notes.push(harmless(text)),
        }
    }

    /// Prints to standard output.
    pub(super) fn say(&self, text: &str) -> io::Result<()> {
        match self {
            Host::Terminal => {
                let mut stdout = anstream::stdout();
                stdout.write_all(harmless(text).as_bytes())?;
                stdout.flush()
            }
            Host::Program(program) => {
                program.answered().printed += &harmless(text);
                Ok(())
            }
        }
    }

    /// Returns whether standard output is a terminal.
    pub(super) fn is_read_by_a_person(&self) -> bool {
        matches!(self, Host::Terminal) && io::stdout().is_terminal()
    }

    /// Width of tables: that of the terminal where it is narrower than [`WIDTH`].
    pub(super) fn width(&self) -> usize {
        use terminal_size::{Width, terminal_size_of};
        let found = match self {
            Host::Terminal => {
                terminal_size_of(io::stdout()).or_else(|| terminal_size_of(io::stderr()))
            }
            Host::Program(_) => None,
        };
        found.map_or(WIDTH, |(Width(columns), _)| {
            usize::from(columns).clamp(NARROWEST, WIDTH)
        })
    }
}

/// Standard output, for text that other programs read: it is written as it is.
impl Write for Host {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Host::Terminal => io::stdout().write(bytes),
            Host::Program(program) => {
                program.answered().printed += &String::from_utf8_lossy(bytes);
                Ok(bytes.len())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Host::Terminal => io::stdout().flush(),
            Host::Program(_) => Ok(()),
        }
    }
}

/// In narrower terminals lines are broken by the terminal.
const NARROWEST: usize = 60;

/// Returns the exit code of an answer that is negative, or not.
pub(super) fn code_if(is_negative: bool) -> u8 {
    if is_negative { NEGATIVE } else { SUCCESS }
}

/// Returns the text with characters that [steer](steers) a terminal as `\u{1b}`; but for ends of lines, tabs, and colours.
pub(super) fn harmless(text: &str) -> String {
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
