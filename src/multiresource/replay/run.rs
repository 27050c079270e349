//! A policy on a scene.

use super::engine::Engine;
use super::scene::DecisionState;
use crate::multiresource::policy::Violation;
use crate::multiresource::simulator::{Contender, Failure};

/// What came of it.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// When each job left, in the policy's time.
    pub ends: Vec<f64>,
    /// Whether every job ran without a pause at full speed: then it started its size, and its start latency, before it
    /// left.
    pub runs_through: bool,
    /// Whether the policy has clocks, which are drawn.
    pub has_clocks: bool,
    /// Arrivals, completions and clocks.
    pub events: u64,
}

/// Why there is no run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Stopped {
    /// The policy cannot serve such jobs, or made a decision that no server could carry out.
    #[error(transparent)]
    Failure(#[from] Failure),
    /// Jobs are left that it never starts.
    #[error("the policy starts no more jobs, and {0} of them are left waiting at the end")]
    Stuck(u64),
    /// Told to end before.
    #[error("interrupted before the last job had left")]
    Interrupted,
}

/// Events between two looks at whether to go on: of a rule that is slow with long queues this may be a second.
const BURST: u64 = 1 << 10;

/// Replays jobs under a policy. `goes_on` gets the number of jobs that have come now and then, and says whether to go on.
///
/// # Errors
/// When the policy cannot serve these jobs or leaves some unserved, and when `goes_on` ends it.
pub fn replay(
    rule: &Contender,
    scene: &DecisionState<'_>,
    goes_on: &mut dyn FnMut(usize) -> bool,
) -> Result<Replayed, Stopped> {
    let mut engine = Engine::new(scene, rule.rule(&scene.fleet)?);
    let violated = |violation: Violation| Stopped::Failure(violation.into());
    while engine.go_on(BURST) {
        engine.audit().map_err(violated)?;
        if !goes_on(engine.come()) {
            return Err(Stopped::Interrupted);
        }
    }
    match engine.audit().map_err(violated)? {
        0 => Ok(Replayed {
            runs_through: engine.runs_through(),
            has_clocks: engine.has_clocks(),
            events: engine.events,
            ends: engine.into_ends(),
        }),
        left => Err(Stopped::Stuck(left)),
    }
}
