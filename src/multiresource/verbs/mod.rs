//! The verbs of multiresource jobs, a file each: arguments, work, answer.

pub mod drive;
pub mod export;
pub mod family;
pub mod fit;
pub mod limit;
pub mod optimum;
mod program;
mod promise;
pub mod replay;
pub mod resolve;
mod size;
pub mod solve;
pub mod sweep;
pub mod synthesize;

use std::path::Path;

use crate::document::Parsed;
use crate::kind::{Caller, Notice, VerbResult};
use crate::multiresource::workload::Workload;

/// Reads the workload of one server; the caller is notified of warnings.
fn server_of(file: &Path, caller: &mut Caller<'_>) -> VerbResult<Workload> {
    Ok(known(Workload::read(file)?, caller))
}

/// Returns what a document describes; the caller is notified of warnings.
fn known<W>(parsed: Parsed<W>, caller: &mut Caller<'_>) -> W {
    for warning in &parsed.warnings {
        caller.notify(Notice::Known(warning));
    }
    parsed.workload
}
