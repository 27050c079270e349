//! A trace again, under policies: one, or several on the same jobs.

mod asked;
mod enter;
mod ladder;
mod recorded;
mod stage;
mod told;
mod types;

pub use asked::{Pace, Part, Replaying};
pub use recorded::{Drawn, OfJobs, OfType, Recorded, Recording, run_once};
pub use told::{
    AtPace, Course, Distance, Ladder, Outcome, Played, Ratio, Replays, Rung, Spread, Told, Traced,
};
pub use types::servers_of;

use std::sync::atomic::Ordering;

use super::VerbError;
use crate::multiresource::replay::{Job, variants};
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
    for pace in asked.paces() {
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
    if stage.is_interrupted() {
        replays.interrupted = true;
        return Ok(replays);
    }
    if let Some(part) = asked.resample {
        replays.resampled = Some(stage.resampled(part, hears)?);
    }
    if let Some(most) = asked.jitter {
        replays.jittered = Some(stage.jittered(most, hears)?);
    }
    if asked.ladder {
        replays.ladder = Some(stage.ladder(hears)?);
    }
    replays.interrupted = asked.interrupt.load(Ordering::Relaxed);
    Ok(replays)
}

/// Replications of a trace that are drawn, or shaken.
const REPLICATIONS: u32 = 8;

impl Stage<'_> {
    /// Whole parts of the trace drawn with replacement; each policy on the same draws.
    fn resampled(&self, part: Part, hears: &mut dyn FnMut(&str)) -> Result<Spread, VerbError> {
        let length = part.seconds() * self.per_second();
        let made = |n| variants::resampled(self.exact_jobs(), length, self.seed(), n);
        if made(0).is_none() {
            return super::refuse(format!(
                "--resample {part} draws from whole {part}, and the trace has fewer than two: {}",
                match part {
                    Part::Weeks => "give --resample days, or leave it out",
                    Part::Days => "leave it out",
                }
            ));
        }
        self.spread(hears, |n| made(n).unwrap_or_default())
    }

    /// Each job a little later.
    fn jittered(&self, most: u32, hears: &mut dyn FnMut(&str)) -> Result<Spread, VerbError> {
        self.spread(hears, |n| {
            variants::jittered(self.exact_jobs(), most, self.seed(), n)
        })
    }

    /// Mean response times of each policy on several sequences of jobs, at the first pace.
    fn spread(
        &self,
        hears: &mut dyn FnMut(&str),
        made: impl Fn(u32) -> Vec<Job>,
    ) -> Result<Spread, VerbError> {
        let speed = self.first_speed()?;
        let mut means = vec![Vec::new(); self.names().count()];
        for n in 0..REPLICATIONS {
            let jobs = made(n);
            for (policy, means) in means.iter_mut().enumerate() {
                if let Some(mean) = self.mean_response(policy, &jobs, speed, hears) {
                    means.push(mean);
                }
            }
        }
        Ok(Spread::of(self.names(), means, speed, REPLICATIONS))
    }
}
