//! Why a trace cannot be read.

use std::io;

use synth_core::document::named;

/// Why a trace cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The file cannot be read, or not to its end.
    #[error("cannot read {name}{}: {source}{}", after(*.line), help(.source))]
    Io {
        /// The file.
        name: String,
        /// The last line that was read; 0 where none was.
        line: u32,
        /// Why.
        source: io::Error,
    },
    /// It has another format, or too many of its lines have, or the options do not go with it, or no job takes part.
    #[error("{0}")]
    Refused(String),
}

impl TraceError {
    /// Returns the file of this name cannot be read beyond this line.
    pub(super) fn unreadable(name: &str, line: u32, source: io::Error) -> Self {
        let (name, source) = (name.into(), named(source));
        TraceError::Io { name, line, source }
    }
}

fn after(line: u32) -> String {
    match line {
        0 => String::new(),
        line => format!(" after line {line}"),
    }
}

fn help(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::UnexpectedEof => ": it is cut off; fetch it again",
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
            ": it is damaged; fetch it again"
        }
        _ => "",
    }
}
