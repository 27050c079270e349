//! A table with a header: of its columns is said what stands there, or they have names that say it.

use std::io::Cursor;

use super::{File, Format, Line, Opened, Raw, Reader, Rows};
use crate::trace::account::name;
use crate::trace::fields::{Fault, clock_ticks, number, ticks};
use crate::trace::{Account, Options, Seen, Tick, TraceError};
use synth_core::document::suggest;
use synth_core::number::{clock, instant, seconds_in};

/// What may be taken beside resources, each with the names that its column may have where none is said. (`nodes` may as
/// well be the resource that is meant.)
const ROLES: [(&str, &str); 9] = [
    (
        "time",
        "time,submit,submitted,submit_time,arrival,arrival_time",
    ),
    ("start", "start,started,start_time"),
    ("end", "end,ended,end_time,stop,finish"),
    ("size", "size,runtime,run_time,duration,elapsed"),
    ("limit", "limit,time_limit,timelimit,walltime"),
    ("nodes", ""),
    ("user", "user"),
    ("batch", "batch"),
    ("censored", "censored"),
];
/// Ticks from the coarsest to the finest.
const TICKS: [Tick; 3] = [Tick::Second, Tick::Millisecond, Tick::Microsecond];

/// A column of times, and its unit \[s\].
type Times = (usize, f64);

/// The columns that are looked at, from 0.
struct Columns {
    per_second: f64,
    time: Times,
    start: Option<Times>,
    /// How long a job held its room, or when it ended.
    held: Times,
    has_end: bool,
    limit: Option<Times>,
    nodes: Option<usize>,
    user: Option<usize>,
    batch: Option<usize>,
    censored: Option<usize>,
    /// By resource.
    amounts: Vec<usize>,
}

pub(super) fn open(mut file: File<'_>) -> Result<Opened, TraceError> {
    let (options, start) = (file.options, file.beginning()?);
    let (servers, mut rows) = file.table()?;
    let is_role = |what: &String| ROLES.iter().any(|(role, _)| role == what);
    for (what, _) in &options.columns {
        if !is_role(what) && !servers.resources.contains(what) {
            return Err(TraceError::Refused(format!(
                "--columns {what}=…: that is neither a resource of the capacity ({}) nor one of {}",
                servers.resources.join(", "),
                ROLES.map(|(role, _)| role).join(", ")
            )));
        }
    }
    let mut found = Found {
        options,
        rows: &rows,
        by_name: Vec::new(),
    };
    let time = found.times("time")?.ok_or_else(|| found.missing("time"))?;
    let start_of = found.times("start")?;
    // A size that is written is taken before an end, unless `--columns` names it.
    let size = if found.named("end").is_some() {
        None
    } else {
        found.times("size")?
    };
    let end = if size.is_some() {
        None
    } else {
        found.times("end")?
    };
    let mut columns = Columns {
        per_second: 1.0,
        time,
        start: start_of,
        held: size.or(end).ok_or_else(|| found.missing("size"))?,
        has_end: end.is_some(),
        limit: found.times("limit")?,
        nodes: found.column("nodes")?,
        user: found.column("user")?,
        batch: found.column("batch")?,
        censored: found.column("censored")?,
        amounts: Vec::new(),
    };
    for resource in &servers.resources {
        let column = found.column(resource)?;
        columns
            .amounts
            .push(column.ok_or_else(|| found.missing(resource))?);
    }
    let mut remarks = Vec::new();
    if !found.by_name.is_empty() {
        remarks.push(format!(
            "columns taken by their names: {}",
            found.by_name.join(", ")
        ));
    }
    if columns.has_end && columns.start.is_none() {
        remarks.push("no column tells when jobs started: each is taken to have started as it came. If some waited, name the column with --columns start=COLUMN".into());
    }
    let tick = columns.tick(Rows::open(
        &rows.name,
        Format::Csv,
        Box::new(Cursor::new(start)),
    )?)?;
    rows.remarks = remarks;
    Ok((tick, servers, rows, Box::new(columns)))
}

/// Which column has what.
struct Found<'a> {
    options: &'a Options,
    rows: &'a Rows,
    /// What was taken from a column of another name than its own, or was not needed, and `--columns` does not name it.
    by_name: Vec<String>,
}

impl Found<'_> {
    /// Returns the column that was named for this.
    fn named(&self, what: &str) -> Option<&String> {
        let mut pairs = self.options.columns.iter();
        pairs.find(|(own, _)| own == what).map(|(_, column)| column)
    }

    /// Returns the column that was named for this, else the one whose name says it.
    fn column(&mut self, what: &str) -> Result<Option<usize>, TraceError> {
        let rows = self.rows;
        if let Some(column) = self.named(what) {
            let none = || suggest(column, "the file's columns", &rows.header());
            let none = || rows.wrong(format!("no column `{column}`; {}", none()));
            return rows.column(column)?.map(Some).ok_or_else(none);
        }
        let role = ROLES.iter().find(|(role, _)| *role == what);
        for name in role.map_or(what, |(_, names)| names).split(',') {
            if let Some(place) = rows.column(name)? {
                if role.is_some() && !(name == what && matches!(name, "time" | "size")) {
                    self.by_name.push(format!("{what}={name}"));
                }
                return Ok(Some(place));
            }
        }
        Ok(None)
    }

    /// The same of a column of times, with its unit.
    fn times(&mut self, what: &str) -> Result<Option<Times>, TraceError> {
        const OF: [&str; 5] = ["time", "start", "end", "size", "limit"];
        let mut unit = 1.0;
        for (own, name) in &self.options.units {
            let seconds = seconds_in(name).filter(|_| OF.contains(&own.as_str()));
            let Some(seconds) = seconds else {
                return Err(TraceError::Refused(format!(
                    "--unit {own}={name}: write time=us, ms, s, min, h or d, or the same for start, end, size or limit alone; amounts of resources count as in --capacity"
                )));
            };
            let is_own = self.options.units.iter().any(|(own, _)| own == what);
            if own == what || own == "time" && !is_own {
                unit = seconds;
            }
        }
        Ok(self.column(what)?.map(|column| (column, unit)))
    }

    fn missing(&self, what: &str) -> TraceError {
        self.rows.wrong(format!(
            "no column is named for `{what}`: give --columns {what}=COLUMN (as time=…,size=…,cpu=…, and start, end, \
             limit, nodes, user, batch, censored where there are such); the columns are {}",
            self.rows.header().join(", ")
        ))
    }
}

impl Columns {
    /// Chooses the coarsest tick, up to the unit of the file, in which all times of these rows are whole.
    fn tick(&mut self, mut rows: Rows) -> Result<Tick, TraceError> {
        let times = [Some(self.time), Some(self.held), self.start, self.limit];
        let times: Vec<Times> = times.into_iter().flatten().collect();
        let unit = times.iter().map(|(_, unit)| *unit).fold(1.0, f64::min);
        let is_within = |tick: &Tick| unit * tick.per_second() as f64 > 0.999;
        let mut ticks = TICKS.into_iter().filter(is_within);
        let mut tick = ticks.next().unwrap_or(Tick::Microsecond);
        self.per_second = tick.per_second() as f64;
        let mut account = Account::default();
        while rows.advance(&mut account)? {
            while times
                .iter()
                .any(|own| self.ticks_of(&rows, *own).is_some_and(|(_, off)| off))
                && let Some(finer) = ticks.next()
            {
                tick = finer;
                self.per_second = tick.per_second() as f64;
            }
        }
        Ok(tick)
    }

    /// Reads a number of units, a date or a length as clocks show it; and whether it has to be rounded.
    fn ticks_of(&self, rows: &Rows, (column, unit): Times) -> Option<(i64, bool)> {
        let field = rows.get(column);
        if number(field).is_some() {
            // A unit is a whole number of ticks, or a part of one.
            let per_unit = unit * self.per_second;
            return ticks(
                field,
                if per_unit < 1.0 {
                    per_unit
                } else {
                    per_unit.round()
                },
            );
        }
        clock_ticks(instant(field).or_else(|| clock(field))?, self.per_second)
    }

    /// The same; `None` where nothing stands.
    fn get(
        &self,
        (rows, account): (&Rows, &mut Account),
        times: Option<Times>,
    ) -> Result<Option<i64>, Fault> {
        let there = times.filter(|(column, _)| !rows.get(*column).is_empty());
        let Some(times) = there else {
            return Ok(None);
        };
        let expected = "a time: a number, 2024-03-31 02:30:00 or 0:00:16";
        rows.counted(self.ticks_of(rows, times), times.0, expected, account)
            .map(Some)
    }
}

impl Reader for Columns {
    fn read(&mut self, (rows, demand, account): Line<'_>) -> Result<Option<Raw>, Fault> {
        for (demand, column) in demand.iter_mut().zip(&self.amounts) {
            *demand = rows.demand(*column, account)?;
        }
        let submit = self.get((rows, account), Some(self.time))?;
        let submit = submit.ok_or_else(|| rows.fault(self.time.0, "a time"))?;
        let start = self.get((rows, account), self.start)?;
        let begun = start.or(Some(submit).filter(|_| self.start.is_none()));
        let mut held = self.get((rows, account), Some(self.held))?;
        if let Some(end) = held.filter(|_| self.has_end) {
            held = begun.map(|begun| end - begun);
            if held.is_some_and(|held| held < 0) {
                let expected = match self.start {
                    Some(_) => "an end that is not before its start",
                    None => "an end that is not before its time",
                };
                return Err(rows.fault(self.held.0, expected));
            }
        }
        let runs = match self.censored.map(|column| (column, rows.get(column))) {
            None => held.is_none() && self.has_end && begun.is_some(),
            Some((_, b"" | b"0" | b"false" | b"no")) => false,
            Some((_, b"1" | b"true" | b"yes")) => true,
            Some((column, _)) => return Err(rows.fault(column, "0 or 1")),
        };
        let nodes = self.nodes.map(|column| match rows.amount(column)? {
            Some(nodes) if nodes.fract() == 0.0 && (1.0..1e9).contains(&nodes) => Ok(nodes as u32),
            _ => Err(rows.fault(column, "a number of servers, 1 or more")),
        });
        Ok(Some(Raw {
            start,
            is_open: runs && held.is_none(),
            nodes: nodes.transpose()?.unwrap_or(0),
            seen: if runs { Seen::Censored } else { Seen::Whole },
            limit: self.get((rows, account), self.limit)?,
            user: self.user.map_or(0, |column| account.user(rows.get(column))),
            batch: self.batch.map_or(0, |column| name(rows.get(column))),
            ..Raw::new(rows.number(), submit, held.unwrap_or(-1))
        }))
    }
}
