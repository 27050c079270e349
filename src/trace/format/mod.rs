//! The formats of files.

mod swf;
mod table;

use std::io::{self, BufRead, Cursor, Read};

use super::input;
use super::reader::Reader;
use super::trace::Source;
use super::{Options, Servers, TraceError};

/// A format of traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// The Standard Workload Format 2.2 of the Parallel Workloads Archive (Chapin et al., 1999).
    Swf,
    /// A table with a header, of which is said what stands in which column.
    Csv,
}

impl Format {
    /// All of them.
    pub const ALL: [Format; 2] = [Format::Swf, Format::Csv];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Format::Swf => "swf",
            Format::Csv => "csv",
        }
    }

    /// The format of this name.
    ///
    /// # Errors
    /// When there is none; names all.
    pub fn named(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|format| format.name() == name);
        found.ok_or_else(|| {
            let all: Vec<&str> = Self::ALL.map(Self::name).to_vec();
            format!("no format `{name}`: there are {}", all.join(", "))
        })
    }

    /// How a file is put into order.
    pub(super) fn sort(self) -> &'static str {
        match self {
            Format::Swf => ", such as with `sort -n -k 2`",
            Format::Csv => "",
        }
    }

    /// The format of a file whose first line, but for comments, is this.
    fn found(first: &[u8]) -> Option<Self> {
        let words = first
            .split(u8::is_ascii_whitespace)
            .filter(|word| !word.is_empty());
        let numbers = words
            .clone()
            .filter(|word| super::fields::number(word).is_some());
        if first.starts_with(b";") || numbers.count() >= swf::FIELDS {
            return Some(Format::Swf);
        }
        first.contains(&b',').then_some(Format::Csv)
    }
}

/// A file whose format is known.
pub(super) struct Opened {
    pub format: Format,
    pub servers: Servers,
    pub reader: Box<dyn Reader>,
}

/// How much of a file is looked at to find out its format.
const LOOK: u64 = 1 << 16;

/// Opens a file, and finds out what it is.
pub(super) fn open(source: &Source, options: &Options) -> Result<Opened, TraceError> {
    let name = source.name();
    let unreadable = |source| TraceError::Io {
        name: name.clone(),
        line: 0,
        source,
    };
    let mut start = Vec::new();
    let mut input = input::open(source).map_err(unreadable)?;
    (&mut input)
        .take(LOOK)
        .read_to_end(&mut start)
        .map_err(unreadable)?;
    let format = options.format.or_else(|| Format::found(first_line(&start)));
    let Some(format) = format else {
        return Err(TraceError::Format {
            name,
            why: unknown(first_line(&start)),
        });
    };
    let input: Box<dyn BufRead> = Box::new(io::BufReader::new(Cursor::new(start).chain(input)));
    let file = File {
        name,
        input,
        options,
    };
    match format {
        Format::Swf => swf::open(file),
        Format::Csv => table::open(file),
    }
}

/// A file that is about to be read.
pub(super) struct File<'a> {
    pub name: String,
    pub input: Box<dyn BufRead>,
    pub options: &'a Options,
}

impl File<'_> {
    /// The servers that were told.
    ///
    /// # Errors
    /// When none were.
    pub fn servers(&self) -> Result<Servers, TraceError> {
        let why = || TraceError::Request(format!("{}: {}", self.name, NO_SERVERS));
        self.options.servers.clone().ok_or_else(why)
    }
}

const NO_SERVERS: &str = "what the jobs ran on is not told: give --capacity, such as --capacity cpu=128,memory=512, \
     or --servers, such as --servers 40xcpu=96,memory=384";

/// The first line that is neither empty nor blank.
fn first_line(start: &[u8]) -> &[u8] {
    let mut lines = start.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    lines.find(|line| !line.is_empty()).unwrap_or_default()
}

fn unknown(first: &[u8]) -> String {
    if first.is_empty() {
        return "the file is empty".into();
    }
    let line = String::from_utf8_lossy(&first[..first.len().min(200)]);
    let short: String = line.chars().take(60).collect();
    format!(
        "no known format begins with `{}`: name one with --format ({})",
        short.escape_debug(),
        Format::ALL.map(Format::name).join(", ")
    )
}
