//! A table with a header, of which is said what stands in which column.

use std::io::BufRead;

use csv::{ByteRecord, ReaderBuilder};

use super::{File, Format, Opened};
use crate::document::suggest;
use crate::trace::fields::{Fault, name, number, ticks};
use crate::trace::reader::{Fate, Held, Raw, Reader};
use crate::trace::{Account, Options, Reason, Servers, Tick, TraceError};

/// What may be taken beside resources.
const ROLES: [&str; 7] = ["time", "size", "end", "limit", "user", "batch", "censored"];

struct Table {
    name: String,
    rows: csv::Reader<Box<dyn BufRead>>,
    row: ByteRecord,
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

pub(super) fn open(file: File<'_>) -> Result<Opened, TraceError> {
    let servers = file.servers()?;
    let mut rows = ReaderBuilder::new()
        .trim(csv::Trim::All)
        .flexible(true)
        .from_reader(file.input);
    let header = rows
        .byte_headers()
        .map_err(|why| broken(&file.name, 0, why))?
        .clone();
    let columns = Columns::of(&header, &servers, file.options)
        .map_err(|why| TraceError::Request(format!("{}: {why}", file.name)))?;
    let (tick, per_unit) = unit(file.options).map_err(TraceError::Request)?;
    let reader = Table {
        name: file.name,
        rows,
        row: ByteRecord::new(),
        tick,
        per_unit,
        columns,
    };
    Ok(Opened {
        format: Format::Csv,
        servers,
        reader: Box::new(reader),
    })
}

/// The tick, and how many of them make the unit in which the file counts time.
fn unit(options: &Options) -> Result<(Tick, f64), String> {
    let mut found = (Tick::Second, 1.0);
    for (what, unit) in &options.units {
        found = match (what.as_str(), unit.as_str()) {
            ("time", "s") => (Tick::Second, 1.0),
            ("time", "ms") => (Tick::Millisecond, 1.0),
            ("time", "us" | "µs") => (Tick::Microsecond, 1.0),
            ("time", "min") => (Tick::Second, 60.0),
            ("time", "h") => (Tick::Second, 3600.0),
            ("time", "d") => (Tick::Second, 86_400.0),
            _ => {
                return Err(format!(
                    "--unit {what}={unit}: write time=us, ms, s, min, h or d; amounts of resources count as in --capacity"
                ));
            }
        };
    }
    Ok(found)
}

impl Columns {
    fn of(header: &ByteRecord, servers: &Servers, options: &Options) -> Result<Self, String> {
        let names: Vec<String> = header
            .iter()
            .map(|name| String::from_utf8_lossy(name).into_owned())
            .collect();
        let known: Vec<&str> = names.iter().map(String::as_str).collect();
        let named = |column: &str| {
            let place = names.iter().position(|name| name == column);
            place.ok_or_else(|| {
                format!(
                    "no column `{column}`; {}",
                    suggest(column, "the file's columns", &known)
                )
            })
        };
        for (what, _) in &options.columns {
            if !ROLES.contains(&what.as_str()) && !servers.resources.contains(what) {
                return Err(format!(
                    "--columns {what}=…: that is neither a resource of the capacity ({}) nor one of {}",
                    servers.resources.join(", "),
                    ROLES.join(", ")
                ));
            }
        }
        let column = |what: &str| {
            let given = options.columns.iter().find(|(own, _)| own == what);
            given.map(|(_, column)| named(column)).transpose()
        };
        // What is not said is taken from a column of that very name.
        let needed = |what: &str| match column(what)? {
            Some(place) => Ok(place),
            None => names
                .iter()
                .position(|name| name == what)
                .ok_or_else(|| missing(what, &known)),
        };
        let size = match column("end")? {
            Some(place) => Size::Until(place),
            None => Size::Held(needed("size")?),
        };
        Ok(Columns {
            time: needed("time")?,
            size,
            limit: column("limit")?,
            user: column("user")?,
            batch: column("batch")?,
            censored: column("censored")?,
            amounts: servers
                .resources
                .iter()
                .map(|r| needed(r))
                .collect::<Result<_, _>>()?,
        })
    }
}

fn missing(what: &str, columns: &[&str]) -> String {
    format!(
        "which column has `{what}` is not told: give --columns time=…,size=…,cpu=… (and limit, user, batch, censored where \
         there are such); the columns are {}",
        columns.join(", ")
    )
}

fn broken(name: &str, line: u32, why: csv::Error) -> TraceError {
    let line = why
        .position()
        .map_or(line, |position| position.line() as u32);
    let source = match why.into_kind() {
        csv::ErrorKind::Io(source) => source,
        other => std::io::Error::other(format!("{other:?}")),
    };
    TraceError::Io {
        name: name.into(),
        line,
        source,
    }
}

impl Reader for Table {
    fn tick(&self) -> Tick {
        self.tick
    }

    fn next(
        &mut self,
        demand: &mut [f64],
        account: &mut Account,
    ) -> Result<Option<Raw>, TraceError> {
        loop {
            let line = self.rows.position().line() as u32;
            let read = self.rows.read_byte_record(&mut self.row);
            if !read.map_err(|why| broken(&self.name, line, why))? {
                return Ok(None);
            }
            let line = self
                .row
                .position()
                .map_or(line, |position| position.line() as u32);
            match self.read(line, demand, account) {
                Ok(raw) => return Ok(Some(raw)),
                Err(fault) => fault.note(line, account),
            }
        }
    }
}

impl Table {
    /// Reads the row.
    fn read(&self, line: u32, demand: &mut [f64], account: &mut Account) -> Result<Raw, Fault> {
        let columns = &self.columns;
        for (amount, column) in demand.iter_mut().zip(&columns.amounts) {
            let field = self.field(*column)?;
            *amount = match field {
                b"" => {
                    account.note(Reason::NoAmount, line, 0.0);
                    0.0
                }
                field => {
                    let found = number(field).filter(|amount| *amount >= 0.0);
                    found.ok_or_else(|| self.fault(*column, "an amount ≥ 0"))? + 0.0
                }
            };
        }
        let mut is_rounded = false;
        let mut time = |column: usize| {
            let found = ticks(self.field(column)?, self.per_unit);
            let (ticks, rounded) = found.ok_or_else(|| self.fault(column, "a time"))?;
            is_rounded |= rounded;
            Ok(ticks)
        };
        let submit = time(columns.time)?;
        let held = match columns.size {
            Size::Held(column) if self.field(column)?.is_empty() => -1,
            Size::Held(column) => time(column)?,
            Size::Until(column) if self.field(column)?.is_empty() => -1,
            Size::Until(column) => time(column)? - submit,
        };
        let limit = match columns.limit {
            Some(column) if !self.field(column)?.is_empty() => Some(time(column)?),
            _ => None,
        };
        if is_rounded {
            account.note(Reason::RoundedTime, line, 0.0);
        }
        let is_censored = match columns.censored {
            None => false,
            Some(column) => match self.field(column)? {
                b"" | b"0" | b"false" | b"no" => false,
                b"1" | b"true" | b"yes" => true,
                _ => return Err(self.fault(column, "0 or 1")),
            },
        };
        let of = |column: Option<usize>| column.map_or(Ok(0), |c| self.field(c).map(name));
        Ok(Raw {
            line,
            submit,
            held: if is_censored {
                Held::Censored(held)
            } else {
                Held::Ticks(held)
            },
            limit,
            user: of(columns.user)?,
            batch: of(columns.batch)?,
            fate: Fate::Completed,
        })
    }

    fn field(&self, column: usize) -> Result<&[u8], Fault> {
        self.row.get(column).ok_or_else(|| Fault {
            column: self.place(self.row.len()),
            found: String::new(),
            expected: "as many fields as the header has: the line ends here",
        })
    }

    fn fault(&self, column: usize, expected: &'static str) -> Fault {
        let field = self.row.get(column).unwrap_or_default();
        Fault {
            column: self.place(column),
            ..Fault::at(b"", field, expected)
        }
    }

    /// Where a column begins, in characters from 1, if nothing is quoted.
    fn place(&self, column: usize) -> usize {
        let before = self.row.iter().take(column);
        1 + before
            .map(|field| String::from_utf8_lossy(field).chars().count() + 1)
            .sum::<usize>()
    }
}
