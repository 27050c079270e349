//! The formats of files.

mod foreign;
mod nodes;
mod rows;
mod sacct;
mod swf;
mod table;

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{BufRead, Cursor, Read};

use clap::ValueEnum;
use itertools::Itertools as _;
use synth_core::document::FileKind;

use super::fields::Fault;
use super::{Account, Observed, ReadOptions, Servers, Source, Tick, TraceError, input};
pub(super) use rows::Rows;

pub use nodes::nodes;
pub use sacct::EXPORT;

/// A format of traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, ValueEnum, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TraceFormat {
    /// The Standard Workload Format 2.2 of the Parallel Workloads Archive (Chapin et al., 1999): processors, and memory
    /// in GiB. Ticks are seconds.
    Swf,
    /// Slurm's accounting, as `sacct -aXP` prints it with a header: `cpu`, `memory` in GiB, `gpu`, or any TRES by its
    /// own name. Ticks are seconds; local times are taken as they stand.
    Sacct,
    /// A table with a header, of which is said what stands in which column.
    Csv,
}

impl TraceFormat {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            TraceFormat::Swf => "swf",
            TraceFormat::Sacct => "sacct",
            TraceFormat::Csv => "csv",
        }
    }

    /// Returns what to do where a column is missing.
    pub(super) fn help(self) -> &'static str {
        match self {
            TraceFormat::Sacct => sacct::EXPORT_HELP,
            _ => "Name another format by --read format=…, or csv and the --columns",
        }
    }

    /// Returns the format of a file that begins with this line, which is neither empty nor blank.
    fn found(first: &[u8]) -> Option<Self> {
        // An empty word is no number.
        let words = first.split(u8::is_ascii_whitespace);
        let numbers = words.filter(|word| super::fields::number(word).is_some());
        if first.starts_with(b";") || numbers.count() >= rows::SWF_FIELDS {
            return Some(TraceFormat::Swf);
        }
        let has = |name: &str| {
            let mut fields = first.split(|byte| *byte == b'|').map(unquoted);
            fields.any(|field| field.eq_ignore_ascii_case(name.as_bytes()))
        };
        if has("Submit") && has("State") {
            return Some(TraceFormat::Sacct);
        }
        rows::separator(first).map(|_| TraceFormat::Csv)
    }
}

/// A line that stands for a job, before it is decided what is done with it.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::trace) struct Raw {
    pub line: u32,
    /// \[ticks\]
    pub submit: i64,
    /// When it started \[ticks\], where that is known.
    pub start: Option<i64>,
    /// How long it held its room \[ticks\]; of a censored job how long at least. It never ran where that is negative.
    pub size: i64,
    /// When it ended \[ticks\], where a line tells it: a suspended job ends later than its size after its start.
    pub end: Option<i64>,
    /// It had not ended when the file did: its size is what there is until then.
    pub is_open: bool,
    /// On how many servers it ran at once, 0 where that is not reported; its demand is that on all of them together,
    /// or on each.
    pub nodes: u32,
    pub is_each: bool,
    /// Its id and submission as a number; `None` if the format has none.
    pub id: Option<u64>,
    pub seen: Observed,
    /// \[ticks\], where one is reported.
    pub limit: Option<i64>,
    pub user: u32,
    pub class: u32,
    pub batch: u32,
    pub fate: Fate,
}

impl Raw {
    /// A job that completed, of which the line tells no more.
    fn new(line: u32, submit: i64, size: i64) -> Self {
        Raw {
            line,
            submit,
            size,
            nodes: 1,
            ..Raw::default()
        }
    }

    /// Sets the id of the job, which was submitted at this instant.
    fn of(self, id: &[u8], submit: i64) -> Self {
        let mut hasher = DefaultHasher::new();
        (id, submit).hash(&mut hasher);
        let id = (!id.is_empty()).then(|| hasher.finish());
        Raw { id, ..self }
    }

    /// Returns when it started; when it was submitted, where that is not known.
    pub(super) fn begun(&self) -> i64 {
        self.start.unwrap_or(self.submit)
    }

    /// Returns the last instant at which it is known to hold its room.
    pub(super) fn last(&self) -> i64 {
        self.begun().saturating_add(self.size.max(0))
    }

    /// Returns its rank among the rows of the same job, of which the one with the largest rank counts: that of an ended job is above
    /// that of a running one, and that of a running job above that of a waiting one.
    pub(in crate::trace) fn rank(&self) -> i64 {
        match self.fate {
            _ if self.is_open || self.seen == Observed::Censored => self.last(),
            Fate::Completed if self.size < 0 => i64::MIN,
            _ => self.last().saturating_add(1 << 61),
        }
    }

    /// Takes what starts together with it as one job, which holds its room until the last has ended.
    fn join(self, other: Raw) -> Raw {
        let is_censored = other.seen == Observed::Censored;
        let has_completed = self.fate == Fate::Completed;
        Raw {
            size: self.size.max(other.size),
            end: self.end.max(other.end),
            limit: self.limit.zip(other.limit).map(|(a, b)| a.max(b)),
            nodes: self.nodes.max(1).saturating_add(other.nodes.max(1)),
            seen: if is_censored { other.seen } else { self.seen },
            fate: if has_completed { other.fate } else { self.fate },
            ..self
        }
    }
}

/// What became of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::trace) enum Fate {
    /// It completed, as far as is known.
    #[default]
    Completed,
    /// It failed, was killed, cancelled, evicted or timed out.
    Broken,
    /// The line counts a part of it.
    Part,
    /// It needs a type of a resource, such as a model of GPU, that no server has.
    OtherType,
}

/// The row that is read, and what it is read into.
pub(in crate::trace) type Line<'a> = (&'a Rows, &'a mut [f64], &'a mut Account);

/// Reads the rows of a format. Memory does not grow with the rows, but with what runs at one time.
pub(in crate::trace) trait Reader {
    /// Reads the row: the job that it stands for, if it does; `demand` (R) is set to what that demands of the resources
    /// looked at.
    ///
    /// # Errors
    /// What is wrong with the row.
    fn read(&mut self, line: Line<'_>) -> Result<Option<Raw>, Fault>;

    /// A job that is known only at the end of the file.
    fn left(&mut self, _demand: &mut [f64], _account: &mut Account) -> Option<Raw> {
        None
    }
}

impl<F: FnMut(Line<'_>) -> Result<Option<Raw>, Fault>> Reader for F {
    fn read(&mut self, line: Line<'_>) -> Result<Option<Raw>, Fault> {
        self(line)
    }
}

fn unquoted(field: &[u8]) -> &[u8] {
    let field = field.strip_prefix(b"\xef\xbb\xbf").unwrap_or(field);
    let field = field.trim_ascii();
    match field {
        [b'"', inside @ .., b'"'] => inside,
        field => field,
    }
}

/// A file whose format is known: its tick, what its jobs ran on, its rows and how they are read.
pub(super) type Opened = (Tick, Servers, Rows, Box<dyn Reader>);

/// How much of a file is looked at to find out its format.
const LOOK: u64 = 1 << 16;

/// Opens a file, and finds out what it is.
pub(super) fn open(source: &Source, options: &ReadOptions) -> Result<Opened, TraceError> {
    let name = source.name();
    let refused = |why| TraceError::Refused(format!("{name}: {why}"));
    let (start, input) = beginning(&name, input::open(source)?)?;
    let text = String::from_utf8_lossy(&start);
    let is_auto = options.columns.is_empty();
    foreign::check(&text, false, is_auto).map_err(refused)?;
    let kind = FileKind::of(&text).filter(|kind| *kind != FileKind::Log);
    if let (None, Some(kind)) = (options.format, kind) {
        let why = format!("{}; a log of jobs is expected here", kind.words(&name));
        return Err(TraceError::Refused(why));
    }
    let first = first_line(&start);
    let mut formats = [options.format, TraceFormat::found(first)].into_iter();
    let is_unknown = formats.all(|own| matches!(own, None | Some(TraceFormat::Csv)));
    foreign::check(&text, is_unknown, is_auto).map_err(refused)?;
    let format = choose(options.format, first).map_err(refused)?;
    without_use(format, options).map_err(refused)?;
    read(format, name, (start, input), options)
}

/// Checks that all options mean something for this format.
fn without_use(format: TraceFormat, options: &ReadOptions) -> Result<(), String> {
    let own = format.name();
    let is_of_people = options.partition.is_some() || options.user.is_some();
    if is_of_people && !matches!(format, TraceFormat::Sacct | TraceFormat::Swf) {
        return Err(format!(
            "--partition and --user are for files of the formats sacct and swf, and this one is read as {own}: leave them out"
        ));
    }
    let typed = [
        ("--read amounts", options.amounts.is_some()),
        ("--columns", !options.columns.is_empty()),
        ("--read unit", !options.units.is_empty()),
    ];
    let typed = typed.into_iter().find(|(_, is_set)| *is_set);
    if let Some((option, _)) = typed.filter(|_| format != TraceFormat::Csv) {
        return Err(format!(
            "{option} is for files of the format csv, and this one is read as {own}: leave it out, or name --read format=csv"
        ));
    }
    Ok(())
}

/// Begins to read a file of this format, from its beginning and all of it.
pub(super) fn read(
    format: TraceFormat,
    name: String,
    (mut start, input): (Vec<u8>, Box<dyn BufRead>),
    options: &ReadOptions,
) -> Result<Opened, TraceError> {
    if start.len() as u64 == LOOK {
        let whole = start.iter().rposition(|byte| *byte == b'\n');
        start.truncate(whole.unwrap_or(LOOK as usize));
    }
    let file = |input| File {
        name: name.clone(),
        format,
        input,
        start: start.clone(),
        options,
    };
    let mut opened = file(input).open()?;
    if !opened.2.has_ids {
        opened.2.has_ids = identifies(file(Box::new(Cursor::new(start.clone()))).open()?)?;
    }
    if let (TraceFormat::Csv, Some(id), false) = (format, opened.2.id, opened.2.has_ids) {
        let remark = format!(
            "different jobs have equal entries in the column `{}`, which is not taken for their id",
            opened.2.header()[id]
        );
        opened.2.remarks.push(remark);
    }
    Ok(opened)
}

/// Returns whether the ids in these rows identify jobs: few ids have several submissions or many rows, and two ended
/// rows with the same id and start are identical. A name that several jobs share is not an id; and if more than a tenth of
/// the rows equal the row before them, they are the tasks of one job.
fn identifies((_, servers, mut rows, mut reader): Opened) -> Result<bool, TraceError> {
    let (mut account, mut demand) = (Account::default(), vec![0.0; servers.resources.len()]);
    let (mut names, mut ids, mut ended) = (HashSet::new(), HashSet::new(), HashMap::new());
    let (mut lines, mut tasks, mut before) = (0, 0, Vec::new());
    while rows.advance(&mut account)? {
        let Ok(Some(raw)) = reader.read((&rows, &mut demand, &mut account)) else {
            continue;
        };
        let Some(id) = raw.id else { continue };
        lines += 1;
        ids.insert(id);
        names.insert(rows.id().to_vec());
        let row = rows.line.to_vec();
        let has_ended = !raw.is_open && raw.seen != Observed::Censored && raw.size >= 0;
        let other = has_ended.then(|| ended.insert((id, raw.start), row.clone()));
        if other.flatten().is_some_and(|other| other != row) {
            return Ok(false);
        }
        tasks += usize::from(before == row);
        before = row;
    }
    let is_id = 2 * ids.len() <= 3 * names.len() && lines <= 4 * names.len();
    Ok(lines > 0 && 10 * tasks <= lines && is_id)
}

/// Returns the format that was named, unless the file is of another one for certain; else the one that is found.
fn choose(named: Option<TraceFormat>, first: &[u8]) -> Result<TraceFormat, String> {
    if first.is_empty() {
        return Err("the file is empty".into());
    }
    let found = TraceFormat::found(first);
    let differ = |a: TraceFormat, b| a != b && a != TraceFormat::Csv && b != TraceFormat::Csv;
    if let (Some(named), Some(found)) = (named, found)
        && differ(named, found)
    {
        let (first, found, named) = (short(first), found.name(), named.name());
        return Err(format!(
            "it is {found}, not {named}, by its first line `{first}`: name --read format={found}, or none"
        ));
    }
    named.or(found).ok_or_else(|| {
        let (first, all) = (short(first), TraceFormat::value_variants().iter());
        let all = all.map(|own| own.name()).format(", ");
        format!("no known format begins with `{first}`: name one by --read format=… ({all})")
    })
}

/// A file that is about to be read.
pub(super) struct File<'a> {
    pub name: String,
    pub format: TraceFormat,
    pub input: Box<dyn BufRead>,
    /// The lines at its beginning, which are read once more to find out how the others are written.
    pub start: Vec<u8>,
    pub options: &'a ReadOptions,
}

impl File<'_> {
    fn open(self) -> Result<Opened, TraceError> {
        match self.format {
            TraceFormat::Swf => swf::open(self),
            TraceFormat::Sacct => sacct::open(self),
            TraceFormat::Csv => table::open(self),
        }
    }

    /// Returns the servers of the header, and the rows below it.
    ///
    /// # Errors
    /// When none were, or the file is no table.
    fn table(self) -> Result<(Servers, Rows), TraceError> {
        let Some(servers) = self.options.servers.clone() else {
            return Err(TraceError::Refused(format!(
                "{} does not say what its jobs ran on: give --capacity, such as --capacity cpu=128,memory=512, or --servers, such as --servers 40xcpu=96,memory=384",
                self.name
            )));
        };
        Ok((servers, Rows::open(&self.name, self.format, self.input)?))
    }
}

/// Returns the beginning of a file, and all of it to be read.
fn beginning(
    name: &str,
    mut input: Box<dyn BufRead>,
) -> Result<(Vec<u8>, Box<dyn BufRead>), TraceError> {
    let mut start = Vec::new();
    let read = (&mut input).take(LOOK).read_to_end(&mut start);
    read.map_err(|why| TraceError::unreadable(name, 0, why))?;
    let all = Cursor::new(start.clone()).chain(input);
    Ok((start, Box::new(all)))
}

/// Returns the first line that is neither empty nor blank.
fn first_line(start: &[u8]) -> &[u8] {
    let mut lines = start.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    lines.find(|line| !line.is_empty()).unwrap_or_default()
}

/// Returns the beginning of a line, as it can be shown.
fn short(line: &[u8]) -> String {
    let line = String::from_utf8_lossy(&line[..line.len().min(200)]);
    let short: String = line.chars().take(60).collect();
    short.escape_debug().to_string()
}
