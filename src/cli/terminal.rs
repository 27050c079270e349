use std::io::{self, IsTerminal as _, Write};
use std::ops::RangeInclusive;
use std::rc::Rc;

use clap::Args;

use super::embedding::Embedding;
use crate::artifact::Changes;
use crate::document::controls_terminal;
use crate::kind::VerbResult;
use crate::report::WIDTH;

pub(super) const NEGATIVE: u8 = 1;

pub(super) const SUCCESS: u8 = 0;

pub(super) type Outcome = VerbResult<u8>;

#[derive(Args)]
pub(super) struct Common {
    /// Only print the results
    ///
    /// The summary of the synthesis, warnings and progress messages are left out
    #[arg(long, short, global = true)]
    pub quiet: bool,

    /// Accept policy files that were edited since they were created
    #[arg(long, global = true)]
    accept_changes: bool,

    #[arg(skip)]
    pub host: Host,

    /// The command that was typed, without the options that only set where the results are written.
    #[arg(skip)]
    pub command: String,
}

impl Common {
    pub(super) fn changes(&self) -> Changes {
        if self.accept_changes {
            Changes::Accepted
        } else {
            Changes::Refused
        }
    }

    pub(super) fn tell(&self, text: &str) {
        if !self.quiet {
            self.host.tell(text);
        }
    }

    pub(super) fn printed(&self, text: &str) -> Outcome {
        self.host.say(text)?;
        Ok(SUCCESS)
    }
}

#[derive(Clone, Default)]
pub(super) enum Host {
    #[default]
    Terminal,
    Program(Rc<Embedding>),
}

impl Host {
    pub(super) fn tell(&self, text: &str) {
        match self {
            Host::Terminal => drop(writeln!(anstream::stderr(), "{}", harmless(text))),
            Host::Program(program) => program.answered().notes.push(harmless(text)),
        }
    }

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

    pub(super) fn stdout_is_terminal(&self) -> bool {
        matches!(self, Host::Terminal) && io::stdout().is_terminal()
    }

    /// Returns the number of columns: that of `COLUMNS`, of the terminal, or the default.
    pub(super) fn width(&self) -> usize {
        use terminal_size::terminal_size_of;
        let Host::Terminal = self else { return WIDTH };
        let typed = std::env::var("COLUMNS").ok();
        let typed = typed.and_then(|columns| columns.parse().ok());
        let typed = typed.filter(|columns| WIDTHS.contains(columns));
        let terminal = || terminal_size_of(io::stdout()).or_else(|| terminal_size_of(io::stderr()));
        let (least, most) = WIDTHS.into_inner();
        let found = || Some(usize::from(terminal()?.0.0).clamp(least, most));
        typed.or_else(found).unwrap_or(WIDTH)
    }
}

/// The standard output for text that is read by another program. The text is not escaped.
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

/// The numbers of columns that tables can be adapted to.
const WIDTHS: RangeInclusive<usize> = 40..=400;

pub(super) fn code_if(is_negative: bool) -> u8 {
    if is_negative { NEGATIVE } else { SUCCESS }
}

/// Escapes characters that can control a terminal, except for newlines, tabs and colours.
pub(super) fn harmless(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let colour = length_of_colour(rest);
        let (shown, after) = rest.split_at(colour.unwrap_or(c.len_utf8()));
        if colour.is_some() || matches!(c, '\n' | '\t') || !controls_terminal(c) {
            out.push_str(shown)
        } else {
            out.extend(c.escape_unicode())
        }
        rest = after;
    }
    out
}

fn length_of_colour(text: &str) -> Option<usize> {
    let inner = text.strip_prefix("\u{1b}[")?;
    let end = inner.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';');
    let rest = end.strip_prefix('m')?;
    Some(text.len() - rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_control_characters_except_colours_and_newlines() {
        let harmful = "a\u{1b}]0;title\u{7}b\u{1b}[2Jc\u{202e}d\r\n\te\u{9b}31m";
        let expected = "a\\u{1b}]0;title\\u{7}b\\u{1b}[2Jc\\u{202e}d\\u{d}\n\te\\u{9b}31m";
        assert_eq!(harmless(harmful), expected);
        let coloured = "\u{1b}[1;31merror\u{1b}[0m: ρ\n";
        assert_eq!(harmless(coloured), coloured);
    }
}
