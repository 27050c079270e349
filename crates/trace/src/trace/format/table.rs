//! A table with a header, of which is said what stands in which column.

use super::{File, Line, Opened, Raw, Reader, Rows};
use crate::trace::fields::{Fault, name};
use crate::trace::{Options, Seen, Tick, TraceError};
use synth_core::document::suggest;
use synth_core::number::seconds_in;

/// What may be taken beside resources.
const ROLES: [&str; 7] = ["time", "size", "end", "limit", "user", "batch", "censored"];

/// The columns that are looked at, from 0.
struct Columns {
    /// Ticks in a unit of the file.
    per_unit: f64,
    time: usize,
    /// How long it held its room, or when it ended: then it started as it came.
    size: usize,
    is_end: bool,
    limit: Option<usize>,
    user: Option<usize>,
    batch: Option<usize>,
    censored: Option<usize>,
    /// By resource.
    amounts: Vec<usize>,
}

pub(super) fn open(file: File<'_>) -> Result<Opened, TraceError> {
    let options = file.options;
    let (servers, rows) = file.table()?;
    let (tick, per_unit) = unit(options).map_err(TraceError::Refused)?;
    for (what, _) in &options.columns {
        if !ROLES.contains(&what.as_str()) && !servers.resources.contains(what) {
            return Err(TraceError::Refused(format!(
                "--columns {what}=…: that is neither a resource of the capacity ({}) nor one of {}",
                servers.resources.join(", "),
                ROLES.join(", ")
            )));
        }
    }
    let named = |column: &str| {
        rows.column(column)?.ok_or_else(|| {
            let near = suggest(column, "the file's columns", &rows.header());
            rows.wrong(format!("no column `{column}`; {near}"))
        })
    };
    let column = |what: &str| {
        let option = options.columns.iter().find(|(own, _)| own == what);
        option.map(|(_, column)| named(column)).transpose()
    };
    // What is not said is taken from a column of that very name.
    let needed = |what: &str| match column(what)? {
        Some(place) => Ok(place),
        None => rows.column(what)?.ok_or_else(|| missing(what, &rows)),
    };
    let end = column("end")?;
    let resources = servers.resources.iter();
    let columns = Columns {
        per_unit,
        time: needed("time")?,
        size: end.map_or_else(|| needed("size"), Ok)?,
        is_end: end.is_some(),
        limit: column("limit")?,
        user: column("user")?,
        batch: column("batch")?,
        censored: column("censored")?,
        amounts: resources.map(|r| needed(r)).collect::<Result<_, _>>()?,
    };
    Ok((tick, servers, rows, Box::new(columns)))
}

/// Returns the tick, and how many of them make the unit in which the file counts time.
fn unit(options: &Options) -> Result<(Tick, f64), String> {
    let mut found = (Tick::Second, 1.0);
    for (what, unit) in &options.units {
        let seconds = seconds_in(unit).filter(|_| what == "time");
        let seconds = seconds.ok_or_else(|| {
            format!(
                "--unit {what}={unit}: write time=us, ms, s, min, h or d; amounts of resources count as in --capacity"
            )
        })?;
        let tick = match seconds {
            s if s >= 1.0 => Tick::Second,
            s if s >= 1e-3 => Tick::Millisecond,
            _ => Tick::Microsecond,
        };
        found = (tick, (seconds * tick.per_second() as f64).round());
    }
    Ok(found)
}

fn missing(what: &str, rows: &Rows) -> TraceError {
    rows.wrong(format!(
        "which column has `{what}` is not told: give --columns time=…,size=…,cpu=… (and limit, user, batch, censored where \
         there are such); the columns are {}",
        rows.header().join(", ")
    ))
}

impl Reader for Columns {
    fn read(&mut self, (rows, demand, account): Line<'_>) -> Result<Option<Raw>, Fault> {
        for (demand, column) in demand.iter_mut().zip(&self.amounts) {
            *demand = rows.demand(*column, account)?;
        }
        let mut time = |column: usize| rows.time(column, self.per_unit, "a time", account);
        let submit = time(self.time)?;
        let mut held = -1;
        if !rows.get(self.size).is_empty() {
            held = time(self.size)?;
            if self.is_end {
                held -= submit;
                if held < 0 {
                    return Err(rows.fault(self.size, "an end that is not before its time"));
                }
            }
        }
        let limit = self.limit.filter(|column| !rows.get(*column).is_empty());
        let limit = limit.map(time).transpose()?;
        let seen = match self.censored.map(|column| (column, rows.get(column))) {
            None | Some((_, b"" | b"0" | b"false" | b"no")) => Seen::Whole,
            Some((_, b"1" | b"true" | b"yes")) => Seen::Censored,
            Some((column, _)) => return Err(rows.fault(column, "0 or 1")),
        };
        let of = |column: Option<usize>| column.map_or(0, |c| name(rows.get(c)));
        Ok(Some(Raw {
            seen,
            limit,
            user: of(self.user),
            batch: of(self.batch),
            ..Raw::new(rows.number(), submit, held)
        }))
    }
}
