//! Events of the instances of a Borg cell, as text with a header (clusterdata-2019, table InstanceEvents of
//! clusterdata_trace_format_v3; M. Tirmazi et al., Borg: the Next Generation, EuroSys 2020).
//!
//! A job is what an instance holds from a SCHEDULE to the next EVICT, FAIL, FINISH, KILL or LOST; it came with the
//! SUBMIT before it, else as it was scheduled. An instance that runs again is another job, and those of one collection
//! are a batch. Events stand in the order of their time \[µs\]; 0 is before the trace, 2⁶³ − 1 after it. Resources:
//! `cpu` and `memory`, fractions of the largest machine. What runs inside an alloc instance holds that one's room and
//! none of its own. Memory grows with the instances that wait or run.

use std::collections::HashMap;

use super::{Fate, File, Line, Opened, Raw, Reader, Rows};
use crate::trace::account::name;
use crate::trace::fields::{Fault, number, ticks, whole};
use crate::trace::{Account, Observed, Reason, Tick, TraceError};

struct Borg {
    /// The columns that are looked at.
    time: usize,
    kind: usize,
    collection: usize,
    index: usize,
    alloc: Option<usize>,
    request: [usize; 2],
    /// By resource of the capacity, whether it is the cpu (0) or the memory (1) of a request.
    resources: Vec<usize>,
    /// Those that wait or run, by collection and index.
    instances: HashMap<(i64, i64), Instance>,
    /// When the trace began and where it is \[µs\].
    start: i64,
    now: i64,
    /// The ones that are left at the end, the last one first.
    left: Option<Vec<Instance>>,
}

/// An instance that waits or runs.
#[derive(Clone, Copy)]
struct Instance {
    line: u32,
    /// When it was submitted \[µs\].
    submit: i64,
    /// Since when it runs \[µs\].
    since: Option<i64>,
    /// Its collection.
    batch: u32,
    /// Of cpu and memory.
    request: [Option<f64>; 2],
}

/// What an event is.
enum Event {
    Submit,
    Schedule,
    End(Fate),
    /// It neither takes room nor gives it back.
    Other,
}

pub(super) fn open(file: File<'_>) -> Result<Opened, TraceError> {
    let (servers, rows) = file.table()?;
    let column = |name: &str| rows.needed(&[name]);
    // A query for `resource_request.cpus` names its column `cpus`.
    let request = |name: &str| rows.needed(&[&format!("resource_request.{name}"), name]);
    let resource = |resource: &String| match resource.as_str() {
        "cpu" => Ok(0),
        "memory" => Ok(1),
        _ => Err(rows.unreported(resource)),
    };
    let resources = servers.resources.iter().map(resource);
    let reader = Borg {
        resources: resources.collect::<Result<_, _>>()?,
        time: column("time")?,
        kind: column("type")?,
        collection: column("collection_id")?,
        index: column("instance_index")?,
        alloc: rows.column("alloc_collection_id")?,
        request: [request("cpus")?, request("memory")?],
        instances: HashMap::new(),
        start: 0,
        now: 0,
        left: None,
    };
    Ok((Tick::Microsecond, servers, rows, Box::new(reader)))
}

impl Reader for Borg {
    fn read(&mut self, (rows, demand, account): Line<'_>) -> Result<Option<Raw>, Fault> {
        let ended = self.event(rows, account)?;
        Ok(ended.map(|(instance, fate)| self.job(instance, Some(fate), (demand, account))))
    }

    fn left(&mut self, demand: &mut [f64], account: &mut Account) -> Option<Raw> {
        let instances = &mut self.instances;
        let left = self.left.get_or_insert_with(|| {
            let mut left: Vec<Instance> = instances.drain().map(|(_, instance)| instance).collect();
            left.sort_unstable_by_key(|instance| std::cmp::Reverse(instance.line));
            left
        });
        let last = left.pop()?;
        Some(self.job(last, None, (demand, account)))
    }
}

impl Borg {
    /// Reads the row; the job that it ends, if it does.
    fn event(
        &mut self,
        rows: &Rows,
        account: &mut Account,
    ) -> Result<Option<(Instance, Fate)>, Fault> {
        let Some(time) = self.time(rows)? else {
            return Ok(None);
        };
        let expected = "an event such as SCHEDULE or 3, of 0 to 10";
        let event = event(rows.get(self.kind)).ok_or_else(|| rows.fault(self.kind, expected))?;
        let place = |column: usize| {
            whole(rows.get(column)).ok_or_else(|| rows.fault(column, "a whole number"))
        };
        let instance = (place(self.collection)?, place(self.index)?);
        let [cpus, memory] = self.request;
        let request = [rows.amount(cpus)?, rows.amount(memory)?];
        self.now = time;
        if self.start == 0 {
            self.start = time;
        }
        if !matches!(rows.text(self.alloc), b"" | b"0") {
            if matches!(event, Event::Schedule) {
                account.note(Reason::Step, rows.number, 0.0);
            }
            return Ok(None);
        }
        let waits = |own: &Instance| own.since.is_none();
        let fresh = Instance {
            line: rows.number,
            submit: time,
            since: None,
            batch: name(rows.get(self.collection)),
            request,
        };
        Ok(match event {
            Event::Other => None,
            Event::Submit => {
                self.instances.entry(instance).or_insert(fresh);
                None
            }
            Event::Schedule => {
                let before = self.instances.get(&instance).copied();
                let submit = before.filter(waits).map(|own| own.submit);
                let scheduled = Instance {
                    submit: submit.unwrap_or(time),
                    since: Some(time),
                    ..fresh
                };
                self.instances.insert(instance, scheduled);
                // The end of the run before it was not logged.
                let lost = before.filter(|own| !waits(own));
                lost.map(|lost| (lost, Fate::Broken))
            }
            Event::End(fate) => Some((self.instances.remove(&instance).unwrap_or(fresh), fate)),
        })
    }

    /// Returns when the event was \[µs\]; `None` after the trace.
    fn time(&self, rows: &Rows) -> Result<Option<i64>, Fault> {
        /// 2⁶³ − 1 stays above this, however it is written.
        const AFTER: f64 = 9.2e18;
        let field = rows.get(self.time);
        if number(field).is_some_and(|time| time >= AFTER) {
            return Ok(None);
        }
        let expected = match ticks(field, 1.0) {
            Some((time, _)) if time >= self.now => return Ok(Some(time)),
            Some(_) => {
                "a time not before that of the line before: export the events ordered by time"
            }
            None => "a time [µs]",
        };
        Err(rows.fault(self.time, expected))
    }

    /// Returns what is known of a job that ended now like this, or still runs.
    fn job(
        &self,
        instance: Instance,
        end: Option<Fate>,
        (demand, account): (&mut [f64], &mut Account),
    ) -> Raw {
        for (demand, resource) in demand.iter_mut().zip(&self.resources) {
            let requested = instance.request[*resource];
            *demand = requested.unwrap_or_else(|| {
                account.suppose(Reason::NoAmount);
                0.0
            });
        }
        let since = instance.since;
        let held = since.map_or(-1, |since| self.now - since.max(self.start));
        Raw {
            seen: match end {
                _ if since.is_none() => Observed::Whole,
                _ if instance.submit == 0 => Observed::Initial,
                Some(_) => Observed::Whole,
                None => Observed::Censored,
            },
            start: since,
            batch: instance.batch,
            fate: end.unwrap_or(Fate::Completed),
            ..Raw::new(instance.line, instance.submit.max(self.start), held)
        }
    }
}

/// Returns the event of this name or number (enum EventType).
fn event(field: &[u8]) -> Option<Event> {
    Some(match field {
        b"0" | b"SUBMIT" => Event::Submit,
        b"3" | b"SCHEDULE" => Event::Schedule,
        b"6" | b"FINISH" => Event::End(Fate::Completed),
        b"4" | b"EVICT" | b"5" | b"FAIL" | b"7" | b"KILL" | b"8" | b"LOST" => {
            Event::End(Fate::Broken)
        }
        b"1" | b"QUEUE" | b"2" | b"ENABLE" | b"9" | b"UPDATE_PENDING" | b"10"
        | b"UPDATE_RUNNING" => Event::Other,
        _ => return None,
    })
}
