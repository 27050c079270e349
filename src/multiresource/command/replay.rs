//! What is typed to replay a trace.

use std::path::{Path, PathBuf};

use crate::document::{all_bytes_of, called};
use crate::kind::{Caller, Compared, Files, NamesFiles, Notice, VerbOutput, VerbResult, json};
use crate::multiresource::report::replay::{
    notes, recorded, replay_csv, replay_page, replayed, series, visits,
};
use crate::multiresource::verbs::replay::{
    Recording, Replaying, Replays, TraceArgs, replay_trace, run_once,
};
use crate::multiresource::workload::Fleet;
use crate::number::Decimal;
use crate::simulation::Settings;

impl NamesFiles for TraceArgs {
    fn files(&self) -> Files<'_> {
        let mut read = Vec::from_iter(self.file.as_deref());
        let mut written = Vec::from_iter(self.series.as_deref());
        // Without a trace these are recorded jobs.
        let jobs = if self.file.is_some() {
            &mut written
        } else {
            &mut read
        };
        jobs.extend(self.jobs.as_deref());
        (read, written)
    }
}

/// Replays a trace; returns all that is to be written besides, too.
fn on_trace(request: &Replaying<'_>, caller: &mut Caller<'_>) -> VerbResult<(Replays, Documents)> {
    caller.notify(Notice::Interruptible);
    let replays = replay_trace(request, &mut |what| caller.notify(Notice::Doing(what)))?;
    let mut documents = Vec::new();
    if let Some(file) = &request.trace.jobs {
        documents.push((file.clone(), visits(&replays)?));
    }
    if let Some(file) = &request.trace.series {
        documents.push((file.clone(), series(&replays)?));
    }
    Ok((replays, documents))
}

type Documents = Vec<(PathBuf, String)>;

/// Replays a trace under one policy; returns the answer, and the same for programs.
///
/// # Errors
/// When the policy could not be replayed.
pub fn simulate(
    request: &Replaying<'_>,
    caller: &mut Caller<'_>,
) -> VerbResult<(VerbOutput, String)> {
    let (replays, documents) = on_trace(request, caller)?;
    if let Some((_, _, why)) = replays.failures().next() {
        return Err(why.into());
    }
    let answered = VerbOutput {
        notes: notes(&replays, caller.width),
        table: replayed(&replays, caller.width),
        documents,
        negative: false,
    };
    Ok((answered, json(&replays)?))
}

/// Replays a trace under several policies; the caller hears what should be known of it.
///
/// # Errors
/// When a picture cannot be drawn.
pub fn compare(request: &Replaying<'_>, caller: &mut Caller<'_>) -> VerbResult<Compared> {
    let (replays, documents) = on_trace(request, caller)?;
    for note in notes(&replays, caller.width) {
        caller.notify(Notice::Known(&note));
    }
    Ok(Compared {
        table: replayed(&replays, caller.width),
        document: json(&replays)?,
        csv: replay_csv(&replays)?,
        page: replay_page(&replays)?,
        interrupted: replays.interrupted,
        has_failure: replays.failures().next().is_some(),
        documents,
        journal: None,
    })
}

/// Runs recorded jobs once.
pub fn run_recorded(
    file: &Path,
    policy: &str,
    (workload, start_latency): (Option<&Fleet>, Option<Decimal>),
    settings: &Settings,
    caller: &mut Caller<'_>,
) -> VerbResult<(VerbOutput, String)> {
    let name = called(file);
    let text = all_bytes_of(file).map_err(|why| format!("cannot read {name}: {why}"))?;
    let request = Recording {
        file: name,
        text: &text,
        policy,
        workload,
        start_latency,
        seed: settings.seed,
        changes: caller.changes,
        interrupt: settings.interrupt.clone(),
    };
    caller.notify(Notice::Interruptible);
    let run = run_once(&request, &mut |what| caller.notify(Notice::Doing(what)))?;
    let answered = VerbOutput {
        table: recorded(&run, caller.width),
        ..VerbOutput::default()
    };
    Ok((answered, json(&run)?))
}
