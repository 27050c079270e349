//! Runs rules on pools, where what happens is exact, and on streams of jobs, where it is measured.

mod course;
mod division;
#[cfg(test)]
mod tests;

pub use course::{Course, Dividing, Stage, execute};

use super::artifact::{Artifact, Claim, Measure, Quantity, cost};
use super::policy::Sharing;
use super::workload::{Pool, Stream};
use division::Division;
use synth_core::artifact::{Quantity as _, Unmet, is_close};
use synth_simulation::{
    self as simulation, Estimate, Progress, Queue, QueueRun, Settings, Verdict,
};

/// Results of a run on a stream.
pub type Run = simulation::Run<Measures, ()>;

/// What is measured besides: nothing.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Measures {}

/// More jobs than this at once, and more than so many times as many as would be there with one server each, end a run: what
/// an event costs grows with them.
const CROWD: [f64; 2] = [1000.0, 20_000.0];
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
    let many = many.clamp(CROWD[0], CROWD[1]) as u64;
    let settings = Settings {
        crowd: settings.crowd.min(many),
        ..settings.clone()
    };
    let queue = Queue {
        classes: &stream.statistics(),
        rates: &[stream.arrival_rate()],
        size: stream.size(),
        servers: 0,
    };
    let division = |_| Division::new(stream, sharing);
    queue.simulate(division, &settings, progress, |_| Measures {})
}

/// A claim beside what was measured.
pub type Judgement = simulation::Judgement<Quantity>;

/// How near what happens to a pool is to what is claimed of it.
const NEAR: f64 = 1e-9;

/// Judges all claims by a run of the policy on the stream that it was made for.
pub fn judge(artifact: &Artifact, stream: &Stream, run: &Run) -> Vec<Judgement> {
    let measured = QueueRun {
        classes: &stream.statistics(),
        run,
        unmet: &|_| Unmet::default(),
        utilization: &|_| None,
    };
    measured.judge(&artifact.claims)
}

/// Judges all claims by what happens to the pool that the policy was made for.
pub fn judge_course(artifact: &Artifact, pool: &Pool, course: &Course) -> Vec<Judgement> {
    let judged = |claim: &Claim| {
        let unexamined = match claim.quantity.row().measure {
            Measure::Nothing(why) => Some(why),
            _ => None,
        };
        let happened = cost(pool, claim.quantity, &course.ends);
        let verdict = match unexamined {
            Some(_) => Verdict::NotExamined,
            None if is_close(claim.value, happened, NEAR) => Verdict::Confirmed,
            None => Verdict::Refuted,
        };
        Judgement {
            claim: claim.clone(),
            measured: unexamined.is_none().then(|| Estimate::exact(happened)),
            verdict,
            off: None,
            unexamined,
        }
    };
    artifact.claims.iter().map(judged).collect()
}
