//! A trace again, under policies: one, or several on the same jobs.

mod asked;
mod enter;
mod recorded;
mod stage;
mod told;
mod types;

pub use asked::{Pace, Part, Replaying};
pub use recorded::{OfJobs, OfType, Recorded, Recording, run_once};
pub use told::{AtPace, Course, Distance, Outcome, Played, Ratio, Replays, Spread, Told, Traced};
pub use types::servers_of;

use std::sync::atomic::Ordering;

use super::VerbError;
use stage::Stage;

/// Replays a trace under policies, one after the other, at each pace. `hears` is told what goes on.
///
/// # Errors
/// When the trace cannot be read, or the policies, the workload and the trace do not go together. That a policy
/// cannot serve the jobs is told with it.
pub fn replay_trace(
    asked: &Replaying<'_>,
    hears: &mut dyn FnMut(&str),
) -> Result<Replays, VerbError> {
    let stage = Stage::set(asked, hears)?;
    let mut paces = Vec::new();
    for &pace in &asked.paces {
        let speed = stage.speed(pace)?;
        let at = stage.at(speed, hears);
        if !at.policies.is_empty() {
            paces.push(at);
        }
        if stage.is_interrupted() {
            break;
        }
    }
    let mut replays = stage.told(paces);
    if let (Some(part), false) = (asked.resample, stage.is_interrupted()) {
        replays.resampled = Some(stage.resampled(part, hears)?);
    }
    replays.interrupted = asked.interrupt.load(Ordering::Relaxed);
    Ok(replays)
}
