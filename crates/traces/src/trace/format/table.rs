//! Reads tables with a header. Columns are given by options or are recognized by their names.

mod found;
mod units;

use std::io::Cursor;

use itertools::Itertools as _;

use super::sacct::{State, state};
use super::{File, Line, Opened, Outcome, RawJob, Reader, Rows, TraceFormat};
use crate::trace::account::name;
use crate::trace::fields::{
    Fault, amount, clock_ticks, instant, is_placeholder, is_unknown, number, ticks,
};
use crate::trace::{Account, Observed, ReadOptions, ServerShape, Tick, TraceError};
use found::{ColumnFinder, END, ROLES, columns_of};
use synth_core::number::{clock, stamp};
use units::{CALENDAR, is_read, notation};

const EACH: [&str; 5] = ["per_", "per-", "per ", "pernode", "each"];
const TICKS: [Tick; 3] = [Tick::Second, Tick::Millisecond, Tick::Microsecond];

#[derive(Clone, Copy)]
struct Times {
    column: usize,
    unit: f64,
    /// The notation of times that are numbers, or `None` if numbers count units.
    notation: Option<&'static str>,
}

/// The product of columns divided by a number.
struct Amount {
    columns: Vec<usize>,
    over: f64,
}

struct Columns {
    per_second: f64,
    time: Times,
    start: Option<Times>,
    held: Times,
    has_end: bool,
    limit: Option<Times>,
    nodes: Option<usize>,
    /// Whether amounts are per server, and the remark about this until it has been reported.
    is_each: bool,
    convention: Option<String>,
    user: Option<usize>,
    batch: Option<usize>,
    censored: Option<usize>,
    status: Option<usize>,
    amounts: Vec<Amount>,
}

pub(super) fn open(file: File<'_>) -> Result<Opened, TraceError> {
    let (options, start) = (file.options, file.start.clone());
    let (servers, mut rows) = file.table()?;
    let is_role = |what: &String| ROLES.iter().any(|(role, _)| role == what);
    for (what, _) in &options.columns {
        if !is_role(what) && !servers.resources.contains(what) {
            return Err(TraceError::Refused(format!(
                "--columns {what}=…: this is neither a resource of the capacity ({}) nor one of {}",
                servers.resources.join(", "),
                ROLES.map(|(role, _)| role).join(", ")
            )));
        }
    }
    let mut found = ColumnFinder {
        options,
        columns: columns_of(&rows, options)?,
        rows: &rows,
        by_name: Vec::new(),
        read: Vec::new(),
    };
    let time = found.times("time")?.ok_or_else(|| found.missing("time"))?;
    let start_of = found.times("start")?;
    // A size takes precedence over an end, unless `--columns` names the latter.
    let size = match found.named("end") {
        Some(_) => None,
        None => found.times("size")?,
    };
    let end = match size {
        Some(_) => None,
        None => found.times("end")?,
    };
    let mut columns = Columns {
        per_second: 1.0,
        time,
        start: start_of,
        held: size.or(end).ok_or_else(|| found.missing("size"))?,
        has_end: end.is_some(),
        limit: found.times("limit")?,
        is_each: false,
        convention: None,
        nodes: found.column("nodes")?,
        user: found.column("user")?,
        batch: found.column("batch")?,
        censored: found.column("censored")?,
        status: None,
        amounts: Vec::new(),
    };
    if found.named("status").is_some() {
        columns.status = found.column("status")?;
    }
    for resource in &servers.resources {
        columns.amounts.push(found.amount(resource)?);
    }
    let has_ids = options.columns.iter().any(|(own, _)| own == "id");
    let id = found.column("id")?;
    let is_named = found.named("nodes").is_some();
    let (mut by_name, mut read) = (found.by_name, found.read);
    let again = || {
        let start = Box::new(Cursor::new(start.clone()));
        Rows::open(&rows.name, TraceFormat::Csv, start)
    };
    let mut remarks = Vec::new();
    let list = |what, names: String| (!names.is_empty()).then(|| format!("{what}: {names}"));
    let notations = columns.notations(again()?, options)?;
    remarks.extend(list("numbers interpreted as instants", notations));
    remarks.extend(columns.lengths(again()?, options)?);
    if !columns.has_counts(again()?, options)? && !is_named {
        read.retain(|own| Some(*own) != columns.nodes);
        columns.nodes = None;
        by_name.retain(|own| !own.starts_with("nodes="));
    }
    remarks.extend(list("columns recognized by name", by_name.join(", ")));
    if columns.has_end && columns.start.is_none() {
        remarks.push("no column has the start of jobs: each is assumed to have started on submission. If some waited, name the column with --columns start=COLUMN".into());
    }
    let tick = columns.tick(again()?)?;
    (rows.id, rows.has_ids) = (id, has_ids);
    let header = rows.header().into_iter().enumerate();
    let unread = header.filter(|(column, _)| !read.contains(column));
    let unread = unread.map(|(_, name)| name).join(", ");
    remarks.extend(list("columns not used", unread));
    rows.remarks = remarks;
    Ok((tick, servers, rows, Box::new(columns)))
}

impl Columns {
    /// Detects the notation of numbers without a unit; an error if they may be of another clock.
    fn notations(&mut self, mut rows: Rows, options: &ReadOptions) -> Result<String, TraceError> {
        let end = self.has_end.then_some(&mut self.held);
        let all = [
            ("time", Some(&mut self.time)),
            ("start", self.start.as_mut()),
            ("end", end),
        ];
        let units = || options.units.iter().map(|(own, _)| own.as_str());
        let has_unit = |what: &str| units().any(|own| own == what || own == "time");
        let all = all.into_iter().filter(|(what, _)| !has_unit(what));
        let all = all.filter_map(|(what, times)| Some((what, times?, Vec::new())));
        let (mut all, mut account): (Vec<_>, _) = (all.collect(), Account::default());
        while rows.advance(&mut account)? {
            for (_, times, found) in &mut all {
                found.extend(notation(rows.get(times.column)));
            }
        }
        for (_, times, found) in &mut all {
            let half = found.len() / 2;
            let mut counts = found.drain(..).counts().into_iter();
            let most = counts.find(|(_, lines)| *lines > half);
            times.notation = most.and_then(|(own, _)| own);
        }
        let mut notations = all.iter().filter_map(|(_, times, _)| times.notation);
        let is_dated = notations.any(|own| own.len() > "YYYYMMDDhh".len());
        let mut words = Vec::new();
        let plain = [CALENDAR, "seconds since 1970"];
        for (what, times, _) in all {
            times.notation.take_if(|own| plain.contains(own));
            let column = rows.header()[times.column];
            match times.notation {
                None => {}
                Some(notation) if is_dated && is_read(notation) => {
                    words.push(format!("{what} as {notation}"))
                }
                Some(notation) => {
                    let unit = match what {
                        "time" => "unit".to_owned(),
                        what => format!("unit.{what}"),
                    };
                    return Err(rows.wrong(format!(
                        "the numbers in its column `{column}` may be dates ({notation}) or seconds: give --read {unit}=s if they are seconds, otherwise write dates such as 2026-03-01T12:00"
                    )));
                }
            }
        }
        Ok(words.join(", "))
    }

    /// Returns `true` if the column `nodes` contains numbers of servers, and decides whether
    /// amounts are per server: by the option, or by the names of columns and whether all jobs fit.
    fn has_counts(&mut self, mut rows: Rows, options: &ReadOptions) -> Result<bool, TraceError> {
        let (Some(column), Some(servers)) = (self.nodes, &options.servers) else {
            return Ok(false);
        };
        let is_one = matches!(servers.shapes[..], [ServerShape { count: 1, .. }]);
        let (mut has_counts, mut lines, mut too_large) = (true, 0, Vec::new());
        let mut account = Account::default();
        while rows.advance(&mut account)? {
            let nodes = count(rows.get(column));
            has_counts &= nodes.is_some();
            lines += 1;
            let held = |own: &Amount| {
                let amounts = own.columns.iter().map(|column| amount(rows.get(*column)));
                amounts.product::<Option<f64>>().unwrap_or_default() / own.over
            };
            let amounts: Vec<f64> = self.amounts.iter().map(held).collect();
            let count = nodes.unwrap_or(1);
            let all = amounts.iter().map(|own| own * f64::from(count));
            let fits = match is_one {
                true => servers.hold(&all.collect_vec(), 1),
                false => servers.hold(&amounts, count),
            };
            if !fits && servers.spread(&amounts, 0).is_some() {
                too_large.push(rows.number);
            }
        }
        // A single job that is too large is an error in its row.
        if too_large.len() < 2 || 100 * too_large.len() <= lines {
            too_large.clear();
        }
        let name = rows.header()[column];
        let says_each = |own: &Amount| {
            let name = rows.header()[own.columns[0]].to_ascii_lowercase();
            EACH.iter().any(|word| name.contains(word))
        };
        let is_named_each = !self.amounts.is_empty() && self.amounts.iter().all(says_each);
        let is_each =
            is_named_each || !name.to_ascii_lowercase().contains("node") && too_large.is_empty();
        self.is_each = options.amounts.unwrap_or(is_each);
        let (of, other, option) = match is_each {
            true => ("each server", "of all together", "total"),
            false => ("all servers together", "of each", "per-node"),
        };
        let why = too_large.first().filter(|_| !is_each);
        let why =
            why.map(|line| format!(", because otherwise the job in line {line} does not fit"));
        let why = why.unwrap_or_default();
        self.convention = options.amounts.is_none().then(|| format!(
            "jobs run on several servers (column `{name}`): their amounts are interpreted as those of {of}{why}. If they are those {other}, give --read amounts={option}"
        ));
        Ok(has_counts)
    }

    /// Finds the largest tick, up to the unit of the file, for which all times are integers.
    fn tick(&mut self, mut rows: Rows) -> Result<Tick, TraceError> {
        let times = [Some(self.time), Some(self.held), self.start, self.limit];
        let times: Vec<Times> = times.into_iter().flatten().collect();
        let unit = times.iter().map(|own| own.unit).fold(1.0, f64::min);
        let is_within = |tick: &Tick| unit * tick.per_second() as f64 > 0.999;
        let mut ticks = TICKS.into_iter().filter(is_within);
        let mut tick = ticks.next().unwrap_or(Tick::Microsecond);
        self.per_second = tick.per_second() as f64;
        let mut account = Account::default();
        while rows.advance(&mut account)? {
            let is_off = |of: &Self, own: &Times| of.ticks_of(&rows, *own).is_some_and(|own| own.1);
            while times.iter().any(|own| is_off(self, own))
                && let Some(finer) = ticks.next()
            {
                tick = finer;
                self.per_second = tick.per_second() as f64;
            }
        }
        Ok(tick)
    }

    /// Reads a number of units, a date, or a duration (`0:00:16`), and returns if it was rounded.
    fn ticks_of(&self, rows: &Rows, times: Times) -> Option<(i64, bool)> {
        let field = rows.get(times.column);
        if let Some(number) = number(field) {
            if let Some(notation) = times.notation {
                let (at, _) = stamp(number).filter(|(_, own)| *own == notation)?;
                return clock_ticks(at, self.per_second);
            }
            // A unit is a whole number of ticks, or a fraction of a tick.
            let per_unit = times.unit * self.per_second;
            let is_part = per_unit < 1.0;
            return ticks(field, if is_part { per_unit } else { per_unit.round() });
        }
        clock_ticks(instant(field).or_else(|| clock(field))?, self.per_second)
    }

    /// Reads a time; `None` if it is unknown, or a placeholder for a time after `submit`.
    fn get(
        &self,
        (rows, account): (&Rows, &mut Account),
        times: Option<Times>,
        submit: Option<i64>,
    ) -> Result<Option<i64>, Fault> {
        let is_known = |times: &Times| {
            let field = rows.get(times.column);
            let at = submit.and_then(|_| number(field).or_else(|| instant(field)));
            let submit = submit.map(|submit| submit as f64 / self.per_second);
            let mut both = at.zip(submit).into_iter();
            !is_unknown(field) && !both.any(|(at, submit)| is_placeholder(at, submit))
        };
        let Some(times) = times.filter(is_known) else {
            return Ok(None);
        };
        let expected = "a time: a number, 2024-03-31 02:30:00 or 0:00:16";
        rows.counted(self.ticks_of(rows, times), times.column, expected, account)
            .map(Some)
    }
}

fn count(field: &[u8]) -> Option<u32> {
    let nodes = amount(field).filter(|nodes| nodes.fract() == 0.0);
    let nodes = nodes.filter(|nodes| (1.0..1e9).contains(nodes));
    nodes.map(|nodes| nodes as u32)
}

impl Reader for Columns {
    fn read(&mut self, (rows, demand, account): Line<'_>) -> Result<Option<RawJob>, Fault> {
        for (demand, amount) in demand.iter_mut().zip(&self.amounts) {
            let mut columns = amount.columns.iter();
            let product = columns.try_fold(1.0, |product, column| {
                Ok(product * rows.demand(*column, account)?)
            });
            *demand = product? / amount.over;
        }
        let submit = self.get((rows, account), Some(self.time), None)?;
        let submit = submit.ok_or_else(|| rows.fault(self.time.column, "a time"))?;
        let start = self.get((rows, account), self.start, Some(submit))?;
        let begun = start.or(Some(submit).filter(|_| self.start.is_none()));
        let after = Some(submit).filter(|_| self.has_end);
        let mut held = self.get((rows, account), Some(self.held), after)?;
        if self.has_end {
            held = begun.zip(held).map(|(begun, end)| end - begun);
            let expected = match self.start {
                Some(_) => "an end that is not before its start",
                None => "an end that is not before its time",
            };
            if held.is_some_and(|held| held < 0) {
                return Err(rows.fault(self.held.column, expected));
            }
        }
        let runs = match self.censored.map(|column| (column, rows.get(column))) {
            None if self.has_end => held.is_none() && begun.is_some(),
            // A size of -1 means that it is unknown.
            None => held.is_none_or(|held| held < 0) && start.is_some(),
            Some((_, b"" | b"0" | b"false" | b"no")) => false,
            Some((_, b"1" | b"true" | b"yes")) => true,
            Some((column, _)) => return Err(rows.fault(column, "0 or 1")),
        };
        let nodes = self.nodes.map_or(Ok(0), |column| {
            let expected = "a number of servers, 1 or more";
            count(rows.get(column)).ok_or_else(|| rows.fault(column, expected))
        })?;
        if nodes > 1 {
            account.remarks.extend(self.convention.take());
        }
        let status = rows.text(self.status).to_ascii_uppercase();
        Ok(Some(RawJob {
            start,
            fate: match state(&status) {
                Some(State::Ended(fate)) => fate,
                _ => Outcome::Completed,
            },
            is_open: runs && held.is_none_or(|held| held < 0),
            nodes,
            is_each: self.is_each,
            seen: if runs {
                Observed::Censored
            } else {
                Observed::Whole
            },
            limit: self.get((rows, account), self.limit, None)?,
            user: account.user(rows.text(self.user)),
            batch: name(rows.text(self.batch)),
            ..RawJob::new(rows.number, submit, held.unwrap_or(-1)).of(rows.id(), submit)
        }))
    }
}
