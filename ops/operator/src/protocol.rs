//! The scheduler reads lines of JSON and writes one answer for each line (see `docs/reference/drive.md`).

use std::collections::BTreeMap;
use std::io::{self, BufRead as _, BufReader, Read, Write};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Decisions, Places, Scheduler};
use synth_core::document::harmless;

const LONGEST: usize = 1 << 20;

/// A line of the input, which contains a time and at most one event.
#[derive(Clone, Debug, PartialEq, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// The time in the unit of the policy.
    pub t: f64,
    /// The type of a job that arrives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrive: Option<String>,
    /// The type of a job that is already running.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adopt: Option<String>,
    /// The id of the job that arrives or is already running.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
    /// The maximum run time of the job, for rules that use time limits \[time\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<f64>,
    /// The user of the job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The time for which an arriving job has already been waiting \[time\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited: Option<f64>,
    /// The time for which an adopted job has been running \[time\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ran: Option<f64>,
    /// The servers of a fleet on which an adopted job is running.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<String>,
    /// The id of a running job that has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leave: Option<String>,
    /// The id of a waiting job that is canceled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withdraw: Option<String>,
    /// The id of a running job that waits again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub put_back: Option<String>,
    /// The amounts that are used by others now. If a resource is missing, its amount is 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub occupy: Option<BTreeMap<String, f64>>,
    /// The server of a fleet to which `occupy` refers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The index of a clock that rings, even if it is not due.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ring: Option<usize>,
    /// The id of a waiting job whose start should be predicted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forecast: Option<String>,
    /// Whether the next line has the same time, and a single decision is made for both lines.
    #[serde(default, skip_serializing_if = "is_false")]
    pub more: bool,
}

fn is_false(flag: &bool) -> bool {
    !*flag
}

impl Line {
    fn check_against(&self, scheduler: &Scheduler) -> Result<(), String> {
        if self.adopt.is_some() && scheduler.has_begun {
            return Err(
                "lines with adopt must precede all other lines: use occupy to report jobs that are started by others later"
                    .into(),
            );
        }
        if let Some(job) = self.forecast.as_ref().filter(|job| !scheduler.knows(job)) {
            return Err(format!("no job {job:?} is known"));
        }
        let comes = self.arrive.is_some() || self.adopt.is_some();
        match comes && scheduler.needs_limits && self.limit.is_none() {
            true => Err("the rule uses limits: add \"limit\"".into()),
            false => Ok(()),
        }
    }

    pub(super) fn check_single_event(&self) -> Result<(), String> {
        let jobs = [&self.arrive, &self.adopt, &self.leave, &self.withdraw];
        let jobs = jobs.into_iter().chain([&self.put_back, &self.forecast]);
        let others = [self.occupy.is_some(), self.ring.is_some()];
        let events = jobs.map(Option::is_some).chain(others);
        let comes = self.arrive.is_some() || self.adopt.is_some();
        let of_job = self.job.is_some() || self.limit.is_some() || self.user.is_some();
        let of_adopted = self.ran.is_some() || !self.servers.is_empty();
        let why = if events.filter(|is_there| *is_there).count() > 1 {
            "the line has several events: send each event in a separate line"
        } else if of_job && !comes || of_adopted && self.adopt.is_none() {
            "job, limit and user belong to arrive or adopt; ran and servers belong to adopt"
        } else if self.waited.is_some() && self.arrive.is_none() {
            "waited belongs to arrive"
        } else if self.server.is_some() && self.occupy.is_none() {
            "server belongs to occupy"
        } else {
            return Ok(());
        };
        Err(why.into())
    }
}

/// A job that is started. In a fleet, the id is followed by the names of the servers.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Started {
    /// The id of a job on the only server.
    Job(String),
    /// The id and the names of the servers.
    On(Vec<String>),
}

impl Started {
    /// Returns the id of the job.
    pub fn id(&self) -> &str {
        match self {
            Started::Job(id) => id,
            Started::On(words) => words.first().map_or("", String::as_str),
        }
    }

    /// Returns the names of the servers in a fleet.
    pub fn servers(&self) -> &[String] {
        match self {
            Started::Job(_) => &[],
            Started::On(words) => words.get(1..).unwrap_or_default(),
        }
    }
}

/// The answer to a valid line of the input.
#[derive(Debug, Serialize)]
pub struct LineAnswer {
    t: f64,
    start: Vec<Started>,
    stop: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wake: Option<f64>,
    /// The times of [`StartPredictor::forecast`], or the reason why there is no forecast.
    #[serde(skip_serializing_if = "Option::is_none")]
    forecast: Option<Value>,
}

/// Predicts when jobs are started, and learns from the results of earlier predictions.
pub trait StartPredictor {
    /// Returns the times by which 10 %, 50 % and 90 % of jobs like this one are started, or the
    /// reason why there is no forecast. The job must be known.
    fn forecast(&mut self, scheduler: &Scheduler, job: &str) -> Result<[f64; 3], String>;

    /// Records that a job was started at this time.
    fn started(&mut self, job: &str, t: f64);
}

/// Answers lines until the end of the input. Returns the number of lines and of rejected lines.
///
/// # Errors
/// If the input cannot be read or the output cannot be written.
pub fn drive(
    scheduler: &mut Scheduler,
    mut input: BufReader<impl Read>,
    mut output: impl Write,
    foresight: &mut dyn StartPredictor,
) -> io::Result<(u64, u64)> {
    let (mut lines, mut refused, mut text) = (0, 0, Vec::new());
    while let Some(is_whole) = read_line(&mut input, &mut text)? {
        let answered = if is_whole {
            answer(scheduler, &text, foresight)
        } else {
            Err(format!("the line is longer than {LONGEST} bytes"))
        };
        lines += 1;
        let json = match answered {
            Ok(answer) => serde_json::to_string(&answer)?,
            Err(error) => {
                refused += 1;
                json!({"error": error, "line": lines}).to_string()
            }
        };
        output.write_all((harmless(json) + "\n").as_bytes())?;
        if !input.buffer().contains(&b'\n') {
            output.flush()?;
        }
    }
    output.flush()?;
    Ok((lines, refused))
}

/// Reads a line. Returns `Some(false)` if it was too long and skipped, or `None` at the end.
fn read_line(input: &mut BufReader<impl Read>, text: &mut Vec<u8>) -> io::Result<Option<bool>> {
    text.clear();
    let mut limited = input.by_ref().take(LONGEST as u64 + 1);
    if limited.read_until(b'\n', text)? == 0 {
        return Ok(None);
    }
    let is_ended = text.pop_if(|byte| *byte == b'\n').is_some();
    let is_whole = is_ended || text.len() <= LONGEST;
    if !is_whole {
        input.skip_until(b'\n')?;
    }
    Ok(Some(is_whole))
}

/// Returns the answer to a line, or an error if the line is not valid.
pub fn answer(
    scheduler: &mut Scheduler,
    text: &[u8],
    foresight: &mut dyn StartPredictor,
) -> Result<LineAnswer, String> {
    let line: Line = serde_json::from_slice(text).map_err(|e| e.to_string())?;
    line.check_against(scheduler)?;
    let decided = scheduler.tell(&line)?;
    for (id, _) in &decided.start {
        foresight.started(id, line.t);
    }
    let forecast = line.forecast.as_deref();
    let forecast = forecast.map(|job| foresight.forecast(scheduler, job));
    Ok(LineAnswer {
        t: line.t,
        start: starts(&decided, scheduler.places()),
        stop: decided.stop.iter().map(|id| id.to_string()).collect(),
        wake: scheduler.next_wake_time(),
        forecast: forecast.map(|known| known.map_or_else(Value::from, Value::from)),
    })
}

/// Formats the jobs that are started.
pub fn starts(decided: &Decisions, places: &Places) -> Vec<Started> {
    let started = |(id, servers): &(Arc<str>, Vec<usize>)| {
        if servers.is_empty() {
            return Started::Job(id.to_string());
        }
        let names = servers.iter().map(|n| places.server_name(*n));
        Started::On([&**id].into_iter().chain(names).map(String::from).collect())
    };
    decided.start.iter().map(started).collect()
}
