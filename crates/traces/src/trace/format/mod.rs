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

/// The format of a file that contains a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, ValueEnum, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TraceFormat {
    /// The Standard Workload Format 2.2 of the Parallel Workloads Archive (Chapin et al., 1999). It
    /// contains processors and the memory in GiB, and the times are in seconds
    Swf,
    /// The accounting of Slurm, as printed by `sacct -aXP` with a header. It contains `cpu`,
    /// `memory` in GiB, `gpu`, or any TRES by its own name. The times are in seconds, and local
    /// times are used as recorded
    Sacct,
    /// A table with a header, whose columns are named by options or recognized by their names
    Csv,
}

impl TraceFormat {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            TraceFormat::Swf => "swf",
            TraceFormat::Sacct => "sacct",
            TraceFormat::Csv => "csv",
        }
    }

    pub(super) fn help(self) -> &'static str {
        match self {
            TraceFormat::Sacct => sacct::EXPORT_HELP,
            _ => "Name another format with --read format=…, or csv with --columns",
        }
    }

    fn found(first: &[u8]) -> Option<Self> {
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

#[derive(Clone, Copy, Debug, Default)]
pub(in crate::trace) struct RawJob {
    pub line: u32,
    pub submit: i64,
    pub start: Option<i64>,
    /// The size \[ticks\], which is a lower bound if it is censored, or negative if it never ran.
    pub size: i64,
    /// The end \[ticks\] if it is known. If suspended, this is after its start plus its size.
    pub end: Option<i64>,
    /// Whether the job was running at the end of the file, to which its size extends.
    pub is_open: bool,
    /// The number of servers, or 0 if unknown, and whether the demand is on each of them.
    pub nodes: u32,
    pub is_each: bool,
    pub id: Option<u64>,
    pub seen: Observed,
    pub limit: Option<i64>,
    pub user: u32,
    pub class: u32,
    pub batch: u32,
    pub fate: Outcome,
}

impl RawJob {
    fn new(line: u32, submit: i64, size: i64) -> Self {
        RawJob {
            line,
            submit,
            size,
            nodes: 1,
            ..RawJob::default()
        }
    }

    fn of(self, id: &[u8], submit: i64) -> Self {
        let mut hasher = DefaultHasher::new();
        (id, submit).hash(&mut hasher);
        let id = (!id.is_empty()).then(|| hasher.finish());
        RawJob { id, ..self }
    }

    pub(super) fn begun(&self) -> i64 {
        self.start.unwrap_or(self.submit)
    }

    pub(super) fn last(&self) -> i64 {
        self.begun().saturating_add(self.size.max(0))
    }

    /// Returns a job that is waiting at the end of the trace. If it is not known that it was eligible
    /// before, or how long it may run, it counts as a job that never ran.
    pub(in crate::trace) fn waiting_until(self, end: i64) -> RawJob {
        match self.limit {
            Some(limit) if limit > 0 && end > self.submit => RawJob {
                start: Some(end),
                size: limit,
                ..self
            },
            _ => RawJob {
                seen: Observed::Whole,
                ..self
            },
        }
    }

    /// Returns the rank among the rows of the job: lowest if it waits, and highest if it has ended.
    pub(in crate::trace) fn rank(&self) -> i64 {
        match self.fate {
            _ if self.is_open || self.seen == Observed::Censored => self.last(),
            Outcome::Completed if self.size < 0 => i64::MIN,
            _ => self.last().saturating_add(1 << 61),
        }
    }

    /// Merges a component, whose resources are held until the last one ends.
    fn join(self, other: RawJob) -> RawJob {
        let is_censored = other.seen == Observed::Censored;
        let has_completed = self.fate == Outcome::Completed;
        RawJob {
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

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::trace) enum Outcome {
    #[default]
    Completed,
    Broken,
    Part,
    OtherType,
}

pub(in crate::trace) type Line<'a> = (&'a Rows, &'a mut [f64], &'a mut Account);

pub(in crate::trace) trait Reader {
    /// Reads a row, writes its demand (R), and returns its job, if any.
    fn read(&mut self, line: Line<'_>) -> Result<Option<RawJob>, Fault>;

    /// Returns the next job that is only known at the end of the file.
    fn left(&mut self, _demand: &mut [f64], _account: &mut Account) -> Option<RawJob> {
        None
    }
}

impl<F: FnMut(Line<'_>) -> Result<Option<RawJob>, Fault>> Reader for F {
    fn read(&mut self, line: Line<'_>) -> Result<Option<RawJob>, Fault> {
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

pub(super) type Opened = (Tick, Servers, Rows, Box<dyn Reader>);

const LOOK: u64 = 1 << 16;

pub(super) fn open(source: &Source, options: &ReadOptions) -> Result<Opened, TraceError> {
    let name = source.name();
    let refused = |why| TraceError::Refused(format!("{name}: {why}"));
    let mut input = input::open(source)?;
    let mut start = Vec::new();
    let filled = (&mut input).take(LOOK).read_to_end(&mut start);
    filled.map_err(|why| TraceError::unreadable(&name, 0, why))?;
    let input = Box::new(Cursor::new(start.clone()).chain(input));
    let text = String::from_utf8_lossy(&start);
    let is_auto = options.columns.is_empty();
    foreign::check(&text, false, is_auto).map_err(refused)?;
    let kind = FileKind::of(&text).filter(|kind| *kind != FileKind::Log);
    if let (None, Some(kind)) = (options.format, kind) {
        let why = format!("{}; a log of jobs is expected here", kind.describe(&name));
        return Err(TraceError::Refused(why));
    }
    let mut lines = start.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let first = lines.find(|line| !line.is_empty()).unwrap_or_default();
    let mut formats = [options.format, TraceFormat::found(first)].into_iter();
    let is_unknown = formats.all(|own| matches!(own, None | Some(TraceFormat::Csv)));
    foreign::check(&text, is_unknown, is_auto).map_err(refused)?;
    let format = choose(options.format, first).map_err(refused)?;
    without_use(format, options).map_err(refused)?;
    read(format, name, (start, input), options)
}

fn without_use(format: TraceFormat, options: &ReadOptions) -> Result<(), String> {
    let own = format.name();
    let is_of_people = !options.partitions.is_empty() || !options.users.is_empty();
    if is_of_people && !matches!(format, TraceFormat::Sacct | TraceFormat::Swf) {
        return Err(format!(
            "--partition and --user apply to files of the formats sacct and swf, but this one is read as {own}: leave them out"
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
            "{option} applies to files of the format csv, but this one is read as {own}: leave it out, or give --read format=csv"
        ));
    }
    Ok(())
}

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
            "different jobs have equal entries in the column `{}`, so it is not used as their id",
            opened.2.header()[id]
        );
        opened.2.remarks.push(remark);
    }
    Ok(opened)
}

/// Returns `true` if an id identifies a job, and not a name or a task: few ids have several
/// submissions or many rows, ended rows with the same id and start are identical, and at most a
/// tenth of the rows equal the row before.
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
            "it is {found}, not {named}, judging by its first line `{first}`: give --read format={found}, or none"
        ));
    }
    named.or(found).ok_or_else(|| {
        let (first, all) = (short(first), TraceFormat::value_variants().iter());
        let all = all.map(|own| own.name()).format(", ");
        format!("no known format begins with `{first}`: name one with --read format=… ({all})")
    })
}

pub(super) struct File<'a> {
    pub name: String,
    pub format: TraceFormat,
    pub input: Box<dyn BufRead>,
    /// The beginning, which is read twice to detect notations.
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

    fn table(self) -> Result<(Servers, Rows), TraceError> {
        let Some(servers) = self.options.servers.clone() else {
            return Err(TraceError::Refused(format!(
                "{} does not list the servers of its jobs: give --capacity, such as --capacity cpu=128,memory=512, or --servers, such as --servers 40xcpu=96,memory=384",
                self.name
            )));
        };
        Ok((servers, Rows::open(&self.name, self.format, self.input)?))
    }
}

fn short(line: &[u8]) -> String {
    let line = String::from_utf8_lossy(&line[..line.len().min(200)]);
    let short: String = line.chars().take(60).collect();
    short.escape_debug().to_string()
}
