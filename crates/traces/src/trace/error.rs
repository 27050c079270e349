use std::io;

use synth_core::document::named;

/// The reason why a trace cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The file cannot be read completely.
    #[error("cannot read {name}{}: {source}{}", after(*.line), help(.source))]
    Io {
        /// The name of the file.
        name: String,
        /// The last line read; 0 if none.
        line: u32,
        /// The underlying error.
        source: io::Error,
    },
    /// The format or an option is not valid, too many lines have faults, or no job can be used.
    #[error("{0}")]
    Refused(String),
}

impl TraceError {
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
        io::ErrorKind::UnexpectedEof => ": it is truncated; download it again",
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
            ": it is damaged; download it again"
        }
        _ => "",
    }
}
