//! This module reads the accounting of Slurm: one line for each job, with fields that are separated
//! by `|`, and whose names are in the first line (see sacct(1) of Slurm; `sacct -aXP`).
//!
//! The resources are `cpu`, `memory` in GiB (the TRES mem), generic resources by their name with or
//! without a type, such as `gpu` (gres/gpu) and `gpu:a100` (gres/gpu:a100), and any other TRES by
//! its own name. The allocated amounts are used, or the requested ones if these are not known. A
//! type is only used if it was requested. Local times are used as recorded; `TZ=UTC sacct …` avoids
//! jumps when clocks are changed. Seconds since 1970 (`SLURM_TIME_FORMAT=%s`) are also supported.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::{File, Line, Opened, Outcome, RawJob, Reader, Rows};
use crate::trace::fields::{
    self, Fault, amount, clock_ticks, is_placeholder, is_unknown, ticks, whole,
};
use crate::trace::{Account, Observed, Reason, Tick, TraceError};
use itertools::Itertools as _;
use synth_core::number::{self, clock, is_epoch, stamp};

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

/// The command to export the jobs of four weeks with all of the columns that are supported.
pub const EXPORT: &str = export!("", "");

pub(super) const EXPORT_HELP: &str = export!("Export with `", "`");

const MINUTE: f64 = 60.0;
const HOUR: i64 = 3600;

type Components = BTreeMap<Vec<u8>, (RawJob, Vec<f64>)>;

struct Sacct {
    id: usize,
    submit: usize,
    eligible: Option<usize>,
    start: Option<usize>,
    end: Option<usize>,
    elapsed: usize,
    limit: Option<usize>,
    state: usize,
    /// Allocated and requested, like `gres`, which is per node.
    tres: [Option<usize>; 2],
    cpus: Option<usize>,
    memory: Option<usize>,
    gres: [Option<usize>; 2],
    nodes: Option<usize>,
    user: Option<usize>,
    class: [Option<usize>; 3],
    names: Vec<String>,
    is_reported: [bool; 2],
    /// The components of heterogeneous jobs, by their first id and submission.
    joined: BTreeMap<(Vec<u8>, i64), Components>,
}

pub(super) fn open(file: File<'_>) -> Result<Opened, TraceError> {
    let (servers, mut rows) = file.table()?;
    let tres = [rows.column("AllocTRES")?, rows.column("ReqTRES")?];
    let cpus = rows.either(&["AllocCPUS", "NCPUS", "ReqCPUS"])?;
    let name = |resource: &String| match &*resource.to_ascii_lowercase() {
        "memory" => "mem".to_owned(),
        own @ ("cpu" | "mem" | "node" | "billing" | "energy" | "pages" | "vmem") => own.to_owned(),
        other if other.contains('/') => other.to_owned(),
        gres => format!("gres/{gres}"),
    };
    let elapsed = rows.needed(&["ElapsedRaw", "Elapsed"])?;
    let state = rows.needed(&["State"])?;
    if tres == [None; 2] && cpus.is_none() {
        rows.needed(&["AllocTRES"])?;
    }
    let column = |name| rows.column(name);
    let reader = Sacct {
        // Components of a heterogeneous job share a JobID up to `+`, but not JobIDRaw.
        id: rows.needed(&["JobID", "JobIDRaw"])?,
        submit: rows.needed(&["Submit"])?,
        eligible: column("Eligible")?,
        start: column("Start")?,
        end: column("End")?,
        elapsed,
        limit: rows.either(&["TimelimitRaw", "Timelimit"])?,
        state,
        tres,
        cpus,
        memory: column("ReqMem")?,
        gres: [column("AllocGRES")?, column("ReqGRES")?],
        nodes: rows.either(&["AllocNodes", "NNodes", "ReqNodes"])?,
        user: column("User")?,
        class: [column("Partition")?, column("Account")?, column("QOS")?],
        names: servers.resources.iter().map(name).collect(),
        is_reported: [false; 2],
        joined: BTreeMap::new(),
    };
    (rows.id, rows.has_ids) = (Some(reader.id), true);
    Ok((Tick::Second, servers, rows, Box::new(reader)))
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Ended(Outcome),
    Runs,
    Waits,
}

impl Reader for Sacct {
    fn read(&mut self, (rows, demand, account): Line<'_>) -> Result<Option<RawJob>, Fault> {
        // `123.batch` and `123.0` are steps of job 123; `123_4` is an array task, which is a job.
        let id = rows.get(self.id);
        if id.contains(&b'.') {
            account.note(Reason::Step, rows.number, 0.0);
            return Ok(None);
        }
        let job = self.job((rows, &mut *demand, &mut *account))?;
        let Some(plus) = id.iter().position(|byte| *byte == b'+') else {
            return Ok(Some(job));
        };
        let whole = (id[..plus].to_vec(), job.submit);
        let components = self.joined.entry(whole).or_default();
        let is_first = components.is_empty();
        let own = components.entry(id[plus..].to_vec());
        if let Entry::Occupied(mut known) = own {
            let before = known.get().0;
            if job.rank() >= before.rank() {
                let line = before.line;
                known.insert((RawJob { line, ..job }, demand.to_vec()));
            }
            account.note(Reason::Repeated, rows.number, 0.0);
            return Ok(None);
        }
        own.or_insert((job, demand.to_vec()));
        if !is_first {
            account.note(Reason::Component, rows.number, 0.0);
        }
        Ok(None)
    }

    fn left(&mut self, demand: &mut [f64], _: &mut Account) -> Option<RawJob> {
        demand.fill(0.0);
        let (_, components) = self.joined.pop_first()?;
        let jobs = components.into_values().map(|(job, own)| {
            let pairs = demand.iter_mut().zip(own);
            pairs.for_each(|(sum, own)| *sum += own);
            job
        });
        jobs.reduce(RawJob::join)
    }
}

impl Sacct {
    fn job(&mut self, (rows, demand, account): Line<'_>) -> Result<RawJob, Fault> {
        let submit = instant(rows, Some(self.submit))?;
        let submit = submit.ok_or_else(|| rows.fault(self.submit, INSTANT))?;
        if !std::mem::replace(&mut self.is_reported[0], true)
            && let Some((_, notation)) = fields::number(rows.get(self.submit)).and_then(stamp)
            && notation != "seconds since 1970"
        {
            let remark = format!("its instants are interpreted as {notation}");
            account.remarks.push(remark);
        }
        let state = state(rows.get(self.state)).ok_or_else(|| {
            let expected = "a state of Slurm, such as COMPLETED or TIMEOUT";
            rows.fault(self.state, expected)
        })?;
        let time = |column: usize, per_unit: f64, expected: &'static str| {
            let field = rows.get(column);
            let ticks = ticks(field, per_unit).or_else(|| clock_ticks(clock(field)?, 1.0));
            let ticks = ticks.filter(|(ticks, _)| *ticks >= 0);
            ticks.map_or_else(|| Err(rows.fault(column, expected)), |(ticks, _)| Ok(ticks))
        };
        let elapsed = time(self.elapsed, 1.0, "a length of time ≥ 0 [s]")?;
        let after = |column: Option<usize>| {
            let is_known = |at: &i64| !is_placeholder(*at as f64, submit as f64);
            Ok(instant(rows, column)?.filter(is_known))
        };
        let (start, end) = (after(self.start)?, after(self.end)?);
        let limit = match self.limit.map(|column| (column, rows.get(column))) {
            None | Some((_, b"UNLIMITED" | b"Partition_Limit")) => None,
            Some((_, field)) if is_unknown(field) => None,
            Some((column, _)) => {
                let expected = "a limit [min], 1-02:00:00, UNLIMITED or Partition_Limit";
                Some(time(column, MINUTE, expected)?)
            }
        };
        let (nodes, is_other_type) = self.demand((rows, demand, &mut *account))?;
        let span = start.zip(end).filter(|_| state != State::Runs);
        if span.is_some_and(|(start, end)| match end - start - elapsed {
            // The time for which a job is suspended does not count either.
            HOUR => is_set_forward(start, end),
            off => off == -HOUR,
        }) {
            account.note_if_used(Reason::AmbiguousTime);
        }
        let never_ran = state == State::Waits || self.start.is_some() && start.is_none();
        let size = if never_ran { -1 } else { elapsed };
        // No policy can start a job before it is eligible: an earlier start is a clock change.
        let eligible = after(self.eligible)?;
        let is_pending = state == State::Waits && eligible.is_some();
        let eligible = eligible.unwrap_or(submit);
        let eligible = eligible.min(start.unwrap_or(eligible));
        if eligible > submit {
            account.note_if_used(Reason::Eligible);
        }
        let class = self.class.map(|column| rows.text(column));
        let still_runs = state == State::Runs && !never_ran;
        Ok(RawJob {
            start,
            end,
            nodes,
            is_open: is_pending,
            seen: match (is_pending, still_runs) {
                (true, _) => Observed::Pending,
                (_, true) => Observed::Censored,
                _ => Observed::Whole,
            },
            limit,
            user: account.user(rows.text(self.user)),
            class: account.class(class),
            fate: match state {
                _ if is_other_type => Outcome::OtherType,
                State::Ended(fate) => fate,
                State::Runs | State::Waits => Outcome::Completed,
            },
            ..RawJob::new(rows.number, submit.max(eligible), size).of(rows.id(), submit)
        })
    }

    /// Reads the allocated amounts, or else the requested amounts. Returns the number of nodes (0
    /// if unknown), and whether the servers lack a needed type.
    fn demand(&mut self, (rows, demand, account): Line<'_>) -> Result<(u32, bool), Fault> {
        let there = |column: &usize| !rows.get(*column).is_empty();
        let [allocated, requested] = self.tres.map(|column| column.filter(there));
        if allocated.is_none() && requested.is_some() {
            account.note_if_used(Reason::RequestedTaken);
        }
        let named = self.nodes.map_or(Ok(None), |column| rows.amount(column))?;
        let column = allocated.or(requested);
        let built = column.map_or_else(|| self.columns(rows, named), |_| Ok(Default::default()))?;
        let texts = [(allocated, &built[0]), (requested, &built[1])];
        let texts = texts.map(|(own, built)| own.map_or(built.as_bytes(), |own| rows.get(own)));
        let expected = "amounts such as cpu=32,mem=500G,gres/gpu=2";
        let fault = |found: &[u8]| Fault {
            found: String::from_utf8_lossy(found).into_owned(),
            ..rows.fault(column.unwrap_or(self.id), expected)
        };
        for (demand, name) in demand.iter_mut().zip(&self.names) {
            let amount = needed(texts, name, account).map_err(fault)?;
            // GPUs are not listed if a job has none, so only these two amounts can be missing.
            if amount.is_none() && matches!(name.as_str(), "cpu" | "mem") {
                account.note_if_used(Reason::NoAmount);
            }
            *demand = amount.unwrap_or(0.0);
        }
        let nodes = column.map_or(Ok(None), |column| tres_of(rows.get(column), "node"));
        let nodes = nodes.map_err(fault)?.or(named).unwrap_or(0.0);
        let is_requested = !texts[1].is_empty();
        let (is_other_type, untold) = self.types(texts[usize::from(is_requested)]);
        if let Some(name) = untold.filter(|_| is_requested && !self.is_reported[1]) {
            self.is_reported[1] = true;
            account.remarks.push(format!(
                "jobs request types such as {name}, which the servers do not distinguish: all may run on any. Name the types in --servers, such as {name}=8"
            ));
        }
        Ok((nodes as u32, is_other_type))
    }

    /// Builds the allocated and the requested TRES for logs without these columns.
    fn columns(&self, rows: &Rows, nodes: Option<f64>) -> Result<[String; 2], Fault> {
        let nodes = nodes.unwrap_or(0.0).max(1.0);
        let cpus = self.cpus.map_or(Ok(None), |column| rows.amount(column))?;
        let memory = self.requested_memory(rows, cpus.unwrap_or(1.0), nodes)?;
        let gres = self.gres.map(|column| tres(rows.text(column), nodes));
        let [given, requested] = gres;
        let gres = if given.is_empty() { &requested } else { &given };
        let mut all = format!("node={nodes},{gres}");
        all += &cpus.map_or(String::new(), |own| format!(",cpu={own}"));
        all += &memory.map_or(String::new(), |own| format!(",mem={own}G"));
        Ok([all, requested])
    }

    /// Returns whether the servers lack a needed type, and a type that they do not distinguish.
    fn types(&self, text: &[u8]) -> (bool, Option<String>) {
        let (mut lacks, mut untold) = (false, None);
        if !text.contains(&b':') {
            return (lacks, untold);
        }
        let text = String::from_utf8_lossy(text).to_ascii_lowercase();
        let names = text.split(',').map(|part| part.split('=').next());
        for name in names.flatten() {
            let Some((kind, _)) = name.split_once(':') else {
                continue;
            };
            let is_type = |own: &String| own.starts_with(&name[..=kind.len()]);
            let has_types = self.names.iter().any(is_type);
            let has = |name: &str| self.names.iter().any(|own| own == name);
            lacks |= has_types && !has(name);
            if !has_types && has(kind) {
                untold = Some(name.replacen("gres/", "", 1));
            }
        }
        (lacks, untold)
    }

    /// Reads the requested memory \[GiB\]: `4000Mc` is per CPU, and `16Gn` is per node.
    fn requested_memory(&self, rows: &Rows, cpus: f64, nodes: f64) -> Result<Option<f64>, Fault> {
        let Some(column) = self.memory else {
            return Ok(None);
        };
        let (text, times) = match rows.get(column) {
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

/// Returns `true` if clocks may be set forward between these times: on the second or last Sunday of
/// March, the last Sunday of September, or the first Sunday of October.
fn is_set_forward(start: i64, end: i64) -> bool {
    const DAY: i64 = 86_400;
    let weeks = ["03-08".."03-15", "03-25".."04-01", "09-24".."10-08"];
    let mut days = (start.div_euclid(DAY)..=end.div_euclid(DAY)).take(366);
    days.any(|day| {
        let is_sunday = (day - 3).rem_euclid(7) == 0;
        let date = number::date((day * DAY) as f64);
        is_sunday && weeks.iter().any(|week| week.contains(&&date[5..10]))
    })
}

fn instant(rows: &Rows, column: Option<usize>) -> Result<Option<i64>, Fault> {
    let known = column.filter(|column| !is_unknown(rows.get(*column)));
    let Some(column) = known else {
        return Ok(None);
    };
    let field = rows.get(column);
    let numbered = || {
        let number = whole(field)? as f64;
        let date = stamp(number).filter(|_| !is_epoch(number));
        Some(date.map_or(number, |(at, _)| at))
    };
    let at = fields::instant(field).or_else(numbered);
    let at = at.ok_or_else(|| rows.fault(column, INSTANT))?;
    Ok(Some(at as i64))
}

const INSTANT: &str = "an instant such as 2024-03-31T02:30:00";

/// Parses a state. `CANCELLED by 1000` is CANCELLED, and `COMPLETED+` is from a narrow column.
pub(super) fn state(field: &[u8]) -> Option<State> {
    let word = field.split(u8::is_ascii_whitespace).next()?;
    Some(match word.strip_suffix(b"+").unwrap_or(word) {
        b"COMPLETED" => State::Ended(Outcome::Completed),
        b"BOOT_FAIL" | b"CANCELLED" | b"DEADLINE" | b"FAILED" | b"NODE_FAIL" | b"OUT_OF_MEMORY"
        | b"PREEMPTED" | b"REQUEUED" | b"RESIZING" | b"TIMEOUT" => State::Ended(Outcome::Broken),
        b"RUNNING" | b"SUSPENDED" => State::Runs,
        b"PENDING" | b"REVOKED" => State::Waits,
        _ => return None,
    })
}

/// Returns the needed amount of a resource. A job that requested no type may run on any type.
fn needed<'a>(
    [allocated, requested]: [&'a [u8]; 2],
    name: &str,
    account: &mut Account,
) -> Result<Option<f64>, &'a [u8]> {
    let is_given = !allocated.is_empty();
    let amount = tres_of(if is_given { allocated } else { requested }, name)?;
    if !name.contains(':') {
        return Ok(amount);
    }
    if requested.is_empty() {
        amount.inspect(|_| account.note_if_used(Reason::GivenType));
        return Ok(amount);
    }
    Ok(tres_of(requested, name)?.map(|asked| amount.unwrap_or(asked)))
}

/// Returns the amount of a name in lower case in a text such as `cpu=32,mem=500G` (memory in GiB),
/// or the sum of its types, as in `gres/gpu:v100=2`. The error is the part that is not valid.
fn tres_of<'a>(text: &'a [u8], name: &str) -> Result<Option<f64>, &'a [u8]> {
    let mut of_types = None;
    for part in text.split(|byte| *byte == b',') {
        let own = part.split_at_checked(name.len());
        let own = own.filter(|(own, _)| own.eq_ignore_ascii_case(name.as_bytes()));
        let rest = own.map_or(&b""[..], |(_, rest)| rest);
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

/// Converts resources per node: `gpu:v100:2(S:0),nic` to `gres/gpu:v100=4,gres/nic=2`.
fn tres(text: &[u8], nodes: f64) -> String {
    let text = String::from_utf8_lossy(text);
    let parts = text.split(',').filter(|part| !part.is_empty());
    let tres = parts.map(|part| {
        let part = part.split('(').next().unwrap_or(part);
        let counted = part.rsplit_once(':');
        let counted = counted.and_then(|(name, count)| Some((name, count.parse::<f64>().ok()?)));
        let (name, count) = counted.unwrap_or((part, 1.0));
        format!("gres/{name}={}", nodes * count)
    });
    tres.format(",").to_string()
}

/// Parses an amount such as `500G`. Memory (MiB by default) becomes GiB.
fn amount_of(text: &[u8], name: &str) -> Option<f64> {
    let (without, gib) = if name == "mem" { (2, 3) } else { (0, 0) };
    let of = |last| b"KMGT".iter().position(|own| own == last);
    let unit = text.last().and_then(of);
    let text = &text[..text.len() - usize::from(unit.is_some())];
    let unit = unit.map_or(without, |unit| unit as i32 + 1);
    let scale = 1024_f64.powi(unit - gib);
    amount(text).map(|amount| amount * scale)
}
