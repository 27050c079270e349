//! A trace again, under policies: one, or several on the same jobs.

mod enter;
mod recorded;
mod results;
mod stage;
mod types;

pub use recorded::{OfJobs, OfType, Recorded, Recording, run_once};
pub use results::{AtPace, Course, Outcome, Played, Ratio, Replays, Spread, Traced};
pub use types::servers_of;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::VerbError;
use crate::artifact::Changes;
use crate::multiresource::replay::{Speed, Window};
use crate::multiresource::workload::Fleet;
use crate::number::Decimal;
use crate::trace::{Options, Source};
use stage::Stage;

/// A trace, policies, and how they are run.
pub struct Replaying<'a> {
    /// The trace.
    pub source: &'a Source,
    /// How its lines are read.
    pub options: Options,
    /// The workload whose types its jobs are, where one is given.
    pub workload: Option<&'a Fleet>,
    /// Rules by name, or policy files.
    pub policies: &'a [String],
    /// How fast jobs come, once and again; at least one.
    pub paces: Vec<Pace>,
    /// Whether jobs hold what their types do under rules by name as well.
    pub rounded: bool,
    /// Whether jobs of no type are left out however many they are.
    pub unknown_out: bool,
    /// How long each job holds its room before it runs \[s\], ≥ 0; none where it is not given.
    pub start_latency: Option<Decimal>,
    /// Of which jobs measures are; of the middle ones where none is given.
    pub window: Option<Window>,
    /// Length of a step of the series \[s\]; a 500th of the span where none is given.
    pub step: Option<f64>,
    /// Whether what came of each job is kept.
    pub keeps_visits: bool,
    /// Whether whole weeks are drawn, too.
    pub resample: bool,
    /// What becomes of policy files that were changed after they were written.
    pub changes: Changes,
    /// Seed of all that is drawn.
    pub seed: u64,
    /// Once it is set, the replay ends with what it has.
    pub interrupt: Arc<AtomicBool>,
}

/// How fast jobs come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// So many times as fast as they did.
    Speed(Speed),
    /// So fast that this is the fluid bound on the load.
    Load(f64),
}

/// Replays a trace under policies, one after the other, at each pace. `hears` is told what goes on.
///
/// # Errors
/// When the trace cannot be read, or the policies, the workload and the trace do not go together. That a policy
/// cannot serve the jobs is told with it.
pub fn replay_trace(
    asked: &Replaying<'_>,
    listener: &mut dyn FnMut(&str),
) -> Result<Replays, VerbError> {
    let stage = Stage::set(asked, listener)?;
    let mut paces = Vec::new();
    for &pace in &asked.paces {
        let speed = stage.speed(pace)?;
        let at = stage.at(speed, listener);
        if !at.policies.is_empty() {
            paces.push(at);
        }
        if stage.is_interrupted() {
            break;
        }
    }
    let resampled = if asked.resample && !stage.is_interrupted() {
        Some(stage.resampled(listener)?)
    } else {
        None
    };
    Ok(stage.results(paces, resampled))
}
