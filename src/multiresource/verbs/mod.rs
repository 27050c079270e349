//! The verbs of multiresource jobs, a file each: arguments, work, answer.

pub mod drive;
pub mod export;
pub mod family;
pub mod fit;
pub mod limit;
pub mod made;
pub mod optimum;
mod program;
mod promise;
pub mod replay;
pub mod resolve;
mod size;
pub mod solve;
pub mod synthesize;

use crate::document::Parsed;
use crate::kind::{Caller, Notice};

/// Returns what a document describes; the caller is notified of warnings.
fn known<W>(parsed: Parsed<W>, caller: &mut Caller<'_>) -> W {
    for warning in &parsed.warnings {
        caller.notify(Notice::Known(warning));
    }
    parsed.workload
}
