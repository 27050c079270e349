//! What campaigns say of an artifact's claims.

use super::Run;
use crate::artifact::{Quantity as _, Unmet};
use crate::simulation::{self, Found, Measuring, judge_all};
use crate::volunteer::artifact::{Artifact, Claim, Measure, Quantity};
use crate::volunteer::workload::Campaign;

/// A claim beside what was measured.
pub type Judgement = simulation::Judgement<Quantity>;

/// Judges all claims by campaigns under the policy and on the workload that it was made for.
#[must_use]
pub fn judge(artifact: &Artifact, campaign: &Campaign, run: &Run) -> Vec<Judgement> {
    let claims = artifact.claims.iter();
    judge_all(claims, false, &Measured { campaign, run })
}

struct Measured<'a> {
    campaign: &'a Campaign,
    run: &'a Run,
}

impl Measuring<Quantity> for Measured<'_> {
    fn unexamined(&self, claim: &Claim) -> Option<&'static str> {
        match claim.quantity.row().measure {
            Measure::Nothing(why) => Some(why),
            Measure::Run => None,
        }
    }

    fn unmet(&self, _: &Claim) -> Unmet {
        Unmet::default()
    }

    fn found(&self, claim: &Claim) -> Option<Found> {
        let measured = match &claim.batch {
            Some(name) => {
                let batches = self.campaign.batches();
                self.run
                    .makespan(batches.iter().position(|b| b.name == *name)?)
            }
            None => self.run.estimate(self.campaign, claim.quantity),
        };
        Some(Found::of_replications(
            measured?,
            claim.value,
            claim.half_width,
        ))
    }

    fn excess(&self, _: &Claim) -> Option<Vec<f64>> {
        None
    }
}
