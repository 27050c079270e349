//! Executes a rule on a pool, where the result is exact, or simulates it on a stream.

mod division;
#[cfg(test)]
mod tests;

use super::artifact::{Artifact, Claim, Measure, Quantity, cost};
use super::policy::{ActiveJob, Known, Phase, Rule, Sharing, by_job};
use super::workload::{Pool, Stream};
use division::Division;
use synth_core::artifact::{Quantity as _, ViolatedAssumptions, is_close};
use synth_simulation::{
    self as simulation, Estimate, Progress, Queue, QueueRun, Settings, Verdict,
};

/// The results of a run on a stream.
pub type Run = simulation::Run<Measures, ()>;

/// There are no additional measurements.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Measures {}

/// A run is stopped, because the time per event grows with the jobs, if there are more than
/// `CROWDED` times as many jobs as there would be with one server each, within the range `CROWD`.
const CROWD: [f64; 2] = [1000.0, 20_000.0];
const CROWDED: f64 = 10.0;

/// Simulates a rule for a stream.
///
/// # Errors
/// Returns an error if an invariant does not hold, which is a bug in this program.
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

/// The result of checking a claim against the measured value.
pub type Judgement = simulation::Judgement<Quantity>;

const NEAR: f64 = 1e-9;

/// Checks all claims against a run of the policy for its own stream.
pub fn judge(artifact: &Artifact, stream: &Stream, run: &Run) -> Vec<Judgement> {
    let measured = QueueRun {
        classes: &stream.statistics(),
        run,
        unmet: &|_| ViolatedAssumptions::default(),
        utilization: &|_| None,
    };
    measured.judge(&artifact.claims)
}

/// Checks all claims against the execution of the policy for its own pool.
pub fn judge_course(artifact: &Artifact, pool: &Pool, course: &Execution) -> Vec<Judgement> {
    let judged = |claim: &Claim| {
        let happened = cost(pool, claim.quantity, &course.ends);
        let (verdict, unexamined) = match claim.quantity.row().measure {
            Measure::Nothing(why) => (Verdict::NotExamined, Some(why)),
            _ if is_close(claim.value, happened, NEAR) => (Verdict::Confirmed, None),
            _ => (Verdict::Refuted, None),
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

/// A job has ended if at most this fraction of its size remains, because of rounding.
const LEFT: f64 = 1e-12;

/// Describes how the servers of a pool are divided.
#[derive(Clone, Copy, Debug)]
pub enum Dividing<'a> {
    /// By a plan.
    Plan(&'a Rule),
    /// By the remaining sizes of the jobs.
    Sharing(Sharing),
}

/// The execution of a pool.
#[derive(Clone, Debug, PartialEq)]
pub struct Execution {
    /// The end time of each job \[time\], or ∞ if it never ends.
    pub ends: Vec<f64>,
    /// The periods in which the division does not change, if they were requested.
    pub phases: Vec<Phase>,
}

/// Executes a pool until all jobs have ended, and returns the phases only if `keep` is `true`.
pub fn execute(pool: &Pool, dividing: Dividing<'_>, keep: bool) -> Execution {
    let jobs = pool.jobs();
    let mut left: Vec<f64> = jobs.iter().map(|job| job.size).collect();
    let mut ends = vec![f64::INFINITY; jobs.len()];
    let mut remaining: Vec<usize> = (0..jobs.len()).collect();
    let (mut now, mut phases, mut known) = (0.0, Vec::new(), Known::default());
    while !remaining.is_empty() {
        let (servers, changes) = match dividing {
            Dividing::Plan(rule) => (rule.servers(pool, &remaining, now), rule.changes(now)),
            Dividing::Sharing(sharing) => {
                let underway = |&i: &usize| ActiveJob {
                    left: left[i],
                    weight: jobs[i].weight,
                    curve: pool.curve(i),
                };
                let underway: Vec<ActiveJob<'_>> = remaining.iter().map(underway).collect();
                let servers = sharing.servers(&underway, pool.servers(), &mut known);
                (servers, f64::INFINITY)
            }
        };
        let rate = |(i, k): (&usize, &f64)| pool.curve(*i).at(*k);
        let rates: Vec<f64> = remaining.iter().zip(&servers).map(rate).collect();
        let time = |(i, rate): (&usize, &f64)| left[*i] / rate;
        let first = remaining.iter().zip(&rates).map(time);
        let step = first.fold(changes - now, f64::min);
        if step == f64::INFINITY {
            break;
        }
        let (from, last) = (now, step == changes - now);
        now = if last { changes } else { now + step };
        if keep && now > from {
            let (until, servers) = (now, by_job(jobs.len(), &remaining, &servers));
            phases.push(Phase { until, servers });
        }
        for (i, rate) in remaining.iter().zip(&rates) {
            left[*i] -= rate * step;
        }
        remaining.retain(|&i| {
            let stays = left[i] > LEFT * jobs[i].size;
            if !stays {
                ends[i] = now;
            }
            stays
        });
    }
    Execution { ends, phases }
}
