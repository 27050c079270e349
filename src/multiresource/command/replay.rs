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

/// Replays a trace, and renders all that is asked for.
pub fn on_trace(asked: &Replaying<'_>, caller: &mut Caller<'_>) -> VerbResult<OnTrace> {
    caller.notify(Notice::Interruptible);
    let replays = replay_trace(asked, &mut |what| caller.notify(Notice::Doing(what)))?;
    let mut documents = Vec::new();
    if let Some(file) = &asked.trace.jobs {
        documents.push((file.clone(), visits(&replays)?));
    }
    if let Some(file) = &asked.trace.series {
        documents.push((file.clone(), series(&replays)?));
    }
    Ok(OnTrace { replays, documents })
}

/// Policies on a trace.
pub struct OnTrace {
    replays: Replays,
    documents: Vec<(PathBuf, String)>,
}

impl OnTrace {
    /// Returns the answer about one policy, and the same for programs.
    ///
    /// # Errors
    /// When the policy could not be replayed.
    pub fn simulated(self, width: usize) -> VerbResult<(VerbOutput, String)> {
        if let Some((_, _, why)) = self.replays.failures().next() {
            return Err(why.into());
        }
        let answered = VerbOutput {
            notes: notes(&self.replays, width),
            table: replayed(&self.replays, width),
            documents: self.documents,
            negative: false,
        };
        Ok((answered, json(&self.replays)?))
    }

    /// Returns the comparison of several; the caller hears what should be known of it.
    ///
    /// # Errors
    /// When a picture cannot be drawn.
    pub fn compared(self, caller: &mut Caller<'_>) -> VerbResult<Compared> {
        for note in notes(&self.replays, caller.width) {
            caller.notify(Notice::Known(&note));
        }
        Ok(Compared {
            table: replayed(&self.replays, caller.width),
            document: json(&self.replays)?,
            csv: replay_csv(&self.replays)?,
            page: replay_page(&self.replays)?,
            interrupted: self.replays.interrupted,
            has_failure: self.replays.failures().next().is_some(),
            documents: self.documents,
            journal: None,
        })
    }
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
    let asked = Recording {
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
    let run = run_once(&asked, &mut |what| caller.notify(Notice::Doing(what)))?;
    let answered = VerbOutput {
        table: recorded(&run, caller.width),
        ..VerbOutput::default()
    };
    Ok((answered, json(&run)?))
}
