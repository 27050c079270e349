//! The replay of a trace under one policy, or under several on the same jobs.

mod args;
mod busy;
mod csv;
mod page;
mod recorded;
mod results;
mod stage;
mod table;
mod types;
mod words;

pub use args::{Replaying, TraceArgs};
pub use types::places;

use std::path::Path;

use crate::document::{all_bytes_of, called};
use crate::kind::{Caller, Notice, VerbOutput, VerbResult, json, refuse};
use crate::multiresource::workload::Fleet;
use crate::number::Decimal;
use crate::simulation::Settings;
use recorded::run_once;
use results::Replays;
use stage::Stage;

/// Replays a trace; renders what came of it but for the numbers and the page of a comparison.
fn answered(
    replaying: &Replaying<'_>,
    caller: &mut Caller<'_>,
) -> VerbResult<(Replays, VerbOutput)> {
    caller.notify(Notice::Interruptible);
    let listener = &mut |what: &str| caller.notify(Notice::Doing(what));
    let replays = Stage::read(replaying, listener)?.replayed(listener)?;
    let mut output = VerbOutput {
        notes: words::notes(&replays, caller.width),
        table: table::replayed(&replays, caller.width),
        document: json(&replays)?,
        negative: replays.failures().next().is_some(),
        interrupted: replays.interrupted,
        ..VerbOutput::default()
    };
    let documents = &mut output.documents;
    if let Some(file) = &replaying.trace.jobs {
        documents.push((file.clone(), csv::visits(&replays)?));
    }
    if let Some(file) = &replaying.trace.series {
        documents.push((file.clone(), csv::series(&replays)?));
    }
    Ok((replays, output))
}

/// Replays a trace under one policy.
///
/// # Errors
/// When the policy could not be replayed.
pub fn simulate(replaying: &Replaying<'_>, caller: &mut Caller<'_>) -> VerbResult<VerbOutput> {
    let (replays, output) = answered(replaying, caller)?;
    match replays.failures().next() {
        Some((_, _, why)) => refuse(why),
        None => Ok(output),
    }
}

/// Replays a trace under several policies.
///
/// # Errors
/// When the trace cannot be replayed, or the results cannot be rendered.
pub fn compare(replaying: &Replaying<'_>, caller: &mut Caller<'_>) -> VerbResult<VerbOutput> {
    let (replays, output) = answered(replaying, caller)?;
    let page = page::replay_page(&replays, caller.command.clone());
    Ok(VerbOutput {
        csv: csv::replay_csv(&replays)?,
        page: page.text()?,
        ..output
    })
}

/// Runs recorded jobs once, on a workload and with a start latency where they are given.
///
/// # Errors
/// When they cannot be read or run.
pub fn run_recorded(
    file: &Path,
    policy: &str,
    of: (Option<&Fleet>, Option<Decimal>),
    settings: &Settings,
    caller: &mut Caller<'_>,
) -> VerbResult<VerbOutput> {
    let name = called(file);
    let text = all_bytes_of(file).map_err(|why| format!("cannot read {name}: {why}"))?;
    caller.notify(Notice::Interruptible);
    let (jobs, changes) = ((&*name, &*text), caller.changes);
    let listener = &mut |what: &str| caller.notify(Notice::Doing(what));
    let run = run_once(jobs, policy, of, settings, changes, listener)?;
    Ok(VerbOutput {
        table: table::recorded(&run, caller.width),
        document: json(&run)?,
        ..VerbOutput::default()
    })
}
