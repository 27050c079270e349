//! Runs rules on pools, where what happens is exact, and on streams of jobs, where it is measured.

mod course;
mod engine;
mod judge;
#[cfg(test)]
mod tests;

pub use course::{Course, Dividing, Stage, execute};
pub use judge::{Judgement, judge, judge_course};

use crate::malleable::policy::Sharing;
use crate::malleable::workload::Stream;
use crate::simulation::{self, Progress, Results, Settings, replicate};
use engine::Engine;

/// Results of a run on a stream.
pub type Run = simulation::Run<Measures, ()>;

/// What is measured besides: nothing.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Measures {}

/// More jobs than this at once, and more than so many times as many as would be there with one server each, end a run: what
/// an event costs grows with them.
const CROWD: std::ops::RangeInclusive<f64> = 1000.0..=20_000.0;
const CROWDED: f64 = 10.0;

/// Simulates a rule on a stream.
///
/// # Errors
/// What did not hold that must, in words: a fault of this program.
pub fn simulate(
    stream: &Stream,
    sharing: Sharing,
    settings: &Settings,
    progress: impl FnMut(Progress),
) -> Result<Run, String> {
    let many = CROWDED * stream.load() * stream.servers();
    let settings = Settings {
        crowd: settings
            .crowd
            .min(many.clamp(*CROWD.start(), *CROWD.end()) as u64),
        ..settings.clone()
    };
    let classes = stream.statistics();
    let engine = |r| Engine::new(stream, sharing, &settings, r);
    let summarize = |results: &Results<'_>| results.run(|_| Measures {}, |_, _| ());
    replicate(&classes, engine, &settings, progress, summarize)
}
