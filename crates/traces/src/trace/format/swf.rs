//! This module reads the Standard Workload Format: 18 fields per line, separated by spaces, −1 if
//! unknown, and comments `; Key: value` (Parallel Workloads Archive, version 2.2; S. J. Chapin et
//! al., Benchmarks and Standards for the Evaluation of Parallel Job Schedulers, JSSPP 1999).

use super::{File, Line, Opened, Outcome, RawJob, Rows};
use crate::trace::fields::{Fault, MAX_EXACT, number, ticks};
use crate::trace::{Reason, ServerShape, Servers, Tick, TraceError};
use synth_core::number::{Decimal, stamp};

const PROCESSORS: [&str; 5] = ["cpu", "cpus", "cores", "processors", "nodes"];

mod field {
    pub(super) const NUMBER: usize = 0;
    pub(super) const SUBMIT: usize = 1;
    pub(super) const WAIT: usize = 2;
    pub(super) const RUN: usize = 3;
    pub(super) const ALLOCATED: usize = 4;
    pub(super) const USED_MEMORY: usize = 6;
    pub(super) const REQUESTED: usize = 7;
    pub(super) const LIMIT: usize = 8;
    pub(super) const REQUESTED_MEMORY: usize = 9;
    pub(super) const STATUS: usize = 10;
    pub(super) const USER: usize = 11;
    pub(super) const GROUP: usize = 12;
    pub(super) const QUEUE: usize = 14;
    pub(super) const PARTITION: usize = 15;
}

const KIB: f64 = 1_048_576.0;

pub(super) fn open(file: File<'_>) -> Result<Opened, TraceError> {
    let mut rows = Rows::new(&file.name, file.format, file.input);
    let lines = file
        .start
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::trim_ascii);
    let mut lines = lines.filter(|line| !line.is_empty());
    let mut size = [None; 2];
    let is_comment = |line: &[u8]| {
        let text = line.strip_prefix(b";");
        for (size, key) in size.iter_mut().zip(["MaxProcs", "MaxNodes"]) {
            *size = size.or_else(|| header(text?, key));
        }
        text.is_some()
    };
    let has_rows = !lines.all(is_comment);
    let size = size[0].or(size[1]).or((!has_rows).then_some(Decimal::ONE));
    let servers = size.map(|size| {
        let capacity = vec![size];
        Servers::new(vec!["cpu".into()], vec![ServerShape { count: 1, capacity }])
    });
    let servers = file.options.servers.clone().or(servers).ok_or_else(|| {
        rows.wrong(
            "its header has neither MaxProcs nor MaxNodes: give --capacity, such as --capacity cpu=128",
        )
    })?;
    let resources = &servers.resources;
    let place = |names: &[&str]| resources.iter().position(|r| names.contains(&r.as_str()));
    let (processors, memory) = (place(&PROCESSORS), place(&["memory"]));
    let known = 1 + usize::from(memory.is_some());
    let Some(processors) = processors.filter(|_| resources.len() == known) else {
        return Err(rows.wrong(format!(
            "swf has processors (cpu) and memory [GiB] of a job, but the capacity has {}",
            resources.join(", ")
        )));
    };
    rows.id = Some(field::NUMBER);
    let read = move |line: Line<'_>| job(line, processors, memory);
    Ok((Tick::Second, servers, rows, Box::new(read)))
}

fn header(text: &[u8], key: &str) -> Option<Decimal> {
    let text = std::str::from_utf8(text).ok()?;
    let (found, value) = text.split_once(':')?;
    let value = Decimal::parse(value.split_whitespace().next()?).ok()?;
    (value > Decimal::ZERO && found.trim().eq_ignore_ascii_case(key)).then_some(value)
}

fn job(
    (rows, demand, account): Line<'_>,
    processors_at: usize,
    memory: Option<usize>,
) -> Result<Option<RawJob>, Fault> {
    let mut time = |n: usize| rows.counted(ticks(rows.get(n), 1.0), n, "a time [s]", account);
    let (submit, run, limit) = (time(field::SUBMIT)?, time(field::RUN)?, time(field::LIMIT)?);
    let wait = number(rows.get(field::WAIT)).filter(|wait| (0.0..MAX_EXACT).contains(wait));
    if submit < 0 {
        return Err(rows.fault(field::SUBMIT, "a time of submission ≥ 0 [s]"));
    }
    if stamp(submit as f64).is_some_and(|(_, notation)| notation == "YYYYMMDDhhmmss") {
        let expected = "seconds, not the digits of a date: write times after the first submission";
        return Err(rows.fault(field::SUBMIT, expected));
    }
    let amount = |n: usize| {
        let number = number(rows.get(n)).filter(|number| *number <= MAX_EXACT);
        number.ok_or_else(|| rows.fault(n, "a number below 2⁵³"))
    };
    let (allocated, requested) = (amount(field::ALLOCATED)?, amount(field::REQUESTED)?);
    let processors = Some(allocated).filter(|own| *own > 0.0);
    if processors.is_none() && requested > 0.0 {
        account.note_if_used(Reason::RequestedTaken);
    }
    let processors = processors.unwrap_or(requested.max(0.0));
    demand[processors_at] = processors;
    if let Some(memory) = memory {
        let fields = [field::REQUESTED_MEMORY, field::USED_MEMORY];
        let [requested, used] = fields.map(amount);
        let kib = [requested?, used?].into_iter().find(|kib| *kib >= 0.0);
        if kib.is_none() {
            account.note_if_used(Reason::NoAmount);
        }
        demand[memory] = kib.unwrap_or(0.0) * processors / KIB;
    }
    let fate = match amount(field::STATUS)? {
        0.0 | 5.0 => Outcome::Broken,
        2.0 | 3.0 | 4.0 => Outcome::Part,
        _ => Outcome::Completed,
    };
    if !rows.rest().trim_ascii().is_empty() {
        account.note_if_used(Reason::MoreText);
    }
    let name = |n: usize| match rows.get(n) {
        b"-1" => b"",
        name => name,
    };
    let user = account.user(name(field::USER));
    // Most systems only have queues.
    let class = match (name(field::PARTITION), name(field::QUEUE)) {
        (b"", queue) => [queue, name(field::GROUP), b""],
        (partition, queue) => [partition, name(field::GROUP), queue],
    };
    // The parts of a job have the number of the job.
    let id = Some(rows.id()).filter(|_| fate != Outcome::Part);
    Ok(Some(RawJob {
        start: wait.map(|wait| submit + wait.round() as i64),
        limit: Some(limit),
        user,
        class: account.class(class),
        fate,
        nodes: 0,
        ..RawJob::new(rows.number, submit, run).of(id.unwrap_or_default(), submit)
    }))
}
