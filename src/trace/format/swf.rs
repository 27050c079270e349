//! The Standard Workload Format: 18 fields between blanks, −1 where something is not known, and comments
//! `; Key: value` (Parallel Workloads Archive, version 2.2; S. J. Chapin et al., Benchmarks and Standards for the
//! Evaluation of Parallel Job Schedulers, JSSPP 1999).

use super::{Begun, Fate, File, Raw, Reader};
use crate::number::Decimal;
use crate::trace::fields::{Fault, MOST, name, number, ticks};
use crate::trace::input::Lines;
use crate::trace::{Account, Reason, Servers, Tick, TraceError};

/// How many fields a line has.
pub(super) const FIELDS: usize = 18;

/// Names that processors may have in a capacity.
const PROCESSORS: [&str; 5] = ["cpu", "cpus", "cores", "processors", "nodes"];

/// The fields that are looked at, from 0.
mod field {
    pub const SUBMIT: usize = 1;
    pub const RUN: usize = 3;
    pub const ALLOCATED: usize = 4;
    pub const USED_MEMORY: usize = 6;
    pub const REQUESTED: usize = 7;
    pub const LIMIT: usize = 8;
    pub const REQUESTED_MEMORY: usize = 9;
    pub const STATUS: usize = 10;
    pub const USER: usize = 11;
}

/// KiB in a GiB, the unit of memory in a capacity.
const KIB: f64 = 1_048_576.0;

struct Swf {
    name: String,
    lines: Lines,
    /// The line that ended the header is still to be taken.
    is_pending: bool,
    /// The place of processors and of memory in a demand.
    processors: usize,
    memory: Option<usize>,
    /// From where to where each field of the line reaches; kept here, as copies of it would be felt.
    bounds: [(usize, usize); FIELDS],
    /// Whether more stands behind them.
    has_more: bool,
}

pub(super) fn open(file: File<'_>) -> Result<Begun, TraceError> {
    let mut lines = Lines::new(file.input);
    let mut size = [None; 2];
    let mut is_pending = false;
    while !is_pending && lines.advance_in(&file.name)? {
        is_pending = match comment(lines.line()) {
            Some(text) => {
                for (size, key) in size.iter_mut().zip(["MaxProcs", "MaxNodes"]) {
                    *size = size.or_else(|| header(text, key));
                }
                false
            }
            None => !lines.line().trim_ascii().is_empty(),
        };
    }
    let servers = match (&file.options.servers, size[0].or(size[1])) {
        (Some(servers), _) => servers.clone(),
        (None, Some(size)) => Servers::one(vec![("cpu".into(), size)]),
        (None, None) if !is_pending => Servers::one(vec![("cpu".into(), Decimal::ONE)]),
        (None, None) => {
            let why = "its header tells neither MaxProcs nor MaxNodes: give --capacity, such as --capacity cpu=128";
            return Err(TraceError(format!("{}: {why}", file.name)));
        }
    };
    let place = |names: &[&str]| {
        servers
            .resources
            .iter()
            .position(|r| names.contains(&r.as_str()))
    };
    let (processors, memory) = (place(&PROCESSORS), place(&["memory"]));
    let known = 1 + usize::from(memory.is_some());
    let Some(processors) = processors.filter(|_| servers.resources.len() == known) else {
        return Err(TraceError(format!(
            "{}: swf tells processors (cpu) and memory [GiB] of a job, and the capacity has {}",
            file.name,
            servers.resources.join(", ")
        )));
    };
    let reader = Swf {
        name: file.name,
        lines,
        is_pending,
        processors,
        memory,
        bounds: [(0, 0); FIELDS],
        has_more: false,
    };
    Ok((servers, Box::new(reader)))
}

fn comment(line: &[u8]) -> Option<&[u8]> {
    line.trim_ascii_start().strip_prefix(b";")
}

/// Returns the number that `Key: 128` tells of this key, if it does.
fn header(text: &[u8], key: &str) -> Option<Decimal> {
    let text = std::str::from_utf8(text).ok()?;
    let (found, value) = text.split_once(':')?;
    let value = value.split_whitespace().next()?;
    let value = Decimal::parse(value)
        .ok()
        .filter(|value| *value > Decimal::ZERO);
    value.filter(|_| found.trim().eq_ignore_ascii_case(key))
}

impl Reader for Swf {
    fn tick(&self) -> Tick {
        Tick::Second
    }

    fn next(
        &mut self,
        demand: &mut [f64],
        account: &mut Account,
    ) -> Result<Option<Raw>, TraceError> {
        while std::mem::take(&mut self.is_pending) || self.lines.advance_in(&self.name)? {
            let line = self.lines.line();
            if comment(line).is_some() || line.trim_ascii().is_empty() {
                continue;
            }
            match self.cut().and_then(|()| self.read(demand, account)) {
                Ok(raw) => return Ok(Some(raw)),
                Err(fault) => fault.note(self.lines.number(), account),
            }
        }
        Ok(None)
    }
}

impl Swf {
    /// Finds the fields of the line.
    fn cut(&mut self) -> Result<(), Fault> {
        let line = self.lines.line();
        let mut at = 0;
        for bound in &mut self.bounds {
            while line.get(at).is_some_and(is_blank) {
                at += 1;
            }
            let start = at;
            while line.get(at).is_some_and(|byte| !is_blank(byte)) {
                at += 1;
            }
            if at == start {
                return Err(Fault::at(line, b"", "18 fields: the line ends here"));
            }
            *bound = (start, at);
        }
        self.has_more = !line[at..].trim_ascii().is_empty();
        Ok(())
    }

    fn get(&self, n: usize) -> &[u8] {
        let (start, end) = self.bounds[n];
        &self.lines.line()[start..end]
    }

    fn fault(&self, n: usize, expected: &'static str) -> Fault {
        let before = &self.lines.line()[..self.bounds[n].0];
        Fault::at(before, self.get(n), expected)
    }

    /// Reads the line.
    fn read(&self, demand: &mut [f64], account: &mut Account) -> Result<Raw, Fault> {
        let line = self.lines.number();
        let mut is_rounded = false;
        let mut time = |n: usize| {
            let (ticks, rounded) =
                ticks(self.get(n), 1.0).ok_or_else(|| self.fault(n, "a time [s]"))?;
            is_rounded |= rounded;
            Ok(ticks)
        };
        let (submit, run, limit) = (time(field::SUBMIT)?, time(field::RUN)?, time(field::LIMIT)?);
        if submit < 0 {
            return Err(self.fault(field::SUBMIT, "a time of submission ≥ 0 [s]"));
        }
        let amount = |n: usize| {
            let number = number(self.get(n)).filter(|number| *number <= MOST);
            number.ok_or_else(|| self.fault(n, "a number below 2⁵³"))
        };
        let (allocated, requested) = (amount(field::ALLOCATED)?, amount(field::REQUESTED)?);
        let processors = if allocated > 0.0 {
            allocated
        } else {
            requested.max(0.0)
        };
        demand[self.processors] = processors;
        if let Some(memory) = self.memory {
            let told = [
                amount(field::REQUESTED_MEMORY)?,
                amount(field::USED_MEMORY)?,
            ];
            let kib = told.into_iter().find(|kib| *kib >= 0.0);
            if kib.is_none() {
                account.suppose(Reason::NoAmount);
            }
            demand[memory] = kib.unwrap_or(0.0) * processors / KIB;
        }
        let fate = match amount(field::STATUS)? {
            0.0 | 5.0 => Fate::Broken,
            2.0 | 3.0 | 4.0 => Fate::Part,
            _ => Fate::Completed,
        };
        account.suppose_where([
            (Reason::RequestedTaken, allocated <= 0.0 && processors > 0.0),
            (Reason::RoundedTime, is_rounded),
            (Reason::MoreText, self.has_more),
        ]);
        Ok(Raw {
            line,
            submit,
            size: run,
            is_censored: false,
            limit: Some(limit),
            user: name(self.get(field::USER)).max(1) * u32::from(self.get(field::USER) != b"-1"),
            batch: 0,
            fate,
        })
    }
}

fn is_blank(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t')
}
