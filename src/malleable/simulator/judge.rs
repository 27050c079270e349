//! What a run says of an artifact's claims.

use super::{Course, Run};
use crate::artifact::{Quantity as _, Side, Unmet};
use crate::malleable::artifact::{Artifact, Claim, Measure, Quantity, cost};
use crate::malleable::workload::Pool;
use crate::simulation::{self, Estimate, Found, Health, Measuring, Verdict, judge_all};

/// A claim beside what was measured.
pub type Judgement = simulation::Judgement<Quantity>;

/// How near what happens to a pool is to what is claimed of it.
const NEAR: f64 = 1e-9;

/// Judges all claims by a run of the policy on the stream that it was made for.
pub fn judge(artifact: &Artifact, run: &Run) -> Vec<Judgement> {
    let unstable = run.health == Health::Unstable;
    judge_all(artifact.claims.iter(), unstable, &Measured(run))
}

struct Measured<'a>(&'a Run);

impl Measuring<Quantity> for Measured<'_> {
    fn unexamined(&self, claim: &Claim) -> Option<&'static str> {
        match claim.quantity.row().measure {
            Measure::Nothing(why) => Some(why),
            _ => None,
        }
    }

    fn unmet(&self, _: &Claim) -> Unmet {
        Unmet::default()
    }

    fn found(&self, claim: &Claim) -> Option<Found> {
        let run = self.0;
        let measured: Option<Estimate> = match claim.quantity.row().measure {
            Measure::Run => run.mean_response,
            Measure::Number => run.mean_number,
            Measure::Nothing(_) => None,
        };
        let found = Found::of_queue(measured?, claim.value, claim.half_width, Side::Equal);
        Some(found.settled(run.mean_number, u64::MAX))
    }

    fn excess(&self, claim: &Claim) -> Option<Vec<f64>> {
        let jobs = self.0.types.first()?;
        let rate = jobs.mean_number?.mean / jobs.mean_response?.mean;
        let per_job = match claim.quantity.row().measure {
            Measure::Run => rate,
            Measure::Number => 1.0,
            Measure::Nothing(_) => return None,
        };
        let most = per_job * (claim.value + 2.0 * claim.half_width.unwrap_or(0.0));
        Some(jobs.late.iter().map(|late| late / most).collect())
    }
}

/// Judges all claims by what happens to the pool that the policy was made for.
pub fn judge_course(artifact: &Artifact, pool: &Pool, course: &Course) -> Vec<Judgement> {
    let judged = |claim: &Claim| {
        let (verdict, measured, unexamined) = match claim.quantity.row().measure {
            Measure::Nothing(why) => (Verdict::NotExamined, None, Some(why)),
            Measure::Run | Measure::Number => {
                let found = cost(pool, claim.quantity, &course.ends);
                let holds = (found - claim.value).abs() <= NEAR * found.abs();
                let verdict = if holds {
                    Verdict::Confirmed
                } else {
                    Verdict::Refuted
                };
                (verdict, Some(Estimate::exact(found)), None)
            }
        };
        Judgement {
            claim: claim.clone(),
            measured,
            verdict,
            off: None,
            unexamined,
        }
    };
    artifact.claims.iter().map(judged).collect()
}
