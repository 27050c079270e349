//! The formats of files.

mod rows;
mod sacct;
mod swf;
mod table;

use std::io::{BufRead, Cursor, Read};

use clap::ValueEnum;

use super::input;
use super::jobs::Source;
use super::{Account, Options, Servers, Tick, TraceError};

/// A format of traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// The Standard Workload Format 2.2 of the Parallel Workloads Archive (Chapin et al., 1999): processors, and memory
    /// in GiB. Ticks are seconds.
    Swf,
    /// Slurm's accounting, as `sacct -aXP` prints it with a header: `cpu`, `memory` in GiB, `gpu`, or any TRES by its
    /// own name. Ticks are seconds; local times are taken as they stand.
    Sacct,
    /// A table with a header, of which is said what stands in which column.
    Csv,
}

impl Format {
    /// Returns its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Format::Swf => "swf",
            Format::Sacct => "sacct",
            Format::Csv => "csv",
        }
    }

    /// Returns what to do where lines are too far out of order.
    pub(super) fn sort(self) -> &'static str {
        match self {
            Format::Swf => "sort the file by the time of submission, such as with `sort -n -k 2`",
            _ => "sort the file by the time of submission",
        }
    }

    /// Returns the format of a file that begins with this line, which is neither empty nor blank.
    fn found(first: &[u8]) -> Option<Self> {
        let words = first
            .split(u8::is_ascii_whitespace)
            .filter(|word| !word.is_empty());
        let numbers = words.filter(|word| super::fields::number(word).is_some());
        if first.starts_with(b";") || numbers.count() >= swf::FIELDS {
            return Some(Format::Swf);
        }
        let has = |name: &[u8]| {
            let mut fields = first.split(|byte| *byte == b'|').map(unquoted);
            fields.any(|field| field.eq_ignore_ascii_case(name))
        };
        if has(b"Submit") && has(b"State") {
            return Some(Format::Sacct);
        }
        first.contains(&b',').then_some(Format::Csv)
    }
}

/// A line that stands for a job, before it is decided what is done with it.
#[derive(Clone, Copy, Debug)]
pub(in crate::trace) struct Raw {
    pub line: u32,
    /// \[ticks\]
    pub submit: i64,
    /// How long it held its room \[ticks\]; it never ran where that is negative.
    pub size: i64,
    /// Whether it still ran at the end.
    pub is_censored: bool,
    /// \[ticks\], where one is told.
    pub limit: Option<i64>,
    pub user: u32,
    pub batch: u32,
    pub fate: Fate,
}

/// What became of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::trace) enum Fate {
    /// It completed, as far as is known.
    Completed,
    /// It failed, was killed, cancelled or timed out.
    Broken,
    /// The line counts a part of it.
    Part,
}

/// A format, read line by line. Memory does not grow with the lines.
pub(in crate::trace) trait Reader {
    /// Returns the resolution of its times.
    fn tick(&self) -> Tick;

    /// Reads the next line that stands for a job; `demand` (R) is set to what it demands of the resources looked at.
    /// Faulty lines, and those that are no jobs, are noted and passed over. `None` at the end.
    ///
    /// # Errors
    /// When the file cannot be read further.
    fn next(
        &mut self,
        demand: &mut [f64],
        account: &mut Account,
    ) -> Result<Option<Raw>, TraceError>;
}

fn unquoted(field: &[u8]) -> &[u8] {
    let field = field.strip_prefix(b"\xef\xbb\xbf").unwrap_or(field);
    let field = field.trim_ascii();
    let inside = field
        .strip_prefix(b"\"")
        .and_then(|field| field.strip_suffix(b"\""));
    inside.unwrap_or(field)
}

/// What the jobs of a file ran on, and what reads them.
type Begun = (Servers, Box<dyn Reader>);

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
    let unreadable = |why| TraceError::unreadable(&name, 0, &why);
    let mut start = Vec::new();
    let mut input = input::open(source).map_err(unreadable)?;
    (&mut input)
        .take(LOOK)
        .read_to_end(&mut start)
        .map_err(unreadable)?;
    let refused = |why| TraceError(format!("{name}: {why}"));
    let format = choose(options.format, first_line(&start)).map_err(refused)?;
    if let Some(why) = without_use(format, options) {
        return Err(refused(why));
    }
    let input: Box<dyn BufRead> = Box::new(Cursor::new(start).chain(input));
    read(format, name, input, options)
}

/// Returns what was asked for and says nothing to this format, if anything.
fn without_use(format: Format, options: &Options) -> Option<String> {
    let given = [("--columns", &options.columns), ("--unit", &options.units)];
    let (option, _) = given.into_iter().find(|(_, pairs)| !pairs.is_empty())?;
    if format == Format::Csv {
        return None;
    }
    Some(format!(
        "{option} is for files of the format csv, and this one is read as {}: leave it out, or name --format csv",
        format.name()
    ))
}

/// Begins to read a file of this format.
pub(super) fn read(
    format: Format,
    name: String,
    input: Box<dyn BufRead>,
    options: &Options,
) -> Result<Opened, TraceError> {
    let file = File {
        name,
        input,
        options,
    };
    let (servers, reader) = match format {
        Format::Swf => swf::open(file),
        Format::Sacct => sacct::open(file),
        Format::Csv => table::open(file),
    }?;
    Ok(Opened {
        format,
        servers,
        reader,
    })
}

/// Returns the format that was named, unless the file is of another one for certain; else the one that is found.
fn choose(named: Option<Format>, first: &[u8]) -> Result<Format, String> {
    match (named, Format::found(first)) {
        _ if first.is_empty() => Err("the file is empty".into()),
        (None, None) => Err(unknown(first)),
        (Some(named), Some(found))
            if named != found && named != Format::Csv && found != Format::Csv =>
        {
            Err(format!(
                "it is {found}, not {named}, by its first line `{}`: name --format {found}, or none",
                short(first),
                found = found.name(),
                named = named.name(),
            ))
        }
        (Some(format), _) | (None, Some(format)) => Ok(format),
    }
}

/// A file that is about to be read.
pub(super) struct File<'a> {
    pub name: String,
    pub input: Box<dyn BufRead>,
    pub options: &'a Options,
}

impl File<'_> {
    /// Returns the servers that were told.
    ///
    /// # Errors
    /// When none were.
    pub fn servers(&self) -> Result<Servers, TraceError> {
        let why = || {
            TraceError(format!(
                "{}: what its jobs ran on is not told: give --capacity, such as --capacity cpu=128,memory=512, or --servers, such as --servers 40xcpu=96,memory=384",
                self.name
            ))
        };
        self.options.servers.clone().ok_or_else(why)
    }
}

/// Returns the first line that is neither empty nor blank.
fn first_line(start: &[u8]) -> &[u8] {
    let mut lines = start.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    lines.find(|line| !line.is_empty()).unwrap_or_default()
}

fn unknown(first: &[u8]) -> String {
    let all: Vec<&str> = Format::value_variants()
        .iter()
        .map(|format| format.name())
        .collect();
    format!(
        "no known format begins with `{}`: name one with --format ({})",
        short(first),
        all.join(", ")
    )
}

/// Returns the beginning of a line, as it can be shown.
fn short(line: &[u8]) -> String {
    let line = String::from_utf8_lossy(&line[..line.len().min(200)]);
    let short: String = line.chars().take(60).collect();
    short.escape_debug().to_string()
}
