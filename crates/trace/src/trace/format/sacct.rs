//! What Slurm's accounting tells, a line a job with `|` between the fields that the first line names (sacct(1) of Slurm;
//! `sacct -aXP`).
//!
//! Resources: `cpu`, `memory` in GiB (the TRES mem), `gpu` (gres/gpu), and any other TRES by its own name, of what was
//! allocated, else requested. Times are local and taken as they stand: where clocks are set back or forth in the trace,
//! `TZ=UTC sacct …` tells times that never jump. Seconds since 1970 (`SLURM_TIME_FORMAT=%s`) are read as well.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::{Fate, File, Line, Opened, Raw, Reader, Rows};
use crate::trace::account::YEAR;
use crate::trace::duplicates::Counted;
use crate::trace::fields::{Fault, amount, clock_ticks, is_placeholder, is_unknown, ticks, whole};
use crate::trace::{Account, Reason, Seen, Tick, TraceError};
use itertools::Itertools as _;
use synth_core::number::{self, clock, is_epoch, stamp};

/// The command, and the sentence that tells it.
macro_rules! export {
    ($before:literal, $after:literal) => {
        concat!(
            $before,
            "sacct -aXP -S now-4weeks --format=JobID,User,Account,Partition,QOS,Submit,Eligible,Start,End,",
            "ElapsedRaw,State,NNodes,ReqTRES,AllocTRES,TimelimitRaw",
            $after
        )
    };
}

/// What to type for a file that is read without complaint: the jobs of four weeks.
pub const EXPORT: &str = export!("", "");

pub(super) const EXPORT_HELP: &str = export!("Export with `", "`");

/// Seconds in a minute, the unit of limits.
const MINUTE: f64 = 60.0;
/// By how much clocks are set back and forth \[s\].
const HOUR: i64 = 3600;

/// The columns that are looked at.
struct Sacct {
    id: usize,
    submit: usize,
    eligible: Option<usize>,
    start: Option<usize>,
    end: Option<usize>,
    /// A length of time, and the seconds of its unit where it is a number.
    elapsed: (usize, f64),
    limit: Option<(usize, f64)>,
    state: usize,
    /// What is allocated, what is requested.
    tres: [Option<usize>; 2],
    cpus: Option<usize>,
    memory: Option<usize>,
    gres: Option<usize>,
    nodes: Option<usize>,
    user: Option<usize>,
    /// Partition, account and quality of service.
    class: [Option<usize>; 3],
    /// The TRES of each resource.
    names: Vec<String>,
    /// The components of heterogeneous jobs, by first id and submission.
    joined: BTreeMap<(Vec<u8>, i64), BTreeMap<Vec<u8>, (Raw, Vec<f64>)>>,
}

pub(super) fn open(file: File<'_>) -> Result<Opened, TraceError> {
    let (servers, mut rows) = file.table()?;
    // The first of these that there is.
    let either = |names: &[&str]| {
        let mut found = names.iter().map(|name| rows.column(name));
        found.find_map(Result::transpose).transpose()
    };
    let tres = [rows.column("AllocTRES")?, rows.column("ReqTRES")?];
    let cpus = either(&["AllocCPUS", "NCPUS", "ReqCPUS"])?;
    let name = |resource: &String| match resource.as_str() {
        "memory" => "mem".to_owned(),
        "gpu" => "gres/gpu".to_owned(),
        other => other.to_owned(),
    };
    let length = |names: [&str; 2], unit: f64| {
        let raw = rows.column(names[0])?.map(|column| (column, unit));
        Ok(raw.or(rows.column(names[1])?.map(|column| (column, unit))))
    };
    let elapsed = length(["ElapsedRaw", "Elapsed"], 1.0)?;
    let elapsed = elapsed.map_or_else(|| Ok((rows.needed(&["ElapsedRaw"])?, 1.0)), Ok)?;
    let state = rows.needed(&["State"])?;
    if tres == [None; 2] && cpus.is_none() {
        rows.needed(&["AllocTRES"])?;
    }
    let reader = Sacct {
        // Components of a heterogeneous job differ by what follows `+` there, and have ids of their own in JobIDRaw.
        id: rows.needed(&["JobID", "JobIDRaw"])?,
        submit: rows.needed(&["Submit"])?,
        eligible: rows.column("Eligible")?,
        start: rows.column("Start")?,
        end: rows.column("End")?,
        elapsed,
        limit: length(["TimelimitRaw", "Timelimit"], MINUTE)?,
        state,
        tres,
        cpus,
        memory: rows.column("ReqMem")?,
        gres: either(&["AllocGRES", "ReqGRES"])?,
        nodes: either(&["AllocNodes", "NNodes", "ReqNodes"])?,
        user: rows.column("User")?,
        class: [
            rows.column("Partition")?,
            rows.column("Account")?,
            rows.column("QOS")?,
        ],
        names: servers.resources.iter().map(name).collect(),
        joined: BTreeMap::new(),
    };
    (rows.id, rows.has_ids) = (Some(reader.id), true);
    Ok((Tick::Second, servers, rows, Box::new(reader)))
}

/// What is known of a job's end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Ended(Fate),
    Runs,
    Waits,
}

impl Reader for Sacct {
    fn read(&mut self, (rows, demand, account): Line<'_>) -> Result<Option<Raw>, Fault> {
        // `123.batch` and `123.0` are steps of job 123; `123_4` is a job, the fourth of an array.
        let id = rows.get(self.id);
        if id.contains(&b'.') {
            account.note(Reason::Step, rows.number(), 0.0);
            return Ok(None);
        }
        let job = self.job(rows, demand, account)?;
        let Some(plus) = id.iter().position(|byte| *byte == b'+') else {
            return Ok(Some(job));
        };
        let whole = (id[..plus].to_vec(), job.submit);
        let components = self.joined.entry(whole).or_default();
        let is_first = components.is_empty();
        let reason = match components.entry(id[plus..].to_vec()) {
            Entry::Vacant(place) => {
                place.insert((job, demand.to_vec()));
                Some(Reason::Component).filter(|_| !is_first)
            }
            Entry::Occupied(mut known) => {
                let before = known.get().0;
                if Counted::new(&job).replaces(&Counted::new(&before)) {
                    let line = before.line;
                    known.insert((Raw { line, ..job }, demand.to_vec()));
                }
                Some(Reason::Repeated)
            }
        };
        if let Some(reason) = reason {
            account.note(reason, rows.number(), 0.0);
        }
        Ok(None)
    }

    fn left(&mut self, demand: &mut [f64], _: &mut Account) -> Option<Raw> {
        demand.fill(0.0);
        let (_, components) = self.joined.pop_first()?;
        let whole = components.into_values().map(|(job, own)| {
            let pairs = demand.iter_mut().zip(own);
            pairs.for_each(|(sum, own)| *sum += own);
            job
        });
        whole.reduce(|mut first, job| {
            first.join(job);
            first
        })
    }
}

impl Sacct {
    /// Reads the job of a line.
    fn job(&self, rows: &Rows, demand: &mut [f64], account: &mut Account) -> Result<Raw, Fault> {
        let submit = instant(rows, Some(self.submit))?;
        let submit = submit.ok_or_else(|| rows.fault(self.submit, INSTANT))?;
        let state = state(rows.get(self.state)).ok_or_else(|| {
            let expected = "a state of Slurm, such as COMPLETED or TIMEOUT";
            rows.fault(self.state, expected)
        })?;
        let time = |(column, per_unit): (usize, f64), expected: &'static str| {
            let field = rows.get(column);
            let ticks = ticks(field, per_unit).or_else(|| clock_ticks(clock(field)?, 1.0));
            let ticks = ticks.filter(|(ticks, _)| *ticks >= 0);
            ticks.map_or_else(|| Err(rows.fault(column, expected)), |(ticks, _)| Ok(ticks))
        };
        let elapsed = time(self.elapsed, "a length of time ≥ 0 [s]")?;
        let after = |column: Option<usize>| {
            let is_known = |at: &i64| !is_placeholder(*at as f64, submit as f64);
            Ok(instant(rows, column)?.filter(is_known))
        };
        let (start, end) = (after(self.start)?, after(self.end)?);
        let limit = match self.limit.map(|column| (column, rows.get(column.0))) {
            None | Some((_, b"UNLIMITED" | b"Partition_Limit")) => None,
            Some((_, field)) if is_unknown(field) => None,
            Some((column, _)) => Some(time(
                column,
                "a limit [min], 1-02:00:00, UNLIMITED or Partition_Limit",
            )?),
        };
        let nodes = self.demand(rows, demand, account)?;
        let span = start.zip(end).filter(|_| state != State::Runs);
        if span.is_some_and(|(start, end)| match end - start - elapsed {
            // Time for which a job is suspended does not count, either.
            HOUR => is_set_forward(start, end),
            off => off == -HOUR,
        }) {
            account.suppose(Reason::AmbiguousTime);
        }
        let never_ran = state == State::Waits || self.start.is_some() && start.is_none();
        let size = if never_ran { -1 } else { elapsed };
        // Before it was eligible no policy could start it. It started earlier only where the clock was set meanwhile.
        let eligible = after(self.eligible)?.unwrap_or(submit);
        let eligible = eligible.min(start.unwrap_or(eligible));
        if eligible > submit {
            account.suppose(Reason::Eligible);
        }
        Ok(Raw {
            start,
            nodes,
            seen: match state {
                State::Runs if !never_ran => Seen::Censored,
                _ => Seen::Whole,
            },
            limit,
            user: self.user.map_or(0, |column| account.user(rows.get(column))),
            class: account.class(
                self.class
                    .map(|column| column.map_or(&b""[..], |column| rows.get(column))),
            ),
            fate: match state {
                State::Ended(fate) => fate,
                State::Runs | State::Waits => Fate::Completed,
            },
            ..Raw::new(rows.number(), submit.max(eligible), size).of(rows.id(), submit)
        })
    }

    /// Reads what it was allocated, or what it requested if that is nothing; returns on how many nodes, 0 where that is not
    /// reported.
    fn demand(&self, rows: &Rows, demand: &mut [f64], account: &mut Account) -> Result<u32, Fault> {
        let there = |column: &usize| !rows.get(*column).is_empty();
        let [allocated, requested] = self.tres.map(|column| column.filter(there));
        if allocated.is_none() && requested.is_some() {
            account.suppose(Reason::RequestedTaken);
        }
        demand.fill(0.0);
        let plain = |column: Option<usize>| column.map_or(Ok(None), |column| rows.amount(column));
        let Some(column) = allocated.or(requested) else {
            let (cpus, named) = (plain(self.cpus)?, plain(self.nodes)?.unwrap_or(0.0));
            let nodes = named.max(1.0);
            for (demand, name) in demand.iter_mut().zip(&self.names) {
                let amount = match name.as_str() {
                    "cpu" => cpus,
                    "mem" => self.requested_memory(rows, cpus.unwrap_or(1.0), nodes)?,
                    "node" => Some(nodes),
                    gres => Some(
                        nodes
                            * self
                                .gres
                                .map_or(0.0, |column| gres_of(rows.get(column), gres)),
                    ),
                };
                if amount.is_none() {
                    account.suppose(Reason::NoAmount);
                }
                *demand = amount.unwrap_or(0.0);
            }
            return Ok(named as u32);
        };
        let text = rows.get(column);
        let read = |tres: &str| {
            tres_of(text, tres).map_err(|found| Fault {
                found: String::from_utf8_lossy(found).into_owned(),
                ..rows.fault(column, "amounts such as cpu=32,mem=500G,gres/gpu=2")
            })
        };
        for (demand, tres) in demand.iter_mut().zip(&self.names) {
            let amount = read(tres)?;
            // A job without GPUs does not name them.
            if amount.is_none() && matches!(tres.as_str(), "cpu" | "mem") {
                account.suppose(Reason::NoAmount);
            }
            *demand = amount.unwrap_or(0.0);
        }
        let named = read("node")?.map_or_else(|| plain(self.nodes), |nodes| Ok(Some(nodes)))?;
        Ok(named.unwrap_or(0.0) as u32)
    }

    /// Reads the memory that a job requested \[GiB\]: `4000Mc` is that for each cpu, `16Gn` that for each node.
    fn requested_memory(&self, rows: &Rows, cpus: f64, nodes: f64) -> Result<Option<f64>, Fault> {
        let Some((column, text)) = self.memory.map(|column| (column, rows.get(column))) else {
            return Ok(None);
        };
        let (text, times) = match text {
            b"" => return Ok(None),
            [text @ .., b'c'] => (text, cpus),
            [text @ .., b'n'] => (text, nodes),
            text => (text, 1.0),
        };
        let amount = amount_of(text, "mem");
        let amount = amount.ok_or_else(|| rows.fault(column, "memory such as 4000Mc or 16G"))?;
        Ok(Some(amount * times))
    }
}

/// Returns whether clocks are set forward somewhere between these instants \[s since 1970\]: on the second or the last
/// Sunday of March, the last one of September, or the first one of October.
fn is_set_forward(start: i64, end: i64) -> bool {
    const DAY: i64 = 86_400;
    let year = |at: i64| 1970 + at.div_euclid(YEAR);
    let is_within = |(year, day): (i64, &str)| {
        let first = number::instant(format!("{year}-{day}").as_bytes());
        let first = first.map_or(i64::MIN, |at| at as i64 / DAY);
        // The first day of 1970 was a Thursday.
        let sunday = first.saturating_add((3 - first).rem_euclid(7));
        (start.div_euclid(DAY)..=end.div_euclid(DAY)).contains(&sunday)
    };
    let days = ["03-08", "03-25", "09-24", "10-01"];
    let mut days = (year(start)..=year(end)).cartesian_product(days);
    days.any(is_within)
}

/// An instant \[s since 1970, local\]; `None` where none is known.
fn instant(rows: &Rows, column: Option<usize>) -> Result<Option<i64>, Fault> {
    let Some((column, field)) = column.map(|column| (column, rows.get(column))) else {
        return Ok(None);
    };
    if is_unknown(field) {
        return Ok(None);
    }
    let numbered = || {
        let number = whole(field)? as f64;
        if is_epoch(number) {
            return Some(number);
        }
        Some(stamp(number).map_or(number, |(at, _)| at))
    };
    let instant = number::instant(field).or_else(numbered);
    instant.map_or_else(
        || Err(rows.fault(column, INSTANT)),
        |at| Ok(Some(at as i64)),
    )
}

const INSTANT: &str = "an instant such as 2024-03-31T02:30:00";

/// Returns what a state says; `CANCELLED by 1000` is CANCELLED.
pub(super) fn state(field: &[u8]) -> Option<State> {
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

/// Returns how much of a resource `cpu=32,mem=500G` has, memory in GiB; `None` where it is not named. What is named by
/// its type alone, as `gres/gpu:v100=2`, is the sum over types.
///
/// # Errors
/// What it says of that resource, if that is no amount.
fn tres_of<'a>(text: &'a [u8], name: &str) -> Result<Option<f64>, &'a [u8]> {
    let mut of_types = None;
    for part in text.split(|byte| *byte == b',') {
        let Some(rest) = part.strip_prefix(name.as_bytes()) else {
            continue;
        };
        let Some(at) = rest.iter().position(|byte| *byte == b'=') else {
            continue;
        };
        let amount = || amount_of(&rest[at + 1..], name).ok_or(part);
        match rest[..at] {
            [] => return amount().map(Some),
            [b':', ..] => of_types = Some(of_types.unwrap_or(0.0) + amount()?),
            _ => {}
        }
    }
    Ok(of_types)
}

/// Returns how much `gpu:v100:2,nic:1` has of `gres/gpu` on each node; one where no number stands.
fn gres_of(text: &[u8], name: &str) -> f64 {
    let text = String::from_utf8_lossy(text);
    let parts = text
        .split(',')
        .map(|part| part.split_once('(').map_or(part, |(part, _)| part));
    let parts = parts.map(|part| part.split(':').collect::<Vec<_>>());
    let own = parts.filter(|words| name.strip_prefix("gres/") == Some(words[0]));
    own.map(|words| words[words.len() - 1].parse().unwrap_or(1.0))
        .sum()
}

/// Returns an amount such as `500G`; of memory in GiB, and MiB without a unit.
fn amount_of(text: &[u8], name: &str) -> Option<f64> {
    let (without, gib) = if name == "mem" { (2, 3) } else { (0, 0) };
    let (text, unit) = match text {
        [text @ .., b'K'] => (text, 1),
        [text @ .., b'M'] => (text, 2),
        [text @ .., b'G'] => (text, 3),
        [text @ .., b'T'] => (text, 4),
        text => (text, without),
    };
    let scale = 1024_f64.powi(unit - gib);
    amount(text).map(|amount| amount * scale)
}
