//! What Slurm's accounting tells, a line a job with `|` between the fields that the first line names (sacct(1) of Slurm;
//! `sacct -aXP`).
//!
//! Resources: `cpu`, `memory` in GiB (the TRES mem), `gpu` (gres/gpu), and any other TRES by its own name, of what was
//! allocated, else requested. Times are local and taken as they stand: where clocks are set back or forth in the trace,
//! `TZ=UTC sacct …` tells times that never jump. Seconds since 1970 (`SLURM_TIME_FORMAT=%s`) are read as well.

use super::{Fate, File, Line, Opened, Raw, Reader, Rows};
use crate::trace::fields::{Fault, amount, name, ticks, whole};
use crate::trace::{Account, Reason, Seen, Tick, TraceError};
use synth_core::number::civil;

/// What to type for a file that is read without complaint.
pub(super) const EXPORT_HELP: &str = "Export with `sacct -aXP --format=JobIDRaw,Submit,Start,End,ElapsedRaw,State,ReqTRES,\
     AllocTRES,TimelimitRaw,User`";

/// Seconds in a minute, the unit of limits.
const MINUTE: f64 = 60.0;
/// By how much clocks are set back and forth \[s\].
const HOUR: i64 = 3600;

/// The columns that are looked at.
struct Sacct {
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
    /// The TRES of each resource.
    names: Vec<String>,
}

pub(super) fn open(file: File<'_>) -> Result<Opened, TraceError> {
    let (servers, rows) = file.table()?;
    let tres = [rows.column("AllocTRES")?, rows.column("ReqTRES")?];
    let name = |resource: &String| match resource.as_str() {
        "memory" => "mem".to_owned(),
        "gpu" => "gres/gpu".to_owned(),
        other => other.to_owned(),
    };
    let reader = Sacct {
        id: rows.needed(&["JobIDRaw", "JobID"])?,
        submit: rows.needed(&["Submit"])?,
        start: rows.column("Start")?,
        end: rows.column("End")?,
        elapsed: rows.needed(&["ElapsedRaw"])?,
        state: rows.needed(&["State"])?,
        tres: match tres {
            [None, None] => [Some(rows.needed(&["AllocTRES"])?), None],
            tres => tres,
        },
        limit: rows.column("TimelimitRaw")?,
        user: rows.column("User")?,
        names: servers.resources.iter().map(name).collect(),
    };
    Ok((Tick::Second, servers, rows, Box::new(reader)))
}

/// What is known of a job's end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Ended(Fate),
    Runs,
    Waits,
}

impl Reader for Sacct {
    fn read(&mut self, (rows, demand, account): Line<'_>) -> Result<Option<Raw>, Fault> {
        // `123.batch` and `123.0` are steps of job 123; `123_4` is a job, the fourth of an array.
        if rows.get(self.id).contains(&b'.') {
            account.note(Reason::Step, rows.number(), 0.0);
            return Ok(None);
        }
        let submit = instant(rows, Some(self.submit))?;
        let submit = submit.ok_or_else(|| rows.fault(self.submit, INSTANT))?;
        let state = state(rows.get(self.state)).ok_or_else(|| {
            let expected = "a state of Slurm, such as COMPLETED or TIMEOUT";
            rows.fault(self.state, expected)
        })?;
        let time = |column: usize, per_unit: f64, expected: &'static str| {
            let ticks = ticks(rows.get(column), per_unit);
            ticks.map_or_else(|| Err(rows.fault(column, expected)), |(ticks, _)| Ok(ticks))
        };
        let elapsed = time(self.elapsed, 1.0, LENGTH)?;
        if elapsed < 0 {
            return Err(rows.fault(self.elapsed, LENGTH));
        }
        let (start, end) = (instant(rows, self.start)?, instant(rows, self.end)?);
        let limit = match self.limit.map(|column| (column, rows.get(column))) {
            None | Some((_, b"" | b"UNLIMITED" | b"Partition_Limit")) => None,
            Some((column, _)) => {
                let expected = "a limit [min], UNLIMITED or Partition_Limit";
                Some(time(column, MINUTE, expected)?)
            }
        };
        self.demand(rows, demand, account)?;
        let span = start.zip(end).map(|(start, end)| end - start - elapsed);
        if span.is_some_and(|off| off.abs() == HOUR) && state != State::Runs {
            account.suppose(Reason::AmbiguousTime);
        }
        let never_ran = state == State::Waits || self.start.is_some() && start.is_none();
        let size = if never_ran { -1 } else { elapsed };
        Ok(Some(Raw {
            seen: match state {
                State::Runs if !never_ran => Seen::Censored,
                _ => Seen::Whole,
            },
            limit,
            user: self.user.map_or(0, |column| name(rows.get(column))),
            fate: match state {
                State::Ended(fate) => fate,
                State::Runs | State::Waits => Fate::Completed,
            },
            ..Raw::new(rows.number(), submit, size)
        }))
    }
}

impl Sacct {
    /// Reads what it was allocated, or what it requested if that is nothing.
    fn demand(&self, rows: &Rows, demand: &mut [f64], account: &mut Account) -> Result<(), Fault> {
        let there = |column: &usize| !rows.get(*column).is_empty();
        let [allocated, requested] = self.tres.map(|column| column.filter(there));
        if allocated.is_none() && requested.is_some() {
            account.suppose(Reason::RequestedTaken);
        }
        demand.fill(0.0);
        let Some(column) = allocated.or(requested) else {
            return Ok(());
        };
        let text = rows.get(column);
        for (demand, tres) in demand.iter_mut().zip(&self.names) {
            let amount = tres_of(text, tres).map_err(|found| Fault {
                found: String::from_utf8_lossy(found).into_owned(),
                ..rows.fault(column, "amounts such as cpu=32,mem=500G,gres/gpu=2")
            })?;
            // A job without GPUs does not name them.
            if amount.is_none() && matches!(tres.as_str(), "cpu" | "mem") {
                account.suppose(Reason::NoAmount);
            }
            *demand = amount.unwrap_or(0.0);
        }
        Ok(())
    }
}

/// An instant \[s since 1970, local\]; `None` where none is known.
fn instant(rows: &Rows, column: Option<usize>) -> Result<Option<i64>, Fault> {
    match column.map(|column| (column, rows.get(column))) {
        None | Some((_, b"" | b"Unknown" | b"None")) => Ok(None),
        Some((column, field)) => {
            let instant = civil(field).or_else(|| whole(field));
            instant.map_or_else(|| Err(rows.fault(column, INSTANT)), |at| Ok(Some(at)))
        }
    }
}

const LENGTH: &str = "a length of time ≥ 0 [s]";
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
    // Without a unit memory is in MiB; other resources count in ones.
    let (without, gib) = if name == "mem" { (2, 3) } else { (0, 0) };
    let (text, unit) = match text {
        [text @ .., b'K'] => (text, 1),
        [text @ .., b'M'] => (text, 2),
        [text @ .., b'G'] => (text, 3),
        [text @ .., b'T'] => (text, 4),
        text => (text, without),
    };
    let scale = 1024_f64.powi(unit - gib);
    amount(text).map(|amount| Some(amount * scale)).ok_or(part)
}
