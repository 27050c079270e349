//! A table with a header, of which is said what stands in which column.

use super::rows::{Row, Rows};
use super::{Begun, Fate, File, Raw};
use crate::document::suggest;
use crate::number::seconds_in;
use crate::trace::fields::{Fault, name};
use crate::trace::{Account, Options, Reason, Servers, Tick, TraceError};

/// What may be taken beside resources.
const ROLES: [&str; 7] = ["time", "size", "end", "limit", "user", "batch", "censored"];

struct Table {
    rows: Rows,
    tick: Tick,
    /// Ticks in a unit of the file.
    per_unit: f64,
    columns: Columns,
}

/// The columns that are looked at, from 0.
struct Columns {
    time: usize,
    size: Size,
    limit: Option<usize>,
    user: Option<usize>,
    batch: Option<usize>,
    censored: Option<usize>,
    /// By resource.
    amounts: Vec<usize>,
}

enum Size {
    /// How long it held its room.
    Held(usize),
    /// When it ended; it started as it came.
    Until(usize),
}

pub(super) fn open(file: File<'_>) -> Result<Begun, TraceError> {
    let servers = file.servers()?;
    let rows = Rows::open(&file.name, file.input, b',')?;
    let columns = Columns::of(&rows, &servers, file.options)?;
    let (tick, per_unit) = unit(file.options).map_err(TraceError)?;
    let reader = Table {
        rows,
        tick,
        per_unit,
        columns,
    };
    Ok((servers, Box::new(reader)))
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

impl Columns {
    fn of(rows: &Rows, servers: &Servers, options: &Options) -> Result<Self, TraceError> {
        for (what, _) in &options.columns {
            if !ROLES.contains(&what.as_str()) && !servers.resources.contains(what) {
                return Err(TraceError(format!(
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
            let given = options.columns.iter().find(|(own, _)| own == what);
            given.map(|(_, column)| named(column)).transpose()
        };
        // What is not said is taken from a column of that very name.
        let needed = |what: &str| match column(what)? {
            Some(place) => Ok(place),
            None => rows.column(what)?.ok_or_else(|| missing(what, rows)),
        };
        let size = match column("end")? {
            Some(place) => Size::Until(place),
            None => Size::Held(needed("size")?),
        };
        let resources = servers.resources.iter();
        Ok(Columns {
            time: needed("time")?,
            size,
            limit: column("limit")?,
            user: column("user")?,
            batch: column("batch")?,
            censored: column("censored")?,
            amounts: resources.map(|r| needed(r)).collect::<Result<_, _>>()?,
        })
    }
}

fn missing(what: &str, rows: &Rows) -> TraceError {
    rows.wrong(format!(
        "which column has `{what}` is not told: give --columns time=…,size=…,cpu=… (and limit, user, batch, censored where \
         there are such); the columns are {}",
        rows.header().join(", ")
    ))
}

impl Row for Table {
    fn tick(&self) -> Tick {
        self.tick
    }

    fn rows(&mut self) -> &mut Rows {
        &mut self.rows
    }

    fn read(&self, demand: &mut [f64], account: &mut Account) -> Result<Raw, Fault> {
        let Table { rows, columns, .. } = self;
        let is_missing = rows.amounts(&columns.amounts, demand)?;
        let mut is_rounded = false;
        let mut time = |column: usize| {
            let (ticks, rounded) = rows.time(column, self.per_unit, "a time")?;
            is_rounded |= rounded;
            Ok(ticks)
        };
        let submit = time(columns.time)?;
        let held = match columns.size {
            Size::Held(column) | Size::Until(column) if rows.get(column).is_empty() => -1,
            Size::Held(column) => time(column)?,
            Size::Until(column) => {
                let held = time(column)? - submit;
                if held < 0 {
                    return Err(rows.fault(column, "an end that is not before its time"));
                }
                held
            }
        };
        let limit = columns.limit.filter(|c| !rows.get(*c).is_empty());
        let limit = limit.map(time).transpose()?;
        let is_censored = match columns.censored {
            None => false,
            Some(column) => match rows.get(column) {
                b"" | b"0" | b"false" | b"no" => false,
                b"1" | b"true" | b"yes" => true,
                _ => return Err(rows.fault(column, "0 or 1")),
            },
        };
        let found = [
            (Reason::NoAmount, is_missing),
            (Reason::RoundedTime, is_rounded),
        ];
        account.suppose_where(found);
        let of = |column: Option<usize>| column.map_or(0, |c| name(rows.get(c)));
        Ok(Raw {
            line: rows.number(),
            submit,
            size: held,
            is_censored,
            limit,
            user: of(columns.user),
            batch: of(columns.batch),
            fate: Fate::Completed,
        })
    }
}
