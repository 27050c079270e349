//! What Slurm's accounting tells, a line a job with `|` between the fields that the first line names (sacct(1) of Slurm;
//! `sacct -aXP`).
//!
//! Resources: `cpu`, `memory` in GiB (the TRES mem), `gpu` (gres/gpu), and any other TRES by its own name, of what was
//! allocated, else requested. Times are local and taken as they stand: where clocks are set back or forth in the trace,
//! `TZ=UTC sacct …` tells times that never jump. Seconds since 1970 (`SLURM_TIME_FORMAT=%s`) are read as well.

use super::rows::{Row, Rows};
use super::{Begun, Fate, File, Raw};
use crate::document::suggest;
use crate::number::civil;
use crate::trace::fields::{Fault, amount, name, whole};
use crate::trace::{Account, Reason, TraceError};

/// What to type for a file that is read without complaint.
const EXPORT_HELP: &str = "Export with `sacct -aXP --format=JobIDRaw,Submit,Start,End,ElapsedRaw,State,ReqTRES,\
     AllocTRES,TimelimitRaw,User`";

/// Seconds in a minute, the unit of limits.
const MINUTE: f64 = 60.0;
/// By how much clocks are set back and forth \[s\].
const HOUR: i64 = 3600;

struct Sacct {
    rows: Rows,
    columns: Columns,
    /// The TRES of each resource.
    tres: Vec<String>,
}

struct Columns {
    id: usize,
    submit: usize,
    start: Option<usize>,
    end: Option<usize>,
    elapsed: usize,
    state: usize,
    /// What is allocated, what is requested.
    tres: [Option<usize>; 2],
    limit: Option<usize>,
    user: Option<usize>,
}

pub(super) fn open(file: File<'_>) -> Result<Begun, TraceError> {
    let servers = file.servers()?;
    let rows = Rows::open(&file.name, file.input, b'|')?;
    let needed = |names: &[&str]| needed(&rows, names);
    let tres = [rows.column("AllocTRES")?, rows.column("ReqTRES")?];
    let columns = Columns {
        id: needed(&["JobIDRaw", "JobID"])?,
        submit: needed(&["Submit"])?,
        start: rows.column("Start")?,
        end: rows.column("End")?,
        elapsed: needed(&["ElapsedRaw"])?,
        state: needed(&["State"])?,
        tres: match tres {
            [None, None] => [Some(needed(&["AllocTRES"])?), None],
            tres => tres,
        },
        limit: rows.column("TimelimitRaw")?,
        user: rows.column("User")?,
    };
    let tres = servers
        .resources
        .iter()
        .map(|resource| match resource.as_str() {
            "memory" => "mem".to_owned(),
            "gpu" => "gres/gpu".to_owned(),
            other => other.to_owned(),
        });
    let reader = Sacct {
        tres: tres.collect(),
        rows,
        columns,
    };
    Ok((servers, Box::new(reader)))
}

/// Returns the column that has one of these names.
fn needed(rows: &Rows, names: &[&str]) -> Result<usize, TraceError> {
    for name in names {
        if let Some(column) = rows.column(name)? {
            return Ok(column);
        }
    }
    Err(rows.wrong(format!(
        "its first line has no column `{}`, which sacct has; {}. {EXPORT_HELP}",
        names[0],
        suggest(names[0], "it has", &rows.header()),
    )))
}

/// What is known of a job's end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Ended(Fate),
    Runs,
    Waits,
}

impl Row for Sacct {
    fn rows(&mut self) -> &mut Rows {
        &mut self.rows
    }

    /// `123.batch` and `123.0` are steps of job 123; `123_4` is a job, the fourth of an array.
    fn is_step(&self) -> bool {
        self.rows.get(self.columns.id).contains(&b'.')
    }

    fn read(&self, demand: &mut [f64], account: &mut Account) -> Result<Raw, Fault> {
        let Sacct { rows, columns, .. } = self;
        let submit = self.instant(columns.submit)?;
        let Some(submit) = submit else {
            return Err(rows.fault(columns.submit, INSTANT));
        };
        let state = rows.get(columns.state);
        let state = self::state(state).ok_or_else(|| {
            rows.fault(
                columns.state,
                "a state of Slurm, such as COMPLETED or TIMEOUT",
            )
        })?;
        let (elapsed, _) = rows.time(columns.elapsed, 1.0, "a length of time ≥ 0 [s]")?;
        if elapsed < 0 {
            return Err(rows.fault(columns.elapsed, "a length of time ≥ 0 [s]"));
        }
        let [start, end] = [columns.start, columns.end].map(|column| {
            let instant = column.map(|column| self.instant(column));
            instant.transpose().map(Option::flatten)
        });
        let (start, end) = (start?, end?);
        let limit = columns.limit.map(|column| self.limit(column));
        let limit = limit.transpose()?.flatten();
        let never_ran = state == State::Waits || columns.start.is_some() && start.is_none();
        let from = self.demand(demand)?;
        let jumps = start
            .zip(end)
            .is_some_and(|(start, end)| (end - start - elapsed).abs() == HOUR);
        let found = [
            (Reason::RequestedTaken, from.is_requested),
            (Reason::NoAmount, from.is_missing),
            (Reason::AmbiguousTime, jumps && state != State::Runs),
        ];
        account.suppose_where(found);
        Ok(Raw {
            line: rows.number(),
            submit,
            size: if never_ran { -1 } else { elapsed },
            is_censored: state == State::Runs && !never_ran,
            limit,
            user: columns.user.map_or(0, |column| name(rows.get(column))),
            batch: 0,
            fate: match state {
                State::Ended(fate) => fate,
                State::Runs | State::Waits => Fate::Completed,
            },
        })
    }
}

impl Sacct {
    /// Returns an instant \[s since 1970, local\]; `None` where none is known.
    fn instant(&self, column: usize) -> Result<Option<i64>, Fault> {
        match self.rows.get(column) {
            b"" | b"Unknown" | b"None" => Ok(None),
            field => match civil(field).or_else(|| whole(field)) {
                None => Err(self.rows.fault(column, INSTANT)),
                known => Ok(known),
            },
        }
    }

    /// Returns a limit \[s\], if one is told.
    fn limit(&self, column: usize) -> Result<Option<i64>, Fault> {
        match self.rows.get(column) {
            b"" | b"UNLIMITED" | b"Partition_Limit" => Ok(None),
            _ => {
                let expected = "a limit [min], UNLIMITED or Partition_Limit";
                let (limit, _) = self.rows.time(column, MINUTE, expected)?;
                Ok(Some(limit))
            }
        }
    }

    /// Reads what it was allocated, or what it requested if that is nothing.
    fn demand(&self, demand: &mut [f64]) -> Result<Asked, Fault> {
        let columns = self.columns.tres;
        let told = columns.map(|column| column.filter(|column| !self.rows.get(*column).is_empty()));
        let mut asked = Asked {
            is_requested: told[0].is_none() && told[1].is_some(),
            is_missing: false,
        };
        demand.fill(0.0);
        let Some(column) = told[0].or(told[1]) else {
            return Ok(asked);
        };
        let text = self.rows.get(column);
        for (demand, tres) in demand.iter_mut().zip(&self.tres) {
            let amount = tres_of(text, tres).map_err(|found| Fault {
                found: String::from_utf8_lossy(found).into_owned(),
                ..self
                    .rows
                    .fault(column, "amounts such as cpu=32,mem=500G,gres/gpu=2")
            })?;
            // A job without GPUs does not name them.
            asked.is_missing |= amount.is_none() && matches!(tres.as_str(), "cpu" | "mem");
            *demand = amount.unwrap_or(0.0);
        }
        Ok(asked)
    }
}

/// Where a demand was found.
struct Asked {
    is_requested: bool,
    is_missing: bool,
}

const INSTANT: &str = "an instant such as 2024-03-31T02:30:00";

/// Returns what a state says; `CANCELLED by 1000` is CANCELLED.
fn state(field: &[u8]) -> Option<State> {
    let word = field.split(u8::is_ascii_whitespace).next()?;
    // Cut off, as a narrow column shows it, it ends with a plus.
    Some(match word.strip_suffix(b"+").unwrap_or(word) {
        b"COMPLETED" => State::Ended(Fate::Completed),
        b"BOOT_FAIL" | b"CANCELLED" | b"DEADLINE" | b"FAILED" | b"NODE_FAIL" | b"OUT_OF_MEMORY"
        | b"PREEMPTED" | b"REQUEUED" | b"TIMEOUT" => State::Ended(Fate::Broken),
        b"RUNNING" | b"SUSPENDED" | b"RESIZING" => State::Runs,
        b"PENDING" | b"REVOKED" => State::Waits,
        _ => return None,
    })
}

/// Returns how much of a resource `cpu=32,mem=500G` has, memory in GiB; `None` where it is not named.
///
/// # Errors
/// What it says of that resource, if that is no amount.
fn tres_of<'a>(text: &'a [u8], name: &str) -> Result<Option<f64>, &'a [u8]> {
    let mut parts = text.split(|byte| *byte == b',');
    let part = parts.find_map(|part| {
        let amount = part.strip_prefix(name.as_bytes())?;
        Some((part, amount.strip_prefix(b"=")?))
    });
    let Some((part, text)) = part else {
        return Ok(None);
    };
    let (text, unit) = match text {
        [text @ .., b'K'] => (text, Some(1.0)),
        [text @ .., b'M'] => (text, Some(2.0)),
        [text @ .., b'G'] => (text, Some(3.0)),
        [text @ .., b'T'] => (text, Some(4.0)),
        text => (text, None),
    };
    // Without a unit memory is in MiB; other resources count in ones.
    let (none, gib) = match name {
        "mem" => (2.0, 3.0),
        _ => (0.0, 0.0),
    };
    let scale = 1024_f64.powf(unit.unwrap_or(none) - gib);
    amount(text).map(|amount| Some(amount * scale)).ok_or(part)
}
